"""True counts on real data, where the folder with it is there."""

import gzip
import json

import pytest

from citeweave.preparing import Pipeline, Settings, prepare
from citeweave.reading import Author, Record, Reference, Source, read


def _vis(folder):
    path = folder / "vispubdata" / "ieee_vis.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            work = json.loads(line)
            yield Record(
                work["id"],
                Source("ieee_vis", number),
                title=work["title"],
                abstract=work["abstract"],
                keywords=tuple(work["keywords"] or ()),
                authors=tuple(Author(name) for name in work["authors"]),
                year=work["year"],
                venue=work["venue"],
                references=tuple(Reference(id=ref) for ref in work["references"]),
            )


@pytest.fixture(scope="module")
def vis_cache():
    return {}


@pytest.fixture
def vis(data_folder, vis_cache):
    if "vis" not in vis_cache:
        records = list(_vis(data_folder))
        vis_cache["vis"] = records, prepare(records, settings=Settings(category_from="venue"))
    return vis_cache["vis"]


def test_vis_counts(vis):
    _, (corpus, report) = vis
    assert report.records_read == 3752
    assert report.skipped_by_reason == {"duplicate of same title": 2}
    assert report.citations_by_fate["id"] == corpus.n_citations == 18575
    assert report.citations_by_fate["duplicate"] == 40
    assert len(corpus.category_names) == 4
    assert report.with_category == 3745
    assert 3752 - report.with_abstract - report.records_skipped in {68, 69}


def test_vis_words_are_sensible(vis):
    _, (corpus, _) = vis
    words = set(corpus.vocabulary)
    assert {"volume rendering", "visual analytics", "parallel coordinates", "flow field"} <= words
    assert {"direct volume rendering", "principal component analysis"} <= words
    assert not {"the", "paper", "propose", "visualization"} & words


def test_vis_names_as_written_are_the_verified_number(vis):
    records, _ = vis
    written = {author.name for record in records for author in record.authors}
    full = prepare(records, settings=Settings(author_names="full", phrases=False)).report
    assert len(written) == 6992  # one of them empty
    assert "" in written
    # Folding joins spellings that differ in accents, dots or case only.
    assert 6900 <= full.authors <= 6991


def test_vis_pipeline_repeats_every_document(vis):
    _, (corpus, _) = vis
    stored = json.loads(json.dumps(corpus.preparation))
    pipeline = Pipeline.from_preparation(stored, corpus.vocabulary)
    place = {word: i for i, word in enumerate(corpus.vocabulary)}
    columns = corpus.metadata
    for i in range(0, corpus.n_documents, 10):
        title, other = pipeline.tokens(
            corpus.titles[i], columns["abstract"][i], columns["keywords"][i] or ()
        )
        expected = corpus.tokens[corpus.offsets[i] : corpus.offsets[i + 1]].tolist()
        assert [place[word] for word in title + other] == expected
        assert len(title) == corpus.title_lengths[i]


def test_pubmed_counts(data_folder):
    records = read(data_folder / "linqs" / "Pubmed-Diabetes.tgz")
    corpus, report = prepare(records)
    assert report.tfidf is not None
    assert report.tfidf["method"] == "constraint"
    assert report.tfidf["n_documents"] == 20807
    assert report.tfidf["largest_error"] < 1e-4
    assert corpus.n_tokens == 1_802_947
    assert corpus.n_documents == 19717
    assert (report.references, report.citations_by_fate["self"]) == (44338, 3)
    assert corpus.n_citations == 44335


@pytest.mark.parametrize(
    ("archive", "documents", "tokens", "classes", "citations"),
    [("cora.tgz", 2708, 49216, 7, 5429), ("citeseer.tgz", 3312, 105165, 6, 4591)],
)
def test_linqs_counts(data_folder, archive, documents, tokens, classes, citations):
    corpus, _ = prepare(read(data_folder / "linqs" / archive))
    assert (corpus.n_documents, corpus.n_tokens) == (documents, tokens)
    assert (corpus.n_categories, corpus.n_citations) == (classes, citations)


def test_formula_alone_is_worse_on_pubmed(data_folder, monkeypatch):
    monkeypatch.setattr("citeweave.preparing.tfidf._weights_by_constraint", lambda *_: None)
    _, report = prepare(read(data_folder / "linqs" / "Pubmed-Diabetes.tgz"))
    assert report.tfidf is not None
    assert report.tfidf["method"] == "formula"
    assert report.tfidf["documents_off"] > 19_000
    assert any("rounded" in warning for warning in report.warnings)
