"""The Ray engine: snapshot sweeps divided between workers on one or more computers."""

from typing import Self

from citeweave.engines.cluster.divided import DividedChain, refuse_undivided
from citeweave.engines.cluster.partition import Division
from citeweave.engines.cluster.ray_devices import choose_device, gpu_share
from citeweave.engines.cluster.ray_team import RayTeam, connect_ray, import_ray
from citeweave.engines.cluster.worker import Recipe
from citeweave.engines.core.capabilities import CPU, CUDA, SNAPSHOT, Capabilities
from citeweave.engines.core.data import Request
from citeweave.engines.cuda.chain import CudaChain

__all__ = ["RayChain"]


class RayChain(DividedChain):
    """A chain whose parts are Ray actors; Ray is imported when a chain is created."""

    capabilities = Capabilities(
        SNAPSHOT,
        place="on Ray",
        one_chain=True,
        by_name=True,
        divided=True,
        refuses=refuse_undivided,
    )

    _cores = 0
    """Cores that Ray reserves for each worker."""
    _gpus = 0.0
    """GPUs that Ray reserves for each worker."""

    @classmethod
    def probe(cls) -> str:
        """Check that Ray is installed."""
        return f"Ray {import_ray().__version__}"

    @classmethod
    def open(cls, request: Request) -> Self:
        """Open a chain, not yet started; the first step starts the workers.

        On a cluster, the number of threads is that of each worker; on this computer, the workers
        share them.
        """
        spec, data, settings, seed, stream, threads, rounds, workers = request
        number, address, device = workers
        own = threads if address is not None else max(1, threads // number)
        cls.capabilities.check(spec, settings.topics)
        connect_ray(address, number * own)
        if device != CPU:
            refused = CudaChain.capabilities.refusal(spec, settings.topics)
            device = choose_device(device, number, refused)
        chain = cls(
            spec,
            data,
            settings,
            seed=seed,
            stream=stream,
            threads=own,
            rounds=rounds,
            workers=number,
            device=device,
        )
        chain._cores = own if address is not None else 0
        chain._gpus = gpu_share(chain.division.parts) if device == CUDA else 0.0
        return chain

    def _new_team(self, division: Division, recipe: Recipe) -> RayTeam:
        return RayTeam(division, recipe, self._cores, self._gpus)
