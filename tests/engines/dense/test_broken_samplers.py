"""The enumeration catches what it is there to catch: each classic mistake fails it."""

from dataclasses import replace

import pytest
from test_enumeration import distances

from citeweave.engines.core.spec import preset
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
WEIGHED = {"spec": replace(preset("scntm"), word_weight=0.25), "documents": ((0, 0, 1), (0, 1))}
"""Words weigh a quarter."""


def distance(mistake, runner, spec="scntm", **corpus):
    """Give how far the copy is from the posterior, in what the sampler itself is allowed."""
    with mutant(mistake) as copy:
        chain = tiny_chain(spec, modules=copy, **corpus)
        assignments, topic_side, word_side = distances(chain, runner, SWEEPS)
    return max(assignments / 0.012, topic_side / 0.035, word_side / 0.025)  # in many more sweeps


@pytest.mark.parametrize("corpus", [{}, RUNS, WEIGHED])
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


@pytest.mark.parametrize(
    "mistake",
    [
        "the chance of an indicator is raised with words",
        "topics are not raised with words",
        "bursts are not raised with words",
        "the background is not raised with words",
    ],
)
def test_enumeration_catches_mistakes_of_weighed_words(mistake, runner):
    assert distance(mistake, runner, **WEIGHED) > 2.5
