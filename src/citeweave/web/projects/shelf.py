"""The folder in which the app keeps its projects, and the contents of a project.

A project is a folder like the one that `citeweave run` creates (``corpus``, ``run``,
``import.html``), with the uploaded files (``files``), further runs (``run-2``, ...) and tasks
(``tasks``). A run folder next to the projects that was created on the command line is shown as a
project with one run.
"""

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from citeweave.corpus.storage import is_corpus_folder
from citeweave.errors import NotFoundError, ParameterError, RunError
from citeweave.files import absolute, name_beside, write_text, writing
from citeweave.runs.folder import RunFolder, is_run_folder
from citeweave.web.projects.tasks import ProjectTask

__all__ = ["Project", "ProjectRun", "Shelf", "default_folder", "safe_file_name", "slug"]

PROJECT_FILE = "project.json"
_RUN = re.compile(r"run(?:-[0-9]{1,4})?")
_LONGEST_TITLE = 120
_RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{i}" for d in ("com", "lpt") for i in range(10))}


def default_folder() -> Path:
    """Return the default folder for projects: in the user's documents, or in the home folder."""
    home = Path.home()
    documents = home / "Documents"
    return (documents if documents.is_dir() else home) / "citeweave"


def slug(title: str) -> str:
    """Turn a title into a name for folders and URLs.

    Examples
    --------
    >>> slug("Böden & Ernten, 2000–2020"), slug("../../etc"), slug("…"), slug("CON")
    ('boden-ernten-2000-2020', 'etc', 'project', 'con-project')
    """
    letters = "".join(
        c for c in unicodedata.normalize("NFKD", title) if not unicodedata.combining(c)
    )
    plain = re.sub(r"[^a-z0-9]+", "-", letters.lower())
    name = plain.strip("-")[:50].strip("-") or "project"
    return f"{name}-project" if name in _RESERVED else name


def safe_file_name(name: str) -> str:
    r"""Return a safe file name: no path separators, not hidden, not reserved by the system.

    Examples
    --------
    >>> safe_file_name("../../etc/passwd"), safe_file_name("C:\\exports\\savedrecs (1).txt")
    ('passwd', 'savedrecs (1).txt')
    >>> safe_file_name(".hidden"), safe_file_name("a\x00b\n.bib"), safe_file_name("")
    ('hidden', 'ab.bib', 'file')
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(c for c in unicodedata.normalize("NFC", last) if c.isprintable())
    shown = re.sub(r'[<>:"|?*]', "_", shown).strip(" .")
    stem, dot, suffix = shown.rpartition(".")
    if len(shown.encode()) > 120:
        kept = suffix[:12] if dot else ""
        shown = (stem or shown).encode()[:100].decode(errors="ignore") + (
            f".{kept}" if kept else ""
        )
    if shown.split(".")[0].lower() in _RESERVED:
        shown = f"_{shown}"
    return shown or "file"


class ProjectRun:
    """A run of a project: its folder and the task that fits it."""

    def __init__(self, project: "Project", path: Path, name: str = "") -> None:
        self.project = project
        self.path = path
        self.name = name or path.name
        self.task = ProjectTask(project.path / "tasks" / self.name)

    @property
    def number(self) -> int:
        """Number of the run within the project, from 1."""
        _, _, number = self.name.partition("-")
        return int(number) if number.isdecimal() else 1

    @property
    def is_there(self) -> bool:
        """Whether the run folder exists; a fit that has just started has none yet."""
        return is_run_folder(self.path)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest of the run; empty if it cannot be read."""
        try:
            return RunFolder.open(self.path).manifest
        except RunError:
            return {}

    @property
    def done(self) -> bool:
        """Whether all chains are finished."""
        return self.manifest.get("status") == "done" and "longer" not in self.manifest

    @property
    def usable(self) -> bool:
        """Whether there are estimates from all chains, also while the run is being extended."""
        return self.manifest.get("status") == "done"

    @property
    def title(self) -> str:
        """A short description of the run."""
        parameters = self.manifest.get("parameters") or self.task.settings.get("parameters", {})
        topics = parameters.get("topics")
        if isinstance(topics, int):
            return f"At most {topics} topics"
        return "Number of topics chosen by a scan" if topics == "auto" else self.name

    @property
    def changed(self) -> float:
        """When it last changed, in seconds."""
        return _changed(self.path / "manifest.json", self.task.path / "state.json")


