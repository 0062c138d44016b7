"""The enumeration catches what it is there to catch: each classic mistake fails it."""

import pytest
from test_enumeration import distances

from reference.mutants import mutant
from reference.run import make_runner
from reference.tiny import tiny_chain

SWEEPS = 100_000


@pytest.fixture(scope="module")
def runner():
    with mutant(None) as copy:
        return make_runner(
            copy["words"].word_sweep,
            copy["citations"].citation_sweep,
            copy["exponent"].rebuild_exponent,
        )


RUNS = {"documents": ((0, 0), (0, 0)), "scale": 3.0}
"""Every word may move with another, and citations weigh much."""


def distance(mistake, runner, **corpus):
    """Give how far the copy is from the posterior, in what the sampler itself is allowed."""
    with mutant(mistake) as copy:
        chain = tiny_chain("scntm", modules=copy, **corpus)
        assignments, topic_side, word_side = distances(chain, runner, SWEEPS)
    return max(assignments / 0.012, topic_side / 0.035, word_side / 0.025)  # in many more sweeps


@pytest.mark.parametrize("corpus", [{}, RUNS])
def test_the_copy_is_right_where_no_mistake_is_made(corpus, runner):
    assert distance(None, runner, **corpus) < 2.0


@pytest.mark.parametrize(
    "mistake",
    [
        "indicator binomial left out",
        "blocked removal ignored",
        "customers leave only with their table",
        "citations without Metropolis-Hastings",
        "words without the exponential",
    ],
)
def test_enumeration_catches(mistake, runner):
    assert distance(mistake, runner) > 2.5


@pytest.mark.parametrize(
    "mistake",
    [
        "a token stands for others only where it is alone",
        "joint moves without Metropolis-Hastings",
        "joint moves without the chance of their proposal",
        "joint moves without the chance that the last has a table",
        "joint moves without the exponential",
    ],
)
def test_enumeration_catches_mistakes_of_joint_moves(mistake, runner):
    assert distance(mistake, runner, **RUNS) > 2.5
