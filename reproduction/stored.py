"""Finished work in one file, from which pages are written on a machine that has not done it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from citeweave.errors import ParameterError
from citeweave.files import write_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["keep_stored", "take_stored"]

FORMAT = "citeweave-finished-work"
VERSION = 1
FOLDERS = ("parts", "tasks")
"""Folders of results whose files are named by everything that determines them."""


def take_stored(stored: Path, out: Path) -> int:
    """Copy the finished work of a file to a folder that lacks it; return how much was copied.

    Parameters
    ----------
    stored : Path
        A file written by `keep_stored`; nothing is copied if it does not exist yet.
    out : Path
        Folder of results. Work that it has already stays as it is.

    Raises
    ------
    ParameterError
        The file is of another kind, of a later version, or damaged.
    """
    copied = 0
    for number, (place, content) in enumerate(_read(stored).items(), start=2):
        folder, _, name = place.partition("/")
        if folder not in FOLDERS or not name.endswith(".json") or "/" in name or "\\" in name:
            raise ParameterError(
                f"'{stored}', line {number}: {place!r} is not the name of finished work. {_ADVICE}"
            )
        path = out / folder / name
        if not path.exists():
            write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
            copied += 1
    return copied


def keep_stored(out: Path, stored: Path) -> int:
    """Add the finished work of a folder to a file; return how much the file then has.

    The file has one line for each finished task or part, in the order of their names, so that
    versions of it can be compared line by line. Work that the folder lacks remains in the file.
    """
    known = _read(stored)
    for folder in FOLDERS:
        for path in sorted((out / folder).glob("*.json")):
            try:
                known[f"{folder}/{path.name}"] = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                continue  # unfinished: the experiment repeats it
    lines = [{"format": FORMAT, "version": VERSION}]
    lines += [{"file": place, "content": content} for place, content in sorted(known.items())]
    text = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)
    write_text(stored, "\n".join(text) + "\n")
    return len(known)


_ADVICE = "Remove that line, or give another file with --stored."


def _read(stored: Path) -> dict[str, Any]:
    """Read the file by the names of its entries; empty if there is none."""
    if not stored.exists():
        return {}
    try:
        first, *lines = stored.read_text(encoding="utf-8").splitlines()
        head = json.loads(first)
        kind, version = head["format"], head["version"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ParameterError(
            f"'{stored}' is not a file of finished work ({error}). Give one that --stored wrote, "
            "or the name of a new file."
        ) from error
    if kind != FORMAT or version != VERSION:
        raise ParameterError(
            f"'{stored}' has the format {kind!r}, version {version}; this release reads "
            f"{FORMAT!r}, version {VERSION}. Give a file that it wrote, or the name of a new one."
        )
    found = {}
    for number, line in enumerate(lines, start=2):
        try:
            entry = json.loads(line)
            found[entry["file"]] = entry["content"]
        except (ValueError, KeyError, TypeError) as error:
            raise ParameterError(
                f"'{stored}', line {number}, is damaged ({error}). {_ADVICE}"
            ) from error
    return found
