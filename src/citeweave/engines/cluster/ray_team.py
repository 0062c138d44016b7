"""Workers of a Ray cluster: each is an actor that holds one part of a chain.

Ray places the actors, carries the messages between them and restarts lost ones. A part sends a
message to another by calling its `deliver`; Ray keeps large arrays in its object store and passes
a reference. While workers make their plans, the division of the chain is there, too: once per
node, mapped into the memory of its workers.
"""

import contextlib
import importlib
import importlib.metadata
import os
import platform
import socket
import threading
import time
from collections.abc import Sequence
from typing import Any

from citeweave.engines.cluster.exchanges import PartExchange, Payload, StoppedError
from citeweave.engines.cluster.partition import Division
from citeweave.engines.cluster.plans import make_plan
from citeweave.engines.cluster.team import LostWorkerError
from citeweave.engines.cluster.worker import PartWorker, Recipe
from citeweave.engines.core.capabilities import CPU, CUDA
from citeweave.errors import CiteweaveError, MissingDependencyError, RunError

__all__ = ["PartActor", "RayTeam", "connect_ray", "import_ray"]

_PATIENCE = 300.0
"""Seconds to wait for Ray to start a worker before giving up."""
_KNOCK = 10.0
"""Seconds within which an address has to answer."""
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def import_ray() -> Any:
    """Import Ray, which only the engine "ray" needs.

    Raises
    ------
    MissingDependencyError
        If Ray is not installed.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise MissingDependencyError(
            "The engine 'ray' needs Ray. Install it with: pip install 'citeweave[cluster]'"
        ) from error


def connect_ray(address: str | None, cores: int) -> None:
    """Join the cluster at an address, or start Ray on this computer if none is given.

    If this process is already connected to Ray, that connection is used unchanged.

    Parameters
    ----------
    address : str or None
        As in ``ray.init``: "auto", "host:port" or "ray://host:port".
    cores : int
        Cores that all workers need together; on this computer they share the available ones.

    Raises
    ------
    RunError
        If there is no Ray at the address, its version differs, or it has too few cores.
    """
    ray = import_ray()
    if not ray.is_initialized():
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if address is None:
            options["include_dashboard"] = False
            # by default Ray gives its workers a lower priority than all other processes
            os.environ.setdefault("RAY_worker_niceness", "0")
        try:
            _knock(address)
            # "local": never a cluster that someone else has started on this computer
            ray.init(address=address or "local", **options)
        except (OSError, RuntimeError, ValueError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
            where = "on this computer" if address is None else f"at address {address!r}"
            raise RunError(
                f"Ray cannot be reached {where} ({reason}). Start it with `ray start --head`, or "
                "leave the address out to start it here."
            ) from error
    there = int(ray.cluster_resources().get("CPU", 0))
    if address is not None and there < cores:
        raise RunError(
            f"The Ray cluster has {there} cores where the workers need {cores}. Use fewer workers "
            "or fewer threads each, or add nodes to the cluster."
        )


def _knock(address: str | None) -> None:
    """Check that an address accepts connections; Ray itself would wait for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_KNOCK).close()


def describe_versions(device: str = CPU) -> dict[str, str]:
    """Return the versions that results on a device depend on."""
    names = ["citeweave", "numpy", "scipy", "numba", "llvmlite"]
    names += ["cupy", "cupy-cuda12x", "cupy-cuda13x"] if device == CUDA else []
    found = {"Python": platform.python_version()}
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


