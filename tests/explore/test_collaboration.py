"""Pairs of contributors, counted by hand."""

from __future__ import annotations

import pytest

from citeweave import Corpus
from citeweave.errors import ParameterError
from citeweave.explore import Literature
from citeweave.explore.collaboration import collaboration_pairs
from citeweave.explore.contributors import contributors_of


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.from_lists(
        tokens=[["a"]] * 4,
        authors=[["Ann", "Bo", "Cy"], ["Bo", "Ann"], ["Cy"], None],
        metadata={"countries": [["AU", "SG"], ["SG", "AU"], ["US"], ["US", "AU"]]},
    )


def _weights(corpus: Corpus, kind: str, **options) -> dict[tuple[str, str], float]:
    table = Literature(corpus).collaborations(kind, **options)
    return {(row["source_name"], row["target_name"]): row["weight"] for row in table.to_dicts()}


def test_full_and_fractional_counting(corpus: Corpus) -> None:
    assert _weights(corpus, "authors") == {("Ann", "Bo"): 2, ("Ann", "Cy"): 1, ("Bo", "Cy"): 1}
    # three share the first paper: each pair gets 1/2 of it
    assert _weights(corpus, "authors", counting="fractional") == {
        ("Ann", "Bo"): 1.5,
        ("Ann", "Cy"): 0.5,
        ("Bo", "Cy"): 0.5,
    }
    assert _weights(corpus, "countries") == {
        ("Australia", "Singapore"): 2,
        ("Australia", "United States"): 1,
    }


def test_limits(corpus: Corpus) -> None:
    assert _weights(corpus, "authors", top=1) == {("Ann", "Bo"): 2}
    assert _weights(corpus, "countries", min_papers=3) == {}
    literature = Literature(corpus)
    assert _weights(corpus, "authors", max_members=2) == {("Ann", "Bo"): 1}
    assert (
        literature.collaboration_note("authors", 2)
        == "1 paper with more than 2 authors is left out."
    )
    assert literature.collaboration_note("authors") == ""
    with pytest.raises(ParameterError, match=r"counting.*full, fractional"):
        literature.collaborations("authors", counting="half")
    with pytest.raises(ParameterError, match=r"max_members"):
        literature.collaborations("authors", max_members=1)


def test_a_paper_of_three_thousand_authors_makes_no_pairs() -> None:
    crowd = [f"Author {i}" for i in range(3000)]
    corpus = Corpus.from_lists(tokens=[["a"], ["b"]], authors=[crowd, crowd[:2]])
    pairs, weights = collaboration_pairs(contributors_of(corpus, "authors"))
    assert pairs.tolist() == [[0, 1]]
    assert weights.tolist() == [1]
