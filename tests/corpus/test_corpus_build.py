"""Building a corpus from lists and arrays: what comes out, and what is refused."""

import numpy as np
import pytest

from citeweave.corpus import Corpus
from citeweave.errors import CorpusError


def test_words_are_numbered_by_first_use():
    corpus = Corpus.from_lists(tokens=[["b", "a"], [], ["a", "c", "a"]])
    assert corpus.vocabulary == ["b", "a", "c"]
    assert corpus.tokens.tolist() == [0, 1, 1, 2, 1]
    assert corpus.offsets.tolist() == [0, 2, 2, 5]
    assert corpus.words(2) == ["a", "c", "a"]
    assert (corpus.n_documents, corpus.n_tokens, corpus.vocabulary_size) == (3, 5, 3)


def test_given_vocabulary_keeps_its_order_and_unused_words():
    corpus = Corpus.from_lists(tokens=[["b"]], vocabulary=["a", "b", "c"])
    assert corpus.tokens.tolist() == [1]
    assert corpus.vocabulary_size == 3


def test_lists_of_integers_and_arrays_give_the_same_corpus():
    rows = [[0, 2], [], [1, 1]]
    from_lists = Corpus.from_lists(tokens=rows)
    from_arrays = Corpus.from_lists(tokens=[np.array(row, dtype=np.int16) for row in rows])
    flat = Corpus.from_arrays(tokens=np.array([0, 2, 1, 1]), offsets=np.array([0, 2, 2, 4]))
    assert from_lists.vocabulary == ["w0", "w1", "w2"]
    assert from_lists.fingerprint == from_arrays.fingerprint == flat.fingerprint


def test_authors_keep_their_order_and_may_be_missing():
    corpus = Corpus.from_lists(
        tokens=[["a"]] * 4, authors=[["Y", "X", "Y"], None, [], ("X",)], categories=None
    )
    assert corpus.author_names == ["Y", "X"]
    assert corpus.author_ids.tolist() == [0, 1, 1]
    assert corpus.author_offsets.tolist() == [0, 2, 2, 2, 3]
    assert corpus.first_authors.tolist() == [0, -1, -1, 1]
    assert corpus.authors(0) == ["Y", "X"]
    assert corpus.report.duplicate_authors == 1
    assert corpus.report.documents_without_authors == 2


def test_categories_as_strings_and_as_integers():
    words = Corpus.from_lists(tokens=[["a"]] * 3, categories=["zoo", None, "art"])
    assert words.categories.tolist() == [0, -1, 1]
    assert words.category_names == ["zoo", "art"]
    numbers = Corpus.from_lists(tokens=[["a"]] * 4, categories=[7, -1, 0, 7])
    assert numbers.categories.tolist() == [1, -1, 0, 1]
    assert numbers.category_names == ["0", "7"]
    assert numbers.report.documents_without_category == 1


def test_citations_are_sorted_unique_and_counted():
    corpus = Corpus.from_lists(
        tokens=[["a"]] * 4, citations=[(2, 0), (0, 1), (2, 0), (1, 1), (2, 0), (0, 2)]
    )
    assert corpus.citations.tolist() == [[0, 1], [0, 2], [2, 0]]
    assert corpus.report.self_citations == 1
    assert corpus.report.duplicate_citations == 2
    assert corpus.report.documents_without_citations == 1


def test_citations_by_id():
    corpus = Corpus.from_lists(
        tokens=[["a"], ["b"]], ids=["x", "y"], citations=[("y", "x"), ["x", "y"]]
    )
    assert corpus.citations.tolist() == [[0, 1], [1, 0]]


