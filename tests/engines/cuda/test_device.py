"""What is said where CuPy, the driver, the GPU or its memory will not do: with a CuPy of ours."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from cuda_tools import small_data

from citeweave.engines.core.spec import preset
from citeweave.engines.cuda import CudaDevice, device
from citeweave.engines.cuda.program import FIELDS, choose_grouping, plan_program
from citeweave.errors import MissingDependencyError, RunError


class RuntimeFailedError(RuntimeError):
    """Stands for CUDARuntimeError."""


class NoRoomError(RuntimeError):
    """Stands for OutOfMemoryError."""


class NotCompiledError(RuntimeError):
    """Stands for CompileException."""


class Card:
    """A GPU as CuPy shows it, of the device's number."""

    compute_capability = "90"
    id = 0

    def __init__(self, number=0):
        self.id = number

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def fake_cupy(**changes):
    """Make a CuPy with a card of 16 GB whose driver and runtime are for CUDA 12.4."""
    runtime = SimpleNamespace(
        CUDARuntimeError=RuntimeFailedError,
        runtimeGetVersion=lambda: 12040,
        driverGetVersion=lambda: 12040,
        getDeviceCount=lambda: 1,
        getDeviceProperties=lambda _: {"name": b"NVIDIA Test"},
        memGetInfo=lambda: (15_000_000_000, 16_000_000_000),
    )
    card = type("Card", (Card,), {"compute_capability": changes.pop("capability", "90")})
    cupy = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(
        runtime=runtime,
        Device=card,
        memory=SimpleNamespace(OutOfMemoryError=NoRoomError),
        compiler=SimpleNamespace(CompileException=NotCompiledError),
    )
    for name, value in changes.items():
        place = runtime if hasattr(runtime, name) else cupy
        setattr(place, name, value)
    return cupy


def fails(error):
    def call(*_, **__):
        raise error

    return call


@pytest.fixture
def install(monkeypatch):
    return lambda **changes: monkeypatch.setitem(sys.modules, "cupy", fake_cupy(**changes))


def test_a_good_card_is_described_in_a_line(install):
    install()
    assert CudaDevice().describe() == "NVIDIA Test, 16 GB of memory, 15 GB free"


def test_no_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingDependencyError, match=r"pip install '.*\[cuda\]'"):
        CudaDevice()


def test_cupy_without_its_libraries(monkeypatch):
    missing = ImportError("libcuda.so.1: cannot open shared object file\nmore lines")
    monkeypatch.setattr(device, "import_module", fails(missing))
    with pytest.raises(RunError, match=r"cannot be loaded \(libcuda\.so\.1: [^\n]*NVIDIA driver"):
        CudaDevice()
    dependency = ModuleNotFoundError("No module named 'fastrlock'", name="fastrlock")
    monkeypatch.setattr(device, "import_module", fails(dependency))
    with pytest.raises(RunError, match="fastrlock"):
        CudaDevice()


def test_cupy_of_cuda_11(install):
    install(runtimeGetVersion=lambda: 11080)
    with pytest.raises(RunError, match=r"made for CUDA 11\.8; .* pip install cupy-cuda12x"):
        CudaDevice()


def test_driver_older_than_cupy(install):
    install(runtimeGetVersion=lambda: 13000, driverGetVersion=lambda: 12020)
    with pytest.raises(RunError, match=r"CUDA 12\.2 and CuPy for 13\.0.* cupy-cuda12x"):
        CudaDevice()


def test_driver_that_refuses(install):
    text = "cudaErrorInsufficientDriver: CUDA driver version is insufficient"
    install(getDeviceCount=fails(RuntimeFailedError(text)))
    with pytest.raises(RunError, match=f"{text}.* update it .* Use threads"):
        CudaDevice()


def test_no_card(install):
    install(getDeviceCount=lambda: 0)
    with pytest.raises(RunError, match="finds no GPU"):
        CudaDevice()


def test_old_card(install):
    install(capability="61")
    with pytest.raises(RunError, match=r"7\.0 or later\. Got 6\.1 \(NVIDIA Test, 16 GB"):
        CudaDevice()


def test_memory_taken_meanwhile(install):
    install(zeros=fails(NoRoomError("out of memory")))
    with pytest.raises(RunError, match=r"no room for an array of 8\.00 GB"):
        CudaDevice().zeros(10**9, np.float64)


def test_kernels_that_do_not_compile(install):
    """They are compiled in threads; the first launch tells."""
    install(RawModule=fails(NotCompiledError("words.cu(1): error: identifier 'x' is undefined")))
    spec = preset("scntm")
    data = small_data(spec)
    chosen = CudaDevice()
    chosen.prepare(
        plan_program(
            spec,
            topics=5,
            words=data.n_words,
            grouping=choose_grouping(5),
        )
    )
    arrays = {name: SimpleNamespace(data=SimpleNamespace(ptr=0)) for name in FIELDS}
    chosen.bind(arrays)
    with pytest.raises(RunError, match=r"failed on the words kernels.*'x' is undefined"):
        chosen.launch("sweep_words", 1, 32, 0)
