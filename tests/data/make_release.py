"""Write a small corpus and small runs in the formats of the release that is on the path.

``release-0.1.tar.gz`` was made by release 0.1, before anything of it moved, with

    PYTHONPATH=src python tests/data/make_release.py tests/data/release-0.1.tar.gz

It is not made again: later releases must read it as it is.
"""

import itertools
import sys
import tarfile
import tempfile
import threading
from pathlib import Path
from typing import Any

from citeweave import SCNTM, Corpus, simulate
from citeweave.baselines import PMTLM
from citeweave.evaluate import hold_out
from citeweave.model.runner import RunInterrupted

STOPPED_AFTER = 5
FIT = {"iterations": 8, "network_from": 2, "burn_in": 4, "thin": 1, "seed": 7, "device": "cpu"}
RUNS: dict[str, dict[str, Any]] = {
    "sequential": {"topics": 3, "eta": 3, "chains": 2},
    "snapshot": {"topics": 3, "sweep": "snapshot", "rounds": 2},
    "slots": {"topics": 260, "eta": "inf"},
}


def literature() -> Corpus:
    """Draw twelve papers with titles, years, authors, categories and citations."""
    drawn = simulate(
        documents=12,
        vocabulary=14,
        topics=2,
        authors=4,
        categories=2,
        words_per_document=8,
        citations=18,
        seed=5,
    ).corpus
    words = [drawn.vocabulary[i] for i in drawn.tokens]
    bounds = drawn.offsets
    first = [drawn.author_names[i] for i in drawn.first_authors]
    return Corpus.from_lists(
        tokens=[words[a:b] for a, b in itertools.pairwise(bounds)],
        titles=[" ".join(words[a : a + 3]) for a in bounds[:-1]],
        authors=[[name] for name in first],
        categories=[drawn.category_names[i] for i in drawn.categories],
        citations=drawn.citations.tolist(),
        ids=[f"paper-{number}" for number in range(drawn.n_documents)],
        metadata={"year": list(range(2001, 2013))},
    )


def write_all(out: Path) -> None:
    """Write the corpus, each run from end to end and stopped, and a run of a baseline."""
    corpus = literature()
    corpus.save(out / "corpus")
    for name, parameters in RUNS.items():
        options = FIT | parameters
        SCNTM(**options).fit(corpus, out=out / name)
        stop = threading.Event()

        def look(progress: Any, stop: threading.Event = stop) -> None:
            if progress.iteration >= STOPPED_AFTER:
                stop.set()

        try:
            SCNTM(**options).fit(corpus, out=out / f"{name}-stopped", progress=look, stop=stop)
        except RunInterrupted:
            continue
        raise AssertionError(name)
    train, held_out = hold_out(corpus, citations=0.2, seed=1)
    baseline = PMTLM(topics=2, restarts=1, iterations=10, seed=1)
    baseline.fit(train, out=out / "baseline", held_out=held_out)


def main(archive: Path) -> None:
    with tempfile.TemporaryDirectory() as room:
        write_all(Path(room))
        with tarfile.open(archive, "w:gz") as pack:
            for path in sorted(Path(room).rglob("*")):
                if path.is_file() and path.name != ".lock":
                    pack.add(path, path.relative_to(room))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
