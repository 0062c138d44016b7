"""Fingerprints of fits over slots, as `test_fingerprints` has those of other sweeps.

They have a file of their own so that two processes compile the kernels of both, side by side.
"""

from pathlib import Path

import pytest

import fingerprints
import test_fingerprints
from test_fingerprints import compare_fit, compare_resumed, compare_threads

same_machine = test_fingerprints.same_machine
SELDOM = "bursty-hdp-lda; slots"
"""A fit whose kernels no other test needs, which is half a minute of compiling. In the default
suite, the same model in snapshot sweeps over slots is compared with its fingerprint, and in both
kinds of sweeps with its enumerated posterior (``tests/engines/slots/test_slot_enumeration.py``)."""

FITS = [
    pytest.param(name, marks=pytest.mark.long if name == SELDOM else ())
    for name in fingerprints.FITS
    if name not in test_fingerprints.FITS
]
IN_THREADS = [name for name in fingerprints.FITS if name.endswith("; slots, snapshot")]


def test_fits_are_divided() -> None:
    assert SELDOM in fingerprints.FITS
    assert len(FITS) + len(test_fingerprints.FITS) == len(fingerprints.FITS)
    assert set(IN_THREADS) | set(test_fingerprints.IN_THREADS) == {
        name for name in fingerprints.FITS if "snapshot" in name
    }


@pytest.mark.parametrize("name", FITS)
def test_a_fit_gives_what_it_gave(name: str, tmp_path: Path, *, same_machine: bool) -> None:
    compare_fit(name, tmp_path, same_machine=same_machine)


@pytest.mark.parametrize("name", IN_THREADS)
def test_two_threads_give_the_same(name: str, tmp_path: Path, *, same_machine: bool) -> None:
    compare_threads(name, tmp_path, same_machine=same_machine)


@pytest.mark.parametrize("name", FITS)
def test_resumed_it_gives_the_same(name: str, tmp_path: Path, *, same_machine: bool) -> None:
    compare_resumed(name, tmp_path, same_machine=same_machine)
