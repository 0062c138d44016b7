"""Tables inside the page: CSV text as data: addresses that a link saves as a file."""

from __future__ import annotations

import base64
import csv
import io
from typing import TYPE_CHECKING

from citeweave.explore.frames import defuse
from citeweave.web.report.contents import Download

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["csv_download", "csv_text"]


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Write rows as CSV: UTF-8 with a mark for spreadsheets, None as an empty cell.

    A text that a spreadsheet would take for a formula (a title such as ``=1+1``) gets an
    apostrophe in front: tables of a mailed page are opened without a second thought.

    Examples
    --------
    >>> csv_text(["title", "cited"], [["=A1", 3], ["Soil, and water", None]])
    '\ufefftitle,cited\r\n\'=A1,3\r\n"Soil, and water",\r\n'
    """
    out = io.StringIO()
    out.write("\ufeff")
    writer = csv.writer(out)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return defuse(value) if isinstance(value, str) else value


def csv_download(
    file: str,
    name: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    note: str = "",
) -> Download:
    """Make the link that saves a table.

    Parameters
    ----------
    file : str
        Name of the file that a browser proposes.
    name : str
        What the link says.
    columns, rows
        The table.
    note : str
        What was left out, if anything was.
    """
    content = csv_text(columns, rows).encode()
    address = f"data:text/csv;charset=utf-8;base64,{base64.b64encode(content).decode()}"
    return Download(file, name, address, len(content), note)
