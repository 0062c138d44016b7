"""The report of an import stays with its corpus and goes with it into every run."""

import io
import json

import pytest

from citeweave import SCNTM, Corpus, load, read
from citeweave.errors import CorpusError
from citeweave.preparing import Report

TABLE = (
    "id,title,abstract,authors,references\n"
    "a,Trees in soil,Trees grow in soil and soil feeds trees.,Ann Lee,\n"
    "b,Soil of trees,Soil feeds trees and trees grow in soil.,Bo Chen,a\n"
    "c,Trees of soil,Trees feed soil and soil grows in trees.,Cy Diaz,a;b\n"
)


@pytest.fixture
def imported():
    return read(io.BytesIO(TABLE.encode())).prepare()


def plain(corpus):
    return Corpus.from_arrays(
        **{name: getattr(corpus, name) for name in ("tokens", "offsets", "title_lengths")},
        author_ids=corpus.author_ids,
        author_offsets=corpus.author_offsets,
        author_names=corpus.author_names,
        vocabulary=corpus.vocabulary,
        categories=corpus.categories,
        citations=corpus.citations,
        ids=corpus.ids,
        titles=corpus.titles,
        metadata=dict(corpus.metadata),
    )


def test_a_corpus_of_an_import_carries_its_report(imported, tmp_path):
    corpus, report = imported
    assert report.files[0]["read"] == 3
    assert Report.of(corpus) == report
    assert plain(corpus).import_report is None
    assert plain(corpus).fingerprint == corpus.fingerprint
    corpus.save(tmp_path / "corpus")
    loaded = Corpus.load(tmp_path / "corpus")
    assert Report.of(loaded) == Report.load(tmp_path / "corpus") == report
    assert loaded.verify() == corpus.fingerprint
    loaded.subset([0, 2]).save(tmp_path / "part")
    assert Report.of(Corpus.load(tmp_path / "part")) == report


def test_the_report_is_read_when_it_is_asked_for(imported, tmp_path):
    place = imported.corpus.save(tmp_path / "corpus")
    (place / "import.json").write_text("{", encoding="utf-8")
    loaded = Corpus.load(place)
    assert loaded.titles[0] == "Trees in soil"
    with pytest.raises(CorpusError, match=r"import\.json"):
        Report.of(loaded)
    (place / "import.json").unlink()
    assert Report.of(Corpus.load(place)) is None


def test_a_folder_that_was_replaced_is_told(imported, tmp_path):
    place = imported.corpus.save(tmp_path / "corpus")
    loaded = Corpus.load(place)
    imported.corpus.subset([0]).save(place, overwrite=True)
    with pytest.raises(CorpusError, match="a different corpus"):
        Report.of(loaded)


@pytest.mark.parametrize("saved", [False, True])
def test_a_fit_from_python_keeps_the_report(imported, tmp_path, saved):
    corpus, report = imported
    if saved:
        corpus = Corpus.load(corpus.save(tmp_path / "corpus"))
    SCNTM(topics=2, iterations=4, seed=1, chains=1).fit(corpus, out=tmp_path / "run")
    values = json.loads((tmp_path / "run" / "corpus" / "import.json").read_text(encoding="utf-8"))
    assert values == report.as_dict()
    assert Report.of(load(tmp_path / "run").corpus_) == report


def test_a_corpus_of_lists_has_no_report(tmp_path):
    corpus = Corpus.from_lists(tokens=[["a", "b"], ["b"]])
    assert Report.of(corpus) is None
    corpus.save(tmp_path / "corpus")
    assert not (tmp_path / "corpus" / "import.json").exists()
