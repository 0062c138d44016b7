"""Tables of `benchmarks.parallel_quality`: means over seeds, and differences with their marks."""

from __future__ import annotations

import math
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

from citeweave.errors import ParameterError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SEQUENTIAL, CONTROL = "sequential", "sequential, other draws"

BETTER = {
    "log likelihood per word": 0,
    "training perplexity": -1,
    "test perplexity": -1,
    "purity": 1,
    "NMI": 1,
    "AUC": 1,
    "acceptance": 0,
    "cosine of topics": 1,
    "citing topics correct": 1,
    "main topics correct": 1,
}
"""Measures in column order: 1 if higher is better, -1 if lower is better, 0 if neither."""

LEVEL = 0.05
SPREADS = 2.0

_RULES = f"""\
Mean ± standard deviation over seeds. Differences are taken seed by seed, because all backends share
the held-out data of a seed. ° marks a difference larger than {SPREADS:g} standard deviations of the
sequential sampler over seeds; \\* marks p < {LEVEL:g} in a paired t test; \\*\\* marks
p < {LEVEL:g} after Holm's correction for all comparisons on this page.
"""


class Difference(NamedTuple):
    """Difference between two backends on one corpus, in one measure."""

    corpus: str
    backend: str
    measure: str
    values: tuple[float, ...]
    """One difference per seed."""
    spread: float
    """Standard deviation of the second backend over seeds."""
    level: float = 1.0
    """Mean of the second backend over seeds."""

    @property
    def mean(self) -> float:
        """Mean over seeds."""
        return fmean(self.values)

    @property
    def beyond(self) -> bool:
        """Whether it exceeds the spread of the second backend."""
        return abs(self.mean) > SPREADS * self.spread

    @property
    def p(self) -> float:
        """Two-sided p of a paired t test; 1 where there is no difference at all."""
        from scipy.stats import t  # noqa: PLC0415 (slow to import)

        if len(self.values) < 2 or not any(self.values):
            return 1.0
        sd = stdev(self.values)
        if sd == 0.0:
            return 0.0
        size = abs(self.mean) / (sd / math.sqrt(len(self.values)))
        return float(2.0 * t.sf(size, len(self.values) - 1))

    @property
    def worse(self) -> bool:
        """Whether the first backend does worse on average."""
        return self.mean * BETTER[self.measure] < 0


class Results:
    """Values by corpus, backend, measure and seed."""

    def __init__(self, lines: Iterable[Mapping[str, Any]]) -> None:
        self.values: dict[tuple[str, str, str], dict[int, float]] = {}
        self.facts: dict[str, dict[str, Any]] = {}
        self.seconds: dict[tuple[str, str], list[float]] = {}
        shapes: dict[str, set[tuple[int, int]]] = {}
        for line in lines:
            corpus, backend = line["corpus"], line["backend"]
            for measure, value in line["measures"].items():
                self.values.setdefault((corpus, backend, measure), {})[line["seed"]] = value
            self.seconds.setdefault((corpus, backend), []).append(line["processor seconds"])
            shapes.setdefault(corpus, set()).add((line["topics"], line["iterations"]))
            self.facts[corpus] = dict(line)
        for corpus, found in shapes.items():
            if len(found) > 1:
                raise ParameterError(
                    f"The lines of {corpus!r} come from chains with different numbers of "
                    f"topics or iterations ({sorted(found)}), which cannot be "
                    "compared; use files of one kind."
                )

    @property
    def backends(self) -> list[str]:
        """Backends in the order in which they came, the sequential ones first."""
        found = list(dict.fromkeys(backend for _, backend, _ in self.values))
        return sorted(found, key=lambda name: (name != SEQUENTIAL, name != CONTROL))

    def measures(self, corpus: str) -> list[str]:
        """Measures that a corpus has."""
        return [name for name in BETTER if (corpus, SEQUENTIAL, name) in self.values]

    def compare(self, backend: str, other: str) -> list[Difference]:
        """Subtract another backend from this one, for seeds that both have run with."""
        found = []
        for corpus in self.facts:
            for measure in self.measures(corpus):
                ours = self.values.get((corpus, backend, measure), {})
                theirs = self.values.get((corpus, other, measure), {})
                seeds = sorted(set(ours) & set(theirs))
                if len(seeds) < 2:
                    continue
                gaps = tuple(ours[seed] - theirs[seed] for seed in seeds)
                spread = stdev(theirs.values())
                level = fmean(theirs.values())
                found.append(Difference(corpus, backend, measure, gaps, spread, level))
        return found


def write_tables(options: argparse.Namespace) -> None:
    """Read files of results and write the tables."""
    from benchmarks.parallel_quality import read_lines  # noqa: PLC0415 (it imports this file)

    missing = [path for path in options.files if not path.exists()]
    if missing:
        raise ParameterError(f"There is no file '{missing[0]}'; make it with `run --out`.")
    text = "\n".join(tables(Results(read_lines(options.files)))) + "\n"
    if options.out is None:
        print(text, end="")
    else:
        options.out.write_text(text, encoding="utf-8")


