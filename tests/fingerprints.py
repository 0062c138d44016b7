"""A fixed set of small fits, and fingerprints of what comes out of them.

Run as a script, with the package whose draws are to be kept on the path, it writes the stored
values: ``PYTHONPATH=src python tests/fingerprints.py tests/data/fingerprints.json``.
"""

import hashlib
import json
import math
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
import scipy

import citeweave
from citeweave import SCNTM, simulate
from citeweave.engines.core.row_files import read_rows
from citeweave.engines.cuda import chain as cuda_chain
from citeweave.model.runner import RunInterrupted

sys.path.append(str(Path(__file__).parent / "engines" / "cuda"))
from host_device import HostDevice

MODELS: dict[str, dict[str, Any]] = {
    "scntm, eta 0": {"eta": 0},
    "scntm, eta 3": {"eta": 3},
    "scntm, eta inf": {"eta": math.inf},
    "cntm-text": {"model": "cntm-text"},
    "bursty-hdp-lda": {"model": "bursty-hdp-lda"},
    "np-atm": {"model": "np-atm"},
}
ENGINES: dict[str, dict[str, Any]] = {
    "dense": {"topics": 6, "sweep": "sequential"},
    "dense, snapshot": {"topics": 6, "sweep": "snapshot", "rounds": 2, "device": "cpu"},
    "slots": {"topics": 300, "sweep": "sequential"},
    "slots, snapshot": {"topics": 300, "sweep": "snapshot", "rounds": 2, "device": "cpu"},
    "cuda": {"topics": 6, "device": "cuda", "rounds": 2},
    "cuda, slots": {"topics": 300, "device": "cuda", "rounds": 2},
}
SCHEDULE: dict[str, Any] = {
    "iterations": 10,
    "network_from": 3,
    "burn_in": 6,
    "thin": 1,
    "seed": 3,
    "exactly": True,
    "chains": 1,
    "burst_from": 0,
    "start": "random",
    "self_citations": "paper",
}
STAGES = {"network_from": 2, "burst_from": 4, "start": "clusters"}
STOPPED_AFTER = 7
"""Iterations before a run is stopped: samples are kept, and tables of proposals are older."""

FITS: dict[str, dict[str, Any]] = {
    f"{model}; {engine}": SCHEDULE | MODELS[model] | ENGINES[engine]
    for engine in ENGINES
    for model in MODELS
    if not (model == "np-atm" and engine != "dense")  # which samples it always
    and not ("cuda" in engine and model not in {"scntm, eta 3", "bursty-hdp-lda"})
} | {
    "two chains, averaged": SCHEDULE | ENGINES["dense"] | {"chains": 2, "combine": "average"},
    "two chains, consensus": SCHEDULE | ENGINES["dense"] | {"chains": 2, "combine": "consensus"},
    "in stages, from clusters": SCHEDULE | ENGINES["dense"] | STAGES,
    "self-citations left out": SCHEDULE | ENGINES["dense"] | {"self_citations": "left-out"},
    "self-citations left out; slots, snapshot": SCHEDULE
    | ENGINES["slots, snapshot"]
    | {"self_citations": "left-out"},
}
FOLD_INS: dict[str, dict[str, Any]] = {
    f"fold-in, {method}, labels {labels}": {
        "method": method,
        "labels": labels,
        "words": 0.7,
        "citations": "both",
        "samples": 20,
        "burn_in": 5,
        "seed": 4,
    }
    for method in ("paper", "gibbs")
    for labels in ("hidden", "seen")
}

Fingerprint = dict[str, list[Any]]
"""For each array: the hash of its bytes; for one of numbers with a fraction also a weighed mean."""


def corpus() -> citeweave.Corpus:
    """Draw the corpus of all fits."""
    return simulate(
        documents=60,
        vocabulary=50,
        topics=3,
        authors=9,
        categories=3,
        words_per_document=25,
        citations=120,
        seed=2,
    ).corpus


def parts() -> Any:
    """Split that corpus for fold-ins."""
    return corpus().split(test=0.25, seed=0)


def use_twin() -> None:
    """Let ``device="cuda"`` run the kernels built by the C++ compiler."""
    cuda_chain.CudaDevice = HostDevice


