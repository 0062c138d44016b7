"""The import report as one self-contained, printable page without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from citeweave.preparing.sections import Cell, Section, sections

if TYPE_CHECKING:
    from citeweave.preparing.report import Report

__all__ = ["NARROW", "html_page"]

MOST_ROWS = 300
"""Maximum rows per table, to keep the page usable; the JSON report has all rows."""

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2326; --paper: #fdfdfb; --soft: #5b676c;
  --line: #d9dedd; --band: #f1f4f2; --mark: #0b6e69; --warn: #8a4b00; --warn-band: #fdf3e4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaea; --paper: #14191b; --soft: #9aa7ab;
  --line: #333d40; --band: #1c2326; --mark: #5cc8c0; --warn: #f0b56a; --warn-band: #2b2216; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.25rem 4rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 0 0 .5rem; }
p { margin: .4rem 0; } .soft { color: var(--soft); font-size: .92rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr));
  gap: .75rem; margin: 1.5rem 0; padding: 0; list-style: none; }
.figures li { border-top: 2px solid var(--mark); padding-top: .4rem; }
.figures b { display: block; font-size: 1.5rem; line-height: 1.15;
  font-variant-numeric: tabular-nums; }
.grid { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 2rem 2.5rem; }
section { min-width: 0; } section.wide { grid-column: 1 / -1; }
#warnings { background: var(--warn-band); border-left: 3px solid var(--warn);
  padding: .75rem 1rem; margin: 1.5rem 0; }
#warnings ul { margin: 0; padding-left: 1.1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 500; overflow-wrap: normal; }
th:last-child, td:last-child { padding-right: 0; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tr.sum td { font-weight: 650; background: var(--band); }
@media (max-width: 44rem) { .grid { grid-template-columns: minmax(0, 1fr); gap: 1.75rem; }
  body { padding-top: 1.25rem; } .scroll.many table { min-width: 36rem; } }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } .scroll { overflow: visible; }
  h2, tr { break-inside: avoid; break-after: auto; } h2 { break-after: avoid; } }
"""

NARROW = frozenset(
    ("documents", "contents", "query", "authors", "citations", "vocabulary", "phrases", "excluded")
)
"""Sections that are shown in two columns."""


def html_page(report: Report) -> str:
    """Render a report as an HTML page.

    All text from files is escaped. The page loads nothing and runs no scripts, which its own
    content security policy enforces.

    Examples
    --------
    >>> from citeweave.preparing import html_page, prepare
    >>> from citeweave.reading import Record, Source
    >>> report = prepare([Record("w1", Source("x", 1), title="Decision tree pruning")]).report
    >>> html_page(report)[:15]
    '<!doctype html>'
    """
    values = report.as_dict()
    made = sections(report)
    warnings = next((section for section in made if section.key == "warnings"), None)
    names = [file["file"] for file in values["files"] if file["read"]]
    title = f"Import of {_names(names)}"
    figures = [
        (values["documents"], "documents"),
        (values["authors"], "authors"),
        (values["citations_matched"], "citations within the corpus"),
        (values["vocabulary"], "words and phrases"),
        (values["records_skipped"], "records skipped"),
    ]
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    made_by = f"citeweave {values['citeweave']}, {str(values['created']).replace('T', ' ')}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p class=soft>{escape(made_by)}</p>",
        "<ul class=figures>",
        *(f"<li><b>{number:,}</b> {escape(name)}</li>" for number, name in figures),
        "</ul>",
    ]
    if warnings is not None:
        items = "".join(f"<li>{escape(str(row[0]))}</li>" for row in warnings.rows)
        body.append(
            f"<section id=warnings><h2>{escape(warnings.title)}</h2><ul>{items}</ul></section>"
        )
    body.append("<div class=grid>")
    body += [_section(section) for section in made if section.key != "warnings"]
    body.append("</div>")
    if values["settings_changed"]:
        changed = "; ".join(f"{k} = {v!r}" for k, v in values["settings_changed"].items())
        body.append(f"<p class=soft>Settings that differ from the defaults: {escape(changed)}</p>")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _names(names: list[str], most: int = 3) -> str:
    short = [name.replace("\\", "/").rsplit("/", 1)[-1] for name in names]
    if len(short) > most:
        return f"{', '.join(short[:most])} and {len(short) - most} more files"
    return ", ".join(short) or "records"


def _section(section: Section) -> str:
    numeric = section.numeric
    head = ""
    if any(section.columns):
        cells = "".join(
            f"<th scope=col{' class=n' if right else ''}>{escape(name)}</th>"
            for name, right in zip(section.columns, numeric, strict=True)
        )
        head = f"<thead><tr>{cells}</tr></thead>"
    rows = []
    for number, row in enumerate(section.rows[:MOST_ROWS]):
        cells = "".join(
            f"<td{' class=n' if right else ''}>{escape(cell_text(cell))}</td>"
            for cell, right in zip(row, numeric, strict=True)
        )
        rows.append(f"<tr{' class=sum' if number in section.emphasis else ''}>{cells}</tr>")
    left = section.total_rows - len(rows)
    note = section.note
    if left > 0:
        note = f"{note} And {left:,} more.".strip()
    wide = "" if section.key in NARROW else " class=wide"
    many = " many" if len(section.columns) > 4 else ""
    return (
        f"<section id={escape(section.key)}{wide}><h2>{escape(section.title)}</h2>"
        f'<div class="scroll{many}"><table>{head}<tbody>{"".join(rows)}</tbody></table></div>'
        + (f"<p class=soft>{escape(note)}</p>" if note else "")
        + "</section>"
    )


def cell_text(cell: Cell) -> str:
    """Format a cell: numbers with separators and a minus sign, empty for None.

    Examples
    --------
    >>> cell_text(-12345), cell_text(3.5), cell_text(None), cell_text("a b")
    ('−12,345', '3.5', '', 'a b')
    """
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    return f"{cell:,}".replace("-", "−")
