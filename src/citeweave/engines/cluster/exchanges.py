"""Exchanges between the parts of a chain: the common base, and the exchange within a process."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from citeweave.errors import RunError

__all__ = [
    "Hub",
    "PartExchange",
    "Payload",
    "StoppedError",
    "ThreadExchange",
    "Traffic",
    "add_packed",
    "narrow",
    "pack",
]

_SPARSE = 3
"""An array with less than one nonzero entry in this many is sent as a list of these entries."""

_LARGE = 1 << 20
"""Number of bytes that take longer to send than one additional message per part, roughly."""

Payload = tuple[np.ndarray, ...]


class StoppedError(RunError):
    """Another part has failed, so this one cannot continue."""


class Traffic:
    """Counts the messages that a part sends to others."""

    def __init__(self) -> None:
        self.messages = 0
        self.bytes = 0
        self.seconds = 0.0
        """Time spent on exchanges, including waiting for other parts."""

    def count(self, payload: Payload) -> None:
        """Count one message."""
        self.messages += 1
        self.bytes += sum(array.nbytes for array in payload)


class PartExchange(ABC):
    """An exchange whose methods all build on one: every part sends something to every part.

    Parameters
    ----------
    rank : int
    size : int
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self.traffic = Traffic()

    @abstractmethod
    def _pass(self, outgoing: Sequence[Payload]) -> list[Payload]:
        """Send item i to part i, and return what each part has sent to this one."""

    def swap_all(self, outgoing: Sequence[Payload]) -> list[Payload]:
        """Do the same as `swap`, with several arrays per part."""
        began = time.perf_counter()
        for other, payload in enumerate(outgoing):
            if other != self.rank:
                self.traffic.count(payload)
        found = self._pass(outgoing)
        self.traffic.seconds += time.perf_counter() - began
        return found

    def swap(self, outgoing: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Send one array to each part, and return the arrays received, in the order of parts."""
        return [payload[0] for payload in self.swap_all([(array,) for array in outgoing])]

    def gather(self, array: np.ndarray) -> list[np.ndarray]:
        """Collect the arrays of all parts, in the order of parts; their lengths may differ."""
        return self.swap([array] * self.size)

    def sum(self, array: np.ndarray) -> np.ndarray:
        """Sum the arrays of all parts, in the order of parts.

        Large arrays are summed in ranges: each part then sends 2 (P - 1) / P times the bytes of the
        array instead of P - 1 times, in twice as many messages.
        """
        if self.size > 2 and array.nbytes >= _LARGE and array.dtype.kind in "iu":
            return self.sum_by_ranges(array.reshape(-1)).reshape(array.shape)
        found = self.gather(array.copy())
        total = found[0].copy()
        for other in found[1:]:
            total += other
        return total

    def sum_by_ranges(self, array: np.ndarray) -> np.ndarray:
        """Sum a large array of integers over all parts, one range of rows per part."""
        ends = [len(array) * i // self.size for i in range(self.size + 1)]
        pieces = [pack(array[ends[i] : ends[i + 1]]) for i in range(self.size)]
        shape = (ends[self.rank + 1] - ends[self.rank], *array.shape[1:])
        mine = np.zeros(shape, array.dtype)
        for payload in self.swap_all(pieces):
            add_packed(mine, payload)
        total = np.zeros_like(array)
        for i, payload in enumerate(self.swap_all([pack(mine)] * self.size)):
            add_packed(total[ends[i] : ends[i + 1]], payload)
        return total


def pack(array: np.ndarray) -> Payload:
    """Return an array of integers as it is, or as a list of nonzero entries if that is smaller."""
    flat = array.reshape(-1)
    if np.count_nonzero(flat) * _SPARSE >= flat.size:
        return (flat.copy(),)
    place = np.flatnonzero(flat)
    return place.astype(np.int32 if flat.size < 2**31 else np.int64), flat[place]


def add_packed(array: np.ndarray, payload: Payload) -> None:
    """Add the result of `pack` to a contiguous array of the same shape."""
    flat = array.reshape(-1)
    if len(payload) == 1:
        flat += payload[0]
    else:
        place, values = payload
        flat[place] += values


def narrow(array: np.ndarray) -> np.ndarray:
    """Convert integers to the smallest type that holds all of them.

    Examples
    --------
    >>> narrow(np.array([3, -200])).dtype
    dtype('int16')
    """
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return array.astype(kind)
    return array


class Hub:
    """Meeting point of the parts of one process."""

    def __init__(self, size: int) -> None:
        self.slots: list[Any] = [None] * size
        self.barrier = threading.Barrier(size)

    def stop(self) -> None:
        """Raise an error in all waiting parts: one of them has failed."""
        self.barrier.abort()


class ThreadExchange(PartExchange):
    """The exchange between parts that are threads of one process."""

    def __init__(self, rank: int, hub: Hub) -> None:
        super().__init__(rank, len(hub.slots))
        self._hub = hub

    def _pass(self, outgoing: Sequence[Payload]) -> list[Payload]:
        hub = self._hub
        hub.slots[self.rank] = outgoing
        try:
            hub.barrier.wait()
            found = [slot[self.rank] for slot in hub.slots]
            hub.barrier.wait()  # no slot is overwritten before all have read it
        except threading.BrokenBarrierError as error:
            raise StoppedError("Another part of the chain has failed.") from error
        return found
