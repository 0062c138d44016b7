"""The last state of a chain of a fitted model: every count and assignment of one sample."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from citeweave.errors import RunError
from citeweave.model.attributes import FittedAttributes
from citeweave.model.results import Result
from citeweave.runs.checkpoint import Identity, chain_folder, read_latest
from citeweave.runs.folder import RunFolder

__all__ = ["LastState", "last_state", "state_of_chain"]


class LastState(NamedTuple):
    """State of a chain."""

    chain: int
    iteration: int
    arrays: Mapping[str, Any]
    """Those of `citeweave.engines.core.arrays.State`, named by their path ("topics.customers").
    Counts of nodes may be lists (`citeweave.engines.core.compact_rows.CompactRows`), which give
    their rows like arrays."""


def last_state(model: FittedAttributes, chain: int | None = None) -> LastState:
    """Read the last state of a chain.

    Parameters
    ----------
    model : SCNTM
        Fitted or loaded.
    chain : int, optional
        By default, the chain whose numbering of topics the model uses.

    Raises
    ------
    RunError
        There is no such chain, or no usable checkpoint of it.
    """
    result = model._fitted  # noqa: SLF001 (of this package)
    return state_of_chain(result, result.combination.best if chain is None else chain)


def state_of_chain(result: Result, number: int) -> LastState:
    """Read the last state of a chain of a result; see `last_state`."""
    if not 0 <= number < result.plan.chains:
        raise RunError(
            f"There is no chain {number}; chains run from 0 to {result.plan.chains - 1}."
        )
    if result.states:
        return LastState(number, result.iterations, result.states[number])
    if result.folder is None:
        raise RunError("The model has neither the states of its chains nor a run folder.")
    folder = chain_folder(RunFolder.open(result.folder).chains, number)
    identity = Identity(result.corpus.fingerprint, result.plan.digest(), number)
    checkpoint, _ = read_latest(folder, identity)
    if checkpoint is None:
        raise RunError(f"The run has no checkpoint in '{folder}': the state of that chain is lost.")
    return LastState(number, checkpoint.iteration, checkpoint.state)
