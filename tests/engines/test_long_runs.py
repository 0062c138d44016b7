"""A document that repeats one word many times takes work in proportion to its tokens."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Without the compiler every read of a token's topic is a call that can be counted.
SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from types import SimpleNamespace
from citeweave.engines.core import word_climb, word_side
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.slots import SparseChain
from reference.tiny import tiny_chain

class Counted(np.ndarray):
    reads = 0
    def __getitem__(self, key):
        Counted.reads += 1
        return super().__getitem__(key)

kind = {"dense": DenseChain, "slots": SparseChain}[sys.argv[2]]
modules = {"chain": SimpleNamespace(DenseChain=kind), "word_side": word_side}
for tokens in (200, 400):
    chain = tiny_chain("scntm", documents=((0,) * tokens, (0, 1)), topics=3, modules=modules)
    chain.prepare_sweeps()
    held = chain.state.assignments
    chain.state = chain.state._replace(assignments=held._replace(topic=held.topic.view(Counted)))
    Counted.reads = 0
    chain.sweep_words()
    print(Counted.reads)
for word_climb.LONG_RUN in (10**9, -(10**9)):
    documents = ((0, 0, 0, 0, 1, 1), (0, 0, 1, 1, 1))
    chain = tiny_chain("scntm", documents=documents, topics=3, modules=modules)
    for _ in range(10):
        chain.step()
    print(*(number for array in (*chain.state.words, *chain.state.assignments)
            for number in array.ravel()), sep=",")
"""


@pytest.mark.parametrize("kind", ["dense", "slots"])
def test_twice_the_tokens_take_twice_the_work(kind) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(Path(__file__).parents[1]), kind],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    counts, states = done.stdout.split()[:2], done.stdout.split()[2:]
    short, long = map(int, counts)
    assert short >= 200, "nothing was counted"
    assert long < 2.5 * short
    assert states[0] == states[1], "topics are found in another way and then weigh otherwise"
