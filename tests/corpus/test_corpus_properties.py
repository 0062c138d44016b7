"""Random small corpora: whatever the lists hold, nothing is lost and round trips are exact."""

import tempfile
from collections import Counter
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import given, settings

from citeweave.corpus import Corpus

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3)


@st.composite
def inputs(draw):
    documents = draw(st.integers(1, 6))

    def each(strategy):
        return draw(st.lists(strategy, min_size=documents, max_size=documents))

    position = st.integers(0, documents - 1)
    return {
        "tokens": each(st.lists(WORDS, max_size=6)),
        "authors": draw(st.none() | st.just(each(st.none() | st.lists(WORDS, max_size=3)))),
        "categories": draw(st.none() | st.just(each(st.none() | WORDS))),
        "citations": draw(st.lists(st.tuples(position, position), max_size=12)),
        "titles": draw(st.none() | st.just(each(st.none() | WORDS))),
        "metadata": {
            "year": each(st.none() | st.integers(-(2**63), 2**63 - 1)),
            "score": each(st.none() | st.floats(allow_nan=False)),
            "tags": each(st.none() | st.lists(WORDS, max_size=2)),
            "open": each(st.none() | st.booleans()),
        },
    }


@given(inputs())
def test_lists_come_back(given_lists):
    corpus = Corpus.from_lists(**given_lists)
    documents = range(corpus.n_documents)
    assert [corpus.words(d) for d in documents] == given_lists["tokens"]
    authors = given_lists["authors"] or [None] * corpus.n_documents
    assert [corpus.authors(d) for d in documents] == [list(dict.fromkeys(a or [])) for a in authors]
    names = [None if c < 0 else corpus.category_names[c] for c in corpus.categories]
    assert names == (given_lists["categories"] or [None] * corpus.n_documents)


@given(inputs())
def test_citations_are_all_accounted_for(given_lists):
    corpus = Corpus.from_lists(**given_lists)
    counts = Counter(given_lists["citations"])
    kept = sorted((i, j) for i, j in counts if i != j)
    assert [tuple(row) for row in corpus.citations.tolist()] == kept
    report = corpus.report
    assert report.self_citations == sum(n for (i, j), n in counts.items() if i == j)
    assert counts.total() == len(kept) + report.self_citations + report.duplicate_citations


@settings(max_examples=30)
@given(inputs())
def test_saved_and_loaded_is_the_same(given_lists):
    corpus = Corpus.from_lists(**given_lists, preparation={"text": "ä"})
    with tempfile.TemporaryDirectory() as folder:
        loaded = Corpus.load(corpus.save(Path(folder) / "corpus"))
        assert loaded.verify() == corpus.fingerprint
        assert dict(loaded.metadata) == dict(corpus.metadata)
        assert loaded.titles == corpus.titles
        assert loaded.report == corpus.report
        assert loaded.preparation == corpus.preparation


@given(inputs(), st.integers(0, 5))
def test_a_split_keeps_every_token(given_lists, seed):
    corpus = Corpus.from_lists(**given_lists)
    if corpus.n_documents < 2:
        return
    split = corpus.split(test=0.5, seed=seed)
    parts = (split.train, split.test)
    assert sum(part.n_tokens for part in parts) == corpus.n_tokens
    links = len(split.links.citing) + len(split.links.cited)
    assert sum(part.n_citations for part in parts) + links == corpus.n_citations
    indices = (split.train_index, split.test_index)
    for part, index in zip(parts, indices, strict=True):
        assert [part.words(d) for d in range(part.n_documents)] == [
            corpus.words(d) for d in index.tolist()
        ]
