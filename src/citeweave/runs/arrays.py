"""Arrays of a run, read from its folder when they are asked for."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from citeweave.errors import RunError

__all__ = ["StoredArrays"]


class StoredArrays(Mapping[str, np.ndarray]):
    """The .npy files of a folder by name, mapped into memory when first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names = sorted(path.stem for path in folder.glob("*.npy"))
        self._loaded: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        """Return an array; it stays on disk until its values are read."""
        if name not in self._names:
            raise KeyError(name)
        if name not in self._loaded:
            path = self._folder / f"{name}.npy"
            try:
                self._loaded[name] = _map_array(path)
            except (OSError, ValueError, EOFError) as error:
                raise RunError(
                    f"'{path}' cannot be read ({error}). Make it anew from the chains: "
                    f"citeweave resume {self._folder.parent}"
                ) from error
        return self._loaded[name]

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
