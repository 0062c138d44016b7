"""A machine with arrays alone can cross-validate, and a killed run goes on."""

import json
import signal
import subprocess
import sys

import polars as pl
import pytest

from citeweave import Corpus
from citeweave.experiments import ModelChoice, Table, cross_validate

SCRIPT = """
import os, signal, sys
sys.modules["polars"] = None
from citeweave.corpus import Corpus
from citeweave.experiments import ModelChoice, cross_validate
corpus = Corpus.load(sys.argv[1])
models = [ModelChoice("labels", "scntm", {"topics": 3, "iterations": 6, "eta": 2})]
done = []
def tell(event):
    done.append(event.state)
    if sys.argv[3] == "kill" and done.count("done") == 2:
        os.kill(os.getpid(), signal.SIGKILL)
cross_validate(corpus, models, folds=3, samples=10, out=sys.argv[2], workers=1, progress=tell)
print(*done)
"""


def run(*arguments):
    command = [sys.executable, "-c", SCRIPT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_killed_run_goes_on_without_polars(small, tmp_path):
    small.save(tmp_path / "corpus")
    out = tmp_path / "out"
    killed = run(tmp_path / "corpus", out, "kill")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(list((out / "tasks").iterdir())) == 2
    assert not (out / "results.csv").exists()
    second = run(tmp_path / "corpus", out, "go on")
    assert second.returncode == 0, second.stderr
    assert second.stdout.split() == ["kept", "kept", "started", "done"]
    # here, with polars, and at once: the same numbers
    models = [ModelChoice("labels", "scntm", {"topics": 3, "iterations": 6, "eta": 2})]
    corpus = Corpus.load(tmp_path / "corpus")
    rows = cross_validate(corpus, models, folds=3, samples=10)
    assert json.loads((out / "results.json").read_text()) == [row._asdict() for row in rows]
    Table(rows).save(tmp_path / "here", parquet=True)
    frame = pl.read_parquet(tmp_path / "here" / "results.parquet")
    assert frame.height == len(rows)
