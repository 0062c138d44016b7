"""What parts tell each other adds up, whichever way it goes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from citeweave.engines.cluster import exchanges
from citeweave.engines.cluster.exchanges import Hub, ThreadExchange


def add_up(arrays):
    """Let as many parts as there are arrays add them up; gives what each has, and what it sent."""
    hub = Hub(len(arrays))
    parts = [ThreadExchange(rank, hub) for rank in range(len(arrays))]
    with ThreadPoolExecutor(len(parts)) as pool:
        tasks = [pool.submit(part.sum, array) for part, array in zip(parts, arrays, strict=True)]
        return [task.result() for task in tasks], [part.traffic.bytes for part in parts]


@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_large_arrays_are_added_up_in_ranges_and_alike(parts, monkeypatch):
    drawn = np.random.default_rng(1).integers(-9, 9, (parts, 40, 7), np.int64)
    plain, sent = add_up(drawn)
    monkeypatch.setattr(exchanges, "_LARGE", 8)
    found, sent_by_ranges = add_up(drawn)
    for one in (*plain, *found):
        assert one.tobytes() == drawn.sum(axis=0).tobytes()
    assert (max(sent_by_ranges) < min(sent)) == (parts > 2)


def test_fractions_are_added_up_in_the_order_of_parts(monkeypatch):
    monkeypatch.setattr(exchanges, "_LARGE", 8)
    drawn = np.random.default_rng(1).random((3, 50))
    found, _ = add_up(drawn)
    for one in found:
        assert one.tobytes() == (drawn[0] + drawn[1] + drawn[2]).tobytes()