class Mailbox:
    """Messages from other parts that have not been read yet."""

    def __init__(self) -> None:
        self._there = threading.Condition()
        self._letters: dict[tuple[int, int], Payload] = {}
        self._epoch = 0
        self._stopped = False

    def open(self, epoch: int) -> None:
        """Begin another epoch, and discard the messages of earlier ones."""
        with self._there:
            self._letters = {
                place: letter for place, letter in self._letters.items() if place[0] >= epoch << 32
            }
            self._epoch, self._stopped = epoch, False

    def put(self, epoch: int, number: int, sender: int, payload: Payload) -> None:
        """Store a message; those of earlier epochs are discarded."""
        with self._there:
            if epoch >= self._epoch:
                self._letters[epoch << 32 | number, sender] = payload
                self._there.notify_all()

    def stop(self, epoch: int) -> None:
        """Raise an error in any thread that waits in this epoch."""
        with self._there:
            if epoch == self._epoch:
                self._stopped = True
                self._there.notify_all()

    def take(self, number: int, senders: Sequence[int]) -> list[Payload]:
        """Wait for a message from each sender, and return them in that order."""
        wanted = [(self._epoch << 32 | number, sender) for sender in senders]
        with self._there:
            while not all(place in self._letters for place in wanted):
                if self._stopped:
                    raise StoppedError("Another part of the chain has failed.")
                self._there.wait()
            return [self._letters.pop(place) for place in wanted]


class RayExchange(PartExchange):
    """The exchange of parts that are actors."""

    def __init__(self, rank: int, size: int, mailbox: Mailbox) -> None:
        super().__init__(rank, size)
        self._mailbox = mailbox
        self._peers: Sequence[Any] = ()
        self._epoch = self._number = 0

    def connect(self, peers: Sequence[Any], epoch: int) -> None:
        """Start a new epoch with the given actors."""
        self._peers, self._epoch, self._number = peers, epoch, 0
        self._mailbox.open(epoch)

    def _pass(self, outgoing: Sequence[Payload]) -> list[Payload]:
        self._number += 1
        others = [(self.rank + i) % self.size for i in range(1, self.size)]
        for other in others:
            self._peers[other].deliver.remote(self._epoch, self._number, self.rank, outgoing[other])
        found = dict(zip(others, self._mailbox.take(self._number, others), strict=True))
        found[self.rank] = outgoing[self.rank]
        return [found[i] for i in range(self.size)]


class UnpreparedError(Exception):
    """The worker was restarted between two calls and does not have its part yet."""


class PartActor:
    """A worker as a Ray actor; several of its methods may run concurrently."""

    def __init__(self) -> None:
        self._mailbox = Mailbox()
        self._exchange: RayExchange | None = None
        self._worker: PartWorker | None = None

    def is_prepared(self) -> bool:
        """Return whether the worker has its part."""
        return self._worker is not None

    def prepare(
        self, division: Division, recipe: Recipe, rank: int, versions: dict[str, str]
    ) -> None:
        """Make a part; all versions that results depend on must match the driver's."""
        here = describe_versions(recipe.device)
        for name, version in versions.items():
            if here.get(name) != version:
                raise RunError(
                    f"A worker on {platform.node()} has {name} {here.get(name, 'missing')} where "
                    f"the driver has {version}. Install the same versions on all nodes."
                )
        self._exchange = RayExchange(rank, division.parts, self._mailbox)
        self._worker = PartWorker(make_plan(division, rank), recipe, self._exchange)

    def connect(self, peers: Sequence[Any], epoch: int) -> None:
        """Connect to the other workers."""
        if self._exchange is not None:
            self._exchange.connect(peers, epoch)

    def deliver(self, epoch: int, number: int, sender: int, payload: Payload) -> None:
        """Receive a message from another part."""
        self._mailbox.put(epoch, number, sender, payload)

    def stop(self, epoch: int) -> None:
        """Stop waiting for other parts in this epoch."""
        self._mailbox.stop(epoch)

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the part's worker."""
        if self._worker is None:
            raise UnpreparedError
        return getattr(self._worker, method)(*arguments)

    def identify(self) -> tuple[int, str]:
        """Return the process ID and the name of the node."""
        return os.getpid(), platform.node()


