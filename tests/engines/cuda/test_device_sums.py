"""Sums over nodes on the device are exact, and the same in any order."""

import math

import numpy as np
import pytest
from cuda_tools import make

VALUES = {
    "logarithms": lambda rng, n: np.log(rng.random(n)),
    "of all sizes": lambda rng, n: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-30, 14, n),
    "that cancel": lambda rng, n: (
        np.repeat(rng.normal(0, 1e6, n // 2), 2) * np.tile([1, -1], n // 2)
    ),
}


@pytest.fixture(scope="module")
def chain():
    made = make("cntm-text")
    yield made
    made.close()


def add_up(chain, values):
    words = len(chain.spec.topic_side) + 3  # the range with a number for each document
    chain.arrays["node_value"][: len(values)] = values
    chain._draws.add_up(words, words + 1)
    totals, _ = chain._draws.take_totals("tally")
    assert not np.delete(totals, words).any()
    return totals[words]


@pytest.mark.parametrize("kind", VALUES)
def test_sums_are_exact_in_any_order(chain, kind):
    rng = np.random.default_rng(3)
    values = VALUES[kind](rng, chain.n_documents)
    found = add_up(chain, values)
    assert found == pytest.approx(math.fsum(values), rel=1e-15, abs=len(values) * 2.0**-60)
    for _ in range(3):
        assert add_up(chain, rng.permutation(values)) == found


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, 1e300])
def test_what_is_no_number_is_seen(chain, wrong):
    values = np.ones(chain.n_documents)
    values[7] = wrong
    assert math.isnan(add_up(chain, values))
    values[7] = 1.0
    assert add_up(chain, values) == chain.n_documents
