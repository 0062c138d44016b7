"""Numbers and names in sentences: with units that stay on their line, and names that stand out."""

__all__ = ["NBSP", "count", "people", "percent", "quoted"]

NBSP = "\u00a0"
"""A space at which no line breaks."""


def percent(share: float, digits: int = 0) -> str:
    """Write a share as a percentage, on one line.

    Examples
    --------
    >>> percent(0.1234, 1).replace(NBSP, " "), percent(1.0).replace(NBSP, " ")
    ('12.3 %', '100 %')
    """
    return f"{100 * share:.{digits}f}{NBSP}%"


def count(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> count(1, "paper"), count(1500, "paper")
    ('1 paper', '1,500 papers')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def quoted(name: str) -> str:
    """Put a topic's name, which often has commas, between quotation marks."""
    return f"“{name}”"


def people(names: list[str]) -> str:
    """Name authors: up to three, or the first one and how many more.

    Examples
    --------
    >>> people(["Ann Lee", "Bo Chen"]), people(["A", "B", "C", "D"]), people([])
    ('Ann Lee, Bo Chen', 'A and 3 others', 'authors unknown')
    """
    if len(names) > 3:
        return f"{names[0]} and {len(names) - 1} others"
    return ", ".join(names) or "authors unknown"
