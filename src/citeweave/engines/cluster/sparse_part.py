"""A part of a chain with many topics: sweeps over slots, and lists instead of rows.

Counts of nodes are lists of the topics present in them where these are smaller, with room for
topics from papers in all parts. Rows are sent as such lists, and changes as lists of the entries
that have changed. The receiver recomputes what follows from counts, such as the topic bits.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from citeweave.engines.cluster.exchanges import Payload, narrow
from citeweave.engines.cluster.part_chain import ChainInParts, Copies
from citeweave.engines.core.arrays import Array, TopicCounts
from citeweave.engines.core.count_lists import copy_counts
from citeweave.engines.slots.change_lists import group_entries, sum_entries
from citeweave.engines.slots.hubs import MOST_HUBS, HubRows
from citeweave.engines.slots.part_changes import (
    put_node_changes,
    put_word_changes,
    take_node_changes,
    take_word_changes,
)
from citeweave.engines.slots.row_lists import RowLists, put_rows, take_rows
from citeweave.engines.slots.snapshot import SparseSnapshotChain

__all__ = ["SparsePartChain"]

_COLUMNS = 4
"""Columns of a change: row, topic, customers, tables."""


class SparsePartChain(ChainInParts, SparseSnapshotChain):
    """A part of a chain of snapshot sweeps over slots."""

    def _rooms(self) -> Array | None:
        """Return the rooms of the plan, which include topics from papers in other parts."""
        return self._plan.rooms

    def _take_counts(self, counts: TopicCounts) -> None:
        """Copy stored counts of all nodes but those that are never read, which have no room."""
        copy_counts(self.state.topics, counts, self._plan.nodes_with_room)

    def _forget_changes(self) -> None:
        self.__dict__.pop("_buffers", None)

    def _merge_words(self) -> None:
        """Sum the changes over all parts before they are merged.

        With more than two parts, each part sums one range of words and sends the sums to all.
        """
        exchange, buffers = self.exchange, self._buffers
        changes, marks = buffers.changes, buffers.marks
        n_words, parts = changes.words.shape[1], exchange.size
        ends = [n_words * i // parts for i in range(parts + 1)]
        mine = take_word_changes(self.workers, changes, marks, 0, n_words)
        if parts > 2:
            cuts = np.searchsorted(mine[:, 0], ends)
            pieces = [_columns(mine[cuts[i] : cuts[i + 1]]) for i in range(parts)]
            for payload in exchange.swap_all(pieces):
                put_word_changes(changes, marks, *_widened(payload))
            own = ends[exchange.rank : exchange.rank + 2]
            mine = take_word_changes(self.workers, changes, marks, *own)
        for payload in exchange.swap_all([_columns(mine)] * parts):
            put_word_changes(changes, marks, *_widened(payload))
        super()._merge_words()

    def _before_level(self, level: int, entries: list[np.ndarray]) -> None:
        """Send the changes of copies to the owners of the nodes."""
        if level == 0:
            self._sum_root()
        elif self._cited_moved or self._plan.divided:
            self._return_changes(level, entries)

    def _sum_root(self) -> None:
        """Sum the changes of mu over all parts."""
        changes, marks = self._buffers.changes, self._buffers.marks
        mine = take_node_changes(changes, marks, 0, 1)
        both = np.zeros((self.settings.topics, 2), np.int32)
        both[mine[:, 1]] = mine[:, 2:]
        both = self.exchange.sum(both)
        topics = np.flatnonzero(both.any(axis=1)).astype(np.int32)
        found = np.zeros((len(topics), _COLUMNS), np.int32)
        found[:, 1], found[:, 2:] = topics, both[topics]
        put_node_changes(changes, marks, found)

    def _return_changes(self, level: int, entries: list[np.ndarray]) -> None:
        """Send changes of copies to their owners, and receive those of the part's own nodes."""
        changes, marks = self._buffers.changes, self._buffers.marks
        start, end = (int(n) for n in self.layout.level_start[level : level + 2])
        owned = int(self.part.level_end[level])
        in_rows = start < changes.node_customers.shape[1]
        if in_rows:
            mine = take_node_changes(changes, marks, owned, end)
        else:
            grouped = group_entries(entries, owned, end)
            mine = sum_entries(*grouped, owned, self.settings.topics)
        owner, place = self._owners[level]
        copy = mine[:, 0] - owned
        outgoing = []
        for part in range(self.exchange.size):
            chosen = owner[copy] == part
            sent = mine[chosen]
            sent[:, 0] = place[copy[chosen]]
            outgoing.append(_columns(sent))
        route = self._plan.nodes[level]
        for own, payload in zip(route.owned, self.exchange.swap_all(outgoing), strict=True):
            found = np.stack(_widened(payload), axis=1)
            found[:, 0] = start + own[found[:, 0]]
            if in_rows:
                put_node_changes(changes, marks, found)
            else:
                entries.append(found)

    @cached_property
    def _owners(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """By level above documents, for each copy: the part that owns it, and its index there."""
        found = []
        for level, route in enumerate(self._plan.nodes):
            start, end = (int(n) for n in self.layout.level_start[level : level + 2])
            before = int(self.part.level_end[level]) - start
            owner, place = np.zeros((2, end - start - before), np.int32)
            for part, copies in enumerate(route.copies):
                owner[copies - before] = part
                place[copies - before] = np.arange(len(copies))
            found.append((owner, place))
        return found

    def _fetch(self, wanted: Sequence[Copies], more: Payload = ()) -> list[Payload]:
        """Update copies of rows; ``more`` is sent to all parts in the same message.

        Returns the corresponding arrays received from each part.
        """
        counts, presence = self.state.topics, self.proposals.nodes
        weights = (self.exponent.cite_weight, self.exponent.cited_weight)
        outgoing = []
        for part in range(self.exchange.size):
            sent: list[np.ndarray] = []
            for route, first, weighed in wanted:
                rows = first + route.owned[part]
                sent += [narrow(array) for array in take_rows(counts, presence, rows)]
                sent += [weight[rows] for weight in weights] if weighed else []
            outgoing.append((*sent, *more))
        rest = []
        for part, payload in enumerate(self.exchange.swap_all(outgoing)):
            at = 0
            for route, first, weighed in wanted:
                rows = first + route.copies[part]
                lists = RowLists(*_widened(payload[at : at + len(RowLists._fields)]))
                put_rows(counts, presence, rows, lists)
                at += len(RowLists._fields)
                for weight in weights if weighed else ():
                    weight[rows] = payload[at]
                    at += 1
            rest.append(payload[at:])
        return rest

    def _before_citations(self) -> None:
        """Update all copies, and find the hubs of all parts."""
        mine = self._list_hubs()
        size = int(mine.size[0])
        entries = int(mine.length[:size].sum())
        sent = (
            mine.size,
            self.part.node[mine.node[:size]],
            mine.slope[:size],
            mine.length[:size],
            mine.topic[:entries],
            mine.own[:entries],
        )
        found = self._fetch([self._documents(), *self._nodes(self._plan.nodes)], sent)
        self._take_propensities()
        self._hubs = self._choose_hubs([HubRows(*payload) for payload in found])

    def _choose_hubs(self, parts: Sequence[HubRows]) -> HubRows:
        """Choose the first hubs in the order of the whole tree; mu is the first in each part."""
        listed = [
            (int(one.node[j]), one.slope[j], one.topic[begin:end], one.own[begin:end])
            for one in parts
            for j, (begin, end) in enumerate(_spans(one.length))
            if one.node[j] > 0 or one is parts[0]
        ]
        chosen = sorted(listed, key=lambda hub: hub[0])[:MOST_HUBS]
        return HubRows(
            size=np.array([len(chosen)]),
            node=self._places_of(np.array([number for number, *_ in chosen])),
            slope=np.stack([slope for _, slope, *_ in chosen]),
            length=np.array([len(topic) for *_, topic, _ in chosen]),
            topic=np.concatenate([topic for *_, topic, _ in chosen]),
            own=np.concatenate([own for *_, own in chosen]),
        )

    def _places_of(self, numbers: np.ndarray) -> np.ndarray:
        """Return local indices of nodes of the whole tree, -1 for those the part does not hold."""
        order = self._node_order
        held = self.part.node[order]
        place = np.minimum(np.searchsorted(held, numbers), len(held) - 1)
        return np.where(held[place] == numbers, order[place], -1)

    @cached_property
    def _node_order(self) -> np.ndarray:
        """The part's nodes in the order of the whole tree."""
        return np.argsort(self.part.node)


def _columns(entries: np.ndarray) -> Payload:
    """Return the columns of entries in the smallest types that hold them."""
    return tuple(narrow(entries[:, column]) for column in range(_COLUMNS))


def _widened(payload: Payload) -> Payload:
    """Convert received arrays to the type that kernels are compiled for."""
    return tuple(array.astype(np.int32) for array in payload)


def _spans(length: np.ndarray) -> list[tuple[int, int]]:
    """Return where each of several concatenated lists begins and ends."""
    ends = np.cumsum(length)
    return list(zip((ends - length).tolist(), ends.tolist(), strict=True))
