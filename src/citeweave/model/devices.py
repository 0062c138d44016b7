"""Where chains run: in threads of this process, or on a GPU.

A GPU is asked for by ``device="cuda"``, which fails where there is none that can take the run, or
left to what is there by ``device="auto"``, which then takes threads instead.
"""

import warnings
from typing import TYPE_CHECKING, NamedTuple

from citeweave.engines.core.estimates import Sums, add_sample
from citeweave.engines.cuda import CudaChain, CudaDevice, check_model
from citeweave.engines.dense.chain import Chain, Data
from citeweave.engines.slots import SparseChain, SparseSnapshotChain, is_sparse
from citeweave.engines.threads import SnapshotChain
from citeweave.errors import CiteweaveError
from citeweave.model.sweeps import SNAPSHOT

if TYPE_CHECKING:
    from citeweave.model.parameters import Plan

__all__ = [
    "AUTO",
    "CPU",
    "CUDA",
    "Opened",
    "collect_samples",
    "describe_gpu",
    "find_device",
    "keep_sample",
    "new_chain",
    "open_chains",
]

AUTO = "auto"
CPU = "cpu"
CUDA = "cuda"


class Opened(NamedTuple):
    """A plan whose device is chosen and was found to take it."""

    plan: "Plan"
    first: Chain | None
    """The first chain, where making it was the test."""
    notes: tuple[str, ...]
    """What a reader of the result should know of the choice."""


def find_device(plan: "Plan") -> "Plan":
    """Choose the device of a plan for a corpus by what the machine has.

    Raises
    ------
    CiteweaveError
        A GPU was asked for by name, and there is none or it cannot sample this model.
    """
    if plan.sweep != SNAPSHOT or plan.device == CPU:
        return plan.on(CPU)
    try:
        check_model(plan.spec)
        CudaDevice()
    except CiteweaveError:
        if plan.device == CUDA:
            raise
        return plan.on(CPU)
    return plan.on(CUDA)


def describe_gpu() -> str:
    """Give the name and the memory of the GPU in a line."""
    return CudaDevice().describe()


def open_chains(plan: "Plan", data: Data, *, begun_on: str | None = None) -> Opened:
    """Choose the device of a plan, and make sure that it has room for a chain.

    Parameters
    ----------
    plan : Plan
        For a corpus.
    data : Data
    begun_on : str, optional
        Where a run that goes on was before.
    """
    chosen = find_device(plan)
    notes: tuple[str, ...] = ()
    first = None
    if chosen.device == CUDA:
        try:
            first = new_chain(chosen, data, 0)
        except CiteweaveError as error:
            if plan.device == CUDA:
                raise
            chosen = plan.on(CPU)
            text = f"In threads, not on the GPU: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=4)
            notes = (text,)
    if begun_on is not None and begun_on != chosen.device:
        notes = (*notes, f"Begun on {begun_on}, went on on {chosen.device}.")
    return Opened(chosen, first, notes)


def new_chain(plan: "Plan", data: Data, number: int) -> Chain:
    """Make one chain of a plan, not yet started; close it when it is not needed any more.

    With many topics sweeps go over slots. That is a rule of this release, not a part of the plan: a
    run that another kind of sweep began goes on with the same posterior.
    """
    sparse = is_sparse(plan.spec, plan.settings.topics)
    if plan.sweep != SNAPSHOT:
        sequential = SparseChain if sparse else Chain
        return sequential(plan.spec, data, plan.settings, seed=plan.seed, stream=number)
    rounds = plan.rounds or 1
    if plan.device == CUDA:
        return CudaChain(
            plan.spec,
            data,
            plan.settings,
            seed=plan.seed,
            stream=number,
            rounds=rounds,
            device=CudaDevice(),
        )
    snapshot = SparseSnapshotChain if sparse else SnapshotChain
    return snapshot(
        plan.spec,
        data,
        plan.settings,
        seed=plan.seed,
        stream=number,
        threads=plan.threads_per_chain,
        rounds=rounds,
    )


def keep_sample(chain: Chain, sums: Sums) -> None:
    """Add the posterior means of a chain's present state to its sums; a GPU keeps its own."""
    if isinstance(chain, CudaChain):
        chain.keep_sample(sums)
    else:
        add_sample(chain, sums)


def collect_samples(chain: Chain, sums: Sums) -> None:
    """Bring the sums up to date where a GPU has them."""
    if isinstance(chain, CudaChain):
        chain.collect_samples(sums)
