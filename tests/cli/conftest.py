"""Small corpora and runs that the tests of the command line share."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from citeweave.simulate import simulate


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"})


@pytest.fixture(scope="session")
def corpus_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    drawn = simulate(
        documents=60,
        vocabulary=80,
        topics=3,
        authors=12,
        categories=3,
        words_per_document=15,
        citations=120,
        seed=5,
    )
    return drawn.corpus.save(tmp_path_factory.mktemp("cli") / "small")
