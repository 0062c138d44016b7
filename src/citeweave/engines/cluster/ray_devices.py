"""Choice of the device of Ray workers, and of the number of workers that share a GPU."""

import math
from importlib.util import find_spec

from citeweave.engines.cluster.ray_team import import_ray
from citeweave.engines.core.capabilities import CPU, CUDA
from citeweave.errors import ParameterError, RunError

__all__ = ["choose_device", "gpu_share"]

_SHARES = 10_000
"""Number of pieces into which Ray can divide a resource."""


def choose_device(wanted: str, workers: int, refused: str | None) -> str:
    """Choose the device of workers: "cuda" if requested, or if each worker can have a GPU.

    Parameters
    ----------
    wanted : str
        "cuda", or "auto" for the best device that the cluster has.
    workers : int
    refused : str or None
        Why the model cannot be divided between GPUs, if it cannot.

    Raises
    ------
    ParameterError
        If GPUs are requested but cannot sample the model.
    RunError
        If GPUs are requested but the cluster has none.
    """
    gpus = _count_gpus()
    if wanted != CUDA:
        fits = refused is None and gpus >= workers and find_spec("cupy") is not None
        return CUDA if fits else CPU
    if refused is not None:
        raise ParameterError(refused)
    if gpus < 1:
        raise RunError(
            "The Ray cluster has no GPU, and device 'cuda' needs at least one for its workers. Add "
            "nodes with GPUs (`ray start --num-gpus=1 ...`), or use device 'cpu'."
        )
    return CUDA


def gpu_share(workers: int) -> float:
    """Return the GPUs that Ray sets aside for each worker: one, or a fraction if there are fewer.

    Only as many workers share a GPU as necessary, all with the same share.
    """
    together = math.ceil(workers / max(_count_gpus(), 1))
    return math.floor(_SHARES / together) / _SHARES


def _count_gpus() -> int:
    return int(import_ray().cluster_resources().get("GPU", 0))
