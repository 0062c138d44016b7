"""Results of PMTLM by starting point: random topics, clusters, and the true classes.

    python -m benchmarks.pmtlm_starts --datasets cora,citeseer --alphas 0.3,0.5,0.7,0.9,joint

For every data set, weight of words and model it prints a row for each start: the log likelihood
of EM (L), that of single topics after the search (H), and the NMI of both kinds of labels with the
classes. The true classes are not a legitimate start; their row shows whether the likelihood would
prefer them. docs/understand/pmtlm.md has the figures.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from citeweave import datasets
from citeweave.baselines import PMTLM
from citeweave.baselines._pmtlm_labels import refine_labels
from citeweave.baselines.matching import undirected
from citeweave.baselines.pmtlm import _begin_at, _prepare, _start
from citeweave.evaluate import nmi

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from citeweave.corpus import Corpus

__all__ = ["Row", "compare"]

RANDOM, CLUSTERS, CLASSES = "random", "clusters", "true classes"
HEADS = ("data set", "model", "alpha", "start", "L", "NMI of EM", "H", "NMI refined")


class Row(NamedTuple):
    """Likelihoods and NMI from one kind of start: the highest L, and the run of highest H."""

    alpha: float | str
    corrected: bool
    start: str
    log_likelihood: float
    nmi_of_em: float
    search: float
    nmi: float


def compare(
    corpus: Corpus, *, alpha: float | str, corrected: bool, restarts: int, iterations: int
) -> Iterator[Row]:
    """Fit from each kind of start, with as many restarts from random topics as from clusters."""
    options = {
        "topics": corpus.n_categories,
        "alpha": alpha,
        "degree_corrected": corrected,
        "iterations": iterations,
    }
    classes = np.asarray(corpus.categories)
    weight = 0.0
    for start in (RANDOM, CLUSTERS):
        model = PMTLM(start=start, restarts=restarts, seed=0, **options).fit(corpus)
        weight = model.alpha_
        yield Row(
            alpha,
            corrected,
            start,
            float(model.log_likelihoods_.max()),
            nmi(model.doc_topic_.argmax(axis=1), classes),
            float(model.facts_["refined_log_likelihood"]),
            nmi(model.labels_, classes),
        )
    yield _from_classes(corpus, PMTLM(start=CLUSTERS, **options), weight)


def _from_classes(corpus: Corpus, model: PMTLM, weight: float) -> Row:
    """Run EM and the search from the true classes."""
    data, classes = _prepare(corpus), np.asarray(corpus.categories, dtype=np.int64)
    begin = _start(data, int(model.topics), corpus.vocabulary_size, [0, 0])
    _begin_at(classes, data, begin)
    run = model._run(data, begin, weight)  # noqa: SLF001 (no start that a user could ask for)
    em = run.parameters.doc_topic.argmax(axis=1)
    labels, value = max(
        (
            refine_labels(
                data,
                undirected(corpus),
                first,
                int(model.topics),
                alpha=weight,
                degree_corrected=bool(model.degree_corrected),
                rng=np.random.default_rng(0),
            )
            for first in (em, classes)
        ),
        key=lambda found: found[1],
    )
    return Row(
        model.alpha,
        bool(model.degree_corrected),
        CLASSES,
        run.log_likelihood,
        nmi(em, classes),
        value,
        nmi(labels, classes),
    )


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table in Markdown, row by row."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", default="cora,citeseer")
    parser.add_argument("--alphas", default="0.3,0.5,0.7,0.9,joint")
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=150)
    given = parser.parse_args(arguments)
    sys.stdout.write(_line(HEADS) + "|---|---|--:|---|--:|--:|--:|--:|\n")
    for name in given.datasets.split(","):
        corpus = datasets.load(name)
        for corrected in (True, False):
            for text in given.alphas.split(","):
                found = compare(
                    corpus,
                    alpha=text if text == "joint" else float(text),
                    corrected=corrected,
                    restarts=given.restarts,
                    iterations=given.iterations,
                )
                for row in found:
                    kind = "PMTLM-DC" if row.corrected else "PMTLM"
                    numbers = [f"{row.log_likelihood:,.0f}", f"{row.nmi_of_em:.3f}"]
                    numbers += [f"{row.search:,.0f}", f"{row.nmi:.3f}"]
                    sys.stdout.write(_line([name, kind, str(row.alpha), row.start, *numbers]))
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
