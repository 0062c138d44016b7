"""For tests of all engines: the GPU's kernels run on their twin, and one more engine is there."""

import sys
from pathlib import Path

import pytest

from citeweave.engines.cluster.in_process import InProcessChain
from citeweave.engines.core.capabilities import CPU, CUDA
from citeweave.engines.core.data import ClusterWorkers
from citeweave.engines.registry import ENGINES

sys.path.insert(0, str(Path(__file__).parent / "cuda"))  # for host_device


@pytest.fixture(autouse=True)
def _parts_in_process(monkeypatch):
    """Let three threads stand for workers on Ray; `cluster/test_on_ray.py` has actors."""
    monkeypatch.setitem(ENGINES, "ray", ThreeParts)


class ThreeParts(InProcessChain):
    """A chain in three parts."""

    @classmethod
    def open(cls, request):
        device = CUDA if request.workers.device == CUDA else CPU
        return super().open(request._replace(workers=ClusterWorkers(3, device=device)))


@pytest.fixture
def twin(monkeypatch):
    """Let the kernels' twin on the host stand for the GPU.

    It is the quick build: a better one takes four times as long to make, for every model, and few
    tests take more than some steps.
    """
    from host_device import HostDevice

    monkeypatch.setattr("citeweave.engines.cuda.chain.CudaDevice", HostDevice)
