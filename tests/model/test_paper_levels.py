"""Levels that divide papers: venues, periods and others as nodes above authors and categories."""

import math

import numpy as np
import pytest
from model_tools import QUICK

import citeweave
from citeweave import SCNTM, Corpus, Level, ModelSpec, preset
from citeweave.errors import CorpusError, ParameterError
from citeweave.evaluate.measuring import uses_labels
from citeweave.model.groups import build_tree
from citeweave.model.parameters import make_plan

TEXT = preset("cntm-text")
FIVE = {
    "tokens": [["a", "b"], ["b"], ["c", "a"], ["d"], ["a"]],
    "authors": [["Ann"], ["Ann"], ["Bo"], ["Bo"], ["Cy"]],
    "metadata": {"venue": ["X", "Y", "X", "x", None], "year": [2001, 2002, 2006, 2007, 2011]},
}


@pytest.fixture(scope="module")
def dated(small):
    """Give the seventy documents venues, of which some have none, and years."""
    n = small.n_documents
    return Corpus.from_arrays(
        tokens=small.tokens,
        offsets=small.offsets,
        author_ids=small.author_ids,
        author_offsets=small.author_offsets,
        citations=small.citations,
        metadata={
            "venue": [[None, "ICML", "JMLR", "NIPS"][d % 4] for d in range(n)],
            "year": [1990 + d for d in range(n)],
        },
    )


def tree_of(corpus, spec, **more):
    options = {"eta": 0, "unknown": "shared", "period_years": 5} | more
    return build_tree(Corpus.from_lists(**corpus), spec, **options)


def test_levels_stand_between_the_corpus_and_the_others():
    spec = preset("scntm").with_level("venue").with_level("period").with_level("language")
    assert [level.nodes for level in spec.topic_side] == [
        "corpus",
        "venue",
        "period",
        "column:language",
        "group",
        "document",
        "document",
    ]
    assert [level.column for level in spec.paper_levels] == ["venue", "period", "language"]
    assert spec.name == "scntm+venue+period+language"
    assert spec.citations == "theta'"


def test_an_author_has_a_node_in_each_venue():
    tree = tree_of(FIVE, preset("scntm").with_level("venue"))
    venue, author = tree.levels
    assert venue.names == ["X", "Y", "unknown"]
    assert venue.documents.tolist() == [3, 1, 1]
    assert repr(venue) == "Groups('venue': 1 unknown, 2 venue)"
    assert author.names == ["Ann, X", "Bo, X", "Ann, Y", "Cy, unknown"]
    assert author.parent.tolist() == [0, 0, 1, 2]
    assert [parent.tolist() for parent in tree.data.parents] == [
        [0, 0, 0],
        [0, 0, 1, 2],
        [0, 2, 1, 1, 3],
        [0, 1, 2, 3, 4],
    ]
    assert author.find("author", 0) == 0
    assert venue.find("value", 1) == 1


def test_periods_within_venues():
    spec = preset("scntm").with_level("venue").with_level("period").without("nu")
    venue, period = tree_of(FIVE, spec).levels
    assert period.names == ["2000–2004, X", "2005–2009, X", "2000–2004, Y", "2010–2014, unknown"]
    assert period.parent.tolist() == [0, 0, 1, 2]
    assert period.of_document.tolist() == [0, 2, 1, 1, 3]
    assert venue.of_document.tolist() == [0, 1, 0, 0, 2]


def test_papers_without_a_value_may_have_a_node_each():
    corpus = FIVE | {"metadata": {"venue": ["X", None, "X", None, "Y"]}}
    venue, _ = tree_of(corpus, preset("scntm").with_level("venue"), unknown="own").levels
    assert venue.names == ["X", "Y", "unknown, document 1", "unknown, document 3"]
    assert venue.of_document.tolist() == [0, 2, 0, 3, 1]


def test_parents_are_voted_for_within_a_venue():
    """Ann's category in X is that of her papers there, though she has more of another elsewhere."""
    spec = ModelSpec(
        "deep",
        topic_side=(
            Level("mu", "corpus", 0.01),
            Level("venue", "venue", 0.01),
            Level("xi", "category", 0.01),
            Level("nu", "author", 0.01),
            Level("theta", "document", 0.01),
        ),
        word_side=TEXT.word_side,
    )
    corpus = {
        "tokens": [["a"]] * 5,
        "authors": [["Ann"]] * 4 + [["Bo"]],
        "categories": ["x", "y", "y", None, "x"],
        "metadata": {"venue": ["P", "Q", "Q", "P", "Q"]},
    }
    venue, category, author = tree_of(corpus, spec).levels
    assert author.names == ["Ann", "Ann", "Bo"]
    assert [category.names[i] for i in author.parent] == ["x, P", "y, Q", "x, Q"]
    assert [venue.names[i] for i in category.parent] == ["P", "Q", "Q"]


