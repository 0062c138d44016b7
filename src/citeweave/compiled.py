"""Decorators for compiled kernels, and the cache of their machine code."""

import contextlib
import hashlib
import pickle
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy as np
from numba.core import config
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from citeweave.files import cache_folder

numba_config: Any = config  # set from the environment, unknown to type checkers

__all__ = ["hot_kernel", "index", "inlined", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])


_CALLED = {
    "engines/core": (),
    "engines/dense": ("engines/core",),
    "engines/threads": ("engines/core", "engines/dense"),
    "engines/slots": ("engines/core", "engines/dense", "engines/threads"),
    "foldin": ("engines/core",),
}
"""Other parts of the package whose kernels a part calls."""


def _source_digest(part: str) -> str:
    """Hash the kernel sources of a part and of the parts whose kernels it calls.

    Numba itself only checks the file of a kernel, not the files of kernels it calls. A kernel file
    is one that mentions this module.
    """
    package = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    digest.update(Path(__file__).read_bytes())
    for folder in sorted({part, *_CALLED.get(part, ())}):
        for path in sorted((package / folder).rglob("*.py")):
            source = path.read_bytes()
            if b"citeweave.compiled" in source:
                digest.update(path.name.encode())
                digest.update(source)
    return digest.hexdigest()[:16]


def _part(module: str) -> str:
    """Return the subfolder of a module in the package; kernels from outside may call any engine."""
    package, *inside = module.split(".")
    if package != "citeweave":
        return "engines"
    return "/".join(inside[:2]) if inside[0] == "engines" else inside[0]


@cache
def _kernel_folder(part: str) -> str:
    """Return the cache folder for a part; raise RuntimeError if there is no home folder."""
    base = Path(numba_config.CACHE_DIR or cache_folder())
    return str(base / f"kernels-{part.replace('/', '-')}-{_source_digest(part)}")


class _CheckedFile(IndexDataCacheFile):  # type: ignore[misc]
    """Numba's index and data files, each preceded by a checksum.

    Numba unpickles and runs cached files, so a flipped bit could crash the process. A file that
    does not match its checksum is treated as absent: the kernel is compiled again and the file
    replaced. CRC-32 detects all burst errors of up to 32 bits and runs at one gigabyte per second;
    it does not protect against someone with write access to the folder.
    """

    def _load_index(self) -> dict[Any, str]:
        try:
            version, stamp, overloads = pickle.loads(_checked(self._index_path))  # noqa: S301
        except OSError:
            return {}
        fresh = version == self._version and stamp == self._source_stamp
        return dict(overloads) if fresh else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        return pickle.loads(_checked(self._data_path(name)))  # noqa: S301 (our own cache)

    @contextlib.contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[Any]:
        with super()._open_for_write(filepath) as file:
            yield _Sealing(file)


class _Sealing:
    """Writes the checksum before the content, which is written in one call."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, content: bytes) -> None:
        self._file.write(zlib.crc32(content).to_bytes(4, "little"))
        self._file.write(content)


def _checked(path: str) -> memoryview:
    """Read the content of a cache file; raise OSError if it is damaged."""
    stored = memoryview(Path(path).read_bytes())
    if len(stored) < 4 or zlib.crc32(stored[4:]) != int.from_bytes(stored[:4], "little"):
        raise OSError(f"'{path}' is damaged")
    return stored[4:]


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """Machine code on disk; a cache failure costs time but never fails a run."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _CheckedFile(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=self._impl.locator.get_source_stamp(),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with contextlib.suppress(OSError):
            return super().load_overload(sig, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # for example a full disk or a deleted folder
            super().save_overload(sig, data)


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(**options: Any) -> Callable[[F], F]: ...
def kernel(function: Any = None, **options: Any) -> Any:
    """Compile a function of arrays and scalars with Numba, cached on disk and without the GIL.

    Machine code is stored in a folder named after the hash of the kernel sources, so that a changed
    helper in another file is never combined with an outdated compiled caller. Kernels may call
    kernels of their own part of the package; other parts must be listed in ``_CALLED``.
    """
    if function is None:
        return lambda inner: kernel(inner, **options)
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy"} | options
    cached = settings.pop("cache", True)
    dispatcher: Any = numba.njit(**settings)(function)
    if not cached or not hasattr(
        dispatcher, "enable_caching"
    ):  # plain Python with NUMBA_DISABLE_JIT
        return dispatcher
    before = numba_config.CACHE_DIR
    with contextlib.suppress(RuntimeError):  # no writable folder: compile in each process
        try:
            folder = numba_config.CACHE_DIR = _kernel_folder(_part(function.__module__))
            kept = _KernelCache(function)
            if Path(kept.cache_path).is_relative_to(folder):  # only if the hash is part of the name
                dispatcher._cache = kept  # noqa: SLF001 (Numba has no public way)
        finally:
            numba_config.CACHE_DIR = before
    return dispatcher


@overload
def hot_kernel(function: F) -> F: ...
@overload
def hot_kernel(**options: Any) -> Callable[[F], F]: ...
def hot_kernel(function: Any = None, **options: Any) -> Any:
    """Compile a kernel that allocates no array, without Numba's reference counting.

    Reference counting costs two atomic operations per array taken from a NamedTuple, which was five
    sixths of the time of a sweep. The caller owns all arrays while a kernel runs.
    """
    settings: dict[str, Any] = {"_nrt": False} | options
    return kernel(**settings) if function is None else kernel(function, **settings)


class _PastedCode(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function in the form that callers inline, and in no other.

    Numba would also generate machine code for it, which takes a seventh of the compile time of a
    chain's kernels and is never called.
    """

    @property
    def codegen(self) -> Any:
        return _NoEnvironments(self._codegen)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _NoEnvironments:
    """A code generator that omits the Python wrapper, which inlined code does not need."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing, because there is no machine code that contains the environment."""


class _PastingCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, with `_PastedCode` as its target."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing, target, library or _PastedCode(target.codegen(), "pasted"), *rest)


def inlined(function: F) -> F:
    """Compile a part of a hot kernel that is inlined into its callers only.

    It has no Python entry point, which would unpack about sixty arrays per function and never be
    called.
    """
    compiled: F = hot_kernel(
        forceinline=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        cache=False,
        pipeline_class=_PastingCompiler,
    )(function)
    return compiled


@inlined
def index(value: Any) -> Any:
    """Mark a number as an index that is never negative.

    Numba lets negative indices count from the end, which costs three instructions per read and
    prevents vectorised loads in loops.
    """
    return np.uintp(value)
