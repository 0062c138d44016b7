"""The same seed gives the same results as the release before: stored fingerprints of small fits.

``tests/data/fingerprints.json`` holds, for each array of each fit of `fingerprints`, a hash of its
bytes and, where the numbers have a fraction, a weighed mean. Counts, assignments and the random
state must be equal everywhere. Fractions must be equal to the last bit where processor, compiler
and libraries are those of the stored values, and to a millionth elsewhere: a fused multiplication
or another logarithm may change the last bit of a probability, not what is drawn.

A change that is meant to alter draws stores new values with ``python tests/fingerprints.py
tests/data/fingerprints.json``, sets `citeweave.experiments.tasks.DRAWS_SINCE`, and says so in the
changelog.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import fingerprints

STORED: dict[str, Any] = json.loads(
    Path(__file__).with_name("data").joinpath("fingerprints.json").read_text(encoding="utf-8")
)
FITS = [name for name in fingerprints.FITS if "; slots" not in name]
"""`test_slot_fingerprints` has the others."""

IN_THREADS = [name for name in FITS if "snapshot" in name]


@pytest.fixture(scope="module")
def same_machine() -> bool:
    return fingerprints.describe_machine() == STORED["machine"]


@pytest.fixture(autouse=True)
def twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels of a GPU as the C++ compiler builds them."""
    monkeypatch.setattr(fingerprints.cuda_chain, "CudaDevice", fingerprints.HostDevice)


def differences(found: fingerprints.Fingerprint, name: str, *, same_machine: bool) -> list[str]:
    """Name the arrays that are not those stored."""
    stored = STORED["cases"][name]
    out = [f"{each}: only one of them has it" for each in sorted(set(found) ^ set(stored))]
    for each in sorted(set(found) & set(stored)):
        digest, *mean = found[each]
        expected, *expected_mean = stored[each]
        if digest == expected or (
            mean and not same_machine and mean == pytest.approx(expected_mean, rel=1e-6, abs=1e-9)
        ):
            continue
        out.append(f"{each}: {found[each]}, not {stored[each]}")
    return out


def test_every_fit_is_stored() -> None:
    assert set(STORED["cases"]) == {*fingerprints.FITS, *fingerprints.FOLD_INS}
    assert fingerprints.corpus().fingerprint == STORED["corpus"]


@pytest.mark.parametrize("name", FITS)
def test_a_fit_gives_what_it_gave(name: str, tmp_path: Path, *, same_machine: bool) -> None:
    compare_fit(name, tmp_path, same_machine=same_machine)


def compare_fit(name: str, folder: Path, *, same_machine: bool) -> None:
    found = fingerprints.fit(name, folder / "run")
    assert differences(found, name, same_machine=same_machine) == []


@pytest.mark.parametrize("name", IN_THREADS)
def test_two_threads_give_the_same(name: str, tmp_path: Path, *, same_machine: bool) -> None:
    compare_threads(name, tmp_path, same_machine=same_machine)


def compare_threads(name: str, folder: Path, *, same_machine: bool) -> None:
    found = fingerprints.fit(name, folder / "run", threads=2)
    assert differences(found, name, same_machine=same_machine) == []


@pytest.mark.parametrize("name", FITS)
def test_resumed_it_gives_the_same(name: str, tmp_path: Path, *, same_machine: bool) -> None:
    compare_resumed(name, tmp_path, same_machine=same_machine)


def compare_resumed(name: str, folder: Path, *, same_machine: bool) -> None:
    found = fingerprints.fit_in_two(name, folder / "run")
    assert differences(found, name, same_machine=same_machine) == []


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", fingerprints.FOLD_INS)
def test_a_fold_in_gives_what_it_gave(name: str, threads: int, *, same_machine: bool) -> None:
    found = fingerprints.fold_in(name, threads=threads)
    assert differences(found, name, same_machine=same_machine) == []


@pytest.mark.parametrize("same", [True, False])
def test_a_change_is_named(*, same: bool) -> None:
    name = next(iter(fingerprints.FITS))
    stored = STORED["cases"][name]
    mean = stored["estimates.doc_topic"][1]
    slightly = dict(stored) | {"estimates.doc_topic": ["other", mean * (1 + 1e-9)]}
    assert len(differences(slightly, name, same_machine=same)) == same
    clearly = dict(stored) | {"estimates.doc_topic": ["other", mean * (1 + 1e-4)]}
    assert len(differences(clearly, name, same_machine=same)) == 1
    integers = dict(stored) | {"chain-0.state.assignments.topic": ["other"]}
    del integers["estimates.topic_word"]
    assert len(differences(integers, name, same_machine=same)) == 2
