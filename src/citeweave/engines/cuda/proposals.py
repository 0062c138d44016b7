"""Sweeps over the topics that matter to a document, for large numbers of topics.

A document is walked over its *slots*; topics outside them are proposed from one table per word and
accepted by Metropolis-Hastings. The tables come from the counts of an earlier iteration and stand
still in between, which is what makes the acceptance exact: a table made from the present counts
would depend on the token that it moves.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from citeweave.engines.core.chain import Chain
from citeweave.engines.core.sparse_sweeps import MOST_LISTED, RefreshSchedule
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.cuda.program import WARP, LaneGrouping, Program
from citeweave.errors import ParameterError

if TYPE_CHECKING:
    from citeweave.engines.cuda.chain import CudaChain

__all__ = ["MARKED_BLOCKS", "DeviceProposals", "SlotSizes", "slot_room"]

MARKED_BLOCKS = 396
"""Blocks that add up numbers of nodes by topic: each has a sum per topic in shared memory."""
_ARRAYS = ("guess", "guess_mass", "guess_root", "listed")


class SlotSizes(NamedTuple):
    """What the slots of one group take in a sweep (``group_cells`` of the kernels)."""

    near_bytes: int
    """In shared memory."""
    far_floats: int
    """In the card's, for as many slots as there are topics."""

    @classmethod
    def of_words(cls, spec: ModelSpec, topics: int, grouping: LaneGrouping) -> "SlotSizes":
        """Of the sweep of words, where a slot has ``WORD_FIELDS`` numbers."""
        burst = int(spec.word_level("document-topic") is not None)
        network = int(spec.citations is not None)
        levels, shared = len(spec.topic_side), spec.n_shared
        fields = 4 * levels + 8 + 5 * burst + 3 * network
        # random numbers of a token, and sums over topics without a slot (DRAWS, OUTER_FLOATS)
        besides = 2 * levels + 8 + network * (2 * (2 + shared) * shared + 2 * shared)
        return cls._of(fields, besides, topics, grouping)

    @classmethod
    def of_citations(cls, spec: ModelSpec, topics: int, grouping: LaneGrouping) -> "SlotSizes":
        """Of the sweep of citations: ``END_FIELDS`` numbers per slot, and one bit per topic."""
        fields = 4 * (len(spec.topic_side) - spec.below_citations) + 5
        return cls._of(fields, -(-topics // 32), topics, grouping)

    @classmethod
    def _of(cls, fields: int, besides: int, topics: int, grouping: LaneGrouping) -> "SlotSizes":
        lanes = grouping.lanes
        tile = fields * lanes
        near = -(-(grouping.near_slots // lanes * tile + besides) // WARP) * WARP + lanes % WARP
        return cls(4 * near, -(-topics // lanes) * tile)


def slot_room(chain: Chain, program: Program, *, far_floats: int) -> dict[str, tuple[int, type]]:
    """List what sweeps over slots need besides, by size and type; empty where there are none."""
    layout, spec, topics = chain.layout, chain.spec, chain.settings.topics
    n_words = chain.state.words.customers.shape[0]
    n_citations = len(layout.citing) if spec.citations is not None else 0
    first, last = _marked_levels(spec)
    marked = int(layout.level_start[last] - layout.level_start[first])
    above = int(layout.level_start[spec.n_shared] - layout.level_start[spec.n_shared - 1])
    room: dict[str, tuple[int, type]] = {
        "guess": (n_words * topics, np.uint32),
        "guess_mass": (n_words + 1, np.float32),  # the citations' is the last
        "guess_root": (topics, np.float32),
        "seat_sum": (2, np.uint64),
        "share_sum": (topics, np.uint64),
        "cite_guess": (topics, np.uint32),
        "move_slope": (2 * spec.n_shared * n_citations, np.float32),
        "listed": (above, np.uint8),
        "bits": (marked * -(-topics // 32), np.uint32),
        "outer": (int(layout.level_start[spec.n_shared]) * (2 + spec.n_shared), np.float64),
        "far_cells": (far_floats, np.float32),
    }
    if program.defines["SPARSE"]:
        return room
    return {name: (0, kind) for name, (_, kind) in room.items()}


def _marked_levels(spec: ModelSpec) -> tuple[int, int]:
    """Levels whose topics are listed: the first document level, and the one above it but mu."""
    return max(spec.n_shared - 1, 1), spec.n_shared + 1


class DeviceProposals:
    """The tables that a chain proposes topics from."""

    def __init__(self, chain: "CudaChain") -> None:
        self._chain = chain
        self._marked = self._copies_marked = False
        self.schedule = RefreshSchedule()

    def forget(self) -> None:
        """Have the tables made anew before the next sweep: the chain goes on from elsewhere."""
        self.schedule.made = self._marked = False

    def spoil(self) -> None:
        """Take note that nodes have got other counts."""
        self._marked = False

    def spoil_copies(self) -> None:
        """Take note that copies of nodes of other parts have got other counts."""
        self._copies_marked = False

    def refresh(self) -> None:
        """Make the tables from the counts as they stand, those of all parts of the chain."""
        chain = self._chain
        chain.run("choose_listed", MOST_LISTED)
        chain.complete_listed()
        for name in ("seat_sum", "share_sum"):
            chain.device.clear(chain.arrays[name])
        if chain.spec.n_shared > 1:
            chain.run("count_seats")
            chain.add_parts("seat_sum")
            room = 8 * chain.settings.topics
            chain.run("sum_shares", shared=room, blocks=MARKED_BLOCKS, threads=256)
            chain.add_parts("share_sum")
        chain.run("make_shares")
        chain.run("make_guesses")
        self.schedule.made = True

    @property
    def marks_citations(self) -> bool:
        """Whether all nodes that citations reach, mu apart, are among those that are marked."""
        chain = self._chain
        first, last = _marked_levels(chain.spec)
        return chain.sparse and first == 1 and chain.citation_level == last - 1

    def before_iteration(self) -> None:
        """Refresh where the schedule says so."""
        if self.schedule.is_due(self._chain.iteration):
            self.refresh()

    def before_words(self) -> None:
        """Bring up to date what the sweep of words needs of the snapshot."""
        self._ready()
        if self._chain.network_on:
            self._sum_outer()

    def before_citations(self) -> None:
        """Bring up to date what the sweep of citations needs of the snapshot."""
        chain = self._chain
        self._ready()
        self._sum_outer()
        chain.run("make_cite_guesses", blocks=1, threads=WARP)

    def _sum_outer(self) -> None:
        for level in range(self._chain.spec.n_shared):
            self._chain.run("sum_outer", level)

    def _ready(self) -> None:
        if not self.schedule.made:
            self.refresh()
        self.mark()

    def mark(self) -> None:
        """Bring up to date which topics nodes have customers in."""
        if self._marked and self._copies_marked:
            return
        for level in range(*_marked_levels(self._chain.spec)):
            self._chain.run("mark_topics", level, int(self._marked))
        self._marked = self._copies_marked = True

    def export(self) -> dict[str, np.ndarray]:
        """Copy the tables to the host, where they have been made, and whether they are frozen."""
        chain = self._chain
        if not chain.sparse:
            return {}
        names = _ARRAYS if self.schedule.made else ()
        tables = {name: chain.device.download(chain.arrays[name]) for name in names}
        return tables | self.schedule.export()

    def restore(self, stored: Mapping[str, np.ndarray]) -> None:
        """Go on with stored tables; where there are none they are made before the next sweep."""
        chain = self._chain
        self.forget()
        tables = self.schedule.restore(stored)
        if not tables or not chain.sparse:
            return
        for name in _ARRAYS:
            mine = chain.arrays[name]
            if name not in tables or tables[name].size != mine.size:
                raise ParameterError(
                    f"Stored proposals must have {mine.size} numbers in {name!r}. "
                    f"Got {tables[name].size if name in tables else 'none'} instead."
                )
        for name in _ARRAYS:
            mine = chain.arrays[name]
            chain.device.upload(mine, tables[name].astype(mine.dtype, copy=False))
        self.schedule.made = True
