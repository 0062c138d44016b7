"""Counts of keys in blocks are those of all keys at once, in memory and in files."""

import numpy as np
import pytest

from citeweave.preparing import counting
from citeweave.preparing.counting import KeyCounts


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("at_once", [7, 50, 10**6])
def test_blocks_sum_up(tmp_path, monkeypatch, stored, at_once):
    monkeypatch.setattr(counting, "_MERGED_AT_ONCE", at_once)
    rng = np.random.default_rng(1)
    keys = (rng.zipf(1.3, size=400) % 90).astype(np.int64) * 10**12
    counts = KeyCounts(tmp_path / "counts" if stored else None)
    for block in np.split(keys, [0, 3, 3, 150, 390]):
        counts.add(block)
    found, often = counts.frequent(3)
    expected, number = np.unique(keys, return_counts=True)
    np.testing.assert_array_equal(found, expected[number >= 3])
    np.testing.assert_array_equal(often, number[number >= 3])
    assert not stored or list((tmp_path / "counts").iterdir()) == []
    # they can be used again, from nothing
    counts.add(keys[:5])
    assert counts.frequent(1)[1].sum() == 5


def test_nothing_at_all(tmp_path):
    for folder in (None, tmp_path / "counts"):
        counts = KeyCounts(folder)
        assert counts.frequent(1)[0].size == 0
        counts.add(np.zeros(0, dtype=np.int64))
        assert counts.frequent(1)[0].size == 0