class RayTeam:
    """The actors of one chain.

    Parameters
    ----------
    division : Division
    recipe : Recipe
    cores : int
        Cores that Ray reserves for each worker.
    gpus : float
        GPUs, or the fraction of one, that Ray reserves for each worker.
    """

    def __init__(
        self,
        division: Division,
        recipe: Recipe,
        cores: int,
        gpus: float = 0.0,
    ) -> None:
        self._ray = import_ray()
        self._recipe = recipe
        self._division = division
        kind = self._ray.remote(PartActor)
        # restarted as often as necessary, on any node with room; lost calls are not retried,
        # since the whole team returns to one state
        self._kind = kind.options(
            num_cpus=cores, num_gpus=gpus, max_restarts=-1, max_task_retries=0, max_concurrency=4
        )
        self._gpus = gpus
        self.actors = [self._kind.remote() for _ in range(division.parts)]
        self._epoch = 0
        self._prepare()

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a method of all workers concurrently, with one tuple of ``arguments`` per worker."""
        given = arguments or [()] * len(self.actors)
        return self._finish(
            [actor.call.remote(method, *own) for actor, own in zip(self.actors, given, strict=True)]
        )

    def _finish(self, calls: list[Any]) -> list[Any]:
        """Wait for the calls of all workers; if one fails, stop the others."""
        ray, waiting = self._ray, list(calls)
        failed: Exception | None = None
        while waiting:
            done, waiting = ray.wait(waiting, num_returns=1)
            try:
                ray.get(done[0])
            except ray.exceptions.RayTaskError as error:
                cause = error.cause
                if isinstance(cause, StoppedError):
                    continue
                # its arguments are lost, or it was restarted after receiving its part
                if isinstance(cause, (ray.exceptions.RayError, UnpreparedError)):
                    failed = failed or LostWorkerError(str(cause))
                else:
                    failed = cause if isinstance(cause, CiteweaveError) else error
            except ray.exceptions.RayError as error:
                failed = failed or LostWorkerError(str(error))
            if failed is not None:
                for actor in self.actors:
                    actor.stop.remote(self._epoch)
        if failed is not None:
            raise failed
        found: list[Any] = ray.get(calls)
        return found

    def share(self, value: Any) -> Any:
        """Store a value in Ray's object store, from which workers on a node read one copy."""
        return self._ray.put(value)

    def replace_lost(self) -> None:
        """Wait until Ray has restarted lost workers, and let them make their parts again."""
        self._prepare()

    def _prepare(self) -> None:
        self._epoch += 1
        versions = describe_versions(self._recipe.device)
        lacking = [rank for rank in range(len(self.actors)) if not self._alive(rank)]
        if lacking:
            division = self.share(self._division)  # released once they have made their plans
            self._finish(
                [
                    self.actors[rank].prepare.remote(division, self._recipe, rank, versions)
                    for rank in lacking
                ]
            )
        self._finish([actor.connect.remote(self.actors, self._epoch) for actor in self.actors])

    def _alive(self, rank: int) -> bool:
        """Wait until a worker answers, and return whether it has its part."""
        ray = self._ray
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            try:
                return bool(ray.get(self.actors[rank].is_prepared.remote(), timeout=_PATIENCE))
            except ray.exceptions.ActorDiedError:
                self.actors[rank] = self._kind.remote()
            except ray.exceptions.GetTimeoutError:
                break
            except ray.exceptions.RayError:  # not restarted yet
                time.sleep(0.1)
        wanted = f"{self._recipe.threads} free cores"
        wanted += f" and {self._gpus:g} of a GPU free" if self._gpus else ""
        raise RunError(
            f"Ray has not started worker {rank} within {_PATIENCE:.0f} s: no node has "
            f"{wanted}. Add nodes, or use fewer workers or threads. What "
            "was saved is intact; continue with `citeweave resume RUN`."
        )

    def close(self) -> None:
        """Release all workers."""
        for actor in self.actors:
            with contextlib.suppress(Exception):  # Ray may be gone already
                self._ray.kill(actor)
