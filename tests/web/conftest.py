"""A small run with nasty strings, and a client of its explorer."""

import shutil
from pathlib import Path

import pytest

for package in ("httpx", "jinja2", "starlette", "uvicorn"):
    pytest.importorskip(package, reason=f"{package} is not installed (the extra 'test' has it)")

from web.calling import Client, open_client  # noqa: E402
from web.report.literature import fit, literature  # noqa: E402


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; it must not be changed, see `own_run`."""
    folder = tmp_path_factory.mktemp("web") / "run"
    fit(literature(places=True), out=folder)
    return folder


@pytest.fixture
def own_run(run: Path, tmp_path: Path) -> Path:
    """A copy of the run that a test may change."""
    return Path(shutil.copytree(run, tmp_path / "run"))


@pytest.fixture(scope="session")
def client(run: Path) -> Client:
    return open_client(run)
