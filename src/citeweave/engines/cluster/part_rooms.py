"""The room for topics of each node that a part holds, if counts are lists.

A node may have topics from papers in other parts, and a copy is overwritten by its owner's row. A
node therefore has the same room wherever it is held: that of the whole chain. It follows from the
lengths of papers, their citations and the tree. The driver knows these; it needs no words.
"""

from collections.abc import Sequence

import numpy as np

from citeweave.engines.cluster.plans import PartPlan
from citeweave.engines.core.arrays import Array
from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.setting_up import lay_out, node_rooms
from citeweave.engines.core.spec import ModelSpec

__all__ = ["with_rooms"]


def with_rooms(
    plans: Sequence[PartPlan], spec: ModelSpec, data: Data, settings: ChainSettings
) -> list[PartPlan]:
    """Add the rooms of all nodes to the plans; ``data`` are those of the whole chain."""
    layout = lay_out(spec, data, np.zeros(0, np.int32))
    rooms = node_rooms(spec, layout, settings).astype(np.int16)
    level = int(np.searchsorted(layout.level_start, layout.citation_node))
    return [plan._replace(rooms=_rooms_here(plan, rooms, level)) for plan in plans]


def _rooms_here(plan: PartPlan, rooms: Array, citation_level: int) -> Array:
    """Return the rooms of the nodes that a part holds.

    Copies of papers have none, except for those that the part cites, on the level that citations
    reach. No other counts of papers in other parts are ever read.
    """
    found: Array = rooms[plan.part.node]
    sizes = [1, *(len(parents) for parents in plan.data.parents)]
    ends = np.cumsum(sizes)
    for level in range(len(plan.nodes), len(sizes)):
        copies = np.arange(plan.part.level_end[level], ends[level])
        if level == citation_level:
            cited = ends[level] - sizes[level] + np.concatenate(plan.cited.copies)
            copies = np.setdiff1d(copies, cited)
        found[copies] = 0
    return found
