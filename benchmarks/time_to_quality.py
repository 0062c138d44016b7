"""How good topics are after how much time: one core, one chain, beside tomotopy.

    python -m benchmarks.time_to_quality --quick                         # a minute, a tiny corpus
    python -m benchmarks.time_to_quality --out quality.jsonl             # all of it: 20 minutes
    python -m benchmarks.time_to_quality --table quality.jsonl --plot time-to-quality.png

Systems: the whole SCNTM with the stages of earlier releases (before: burstiness at once, citations
from the half of the run on) and with today's (after), and tomotopy's LDA and its HDP with the word
prior that keeps it near the same number of topics. Each runs in a process of its own, one after
the other, pinned to one core; seconds are those of the processor, so that other work on the machine
counts less. Reading the corpus and compiling kernels are left out, the random start is counted, and
the clock stands still while a system is judged. All are judged by their present sample.

Coherence is the mean NPMI of the 10 most probable words of the topics in use, computed by one
function for all systems on the training corpus.

Perplexity is that of document completion. Half of the words of a tenth of the documents are taken
out before the fit; the other half stays in the training corpus. Every system then predicts the
words taken out by its own conditional distribution given its present sample: sum_k theta_dk phi_kw
for LDA and HDP, and sum_k theta_dk phi'_dkw for the SCNTM once burstiness has joined. The SCNTM
also knows the authors and citations of these documents. This compares what each model, as a whole,
says of a document's next word, and needs no further estimate of theta to depend on.

The column "by phi" is a check that gives all systems the same theta: topics of the same documents
are found from phi alone by one estimator (the fixed point of EM under a symmetric Dirichlet prior
of 0.1) and words are scored by sum_k theta_dk phi_kw. It uses neither bursts nor citations. A model
with bursts leaves repeated words to phi', so its phi is at a disadvantage in this column.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from benchmarks.time_to_quality_report import draw, read_rows, to_markdown
from benchmarks.time_to_quality_worker import AFTER, BEFORE, TOMOTOPY, Held

from citeweave import datasets, simulate
from citeweave.corpus import Corpus
from citeweave.evaluate.words import without_words

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
SYSTEMS = (BEFORE, AFTER, *TOMOTOPY)
POINTS = (5, 10, 20, 40, 60, 80, 100, 150, 200, 300, 400)
QUICK_POINTS = (4, 8, 16)
HELD_DOCUMENTS = 0.1


class Setting(NamedTuple):
    """A corpus and the number of topics on it."""

    topics: int
    load: Callable[[Path | None], Corpus]


def _dataset(name: str, share: float = 1.0) -> Callable[[Path | None], Corpus]:
    """Return the loader of a data set, or of a random part of its documents."""

    def load(folder: Path | None) -> Corpus:
        saved = None if folder is None else folder / name
        found = Corpus.load(saved) if saved and saved.exists() else datasets.load(name)
        return found if share == 1.0 else found.split(test=1 - share, seed=0).train

    return load


def _simulated(documents: int, words: int, vocabulary: int, topics: int) -> Callable[..., Corpus]:
    """Return a function that draws a corpus from the model."""

    def load(_: Path | None) -> Corpus:
        return simulate(
            documents=documents,
            words_per_document=words,
            vocabulary=vocabulary,
            topics=topics,
            authors=documents // 2,
            citations=5 * documents,
            seed=1,
        ).corpus

    return load


CORPORA = {
    "ieee-vis": Setting(30, _dataset("ieee-vis")),
    "hep-th, a quarter": Setting(50, _dataset("hep-th", 0.25)),
    "long texts, simulated": Setting(30, _simulated(300, 1500, 4000, 30)),
}
QUICK = {"tiny, simulated": Setting(4, _simulated(80, 40, 150, 4))}


def take_words_out(corpus: Corpus, *, seed: int = 0) -> tuple[Corpus, Held]:
    """Take half of the words out of a tenth of the documents.

    Documents without words are left out of both. Words that remain nowhere in the training corpus
    are not scored: tomotopy does not know them.

    Parameters
    ----------
    corpus : Corpus
    seed : int

    Returns
    -------
    train : Corpus
    held : Held
        Documents are positions in `train`.

    Examples
    --------
    >>> corpus = simulate(documents=40, vocabulary=20, topics=2, seed=1).corpus
    >>> train, held = take_words_out(corpus)
    >>> train.n_tokens + len(held.word) == corpus.n_tokens, len(set(held.document.tolist()))
    (True, 4)
    """
    corpus = corpus.subset(corpus.lengths > 0)
    rng = np.random.default_rng(seed)
    possible = np.flatnonzero(corpus.lengths > 1)
    number = max(round(HELD_DOCUMENTS * corpus.n_documents), 1)
    chosen = rng.permutation(possible)[:number]
    out = np.zeros(corpus.n_tokens, bool)
    for d in chosen.tolist():
        begin, end = corpus.offsets[d], corpus.offsets[d + 1]
        out[begin + rng.permutation(end - begin)[: (end - begin) // 2]] = True
    train = without_words(corpus, out)
    document = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    known = np.bincount(train.tokens, minlength=corpus.vocabulary_size) > 0
    scored = out & known[corpus.tokens]
    return train, Held(document[scored], corpus.tokens[scored].astype(np.int64))


def run_system(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one system in a process of its own and return its points."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.time_to_quality_worker", json.dumps(job)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    return [dict(json.loads(line)) for line in done.stdout.splitlines()]


def run_all(options: argparse.Namespace, settings: dict[str, Setting]) -> None:
    """Run every system on every corpus, one after the other, and append a line for each point."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, setting) in enumerate(settings.items()):
            place = Path(folder) / f"corpus-{number}"
            train, held = take_words_out(setting.load(options.corpora_folder))
            train.save(place)
            held.save(place.with_suffix(".npz"))
            job = {
                "corpus": str(place),
                "held": str(place.with_suffix(".npz")),
                "topics": setting.topics,
                "points": list(options.points),
            }
            facts = {
                "corpus": name,
                "K": setting.topics,
                "documents": train.n_documents,
                "tokens": train.n_tokens,
                "citations": train.n_citations,
                "scored": len(held.word),
            }
            for seed in range(1, options.seeds + 1):
                for system in options.systems:
                    rows = run_system(job | {"system": system, "seed": seed})
                    with options.out.open("a", encoding="utf-8") as file:
                        for row in rows:
                            found = facts | {"system": system, "seed": seed} | row
                            file.write(json.dumps(found) + "\n")
                    minutes = (time.monotonic() - began) / 60
                    _say(f"{name}, seed {seed}: {system}, after {minutes:.1f} minutes")


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


