"""Install lines work where they are read: in a clone, beside it, and from an index."""

import json
import sys
from pathlib import Path

import pytest

from citeweave import installing
from citeweave.installing import install_extra, install_package


class Installed:
    """An installation whose record of origin is `text`."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.text


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / "pyproject.toml").write_text("")
    return tmp_path / "clone"


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Pretend that the package lies in site-packages, and came from somewhere."""

    def pretend(origin: str | None) -> None:
        monkeypatch.setattr(installing, "__file__", str(tmp_path / "lib" / "citeweave" / "x.py"))
        text = None if origin is None else json.dumps({"url": origin, "dir_info": {}})
        monkeypatch.setattr(installing.metadata, "distribution", lambda _: Installed(text))

    return pretend


@pytest.fixture(autouse=True)
def plain_pip(monkeypatch):
    beside = str(Path(sys.executable).with_name("pip"))
    monkeypatch.setattr(installing.shutil, "which", lambda _: beside)


def test_from_an_index(installed) -> None:
    installed(None)
    assert install_extra("plot") == "pip install 'citeweave[plot]'"


def test_installed_from_a_clone_and_read_in_it(installed, clone, monkeypatch) -> None:
    installed(clone.as_uri())
    monkeypatch.chdir(clone)
    assert install_extra("plot") == "pip install '.[plot]'"


def test_installed_from_a_clone_and_read_elsewhere(installed, clone, monkeypatch, tmp_path) -> None:
    installed(clone.as_uri())
    monkeypatch.chdir(tmp_path)
    assert install_extra("cuda") == "pip install './clone[cuda]'"
    (tmp_path / "far").mkdir()
    monkeypatch.chdir(tmp_path / "far")
    assert install_extra("cuda") == f"pip install '{clone}[cuda]'"


def test_a_clone_that_is_gone_is_not_named(installed, tmp_path) -> None:
    installed((tmp_path / "gone").as_uri())
    assert install_extra("cuda") == "pip install 'citeweave[cuda]'"


def test_run_from_the_sources(monkeypatch, clone) -> None:
    monkeypatch.setattr(installing, "__file__", str(clone / "src" / "citeweave" / "x.py"))
    monkeypatch.chdir(clone)
    assert install_extra("plot") == "pip install '.[plot]'"


def test_the_pip_of_another_python_is_not_named(installed, monkeypatch, tmp_path) -> None:
    installed(None)
    python = tmp_path / ".venv" / "bin" / "python"
    monkeypatch.setattr(installing.sys, "executable", str(python))
    monkeypatch.chdir(tmp_path)
    assert install_package("polars") == ".venv/bin/python -m pip install polars"
    assert install_extra("plot") == ".venv/bin/python -m pip install 'citeweave[plot]'"
