"""Outcomes as files: JSON for programs, Markdown for readers, CSV for each picture."""

from __future__ import annotations

import csv
import io
import math
import textwrap
from typing import TYPE_CHECKING, Any

from reproduction.base import Cell, Spread, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reproduction.base import Outcome

__all__ = [
    "FORMAT",
    "cell_text",
    "is_numeric",
    "markdown_page",
    "markdown_table",
    "outcome_to_json",
    "table_from_json",
    "table_to_csv",
]

FORMAT = 1
"""Version of the JSON files, increased when old ones can no longer be read."""


def outcome_to_json(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as JSON-serialisable values; nan becomes null."""
    return {
        "title": outcome.title,
        "protocol": outcome.protocol,
        "tables": [table_to_json(table) for table in outcome.tables],
        "figures": [
            {
                "name": figure.name,
                "caption": figure.caption,
                "drawing": figure.drawing,
                "data": _plain(figure.data),
                "table": table_to_json(figure.table),
            }
            for figure in outcome.figures
        ],
        "notes": list(outcome.notes),
        "seeds": [int(seed) for seed in outcome.seeds],
        "facts": _plain(outcome.facts),
    }


def table_to_json(table: Table) -> dict[str, Any]:
    """Return a table as JSON-serialisable values; a spread is an object of mean, sd and n."""
    return {
        "title": table.title,
        "columns": list(table.columns),
        "rows": [[_cell_to_json(cell) for cell in row] for row in table.rows],
        "decimals": dict(table.decimals),
        "notes": list(table.notes),
        "signed": list(table.signed),
    }


def table_from_json(content: Mapping[str, Any]) -> Table:
    """Read a table that `table_to_json` wrote."""
    return Table(
        title=content["title"],
        columns=tuple(content["columns"]),
        rows=tuple(tuple(_cell_from_json(cell) for cell in row) for row in content["rows"]),
        decimals=content["decimals"],
        notes=tuple(content["notes"]),
        signed=tuple(content["signed"]),
    )


def _cell_to_json(cell: Cell) -> Any:
    if isinstance(cell, Spread):
        sd = None if cell.sd is None else _plain(cell.sd)
        return {"mean": _plain(cell.mean), "sd": sd, "n": int(cell.n)}
    return _plain(cell)


def _cell_from_json(cell: Any) -> Cell:
    if isinstance(cell, dict):
        mean = math.nan if cell["mean"] is None else cell["mean"]
        return Spread(mean, cell["sd"], cell["n"])
    value: Cell = cell
    return value


def _plain(value: Any) -> Any:
    """Convert numbers and arrays of NumPy to Python, and nan to None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def cell_text(cell: Cell, decimals: int = 3, *, signed: bool = False) -> str:
    """Return the text of a cell.

    Examples
    --------
    >>> cell_text(2708), cell_text(0.5), cell_text(Spread(688.04, 15.7), 1), cell_text(None)
    ('2,708', '0.500', '688.0 ± 15.7', '–')
    >>> cell_text(-12.3, 1, signed=True), cell_text(0.0, 1, signed=True)
    ('−12.3', '0.0')
    """
    if cell is None:
        return "–"
    if isinstance(cell, Spread):
        mean = cell_text(cell.mean, decimals, signed=signed)
        return mean if cell.sd is None else f"{mean} ± {cell.sd:,.{decimals}f}"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        return cell
    if not math.isfinite(cell):
        return "–"
    text = f"{cell:,}" if isinstance(cell, int) else f"{cell:,.{decimals}f}"
    value = float(text.replace(",", ""))
    if value == 0:
        return text.lstrip("-")  # no minus zero
    return f"+{text}" if signed and value > 0 else text.replace("-", "−")


def markdown_table(table: Table, *, level: int = 3) -> str:
    """Return a table in Markdown, with its title above and its notes below."""
    numeric = [is_numeric(table, place) for place in range(len(table.columns))]
    lines = [f"{'#' * level} {_escape(table.title)}", ""]
    lines.append(f"| {' | '.join(_escape(name) for name in table.columns)} |")
    lines.append(f"|{'|'.join('--:' if right else '---' for right in numeric)}|")
    for row in table.rows:
        cells = [
            _escape(cell_text(cell, table.decimals.get(name, 3), signed=name in table.signed))
            for name, cell in zip(table.columns, row, strict=True)
        ]
        lines.append(f"| {' | '.join(cells)} |")
    if not table.rows:
        lines += ["", "No rows: see the notes."]
    if table.notes:
        lines += ["", *(f"- {_escape(note)}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def is_numeric(table: Table, place: int) -> bool:
    """Whether a column contains only numbers and dashes."""
    cells = [row[place] for row in table.rows if row[place] is not None]
    return bool(cells) and all(
        isinstance(cell, int | float | Spread) and not isinstance(cell, bool) for cell in cells
    )


def _escape(text: str) -> str:
    """Escape a text so that it stays in its cell."""
    flat = " ".join(text.split())
    for sign in ("\\", "|", "<", "*", "_", "`"):
        flat = flat.replace(sign, f"\\{sign}")
    return flat


def table_to_csv(table: Table) -> str:
    """Write a table as CSV; a spread takes two columns, mean and sd."""
    spreads = [
        any(isinstance(row[place], Spread) for row in table.rows)
        for place in range(len(table.columns))
    ]
    heads: list[str] = []
    for name, is_spread in zip(table.columns, spreads, strict=True):
        heads += [name, f"{name} (sd)"] if is_spread else [name]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    for row in table.rows:
        cells: list[Any] = []
        for cell, is_spread in zip(row, spreads, strict=True):
            if isinstance(cell, Spread):
                cells += [cell.mean, cell.sd]
            else:
                cells += [cell, None] if is_spread else [cell]
        writer.writerow(["" if cell is None else cell for cell in cells])
    return text.getvalue()


def markdown_page(
    content: Mapping[str, Any], pictures: Mapping[str, Sequence[str]], *, level: int = 1
) -> str:
    """Write the page of an experiment from its JSON.

    Parameters
    ----------
    content : mapping
        The JSON file.
    pictures : mapping
        File names by figure; a figure without a picture is shown as its CSV with a hint.
    level : int
        Level of its first heading.
    """
    head = "#" * level
    parts = [f"{head} {content['title']}\n", f"{_line(content)}\n"]
    if content["quick"]:
        parts.append("**Made with `--quick`: the figures show that it works, not how well.**\n")
    paragraphs = content["protocol"].strip().split("\n\n")
    parts += [f"{textwrap.fill(' '.join(text.split()), 100)}\n" for text in paragraphs]
    tables = [table_from_json(table) for table in content["tables"]]
    parts += [markdown_table(table, level=level + 1) for table in tables]
    for figure in content["figures"]:
        parts.append(_figure(figure, pictures.get(figure["name"], ())))
    if content["notes"]:
        parts.append("\n".join(f"- {note}" for note in content["notes"]) + "\n")
    parts.append(f"{_colophon(content)}\n")
    return "\n".join(parts)


def _line(content: Mapping[str, Any]) -> str:
    return f"*{content['what']} In the paper: `{content['label']}`.*"


def _figure(figure: Mapping[str, Any], files: Sequence[str]) -> str:
    shown = sorted(name for name in files if name.endswith((".png", ".svg")))  # PNG first
    links = ", ".join(f"[{name.rpartition('.')[2].upper()}]({name})" for name in files)
    if shown:
        return f"![{_escape(figure['caption'])}]({shown[0]})\n\n{figure['caption']} ({links})\n"
    hint = (
        "The picture needs matplotlib: `pip install '.[plot]'`, then "
        "`python -m reproduction page` draws it from the JSON file."
    )
    return f"{figure['caption']} ({links}) {hint}\n"


def _colophon(content: Mapping[str, Any]) -> str:
    """Return the origin of the figures, as small print."""
    machine = content["machine"]
    memory = f", {machine['memory_gib']} GiB" if machine["memory_gib"] else ""
    cores = f"{machine['cores']} core{'s' if machine['cores'] != 1 else ''}"
    seeds = ", ".join(map(str, content["seeds"])) or "none"
    named = ", ".join(f"{name} {number}" for name, number in content["versions"].items())
    sets = "; ".join(
        f"{name} ({facts['documents']:,} papers, fingerprint {facts['fingerprint'][:12]})"
        for name, facts in content["corpora"].items()
    )
    lines = [
        f"Made by `{content['command']}` on {content['date']} in {_duration(content['seconds'])}.",
        f"Seeds: {seeds}. Versions: {named}. Machine: {cores}, {machine['processor']}{memory}.",
    ]
    ran = content.get("ran", {})
    if ran:
        fits = [
            f"{found['fits']:,} on {place} ({_duration(found['seconds'])})"
            for place, found in ran.items()
        ]
        lines.append(f"Fits, with their time in all: {'; '.join(fits)}.")
    if sets:
        lines.append(f"Corpora: {sets}.")
    return f"<sub>{' '.join(lines)}</sub>"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
