"""Projects in their folder, names that cannot leave it, and files handed over piece by piece."""

import os
from pathlib import Path

import pytest

from citeweave.errors import NotFoundError, ParameterError, RunError
from citeweave.web.projects import uploads
from citeweave.web.projects.shelf import Project, Shelf, safe_file_name, slug
from citeweave.web.projects.uploads import Uploads

NAMES = [
    "../../etc/passwd",
    "..",
    ".",
    "/etc/passwd",
    "..\\..\\windows\\system.ini",
    "a/../../b.bib",
    "\x00.bib",
    ".lock",
    "~",
    "con.txt",
    "x" * 4000 + ".bib",
    "ü" * 300,
    "",
    " ",
    "a\nb",
    "%2e%2e%2fpasswd",
]


@pytest.mark.parametrize("name", NAMES)
def test_no_name_of_a_file_leaves_its_folder(name: str, project: Project) -> None:
    own = safe_file_name(name)
    folder = (project.path / "files").resolve()
    assert (folder / own).resolve().parent == folder
    assert own not in {"", ".", ".."}
    assert not own.startswith(".")
    assert len(own.encode()) <= 120
    Uploads(project).add(name, b"text", offset=0, total=4)
    assert own in {path.name for path in project.files}


@pytest.mark.parametrize("title", NAMES)
def test_no_title_leaves_the_shelf(title: str, desk) -> None:
    assert set(slug(title)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    if title.strip():
        assert desk.shelf.create(title).path.parent == desk.shelf.path


@pytest.mark.parametrize("name", ["..", ".", "", "/", "mine/..", "../shelf/three-subjects", "x"])
def test_only_projects_that_are_there_are_found(name: str, project: Project, desk) -> None:
    with pytest.raises(NotFoundError):
        desk.shelf.project(name)
    assert desk.shelf.project(project.name).title == "Three subjects"


def test_other_folders_are_no_projects(desk) -> None:
    (desk.shelf.path / "holiday").mkdir()
    (desk.shelf.path / ".hidden").mkdir()
    assert desk.shelf.projects() == []


def test_a_run_of_the_command_line_is_a_project(run: Path, desk) -> None:
    (desk.shelf.path / "old run").symlink_to(run, target_is_directory=True)
    (found,) = desk.shelf.projects()
    assert found.alone
    assert found.runs[0].done
    with pytest.raises(RunError, match="is a symbolic link"):
        desk.shelf.delete(found)
    assert run.is_dir()


def test_a_shelf_is_no_run(run: Path) -> None:
    with pytest.raises(RunError, match="Pass a folder that holds projects"):
        Shelf(run)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_shelf_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(RunError, match="cannot be written"):
        Shelf(tmp_path / "shelf")


def test_pieces_make_a_file_when_the_last_has_come(project: Project) -> None:
    content = bytes(range(256)) * 10
    for offset in range(0, len(content), 1000):
        Uploads(project).add(
            "a.bib", content[offset : offset + 1000], offset=offset, total=len(content)
        )
        whole = (project.path / "files" / "a.bib").exists()
        assert whole == (offset + 1000 >= len(content))
    assert (project.path / "files" / "a.bib").read_bytes() == content


def test_pieces_out_of_order_are_refused(project: Project) -> None:
    taken = Uploads(project)
    taken.add("a.bib", b"12345", offset=0, total=10)
    for offset, piece in [(6, b"1234"), (4, b"123456"), (5, b"123456")]:
        with pytest.raises(ParameterError, match="out of order"):
            taken.add("a.bib", piece, offset=offset, total=10)
    taken.add("a.bib", b"12", offset=0, total=2)
    assert (project.path / "files" / "a.bib").read_bytes() == b"12", "begun again"


def test_too_much_is_refused_before_it_comes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ParameterError, match="exceed"):
        Uploads(project, most_bytes=5000).add("a.bib", b"1", offset=0, total=6000)
    monkeypatch.setattr(uploads, "MOST_FILES", 1)
    with pytest.raises(ParameterError, match="at most 1 files"):
        Uploads(project).add("a.bib", b"1", offset=0, total=1)
    monkeypatch.undo()
    monkeypatch.setattr(uploads, "ROOM_LEFT", 10**18)
    with pytest.raises(RunError, match="not enough disk space"):
        Uploads(project).add("a.bib", b"1", offset=0, total=1)


def test_deleting_takes_all_of_a_project(project: Project, desk) -> None:
    other = desk.shelf.create("Another")
    desk.shelf.delete(project)
    assert [path.name for path in desk.shelf.path.iterdir()] == [other.name]
