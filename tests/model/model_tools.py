"""What several test files of the model need."""

import json
from pathlib import Path

import numpy as np

from citeweave.model.checkpoint import flatten
from citeweave.model.fitting import _stored_plan
from citeweave.model.run_folder import RunFolder
from citeweave.model.runner import Identity, read_latest

QUICK = {"topics": 4, "iterations": 30, "seed": 5, "network_from": 8, "burn_in": 15, "thin": 3}


def run_contents(folder):
    """All arrays of a run that must not depend on how it came about, by name."""
    run = RunFolder.open(folder)
    _, plan = _stored_plan(run, None)
    out = {f"estimates.{name}": array for name, array in run.estimates().items()}
    out |= {f"traces.{name}": a for name, a in run.traces().items() if name != "seconds"}
    for chain in range(plan.chains):
        identity = Identity(run.manifest["corpus"]["fingerprint"], plan.digest(), chain)
        checkpoint, refused = read_latest(run.chains / f"chain-{chain}", identity)
        assert refused == []
        out |= {f"chain{chain}.state.{name}": a for name, a in checkpoint.state.items()}
        if checkpoint.sums is not None:
            out |= flatten(checkpoint.sums, f"chain{chain}.sums.")
    return out


def assert_same_bytes(first, second):
    assert set(first) == set(second)
    for name, array in first.items():
        other = second[name]
        assert array.dtype == other.dtype, name
        assert array.shape == other.shape, name
        assert np.ascontiguousarray(array).tobytes() == np.ascontiguousarray(other).tobytes(), name


def files_under(folder):
    """Every file of a folder with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def edit_manifest(folder, **changes):
    path = Path(folder) / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
