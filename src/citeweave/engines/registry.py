"""The available engines, and the choice for a run by model, topics, sweep and machine.

To add an engine, add a folder with a class that implements `citeweave.engines.protocol.Engine`, and
one line in `ENGINES`.
"""

from collections.abc import Collection
from typing import NamedTuple

from citeweave.engines.cluster.chain import RayChain
from citeweave.engines.core.capabilities import Capabilities
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.cuda.chain import CudaChain
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.protocol import Engine
from citeweave.engines.slots.chain import SparseChain
from citeweave.engines.slots.snapshot import SparseSnapshotChain
from citeweave.engines.threads.chain import SnapshotChain
from citeweave.errors import CiteweaveError, ParameterError

__all__ = ["AUTO", "ENGINES", "Choice", "choose_engine", "devices", "one_chain", "place", "sweeps"]

AUTO = "auto"
"""The device of a run that uses the best one of the machine."""

ENGINES: dict[str, type[Engine]] = {
    "cuda": CudaChain,
    "sparse-snapshot": SparseSnapshotChain,
    "dense-snapshot": SnapshotChain,
    "sparse": SparseChain,
    "dense": DenseChain,
    "ray": RayChain,
}
"""Engines by name, best first: a run uses the first that meets its needs; those used only on
request come last."""


class Choice(NamedTuple):
    """The engine of a run."""

    name: str
    engine: type[Engine]
    machine: str
    """Description of the device, from its `probe`; empty for this process."""


def choose_engine(
    spec: ModelSpec,
    topics: int,
    sweep: str,
    *,
    device: str = AUTO,
    without: Collection[str] = (),
) -> Choice:
    """Choose the first engine that can sample a model on this machine.

    Parameters
    ----------
    spec : ModelSpec
    topics : int
        Maximum number of topics.
    sweep : str
        Kind of sweeps.
    device : str
        Name of a device, or "auto" for the best available one.
    without : collection of str
        Names of engines that were tried without success.

    Raises
    ------
    CiteweaveError
        No engine can sample the model; states what prevents the best of them, and what to do.

    Examples
    --------
    >>> from citeweave.engines.core.spec import preset
    >>> [choose_engine(preset("scntm"), n, "sequential").name for n in (20, 300)]
    ['dense', 'sparse']
    >>> choose_engine(preset("np-atm"), 300, "snapshot", device="cpu").name
    'dense-snapshot'
    """
    problem: CiteweaveError | None = None
    for name, engine in ENGINES.items():
        able = engine.capabilities
        wanted = able.sweep == sweep and device in {AUTO, able.device}
        if able.by_name or not wanted or name in without:
            continue
        try:
            able.check(spec, topics)
            if topics >= able.best_from:
                return Choice(name, engine, engine.probe())
        except CiteweaveError as error:
            problem = problem or error
    raise problem or ParameterError(
        f"No engine makes {sweep} sweeps on device '{device}'. "
        f"Use one of: {', '.join(repr(name) for name in devices())}."
    )


def devices() -> tuple[str, ...]:
    """List all devices that engines run on, in alphabetical order.

    Examples
    --------
    >>> devices()
    ('cpu', 'cuda')
    """
    return tuple(sorted({engine.capabilities.device for engine in ENGINES.values()}))


def sweeps(device: str) -> set[str]:
    """List the kinds of sweeps available on a device, or on any for "auto".

    Examples
    --------
    >>> sweeps("cuda"), sorted(sweeps("auto"))
    ({'snapshot'}, ['sequential', 'snapshot'])
    """
    return {able.sweep for able in _on(device)}


def one_chain(device: str, engine: str = "") -> bool:
    """Whether chains of an engine, or on a device if none is chosen yet, take turns."""
    if engine:
        return ENGINES[engine].capabilities.one_chain
    return device != AUTO and all(able.one_chain for able in _on(device))


def place(device: str) -> str:
    """Describe the device for the user; empty for this process.

    Examples
    --------
    >>> place("cuda"), place("cpu")
    ('on the GPU', '')
    """
    return next((able.place for able in _on(device)), "") if device != AUTO else ""


def _on(device: str) -> list[Capabilities]:
    found = [engine.capabilities for engine in ENGINES.values()]
    return [able for able in found if not able.by_name and device in {AUTO, able.device}]