class Project:
    """A project: files, a corpus and runs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self.import_task = ProjectTask(path / "tasks" / "import")

    @property
    def alone(self) -> bool:
        """Whether the folder is itself a run created elsewhere, which can only be explored."""
        return is_run_folder(self.path)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The facts recorded when the project was created."""
        try:
            found = json.loads((self.path / PROJECT_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def title(self) -> str:
        """The name given by the user."""
        return str(self.facts.get("title") or self.name.removesuffix("-results"))

    @property
    def demo(self) -> bool:
        """Whether it is the demo."""
        return bool(self.facts.get("demo"))

    @property
    def files(self) -> list[Path]:
        """The uploaded files."""
        folder = self.path / "files"
        if not folder.is_dir():
            return []
        # unfinished uploads have hidden names
        found = (path for path in folder.iterdir() if not path.name.startswith("."))
        return sorted(path for path in found if path.is_file())

    @property
    def corpus(self) -> Path:
        """Folder of the corpus, which may not exist yet."""
        return self.path / "corpus"

    @property
    def has_corpus(self) -> bool:
        """Whether the files have been imported."""
        return is_corpus_folder(self.corpus)

    @property
    def runs(self) -> list[ProjectRun]:
        """All runs, oldest first, including those that only have a task so far."""
        if self.alone:
            return [ProjectRun(self, self.path, "run")]
        names = {p.name for p in (self.path / "tasks").glob("run*") if p.is_dir()}
        names |= {p.name for p in self.path.glob("run*") if is_run_folder(p)}
        found = [ProjectRun(self, self.path / name) for name in names if _RUN.fullmatch(name)]
        return sorted(found, key=lambda run: run.number)

    def run(self, name: str) -> ProjectRun:
        """Find a run by name."""
        for run in self.runs:
            if run.name == name:
                return run
        raise NotFoundError(f"The project has no run '{name}'.")

    def new_run(self) -> ProjectRun:
        """Return a run with an unused name."""
        number = max((run.number for run in self.runs), default=0) + 1
        return ProjectRun(self, self.path / ("run" if number == 1 else f"run-{number}"))

    @property
    def changed(self) -> float:
        """When it last changed, in seconds."""
        places = [self.path / "manifest.json", self.path / PROJECT_FILE, self.corpus]
        return max(
            _changed(*places, self.import_task.path / "state.json"),
            *(run.changed for run in self.runs),
            0.0,
        )


class Shelf:
    """A folder of projects.

    Parameters
    ----------
    folder : path
        Created if it does not exist.

    Raises
    ------
    RunError
        The folder cannot be created or written to.

    Examples
    --------
    >>> import tempfile
    >>> shelf = Shelf(tempfile.mkdtemp())
    >>> shelf.create("My papers").name, shelf.create("My papers").name
    ('my-papers', 'my-papers-2')
    >>> [project.title for project in shelf.projects()]
    ['My papers', 'My papers']
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = absolute(Path(folder).expanduser())
        hint = "Choose another folder for your projects."
        with writing(self.path, hint):
            self.path.mkdir(parents=True, exist_ok=True)
        if is_run_folder(self.path) or is_corpus_folder(self.path):
            raise RunError(
                f"'{self.path}' is a run or a corpus. Pass a folder that holds projects, such as "
                f"'{self.path.parent}'."
            )
        if not os.access(self.path, os.W_OK):
            raise RunError(f"'{self.path}' cannot be written: permission denied. {hint}")

    def projects(self) -> list[Project]:
        """All projects, most recent first."""
        found = sorted(self._found(), key=lambda project: project.name)
        return sorted(found, key=lambda project: project.changed, reverse=True)

    def _found(self) -> Iterator[Project]:
        for path in self.path.iterdir():
            if not path.name.startswith(".") and path.is_dir():
                project = Project(path)
                if self._is_project(project):
                    yield project

    def _is_project(self, project: Project) -> bool:
        return (project.path / PROJECT_FILE).is_file() or project.alone or project.has_corpus

    def project(self, name: str) -> Project:
        """Find a project by the name of its folder."""
        # compare with the existing folders, so that no name can lead outside
        for project in self._found():
            if project.name == name:
                return project
        raise NotFoundError(f"There is no project '{name}'. It may have been deleted or renamed.")

    def create(self, title: str, *, demo: bool = False) -> Project:
        """Create an empty project."""
        shown = " ".join(title.split())[:_LONGEST_TITLE]
        if not shown:
            raise ParameterError("Give the project a name.")
        base, number = slug(shown), 1
        while True:
            path = self.path / (base if number == 1 else f"{base}-{number}")
            number += 1
            with writing(path, "Free some disk space or fix the permissions."):
                try:
                    path.mkdir()
                except FileExistsError:
                    continue
                facts = {
                    "format": "citeweave-project",
                    "version": 1,
                    "title": shown,
                    "created": datetime.now(UTC).isoformat(timespec="seconds"),
                    "demo": demo,
                }
                (path / "files").mkdir()
                text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
                write_text(path / PROJECT_FILE, text)
            return Project(path)

    def corpora(self) -> list[Path]:
        """Return the corpora next to the projects that were created on the command line."""
        found = (path for path in self.path.iterdir() if not path.name.startswith("."))
        return sorted(path for path in found if is_corpus_folder(path))

    def adopt(self, name: str) -> Project:
        """Create a project with a copy of one of these corpora."""
        for path in self.corpora():
            if path.name == name:
                made = self.create(name.removesuffix("-corpus"))
                with writing(made.corpus, "Free some disk space first."):
                    shutil.copytree(path, made.corpus)
                return made
        raise NotFoundError(f"There is no corpus '{name}'. It may have been deleted or renamed.")

    def delete(self, project: Project) -> None:
        """Delete a project with everything in it."""
        _remove(project.path)

    def delete_run(self, run: ProjectRun) -> None:
        """Delete one run of a project."""
        for path in (run.path, run.task.path):
            if path.exists():
                _remove(path)


def _remove(path: Path) -> None:
    """Rename a folder, then delete it, so that a half-deleted project never shows up."""
    if path.is_symlink():
        raise RunError(f"'{path}' is a symbolic link; delete it yourself.")
    gone = name_beside(path, "deleted")
    with writing(path, "Fix the permissions, or close the programs that use it."):
        path.rename(gone)
    shutil.rmtree(gone, ignore_errors=sys.platform == "win32")


def _changed(*paths: Path) -> float:
    times = []
    for path in paths:
        try:
            times.append(path.stat().st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)
