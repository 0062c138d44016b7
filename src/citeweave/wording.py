"""Formatting of numbers and names for pages, reports, tables and pictures."""

import math
from collections.abc import Sequence

__all__ = [
    "NBSP",
    "UNKNOWN",
    "count",
    "number",
    "people",
    "percent",
    "printable",
    "quoted",
    "short_number",
    "size_text",
]

NBSP = "\u00a0"
"""Non-breaking space."""

UNKNOWN = "–"
"""Placeholder for unknown values."""


def percent(
    share: float | None, digits: int = 1, *, signed: bool = False, unknown: str = UNKNOWN
) -> str:
    """Format a share as a percentage, with a non-breaking space.

    Examples
    --------
    >>> [percent(x).replace(NBSP, " ") for x in (0.1234, 0.0004, 1.0, None)]
    ['12.3 %', '< 0.1 %', '100.0 %', '–']
    >>> percent(-0.021, signed=True).replace(NBSP, " ")
    '−2.1 %'
    """
    if share is None or math.isnan(share):
        return unknown
    if not signed and 0 < share < 0.5 * 10.0 ** -(digits + 2):
        return f"<{NBSP}{10.0**-digits:.{digits}f}{NBSP}%"
    sign = "+" if signed else ""
    return f"{100 * share:{sign}.{digits}f}{NBSP}%".replace("-", "−")


def number(value: float | None, digits: int | None = None, *, unknown: str = UNKNOWN) -> str:
    """Format a number with thousands separators; a dash if it is unknown.

    Examples
    --------
    >>> number(12345), number(-2.345, 1), number(None), number(float("inf"), 2)
    ('12,345', '−2.3', '–', '∞')
    """
    if value is None or math.isnan(value):
        return unknown
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:,}" if digits is None else f"{value:,.{digits}f}"
    return text.replace("-", "−")


def short_number(value: float, digits: int = 4) -> str:
    """Format a number in a few characters, with letters for thousands and millions.

    Examples
    --------
    >>> [short_number(value) for value in (0, 1500, 25_000, -1_250_000, 0.25)]
    ['0', '1500', '25k', '−1.25M', '0.25']
    """
    if not math.isfinite(value):
        return number(value)
    size = abs(value)
    for least, unit, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if size >= least:
            return f"{value / unit:.{digits}g}{letter}".replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−")


def count(value: int, one: str, many: str | None = None) -> str:
    """Format a number with its noun.

    Examples
    --------
    >>> count(1, "paper"), count(1500, "paper"), count(2, "category", "categories")
    ('1 paper', '1,500 papers', '2 categories')
    """
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def quoted(name: str) -> str:
    """Put the name of a topic, which often contains commas, in quotation marks."""
    return f"“{name}”"


def people(names: Sequence[str], most: int = 3) -> str:
    """Format author names: all if there are few, otherwise the first and the number of others.

    Examples
    --------
    >>> people(["Ann Lee", "Bo Chen"]), people(["A", "B", "C", "D"]), people([])
    ('Ann Lee, Bo Chen', 'A and 3 others', 'authors unknown')
    """
    if len(names) > most:
        return f"{names[0]} and {len(names) - 1} others"
    return ", ".join(names) or "authors unknown"


_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r"}
_CONTROLS |= dict.fromkeys(range(0xD800, 0xE000))


def printable(text: str) -> str:
    r"""Remove control characters and lone surrogates, which are unsafe on pages and terminals.

    Examples
    --------
    >>> printable("a\x00b\x1b[31m")
    'ab[31m'
    """
    return text.translate(_CONTROLS)


def size_text(size: float) -> str:
    """Format a number of bytes.

    Examples
    --------
    >>> size_text(812), size_text(48_300), size_text(3_210_000)
    ('812 bytes', '48 kB', '3.2 MB')
    """
    if size < 1000:
        return f"{size:.0f} bytes"
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
