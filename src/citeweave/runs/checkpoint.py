"""Checkpoints of one chain: one .npz file each, written atomically and verified when read.

A checkpoint holds the state of the chain (including its random state), the sums of its estimates
and its traces so far, so that a resumed chain continues as if it had never stopped. It is written
under a temporary name, flushed to disk and renamed; the newest two are kept. The workers of a
divided chain write the rows that they own into a folder beside it before it is moved into place
(`citeweave.engines.core.row_files`).
"""

import hashlib
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from citeweave.engines.core.arrays import State, flatten
from citeweave.engines.core.compact_rows import CompactRows
from citeweave.engines.core.count_lists import LISTS, pack_counts, unpack_counts
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.row_files import WrittenParts, read_rows
from citeweave.errors import RunError
from citeweave.files import write_atomically, writing
from citeweave.runs.checkpoint_files import (
    lacks_part,
    new_parts_folder,
    remove,
    remove_leftovers,
    stored,
)

__all__ = [
    "KEPT",
    "Checkpoint",
    "Identity",
    "chain_folder",
    "flatten",
    "has_sampling_start",
    "keep_newest",
    "read_checkpoint",
    "read_latest",
    "read_sampling_start",
    "remove_leftovers",
    "restore_state",
    "write_checkpoint",
    "write_sampling_start",
]

FORMAT = "citeweave-checkpoint"
VERSION = 1
DIVIDED_VERSION = 2
"""Format version of checkpoints that consist of several parts."""
LISTED_VERSION = 3
"""Format version of checkpoints whose counts of nodes are lists of the topics that a node has,
whether in one piece or in several parts."""
KEPT = 2

# Errors of zipfile and NumPy for damaged archives, including wrong encryption or compression flags.
_DAMAGES = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)

_T = TypeVar("_T", bound=tuple[Any, ...])


class Identity(NamedTuple):
    """What identifies a chain; a checkpoint is used only if it matches."""

    fingerprint: str
    """Fingerprint of the corpus."""
    plan: str
    """Digest of all parameters that affect the draws of the chain."""
    chain: int


class Checkpoint(NamedTuple):
    """Everything that a chain needs to continue."""

    iteration: int
    state: dict[str, Any]
    """The arrays of a `State`, named by their path ("topics.customers"). If the workers of a
    divided chain read their own arrays, only those that all parts share. Counts of nodes are arrays
    or `CompactRows`."""
    sums: Sums | None
    """None before the first kept sample, and for a finished run that does not need them."""
    traces: dict[str, np.ndarray]
    """One value (or row) per completed iteration."""
    proposal: Mapping[str, np.ndarray] = MappingProxyType({})
    """Additional arrays of a chain that proposes topics from earlier counts."""
    settlement: Mapping[str, Any] | None = None
    """Why and after how many iterations samples are kept, once this has been decided."""
    agreement: Mapping[str, Any] | None = None
    """Agreement of the chains at their last comparison."""
    path: Path | None = None
    """File that it was read from."""
    samples: int = 0
    """Number of samples in the sums that the workers of a divided chain read themselves."""


Parts = Callable[[Path], WrittenParts]
"""Has the workers of a divided chain write their parts into a folder."""


class _RefusedError(Exception):
    """A file cannot be used, for the reason in the message."""


def unflatten(like: _T, arrays: Mapping[str, np.ndarray], prefix: str = "") -> _T:
    """Rebuild the NamedTuple, with exactly the shapes and types of ``like``.

    Counts of nodes may be lists in one and arrays in the other.
    """
    parts: list[Any] = []
    for name, part in zip(like._fields, like, strict=True):  # type: ignore[attr-defined]
        if isinstance(part, tuple) and not isinstance(part, CompactRows):
            parts.append(unflatten(part, arrays, f"{prefix}{name}."))
            continue
        found = arrays.get(prefix + name)
        if found is None and part.size == 0:  # earlier releases did not have this array
            found = part
        if found is None or found.shape != part.shape or found.dtype != part.dtype:
            raise _RefusedError(
                f"its array '{prefix}{name}' is "
                + ("missing" if found is None else f"{found.dtype} of shape {found.shape}")
                + f", but that of the chain is {part.dtype} of shape {part.shape}"
            )
        parts.append(found)
    return type(like)(*parts)


