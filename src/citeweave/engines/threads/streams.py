"""One random stream per document, which depends only on a key and the document's number."""

import numpy as np

from citeweave.compiled import inlined, numba_config
from citeweave.engines.core.random import advance

__all__ = ["CITATIONS", "WORDS", "next_key", "open_stream"]

WORDS = 0
CITATIONS = 1
"""Purpose of a stream: a document has one for its words and one for its citations."""

_GOLDEN = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
_MASK = (1 << 64) - 1

if numba_config.DISABLE_JIT:

    def _mix(value):
        """Do the same with Python integers, because NumPy scalars warn if uint64 overflows."""
        value = int(value) & _MASK
        value = ((value ^ (value >> 30)) * _FIRST) & _MASK
        value = ((value ^ (value >> 27)) * _SECOND) & _MASK
        return value ^ (value >> 31)

    def open_stream(key, purpose, document, rng):
        """Fill ``rng`` (uint64 [4]) with the start of a document's stream."""
        start = _mix(int(key) + _GOLDEN * (2 * int(document) + int(purpose) + 1))
        for i in range(4):
            rng[i] = _mix(start + _GOLDEN * (i + 1))

else:

    @inlined
    def _mix(value):
        """Apply SplitMix64's finaliser: every output bit depends on every input bit."""
        value = (value ^ (value >> np.uint64(30))) * np.uint64(_FIRST)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(_SECOND)
        return value ^ (value >> np.uint64(31))

    @inlined
    def open_stream(key, purpose, document, rng):
        """Fill ``rng`` (uint64 [4]) with the start of a document's stream.

        The generator is xoshiro256++. Its initial state is the output of SplitMix64 at position
        (document, purpose) of the sequence of ``key``, so streams can be opened in any order.
        """
        place = np.uint64(2) * np.uint64(document) + np.uint64(purpose) + np.uint64(1)
        start = _mix(np.uint64(key) + np.uint64(_GOLDEN) * place)
        for i in range(4):
            rng[i] = _mix(start + np.uint64(_GOLDEN) * np.uint64(i + 1))


def next_key(random: np.ndarray) -> np.uint64:
    """Draw 64 bits from the chain's own generator (xoshiro256++), in plain Python."""
    state = random.tolist()
    result = advance(state)
    random[:] = np.array(state, np.uint64)
    return np.uint64(result)
