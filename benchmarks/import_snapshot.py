"""The import of an OpenAlex snapshot out of core: works per CPU second, and peak memory.

Run: ``python -m benchmarks.import_snapshot [WORKS ...] [--layout jsonl|parquet] [--json FILE]``.
Each size is written as a snapshot (`benchmarks.openalex_snapshot`) and imported in a process of its
own, so that peak memory is measured separately. CPU seconds are those of all its threads, without
writing the snapshot. The last line shows how time grows with the number of works, and extrapolates
linearly to 10 million. Up to millions of works, memory is dominated by the shard being written;
`benchmarks.snapshot_memory` measures what grows beyond that.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.import_pipeline import exponent
from benchmarks.openalex_snapshot import PART, write_snapshot

SIZES = (50_000, 200_000)
MANY = 10_000_000


def run_one(source: Path, out: Path, workers: int) -> dict[str, Any]:
    """Import one snapshot in this process and measure it."""
    from citeweave.preparing.snapshot import import_snapshot  # noqa: PLC0415 (counts)

    steps: dict[str, float] = {}

    def progress(step: str, _done: int, _total: int | None) -> None:
        steps[step] = _cpu()

    start = time.perf_counter()
    corpus, report = import_snapshot(source, out, workers=workers, progress=progress)
    end = _cpu()
    return {
        "works": report.records_read,
        "documents": corpus.n_documents,
        "tokens": corpus.n_tokens,
        "vocabulary": corpus.vocabulary_size,
        "authors": corpus.n_authors,
        "citations": corpus.n_citations,
        "seconds": time.perf_counter() - start,
        "cpu_seconds": end,
        "cpu_parts": steps["parts"],
        "cpu_words": steps["words"] - steps["parts"],
        "cpu_shards": steps["shards"] - steps["words"],
        "cpu_fingerprint": end - steps["shards"],
        "peak_bytes": peak_bytes(),
        "peak_worker_bytes": 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
    }


def peak_bytes() -> int:
    """Peak memory of this process, or of the largest that it started.

    What the system counts as a process's own may include its parent's from before it was loaded,
    so the high-water mark of its address space is asked for where there is one.
    """
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    status = Path("/proc/self/status")
    if not status.is_file():
        return 1024 * max(largest, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    line = next(one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
    return 1024 * max(largest, int(line.split()[1]))


def _cpu() -> float:
    return sum(
        one.ru_utime + one.ru_stime
        for one in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def measure(
    sizes: list[int], layout: str, workers: int, part: int, folder: Path | None
) -> list[dict[str, Any]]:
    """Make each size's snapshot, import it in a new process, and print a row."""
    rows = []
    print(f"{'works':>10} {'MB':>7} {'cpu s':>8} {'works/cpu s':>12} {'peak GB':>8}  cpu s by step")
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="citeweave-bench-", dir=folder) as place:
            source = write_snapshot(Path(place, "snapshot"), size, layout=layout, part=part)
            command = [sys.executable, "-m", "benchmarks.import_snapshot"]
            command += ["--worker", str(source), f"{place}/corpus", "--workers", str(workers)]
            # polars starts a thread for each core: memory and time are those of two cores
            environment = os.environ | {"POLARS_MAX_THREADS": "2"}
            done = subprocess.run(
                command, check=True, capture_output=True, text=True, env=environment
            )
            files = [path for path in source.rglob("part_*") if path.is_file()]
            row = json.loads(done.stdout) | {"input_bytes": sum(f.stat().st_size for f in files)}
            row["corpus_bytes"] = sum(
                path.stat().st_size for path in Path(place, "corpus").rglob("*") if path.is_file()
            )
            shutil.rmtree(place, ignore_errors=True)
        rows.append(row)
        steps = ", ".join(
            f"{name} {row[f'cpu_{name}']:.1f}"
            for name in ("parts", "words", "shards", "fingerprint")
        )
        print(
            f"{row['works']:>10,} {row['input_bytes'] / 1e6:>7.0f} {row['cpu_seconds']:>8.1f} "
            f"{row['works'] / row['cpu_seconds']:>12,.0f} {row['peak_bytes'] / 1e9:>8.2f}  {steps}",
            flush=True,
        )
    return rows


def extrapolate(rows: list[dict[str, Any]], key: str, works: int) -> float:
    """Follow the straight line through the sizes measured."""
    slope, base = np.polyfit([row["works"] for row in rows], [row[key] for row in rows], 1)
    return float(base + slope * works)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("works", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--layout", choices=("jsonl", "parquet"), default="jsonl")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--part", type=int, default=PART, help="works in a part")
    parser.add_argument("--folder", type=Path, help="where to write the snapshots")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--worker", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(run_one(*options.worker, options.workers)))
        return
    rows = measure(options.works, options.layout, options.workers, options.part, options.folder)
    result: dict[str, Any] = {"python": platform.python_version(), "rows": rows}
    if len(rows) > 1:
        result["exponent"] = exponent(rows, "cpu_seconds")
        result["cpu_seconds_of_10_million"] = extrapolate(rows, "cpu_seconds", MANY)
        print(
            f"CPU time grows as works^{result['exponent']:.2f}; by a straight line 10 million "
            f"works take {result['cpu_seconds_of_10_million'] / 60:.0f} CPU minutes"
        )
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
