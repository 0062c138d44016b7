"""From a plan to chains: choose the engine, test it, and have it open each chain."""

import dataclasses
import warnings
from typing import TYPE_CHECKING, NamedTuple

from citeweave.engines.core.capabilities import CPU
from citeweave.engines.core.data import ClusterWorkers, Data, Request
from citeweave.engines.protocol import RunningChain, as_divided
from citeweave.engines.registry import AUTO, ENGINES, choose_engine, place
from citeweave.engines.staged import open_chain
from citeweave.errors import CiteweaveError

if TYPE_CHECKING:
    from citeweave.model.parameters import Plan

__all__ = ["OpenedPlan", "find_engine", "new_chain", "open_chains"]


class OpenedPlan(NamedTuple):
    """A plan, with an engine that can run it."""

    plan: "Plan"
    first: RunningChain
    """The first chain, which was opened to test the engine."""
    notes: tuple[str, ...]
    """Note on the choice for the reader of the result."""


def find_engine(plan: "Plan", *, without: tuple[str, ...] = ()) -> "Plan":
    """Choose the engine of a plan for a corpus, and the device, from the available hardware.

    A plan that already has an engine keeps it.

    Raises
    ------
    CiteweaveError
        A device was requested by name, but is missing or cannot sample this model.
    """
    if plan.engine and plan.engine not in without:
        engine = ENGINES[plan.engine]
        if plan.machine or not engine.capabilities.by_name:
            return plan
        engine.capabilities.check(plan.spec, plan.settings.topics)
        return dataclasses.replace(plan, machine=engine.probe())
    chosen = choose_engine(
        plan.spec, plan.settings.topics, plan.sweep, device=plan.device, without=without
    )
    device = chosen.engine.capabilities.device
    return dataclasses.replace(plan, device=device, engine=chosen.name, machine=chosen.machine)


def open_chains(plan: "Plan", data: Data, *, begun_on: str | None = None) -> OpenedPlan:
    """Choose the engine of a plan, and make sure that a chain fits into its memory.

    If no device was requested, the next best engine is tried when memory is too small for the best.

    Parameters
    ----------
    plan : Plan
        Plan for a corpus.
    data : Data
    begun_on : str, optional
        Device on which a resumed run was started.
    """
    notes: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    while True:
        chosen = find_engine(plan, without=failed)
        try:
            first = new_chain(chosen, data, 0)
        except CiteweaveError as error:
            if plan.device != AUTO or chosen.device == CPU or chosen.divided:
                raise
            failed = (*failed, chosen.engine)
            text = f"In threads, not {place(chosen.device)}: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=4)
            notes = (*notes, text)
        else:
            break
    divided = as_divided(first)
    if divided is not None:  # its cluster was queried already
        chosen = chosen.on(divided.device)
    if begun_on is not None and begun_on != chosen.device:
        notes = (*notes, f"Started on {begun_on}, continued on {chosen.device}.")
    return OpenedPlan(chosen, first, notes)


def new_chain(plan: "Plan", data: Data, number: int) -> RunningChain:
    """Open one chain of a plan, not yet started; close it when it is no longer needed.

    The engine is a rule of this release, not part of the plan: a run that another engine began
    continues with the same posterior.
    """
    request = Request(
        spec=plan.spec,
        data=data,
        settings=plan.settings,
        seed=plan.seed,
        stream=number,
        threads=plan.threads_per_chain,
        rounds=plan.rounds or 1,
        workers=ClusterWorkers(plan.workers, plan.address, plan.device),
    )
    return open_chain(ENGINES[find_engine(plan).engine], request)
