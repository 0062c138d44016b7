"""Small escaped HTML tables, for the representation of objects in notebooks."""

import html
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["html_table"]


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, caption: str = "") -> str:
    """Return an HTML table with left-aligned text and right-aligned numbers.

    Parameters
    ----------
    columns : sequence of str
        Column names; a name that starts with ``#`` marks a numeric column.
    rows : iterable of sequences
        Texts and formatted numbers; they are escaped here.
    caption : str

    Examples
    --------
    >>> html_table(["name", "#papers"], [["<b>", "7"]]).count("&lt;b&gt;")
    1
    """
    sides = ["right" if name.startswith("#") else "left" for name in columns]
    head = "".join(
        f'<th style="text-align:{side}">{html.escape(name.removeprefix("#"))}</th>'
        for name, side in zip(columns, sides, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{side}">{html.escape(str(cell))}</td>'
            for cell, side in zip(row, sides, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    shown = f"<thead><tr>{head}</tr></thead>" if any(columns) else ""
    return f"<table>{title}{shown}<tbody>{body}</tbody></table>"
