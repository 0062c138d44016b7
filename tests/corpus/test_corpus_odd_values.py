"""Odd values given to `from_lists` and `from_arrays` are refused with a word."""

import contextlib
import itertools

import numpy as np
import pytest

from citeweave import Corpus
from citeweave.errors import CiteweaveError

ODD = [
    5, -1, 1.5, float("nan"), True, "text", b"bytes", object(), {}, {"a": 1}, {1: [2]}, [], [None],
    [[None]], [[[]]], [5], [[5.5]], ["a", "b", "c"], [["a"], ["b"]], {"a"}, range(3), np.zeros(3),
    np.array([["a"]]), lambda: None, [object()], [(1,)], [(1, 2, 3)], [("x", "y")], [10**30],
    {"x": 5}, {"x": [1]}, {"x": [object(), 1]}, {"x": [{}, {}]}, {"": ["a", "b"]}, {None: 1},
]  # fmt: skip
NAMES = ["tokens", "vocabulary", "authors", "categories", "citations", "titles", "ids"]
NAMES += ["title_lengths", "metadata", "preparation"]


@pytest.mark.parametrize("name", NAMES)
def test_odd_values_are_refused_or_taken(name):
    for value in ODD:
        values = {"tokens": [["a", "b"], ["b"]], name: value}
        try:
            corpus = Corpus.from_lists(**values)
        except CiteweaveError:
            continue
        assert corpus.fingerprint


def test_pairs_of_odd_values():
    few = [5, {}, [[None]], {1: [2]}, [5], [("x", "y")]]
    for (one, other), value in itertools.product(itertools.combinations(NAMES, 2), few):
        values = {"tokens": [["a", "b"], ["b"]], one: value, other: value}
        with contextlib.suppress(CiteweaveError):
            Corpus.from_lists(**values)


@pytest.mark.parametrize("name", ["metadata", "preparation"])
def test_the_message_names_the_argument(name):
    with pytest.raises(CiteweaveError, match=f"{name} must be a dictionary"):
        Corpus.from_lists(tokens=[["a"]], **{name: 5})
