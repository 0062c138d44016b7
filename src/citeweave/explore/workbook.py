"""Tables as Excel workbooks, one sheet per table."""

import io
import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from citeweave.errors import MissingDependencyError, ParameterError
from citeweave.explore.frames import defuse, flatten_lists
from citeweave.installing import install_extra
from citeweave.wording import printable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MOST_ROWS", "to_xlsx"]

MOST_ROWS = 1_048_575
"""Maximum number of rows of an Excel sheet, without the header."""

_MOST_CHARACTERS = 32_767
_LONGEST_NAME = 31
_FORBIDDEN_IN_NAMES = re.compile(r"[\[\]:*?/\\]")
# XML allows none of these, though `printable` keeps them
_NO_XML = re.compile("[\ufffe\uffff]")


def to_xlsx(tables: "Mapping[str, pl.DataFrame]") -> bytes:
    """Write tables as one Excel workbook.

    Lists are joined and texts made safe as in `to_csv`; no cell is a formula. Texts are cut to the
    32,767 characters that a cell can hold.

    Parameters
    ----------
    tables : mapping of str to polars.DataFrame
        The tables by the names of their sheets.

    Returns
    -------
    bytes
        The content of an ``.xlsx`` file.

    Raises
    ------
    ParameterError
        If there is no table, or one has more rows than a sheet holds.

    Examples
    --------
    >>> import polars as pl
    >>> to_xlsx({"topics": pl.DataFrame({"topic": [0], "words": [["soil", "crop"]]})})[:2]
    b'PK'
    """
    try:
        import openpyxl  # noqa: PLC0415  of the extra 'excel'
        from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415
        from openpyxl.styles import Font  # noqa: PLC0415
    except ImportError as error:
        raise MissingDependencyError(
            "Excel workbooks need openpyxl, which is not installed. "
            f"Run: {install_extra('excel')}, or write CSV or Parquet."
        ) from error
    if not tables:
        raise ParameterError("A workbook needs at least one table. Got none instead.")
    book = openpyxl.Workbook(write_only=True)
    for name, title in zip(tables, _sheet_names(tables), strict=True):
        frame = tables[name]
        if len(frame) > MOST_ROWS:
            raise ParameterError(
                f"The table {name!r} has {len(frame):,} rows; a sheet of Excel holds "
                f"{MOST_ROWS:,}. Write it as CSV or Parquet."
            )
        sheet = book.create_sheet(title)
        sheet.freeze_panes = "A2"
        for place, column in enumerate(frame.columns, start=1):
            letter = openpyxl.utils.get_column_letter(place)
            sheet.column_dimensions[letter].width = _width(column, frame)
        heads = []
        for column in frame.columns:
            head = WriteOnlyCell(sheet, value=_text(column))
            head.font = Font(bold=True)
            heads.append(head)
        sheet.append(heads)
        for row in flatten_lists(frame).iter_rows():
            sheet.append([_value(cell) for cell in row])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _sheet_names(tables: Mapping[str, Any]) -> Iterator[str]:
    """Return names of sheets that Excel accepts: short, unique, without special characters."""
    used: set[str] = set()
    for name in tables:
        base = _FORBIDDEN_IN_NAMES.sub(" ", printable(name)).strip(" '") or "table"
        title = base[:_LONGEST_NAME]
        number = 2
        while title.lower() in used:
            end = f" ({number})"
            title = base[: _LONGEST_NAME - len(end)] + end
            number += 1
        used.add(title.lower())
        yield title


def _width(column: str, frame: "pl.DataFrame") -> int:
    """Return a width that shows most of the first values."""
    shown = (str(value) for value in frame[column].head(20).to_list())
    return min(max(8, len(column), *map(len, shown)) + 2, 60)


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _text(text: str) -> str:
    safe = defuse(_NO_XML.sub("", printable(text)))
    return safe if len(safe) <= _MOST_CHARACTERS else safe[: _MOST_CHARACTERS - 1] + "…"
