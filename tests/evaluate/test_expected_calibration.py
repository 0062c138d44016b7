"""The expected calibration error, against its sum over bins written out."""

import numpy as np
import pytest

from citeweave.errors import ParameterError
from citeweave.evaluate import expected_calibration_error


def written_out(table, true, bins):
    sure, right = table.max(axis=1), table.argmax(axis=1) == true
    error = 0.0
    for b in range(bins):
        inside = (sure > b / bins) & (sure <= (b + 1) / bins)
        if inside.any():
            error += inside.mean() * abs(right[inside].mean() - sure[inside].mean())
    return error


@pytest.mark.parametrize("bins", [1, 10, 15])
def test_it_is_the_sum_over_bins(bins):
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.full(4, 0.5), size=300)
    true = rng.integers(0, 4, 300)
    found = expected_calibration_error(table, true, bins=bins)
    assert found == pytest.approx(written_out(table, true, bins))
    left = np.where(np.arange(300) % 3 == 0, -1, true)
    some = expected_calibration_error(table, left, bins=bins)
    assert some == pytest.approx(written_out(table[left >= 0], true[left >= 0], bins))


def test_labels_drawn_from_the_probabilities_are_calibrated():
    rng = np.random.default_rng(1)
    table = rng.dirichlet(np.ones(3), size=20_000)
    true = (rng.random((20_000, 1)) > table.cumsum(axis=1)).sum(axis=1)
    assert expected_calibration_error(table, true) < 0.02
    sharper = table**3 / (table**3).sum(axis=1, keepdims=True)
    assert expected_calibration_error(sharper, true) > 0.1


@pytest.mark.parametrize(
    ("table", "classes", "text"),
    [
        ([[1.0, 0.0]], [0, 1], "a row for each document"),
        ([[1.0, 0.0]], ["a"], "of type"),
        ([[0.7, 0.7]], [0], "sum to 1"),
        ([[1.0, 0.0]], [-1], "Got none"),
    ],
)
def test_refusals(table, classes, text):
    with pytest.raises(ParameterError, match=text):
        expected_calibration_error(table, classes)