def tables(results: Results) -> Iterator[str]:
    """Write all tables, line by line."""
    others = [backend for backend in results.backends if backend != SEQUENTIAL]
    by_backend = {backend: results.compare(backend, SEQUENTIAL) for backend in others}
    tested = [d for name, some in by_backend.items() if name != CONTROL for d in some]
    on_gpu = {
        backend: results.compare(backend, backend.replace("cuda", "threads"))
        for backend in others
        if backend.startswith("cuda")
    }
    tested += [d for some in on_gpu.values() for d in some]
    sure = certain(tested)
    yield _RULES
    for corpus, facts in results.facts.items():
        yield f"### {corpus}\n"
        yield (
            f"{facts['tokens']:,} words and {facts['citations']:,} citations in training (of the "
            f"last seed), K = {facts['topics']}, {facts['iterations']} iterations.\n"
        )
        yield from _corpus_table(results, corpus)
        yield ""
        yield from _difference_table(results, corpus, by_backend, sure, "minus sequential")
        if on_gpu:
            yield ""
            yield from _difference_table(results, corpus, on_gpu, sure, "GPU minus threads")
        yield ""
    yield "### Summary\n"
    yield from _summary(by_backend, on_gpu, sure)
    yield ""
    yield from _signs(results, by_backend)


def certain(differences: Sequence[Difference]) -> set[Difference]:
    """Find the differences whose p stays below the level after Holm's correction."""
    left = sorted(differences, key=lambda d: d.p)
    found = set()
    for number, difference in enumerate(left):
        if difference.p * (len(left) - number) >= LEVEL:
            break
        found.add(difference)
    return found


def _corpus_table(results: Results, corpus: str) -> Iterator[str]:
    measures = results.measures(corpus)
    yield _row("backend", "seeds", *measures, "processor s")
    yield _row("---", "--:", *["--:"] * (len(measures) + 1))
    for backend in results.backends:
        found = [results.values.get((corpus, backend, m), {}) for m in measures]
        if not any(found):
            continue
        seconds = results.seconds[corpus, backend]
        cells = [mean_and_spread(list(values.values())) for values in found]
        yield _row(backend, str(len(seconds)), *cells, f"{fmean(seconds):.1f}")


def _difference_table(
    results: Results,
    corpus: str,
    differences: Mapping[str, Sequence[Difference]],
    sure: set[Difference],
    head: str,
) -> Iterator[str]:
    measures = results.measures(corpus)
    yield _row(head, *measures)
    yield _row("---", *["--:"] * len(measures))
    for backend, found in differences.items():
        cells = {d.measure: _difference(d, sure) for d in found if d.corpus == corpus}
        if cells:
            yield _row(backend, *(cells.get(measure, "") for measure in measures))


def _difference(difference: Difference, sure: set[Difference]) -> str:
    return f"{mean_and_spread(difference.values, sign='+')} {mark(difference, sure)}".rstrip()


def mark(difference: Difference, sure: set[Difference]) -> str:
    """Write the marks of a difference."""
    stars = "**" if difference in sure else "*" if difference.p < LEVEL else ""
    return ("°" if difference.beyond else "") + stars.replace("*", r"\*")


def _summary(
    by_backend: Mapping[str, Sequence[Difference]],
    on_gpu: Mapping[str, Sequence[Difference]],
    sure: set[Difference],
) -> Iterator[str]:
    """Count marks, and how many chance would give."""
    yield _row("", "comparisons", "°", r"\* (worse / better)", r"\* expected by chance", r"\*\*")
    yield _row("---", *["--:"] * 5)
    rows = {f"{name} minus sequential": found for name, found in by_backend.items()}
    rows |= {f"{name} minus threads": found for name, found in on_gpu.items()}
    for name, found in rows.items():
        starred = [d for d in found if d.p < LEVEL]
        worse = sum(d.worse for d in starred)
        better = sum(not d.worse and BETTER[d.measure] != 0 for d in starred)
        yield _row(
            name,
            str(len(found)),
            str(sum(d.beyond for d in found)),
            f"{len(starred)} ({worse} / {better})",
            f"{LEVEL * len(found):.1f}",
            str(sum(d in sure for d in found)),
        )


def _signs(results: Results, by_backend: Mapping[str, Sequence[Difference]]) -> Iterator[str]:
    """Count, over all corpora and seeds, in how many pairs a backend did worse (a sign test).

    Each cell also gives the mean difference in percent, with equal weight for each corpus.
    """
    from scipy.stats import binomtest  # noqa: PLC0415 (slow to import)

    present = {m for corpus in results.facts for m in results.measures(corpus)}
    measures = [m for m, better in BETTER.items() if better and m in present]
    yield _row("pairs worse than sequential (p of a sign test), mean difference", *measures)
    yield _row("---", *["--:"] * len(measures))
    for backend, found in by_backend.items():
        cells = []
        for measure in measures:
            mine = [d for d in found if d.measure == measure]
            gaps = [x * BETTER[measure] for d in mine for x in d.values if x]
            if not gaps:
                cells.append("")
                continue
            worse = sum(x < 0 for x in gaps)
            p = binomtest(worse, len(gaps)).pvalue
            part = 100 * fmean(d.mean / d.level for d in mine)
            cells.append(f"{worse} of {len(gaps)} ({p:.2g}), {part:+.1f} %")
        yield _row(backend, *cells)


def mean_and_spread(values: Sequence[float], *, sign: str = "") -> str:
    """Write mean ± standard deviation, to two significant digits of the latter.

    Examples
    --------
    >>> mean_and_spread([480.61, 471.73, 475.0]), mean_and_spread([0.5, 0.5], sign="+")
    ('475.8 ± 4.5', '+0.5 ± 0')
    """
    mean = fmean(values)
    spread = stdev(values) if len(values) > 1 else 0.0
    if not spread:
        return f"{mean:{sign}.4g} ± 0" if len(values) > 1 else f"{mean:{sign}.4g}"
    places = max(0, 1 - math.floor(math.log10(spread)))
    return f"{mean:{sign},.{places}f} ± {spread:.{places}f}"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"
