"""A run that is killed anywhere goes on to the very same estimates, whatever its options."""

import json
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from citeweave import load
from citeweave.simulate import simulate

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")

QUICK = {"iterations": 8, "seed": 5, "network_from": 2, "burn_in": 4, "thin": 1}
KINDS: dict[str, tuple[dict, dict]] = {
    "plain": ({"topics": 3}, {}),
    "chains": ({"topics": 3, "chains": 2, "threads": 2}, {"citations": 0.2}),
    "text": ({"topics": 3, "model": "cntm-text"}, {"words": 0.2}),
    "labels": ({"topics": 3, "eta": "inf", "combine": "best"}, {"documents": 0.2}),
    "groups": (
        {"topics": 3, "eta": 2, "unknown": "own", "chains": 2, "combine": "consensus"},
        {"citations": 0.2, "documents": 0.2},
    ),
    "authors": ({"topics": 3, "model": "np-atm", "topic_discount": 0, "thin": 3}, {"words": 0.2}),
    "snapshot": ({"topics": 3, "sweep": "snapshot", "device": "cpu"}, {"citations": 0.2}),
    "rounds": (
        {"topics": 3, "sweep": "snapshot", "device": "cpu", "rounds": 3, "chains": 2, "threads": 2},
        {"documents": 0.2},
    ),
    "many topics": ({"topics": 300}, {"citations": 0.2, "words": 0.2}),
    "many topics in snapshots": (
        {"topics": 300, "sweep": "snapshot", "device": "cpu", "burn_in": 2},
        {"words": 0.2},
    ),
}
DRAWN = {"documents": 30, "vocabulary": 25, "topics": 3, "authors": 6, "categories": 2}
DRAWN |= {"citations": 40, "seed": 3}
# Fits once, in memory; then, for each line that it reads, forks a process that fits, or goes on
# where there is a run already, and ends itself at the n-th time that anything is flushed to disk
# or an iteration ends. A fork has all kernels at hand, so that hundreds of kills take minutes. The
# first process reads and writes no tables: the threads of Polars do not outlive a fork.
NURSERY = """
import json, os, signal, sys, traceback
from citeweave import Corpus, resume
from citeweave.evaluate import hold_out
from citeweave.model import SCNTM
from citeweave.simulate import simulate

corpus, parameters, shares, drawn = sys.argv[1], *map(json.loads, sys.argv[2:])
passed, last = 0, 0

def count(*_):
    global passed
    passed += 1
    if passed == last:
        os.kill(os.getpid(), signal.SIGKILL)

flush = os.fsync
def fsync(file):
    count()
    flush(file)
    count()
os.fsync = fsync
watch = {"progress": count, "checkpoint_iterations": 2}

def fit(corpus, **options):
    held = {}
    if shares:
        corpus, held = hold_out(corpus, **shares, seed=1)
    SCNTM(**parameters).fit(corpus, held_out=held, **options)

fit(simulate(**drawn).corpus)
for line in sys.stdin:
    out, last = json.loads(line)
    end, begin = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.path.exists(out):
                resume(out, **watch)
            else:
                fit(Corpus.load(corpus), out=out, **watch)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os.write(begin, str(passed).encode())
        os._exit(0)
    os.close(begin)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(end) as told:
        print(json.dumps([code, int(told.read() or 0)]), flush=True)
"""


@pytest.fixture(scope="module")
def corpus_folder(tmp_path_factory) -> Path:
    drawn = simulate(**DRAWN)
    return drawn.corpus.save(tmp_path_factory.mktemp("kills") / "corpus")


def estimates(run: Path) -> dict[str, bytes]:
    model = load(run)
    out = {name: array.tobytes() for name, array in model._fitted.estimates.items()}
    return out | {f"held.{name}": array.tobytes() for name, array in model.held_out_.items()}


class Nursery:
    """Processes that fit one kind of run and are killed on the way."""

    def __init__(self, corpus_folder: Path, kind: str, errors: Path) -> None:
        changes, shares = KINDS[kind]
        words = [str(corpus_folder), *map(json.dumps, (QUICK | changes, shares, DRAWN))]
        self.errors = errors
        with errors.open("w") as written:
            self.process = subprocess.Popen(
                [sys.executable, "-c", NURSERY, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=written,
                text=True,
            )

    def work(self, out: Path, last: int = 0) -> int:
        """Fit or go on, and die at the n-th step; give the steps that were done, 0 if it died."""
        self.process.stdin.write(json.dumps([str(out), last]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, self.errors.read_text()
        code, steps = json.loads(answer)
        assert code in {0, -signal.SIGKILL}, self.errors.read_text()
        return steps

    def close(self) -> None:
        self.process.communicate()


def try_kills(corpus_folder: Path, folder: Path, kind: str, number: int) -> None:
    """Kill runs at any step; every second one is killed once more after it went on."""
    chance = random.Random(number)  # noqa: S311 (no secret)
    nursery = Nursery(corpus_folder, kind, folder / "errors.txt")
    steps = nursery.work(folder / "whole")
    expected = estimates(folder / "whole")
    for i in range(number):
        out = folder / f"run-{i}"
        places = [chance.randrange(1, steps + 1)]
        assert nursery.work(out, places[0]) == 0, "it was not killed"
        if i % 2:  # it may have less left to do than that
            places.append(chance.randrange(1, steps + 1))
            nursery.work(out, places[1])
        nursery.work(out)
        assert estimates(out) == expected, f"{kind}: killed at {places}"
        assert not list(out.rglob("*.part"))
        shutil.rmtree(out)
    nursery.close()


@pytest.mark.parametrize("kind", ["plain", "chains"])
def test_a_few_kills(corpus_folder, tmp_path, kind) -> None:
    try_kills(corpus_folder, tmp_path, kind, 4)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_kills(corpus_folder, tmp_path, kind) -> None:
    try_kills(corpus_folder, tmp_path, kind, 20)
