"""Write a small corpus and small runs in the formats of the release that is on the path.

Each ``release-*.tar.gz`` was made by the release of its name, as this file was then, with

    PYTHONPATH=src python tests/data/make_release.py tests/data/release-0.2.tar.gz

None is made again: later releases must read it as it is. 0.1 has the corpus, the three runs of
`RUNS` and the baseline.
"""

import contextlib
import itertools
import sys
import tarfile
import tempfile
import threading
from pathlib import Path
from typing import Any

import citeweave
from citeweave import SCNTM, Corpus, simulate
from citeweave.baselines import PMTLM
from citeweave.evaluate import hold_out
from citeweave.explore import Exploration
from citeweave.model.runner import RunInterrupted

STOPPED_AFTER = 5
FIT: dict[str, Any] = {
    "iterations": 8,
    "exactly": True,
    "network_from": 2,
    "burn_in": 4,
    "thin": 1,
    "seed": 7,
    "device": "cpu",
}
RUNS: dict[str, dict[str, Any]] = {
    "sequential": {"topics": 3, "eta": 3, "chains": 2},
    "snapshot": {"topics": 3, "sweep": "snapshot", "rounds": 2},
    "slots": {"topics": 260, "eta": "inf"},
}
FURTHER: dict[str, dict[str, Any]] = {
    "authors": {"topics": 3, "authors": "all"},
    "categories": {"topics": 3, "categories": 3, "labels": "some"},
    "levels": {"topics": 3, "levels": ("period",), "period_years": 5},
}
"""Models whose runs hold more; done, with a name and a joined author where people gave them."""
EXPORT = """id,title,abstract,authors,year,venue,references
a,Soil and wheat,wheat needs soil and wheat needs water,"Byron, Ada; Okri, Ben",2001,Fields,
b,Wheat and water,water for wheat in dry soil,"Okri, Ben",2003,Fields,a
c,Stars,the spectrum of stars and water on stars,"Curie, M.",2004,Skies,a; b
"""


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
        authors=[[name, first[0]] if name != first[0] else [name] for name in first],
        categories=[drawn.category_names[i] for i in drawn.categories],
        citations=drawn.citations.tolist(),
        ids=[f"paper-{number}" for number in range(drawn.n_documents)],
        metadata={"year": list(range(2001, 2013))},
    )


def write_all(out: Path) -> None:
    """Write corpora, runs from end to end and stopped, and a run of a baseline."""
    corpus = literature()
    corpus.save(out / "corpus")
    corpus.save(out / "shards", shard=5)
    (out / "export.csv").write_text(EXPORT, encoding="utf-8")
    with contextlib.chdir(out):  # the report names the file as it was given
        made = citeweave.read("export.csv").prepare()
    made.corpus.save(out / "imported")
    (out / "export.csv").unlink()
    for name, parameters in RUNS.items():
        write_runs(corpus, out, name, FIT | parameters)
    for name, parameters in FURTHER.items():
        SCNTM(**FIT | parameters).fit(corpus, out=out / name)
    view = Exploration(out / "authors")
    view.name_topic(view.topics(words=1)["topic"][0], "The first one")
    view.join_authors(1, 2)  # who share no paper
    train, held_out = hold_out(corpus, citations=0.2, seed=1)
    baseline = PMTLM(topics=2, restarts=1, iterations=10, seed=1)
    baseline.fit(train, out=out / "baseline", held_out=held_out)


def write_runs(corpus: Corpus, out: Path, name: str, options: dict[str, Any]) -> None:
    """Fit from end to end, and again until it is stopped."""
    SCNTM(**options).fit(corpus, out=out / name)
    stop = threading.Event()

    def look(progress: Any) -> None:
        if progress.iteration >= STOPPED_AFTER:
            stop.set()

    try:
        SCNTM(**options).fit(corpus, out=out / f"{name}-stopped", progress=look, stop=stop)
    except RunInterrupted:
        return
    raise AssertionError(name)


def pack(folder: Path, archive: Path) -> None:
    """Write the files of a folder into an archive, under their names in it."""
    with tarfile.open(archive, "w:gz") as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != ".lock":
                packed.add(path, path.relative_to(folder))


def main(archive: Path) -> None:
    with tempfile.TemporaryDirectory() as room:
        write_all(Path(room))
        pack(Path(room), archive)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
