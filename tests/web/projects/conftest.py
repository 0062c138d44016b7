"""A folder of projects, and a client of its app."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from citeweave.web.projects.app import create_projects_app
from citeweave.web.projects.desk import Desk
from citeweave.web.projects.shelf import Project, Shelf
from citeweave.web.projects.tasks import ProjectTask
from reference.patience import PATIENCE
from web.calling import Client
from web.projects.sample import sample_csv

TOKEN = "secret-token"  # noqa: S105
INTENT = {"x-citeweave": "1"}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(Shelf(tmp_path / "shelf"), token=TOKEN)
    yield desk
    for project in desk.shelf.projects():
        for task in (project.import_task, *(run.task for run in project.runs)):
            task.stop()
            wait(desk, task)


@pytest.fixture
def app(desk: Desk) -> Client:
    return Client(create_projects_app(desk))


@pytest.fixture
def project(desk: Desk) -> Project:
    """A project with a file, which is not imported."""
    made = desk.shelf.create("Three subjects")
    (made.path / "files" / "papers.csv").write_bytes(sample_csv())
    return made


def wait(desk: Desk, task: ProjectTask) -> None:
    """Wait for the process of a task."""
    process = desk.starter._processes.get(task.path)
    if process is not None:
        process.wait(PATIENCE)
