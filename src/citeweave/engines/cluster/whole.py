"""Operations on a divided chain as a whole: its start, and the addition of citations and of phi'.

These visit tokens or citations one after the other, each conditional on those before it, and draw
from the chain's own random stream. One worker therefore assembles the parts, proceeds like a chain
in threads, and divides the result again. For parts on GPUs, this applies only to given topics and
to phi', which a chain on one GPU also seats on the host; everything else they start from streams of
their own.
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


def new_whole(recipe: Recipe, data: Data) -> SnapshotChain:
    """Create the undivided chain, not yet started."""
    spec, settings, seed, stream, threads, rounds, *_ = recipe
    kind = SparseSnapshotChain if recipe.sparse else SnapshotChain
    return kind(spec, data, settings, seed=seed, stream=stream, threads=threads, rounds=rounds)


def begin(
    recipe: Recipe, data: Data, plans: Sequence[PartPlan], topics: Array | None
) -> list[State]:
    """Assign an initial topic to each token, and return the states of the parts."""
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
    """Add citations, and return the states of the parts."""
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
    """Add phi', which makes the model ``spec``, and return the states of the parts."""
    chain = _put_together(recipe, data, plans, parts)
    chain.close()
    first = recipe.settings.concentration
    joined = with_bursts(spec, chain.layout, chain.state, concentration=first)
    return [part_of_state(joined, plan) for plan in plans]
