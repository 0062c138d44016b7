"""Readers of an OpenAlex snapshot compared: CPU time per work, and peak memory.

Run: ``python -m benchmarks.read_snapshot [WORKS]``. The same made-up works
(`benchmarks.openalex_snapshot`) are read from packed JSON Lines and from Parquet, each way in a
process of its own with one thread, up to Python objects with the fields that an import looks at:
abstracts have to be put together and parted into words there in any case. Needs DuckDB, which
citeweave does not, and msgspec.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.import_snapshot import peak_bytes
from benchmarks.openalex_snapshot import write_snapshot

WORKS = 5_000
_COLUMNS = {
    "id": "VARCHAR",
    "doi": "VARCHAR",
    "title": "VARCHAR",
    "publication_year": "INTEGER",
    "language": "VARCHAR",
    "type": "VARCHAR",
    "cited_by_count": "INTEGER",
    "updated_date": "VARCHAR",
    "primary_location": "STRUCT(source STRUCT(display_name VARCHAR))",
    "primary_topic": "STRUCT(field STRUCT(display_name VARCHAR))",
    "keywords": "STRUCT(display_name VARCHAR)[]",
    "funders": "STRUCT(display_name VARCHAR)[]",
    "authorships": "STRUCT(author STRUCT(id VARCHAR, display_name VARCHAR, orcid VARCHAR), "
    "institutions STRUCT(id VARCHAR, display_name VARCHAR, ror VARCHAR, country_code VARCHAR)[], "
    "countries VARCHAR[])[]",
    "referenced_works": "VARCHAR[]",
    "abstract_inverted_index": "VARCHAR",
}


def read_json(path: Path, *, fast: bool) -> int:
    """Read as the import does, line by line."""
    if not fast:
        sys.modules["msgspec"] = None  # type: ignore[assignment]
    return read_ours(path)


def read_ours(path: Path) -> int:
    """Read as the import does."""
    from citeweave.reading.openalex_snapshot import works_of  # noqa: PLC0415 (after msgspec)
    from citeweave.reading.problems import (  # noqa: PLC0415
        FileContext,
        FileCounts,
        ProblemLog,
    )

    context = FileContext("part", ProblemLog(), FileCounts("part"))
    return sum(1 for _ in works_of(path, context))


def read_polars(path: Path) -> int:
    """Read JSON Lines with polars's streaming engine and a schema of what is wanted."""
    import polars as pl  # noqa: PLC0415 (its memory belongs to the measurement)

    name = pl.Struct({"display_name": pl.String})
    person = pl.Struct({"id": pl.String, "display_name": pl.String, "orcid": pl.String})
    fields = ("id", "display_name", "ror", "country_code")
    place = pl.Struct(dict.fromkeys(fields, pl.String))
    team = pl.Struct(
        {"author": person, "institutions": pl.List(place), "countries": pl.List(pl.String)}
    )
    nested = {
        "primary_location": pl.Struct({"source": name}),
        "primary_topic": pl.Struct({"field": name}),
        "keywords": pl.List(name),
        "funders": pl.List(name),
        "authorships": pl.List(team),
        "referenced_works": pl.List(pl.String),
        "publication_year": pl.Int64,
        "cited_by_count": pl.Int64,
    }
    schema = {column: nested.get(column, pl.String) for column in _COLUMNS}
    table = pl.scan_ndjson(path, schema=schema).collect(engine="streaming")
    return sum(1 for _ in table.iter_rows(named=True))


def read_duckdb(path: Path) -> int:
    """Read with DuckDB, JSON Lines or Parquet."""
    import duckdb  # noqa: PLC0415 (only here)

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    if path.suffix == ".parquet":
        source = f"SELECT {', '.join(_COLUMNS)} FROM read_parquet('{path}')"  # noqa: S608
    else:
        types = ", ".join(f"{name}: '{kind}'" for name, kind in _COLUMNS.items())
        source = f"SELECT * FROM read_ndjson('{path}', columns = {{{types}}})"  # noqa: S608
    found = connection.execute(source)
    rows = 0
    while some := found.fetchmany(2_000):
        rows += len(some)
    return rows


WAYS = {
    "JSON Lines, standard library": ("jsonl", lambda path: read_json(path, fast=False)),
    "JSON Lines, msgspec": ("jsonl", lambda path: read_json(path, fast=True)),
    "JSON Lines, polars streaming": ("jsonl", read_polars),
    "JSON Lines, DuckDB": ("jsonl", read_duckdb),
    "Parquet, polars": ("parquet", read_ours),
    "Parquet, DuckDB": ("parquet", read_duckdb),
}


def main() -> None:
    """Write the snapshots, read them each way three times, print the best figure of each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("works", nargs="?", type=int, default=WORKS)
    parser.add_argument("--way", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        way, path = options.way
        start = time.process_time()
        works = WAYS[way][1](Path(path))
        print(json.dumps([works, time.process_time() - start, peak_bytes()]))
        return
    works = options.works
    with tempfile.TemporaryDirectory(prefix="citeweave-bench-") as place:
        paths = {}
        for layout in ("jsonl", "parquet"):
            folder = write_snapshot(Path(place, layout), works, layout=layout, part=works)
            paths[layout] = next(folder.rglob("part_*"))
        print(f"{'':32} {'us a work':>10} {'works/cpu s':>12} {'peak MB':>8}")
        for way, (layout, _) in WAYS.items():
            command = [sys.executable, "-m", "benchmarks.read_snapshot", "--way", way]
            command.append(str(paths[layout]))
            environment = os.environ | {"POLARS_MAX_THREADS": "1"}
            runs = []
            for _ in range(3):
                done = subprocess.run(
                    command, check=True, capture_output=True, text=True, env=environment
                )
                runs.append(json.loads(done.stdout))
            seconds, peak = min(run[1] for run in runs), min(run[2] for run in runs)
            if any(run[0] != works for run in runs):
                raise SystemExit(f"{way}: {runs} of {works} works")
            print(
                f"{way:32} {1e6 * seconds / works:>10.0f} {works / seconds:>12,.0f} "
                f"{peak / 1e6:>8.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
