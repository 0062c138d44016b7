"""One NVIDIA GPU, through CuPy: compiled kernels, arrays and launches."""

from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from threading import Lock
from typing import Any, Protocol

import numpy as np

from citeweave.engines.cuda.program import (
    FIELDS,
    Program,
    kernel_names,
    kernel_source,
    warp_source,
)
from citeweave.errors import MissingDependencyError, RunError
from citeweave.installing import install_extra, install_package

__all__ = ["CudaDevice", "Device"]

_OPTIONS = ("--std=c++17", "--ftz=true")
"""Weights that single precision can hardly hold are zero: quotients are shorter without them."""
_OLDEST_CUDA = 12_000
_OLDEST_CAPABILITY = 70

_LOCK = Lock()
_OWNERS: dict[int, "CudaDevice"] = {}
"""Whose arrays the modules in memory point to, by the place of their pointers."""


class Device(Protocol):
    """What a chain needs of the machine that its kernels run on."""

    xp: Any
    """NumPy, or a library of its interface whose arrays lie where kernels can read them."""

    def prepare(self, program: Program) -> None:
        """Begin to compile the program of a model."""

    def bind(self, arrays: dict[str, Any]) -> None:
        """Tell kernels where the arrays of `FIELDS` lie."""

    def zeros(self, size: int, kind: Any) -> Any:
        """Make an array where kernels can read it."""

    def put(self, host: np.ndarray) -> Any:
        """Copy an array of the host to a new one there."""

    def upload(self, array: Any, host: np.ndarray) -> None:
        """Copy an array of the host into one there of the same size and type."""

    def clear(self, array: Any) -> None:
        """Set an array to zero, after all that was launched is done."""

    def download(self, array: Any) -> np.ndarray:
        """Copy an array to the host, after all that was launched is done."""

    def size(self, blocks: int, threads: int) -> tuple[int, int]:
        """Return the blocks and threads that a launch of this size really has."""

    def launch(self, name: str, blocks: int, threads: int, shared: int, *args: Any) -> None:
        """Start a kernel; Python integers are passed as C ints, NumPy scalars as they are."""

    def resident_blocks(self, name: str, threads: int, shared: int) -> int:
        """Blocks of a kernel that the whole machine runs at a time."""

    def free_bytes(self) -> int:
        """Memory that is not taken yet."""


