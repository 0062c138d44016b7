"""Workers on Ray that ask it for GPUs; there are none, and the kernels' twin does their work."""

import sys
from pathlib import Path

import pytest
from host_device import HostDevice
from part_tools import differences, draw_corpus, request_for, run
from test_on_ray import run_with_kills

from citeweave.engines.cluster import ray_devices, ray_team
from citeweave.engines.cluster.chain import RayChain
from citeweave.engines.core.capabilities import CPU, CUDA
from citeweave.engines.core.data import ClusterWorkers
from citeweave.engines.cuda import chain as cuda_chain
from citeweave.engines.registry import AUTO
from citeweave.errors import ParameterError, RunError

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
TOOLS = str(Path(__file__).parents[1] / "cuda")
WORDS = "words choose their author"


class TwinActor(ray_team.PartActor):
    """A worker whose GPU is the kernels' twin."""

    def __init__(self):
        sys.path.insert(0, TOOLS)
        from host_device import HostDevice as Device

        from citeweave.engines.cuda import chain

        chain.CudaDevice = Device
        super().__init__()


@pytest.fixture(scope="module")
def two_gpus():
    """Start Ray on this computer and let it believe in two GPUs."""
    ray = pytest.importorskip(
        "ray", reason="Ray is not installed (pip install 'citeweave[cluster]')"
    )
    ray_team.import_ray()
    ray.init(
        address="local", num_cpus=3, num_gpus=2, include_dashboard=False, logging_level="ERROR"
    )
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield ray
    ray.cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    ray.shutdown()


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_share_the_gpus_and_give_the_bytes_of_one(two_gpus, monkeypatch, workers):
    monkeypatch.setattr(cuda_chain, "CudaDevice", HostDevice)
    monkeypatch.setattr(ray_team, "PartActor", TwinActor)
    wanted = request_for(draw_corpus())
    expected = run(cuda_chain.CudaChain.open(wanted))
    chain = RayChain.open(wanted._replace(workers=ClusterWorkers(workers, device=CUDA)))
    assert chain.device == CUDA
    left = []
    step = chain.step

    def watched():
        info = step()
        left.append(two_gpus.available_resources().get("GPU", 0.0))
        return info

    chain.step = watched
    assert differences(run(chain), expected) == []
    assert left[-1] == pytest.approx({2: 0.0, 3: 0.5}[workers])  # one each, or a half each


@pytest.mark.usefixtures("two_gpus")
def test_a_worker_that_is_killed_gets_its_gpu_and_its_part_again(monkeypatch):
    monkeypatch.setattr(cuda_chain, "CudaDevice", HostDevice)
    monkeypatch.setattr(ray_team, "PartActor", TwinActor)
    wanted = request_for(draw_corpus())
    expected = run(cuda_chain.CudaChain.open(wanted))
    chain = RayChain.open(wanted._replace(workers=ClusterWorkers(2, device=CUDA)))
    found, killed = run_with_kills(chain, 1)
    assert killed == 1
    assert differences(found, expected) == []


@pytest.mark.parametrize(
    ("wanted", "gpus", "refused", "cupy", "found"),
    [
        (AUTO, 2, None, True, CUDA),
        (AUTO, 1, None, True, CPU),  # of which two workers would have a half each
        (AUTO, 2, WORDS, True, CPU),
        (AUTO, 2, None, False, CPU),
        (CUDA, 1, None, True, CUDA),
        (CUDA, 2, WORDS, True, ParameterError),
        (CUDA, 0, None, True, RunError),
    ],
)
def test_the_device_of_two_workers(monkeypatch, wanted, gpus, refused, cupy, found):
    monkeypatch.setattr(ray_devices, "_count_gpus", lambda: gpus)
    monkeypatch.setattr(ray_devices, "find_spec", lambda _: object() if cupy else None)
    if isinstance(found, str):
        assert ray_devices.choose_device(wanted, 2, refused) == found
    else:
        with pytest.raises(found):
            ray_devices.choose_device(wanted, 2, refused)


@pytest.mark.parametrize(
    ("gpus", "workers", "share"),
    [(1, 1, 1.0), (4, 2, 1.0), (1, 2, 0.5), (2, 3, 0.5), (2, 5, 0.3333), (1, 7, 0.1428)],
)
def test_shares_of_gpus_leave_room_for_all(monkeypatch, gpus, workers, share):
    monkeypatch.setattr(ray_devices, "_count_gpus", lambda: gpus)
    assert ray_devices.gpu_share(workers) == share
    assert gpus * int(1.0 / share) >= workers
