"""Sparse sweeps as a run takes them: what is kept has the posterior once proposals are frozen."""

import numpy as np
import pytest
from schedule_tools import capped_chain, run

from reference.capped import CappedPosterior, number_as_they_come
from reference.run import frequencies, total_variation

CASES = {
    "no author": ("bursty-hdp-lda", {"documents": ((0, 1), (0, 1))}),
    "two authors and a citation": (
        "scntm",
        {"documents": ((0, 1), (1,)), "groups": (0, 1), "citations": ((0, 1),)},
    ),
}


def distance(case, runs, iterations, burn_in, **options):
    """Total variation of what some runs of one chain keep and the listed posterior."""
    spec, corpus = CASES[case]
    chain = capped_chain(spec, **corpus)
    exact = CappedPosterior(chain).partitions()
    rows = np.concatenate([run(chain, iterations, burn_in, **options) for _ in range(runs)])
    return total_variation(exact, frequencies(number_as_they_come(rows)))


@pytest.mark.parametrize(
    ("case", "most_listed", "most"),
    [
        ("no author", 64, 0.04),
        ("two authors and a citation", 64, 0.025),
        ("two authors and a citation", 0, 0.025),
    ],
)
def test_what_is_kept_has_the_posterior(case, most_listed, most):
    """Tables adapt for 500 iterations and are then frozen.

    The chain takes its time: what the tables do not know is proposed rarely, and of 300 topics that
    are alike they know a few.
    """
    assert distance(case, 1, 200_500, 500, most_listed=most_listed) < most


@pytest.mark.parametrize(
    ("case", "most_listed", "least"),
    [("no author", 64, 0.2), ("two authors and a citation", 0, 0.035)],
)
def test_tables_that_go_on_adapting_are_seen(case, most_listed, least):
    """The schedule of 2,000 iterations over and over, everything kept and nothing frozen."""
    found = distance(case, 50, 2000, 0, freeze=False, most_listed=most_listed)
    assert found > least
