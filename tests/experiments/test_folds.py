"""Folds partition the documents, and nothing but the seed decides them."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeweave.corpus import Corpus
from citeweave.errors import CorpusError, ParameterError
from citeweave.experiments import WHOLE, arrays_only, cut, k_folds, random_splits


@given(
    documents=st.integers(2, 300),
    folds=st.integers(2, 20),
    seed=st.integers(0, 5),
)
def test_folds_are_a_partition(documents, folds, seed):
    made = k_folds(folds, seed=seed)
    if documents < folds:
        with pytest.raises(CorpusError, match="use fewer"):
            made[0].test_documents(documents)
        return
    parts = [fold.test_documents(documents) for fold in made]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(documents))
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1


@given(documents=st.integers(2, 300), share=st.floats(0.01, 0.99))
def test_splits_have_the_size_asked_for(documents, share):
    for split in random_splits(3, test=share):
        test = split.test_documents(documents)
        assert len(np.unique(test)) == len(test)
        assert 1 <= len(test) <= documents - 1
        assert abs(len(test) - share * documents) <= 1


def test_seeds_and_numbers_decide():
    first, second = k_folds(5, seed=1)[2], k_folds(5, seed=2)[2]
    np.testing.assert_array_equal(
        first.test_documents(50), k_folds(5, seed=1)[2].test_documents(50)
    )
    assert set(first.test_documents(50)) != set(second.test_documents(50))
    one, two = random_splits(2)
    assert set(one.test_documents(50)) != set(two.test_documents(50))
    # more splits leave those that were there as they are
    assert random_splits(7)[1].as_json() == two.as_json()
    assert k_folds(7)[1].as_json() != k_folds(5)[1].as_json()


def test_names():
    assert [fold.name for fold in k_folds(2)] == ["1/2", "2/2"]
    assert [fold.name for fold in random_splits(2)] == ["split 1/2", "split 2/2"]
    assert WHOLE.name == "whole"


def test_a_cut_keeps_every_citation_once(small):
    for fold in k_folds(4):
        split = cut(small, fold)
        assert split.train.n_documents + split.test.n_documents == small.n_documents
        inside = split.train.n_citations + split.test.n_citations
        between = len(split.links.citing) + len(split.links.cited)
        assert inside + between == small.n_citations
        whole = {tuple(pair) for pair in small.citations.tolist()}
        for test, train in split.links.citing.tolist():
            assert (split.test_index[test], split.train_index[train]) in whole
        for test, train in split.links.cited.tolist():
            assert (split.train_index[train], split.test_index[test]) in whole


def test_a_cut_takes_the_documents_themselves(small):
    split = cut(small, k_folds(4)[1])
    for part, index in ((split.train, split.train_index), (split.test, split.test_index)):
        for place in (0, part.n_documents - 1):
            assert part.words(place) == small.words(int(index[place]))
        np.testing.assert_array_equal(part.categories, small.categories[index])


def test_the_whole_is_not_cut(small):
    assert len(WHOLE.test_documents(10)) == 0
    with pytest.raises(ParameterError, match="no test documents"):
        cut(small, WHOLE)


def test_arrays_stay_and_names_become_numbers(small):
    bare = arrays_only(small)
    for name in ("tokens", "offsets", "author_ids", "categories", "citations"):
        np.testing.assert_array_equal(getattr(bare, name), getattr(small, name))
    assert bare.vocabulary[:2] == ["w0", "w1"]
    assert len(bare.author_names) == small.n_authors
    names = {field.name for field in dataclasses.fields(Corpus)} - {"text", "_stored_fingerprint"}
    assert all(np.array_equal(getattr(bare, name), getattr(small, name)) for name in names)


@pytest.mark.parametrize(
    "call",
    [
        lambda: k_folds(1),
        lambda: k_folds(2.5),
        lambda: k_folds(True),
        lambda: k_folds(3, seed=-1),
        lambda: random_splits(0),
        lambda: random_splits(2, test=1.0),
        lambda: random_splits(2, test="a"),
    ],
)
def test_wrong_numbers_are_refused(call):
    with pytest.raises(ParameterError, match="must be"):
        call()
