"""Sweeps over slots: long-run frequencies against the listed posterior."""

import pytest
from sparse_tools import RUN, distances, run_snapshots, slot_chain

SWEEPS = 200_000
CITED = {"documents": ((0,), (0,)), "groups": (0, 0), "citations": ((0, 1),), "topics": 5}
CASES = {
    "a repeated word, three topics": (
        "scntm",
        {"documents": ((0, 0, 1),), "groups": (0,), "citations": (), "topics": 3},
    ),
    "two papers of one author and a citation": ("scntm", {}),
    "two authors": ("scntm", {"groups": (0, 1)}),
    "five topics": ("scntm", CITED),
    "citations both ways and an empty paper": (
        "scntm",
        {"documents": ((0, 0), (1,), ()), "groups": (0, 0, 1), "citations": ((0, 1), (2, 0))},
    ),
    "no author": ("bursty-hdp-lda", {"documents": ((0, 0), (0, 1)), "topics": 4}),
}


@pytest.mark.parametrize("most_listed", [0, 64])
@pytest.mark.parametrize("case", CASES)
def test_frequencies_match_the_posterior(case, most_listed):
    """With the topics of authors inside, and outside."""
    spec, corpus = CASES[case]
    if spec == "bursty-hdp-lda" and most_listed == 0:
        pytest.skip("there is no author to list")
    assignments, topic_side, word_side = distances(
        slot_chain(spec, most_listed=most_listed, **corpus), SWEEPS
    )
    assert assignments < 0.035
    assert topic_side < 0.05
    assert word_side < 0.035


@pytest.mark.parametrize("case", ["two authors", "five topics"])
def test_a_snapshot_a_paper_is_exact(case):
    spec, corpus = CASES[case]
    chain = slot_chain(spec, rounds=2, **corpus)
    assignments, topic_side, word_side = distances(chain, SWEEPS, run_snapshots)
    assert assignments < 0.035
    assert topic_side < 0.05
    assert word_side < 0.035


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_frequencies_come_ever_nearer(case):
    spec, corpus = CASES[case]
    assignments, topic_side, word_side = distances(slot_chain(spec, **corpus), 4_000_000, RUN)
    assert assignments < 0.007
    assert topic_side < 0.012
    assert word_side < 0.008
