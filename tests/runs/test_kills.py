"""A run that is killed anywhere goes on to the very same estimates, whatever its options."""

import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from citeweave import Corpus, load, resume
from citeweave.evaluate import hold_out
from citeweave.model import SCNTM
from citeweave.simulate import simulate

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")

QUICK = {"iterations": 8, "seed": 5, "network_from": 2, "burn_in": 4, "thin": 1}
KINDS: dict[str, tuple[dict, dict]] = {
    "plain": ({"topics": 3}, {}),
    "chains": ({"topics": 3, "chains": 2, "threads": 2}, {"citations": 0.2}),
    "text": ({"topics": 3, "model": "cntm-text"}, {"words": 0.2}),
    "labels": ({"topics": 3, "eta": "inf", "combine": "best"}, {"documents": 0.2}),
    "snapshot": ({"topics": 3, "sweep": "snapshot", "device": "cpu"}, {"citations": 0.2}),
    "many topics": ({"topics": 300}, {"citations": 0.2, "words": 0.2}),
}
# Ends its own process at the n-th time that anything is flushed to the disk or an iteration ends.
WORKER = """
import json, os, signal, sys
from citeweave import Corpus
from citeweave.evaluate import hold_out
from citeweave.model import SCNTM

corpus, out, number, parameters, shares = sys.argv[1:]
left = int(number)

def count(*_):
    global left
    left -= 1
    if left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)

flush = os.fsync
def fsync(file):
    count()
    flush(file)
    count()
os.fsync = fsync
train, held = Corpus.load(corpus), {}
if json.loads(shares):
    train, held = hold_out(train, **json.loads(shares), seed=1)
SCNTM(**json.loads(parameters)).fit(
    train, out=out, held_out=held, progress=count, checkpoint_iterations=2
)
"""


@pytest.fixture(scope="module")
def corpus_folder(tmp_path_factory) -> Path:
    drawn = simulate(
        documents=30, vocabulary=25, topics=3, authors=6, categories=2, citations=40, seed=3
    )
    return drawn.corpus.save(tmp_path_factory.mktemp("kills") / "corpus")


def estimates(run: Path) -> dict[str, bytes]:
    model = load(run)
    out = {name: array.tobytes() for name, array in model._fitted.estimates.items()}
    return out | {f"held.{name}": array.tobytes() for name, array in model.held_out_.items()}


def try_kills(corpus_folder: Path, folder: Path, kind: str, number: int) -> None:
    changes, shares = KINDS[kind]
    parameters = QUICK | changes
    train, held = Corpus.load(corpus_folder), {}
    if shares:
        train, held = hold_out(train, **shares, seed=1)
    SCNTM(**parameters).fit(train, out=folder / "whole", held_out=held)
    expected = estimates(folder / "whole")
    chance = random.Random(number)  # noqa: S311 (no secret)
    killed = 0
    for i in range(number):
        out = folder / f"run-{i}"
        words = [corpus_folder, out, chance.randrange(1, 60)]
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                WORKER,
                *map(str, words),
                *map(json.dumps, (parameters, shares)),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in {0, -signal.SIGKILL}, done.stderr
        killed += done.returncode != 0
        if not out.exists():  # killed before it was in place: nothing is left but hidden folders
            assert done.returncode
            SCNTM(**parameters).fit(train, out=out, held_out=held)
        else:
            resume(out)
        assert estimates(out) == expected, f"{kind}: killed at {words[-1]}"
    assert killed


@pytest.mark.parametrize("kind", ["plain", "chains"])
def test_a_few_kills(corpus_folder, tmp_path, kind) -> None:
    try_kills(corpus_folder, tmp_path, kind, 2)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_kills(corpus_folder, tmp_path, kind) -> None:
    try_kills(corpus_folder, tmp_path, kind, 34)
