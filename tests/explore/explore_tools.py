"""Helpers of the tests of exploration."""

import threading
from pathlib import Path

import pytest

from citeweave import SCNTM
from citeweave.corpus import Corpus
from citeweave.model import Progress, RunInterrupted


def interrupt(corpus: Corpus, folder: Path, *, after: int, **parameters: int) -> None:
    """Leave a run that was stopped after some iterations."""
    stop = threading.Event()

    def watch(progress: Progress) -> None:
        if progress.iteration >= after:
            stop.set()

    with pytest.raises(RunInterrupted):
        SCNTM(topics=3, seed=1, **parameters).fit(corpus, out=folder, progress=watch, stop=stop)
