"""Files and folders appear whole or not at all."""

import json
from pathlib import Path

import pytest

from citeweave.files import format_of, name_beside, replace_folder, write_atomically, write_text


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    write_text(tmp_path / "new" / "a.txt", "één\n")
    write_text(tmp_path / "new" / "a.txt", "two\n")
    assert (tmp_path / "new" / "a.txt").read_bytes() == b"two\n"
    assert listing(tmp_path / "new") == ["a.txt"]


def test_an_error_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with write_atomically(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert listing(tmp_path) == ["a.txt"]


def test_two_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with write_atomically(path) as one, write_atomically(path) as two:
        one.write(b"one")
        two.write(b"two")
    assert path.read_bytes() == b"one"  # the outer block ends last
    assert listing(tmp_path) == ["a.txt"]


def test_a_folder_takes_its_place(tmp_path: Path) -> None:
    target = tmp_path / "run"
    for content in ("first", "second"):
        new = name_beside(target)
        assert new.parent == tmp_path
        new.mkdir()
        (new / content).touch()
        replace_folder(new, target)
        assert listing(target) == [content]
    assert listing(tmp_path) == ["run"]


def test_the_old_folder_comes_back(tmp_path: Path) -> None:
    target = tmp_path / "run"
    target.mkdir()
    (target / "kept").touch()
    with pytest.raises(FileNotFoundError):
        replace_folder(tmp_path / "nothing", target)
    assert listing(target) == ["kept"]
    assert listing(tmp_path) == ["run"]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (json.dumps({"format": "citeweave-run"}), "citeweave-run"),
        (json.dumps({"format": 3}), None),
        (json.dumps(["format"]), None),
        ("{", None),
        ("[" * 100_000, None),
    ],
)
def test_formats(tmp_path: Path, content: str, found: str | None) -> None:
    assert format_of(tmp_path) is None
    (tmp_path / "manifest.json").write_text(content)
    assert format_of(tmp_path) == found