def _numbers(text: str) -> tuple[int, ...]:
    found = tuple(int(part) for part in text.split(","))
    if found != tuple(sorted(set(found))) or found[0] < 1 or found[-1] < 2:
        raise argparse.ArgumentTypeError(
            f"give growing numbers of iterations, such as 10,100,400; got {text!r}"
        )
    return found


def main(arguments: list[str] | None = None) -> None:
    """Run what is asked for, and show it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tiny corpus and few iterations")
    parser.add_argument("--out", type=Path, help="lines of JSON, added to what is there")
    parser.add_argument("--table", type=Path, nargs="+", help="show files of --out; run nothing")
    parser.add_argument("--plot", type=Path, help="where to draw: a PNG, SVG or PDF file")
    parser.add_argument("--corpora", nargs="+", choices=list(CORPORA), default=list(CORPORA))
    parser.add_argument(
        "--corpora-folder",
        type=Path,
        help="saved corpora by name (FOLDER/ieee-vis); others are loaded as data sets",
    )
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--seeds", type=int, default=1, help="runs of each, seeds 1, 2, ...")
    parser.add_argument("--points", type=_numbers, help="iterations at which systems are judged")
    options = parser.parse_args(arguments)
    options.points = options.points or (QUICK_POINTS if options.quick else POINTS)
    files = options.table
    if files is None:
        if options.out is None:
            options.out = Path("time-to-quality.jsonl")
        run_all(options, QUICK if options.quick else {n: CORPORA[n] for n in options.corpora})
        files = [options.out]
    rows = read_rows(files)
    print(to_markdown(rows))
    if options.plot is not None:
        draw(rows, options.plot)


if __name__ == "__main__":
    main()
