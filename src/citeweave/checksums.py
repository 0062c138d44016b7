"""Checksums in manifests: a file that is not what was written is noticed when it is read.

A manifest names every file of its folder under ``files`` with the CRC-32 of its bytes, and carries
one of its own contents under ``checksum``. CRC-32 notices every damage of up to 32 bits in a row
and all but one in four billion others, at a gigabyte a second on one core (SHA-256 0.4, BLAKE2b 0.2
on the same machine). Folders of earlier releases have none of this and are read as before.
"""

import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from citeweave.errors import CiteweaveError

__all__ = ["check_content", "check_file", "checksum", "checksums", "damaged_files", "sealed"]

_BLOCK = 1 << 20
_PREFIX = "crc32-"


def checksum(path: Path) -> str:
    """Give the checksum of a file's bytes, as manifests write it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "a.txt").write_bytes(b"topics")
    ...     checksum(Path(folder, "a.txt"))
    'crc32-91f64639'
    """
    value = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            value = zlib.crc32(block, value)
    return f"{_PREFIX}{value:08x}"


def checksums(folder: Path, names: Iterable[str] | None = None) -> dict[str, str]:
    """Give the checksums of files by name below a folder; of all but its manifest if None."""
    if names is None:
        found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        names = sorted(path.as_posix() for path in found if path.as_posix() != "manifest.json")
    return {name: checksum(folder / name) for name in names}


def check_file(
    folder: Path, manifest: Mapping[str, Any], name: str, *, again: str, error: type[CiteweaveError]
) -> None:
    """Refuse a file that is not the one its manifest knows; one it does not know passes.

    Parameters
    ----------
    folder : Path
    manifest : mapping
        Of the folder.
    name : str
        Of the file, below the folder, with slashes.
    again : str
        What to do about it, as a sentence.
    error : type
        What is raised.
    """
    known = _known(manifest)
    if name in known and checksum(folder / name) != known[name]:
        raise error(
            f"'{folder / name}' is damaged: its contents do not match their checksum. {again}"
        )


def damaged_files(folder: Path, manifest: Mapping[str, Any]) -> dict[str, str]:
    """Check every file that a manifest names; give what is wrong by name."""
    wrong: dict[str, str] = {}
    for name, expected in _known(manifest).items():
        try:
            if checksum(folder / name) != expected:
                wrong[name] = "its contents do not match their checksum"
        except FileNotFoundError:
            wrong[name] = "it is missing"
        except OSError as error:
            wrong[name] = f"it cannot be read ({error.strerror or error})"
    return wrong


def sealed(content: Mapping[str, Any]) -> str:
    """Write a mapping as JSON that carries the checksum of the rest of it."""
    plain = {name: value for name, value in content.items() if name != "checksum"}
    text = json.dumps(plain, indent=2, ensure_ascii=False)
    whole = {**plain, "checksum": _digest(json.loads(text))}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def check_content(content: Mapping[str, Any], path: Path, error: type[CiteweaveError]) -> None:
    """Refuse what `sealed` wrote and something changed since; without a checksum it passes."""
    expected = content.get("checksum")
    if expected is None:
        return
    if expected != _digest({name: content[name] for name in content if name != "checksum"}):
        raise error(
            f"'{path}' was changed or damaged since it was written: its contents do not match "
            'their checksum. If you changed it on purpose, remove its entry "checksum".'
        )


def _known(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    known = manifest.get("files")
    return known if isinstance(known, dict) else {}


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return f"{_PREFIX}{zlib.crc32(text.encode(errors='surrogatepass')):08x}"
