"""What several test files of the model need."""

import json
from pathlib import Path

import numpy as np

from citeweave import simulate
from citeweave.corpus import Corpus
from citeweave.model.stored import stored_plan
from citeweave.runs.checkpoint import Identity, flatten, read_latest
from citeweave.runs.folder import RunFolder

QUICK = {"topics": 4, "iterations": 30, "seed": 5, "network_from": 8, "burn_in": 15, "thin": 3}


def draw_small():
    """Draw seventy short documents with authors, categories and citations."""
    return simulate(
        documents=70,
        vocabulary=60,
        topics=3,
        authors=15,
        categories=3,
        words_per_document=12,
        citations=120,
        seed=3,
    ).corpus


def make_people():
    """Make six documents whose groups can be worked out by hand."""
    return Corpus.from_lists(
        tokens=[["a", "b"], ["a"], ["b", "c"], ["c"], ["a", "c", "c"], ["b"]],
        authors=[["Ann"], ["Ann", "Bo", "Ann"], ["Ann"], ["Bo", "Cy"], None, []],
        categories=["x", "x", "y", "y", "x", None],
        citations=[(1, 0), (4, 0), (5, 3)],
    )


def run_contents(folder):
    """All arrays of a run that must not depend on how it came about, by name."""
    run = RunFolder.open(folder)
    _, plan = stored_plan(run, None)
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
    manifest = json.loads(path.read_text()) | changes
    manifest.pop("checksum", None)  # as one does who means it
    path.write_text(json.dumps(manifest))
