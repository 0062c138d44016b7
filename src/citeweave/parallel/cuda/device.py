"""One NVIDIA GPU, through CuPy: compiled kernels, arrays and launches."""

from importlib import import_module
from threading import Lock
from typing import Any, Protocol

import numpy as np

from citeweave.errors import MissingDependencyError, RunError
from citeweave.parallel.cuda.program import FIELDS, WARP, Plan, kernel_source, warp_source

__all__ = ["CudaDevice", "Device"]


_SWEEPS = ("sweep_words", "sweep_citations")
"""Kernels whose groups are smaller than a warp."""


_LOCK = Lock()
_OWNERS: dict[int, "CudaDevice"] = {}
"""Whose arrays the modules in memory point to, by the place of their pointers."""


class Device(Protocol):
    """What a chain needs of the machine that its kernels run on."""

    xp: Any
    """NumPy, or a library of its interface whose arrays lie where kernels can read them."""

    def prepare(self, plan: Plan) -> None:
        """Compile the program of a model."""

    def bind(self, arrays: dict[str, Any]) -> None:
        """Tell kernels where the arrays of `FIELDS` lie."""

    def size(self, blocks: int, threads: int) -> tuple[int, int]:
        """Give the blocks and threads that a launch of this size really has."""

    def launch(self, name: str, blocks: int, threads: int, shared: int, *args: Any) -> None:
        """Start a kernel; Python integers are passed as C ints, NumPy scalars as they are."""

    def download(self, array: Any) -> np.ndarray:
        """Copy an array to the host, after all that was launched is done."""

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
        Where it finds no GPU of compute capability 7.0 or later.
    """

    def __init__(self) -> None:
        try:
            cupy = import_module("cupy")  # an extra, and slow to import
        except ImportError as error:
            raise MissingDependencyError(
                "Sampling on a GPU needs CuPy, which is not installed: "
                "pip install 'citeweave[cuda]' (for CUDA 12; cupy-cuda13x for CUDA 13)."
            ) from error
        self.xp: Any = cupy
        try:
            count = cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise RunError(
                f"CuPy finds no usable GPU driver ({error}). Use threads instead."
            ) from error
        if count == 0:
            raise RunError("CuPy finds no GPU. Use threads instead.")
        capability = int(cupy.cuda.Device().compute_capability)
        if capability < 70:
            raise RunError(
                "Sampling on a GPU needs compute capability 7.0 or later. "
                f"Got {capability / 10} instead. Use threads."
            )
        self._kernels: dict[str, Any] = {}
        self._modules: dict[int, Any] = {}
        self._places: dict[int, Any] = {}
        self._pointers: Any = None
        self._lanes = WARP

    def prepare(self, plan: Plan) -> None:
        """Compile the program of a model; CuPy keeps the machine code on disk."""
        self._kernels = {}
        self._modules = {}
        self._places = {}
        for lanes in {plan.lanes, WARP}:
            source = kernel_source(plan.with_lanes(lanes), warp_source(), "__constant__")
            module = self.xp.RawModule(code=source, options=("--std=c++17",))
            self._modules[lanes] = module
            self._places[lanes] = self.xp.ndarray(len(FIELDS), np.uint64, module.get_global("ctx"))
        self._lanes = plan.lanes

    def bind(self, arrays: dict[str, Any]) -> None:
        """Tell kernels where the arrays of `FIELDS` lie."""
        pointers = np.array([arrays[name].data.ptr for name in FIELDS], np.uint64)
        self._pointers = self.xp.asarray(pointers)
        with _LOCK:
            for lanes in self._modules:
                _OWNERS.pop(self._places[lanes].data.ptr, None)

    def _take(self, lanes: int) -> None:
        """Point a module to this chain's arrays: CuPy shares modules of the same source."""
        place = self._places[lanes]
        if _OWNERS.get(place.data.ptr) is not self:
            place[...] = self._pointers
            _OWNERS[place.data.ptr] = self

    def size(self, blocks: int, threads: int) -> tuple[int, int]:
        """Give the blocks and threads that a launch of this size really has."""
        return blocks, threads

    def _kernel(self, name: str, shared: int) -> Any:
        kernel = self._kernels.get(name)
        if kernel is None:
            lanes = self._lanes if name in _SWEEPS else WARP
            kernel = self._kernels[name] = self._modules[lanes].get_function(name)
        if shared > 48 * 1024 and kernel.max_dynamic_shared_size_bytes < shared:
            kernel.max_dynamic_shared_size_bytes = shared
        return kernel

    def launch(self, name: str, blocks: int, threads: int, shared: int, *args: Any) -> None:
        """Start a kernel; Python integers are passed as C ints."""
        given = tuple(np.int32(a) if isinstance(a, int) else a for a in args)
        with _LOCK:
            self._take(self._lanes if name in _SWEEPS else WARP)
            self._kernel(name, shared)((blocks,), (threads,), given, shared_mem=shared)

    def download(self, array: Any) -> np.ndarray:
        """Copy an array to the host, after all that was launched is done."""
        host: np.ndarray = array.get()
        return host

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
