"""Results as tidy tables: one row per value, written as CSV, JSON or Parquet, and a summary."""

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from citeweave.errors import MissingDependencyError, RunError
from citeweave.files import write_atomically
from citeweave.installing import install_package

__all__ = ["Row", "SummaryRow", "Table", "write_table"]


class Row(NamedTuple):
    """One value of one measure, and everything it depends on.

    Attributes
    ----------
    dataset, model : str
        Names of the data set and the model, as chosen by the caller.
    fold : str
        ``3/10``, ``split 2/5`` or ``whole``.
    seed : int
        Seed of the sampler or, for other models, of their start.
    measure : str
        Such as ``nmi`` or ``perplexity``.
    where : str
        Documents to which it refers: ``train``, ``test`` or ``whole``.
    value : float
        nan if the measure is not defined.
    protocol : str
        Description of how it was measured; values with the same protocol can be compared.

    Examples
    --------
    >>> from citeweave.experiments import Row
    >>> Row("cora", "scntm", "1/2", 1, "nmi", "test", 0.4, "").fold
    '1/2'
    """

    dataset: str
    model: str
    fold: str
    seed: int
    measure: str
    where: str
    value: float
    protocol: str


class SummaryRow(NamedTuple):
    """Mean and standard deviation (n - 1) of a measure over folds and seeds.

    Examples
    --------
    >>> from citeweave.experiments import Row, Table
    >>> rows = [Row("cora", "scntm", "1/2", seed, "nmi", "test", 0.4, "") for seed in (1, 2)]
    >>> Table(rows).summary()[0].n
    2
    """

    dataset: str
    model: str
    measure: str
    where: str
    protocol: str
    mean: float
    sd: float
    n: int


class Table:
    """Rows of results, in the order of the tasks that made them.

    Examples
    --------
    >>> values = {"1/2": 0.4, "2/2": 0.6}
    >>> rows = [Row("cora", "scntm", f, 1, "nmi", "test", v, "") for f, v in values.items()]
    >>> mean = Table(rows).summary()[0]
    >>> mean.mean, round(mean.sd, 4), mean.n
    (0.5, 0.1414, 2)
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = tuple(rows)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows."""
        return iter(self.rows)

    def __repr__(self) -> str:
        """Describe the size."""
        return f"Table({len(self.rows)} rows)"

    def select(self, **wanted: Any) -> "Table":
        """Return the rows whose columns have these values.

        A list of values is allowed too: ``select(model="scntm", where=["test"])``.

        Examples
        --------
        >>> from citeweave.experiments import Row, Table
        >>> models = ("scntm", "louvain")
        >>> rows = [Row("cora", name, "1/2", 1, "nmi", "test", 0.4, "") for name in models]
        >>> [row.model for row in Table(rows).select(model="scntm")]
        ['scntm']
        """
        for name in wanted:
            if name not in Row._fields:
                raise KeyError(f"There is no column {name!r}; there are {', '.join(Row._fields)}.")
        allowed = {
            name: set(value) if isinstance(value, list | tuple | set) else {value}
            for name, value in wanted.items()
        }
        return Table(
            row
            for row in self.rows
            if all(getattr(row, name) in values for name, values in allowed.items())
        )

    def values(self, **wanted: Any) -> np.ndarray:
        """Return the values of the rows selected by `select`, without nan.

        Examples
        --------
        >>> from citeweave.experiments import Row, Table
        >>> rows = [Row("cora", "scntm", "1/2", seed, "nmi", "test", 0.4, "") for seed in (1, 2)]
        >>> Table(rows).values(measure="nmi").tolist()
        [0.4, 0.4]
        """
        found = np.array([row.value for row in self.select(**wanted)], dtype=np.float64)
        return np.asarray(found[~np.isnan(found)])

    def summary(self) -> list[SummaryRow]:
        """Return mean and standard deviation over folds and seeds, by everything else.

        nan values are left out; `sd` is nan if there is one value.

        Examples
        --------
        >>> from citeweave.experiments import Row, Table
        >>> rows = [Row("cora", "scntm", "1/1", s, "nmi", "test", 0.4 + s / 10, "") for s in (1, 2)]
        >>> (mean,) = Table(rows).summary()
        >>> round(mean.mean, 2), mean.n
        (0.55, 2)
        """
        found: dict[tuple[str, ...], list[float]] = {}
        for row in self.rows:
            key = (row.dataset, row.model, row.measure, row.where, row.protocol)
            kept = found.setdefault(key, [])
            if not math.isnan(row.value):
                kept.append(row.value)
        out = []
        for (dataset, model, measure, where, protocol), kept in found.items():
            mean = float(np.mean(kept)) if kept else math.nan
            sd = float(np.std(kept, ddof=1)) if len(kept) > 1 else math.nan
            out.append(SummaryRow(dataset, model, measure, where, protocol, mean, sd, len(kept)))
        return out

    def save(self, folder: str | os.PathLike[str], *, parquet: bool | None = None) -> list[Path]:
        """Write ``results.csv``, ``results.json``, ``summary.csv`` and ``summary.json``.

        Parameters
        ----------
        folder : path
        parquet : bool, optional
            Also write ``results.parquet`` and ``summary.parquet``. By default only if polars or
            pyarrow is installed; if True, their absence is an error.

        Examples
        --------
        >>> from citeweave.experiments import Row, Table
        >>> rows = [Row("cora", "scntm", "1/2", 1, "nmi", "test", 0.4, "")]
        >>> sorted(path.name for path in Table(rows).save("tables", parquet=False))
        ['results.csv', 'results.json', 'summary.csv', 'summary.json']
        """
        place = Path(folder)
        formats = ["csv", "json"]
        if parquet or (parquet is None and _parquet_writer() is not None):
            formats.append("parquet")
        tables: dict[str, tuple[type[Any], Iterable[Any]]] = {
            "results": (Row, self.rows),
            "summary": (SummaryRow, self.summary()),
        }
        return [
            write_table(place / f"{name}.{suffix}", kind, rows)
            for name, (kind, rows) in tables.items()
            for suffix in formats
        ]


