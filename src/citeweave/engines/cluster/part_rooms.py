"""The room for topics of each node, if counts are lists.

A node may have topics from papers in other parts, and a copy is overwritten by its owner's row. A
node therefore has the same room wherever it is held: that of the whole chain. It follows from the
lengths of papers, their citations and the tree. The driver knows these; it needs no words.
"""

import numpy as np

from citeweave.engines.cluster.partition import Division
from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.setting_up import lay_out, node_rooms
from citeweave.engines.core.spec import ModelSpec

__all__ = ["with_rooms"]


def with_rooms(
    division: Division, spec: ModelSpec, data: Data, settings: ChainSettings
) -> Division:
    """Add the rooms of all nodes to a division; ``data`` are those of the whole chain."""
    layout = lay_out(spec, data, np.zeros(0, np.int32))
    rooms = node_rooms(spec, layout, settings).astype(np.int16)
    level = int(np.searchsorted(layout.level_start, layout.citation_node))
    return division._replace(rooms=rooms, citation_level=level)
