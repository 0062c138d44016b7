"""Machine code: what gets some, where it is kept, and that damage to it costs time alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from citeweave.compiled import inlined, kernel

KERNEL = """
from citeweave.compiled import kernel

@kernel
def total(values):
    sum = 0.0
    for value in values:
        sum += value
    return sum
"""
CALL = """
import importlib.util, sys
import numpy as np

def load():
    spec = importlib.util.spec_from_file_location("summing", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.total

def call():
    total = load()
    assert total(np.arange(5.0)) == 10.0
    return sum(total.stats.cache_hits.values())
"""
FLIP = """
import random
from pathlib import Path

assert call() == 0
assert call() == 1
files = [path for path in Path(sys.argv[2]).rglob("*.nb?") if "total" in path.name]
assert {path.suffix for path in files} == {".nbi", ".nbc"}
random = random.Random(1)
for path in files:
    whole = path.read_bytes()
    for _ in range(20):
        damaged = bytearray(whole)
        damaged[random.randrange(len(whole))] ^= 1 << random.randrange(8)
        path.write_bytes(damaged)
        assert call() == 0, "a damaged file was used"
        assert path.read_bytes() != damaged, "a damaged file was kept"
        assert call() == 1
    for length in (0, 3, len(whole) // 2):
        path.write_bytes(whole[:length])
        assert call() == 0
"""


def run(code: str, tmp_path: Path, **environment: str) -> None:
    source = tmp_path / "summing.py"
    source.write_text(KERNEL)
    kept = {k: v for k, v in os.environ.items() if k not in {"NUMBA_CACHE_DIR", "CITEWEAVE_CACHE"}}
    done = subprocess.run(
        [sys.executable, "-c", CALL + code, source, tmp_path],
        env=kept | {name: str(tmp_path / place) for name, place in environment.items()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr}"


def test_damaged_machine_code_is_compiled_again(tmp_path: Path) -> None:
    run(FLIP, tmp_path, NUMBA_CACHE_DIR="kernels")


def test_a_variable_moves_the_cache(tmp_path: Path) -> None:
    run("call()", tmp_path, CITEWEAVE_CACHE="mine", XDG_CACHE_HOME="other")
    assert list((tmp_path / "mine").glob("kernels-*/**/*.nbc"))
    assert not (tmp_path / "other").exists()


def test_numbas_own_variable_comes_first(tmp_path: Path) -> None:
    run("call()", tmp_path, NUMBA_CACHE_DIR="numbas", CITEWEAVE_CACHE="mine")
    assert list((tmp_path / "numbas").glob("kernels-*/**/*.nbc"))
    assert not (tmp_path / "mine").exists()


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    run("assert call() == 0 and call() == 0", tmp_path, CITEWEAVE_CACHE="file")


@inlined
def twice(value):
    return 2 * value


@kernel(cache=False)
def four_times(value):
    return twice(twice(value))


@pytest.mark.skipif(not hasattr(four_times, "overloads"), reason="kernels are not compiled")
def test_what_is_pasted_in_gets_no_machine_code_of_its_own() -> None:
    assert four_times(3) == 12
    (pasted,) = twice.overloads.values()
    (called,) = four_times.overloads.values()
    assert getattr(pasted.library, "_compiled_object", None) is None
    assert called.library._compiled_object