def restore_state(checkpoint: Checkpoint, like: State) -> State:
    """Return the state of a checkpoint, which must match that of the chain."""
    try:
        return unflatten(like, checkpoint.state)
    except _RefusedError as refused:
        raise RunError(
            f"The checkpoint of iteration {checkpoint.iteration} does not fit the chain: {refused}."
        ) from None


def chain_folder(chains: Path, number: int) -> Path:
    """Return the folder with the checkpoints of one chain."""
    return chains / f"chain-{number}"


def write_checkpoint(
    folder: Path, identity: Identity, checkpoint: Checkpoint, parts: Parts | None = None
) -> Path:
    """Write a checkpoint and remove all but the newest two.

    With ``parts``, state and sums are written by the workers of a divided chain; the checkpoint
    is valid once all of them have finished.

    Raises
    ------
    RunError
        The disk is full or the folder cannot be written. Earlier checkpoints are unchanged.
    """
    path = _write(folder, identity, checkpoint, "checkpoint", parts)
    for old in stored(folder)[KEPT:]:
        remove(old)
    return path


def write_sampling_start(
    folder: Path, identity: Identity, checkpoint: Checkpoint, parts: Parts | None = None
) -> Path:
    """Write the state in which a chain begins to keep samples; a longer run continues from it."""
    path = _write(folder, identity, checkpoint, "sampling", parts)
    for old in stored(folder, "sampling"):
        if old != path:
            remove(old)
    return path


def has_sampling_start(folder: Path) -> bool:
    """Whether the state in which a chain began to keep samples was stored."""
    return bool(stored(folder, "sampling"))


def read_sampling_start(
    folder: Path, identity: Identity, *, by_workers: bool = False
) -> Checkpoint | None:
    """Read the state in which a chain began to keep samples; None if it was not stored."""
    found = stored(folder, "sampling")
    return read_checkpoint(found[0], identity, by_workers=by_workers) if found else None


