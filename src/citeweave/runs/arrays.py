"""Arrays of a run, read from its folder on first use."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from citeweave.checksums import check_file
from citeweave.engines.core.range_files import map_ranges
from citeweave.errors import RunError

__all__ = ["StoredArrays"]


class StoredArrays(Mapping[str, np.ndarray]):
    """The .npy files of a folder by name, mapped into memory on first use.

    An array in several files, each with a range of its rows, is a folder of the same name.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self._folder = folder
        self._manifest = manifest
        paths = [*folder.glob("*.npy"), *folder.glob(f"*/{0:05d}.npy")]
        self._names = sorted(
            path.stem if path.parent == folder else path.parent.name for path in paths
        )
        self._loaded: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        """Return an array; it stays on disk until its values are read."""
        if name not in self._names:
            raise KeyError(name)
        if name not in self._loaded:
            run = self._folder.parent
            try:
                for path in self._files(name):
                    check_file(
                        run,
                        self._manifest,
                        path.relative_to(run).as_posix(),
                        again=f"Recreate it from the chains: citeweave resume {run}",
                        error=RunError,
                    )
            except OSError as error:
                raise RunError(f"'{error.filename}' cannot be read: {error.strerror}.") from error
            self._loaded[name] = self.check_header(name)
        return self._loaded[name]

    def _files(self, name: str) -> list[Path]:
        """List the files of an array: those named by the manifest, and any others present."""
        path = self._folder / f"{name}.npy"
        if path.is_file():
            return [path]
        run = self._folder.parent
        below = f"{self._folder.name}/{name}/"
        known = {run / file for file in self._manifest.get("files", {}) if file.startswith(below)}
        return sorted(known | set((self._folder / name).glob("*.npy")))

    def check_header(self, name: str) -> np.ndarray:
        """Map an array into memory without reading its values."""
        if name not in self._names:
            raise KeyError(name)
        files = self._files(name)
        try:
            return map_ranges(files)
        except Exception as error:  # NumPy may raise any of these for a damaged header
            place = files[0] if len(files) == 1 else self._folder / name
            raise RunError(
                f"'{place}' cannot be read ({error}). Recreate it from the chains: "
                f"citeweave resume {self._folder.parent}"
            ) from error

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return the number of arrays."""
        return len(self._names)
