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


def distance(mistake, runner):
    """Give how far the copy is from the posterior, in what the sampler itself is allowed."""
    with mutant(mistake) as copy:
        assignments, topic_side, _ = distances(tiny_chain("scntm", modules=copy), runner, SWEEPS)
    return max(assignments / 0.012, topic_side / 0.035)  # with many more sweeps


def test_the_copy_is_right_where_no_mistake_is_made(runner):
    assert distance(None, runner) < 2.0


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
