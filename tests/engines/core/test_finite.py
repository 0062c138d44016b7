"""Numbers that are none: found wherever they are, all weights in turn."""

import doctest
import re

import numpy as np
import pytest

from citeweave.engines.core import finite
from citeweave.engines.core.finite import LEAST_SINGLE, Watched, check_finite, row_window
from citeweave.errors import RunError

PRIOR = (0.03, 0.03)


def test_examples_in_docstrings():
    outcome = doctest.testmod(finite, optionflags=doctest.ELLIPSIS)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1.0, 1e39])
def test_what_is_no_weight_is_found(value):
    values = np.ones((4, 3))
    check_finite([Watched("A0", values)], iteration=1, prior=PRIOR)
    values[2, 1] = value
    expected = re.escape(f"Iteration 5 stops: A0 at 12, 1 is {value}.")
    expected += r".* a less vague concentration_prior \(it is 0.03, 0.03\)"
    with pytest.raises(RunError, match=expected):
        check_finite([Watched("A0", values, first=10)], iteration=5, prior=PRIOR)


def test_a_number_whose_inverse_is_infinite_is_found():
    values = np.array([1.0, 1e-60])
    check_finite([Watched("beta", values)], iteration=1, prior=PRIOR)
    with pytest.raises(RunError, match="beta at 1 is 1e-60"):
        check_finite([Watched("beta", values, LEAST_SINGLE)], iteration=1, prior=PRIOR)


@pytest.mark.parametrize(("rows", "width", "tokens"), [(7, 16, 1), (100, 16, 30), (9, 16, 1000)])
def test_every_row_has_its_turn(rows, width, tokens):
    seen = set()
    for iteration in range(rows):
        seen |= set(range(rows)[row_window(iteration, rows, width, tokens)])
    assert seen == set(range(rows))
