"""What a page made with ``--finished`` says about work that is not finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.context import PARTS
from reproduction.measuring import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reproduction.base import Cell, Table
    from reproduction.context import Context

__all__ = ["notes_on_missing"]

WHOLE = PARTS["whole"]
ORIGIN, OURS = "figures from", "here"
"""Column with the origin of figures, and what it says of those that are not published ones."""
COLUMNS = {PARTS["held-out-words"]: "held out", PARTS["links"]: "AUC"}
"""Columns with figures of a part, where a row has those of others too."""


def notes_on_missing(context: Context, tables: Sequence[Table]) -> list[str]:
    """Return a note on fits that are missing from the tables of a page.

    Figures that an earlier page of the same release had are there, so they are not listed.
    """
    counted = {}
    for what, (lacking, n) in context.missing.items():
        there = context.earlier is not None and lacking == n and _is_there(what, tables)
        counted[what] = [0 if there else lacking, n]
    told: dict[str, list[int]] = {}
    for what, counts in counted.items():
        first, *model, last = what.split(", ")
        mates = [n for w, n in counted.items() if _is_alike(w, first, last)]
        # if nothing of a set is finished, its models are not listed individually
        together = bool(model) and len(mates) > 1 and all(done == n for done, n in mates)
        entry = told.setdefault(f"{first}, all models, {last}" if together else what, [0, 0])
        for place, count in enumerate(counts):
            entry[place] += count
    listed = [
        f"{what} ({missing} of {total})" for what, (missing, total) in told.items() if missing
    ]
    then = "left out" if context.earlier is None else "taken from earlier releases or left out"
    return [f"Not finished, and {then}: {'; '.join(listed)}."] if listed else []


def _is_alike(what: str, first: str, last: str) -> bool:
    return what.startswith(f"{first}, ") and what.endswith(f", {last}")


def _is_there(what: str, tables: Sequence[Table]) -> bool:
    """Return whether the tables show figures of something, in a row without a mark.

    ``what`` is a set and a model, and how the model was measured if there are several ways.
    """
    part = next((part for part in PARTS.values() if what.endswith(f", {part}")), "")
    name, _, model = what.removesuffix(f", {part}").partition(", ")
    for table in tables:
        if table.title.startswith("Chains"):
            continue  # how chains ran, not what they gave
        if (part == WHOLE) != table.title.startswith("Whole"):
            continue
        own = shown(name) in table.title
        for row in table.rows:
            if not ((own and row[0] == model) or list(row[:2]) == [name, model]):
                continue
            cells = dict(zip(table.columns, row, strict=True))
            if cells.get(ORIGIN, OURS) == OURS:
                return _has_figures(cells, COLUMNS.get(part, ""))
    return False


def _has_figures(cells: Mapping[str, Cell], wanted: str) -> bool:
    """Return whether a row has figures of ours in columns of this name."""
    return any(
        cell is not None and not isinstance(cell, str)
        for column, cell in cells.items()
        if wanted in column and not column.startswith("paper, ")
    )
