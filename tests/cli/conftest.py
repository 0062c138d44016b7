"""Small corpora and runs that the tests of the command line share."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from reference.drawn import tiny_literature


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"})


@pytest.fixture(scope="session")
def corpus_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_literature().save(tmp_path_factory.mktemp("cli") / "small")
