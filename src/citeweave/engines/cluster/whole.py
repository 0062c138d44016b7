"""Moments at which a divided chain is one piece: it starts, citations join, phi' joins.

These take tokens or citations one after the other, each given those before it, from the chain's own
random stream. One worker therefore puts the parts together, does it as a chain in threads would,
and gives every part its own again. Of parts on GPUs, this is so with given topics and with phi',
which a chain on one GPU seats on the host, too; the rest they begin from streams of their own.
"""

from collections.abc import Sequence

from citeweave.engines.cluster.plans import PartPlan
from citeweave.engines.cluster.state_parts import fill_state, part_of_state
from citeweave.engines.cluster.worker import Recipe
from citeweave.engines.core.arrays import Array, State
from citeweave.engines.core.data import Data
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.core.starting import with_bursts
from citeweave.engines.slots.snapshot import SparseSnapshotChain
from citeweave.engines.threads.chain import SnapshotChain

__all__ = ["begin", "join_bursts", "join_citations", "new_whole"]


class _DenseCounts(SparseSnapshotChain):
    """A chain over slots whose counts are rows of all topics, as those of its parts are."""

    compact_counts = False


def new_whole(recipe: Recipe, data: Data) -> SnapshotChain:
    """Make the chain in one piece, not yet started."""
    spec, settings, seed, stream, threads, rounds, *_ = recipe
    kind = _DenseCounts if recipe.sparse else SnapshotChain
    return kind(spec, data, settings, seed=seed, stream=stream, threads=threads, rounds=rounds)


def begin(
    recipe: Recipe, data: Data, plans: Sequence[PartPlan], topics: Array | None
) -> list[State]:
    """Give every token a first topic; gives the states of parts."""
    chain = new_whole(recipe, data)
    chain.start(topics)
    chain.close()
    return [part_of_state(chain.state, plan) for plan in plans]


def _put_together(
    recipe: Recipe, data: Data, plans: Sequence[PartPlan], parts: Sequence[State]
) -> SnapshotChain:
    chain = new_whole(recipe, data)
    for plan, part in zip(plans, parts, strict=True):
        fill_state(chain.state, plan, part)
    chain.restore(chain.state)
    return chain


def join_citations(
    recipe: Recipe, data: Data, plans: Sequence[PartPlan], parts: Sequence[State]
) -> list[State]:
    """Let citations join; gives the states of parts."""
    chain = _put_together(recipe, data, plans, parts)
    chain.switch_network_on()
    chain.close()
    return [part_of_state(chain.state, plan) for plan in plans]


def join_bursts(
    recipe: Recipe,
    data: Data,
    plans: Sequence[PartPlan],
    parts: Sequence[State],
    spec: ModelSpec,
) -> list[State]:
    """Let phi' join, with which the model is ``spec``; gives the states of parts."""
    chain = _put_together(recipe, data, plans, parts)
    chain.close()
    first = recipe.settings.concentration
    joined = with_bursts(spec, chain.layout, chain.state, concentration=first)
    return [part_of_state(joined, plan) for plan in plans]
