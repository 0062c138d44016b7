"""Install commands for missing dependencies that suit the current installation."""

import json
import os
import shutil
import sys
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

__all__ = ["install_extra", "install_package"]


def install_extra(extra: str) -> str:
    """Return the command that adds an extra to this installation.

    Parameters
    ----------
    extra : str
        Name of the extra: "plot", "cuda", ...

    Returns
    -------
    str
        ``pip install 'citeweave[plot]'`` for an installation from a package index, ``pip install
        '.[plot]'`` in a clone of the repository, with the path of the clone elsewhere.
    """
    source = _source()
    return f"{_pip()} install '{source or 'citeweave'}[{extra}]'"


def install_package(package: str) -> str:
    """Return the command that installs another package into the same environment."""
    return f"{_pip()} install {package}"


def _pip() -> str:
    """Return the pip command of the running Python: plain ``pip`` only if that is the same one."""
    found = shutil.which("pip")
    if found and Path(found).parent == Path(sys.executable).parent:
        return "pip"
    return f"{_relative(Path(sys.executable))} -m pip"


def _source() -> str | None:
    """Return the folder or repository of this installation; None if from an index."""
    above = Path(__file__).parents[2]
    if (above / "pyproject.toml").is_file():  # running from the clone itself
        return _folder(above)
    try:
        text = metadata.distribution("citeweave").read_text("direct_url.json")
        origin = json.loads(text or "{}")
        address = str(origin.get("url", ""))
    except (metadata.PackageNotFoundError, ValueError, AttributeError):
        return None
    if address.startswith("file:"):
        folder = Path(url2pathname(urlsplit(address).path))
        return _folder(folder) if (folder / "pyproject.toml").is_file() else None
    return None


def _folder(folder: Path) -> str:
    """Return a folder name that pip recognises as a path: it starts with a dot or a slash."""
    if folder.resolve() == Path.cwd().resolve():
        return "."
    name = _relative(folder)
    return name if Path(name).is_absolute() else os.path.join(".", name)  # noqa: PTH118 (Path drops it)


def _relative(path: Path) -> str:
    """Return a path relative to the working folder if it lies inside it."""
    try:
        return str(path.relative_to(Path.cwd())) if path.is_absolute() else os.fspath(path)
    except ValueError:
        return str(path)
