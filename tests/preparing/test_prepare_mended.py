"""What careful use found wrong in preparation: terms, languages, duplicates, warnings."""

import ast
import io
import re
from dataclasses import replace

import numpy as np
import pytest

from citeweave import read
from citeweave.errors import ParameterError
from citeweave.preparing import Pipeline, Query, Report, Settings, prepare
from citeweave.preparing.language import LanguageFilter
from citeweave.preparing.tfidf import counts_from_tfidf


def test_stop_words_that_begin_terms_stay_in_them(make):
    texts = [
        "We ask a question about trees. Question answering systems answer in text.",
        "Question answering over graphs needs role mining and no other role.",
        "A question remains for question answering and for role mining.",
        "Neural question answering beats rules; role mining finds groups.",
    ]
    records = [make(str(i), title=f"Paper {i}", abstract=text) for i, text in enumerate(texts)]
    settings = Settings(min_word_count=1, phrase_min_score=1, phrase_min_strength=0.1)
    corpus, _ = prepare(records, settings=settings)
    assert {"question answering", "role mining"} <= set(corpus.vocabulary)
    assert not {"question", "role", "answering"} & set(corpus.vocabulary)
    pipeline = Pipeline.from_preparation(corpus.preparation)
    assert pipeline.tokens("A question of question answering") == (["question answering"], [])


def test_no_phrase_ends_with_a_stop_word(make):
    text = "experimental question of trees. important role of trees."
    records = [make(str(i), title=f"Paper {i}", abstract=text) for i in range(6)]
    settings = Settings(min_word_count=1, phrase_min_score=0, phrase_min_strength=-1)
    corpus, _ = prepare(records, settings=settings)
    assert not [word for word in corpus.vocabulary if word.endswith(("question", "role"))]


def test_words_that_the_user_drops_break_phrases(make):
    records = [make(str(i), title="Question answering works") for i in range(6)]
    settings = Settings(
        min_word_count=1, phrase_min_score=0, phrase_min_strength=-1, max_document_share=1.0,
        extra_stop_words=("question",), deduplicate=False,
    )  # fmt: skip
    corpus, _ = prepare(records, settings=settings)
    assert "question answering" not in corpus.vocabulary


ENGLISH = (
    "Forest restoration in the tropics. We study how the planting of native trees changes the "
    "soil and which of the species survive in this climate."
)
SPANISH = (
    "Restauración de bosques tropicales. Estudiamos cómo la plantación de árboles nativos cambia "
    "el suelo y qué especies sobreviven en este clima tan seco."
)


def test_language_is_that_of_title_and_abstract():
    keep = LanguageFilter("en")
    assert keep.foreign("Spanish", ENGLISH) is None
    assert keep.foreign("Spanish", SPANISH) == "es"
    assert keep.foreign(None, SPANISH) == "es"
    assert keep.foreign("English", SPANISH) is None
    assert keep.foreign("Spanish", "Short title") == "es"
    assert keep.foreign(None, "Short title") is None


TITLE = "Finding scientific topics in large collections"


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        (("García Márquez, Ana", 2019), ("Márquez, Ana G.", 2019), True),
        (("García-Márquez, Ana", 2019), ("Garcia Marquez, A.", 2020), True),
        (("Müller, Jo", 2019), ("Mller, Jo", 2018), True),
        (("Griffiths, T.", 2004), ("Griffiths, T.", 2006), False),
        (("Griffiths, T.", 2004), ("Steyvers, M.", 2004), False),
    ],
)
def test_duplicates_of_nearly_the_same_year_and_name(make, one, other, merged):
    records = [
        make("a", title=TITLE, authors=(one[0],), year=one[1]),
        make("b", title=TITLE, authors=(other[0],), year=other[1]),
    ]
    corpus, report = prepare(records)
    assert corpus.n_documents == (1 if merged else 2)
    if merged:
        assert report.merged_records == [
            {"kept": "a", "merged": "b", "reason": "duplicate of same title", "title": TITLE}
        ]


def test_a_preprint_and_its_article_are_one(make):
    records = [
        make("a", title=TITLE, authors=("Lee, B.",), year=2004, doi="10.48550/arXiv.0401.1234"),
        make("b", title=TITLE, authors=("Lee, B.",), year=2005, doi="10.1000/journal.1"),
    ]
    assert prepare(records)[0].n_documents == 1


def test_short_titles_need_the_same_year(make):
    records = [
        make("a", title="Editorial note", authors=("Lee, B.",), year=2004),
        make("b", title="Editorial note", authors=("Lee, B.",), year=2005),
    ]
    assert prepare(records)[0].n_documents == 2


def test_merging_takes_corrections_and_is_on_the_page(make):
    records = [make(name, title=TITLE, authors=("Lee, B.",), year=2004) for name in ("a", "b", "c")]
    corpus, report = prepare(records)
    assert corpus.ids == ["a"]
    assert "Records merged" in report.to_html()
    corpus, report = prepare(records, settings=Settings(keep_apart=("b",)))
    assert corpus.ids == ["a", "b"]
    assert [row["merged"] for row in report.merged_records] == ["c"]
    assert Report.of(corpus) == report