def test_arrays_are_read_only_copies():
    citations = np.array([[1, 0]])
    corpus = Corpus.from_arrays(
        tokens=np.array([0, 1], dtype=np.int32), offsets=np.array([0, 1, 2]), citations=citations
    )
    citations[:] = 9
    assert corpus.citations.tolist() == [[1, 0]]
    for name in ("tokens", "offsets", "citations", "categories", "author_ids", "author_offsets"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(corpus, name)[...] = 0


def test_metadata_keeps_values_and_missing_ones():
    corpus = Corpus.from_lists(
        tokens=[["a"], ["b"]],
        metadata={
            "year": np.array([1999, 2001]),
            "score": [1, 0.5],
            "keywords": [("p", "q"), None],
        },
    )
    assert dict(corpus.metadata) == {
        "year": [1999, 2001],
        "score": [1.0, 0.5],
        "keywords": [["p", "q"], None],
    }
    assert "venue" not in corpus.metadata


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"tokens": []}, "at least one document"),
        ({"tokens": ["raw text"]}, r"tokens\[0\] must be a list of words.*'raw text'"),
        ({"tokens": [["a"], [3]]}, "Document 1 has 3 as a word"),
        ({"tokens": [["a", ""]]}, "Document 0 has '' as a word"),
        ({"tokens": [[1.5]]}, "tokens must contain integers.*1.5"),
        ({"tokens": [["a"], ["b"]], "vocabulary": ["a"]}, "Document 1 has the word 'b'"),
        ({"tokens": [["a"]], "vocabulary": ["a", "a"]}, "unique.*'a'.*position 1"),
        ({"tokens": [[0], [0, 5]], "vocabulary": ["a"]}, "document 1, position 1.*got 5"),
        ({"tokens": [[0], [-1]]}, "document 1, position 0.*got -1"),
        ({"tokens": [["a"]], "authors": ["Ann"]}, r"authors\[0\] must be a list of names.*'Ann'"),
        ({"tokens": [["a"]], "authors": [["Ann"], ["Bo"]]}, "1 in total.*got 2"),
        ({"tokens": [["a"]], "authors": [[None]]}, "Document 0 has None as author name"),
        ({"tokens": [["a"]], "categories": [1.5]}, "got 1.5 for document 0"),
        ({"tokens": [["a"]], "categories": [-3]}, "got -3"),
        ({"tokens": [["a"]], "categories": ["x", "y"]}, "1 in total; got 2"),
        ({"tokens": [["a"]], "citations": [(0, 1)]}, r"Citation 0, \(0, 1\).*outside"),
        ({"tokens": [["a"]], "citations": [(0, 0, 0)]}, r"Citation 0 must be a .* pair"),
        ({"tokens": [["a"]], "citations": [("x", "y")]}, "but ids are missing"),
        ({"tokens": [["a"]], "ids": ["x"], "citations": [("x", "y")]}, r"'y'\), contains 'y'"),
        ({"tokens": [["a"]], "citations": [(0.0, 0.0)]}, "citations must contain integers"),
        ({"tokens": [["a"], ["b"]], "ids": ["x", "x"]}, "ids must be unique; 'x'"),
        ({"tokens": [["a"]], "ids": [7]}, r"ids\[0\] must be a string; got 7"),
        ({"tokens": [["a"]], "ids": "x"}, "list of strings; got one string"),
        ({"tokens": [["a"]], "titles": ["x", None]}, "1 in total; got 2"),
        ({"tokens": [["a"]], "titles": ["\ud800"]}, "not valid Unicode"),
        ({"tokens": [["a"]], "title_lengths": [2]}, "document 0 must be between 0 and .*1; got 2"),
        ({"tokens": [["a"]], "metadata": {"id": ["x"]}}, "cannot be named 'id'"),
        ({"tokens": [["a"]], "metadata": {"year": []}}, "1 in total; got 0"),
        ({"tokens": [["a"]] * 2, "metadata": {"year": [1, "x"]}}, "got int, str"),
        ({"tokens": [["a"]], "metadata": {"year": [2**70]}}, "exceeds 64 bits"),
        ({"tokens": [["a"]], "metadata": {"x": [{"a": 1}]}}, "got dict"),
        ({"tokens": [["a"]], "preparation": {"x": object()}}, "must be JSON-serialisable"),
    ],
)
def test_bad_lists_are_refused_with_the_place(arguments, text):
    with pytest.raises(CorpusError, match=text):
        Corpus.from_lists(**arguments)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"offsets": [0]}, "at least one document"),
        ({"offsets": [0, 3, 2, 4]}, "must not decrease, but it does after document 1"),
        ({"offsets": [0, 3]}, "from 0 to the number of entries, 4; it runs from 0 to 3"),
        ({"offsets": [[0, 4]]}, "one dimension"),
        ({"vocabulary_size": 3}, "position 3.*there are 3.*got 3"),
        ({"vocabulary_size": -1}, "must not be negative"),
        ({"vocabulary": ["a"] * 4, "vocabulary_size": 4}, "unique"),
        ({"vocabulary": list("abcd"), "vocabulary_size": 5}, "the given size is 5"),
        ({"author_ids": [0]}, "given together"),
        ({"author_ids": [0], "author_offsets": [0, 0, 1]}, "author_offsets must have 2 entries"),
        (
            {"author_ids": [1], "author_offsets": [0, 1], "author_names": ["x"]},
            "author id of document 0, position 0",
        ),
        ({"categories": [2], "category_names": ["x"]}, "category id of document 0.*got 2"),
        ({"categories": [-2]}, "got -2"),
        ({"citations": [0, 1]}, r"shape \(n, 2\)"),
        ({"tokens": np.array([2**64 - 1, 0, 0, 0], dtype=np.uint64)}, "too large"),
    ],
)
def test_bad_arrays_are_refused(arguments, text):
    good = {"tokens": [0, 1, 2, 3], "offsets": [0, 4]}
    with pytest.raises(CorpusError, match=text):
        Corpus.from_arrays(**(good | arguments))


def test_a_corpus_may_have_no_words_at_all():
    corpus = Corpus.from_lists(tokens=[[], []], citations=[(0, 1)])
    assert corpus.vocabulary_size == 0
    assert corpus.report.empty_documents == 2
    assert corpus.summary()["percent_repeat"] == 0


def test_fingerprint_sees_every_part():
    base = {
        "tokens": [["a", "b"], ["a"]],
        "authors": [["X"], ["Y"]],
        "categories": ["c", "d"],
        "citations": [(0, 1)],
        "titles": ["t", None],
        "ids": ["1", "2"],
        "title_lengths": [1, 0],
        "metadata": {"year": [1, 2]},
    }
    changes = [
        {"tokens": [["a"], ["b", "a"]], "title_lengths": [1, 0]},
        {"authors": [["X"], ["Z"]]},
        {"categories": ["c", None]},
        {"citations": [(1, 0)]},
        {"titles": ["t", "None"]},
        {"titles": ["", "t"]},
        {"ids": ["1", "3"]},
        {"title_lengths": [0, 0]},
        {"metadata": {"year": [1, 3]}},
        {"metadata": {"year": ["1", "2"]}},
        {"metadata": {"date": [1, 2]}},
    ]
    prints = [Corpus.from_lists(**(base | change)).fingerprint for change in [{}, *changes]]
    assert len(set(prints)) == len(prints)
    assert Corpus.from_lists(**base).fingerprint == prints[0]
