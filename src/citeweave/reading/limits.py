"""What a file may ask for: a small one must not take the memory or the time of a large one."""

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
"""Cells of one row. Tables of words have thousands of columns, a bibliography some dozens."""

MOST_EXPANSION = 300
"""Bytes out of one packed byte, once `FREE_BYTES` have come. Text packs to a tenth or so."""

FREE_BYTES = 1 << 22

MOST_ROWS_A_BYTE = 1
"""Rows of a Parquet file for each of its bytes, once there are `FREE_ROWS`."""

FREE_ROWS = 100_000

MOST_BLANK_LINES = 1_000_000
"""Lines without anything in them, one after the other."""

_QUOTED = re.compile(r'"[^"]*"')


def unpacks_too_much(packed: int, unpacked: int) -> bool:
    """Tell whether so many unpacked bytes are more than packed text can hold.

    Examples
    --------
    >>> unpacks_too_much(10_000, 1_000_000), unpacks_too_much(60_000, 60_000_000)
    (False, True)
    """
    return unpacked > most_unpacked(packed)


def most_unpacked(packed: int) -> int:
    """Return the most bytes that so many packed ones may become."""
    return max(FREE_BYTES, MOST_EXPANSION * packed)


def has_too_many_columns(line: str, delimiter: str) -> bool:
    """Tell whether a line has more cells than any table, commas inside quotation marks apart."""
    if line.count(delimiter) < MOST_COLUMNS:
        return False
    return _QUOTED.sub("", line).count(delimiter) >= MOST_COLUMNS
