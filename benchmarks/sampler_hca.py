"""Time an `hca` binary, which reports no times of single iterations and takes no commands.

Two runs from the same seed, one `turn` cycles longer than the other, differ by the time of
exactly those cycles; reading, starting and writing cancel.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from citeweave.corpus import Corpus

__all__ = ["time_hca", "write_ldac"]

# PYP over topics and words, burstiness with the paper's word discount
OPTIONS = ("-Ahpdd", "-Bhpdd", "-Sad=0.7", "-Sbdk=10", "-fldac", "-s1", "-q1")


def write_ldac(corpus: Corpus, stem: Path) -> None:
    """Write the documents as LDA-C lines ``unique word:count ...`` and the words beside them."""
    bounds = corpus.offsets.tolist()
    with stem.with_suffix(".ldac").open("w", encoding="ascii") as file:
        for begin, end in pairwise(bounds):
            words, counts = np.unique(corpus.tokens[begin:end], return_counts=True)
            pairs = zip(words.tolist(), counts.tolist(), strict=True)
            file.write(" ".join([str(len(words)), *(f"{w}:{c}" for w, c in pairs)]) + "\n")
    names = "".join(f"w{word}\n" for word in range(corpus.vocabulary_size))
    stem.with_suffix(".tokens").write_text(names, encoding="ascii")


def _run(binary: Path, stem: Path, topics: int, cycles: int) -> tuple[float, float]:
    """Return seconds and peak memory in MB of one run, pinned to one core where that goes."""
    command = [str(binary), *OPTIONS, f"-K{topics}", f"-C{cycles}", str(stem), str(stem) + "-out"]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(process.pid, {min(os.sched_getaffinity(0))})
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        log = stem.with_name(stem.name + "-out.log")
        last = log.read_text(errors="replace")[-500:] if log.exists() else ""
        raise SystemExit(f"hca ended with {process.returncode}: {' '.join(command)}\n{last}")
    return seconds, usage.ru_maxrss * 1024 / 1e6


def time_hca(
    binary: Path, folder: Path, *, topics: int, burn_in: int, turn: int, repeats: int
) -> dict[str, Any]:
    """Return a row for hca in the form of the other systems' rows."""
    corpus = Corpus.load(folder)
    turns: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="citeweave-hca-") as place:
        stem = Path(place) / "corpus"
        write_ldac(corpus, stem)
        for _ in range(repeats):
            shorter, _ = _run(binary, stem, topics, burn_in)
            longer, peak = _run(binary, stem, topics, burn_in + turn)
            turns.append(
                {
                    "seconds": longer - shorter,
                    "tokens": corpus.n_tokens * turn,
                    "topics": topics,
                    "peak": peak,
                }
            )
    return {
        "label": "hca",
        "topics": topics,
        "threads": 1,
        "corpus": folder.name,
        "turns": turns,
        "peak": turns[-1]["peak"],
        "first_sweep": {},
    }
