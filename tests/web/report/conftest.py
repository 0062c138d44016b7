"""Runs that several tests of the report read."""

import threading
from pathlib import Path

import pytest

from citeweave import SCNTM
from citeweave.model import RunInterrupted
from web.report.literature import fit, literature


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two chains with all that there can be."""
    folder = tmp_path_factory.mktemp("report") / "run"
    fit(literature(), out=folder, chains=2)
    return folder


@pytest.fixture(scope="session")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was stopped after its first samples."""
    folder = tmp_path_factory.mktemp("report") / "unfinished"
    stop = threading.Event()

    def watch(progress: object) -> None:
        if progress.iteration >= 105:  # type: ignore[attr-defined]
            stop.set()

    model = SCNTM(topics=4, iterations=120, seed=1, chains=1)
    with pytest.raises(RunInterrupted):
        model.fit(literature(), out=folder, progress=watch, stop=stop)
    return folder
