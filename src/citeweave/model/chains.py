"""From a plan to chains: the engine is chosen, tried, and asked for one chain after the other."""

import dataclasses
import warnings
from typing import TYPE_CHECKING, NamedTuple

from citeweave.engines.core.capabilities import CPU
from citeweave.engines.core.data import ClusterWorkers, Data, Request
from citeweave.engines.protocol import RunningChain
from citeweave.engines.registry import AUTO, ENGINES, choose_engine, place
from citeweave.engines.staged import open_chain
from citeweave.errors import CiteweaveError

if TYPE_CHECKING:
    from citeweave.model.parameters import Plan

__all__ = ["OpenedPlan", "find_engine", "new_chain", "open_chains"]


class OpenedPlan(NamedTuple):
    """A plan whose engine is chosen and was found to take it."""

    plan: "Plan"
    first: RunningChain
    """The first chain: making it was the test."""
    notes: tuple[str, ...]
    """What a reader of the result should know of the choice."""


def find_engine(plan: "Plan", *, without: tuple[str, ...] = ()) -> "Plan":
    """Choose the engine of a plan for a corpus, and with it the device, by what the machine has.

    A plan that has one keeps it.

    Raises
    ------
    CiteweaveError
        A device was asked for by name, and there is none or it cannot sample this model.
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
    """Choose the engine of a plan, and make sure that it has room for a chain.

    Where the device was left open, the next best engine is tried where the best has no room.

    Parameters
    ----------
    plan : Plan
        For a corpus.
    data : Data
    begun_on : str, optional
        Where a run that goes on was before.
    """
    notes: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    while True:
        chosen = find_engine(plan, without=failed)
        try:
            first = new_chain(chosen, data, 0)
        except CiteweaveError as error:
            if plan.device != AUTO or chosen.device == CPU:
                raise
            failed = (*failed, chosen.engine)
            text = f"In threads, not {place(chosen.device)}: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=4)
            notes = (*notes, text)
        else:
            break
    if begun_on is not None and begun_on != chosen.device:
        notes = (*notes, f"Begun on {begun_on}, went on on {chosen.device}.")
    return OpenedPlan(chosen, first, notes)


def new_chain(plan: "Plan", data: Data, number: int) -> RunningChain:
    """Make one chain of a plan, not yet started; close it when it is not needed any more.

    Which engine it is is a rule of this release, not a part of the plan: a run that another engine
    began goes on with the same posterior.
    """
    request = Request(
        spec=plan.spec,
        data=data,
        settings=plan.settings,
        seed=plan.seed,
        stream=number,
        threads=plan.threads_per_chain,
        rounds=plan.rounds or 1,
        workers=ClusterWorkers(plan.workers, plan.address),
    )
    return open_chain(ENGINES[find_engine(plan).engine], request)
