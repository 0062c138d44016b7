"""A folder with the files that the pages name: exports, corpora and a run, all small."""

import csv
import gzip
import json
import shutil
from pathlib import Path

from benchmarks.openalex_snapshot import write_snapshot

import citeweave
from citeweave import SCNTM, Corpus

CORPORA = ("my-corpus", "new-corpus", "CORPUS", "cora", "ieee-vis", "m10")
"""Corpus folders; a folder takes precedence over the data set of the same name."""

RUNS = ("my-run", "RUN", "citeweave-demo")
QUERY = '[categories]\nTrees = ["forest", "decision tree"]\nScience = ["research", "study"]\n'
PEOPLE = "person,name,paper\nAda Byron,A. Byron,\n"


def make_corpus() -> Corpus:
    """Return the example corpus, with an author, a title, funders and keywords of the pages."""
    bare = citeweave.example_corpus()
    everyone = range(bare.n_documents)
    known = bare.author_names[0]
    return Corpus.from_lists(
        tokens=[bare.words(d) for d in everyone],
        authors=[["Jeffrey Heer" if a == known else a for a in bare.authors(d)] for d in everyone],
        categories=[bare.category_names[c] for c in bare.categories],
        citations=bare.citations.tolist(),
        ids=bare.ids,
        titles=["Data-driven documents", *bare.titles[1:]],
        metadata={
            **bare.metadata,
            "funders": [["Research Council"] if d % 2 else None for d in everyone],
            "keywords": [bare.words(d)[:3] for d in everyone],
            "outside_references": [["10.1000/1", f"10.1000/{2 + d % 3}"] for d in everyone],
        },
    )


def make_papers(corpus: Corpus) -> list[dict[str, str]]:
    """Return records of the papers of a corpus, as text."""
    return [
        {
            "id": corpus.ids[d],
            "title": corpus.titles[d],
            "authors": "; ".join(_inverted(name) for name in corpus.authors(d)),
            "year": str(corpus.metadata["year"][d]),
            "venue": str(corpus.metadata["venue"][d]),
            "places": f"{corpus.metadata['institutions'][d][0]}, Japan",
            "funders": "Research Council",
            "abstract": f"We study {' '.join(corpus.words(d))} in this research.",
        }
        for d in range(corpus.n_documents)
    ]


def _inverted(name: str) -> str:
    given, _, family = name.rpartition(" ")
    return f"{family}, {given}"


def _write_bibtex(path: Path, papers: list[dict[str, str]]) -> None:
    entries = (
        f"@article{{{p['id']}, title = {{{p['title']}}}, journal = {{{p['venue']}}}, "
        f"author = {{{p['authors'].replace('; ', ' and ')}}}, year = {{{p['year']}}}, "
        f"abstract = {{{p['abstract']}}}}}\n"
        for p in papers
    )
    path.write_text("".join(entries), encoding="utf-8")


def _write_web_of_science(path: Path, papers: list[dict[str, str]]) -> None:
    entries = (
        f"PT J\nAU {p['authors'].replace('; ', chr(10) + '   ')}\nTI {p['title']}\n"
        f"SO {p['venue']}\nAB {p['abstract']}\nPY {p['year']}\nUT WOS:{p['id']}\nER\n\n"
        for p in papers
    )
    head = "FN Clarivate Analytics Web of Science\nVR 1.0\n"
    path.write_text(head + "".join(entries) + "EF\n", encoding="utf-8")


def _write_table(path: Path, papers: list[dict[str, str]], names: dict[str, str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, list(names.values()))
        rows.writeheader()
        rows.writerows({column: p[name] for name, column in names.items()} for p in papers)


SCOPUS = {"authors": "Authors", "title": "Title", "year": "Year", "venue": "Source title"}
SCOPUS |= {"abstract": "Abstract", "id": "EID", "places": "Affiliations"}
SCOPUS |= {"funders": "Funding Details"}
GERMAN = {"title": "Überschrift", "authors": "wer", "abstract": "was"}


def fill(folder: Path) -> None:
    """Write everything that the pages read into a folder."""
    corpus = make_corpus()
    for name in CORPORA:
        corpus.save(folder / name)
    first, *others = (folder / name for name in RUNS)
    SCNTM(topics=5, iterations=40, chains=2, seed=1, levels=("venue",)).fit(corpus, out=first)
    (first / "people.csv").write_text(PEOPLE, encoding="utf-8")
    for other in others:
        shutil.copytree(first, other)
    _write_exports(folder, make_papers(corpus))
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (folder / "mine.toml").write_text(QUERY, encoding="utf-8")
    (folder / "links.tsv").write_text("a\tb\n", encoding="utf-8")


def _write_exports(folder: Path, papers: list[dict[str, str]]) -> None:
    for name in ("export.bib", "FILES", "old-export.bib"):
        _write_bibtex(folder / name, papers)
    _write_bibtex(folder / "new-export.bib", papers[40:])
    _write_web_of_science(folder / "savedrecs.txt", papers)
    for name in ("scopus.csv", "export.csv"):
        _write_table(folder / name, papers, SCOPUS)
    _write_table(folder / "mine.csv", papers, GERMAN)
    lines = (
        json.dumps({"id": name, "info": {"title": f"Paper {name}"}}) + "\n" for name in ("a", "b")
    )
    (folder / "mine.jsonl").write_text("".join(lines), encoding="utf-8")
    for name in ("exports", "folder_of_exports"):
        (folder / name).mkdir()
        _write_bibtex(folder / name / "more.bib", papers[:20])
    snapshot = write_snapshot(folder / "openalex-snapshot", 200, part=100)
    (part, *_) = sorted(snapshot.rglob("part_*.gz"))
    with gzip.open(part, "rt", encoding="utf-8") as file:
        dump = "".join(_with_keyword(number, line) for number, line in enumerate(file))
    for name in ("works.jsonl.gz", "DUMP"):
        (folder / name).write_bytes(gzip.compress(dump.encode(), 1))


def _with_keyword(number: int, line: str) -> str:
    """Change every second work so that its title has a keyword of the query presets."""
    work = json.loads(line)
    if number % 2:
        keyword = ("Neural networks", "Black holes", "Enzymes")[number % 3]
        title = f"{keyword}: a study of {work['title']}"
        work |= {"title": title, "display_name": title}
    return json.dumps(work) + "\n"