class CudaDevice:
    """The current GPU of CuPy.

    Raises
    ------
    MissingDependencyError
        Where CuPy is not installed.
    RunError
        Where it cannot be loaded, is made for CUDA 11, finds no GPU or too old a driver, or the
        GPU has a compute capability below 7.0.
    """

    def __init__(self) -> None:
        self.xp: Any = _load_cupy()
        capability = _check_gpu(self.xp)
        if capability < _OLDEST_CAPABILITY:
            raise RunError(
                "Sampling on a GPU needs compute capability 7.0 or later. "
                f"Got {capability / 10} ({self.describe()}) instead. Use threads."
            )
        self._number: int = self.xp.cuda.Device().id
        self._units: dict[str, Future[tuple[Any, Any]]] = {}
        self._unit_of: dict[str, str] = {}
        self._kernels: dict[str, Any] = {}
        self._pointers: np.ndarray = np.zeros(0, np.uint64)

    def describe(self) -> str:
        """Return the card's name and memory in a line."""
        runtime = self.xp.cuda.runtime
        properties = runtime.getDeviceProperties(self.xp.cuda.Device().id)
        name = properties["name"]
        name = name.decode() if isinstance(name, bytes) else str(name)
        free, total = runtime.memGetInfo()
        return f"{name}, {total / 1e9:.0f} GB of memory, {free / 1e9:.0f} GB free"

    def prepare(self, program: Program) -> None:
        """Begin to compile the units of a program, each in a thread of its own.

        The first launch of a kernel waits for its unit. CuPy keeps the machine code on disk.
        """
        pool = ThreadPoolExecutor(len(program.units), "citeweave-compile")
        self._kernels = {}
        self._unit_of = {
            name: unit for unit in program.units for name in kernel_names(program, unit)
        }
        self._units = {unit: pool.submit(self._compile, program, unit) for unit in program.units}
        pool.shutdown(wait=False)

    def _compile(self, program: Program, unit: str) -> tuple[Any, Any]:
        """Return a unit's module, and the place of its pointers to arrays."""
        source = kernel_source(program.for_unit(unit), warp_source(), "__constant__", [unit])
        with self.xp.cuda.Device(self._number):
            try:
                module = self.xp.RawModule(code=source, options=_OPTIONS)
                place = self.xp.ndarray(len(FIELDS), np.uint64, module.get_global("ctx"))
            except self.xp.cuda.compiler.CompileException as error:
                raise RunError(
                    f"The GPU's compiler failed on the {unit} kernels. Its last message: "
                    f"{str(error).strip()[-400:]!r}. Use threads instead."
                ) from error
        return module, place

    def bind(self, arrays: dict[str, Any]) -> None:
        """Tell kernels where the arrays of `FIELDS` lie."""
        self._pointers = np.array([arrays[name].data.ptr for name in FIELDS], np.uint64)
        with _LOCK:
            for place in [place for place, owner in _OWNERS.items() if owner is self]:
                del _OWNERS[place]

    def zeros(self, size: int, kind: Any) -> Any:
        """Make an array on the card."""
        try:
            return self.xp.zeros(size, kind)
        except self.xp.cuda.memory.OutOfMemoryError as error:
            raise _no_room(size * np.dtype(kind).itemsize) from error

    def put(self, host: np.ndarray) -> Any:
        """Copy an array of the host to a new one on the card."""
        array = self.zeros(host.size, host.dtype)
        array.set(np.ascontiguousarray(host).reshape(-1))
        return array

    def upload(self, array: Any, host: np.ndarray) -> None:
        """Copy an array of the host into one on the card; no kernel of CuPy's is needed."""
        array.set(np.ascontiguousarray(host).reshape(-1))

    def clear(self, array: Any) -> None:
        """Set an array to zero, after all that was launched is done."""
        array.data.memset_async(0, array.nbytes)

    def download(self, array: Any) -> np.ndarray:
        """Copy an array to the host, after all that was launched is done."""
        host: np.ndarray = array.get()
        return host

    def size(self, blocks: int, threads: int) -> tuple[int, int]:
        """Return the blocks and threads that a launch of this size really has."""
        return blocks, threads

    def _kernel(self, name: str, shared: int) -> Any:
        kernel = self._kernels.get(name)
        if kernel is None:
            module, _ = self._units[self._unit_of[name]].result()
            kernel = self._kernels[name] = module.get_function(name)
        if shared > 48 * 1024 and kernel.max_dynamic_shared_size_bytes < shared:
            kernel.max_dynamic_shared_size_bytes = shared
        return kernel

    def launch(self, name: str, blocks: int, threads: int, shared: int, *args: Any) -> None:
        """Start a kernel; Python integers are passed as C ints."""
        given = tuple(np.int32(a) if isinstance(a, int) else a for a in args)
        kernel = self._kernel(name, shared)
        _, place = self._units[self._unit_of[name]].result()
        with _LOCK:
            if _OWNERS.get(place.data.ptr) is not self:  # CuPy shares modules of the same source
                place.set(self._pointers)
                _OWNERS[place.data.ptr] = self
            kernel((blocks,), (threads,), given, shared_mem=shared)

    def resident_blocks(self, name: str, threads: int, shared: int) -> int:
        """Blocks of a kernel that the whole GPU runs at a time."""
        attributes = self.xp.cuda.Device().attributes
        kernel = self._kernel(name, shared)
        memory = attributes["MaxSharedMemoryPerMultiprocessor"]
        registers = attributes["MaxRegistersPerMultiprocessor"]
        most = attributes["MaxThreadsPerMultiProcessor"] // threads
        most = min(most, memory // (shared + 1024))
        most = min(most, registers // (threads * max(kernel.num_regs, 1)))
        count: int = attributes["MultiProcessorCount"]
        return max(most, 1) * count

    def free_bytes(self) -> int:
        """Memory of the card that is not taken yet."""
        free, _ = self.xp.cuda.runtime.memGetInfo()
        held = self.xp.get_default_memory_pool().free_bytes()
        return int(free) + int(held)


def _load_cupy() -> Any:
    try:
        return import_module("cupy")  # an extra, and slow to import
    except ModuleNotFoundError as error:
        if error.name != "cupy":
            raise _not_loaded(error) from error
        raise MissingDependencyError(
            "Sampling on a GPU needs CuPy, which is not installed: "
            f"{install_extra('cuda')} (for CUDA 12; cupy-cuda13x for CUDA 13)."
        ) from error
    except ImportError as error:  # a library of CUDA or the driver's is missing
        raise _not_loaded(error) from error


def _not_loaded(error: ImportError) -> RunError:
    return RunError(
        f"CuPy is installed, but cannot be loaded ({_first_line(error)}). Is there an NVIDIA "
        "driver on this machine? Use threads otherwise."
    )


def _check_gpu(cupy: Any) -> int:
    """Make sure that there is a GPU with a driver that CuPy can use; give its capability."""
    runtime = cupy.cuda.runtime
    made_for = int(runtime.runtimeGetVersion())
    if made_for < _OLDEST_CUDA:
        raise RunError(
            f"This CuPy is made for CUDA {_version(made_for)}; the kernels need CUDA 12 or later: "
            f"{install_package('cupy-cuda12x')} in its place, or use threads."
        )
    try:
        count = runtime.getDeviceCount()
        driver = int(runtime.driverGetVersion())
    except runtime.CUDARuntimeError as error:
        raise RunError(
            f"CuPy (for CUDA {_version(made_for)}) finds no usable GPU: {_first_line(error)}. "
            "Where the driver is too old, update it or install the CuPy of an older CUDA, such as "
            "cupy-cuda12x. Use threads otherwise."
        ) from error
    if count == 0:
        raise RunError("CuPy finds no GPU. Use threads instead.")
    if driver // 1000 < made_for // 1000:
        raise RunError(
            f"The GPU's driver is made for CUDA {_version(driver)} and CuPy for "
            f"{_version(made_for)}. Update the driver, or install cupy-cuda{driver // 1000}x in "
            "CuPy's place, or use threads."
        )
    return int(cupy.cuda.Device().compute_capability)


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" =")]
    return lines[0] if lines else type(error).__name__


def _no_room(size: int) -> RunError:
    return RunError(
        f"The GPU has no room for an array of {size / 1e9:.2f} GB: another program may have taken "
        "memory meanwhile. Use fewer topics, fewer chains at a time, or threads."
    )
