"""Tables as polars data frames, as pandas ones on request, and as CSV."""

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from citeweave.errors import MissingDependencyError
from citeweave.installing import install_package
from citeweave.wording import printable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Columns", "defuse", "flatten_lists", "make_frame", "to_csv"]

Columns = Mapping[str, tuple[str, Sequence[Any] | Any]]
"""By name: a type ("int", "float", "text", "ints", "floats", "texts") and the values."""

# characters that spreadsheets skip before a formula, then those that begin one, also full-width
_FORMULA = re.compile(r"[\s\x00-\x1f\u200b-\u200f\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]")


def _polars() -> Any:
    try:
        import polars  # noqa: ICN001, PLC0415 (half a second that numbers alone need not wait for)
    except ImportError as error:
        raise MissingDependencyError(
            f"Tables need polars, which is not installed: {install_package('polars')}"
        ) from error
    return polars


def make_frame(columns: Columns, *, pandas: bool = False) -> Any:
    """Make a data frame whose columns and types are the same even if values are missing."""
    polars = _polars()
    types = {
        "int": polars.Int64,
        "float": polars.Float64,
        "single": polars.Float32,
        "text": polars.String,
        "bool": polars.Boolean,
        "ints": polars.List(polars.Int64),
        "floats": polars.List(polars.Float64),
        "texts": polars.List(polars.String),
    }
    frame = polars.DataFrame(
        [
            polars.Series(name, values, dtype=types[kind], strict=False)
            for name, (kind, values) in columns.items()
        ]
    )
    return to_pandas(frame) if pandas else frame


def to_pandas(frame: "pl.DataFrame") -> Any:
    """Convert a frame to pandas, if it is installed; column by column, without pyarrow."""
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise MissingDependencyError(
            f"A pandas table needs pandas, which is not installed: {install_package('pandas')}. "
            "Without pandas=True, a polars table is returned."
        ) from error
    columns = {}
    for column in frame.iter_columns():
        plain = column.dtype.is_numeric() and not column.null_count()
        columns[column.name] = column.to_numpy() if plain else column.to_list()
    return pandas.DataFrame(columns)


def flatten_lists(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Join lists by "; " and round the numbers in them, so that a table fits into CSV.

    Parameters
    ----------
    frame : polars DataFrame

    Returns
    -------
    polars DataFrame

    Examples
    --------
    >>> import polars
    >>> from citeweave.explore import flatten_lists
    >>> frame = polars.DataFrame({"name": ["soil"], "words": [["crop", "yield"]]})
    >>> flatten_lists(frame)["words"].to_list()
    ['crop; yield']
    """
    polars = _polars()
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, polars.List)]
    joined = []
    for name in lists:
        column = polars.col(name)
        if frame.schema[name].inner.is_float():  # type: ignore[attr-defined]
            column = column.list.eval(polars.element().round(6))
        # empty for missing values, so that years keep their positions
        text = polars.element().cast(polars.String).fill_null("")
        joined.append(column.list.eval(text).list.join("; "))
    return frame.with_columns(joined)


def defuse(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run as a formula.

    Titles come from bibliographies: a title that begins with ``=`` must stay a title.

    Examples
    --------
    >>> defuse("=1+1"), defuse("One and one")
    ("'=1+1", 'One and one')
    """
    return f"'{text}" if _FORMULA.match(text) else text


def to_csv(frame: "pl.DataFrame") -> str:
    """Write a table as CSV, with lists joined and texts made safe for spreadsheets.

    Numbers, including negative ones, are written unchanged.

    Parameters
    ----------
    frame : polars DataFrame

    Returns
    -------
    str

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration, to_csv
    >>> table = Exploration(citeweave.example_model()).topics()
    >>> to_csv(table.select("topic", "category")).splitlines()[0]
    'topic,category'
    """
    polars = _polars()
    texts = [
        name
        for name, kind in frame.schema.items()
        if kind in (polars.String, polars.List(polars.String))
    ]
    flat = flatten_lists(frame)
    safe = [
        polars.Series(
            name, [None if text is None else defuse(printable(text)) for text in flat[name]]
        )
        for name in texts
    ]
    return flat.with_columns(safe).write_csv()
