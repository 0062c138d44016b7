"""One array in several files, each with a range of its rows, used as a single array.

Files are plain ``.npy``. Files with enough rows begin and end on page boundaries, so that Linux can
map them contiguously. The reader sees a single array whose values stay on disk until they are used.
On other systems, and if ranges are small, the files are read into memory.
"""

import ctypes
import math
import mmap
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from citeweave.files import write_atomically

__all__ = ["map_ranges", "rows_per_file", "write_range"]

_PAGE = 4096
"""Size of a page, and of the header of a file, in bytes."""
_FIXED = 0x10
"""MAP_FIXED of Linux, which Python's mmap lacks."""


def rows_per_file(wanted: int, row_bytes: int) -> int:
    """Return a number of rows near the wanted one that fills whole pages; if few, the same number.

    Examples
    --------
    >>> rows_per_file(100_000, 4000), rows_per_file(100, 4000)
    (100096, 100)
    """
    unit = _PAGE // math.gcd(_PAGE, max(row_bytes, 1))
    return wanted if wanted < unit else -(-wanted // unit) * unit


def write_range(path: Path, array: np.ndarray) -> None:
    """Write a range atomically as an ``.npy`` file whose values begin on a page boundary."""
    array = np.ascontiguousarray(array)
    described = str(
        {"descr": array.dtype.str, "fortran_order": False, "shape": tuple(map(int, array.shape))}
    )
    magic = np.lib.format.magic(1, 0)
    length = _PAGE - len(magic) - 2
    header = magic + length.to_bytes(2, "little") + described.ljust(length - 1).encode() + b"\n"
    with write_atomically(path) as file:
        file.write(header)
        file.write(array.reshape(-1).view(np.uint8).data)


def map_ranges(paths: Sequence[Path]) -> np.ndarray:
    """Return consecutive ranges as one read-only array.

    Raises
    ------
    ValueError
        The files do not belong together.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [Path(folder, name) for name in ("0.npy", "1.npy")]
    ...     for path, first in zip(paths, (0, 3)):
    ...         write_range(path, np.arange(first, first + 3))
    ...     map_ranges(paths).tolist()
    [0, 1, 2, 3, 4, 5]
    """
    parts = [_open(path) for path in paths]
    if len({(part.dtype, part.shape[1:]) for part in parts}) > 1:
        raise ValueError("its ranges have different types or shapes")
    if len(parts) == 1:
        whole = np.asarray(parts[0])
    elif _fills_pages(parts):
        whole = _map_behind_each_other(paths, parts)
    else:
        whole = np.asarray(np.concatenate(parts))
    whole.flags.writeable = False
    return whole


def _open(path: Path) -> np.ndarray:
    try:
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError:  # an empty array cannot be mapped
        array = np.load(path, allow_pickle=False)
        if array.size:
            raise
    return array


def _fills_pages(parts: Sequence[np.ndarray]) -> bool:
    if sys.platform != "linux" or _PAGE % mmap.PAGESIZE:
        return False
    starts = [getattr(part, "offset", 1) for part in parts]
    sizes = [part.nbytes for part in parts[:-1]]
    return not any(number % _PAGE for number in (*starts, *sizes))


def _map_behind_each_other(paths: Sequence[Path], parts: Sequence[np.ndarray]) -> np.ndarray:
    """Reserve address space for all files and map the values of each to their place in it."""
    total = sum(part.nbytes for part in parts)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS  # read-only pages take no memory
    room = mmap.mmap(-1, total, flags=flags, prot=mmap.PROT_READ)
    values = np.frombuffer(room, np.uint8)  # keeps the mapping alive while it is used
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (
        *(ctypes.c_void_p, ctypes.c_size_t),
        *(ctypes.c_int, ctypes.c_int, ctypes.c_int),
        ctypes.c_int64,
    )
    place = values.ctypes.data
    for path, part in zip(paths, parts, strict=True):
        with path.open("rb") as file:
            how = (mmap.PROT_READ, mmap.MAP_SHARED | _FIXED, file.fileno(), _PAGE)
            if libc.mmap(place, part.nbytes, *how) != place:
                raise OSError(ctypes.get_errno(), "it cannot be mapped into memory", str(path))
        place += part.nbytes
    rows = sum(len(part) for part in parts)
    return values.view(parts[0].dtype).reshape(rows, *parts[0].shape[1:])
