"""Resource limits: a small file must not use the memory or the time of a large one."""

import re

__all__ = [
    "FREE_ROWS",
    "MOST_BLANK_LINES",
    "MOST_COLUMNS",
    "MOST_EXPANSION",
    "MOST_ROWS_A_BYTE",
    "has_too_many_columns",
    "most_unpacked",
    "unpacks_too_much",
]

MOST_COLUMNS = 20_000
"""Maximum cells per row. Word tables have thousands of columns, bibliographies a few dozen."""

MOST_EXPANSION = 300
"""Maximum bytes per compressed byte, beyond `FREE_BYTES`. Text compresses to about a tenth."""

FREE_BYTES = 1 << 22

MOST_ROWS_A_BYTE = 1
"""Maximum rows of a Parquet file per byte, beyond `FREE_ROWS`."""

FREE_ROWS = 100_000

MOST_BLANK_LINES = 1_000_000
"""Maximum number of consecutive empty lines."""

_QUOTED = re.compile(r'"[^"]*"')


def unpacks_too_much(packed: int, unpacked: int) -> bool:
    """Return whether the unpacked size is implausible for compressed text.

    Examples
    --------
    >>> unpacks_too_much(10_000, 1_000_000), unpacks_too_much(60_000, 60_000_000)
    (False, True)
    """
    return unpacked > most_unpacked(packed)


def most_unpacked(packed: int) -> int:
    """Return the largest plausible unpacked size for a compressed size."""
    return max(FREE_BYTES, MOST_EXPANSION * packed)


def has_too_many_columns(line: str, delimiter: str) -> bool:
    """Return whether a line has too many cells, ignoring commas inside quotation marks."""
    if line.count(delimiter) < MOST_COLUMNS:
        return False
    return _QUOTED.sub("", line).count(delimiter) >= MOST_COLUMNS
