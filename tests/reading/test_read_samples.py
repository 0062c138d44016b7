"""Real exports and data sets, where they are at hand: true counts, found by other means.

The numbers were counted by searching the files for tags and separators (`grep -c '^AU  -'`,
the ``NR`` fields of Web of Science, the columns of the tables), not by these readers. The
folder is named by the environment variable CITEWEAVE_DATA.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from citeweave.reading import read

FOLDER = os.environ.get("CITEWEAVE_DATA")
pytestmark = pytest.mark.skipif(
    not FOLDER or not Path(FOLDER).is_dir(), reason="CITEWEAVE_DATA names no folder with real data"
)


def load(name):
    path = Path(FOLDER or ".") / name
    if not path.exists():
        pytest.skip(f"{name} is not in the folder CITEWEAVE_DATA names")
    reading = read(path)
    return list(reading), reading


def only(reading):
    (counts,) = reading.counts.values()
    return counts


# file: format, records, authors, abstracts, references, DOIs
EXACT = {
    "wos/metaknowledge_savedrecs.txt": ("wos", 32, 66, 10, 958, 17),
    "wos/tethne_wos2.txt": ("wos", 100, 484, 94, 4894, 93),
    "ris/rispy_example_wos.ris": ("wos", 2, 13, 2, 145, 2),
    "ris/rispy_example_full.ris": ("ris", 2, 4, 2, 0, 0),
    "ris/litstudy_example.ris": ("ris", 25, 163, 25, 0, 24),
    "ris/asreview_baseline_zotero.ris": ("ris", 100, 648, 98, 0, 100),
    "medline/nbib_pubmed-balloongui-set.nbib": ("medline", 75, 773, 70, 0, 74),
    "openalex/openalex_work_W2741809807.json": ("openalex", 1, 9, 1, 2, 1),
    "openalex/bibliometrix_openalex_sample.csv": ("openalex-csv", 8, 20, 5, 0, 8),
    "lens/bibliometrix_lens_sample.csv": ("lens", 8, 28, 8, 517, 8),
    "other/litstudy_ieee.csv": ("ieee", 10, 86, 10, 0, 10),
    "s2/s2orc_metadata_sample.jsonl": ("semanticscholar", 1000, 3141, 488, 3107, 587),
}


@pytest.mark.parametrize("name", EXACT)
def test_exports(name):
    records, reading = load(f"samples/{name}")
    form, count, authors, abstracts, references, dois = EXACT[name]
    assert only(reading).format == form
    assert len(records) == count
    assert only(reading).skipped == 0
    assert sum(len(record.authors) for record in records) == authors
    assert sum(record.abstract is not None for record in records) == abstracts
    assert sum(len(record.references) for record in records) == references
    assert sum(record.doi is not None for record in records) == dois
    assert len({record.id for record in records}) == count or name.startswith("ris/rispy")
    told = [problem.field for problem in reading.problems]
    assert told == (["format"] if name == "ris/rispy_example_wos.ris" else [])


# Scopus separates references by semicolons, which stand inside references too. The true
# number lies between the pieces that have a year and all pieces.
# file: format, records, authors, abstracts, pieces with a year, all pieces
SCOPUS = {
    "bibtex/pybibx_scopus.bib": ("bibtex", 263, 801, 262, 9356, 9663),
    "scopus/litstudy_scopus.csv": ("scopus", 58, 213, 57, 2357, 2461),
    "scopus/tethne_scopus.csv": ("scopus", 20, 90, 20, 1182, 1184),
}


@pytest.mark.parametrize("name", SCOPUS)
def test_scopus_exports(name):
    records, reading = load(f"samples/{name}")
    form, count, authors, abstracts, fewest, most = SCOPUS[name]
    assert (only(reading).format, len(records), only(reading).skipped) == (form, count, 0)
    assert sum(len(record.authors) for record in records) == authors
    assert sum(record.abstract is not None for record in records) == abstracts
    references = [reference for record in records for reference in record.references]
    assert fewest <= len(references) <= most
    assert sum(reference.year is not None for reference in references) > 0.97 * len(references)
    assert sum(reference.first_author is not None for reference in references) > 0.9 * len(
        references
    )


def test_ris_without_a_ris_record_is_refused_as_ris():
    path = Path(FOLDER or ".") / "samples/ris/rispy_example_wos.ris"
    reading = read(path, format="ris")
    assert list(reading) == []
    assert "no line starts with 'TY" in (only(reading).refused or "")


def links(records):
    """Count citations between documents of the set: usable, to self, to outside, repeated."""
    ids = {record.id for record in records}
    usable: set[tuple[str, str]] = set()
    own = outside = repeated = 0
    for record in records:
        for reference in record.references:
            if reference.id == record.id:
                own += 1
            elif reference.id not in ids:
                outside += 1
            elif (record.id, reference.id) in usable:
                repeated += 1
            else:
                usable.add((record.id, reference.id))
    return len(usable), own, outside, repeated


def edges_of(reading):
    return sum(counts.links for counts in reading.counts.values())


def vocabulary_of(reading):
    return max(counts.vocabulary for counts in reading.counts.values())


def test_cora():
    records, reading = load("linqs/cora.tgz")
    assert (len(records), vocabulary_of(reading), edges_of(reading)) == (2708, 1433, 5429)
    assert sum(len(record.words) for record in records) == 49_216
    assert len({word for record in records for word, _ in record.words}) == 1432
    assert len({record.category for record in records}) == 7
    assert links(records) == (5429, 0, 0, 0)


def test_citeseer():
    records, reading = load("linqs/citeseer.tgz")
    assert (len(records), vocabulary_of(reading), edges_of(reading)) == (3312, 3703, 4732)
    assert sum(len(record.words) for record in records) == 105_165
    assert len({record.category for record in records}) == 6
    usable, own, _outside, repeated = links(records)
    # The rest of the links has a citing document that is not in the set.
    assert (usable + repeated, own) == (4591, 124)
    assert 4732 - usable - repeated - own == 17


def test_pubmed():
    records, reading = load("linqs/Pubmed-Diabetes.tgz")
    assert (len(records), vocabulary_of(reading), edges_of(reading)) == (19_717, 500, 44_338)
    assert len({record.category for record in records}) == 3
    assert {record.words_kind for record in records} == {"tfidf"}
    assert sum(len(record.references) for record in records) == 44_338
    assert links(records)[1] == 3


def test_m10():
    records, reading = load("m10")
    assert (len(records), edges_of(reading)) == (10_310, 77_218)
    assert {record.category for record in records} == set("0123456789")
    usable, own, outside, _ = links(records)
    assert (usable, own, outside) == (5712, 173, 71_295)
    # Repeated links, those that leave the set included.
    pairs = [(record.id, reference.id) for record in records for reference in record.references]
    assert len(pairs) - len(set(pairs)) == 479
    words = sum(len((record.title or "").split()) for record in records)
    assert 9.3 < words / len(records) < 9.5


def test_ieee_vis():
    records, _ = load("vispubdata/ieee_vis.jsonl.gz")
    assert len(records) == 3752
    names = {author.name for record in records for author in record.authors}
    # 6,992 with the empty name that two papers have, which is no author here.
    assert len(names) == 6991
    usable, _, _, repeated = links(records)
    assert (usable, repeated) == (18_575, 40)
    assert len({record.venue for record in records} - {None}) == 4
    assert sum(record.venue is None for record in records) == 5
    assert sum(record.abstract is None for record in records) == 69
    assert all(record.doi == record.id for record in records)


def test_hep_th():
    folder = Path(FOLDER or ".") / "hepth"
    if not folder.exists():
        pytest.skip("hepth is not in the folder CITEWEAVE_DATA names")
    reading = read(folder / "hepth_papers.jsonl.gz", citations=folder / "hepth_cites.tsv.gz")
    records = list(reading)
    assert (len(records), edges_of(reading)) == (29_555, 352_807)
    assert sum(len(record.references) for record in records) == 352_807
    assert links(records)[1] == 39
    assert all(record.abstract and record.year for record in records)
    # A folder with one file of documents and one of citations needs no more said.
    assert sum(len(record.references) for record in read(folder)) == 352_807


def test_citeseer_text():
    records, reading = load("citeseer_text/citeseer_text.tsv.gz")
    assert (len(records), reading.problems) == (3186, [])
    words = sum(len((record.abstract or "").split()) for record in records)
    assert 150 < words / len(records) < 152
    assert len({record.category for record in records}) == 6