def describe_machine() -> dict[str, str]:
    """Say what the last bits of a result depend on."""
    flags = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.is_file():
        lines = information.read_text(encoding="utf-8").splitlines()
        flags = next((line for line in lines if line.startswith(("flags", "Features"))), flags)
    compiler = shutil.which("g++") or shutil.which("c++")
    version = "none"
    if compiler:
        command = [compiler, "-dumpfullversion"]
        version = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return {
        "processor": hashlib.sha256(flags.encode()).hexdigest()[:16],
        "libc": " ".join(platform.libc_ver()),
        "compiler": version.strip(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
    }


LATER = (
    *("self_topic", "category", "topics.held", "server", "served"),
    *("share", "contribution", "contribution_prior"),
)
"""Arrays of models that came later than the fingerprints, empty in all others."""


def weighed_mean(array: np.ndarray) -> float:
    """Sum numbers up with weights from 1 to 2 that differ from place to place, over their count."""
    values = np.nan_to_num(array.astype(np.float64).ravel(), posinf=1e3, neginf=-1e3)
    weights = 1 + np.modf(np.arange(1, values.size + 1) * (math.sqrt(5) - 1) / 2)[0]
    return float(f"{math.fsum(values * weights) / max(values.size, 1):.12g}")


def fingerprint(arrays: Mapping[str, np.ndarray]) -> Fingerprint:
    found: Fingerprint = {}
    for name, array in sorted(arrays.items()):
        plain = np.ascontiguousarray(array)
        head = f"{plain.dtype.str} {plain.shape}".encode()
        found[name] = [hashlib.sha256(head + plain.tobytes()).hexdigest()[:16]]
        if plain.dtype.kind == "f":
            found[name].append(weighed_mean(plain))
    return found


def run_arrays(folder: Path) -> Iterator[tuple[str, np.ndarray]]:
    """All that a finished run holds and that does not tell of time, read from its files.

    The log posterior is left out: it follows from the states, and earlier releases have none.
    """
    for kind in ("estimates", "traces"):
        for path in (folder / kind).glob("*.npy"):
            if path.stem not in {"seconds", "log_posterior"}:
                yield f"{kind}.{path.stem}", np.load(path)
    for chain in (folder / "chains").iterdir():
        stored = read_rows(max(chain.glob("checkpoint-*.npz")))
        for name, array in stored.items():
            unused = name.endswith(LATER) and array.size == 0
            if name.startswith(("state.", "proposal.")) and not unused:
                yield f"{chain.name}.{name}", np.asarray(array)  # counts may be lists


def of_run(folder: Path) -> Fingerprint:
    return fingerprint(dict(run_arrays(folder)))


def fit(name: str, folder: Path, **changes: Any) -> Fingerprint:
    """Make one of `FITS` from end to end."""
    SCNTM(**FITS[name] | changes).fit(corpus(), out=folder)
    return of_run(folder)


def fit_in_two(name: str, folder: Path, **changes: Any) -> Fingerprint:
    """Make one of `FITS`, stopped and resumed."""
    event = threading.Event()

    def look(progress: Any) -> None:
        if progress.iteration >= STOPPED_AFTER:
            event.set()

    try:
        SCNTM(**FITS[name]).fit(corpus(), out=folder, progress=look, stop=event)
    except RunInterrupted:
        citeweave.resume(folder, **changes)
        return of_run(folder)
    raise AssertionError("the run was not stopped")


def fold_in(name: str, **changes: Any) -> Fingerprint:
    """Fold the test part of the corpus into a model of its training part."""
    split = parts()
    model = SCNTM(**SCHEDULE | MODELS["scntm, eta 3"] | ENGINES["dense"]).fit(split.train)
    found = model.fold_in(split.test, links=split, **FOLD_INS[name] | changes)
    names = ("doc_topic", "doc_word_topic", "used", "word", "category", "category_probability")
    arrays = {each: getattr(found, each) for each in (*names, "burst_topic", "burst_word")}
    arrays |= {f"group.{each}": getattr(found.group_posterior, each) for each in ("data", "indptr")}
    arrays["group.column"] = found.group_posterior.indices
    return fingerprint({each: array for each, array in arrays.items() if array is not None})


def all_fingerprints() -> dict[str, Any]:
    use_twin()
    cases = {}
    with tempfile.TemporaryDirectory() as room:
        for number, name in enumerate(FITS):
            cases[name] = fit(name, Path(room) / str(number))
    cases |= {name: fold_in(name) for name in FOLD_INS}
    return {"corpus": corpus().fingerprint, "machine": describe_machine(), "cases": cases}


def main() -> None:
    text = json.dumps(all_fingerprints(), indent=1, sort_keys=True)
    # an array a line
    text = text.replace("[\n    ", "[").replace("\n   ]", "]").replace(",\n    ", ", ")
    Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
