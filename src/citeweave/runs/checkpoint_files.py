"""The files of checkpoints: listing, matching and removing them.

A checkpoint is one ``.npz`` file. That of a divided chain names a folder beside it, which holds one
file per worker. The checkpoint is moved into place when all of these exist, so a folder that no
checkpoint names was never finished.
"""

import secrets
import shutil
from pathlib import Path
from typing import Any

from citeweave.engines.core.row_files import read_header
from citeweave.files import PART

__all__ = ["lacks_part", "new_parts_folder", "remove", "remove_leftovers", "stored"]

_PARTS = ".parts-"


def new_parts_folder(path: Path) -> Path:
    """Name the folder for the parts of a checkpoint that is about to be written."""
    return path.with_name(f"{path.stem}{_PARTS}{secrets.token_hex(4)}")


def stored(folder: Path, kind: str = "checkpoint") -> list[Path]:
    """List the checkpoints of a chain, newest first."""
    return sorted(folder.glob(f"{kind}-*.npz"), reverse=True)


def remove(path: Path) -> None:
    """Remove a checkpoint and its parts, if any; the ``.npz`` goes first, so no part is missed."""
    folders = list(path.parent.glob(f"{path.stem}{_PARTS}*"))
    path.unlink(missing_ok=True)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove incomplete files of killed processes."""
    for path in folder.glob(f"*{PART}"):
        path.unlink(missing_ok=True)
    for parts in folder.glob(f"*{_PARTS}*"):
        stem, _, _ = parts.name.partition(_PARTS)
        if _named_by(folder / f"{stem}.npz") != parts.name:
            shutil.rmtree(parts, ignore_errors=True)


def _named_by(path: Path) -> str | None:
    try:
        return str(read_header(path).get("folder"))
    except Exception:  # noqa: BLE001 (NumPy's reading of a damaged file may end in any)
        return None


def lacks_part(path: Path, header: dict[str, Any]) -> str | None:
    """Return what is wrong with the parts that a checkpoint names, judged by names and sizes."""
    for part in header.get("parts", ()):
        file = path.parent / str(header.get("folder")) / str(part.get("name"))
        if not file.is_file():
            return f"its part '{file}' is missing"
        if file.stat().st_size != part.get("bytes"):
            return f"its part '{file}' is truncated or damaged"
    return None
