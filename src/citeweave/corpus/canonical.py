"""Values of columns as bytes, for fingerprints."""

from typing import TYPE_CHECKING, Any

from citeweave.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

__all__ = ["canonical_bytes", "canonical_column"]

_NONE = "5:NNone"


def canonical_bytes(values: "Sequence[Any]") -> bytes:
    """Return bytes that differ if values or their types differ.

    Examples
    --------
    >>> canonical_bytes(["one", 2, None, ["a"]])
    b'4:sone2:i25:NNone5:l2:sa'
    """
    parts = [b"s" + v.encode() if type(v) is str else _canonical(v) for v in values]
    return b"".join([b"%d:%b" % (len(part), part) for part in parts])


def _canonical(value: object) -> bytes:
    if isinstance(value, str):
        return b"s" + value.encode()
    if isinstance(value, list):
        return b"l" + canonical_bytes(value)
    if value is None or isinstance(value, bool | int | float):
        return f"{type(value).__name__[0]}{value!r}".encode()
    raise CorpusError(
        f"A corpus cannot hold a {type(value).__name__} ({value!r}) as a string or metadata value."
    )


def canonical_column(series: Any, pl: "ModuleType") -> bytes:
    r"""Return `canonical_bytes` of a polars column, without a Python object for each value.

    Examples
    --------
    >>> import polars as pl
    >>> canonical_column(pl.Series([["a", "é"], None, []]), pl)
    b'10:l2:sa3:s\xc3\xa95:NNone1:l'
    """
    if series.dtype == pl.String:
        body = pl.col("v")
        kind = "s"
    elif series.dtype == pl.Int64:
        body = pl.col("v").cast(pl.String)
        kind = "i"
    elif series.dtype == pl.List(pl.String):
        body = pl.col("v").list.eval(_entry(pl, pl.element(), "s")).list.join("")
        kind = "l"
    else:
        return canonical_bytes(series.to_list())
    entries = series.alias("v").to_frame().select(_entry(pl, body, kind))
    return "".join(entries.to_series().to_list()).encode()


def _entry(pl: "ModuleType", value: Any, kind: str) -> Any:
    """Write the length in bytes, then the kind and the value."""
    size = (value.str.len_bytes() + 1).cast(pl.String)
    written = pl.concat_str(size, pl.lit(f":{kind}"), value)
    return pl.when(value.is_null()).then(pl.lit(_NONE)).otherwise(written)
