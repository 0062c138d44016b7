"""Data sets as corpora: the verified counts, the cache, and the paper's table."""

import shutil
from pathlib import Path

import pytest

import citeweave
from citeweave import datasets
from citeweave.datasets import DataFile, Dataset, load, load_with_report
from citeweave.datasets.places import file_sha256
from citeweave.datasets.table import TableRow, dataset_table, markdown_table
from citeweave.preparing import Settings


@pytest.fixture
def tiny(cache, monkeypatch):
    """A data set of three documents, two words (a third one unused) and two citations."""
    folder = cache / "datasets" / "tiny"
    folder.mkdir(parents=True)
    texts = {
        "tiny.content": "a\t1\t0\t0\tX\nb\t1\t1\t0\tY\nc\t0\t1\t0\tX\n",
        "tiny.cites": "a\tb\na\tc\na\ta\n",
    }
    files = []
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        digest = file_sha256(folder / name)
        files.append(DataFile(path=f"tiny/{name}", size=len(text), sha256=digest))
    made = Dataset(
        name="tiny",
        what="a test",
        documents=3,
        licence="none",
        home="https://example.org",
        source="made",
        holdings=(tuple(files),),
        categories={"X": "first", "Y": "second"},
        columns=3,
    )
    monkeypatch.setitem(datasets.DATASETS, "tiny", made)
    return made


@pytest.mark.usefixtures("tiny")
def test_load_names_classes_and_counts_unused_words():
    corpus, report = load_with_report("tiny")
    assert corpus.category_names == ["first", "second"]
    assert (corpus.n_documents, corpus.n_tokens, corpus.n_citations) == (3, 4, 2)
    assert corpus.vocabulary_size == 3
    assert corpus.summary()["vocabulary_used"] == 2
    assert report.as_dict()["citations_by_fate"]["self"] == 1


@pytest.mark.usefixtures("tiny")
def test_the_second_load_reads_the_cache_and_gives_the_same(cache, monkeypatch):
    first = load("tiny")
    assert len(list((cache / "corpora").iterdir())) == 1
    monkeypatch.setattr("citeweave.datasets.loading._records", None)  # it would fail if called
    second, report = load_with_report("tiny")
    assert second.fingerprint == first.fingerprint
    assert report.as_dict()["documents"] == 3


@pytest.mark.usefixtures("tiny")
def test_other_settings_are_another_corpus(cache):
    load("tiny")
    load("tiny", settings=Settings(category_from="none"))
    assert len(list((cache / "corpora").iterdir())) == 2


@pytest.mark.usefixtures("tiny")
def test_a_damaged_copy_is_made_anew(cache):
    first = load("tiny")
    (copy,) = (cache / "corpora").iterdir()
    (copy / "arrays" / "tokens.npy").write_bytes(b"")
    assert load("tiny").fingerprint == first.fingerprint
    assert load("tiny").n_tokens == 4


@pytest.mark.usefixtures("tiny")
def test_without_a_place_to_keep_it_a_set_is_still_loaded(cache):
    (cache / "corpora").write_text("in the way", encoding="utf-8")
    with pytest.warns(RuntimeWarning, match="could not be cached"):
        corpus = load("tiny")
    assert corpus.n_documents == 3


@pytest.mark.usefixtures("tiny")
def test_the_table_lists_what_is_here():
    assert [row.name for row in dataset_table()] == ["tiny"]
    (row,) = dataset_table(["tiny"])
    assert (row.documents, row.citations, row.vocabulary) == (3, 2, 3)
    assert (row.records_read, row.references) == (3, 3)
    assert row.words_per_document == pytest.approx(1.3)
    text = markdown_table([row])
    assert "| **tiny** | 3 | 2 | – | 3 | 1.3 | – | 3 | 3 |" in text
    assert isinstance(row, TableRow)


VERIFIED = {
    # documents, tokens, vocabulary, classes, citations
    "cora": (2708, 49216, 1433, 7, 5429),
    "citeseer": (3312, 105165, 3703, 6, 4591),
    "pubmed": (19717, 1802947, 500, 3, 44335),
}


@pytest.mark.parametrize("name", VERIFIED)
@pytest.mark.usefixtures("data_folder")
def test_bags_have_the_verified_counts(name):
    corpus = citeweave.datasets.load(name)
    found = (
        corpus.n_documents,
        corpus.n_tokens,
        corpus.vocabulary_size,
        corpus.n_categories,
        corpus.n_citations,
    )
    assert found == VERIFIED[name]
    assert load(name).fingerprint == corpus.fingerprint


@pytest.mark.usefixtures("data_folder")
def test_m10_has_its_classes_and_every_document():
    corpus = load("m10")
    assert (corpus.n_documents, corpus.n_citations) == (10310, 5712)
    assert corpus.category_names[:2] == ["Agriculture", "Archaeology"]
    assert len(corpus.category_names) == 10
    assert corpus.report.documents_without_category == 0


@pytest.mark.usefixtures("data_folder")
def test_citeseer_text_has_the_citations_and_labels_of_citeseer():
    text, bags = load("citeseer-text"), load("citeseer")
    place = {name: i for i, name in enumerate(bags.ids)}
    links = {(bags.ids[i], bags.ids[j]) for i, j in bags.citations.tolist()}
    inside = {pair for pair in links if set(pair) <= set(text.ids)}
    assert {(text.ids[i], text.ids[j]) for i, j in text.citations.tolist()} == inside
    assert text.n_documents == 3186
    for i in range(0, text.n_documents, 50):
        other = bags.categories[place[text.ids[i]]]
        assert text.category_names[text.categories[i]] == bags.category_names[other]


@pytest.mark.usefixtures("data_folder")
def test_ieee_vis_has_venues_and_all_citations():
    corpus, report = load_with_report("ieee-vis")
    assert report.as_dict()["records_read"] == 3752
    assert (corpus.n_citations, corpus.n_categories) == (18575, 4)


def test_loose_files_serve_as_well_as_the_archive(data_folder, tmp_path, monkeypatch):
    packed = load("cora")
    own = tmp_path / "own"
    shutil.unpack_archive(data_folder / "linqs" / "cora.tgz", own, filter="data")
    monkeypatch.setenv("CITEWEAVE_DATA", str(own))
    monkeypatch.setenv("CITEWEAVE_CACHE", str(tmp_path / "other"))
    assert load("cora").fingerprint == packed.fingerprint


@pytest.mark.long  # prepares every set anew, to compare a page of the docs
@pytest.mark.usefixtures("data_folder")
def test_the_page_has_the_table_that_the_command_makes():
    docs = Path(__file__).parents[2] / "docs"
    page = (docs / "how-to" / "datasets.md").read_text(encoding="utf-8")
    here = dataset_table()
    if len(here) < len(datasets.DATASETS):
        pytest.skip("CITEWEAVE_DATA holds only some of the data sets")
    assert markdown_table(here).strip() in page
