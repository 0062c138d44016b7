"""Arrays of a run, read from its folder when they are asked for."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from citeweave.checksums import check_file
from citeweave.errors import RunError

__all__ = ["StoredArrays"]


class StoredArrays(Mapping[str, np.ndarray]):
    """The .npy files of a folder by name, mapped into memory when first asked for."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self._folder = folder
        self._manifest = manifest
        self._names = sorted(path.stem for path in folder.glob("*.npy"))
        self._loaded: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        """Return an array; it stays on disk until its values are read."""
        if name not in self._names:
            raise KeyError(name)
        if name not in self._loaded:
            run = self._folder.parent
            try:
                check_file(
                    run,
                    self._manifest,
                    f"{self._folder.name}/{name}.npy",
                    again=f"Make it anew from the chains: citeweave resume {run}",
                    error=RunError,
                )
            except OSError as error:
                raise RunError(f"'{error.filename}' cannot be read: {error.strerror}.") from error
            self._loaded[name] = self.check_header(name)
        return self._loaded[name]

    def check_header(self, name: str) -> np.ndarray:
        """Map an array without a look at its values."""
        if name not in self._names:
            raise KeyError(name)
        path = self._folder / f"{name}.npy"
        try:
            return _map_array(path)
        except Exception as error:  # NumPy's reading of a damaged header may end in any
            raise RunError(
                f"'{path}' cannot be read ({error}). Make it anew from the chains: "
                f"citeweave resume {self._folder.parent}"
            ) from error

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return the number of arrays."""
        return len(self._names)


def _map_array(path: Path) -> np.ndarray:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError:  # an empty array cannot be mapped
        array = np.load(path, allow_pickle=False)
        if array.size:
            raise
    plain = np.asarray(array)  # a view without the memmap class, which compiled code need not know
    plain.flags.writeable = False
    return plain