def write_table(path: str | os.PathLike[str], kind: type[Any], rows: Iterable[Any]) -> Path:
    """Write named tuples as a table, in the format of the file's suffix: csv, json or parquet.

    nan becomes an empty cell, or null. The file is written atomically.

    Examples
    --------
    >>> from citeweave.experiments import Row, write_table
    >>> rows = [Row("cora", "scntm", "1/2", 1, "nmi", "test", 0.4, "")]
    >>> write_table("results.csv", Row, rows).read_text().splitlines()[0]
    'dataset,model,fold,seed,measure,where,value,protocol'
    """
    target = Path(path)
    columns = {
        name: [_plain(getattr(row, name)) for row in rows]
        for rows in [list(rows)]
        for name in kind._fields
    }
    makers = {".csv": _csv, ".json": _json, ".parquet": _parquet}
    if target.suffix not in makers:
        raise RunError(f"'{target}' must end in one of: {', '.join(makers)}.")
    content = makers[target.suffix](columns, dict(kind.__annotations__))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(target) as file:
            file.write(content)
    except OSError as error:
        raise RunError(
            f"'{target}' cannot be written: {error.strerror or error}. Free some space or choose "
            "another folder."
        ) from error
    return target


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _csv(columns: dict[str, list[Any]], _: dict[str, Any]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for values in zip(*columns.values(), strict=True):
        writer.writerow(["" if value is None else value for value in values])
    return text.getvalue().encode()


def _json(columns: dict[str, list[Any]], _: dict[str, Any]) -> bytes:
    records = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    return (json.dumps(records, indent=1, ensure_ascii=False) + "\n").encode()


def _parquet(columns: dict[str, list[Any]], types: dict[str, Any]) -> bytes:
    library = _parquet_writer()
    out = io.BytesIO()
    if library == "polars":
        pl = import_module("polars")
        kinds = {str: pl.String, int: pl.Int64, float: pl.Float64}
        frame = pl.DataFrame(columns, schema={name: kinds[types[name]] for name in columns})
        frame.write_parquet(out)
    elif library == "pyarrow":
        arrow = import_module("pyarrow")
        kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
        schema = arrow.schema([(name, kinds[types[name]]) for name in columns])
        table = arrow.table(columns, schema=schema)
        import_module("pyarrow.parquet").write_table(table, out)
    else:
        raise MissingDependencyError(
            "Writing Parquet needs polars or pyarrow, and neither is installed: "
            f"{install_package('polars')}. CSV and JSON need neither."
        )
    return out.getvalue()


def _parquet_writer() -> str | None:
    """Name the library that can write Parquet here."""
    for name in ("polars", "pyarrow"):
        try:
            import_module(name)
        except ImportError:
            continue
        return name
    return None
