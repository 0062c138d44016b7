"""Where snapshot sweeps are exact, their frequencies are those of the listed posterior."""

import pytest
from parallel_tools import snapshot_chain
from snapshots import run_snapshots

from reference.posterior import TinyPosterior
from reference.run import frequencies, marginal, total_variation

SWEEPS = 250_000
ONE = {"documents": ((0, 0, 1, 1),), "groups": (0,), "citations": ()}


FOUR = {"documents": ((0,), (0,), (1,), (1,)), "groups": (0, 0, 0, 0), "citations": ()}


def distances(chain, sweeps=SWEEPS):
    topic_exact, word_exact = TinyPosterior(chain).distribution()
    topic_rows, word_rows = run_snapshots(chain, sweeps)
    topic_seen, word_seen = frequencies(topic_rows), frequencies(word_rows)
    width = len(chain.layout.word) + len(chain.state.assignments.path)
    width += len(chain.layout.citing) if chain.spec.citations else 0
    return (
        total_variation(marginal(topic_exact, width), marginal(topic_seen, width)),
        total_variation(topic_exact, topic_seen),
        total_variation(word_exact, word_seen),
    )


EXACT = {
    "one paper, scntm": ("scntm", ONE | {"rounds": 1}),
    "one paper, bursty-hdp-lda": ("bursty-hdp-lda", ONE | {"rounds": 1}),
    "one paper, np-atm": ("np-atm", {"documents": ((0, 0, 1),), "groups": (0,), "citations": ()}),
    "a snapshot a paper, scntm": ("scntm", {"rounds": 2}),
    "a snapshot a paper, citations both ways": (
        "scntm",
        {
            "documents": ((0, 0), (1,), ()),
            "groups": (0, 0, 1),
            "citations": ((0, 1), (2, 0)),
            "rounds": 3,
        },
    ),
    "a snapshot a paper, cntm-text": ("cntm-text", {"rounds": 2}),
    "a snapshot a paper, four short ones": ("cntm-text", {**FOUR, "rounds": 4}),
}


@pytest.mark.parametrize("case", EXACT)
def test_frequencies_match_the_posterior(case):
    spec, corpus = EXACT[case]
    assignments, topic_side, word_side = distances(snapshot_chain(spec, **corpus))
    assert assignments < 0.01
    assert topic_side < 0.04
    assert word_side < 0.02


def test_one_snapshot_for_all_is_another_chain():
    """Papers that do not see each other: far off where all counts are theirs, and so seen."""
    assignments, topic_side, word_side = distances(
        snapshot_chain("cntm-text", rounds=1, **FOUR), sweeps=60_000
    )
    assert min(assignments, topic_side, word_side) > 0.08
