"""From records to a corpus: merging, dropping, counting, and the pipeline for new documents."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citeweave import preparing
from citeweave.errors import CorpusError
from citeweave.preparing import Pipeline, Settings, prepare
from citeweave.preparing.encode import automatic_min_count
from citeweave.reading import Author, Record, Reference, Source

ABSTRACT = "Decision trees are grown from data. A decision tree splits the data into leaves."


def _tokens(corpus, document):
    words = corpus.vocabulary
    start, stop = corpus.offsets[document], corpus.offsets[document + 1]
    return [words[i] for i in corpus.tokens[start:stop].tolist()]


def test_two_small_records(make):
    corpus, report = prepare(
        [
            make("a", title="Growing Trees", abstract=ABSTRACT, keywords=("Tree pruning",),
                 authors=("Lee, Bruce", "Ann Chen"), year=1999, category="ML"),
            make("b", title="More on trees", authors=("B. Lee",), references=("a", "b", "x", "a")),
        ]
    )  # fmt: skip
    assert _tokens(corpus, 0) == [
        "growing", "trees", "decision", "trees", "grown", "data", "decision", "tree", "splits",
        "data", "leaves", "tree", "pruning",
    ]  # fmt: skip
    assert corpus.title_lengths.tolist() == [2, 1]
    assert corpus.author_ids.tolist() == [0, 1, 0]
    assert corpus.citations.tolist() == [[1, 0]]
    assert corpus.categories.tolist() == [0, -1]
    assert corpus.metadata["abstract"][0] == ABSTRACT
    assert corpus.metadata["year"] == [1999, None]
    assert (report.records_read, report.documents, report.with_abstract) == (2, 2, 1)
    assert report.authors == 2
    assert report.citations_by_source["test"]["references"] == report.references == 4
    fates = report.citations_by_fate
    assert (fates["id"], fates["self"], fates["outside"], fates["duplicate"]) == (1, 1, 1, 1)
    assert report.citations_matched == 1
    assert json.loads(json.dumps(report.as_dict()))["records_skipped"] == 0


def test_every_text_field_can_be_left_out(make):
    record = make("a", title="alpha", abstract="beta", keywords=("gamma",))
    choices = {"use_title": "alpha", "use_abstract": "beta", "join_keywords": "gamma"}
    for setting, word in choices.items():
        corpus, _ = prepare([record], settings=Settings(**{setting: False}))
        assert sorted(corpus.vocabulary) == sorted({"alpha", "beta", "gamma"} - {word})


def test_duplicates_are_merged_and_their_fields_united(make):
    title = "A long title that is the same in both"
    corpus, report = prepare(
        [
            make("a", doi="10.1/x", title=title, year=2000, authors=("B Lee",), references=("c",)),
            make("b", doi="10.1/X", title="Another one", abstract=ABSTRACT, references=("c", "d")),
            make("c", title=title + "!", year=2000, authors=("Bruce Lee",), keywords=("trees",)),
            make("d", title="Something else", references=("b",)),
        ]
    )  # fmt: skip
    assert corpus.ids == ["a", "d"]
    assert report.skipped_by_reason == {"duplicate of same doi": 1, "duplicate of same title": 1}
    assert report.records_read == report.documents + report.records_skipped
    assert corpus.metadata["abstract"][0] == ABSTRACT
    assert corpus.metadata["keywords"][0] == ["trees"]
    # "c" is now "a" itself; "d" cites what was "b".
    assert corpus.citations.tolist() == [[0, 1], [1, 0]]
    assert report.citations_by_fate["self"] == 2


def test_a_record_may_join_two_that_came_before(make):
    same = {"title": "A long title that is the same in both", "year": 2000, "authors": ("A. Lee",)}
    corpus, report = prepare(
        [make("a", doi="10.1/x", title="Other"), make("b", **same), make("c", doi="10.1/x", **same)]
    )
    assert corpus.ids == ["a"]
    assert report.records_skipped == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"title": "Editorial", "doi": "10.1/x"}, {"title": "Editorial", "doi": "10.1/y"}),
        (
            {"title": "Four words of title", "year": 2000},
            {"title": "Four words of title", "year": 2002},
        ),
        (
            {"title": "Annual report of the group", "year": 2000, "doi": "10.1000/a"},
            {"title": "Annual report of the group", "year": 2001, "doi": "10.1000/b"},
        ),
        ({"title": "Trees"}, {"title": "Graphs"}),
    ],
)
def test_what_is_not_merged(make, one, other):
    corpus, _ = prepare(
        [make("a", authors=("A. Lee",), **one), make("b", authors=("A. Lee",), **other)]
    )
    assert corpus.n_documents == 2


def test_titles_alone_do_not_merge(make):
    same = {"title": "Four words of title"}
    assert prepare([make("a", **same), make("b", **same)])[0].n_documents == 2


def test_merging_can_be_turned_off(make):
    off = Settings(deduplicate=False)
    corpus, _ = prepare(
        [make("a", doi="10.1/x", title="t one"), make("b", doi="10.1/x")], settings=off
    )
    assert corpus.n_documents == 2


def test_one_id_for_two_works(make):
    corpus, report = prepare(
        [make("a", title="Alpha"), make("a", title="Beta"), make("c", references=("a",), title="G")]
    )
    assert corpus.ids == ["a", "a#2", "c"]
    assert report.citations_by_fate["ambiguous"] == 1
    assert "have the id of a different work" in report.warnings[0]


def test_languages_and_empty_records_are_dropped(make):
    german = "Ein neues Verfahren zur Erkennung von Mustern in großen Mengen von Daten. " * 2
    records = [make("a", title="Trees"), make("b", abstract=german), make("c")]
    corpus, report = prepare(records)
    assert corpus.ids == ["a"]
    assert report.skipped_by_reason == {"language": 1, "empty record": 1}
    assert report.languages_dropped == {"de": 1}
    assert prepare(records, settings=Settings(language=None))[0].ids == ["a", "b"]
    with pytest.raises(CorpusError, match="empty record: 1"):
        prepare([make("c")])
    with pytest.raises(CorpusError, match="No documents are left of 0 records"):
        prepare([])


def test_documents_without_words_may_be_dropped(make):
    records = [make("a", title="Trees"), make("b", references=("a", "c")), make("c", title="Oaks")]
    corpus, report = prepare(records)
    assert corpus.ids == ["a", "b", "c"]
    assert corpus.citations.tolist() == [[1, 0], [1, 2]]
    corpus, report = prepare(records, settings=Settings(keep_empty=False))
    assert corpus.ids == ["a", "c"]
    assert report.skipped_by_reason == {"no words left": 1}
    assert report.references == len(corpus.citations) == 0


def test_institutions_are_no_authors(make):
    corpus, report = prepare(
        [make("a", title="t", authors=("Technische Universität München", "Ann Lee", "MIT Press"))],
        settings=Settings(extra_exclusion_words=("press",)),
    )
    assert corpus.author_names == ["Ann Lee"]
    assert report.authors_excluded_mentions == 2


def test_category_may_come_from_the_venue(make):
    records = [
        make("a", title="x y", venue="VIS", year=1990),
        make("b", title="z w", category="no"),
    ]
    assert prepare(records, settings=Settings(category_from="venue"))[0].category_names == ["VIS"]
    assert prepare(records, settings=Settings(category_from="year"))[0].category_names == ["1990"]
    assert prepare(records, settings=Settings(category_from="none"))[0].category_names == []


def _phrase_records(make, n=60):
    fillers = ["apple", "bread", "cloud", "dream", "eagle", "flame", "grape", "horse"]
    for i in range(n):
        a, b, c = (fillers[(i * k + k) % 8] for k in (1, 3, 5))
        yield make(
            str(i),
            title=f"{a} support vector machine",
            abstract=f"The decision tree of {b} is {c}. We see {a} tree; decision of {c}.",
        )


def test_phrases_become_one_token(make):
    corpus, report = prepare(_phrase_records(make), settings=Settings(max_document_share=1))
    assert {"support vector machine", "decision tree"} <= set(corpus.vocabulary)
    assert "vector" not in corpus.vocabulary
    assert ["support vector machine", 60] in report.as_dict()["longest_phrases"]
    assert report.phrases == 2
    off = prepare(_phrase_records(make), settings=Settings(max_document_share=1, phrases=False))
    assert not any(" " in word for word in off.corpus.vocabulary)


def test_common_and_rare_words_are_dropped_and_counted(make):
    records = list(_phrase_records(make))
    corpus, report = prepare(records)
    # In all 60 documents, which is above the larger of 18 % and ten documents.
    assert {"decision tree", "support vector machine"}.isdisjoint(corpus.vocabulary)
    assert dict(report.most_common_dropped)["support vector machine"] == 60
    assert report.max_documents == pytest.approx(10.8)
    assert report.vocabulary + report.words_common + report.words_rare == report.vocabulary_before
    kept, _ = prepare(records, settings=Settings(keep_words=("support vector machine",)))
    assert "support vector machine" in kept.vocabulary
    kept, _ = prepare(records, settings=Settings(keep_words=("eagle",), min_word_count=10_000))
    assert kept.vocabulary == ["eagle"]
    strict, report = prepare(records, settings=Settings(min_word_count=10_000))
    assert strict.vocabulary_size == 0
    assert any("No words are left" in warning for warning in report.warnings)


def test_least_count_scales_with_the_corpus():
    assert automatic_min_count(0) == automatic_min_count(1_999) == 1
    assert automatic_min_count(2_000) == automatic_min_count(40_000) == 2
    assert automatic_min_count(1_000_000) == automatic_min_count(10**9) == 50


def test_word_thesaurus(make, tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("label\treplace by\nsvm\tsupport vector machine\noak tree\toak\nash\t\n")
    records = [make("a", title="SVM, oak tree, ash"), make("b", title="oak and the SVM")]
    corpus, _ = prepare(records, settings=Settings(word_thesaurus=str(path)))
    assert _tokens(corpus, 0) == ["support vector machine", "oak"]
    assert _tokens(corpus, 1) == ["oak", "support vector machine"]
    again = Pipeline.from_preparation(corpus.preparation, corpus.vocabulary)
    assert again.tokens("Ash or oak tree")[0] == ["oak"]


def test_new_documents_run_through_the_same_steps(make):
    records = list(_phrase_records(make))
    corpus, _ = prepare(records, settings=Settings(max_document_share=0.5))
    stored = json.loads(json.dumps(corpus.preparation))
    pipeline = Pipeline.from_preparation(stored, corpus.vocabulary)
    for i, record in enumerate(records):
        title, other = pipeline.tokens(record.title, record.abstract, record.keywords)
        assert title + other == _tokens(corpus, i)
        assert len(title) == corpus.title_lengths[i]
    with pytest.raises(CorpusError, match="does not say how"):
        Pipeline.from_preparation({})


def test_progress_is_told(make):
    seen = []
    prepare([make("a", title="x")], progress=lambda *step: seen.append(step))
    assert ("records", 1, 1) in seen
    assert {"records", "text", "citations", "authors"} == {step for step, _, _ in seen}


def test_public_names_exist():
    assert all(hasattr(preparing, name) for name in preparing.__all__)


_TEXT = st.none() | st.text(max_size=60) | st.sampled_from(["a-b c $x_1$", "\ud800", "<b>&amp;"])
_REFERENCES = st.lists(st.builds(Reference, id=st.sampled_from("abc"), title=_TEXT), max_size=3)
_RECORDS = st.lists(
    st.builds(
        Record,
        id=st.sampled_from(["a", "b", "c", ""]),
        source=st.builds(Source, file=st.just("f"), position=st.integers(1, 9)),
        doi=_TEXT,
        title=_TEXT,
        abstract=_TEXT,
        keywords=st.lists(st.text(max_size=9), max_size=2).map(tuple),
        authors=st.lists(st.builds(Author, name=st.text(max_size=9)), max_size=3).map(tuple),
        year=st.none() | st.integers(-10, 3000),
        venue=_TEXT,
        category=_TEXT,
        references=_REFERENCES.map(tuple),
        language=st.none() | st.sampled_from(["English", "xx", "de"]),
    ),
    max_size=6,
)


@settings(max_examples=60)
@given(_RECORDS)
def test_any_records_give_a_corpus_or_a_reason(records):
    try:
        corpus, report = prepare(records)
    except CorpusError as error:
        assert "No documents are left" in str(error)  # noqa: PT017 (nothing else is allowed)
        return
    assert report.records_read == report.documents + report.records_skipped == len(records)
    assert sum(report.citations_by_fate.values()) == report.references
    assert json.dumps(report.as_dict())
    again = prepare(records).corpus
    assert again.fingerprint == corpus.fingerprint
