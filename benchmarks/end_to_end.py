"""Wall-clock time of the whole command `citeweave fit` on the shape of the paper's ML corpus.

    python -m benchmarks.end_to_end --device cuda --topics 20 --iterations 2000

A corpus folder is drawn first, which is not timed (``--corpus`` keeps it for the next time). Then a
new process runs the command up to saved estimates, once with an empty kernel cache and once with
the cache left by the first; both are timed as a whole and in parts.
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

import numpy as np
from benchmarks.parallel import draw_data

from citeweave import Corpus
from citeweave.corpus.storage import write_arrays


def draw_corpus(folder: Path, scale: float) -> Corpus:
    """Draw a corpus of the ML shape and save what fitting needs."""
    data = draw_data(scale, 20)
    documents = len(data.offsets) - 1
    corpus = Corpus.from_arrays(
        tokens=data.tokens,
        offsets=data.offsets,
        vocabulary_size=data.n_words,
        author_ids=data.parents[1].astype(np.int32),
        author_offsets=np.arange(documents + 1),
        citations=np.column_stack([data.citing, data.cited]),
    )
    folder.mkdir(parents=True)
    write_arrays(corpus, folder)
    return corpus


def timed_fit(corpus: Path, options: argparse.Namespace, cache: Path, out: Path) -> dict:
    """Run the command in a process of its own and report its times."""
    command = [sys.executable, "-m", "citeweave", "fit", str(corpus), "--out", str(out)]
    command += ["--topics", str(options.topics), "--iterations", str(options.iterations)]
    command += ["--seed", "1", "--device", options.device, "--sweep", "snapshot", "--quiet"]
    if options.network_from is not None:
        command += ["--network-from", str(options.network_from)]
    if options.rounds:
        command += ["--rounds", str(options.rounds)]
    caches = {
        "CUPY_CACHE_DIR": cache / "cupy",
        "CUDA_CACHE_PATH": cache / "cuda",
        "NUMBA_CACHE_DIR": cache / "numba",
        "XDG_CACHE_HOME": cache / "xdg",
    }
    environment = os.environ | {name: str(place) for name, place in caches.items()}
    began = time.perf_counter()
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if ended.returncode:
        sys.stdout.write(ended.stdout[-2000:] + ended.stderr[-4000:])
        raise SystemExit(f"{' '.join(command)} failed with {ended.returncode}")
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    steps = np.load(out / "traces" / "seconds.npy")[0]
    likelihood = np.load(out / "traces" / "log_likelihood.npy")[0]
    return {
        "seconds, whole command": round(seconds, 2),
        "seconds in iterations": round(float(steps.sum()), 2),
        "milliseconds per iteration, first and second half": [
            round(1e3 * float(half.mean()), 2) for half in np.array_split(steps[1:], 2)
        ],
        "citations from iteration": manifest["plan"]["network_from"],
        "device": manifest["plan"]["device"],
        "rounds": manifest["plan"]["rounds"],
        "samples": manifest["result"]["samples"],
        "log likelihood, last": float(likelihood[-1]),
        "run folder MB": round(sum(f.stat().st_size for f in out.rglob("*.*")) / 1e6),
    }


def main() -> None:
    """Draw the corpus and time the command twice."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=2000)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--network-from", type=int, help="half of the iterations if not given")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--out", type=Path, help="JSON lines are added to it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as room:
        folder = options.corpus or Path(room) / "corpus"
        if not folder.exists():
            draw_corpus(folder, options.scale)
        for number, kernels in enumerate(("cold", "warm")):
            found = timed_fit(folder, options, Path(room) / "cache", Path(room) / f"run-{number}")
            line = json.dumps(
                {"topics": options.topics, "scale": options.scale, "kernels": kernels} | found
            )
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
            if options.out:
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")


if __name__ == "__main__":
    main()