def test_words_choose_among_the_authors_of_their_venue():
    tree = tree_of(FIVE | {"authors": [["Ann", "Bo"]] * 4 + [["Cy"]]}, preset("np-atm"))
    assert len(tree.levels[0]) == 3
    parted = tree_of(
        FIVE | {"authors": [["Ann", "Bo"]] * 4 + [["Cy"]]}, preset("np-atm").with_level("venue")
    )
    assert parted.levels[-1].names == ["Ann, X", "Bo, X", "Ann, Y", "Bo, Y", "Cy, unknown"]
    assert parted.data.leaf.tolist() == [0, 1, 2, 3, 0, 1, 0, 1, 4]


def test_a_fitted_model_tells_the_topics_of_venues(dated, tmp_path):
    model = SCNTM(**QUICK, chains=1, model="cntm-text", levels=("venue",)).fit(dated)
    venue = model.levels_["venue"]
    assert venue.names == ["ICML", "JMLR", "NIPS", "unknown"]
    assert model.level_topic_["venue"].shape == (4, 4)
    np.testing.assert_allclose(model.level_topic_["venue"].sum(axis=1), 1.0, rtol=1e-6)
    assert model.level_names_[:3] == ["mu", "venue", "nu"]
    (note,) = [note for note in model.notes_ if note.startswith("Level")]
    assert note == "Level 'venue': 3 values; 18 of 70 papers have none and share a node."
    again = citeweave.load(model.save(tmp_path / "run"))
    assert again.levels_["venue"].names == venue.names
    assert again.groups_.names == model.groups_.names
    assert again.get_params()["levels"] == ("venue",)
    same = SCNTM(**QUICK, chains=1, model=TEXT.with_level("venue")).fit(dated)
    assert same.doc_topic_.tobytes() == model.doc_topic_.tobytes()
    again = citeweave.load(same.save(tmp_path / "other"))
    assert again.spec_ == same.spec_ == model.spec_
    assert again.level_topic_["venue"].tobytes() == model.level_topic_["venue"].tobytes()


def test_periods_go_by_the_years_asked_for(dated):
    parameters = QUICK | {"chains": 1, "levels": ["period"]}
    model = SCNTM(**parameters, model="cntm-text").fit(dated)
    assert model.levels_["period"].names[:2] == ["1990–1999", "2000–2009"]
    model = SCNTM(**parameters, model="cntm-text", period_years=50).fit(dated)
    assert model.levels_["period"].names == ["1950–1999", "2000–2049", "2050–2099"]
    assert "Level 'period': 3 values of 50 years, one for each paper." in model.notes_


def test_a_level_that_is_the_labels_counts_as_labels(small):
    """Venues that are the categories by other names; others tell nothing of them."""
    label = [f"Journal {c}" for c in small.categories.tolist()]
    for venue, expected in ((label, True), (["X", *label[1:]], False)):
        corpus = Corpus.from_arrays(
            tokens=small.tokens,
            offsets=small.offsets,
            categories=small.categories,
            metadata={"venue": venue},
        )
        spec = TEXT.with_level("venue").without("nu")
        model = SCNTM(**QUICK, chains=1, model=spec).fit(corpus)
        assert uses_labels(model) is expected


def test_a_checkpoint_is_of_one_width_of_periods():
    plans = [
        make_plan(SCNTM(levels=("period",), period_years=years, seed=1).get_params())
        for years in (None, 5, 10)
    ]
    assert len({plan.digest() for plan in plans}) == 3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"levels": ("venue", "venue")}, "already has a level 'venue'"),
        ({"levels": ("theta",)}, "already has a level 'theta'"),
        ({"levels": "venue"}, "'levels' parameter of SCNTM must be a list of names, of venue, per"),
        ({"period_years": 5}, "'period_years' .* must be None for a model without a level 'period"),
        ({"levels": ("period",), "period_years": 0}, "must be an integer from 1 to 1000"),
        ({"levels": ("venue",), "categories": 3}, "one level between the corpus and the documents"),
    ],
)
def test_what_no_model_can_be_made_of_is_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        make_plan(SCNTM(**parameters).get_params())


def test_levels_in_a_wrong_place_are_refused():
    top, groups, *below = preset("scntm").topic_side
    venue = Level("venue", "venue", 0.01)
    with pytest.raises(ParameterError, match="must be directly below its corpus level"):
        ModelSpec("wrong", (top, groups, venue, *below), TEXT.word_side)
    with pytest.raises(ParameterError, match="has latent categories"):
        preset("scntm").with_categories().with_level("venue")


@pytest.mark.parametrize("eta", [0, math.inf])
def test_a_corpus_without_venues_is_refused(small, eta):
    with pytest.raises(CorpusError, match="have no venue: its metadata column 'venue' is missing"):
        SCNTM(**QUICK, eta=eta, levels=("venue",)).fit(small)
