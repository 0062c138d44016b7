"""For tests of all engines: the GPU's kernels run on their twin, and one more engine is there."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "cuda"))  # for host_device


@pytest.fixture
def twin(monkeypatch):
    """Let the kernels' twin on the host stand for the GPU."""
    from host_device import EnduringDevice

    monkeypatch.setattr("citeweave.engines.cuda.chain.CudaDevice", EnduringDevice)
