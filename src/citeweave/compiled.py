"""The one decorator for compiled kernels, and where their machine code is kept."""

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy as np
from numba.core import config

numba_config: Any = config  # settings it takes from the environment, unknown to type checkers

__all__ = ["hot_kernel", "index", "inlined", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])


_CALLED = {
    "engines/core": (),
    "engines/dense": ("engines/core",),
    "engines/threads": ("engines/core", "engines/dense"),
    "engines/slots": ("engines/core", "engines/dense", "engines/threads"),
    "foldin": ("engines/core",),
}
"""Parts whose kernels a part calls, besides its own."""


def _source_digest(part: str) -> str:
    """Hash the kernel files of a part and of those whose kernels it calls.

    Numba's own check sees a kernel's file, not those it calls. A kernel file is one that names
    this module.
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
    """Name the folder of a module below the package; foreign kernels may call any engine's."""
    package, *inside = module.split(".")
    if package != "citeweave":
        return "engines"
    return "/".join(inside[:2]) if inside[0] == "engines" else inside[0]


@cache
def _cache_folder(part: str) -> str:
    base = numba_config.CACHE_DIR
    if not base:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        base = str(Path(home) / "citeweave")
    return str(Path(base) / f"kernels-{part.replace('/', '-')}-{_source_digest(part)}")


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(**options: Any) -> Callable[[F], F]: ...
def kernel(function: Any = None, **options: Any) -> Any:
    """Compile a function of arrays and scalars with Numba, cached on disk and free of the GIL.

    Machine code is kept in a folder named by the hash of the kernel sources, so that a
    changed helper in another file never meets an old compiled caller. Kernels call those of
    their own part of the package; other parts must be named in ``_CALLED``.
    """
    if function is None:
        return lambda inner: kernel(inner, **options)
    settings: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"} | options
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = _cache_folder(_part(function.__module__))
    try:
        return numba.njit(**settings)(function)
    except RuntimeError:  # no folder can be written: compile anew in each process
        settings["cache"] = False
        return numba.njit(**settings)(function)
    finally:
        numba_config.CACHE_DIR = before


@overload
def hot_kernel(function: F) -> F: ...
@overload
def hot_kernel(**options: Any) -> Callable[[F], F]: ...
def hot_kernel(function: Any = None, **options: Any) -> Any:
    """Compile a kernel that allocates no array, without Numba's reference counting.

    Counting costs two atomic operations for each array taken from a NamedTuple: in the sweeps
    that was five sixths of the time. The caller owns all arrays while a kernel runs.
    """
    settings: dict[str, Any] = {"_nrt": False} | options
    return kernel(**settings) if function is None else kernel(function, **settings)


def inlined(function: F) -> F:
    """Compile a part of a hot kernel, pasted into its callers; it has no Python entry of its own.

    The entry would unpack some sixty arrays a function, for nobody to call.
    """
    compiled: F = hot_kernel(
        forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, cache=False
    )(function)
    return compiled


@inlined
def index(value: Any) -> Any:
    """Mark a number as an index that is never negative.

    Numba lets signed indices count from the end, which costs three instructions a read and
    keeps loops from using vector loads.
    """
    return np.uintp(value)
