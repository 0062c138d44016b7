"""Groups by eta, unknown documents, and trees of levels."""

import math

import numpy as np
import pytest

from citeweave import Corpus, Level, ModelSpec, preset
from citeweave.errors import CorpusError
from citeweave.model.groups import build_tree

CATEGORY_ABOVE_AUTHOR = ModelSpec(
    "tree",
    topic_side=(
        Level("mu", "corpus", 0.01),
        Level("xi", "category", 0.01),
        Level("nu", "author", 0.01),
        Level("theta", "document", 0.01),
    ),
    word_side=preset("scntm").word_side,
)


def groups_of(corpus, eta, unknown="shared", spec=None):
    tree = build_tree(corpus, spec or preset("scntm"), eta=eta, unknown=unknown)
    names = [f"{group.kind} {group.name}" for group in tree.levels[-1]]
    return [names[i] for i in tree.levels[-1].of_document]


@pytest.mark.parametrize(
    ("eta", "expected"),
    [
        (0, ["author Ann"] * 3 + ["author Bo"] + ["unknown unknown"] * 2),
        (1, ["author Ann"] * 3 + ["author Bo", "category x", "unknown unknown"]),
        (2, ["author Ann"] * 3 + ["category y", "category x", "unknown unknown"]),
        (3, ["author Ann"] * 3 + ["category y", "category x", "unknown unknown"]),
        (4, [f"category {c}" for c in "xxyyx"] + ["unknown unknown"]),
        (math.inf, [f"category {c}" for c in "xxyyx"] + ["unknown unknown"]),
    ],
)
def test_groups_by_eta(people, eta, expected):
    assert groups_of(people, eta) == expected


def test_unknown_documents_of_their_own(people):
    found = groups_of(people, 0, unknown="own")
    assert found[4:] == ["unknown unknown, document 4", "unknown unknown, document 5"]
    tree = build_tree(people, preset("scntm"), eta=0, unknown="own")
    assert tree.levels[0].label.tolist() == [0, 1, 4, 5]
    assert tree.levels[0].documents.tolist() == [3, 1, 1, 1]


def test_only_groups_with_documents_have_nodes(people):
    tree = build_tree(people, preset("scntm"), eta=0, unknown="shared")
    (groups,) = tree.levels
    assert groups.names == ["Ann", "Bo", "unknown"]  # Cy is nobody's first author
    assert groups.documents.tolist() == [3, 1, 2]
    assert groups.find("author", 1) == 1
    assert groups.find("author", 2) == -1
    assert repr(groups) == "Groups('nu': 2 author, 1 unknown)"
    assert groups[0] == ("author", "Ann", 3)


def test_layout_of_the_full_model(people):
    data = build_tree(people, preset("scntm"), eta=0, unknown="shared").data
    nu, theta_prime, theta = data.parents
    assert nu.tolist() == [0, 0, 0]
    assert theta_prime.tolist() == [0, 0, 0, 1, 2, 2]
    assert theta.tolist() == list(range(6))
    assert data.leaf.tolist() == list(range(6))
    assert data.citing.tolist() == [1, 4, 5]


def test_layout_without_groups(people):
    tree = build_tree(people, preset("bursty-hdp-lda"), eta=0, unknown="shared")
    assert tree.levels == ()
    assert [parent.tolist() for parent in tree.data.parents] == [[0] * 6]


def test_words_choose_among_all_authors(people):
    tree = build_tree(people, preset("np-atm"), eta=0, unknown="shared")
    (authors,) = tree.levels
    assert authors.names == ["Ann", "Bo", "Cy", "unknown"]
    assert tree.data.leaf_start.tolist() == [0, 1, 3, 4, 6, 7, 8]
    assert tree.data.leaf.tolist() == [0, 0, 1, 0, 1, 2, 3, 3]  # Ann once in document 1
    assert authors.documents.tolist() == [3, 2, 1, 2]
    assert authors.of_document.tolist() == [0, 0, 0, 1, 3, 3]


def test_category_above_author(people):
    tree = build_tree(people, CATEGORY_ABOVE_AUTHOR, eta=0, unknown="shared")
    upper, lower = tree.levels
    assert lower.names == ["Ann", "Bo", "unknown"]
    # Ann: x, x, y; Bo: y; the unknown authors' documents: x and none, of which x is known
    assert [upper.names[i] for i in lower.parent] == ["x", "y", "x"]
    assert upper.names == ["x", "y"]  # nothing reaches the unknown category
    assert upper.documents.tolist() == [5, 1]
    assert [parent.tolist() for parent in tree.data.parents] == [
        [0, 0],
        [0, 1, 0],
        [0, 0, 0, 1, 2, 2],
    ]


def test_parent_ties_and_unknown_categories():
    corpus = Corpus.from_lists(
        tokens=[["a"]] * 4,
        authors=[["Ann"], ["Ann"], ["Bo"], ["Bo"]],
        categories=["y", "x", None, None],
    )
    upper, lower = build_tree(corpus, CATEGORY_ABOVE_AUTHOR, eta=0, unknown="shared").levels
    # y was seen first and has the smaller id; Bo has no category at all
    assert [upper.names[i] for i in lower.parent] == ["y", "unknown"]


def test_three_levels_prune_together():
    spec = ModelSpec(
        "deep",
        topic_side=(
            *CATEGORY_ABOVE_AUTHOR.topic_side[:2],
            Level("group", "group", 0.01),
            *CATEGORY_ABOVE_AUTHOR.topic_side[2:],
        ),
        word_side=CATEGORY_ABOVE_AUTHOR.word_side,
    )
    corpus = Corpus.from_lists(
        tokens=[["a"]] * 5,
        authors=[["Ann"], ["Ann"], ["Ann"], ["Bo"], None],
        categories=["x", "x", "y", "y", "z"],
    )
    top, middle, low = build_tree(corpus, spec, eta=2, unknown="shared").levels
    assert low.names == ["Ann", "Bo", "unknown"]
    assert [middle.names[i] for i in low.parent] == ["Ann", "y", "z"]
    assert [top.names[i] for i in middle.parent] == ["x", "y", "z"]
    assert [level.documents.sum() for level in (top, middle, low)] == [5, 5, 5]


@pytest.mark.parametrize("eta", [0, 2, math.inf])
@pytest.mark.parametrize("unknown", ["shared", "own"])
def test_every_document_is_counted_once(small, eta, unknown):
    (groups,) = build_tree(small, preset("scntm"), eta=eta, unknown=unknown).levels
    counts = np.bincount(groups.of_document, minlength=len(groups))
    np.testing.assert_array_equal(counts, groups.documents)
    assert groups.documents.min() > 0


def test_a_corpus_without_words_is_refused():
    with pytest.raises(CorpusError, match="needs words"):
        build_tree(
            Corpus.from_lists(tokens=[[], []], vocabulary=["a"]),
            preset("scntm"),
            eta=0,
            unknown="shared",
        )