def _write(
    folder: Path, identity: Identity, checkpoint: Checkpoint, kind: str, parts: Parts | None
) -> Path:
    path = folder / f"{kind}-{checkpoint.iteration:08d}.npz"
    hint = (
        "Earlier checkpoints are intact: free some disk space or correct the permissions, then run "
        f"`citeweave resume {folder.parent.parent}`."
    )
    if not folder.parent.is_dir():
        raise RunError(
            f"The run folder '{folder.parent.parent}' was moved or removed during the run, so "
            "it ends here. Everything saved is in the folder at its new location; continue there "
            "with `citeweave resume FOLDER`."
        )
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        **identity._asdict(),
        "iteration": checkpoint.iteration,
    }
    if parts is None:
        arrays = pack_counts({f"state.{name}": part for name, part in checkpoint.state.items()})
        if any(name.startswith(LISTS) for name in arrays):
            header["version"] = LISTED_VERSION
        if checkpoint.sums is not None:
            arrays |= flatten(checkpoint.sums, "sums.")
    else:
        place = new_parts_folder(path)
        with writing(place, hint):
            folder.mkdir(exist_ok=True)
            place.mkdir()
        written = parts(place)
        arrays = written.shared
        header |= {
            "version": LISTED_VERSION if any(f.lists for f in written.files) else DIVIDED_VERSION,
            "folder": place.name,
            "parts": [file._asdict() for file in written.files],
            "shapes": written.shapes,
        }
    arrays |= {f"traces.{name}": array for name, array in checkpoint.traces.items()}
    arrays |= {f"proposal.{name}": array for name, array in checkpoint.proposal.items()}
    if checkpoint.settlement is not None:
        header["settlement"] = dict(checkpoint.settlement)
    if checkpoint.agreement is not None:
        header["agreement"] = dict(checkpoint.agreement)
    header["sha256"] = _digest(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with writing(path, hint):
        folder.mkdir(exist_ok=True)
        with write_atomically(path) as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
    return path


def keep_newest(folder: Path) -> None:
    """Remove all checkpoints of a chain except the newest, after its run has finished."""
    with writing(folder, "The run itself is complete."):
        for old in stored(folder)[1:]:
            remove(old)


def read_latest(
    folder: Path, identity: Identity, *, by_workers: bool = False
) -> tuple[Checkpoint | None, list[str]]:
    """Read the newest checkpoint that is intact and belongs to the run.

    With ``by_workers``, rows that the workers of a divided chain will read themselves stay on disk,
    and `Checkpoint.sums` is None.

    Returns
    -------
    checkpoint : Checkpoint or None
        None if there is none at all.
    refused : list of str
        The newer checkpoints that could not be used, with reasons.

    Raises
    ------
    RunError
        There are checkpoints, but none of them can be used.
    """
    refused: list[str] = []
    for path in stored(folder):
        try:
            return read_checkpoint(path, identity, by_workers=by_workers), refused
        except RunError as error:
            refused.append(str(error))
    if refused:
        raise RunError(
            f"No checkpoint in '{folder}' can be used: {' '.join(refused)} "
            "Remove that folder to restart the chain, or start another run."
        )
    return None, refused


def read_checkpoint(path: Path, identity: Identity, *, by_workers: bool = False) -> Checkpoint:
    """Read and verify one checkpoint; with ``by_workers``, without the arrays they divide."""
    try:
        header, arrays = _read(path)
        _check(header, arrays, identity)
        missing = lacks_part(path, header)
        if missing is not None:
            raise _RefusedError(missing)  # noqa: TRY301
        arrays = unpack_counts(arrays)
        for part in header.get("parts", ()):
            _check_members(path.parent / header["folder"] / part["name"])
        if "parts" in header and not by_workers:
            arrays |= read_rows(path)
        sums = None if by_workers else _sums(arrays)
    except (_RefusedError, ValueError) as refused:
        raise RunError(f"The checkpoint '{path}' is refused: {refused}.") from None
    return Checkpoint(
        iteration=header["iteration"],
        state=_under("state.", arrays),
        sums=sums,
        traces=_under("traces.", arrays),
        proposal=_under("proposal.", arrays),
        settlement=header.get("settlement"),
        agreement=header.get("agreement"),
        path=path,
        samples=int(arrays["sums.samples"][0]) if by_workers and "sums.samples" in arrays else 0,
    )


def _check_members(path: Path) -> None:
    """Compare every member of an archive with its checksum."""
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
    except _DAMAGES as error:
        raise _RefusedError(f"its part '{path}' is truncated or damaged ({error})") from error
    if damaged is not None:
        raise _RefusedError(f"its part '{path}' is truncated or damaged (in '{damaged}')")


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        with path.open("rb") as file:
            with zipfile.ZipFile(file) as archive:
                damaged = archive.testzip()  # CRC of every member, before NumPy parses
            if damaged is not None:
                raise _RefusedError(f"it is truncated or damaged (in '{damaged}')")
            file.seek(0)
            with np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
        header = json.loads(arrays.pop("header").tobytes())
    except _DAMAGES as error:
        raise _RefusedError(f"it is truncated or damaged ({error})") from error
    except (KeyError, AttributeError) as error:
        raise _RefusedError("it is not a checkpoint of citeweave") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _RefusedError("it is not a checkpoint of citeweave")
    return header, arrays


def _check(header: dict[str, Any], arrays: dict[str, np.ndarray], identity: Identity) -> None:
    if header.get("version") not in {VERSION, DIVIDED_VERSION, LISTED_VERSION}:
        raise _RefusedError(
            f"it has format version {header.get('version')!r} but this release reads {VERSION} "
            f"to {LISTED_VERSION}"
        )
    claimed = header.pop("sha256", None)
    if claimed != _digest(header, arrays):
        raise _RefusedError("its contents do not match their checksum")
    told = {
        "fingerprint": "it belongs to another corpus",
        "plan": "it was made with other parameters",
        "chain": "it belongs to another chain",
    }
    for name, reason in told.items():
        expected = getattr(identity, name)
        if header.get(name) != expected:
            raise _RefusedError(
                f"{reason} ({name} {str(header.get(name))[:12]} instead of {str(expected)[:12]})"
            )


def _sums(arrays: dict[str, np.ndarray]) -> Sums | None:
    found = _under("sums.", arrays)
    if not found:
        return None
    if "nodes" in found and "nodes_squared" not in found:
        # written by a release without them: nan plus anything stays unknown
        found["nodes_squared"] = np.full_like(found["nodes"], np.nan)
    if "documents" in found and "category" not in found:  # written by a release without categories
        found["category"] = np.zeros((found["documents"].shape[1], 0), np.float32)
    if "documents" in found and "contribution" not in found:  # written when one author counted
        for name in ("contribution", "contribution_squared", "contribution_prior"):
            found[name] = np.zeros(0)
    if set(found) != set(Sums._fields):
        raise _RefusedError(f"its sums are {sorted(found)}, which are unknown to this release")
    return Sums(**found)


def _under(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _digest(header: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