def test_records_are_joined_where_the_user_says_so(make):
    records = [
        make("a", title="Trees and soil", year=2001),
        make("b", title="On soils and on trees", abstract="Rain falls.", references=("c",)),
        make("c", title="Rivers of the north"),
        make("d", title="Trees, soil: a second look", year=2003),
    ]
    assert prepare(records)[0].n_documents == 4
    corpus, report = prepare(records, settings=Settings(join=[["d", "a", "b"]]))
    assert corpus.ids == ["a", "c"]
    assert corpus.citations.tolist() == [[0, 1]]
    assert [(row["kept"], row["merged"]) for row in report.merged_records] == [
        ("a", "d"),
        ("a", "b"),
    ]
    assert report.skipped_by_reason == {"duplicate named by you": 2}
    assert report.records_read == report.documents + report.records_skipped
    assert Report.of(corpus) == report
    assert report.settings_changed == {"join": [["d", "a", "b"]]}
    assert Settings.from_dict(report.settings_changed).join == (("d", "a", "b"),)


def test_joining_goes_through_what_was_merged_already(make):
    records = [make(name, title=TITLE, authors=("Lee, B.",), year=2004) for name in ("a", "b")]
    records.append(make("c", title="Something else"))
    corpus, _ = prepare(records, settings=Settings(join=(("c", "b"),)))
    assert corpus.ids == ["a"]


def test_corrections_of_no_record_are_named(make):
    records = [make("a", title="Trees"), make("b", title="Soil")]
    settings = Settings(join=(("a", "x"),), keep_apart=("y",))
    _, report = prepare(records, settings=settings)
    text = "2 ids in 'join' or 'keep_apart' are no record's: 'x'."
    assert text in report.warnings
    with pytest.raises(ParameterError, match=r"'a' is in both 'join' and 'keep_apart'"):
        Settings(join=(("a", "b"),), keep_apart=("a",))
    for odd in (("a",), "ab", [["a"]], [["a", 1]], 5):
        with pytest.raises(ParameterError, match="a list of lists of two words or more"):
            Settings(join=odd)


def test_the_warning_of_joined_names_counts_first_names(make):
    records = [
        make(str(i), title=f"Trees and soil {i}", authors=(name,))
        for i, name in enumerate(["Lee, Bruce", "Lee, Brenda", "Lee, Bo", "Chen, Ann"])
    ]
    _, report = prepare(records, settings=Settings(author_names="initials"))
    assert (report.merged_first_names_total, report.first_names_joined) == (1, 3)
    assert any("3 different first names are joined into 1 author " in w for w in report.warnings)


ROWS = "".join(f"{i},Restoration of forests {chr(97 + i % 26) * 4} soil\n" for i in range(40))
SEARCH = f"id,title\n{ROWS}".encode()


def test_words_of_the_search_that_are_dropped_are_named():
    _, report = read(io.BytesIO(SEARCH)).prepare()
    (warning,) = [text for text in report.warnings if "too common" in text]
    found = re.search(r"To keep them: Settings\(keep_words=(\[.*\])\)", warning)
    assert found, warning
    words = ast.literal_eval(found[1])
    assert "restoration" in words
    corpus, report = read(io.BytesIO(SEARCH)).prepare(Settings(keep_words=words))
    assert set(words) <= set(corpus.vocabulary)
    assert not any("too common" in text for text in report.warnings)


def test_the_words_of_a_query_stay():
    settings = Settings(phrases=False)
    query = Query({"Ecology": ["restoration", "forest"]})
    corpus, report = read(io.BytesIO(SEARCH)).select(query).prepare(settings)
    assert {"restoration", "forests"} <= set(corpus.vocabulary)
    assert "soil" not in corpus.vocabulary
    kept = "because the query contains them: 'restoration', 'forests'"
    assert any(kept in text for text in report.warnings)
    papers_way = replace(query, keep_words=False)
    corpus, _ = read(io.BytesIO(SEARCH)).select(papers_way).prepare(settings)
    assert not {"restoration", "forests"} & set(corpus.vocabulary)
    assert not Query.preset("avs").keep_words


def test_kept_words_stay_in_bags(make):
    records = [
        replace(make(str(i)), words=(("common", 1.0), (f"rare{i}", 1.0)), words_kind="counts")
        for i in range(30)
    ]
    settings = Settings(filter_bags=True, min_word_count=2)
    assert prepare(records, settings=settings)[0].vocabulary == []
    settings = replace(settings, keep_words=("common", "rare3"))
    assert prepare(records, settings=settings)[0].vocabulary == ["common", "rare3"]


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("norm", ["l2", "l1", None])
def test_counts_from_the_tfidf_of_scikit_learn(smooth, norm):
    rng = np.random.default_rng(4)
    counts = rng.poisson(0.4, size=(60, 40))
    counts[5] = 0  # a document without words counts, too
    seen = (counts > 0).sum(axis=0)
    size = len(counts)
    idf = np.log((1 + size) / (1 + seen)) + 1 if smooth else np.log(size / np.maximum(seen, 1)) + 1
    values = counts * idf
    length = {"l2": np.linalg.norm(values, axis=1), "l1": values.sum(axis=1), None: np.ones(size)}
    values = values / np.maximum(length[norm], 1e-12)[:, None]
    document, word = np.nonzero(counts)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(document, minlength=size))))
    found = counts_from_tfidf(values[document, word], word, offsets, counts.shape[1])
    lowest = np.array([counts[d][counts[d] > 0].min() for d in document])
    single = lowest == 1
    assert found.off == 0
    assert (found.counts[single] == counts[document, word][single]).all()
