"""One part of a chain on a GPU; `citeweave.engines.cluster.part_chain` is the same in threads.

All exchanges pass through the host: rows of counts and of changes, as lists of the topics in them,
sums, and moves of citations.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from citeweave.engines.cluster.exchanges import PartExchange, Payload, narrow
from citeweave.engines.cluster.messages import complete_sums
from citeweave.engines.cluster.part_chain import Copies
from citeweave.engines.cluster.plans import PartPlan, Route
from citeweave.engines.core.arrays import Array, State, TopicCounts
from citeweave.engines.core.chain import NO_EXTRA
from citeweave.engines.core.count_lists import copy_counts
from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.cuda.chain import CudaChain
from citeweave.engines.cuda.rows import DeviceRows
from citeweave.engines.slots.row_lists import RowLists, join_lists, split_lists

__all__ = ["CudaPartChain"]

_WORDS = ("change_customers", "change_tables")
_BACKGROUND = "change_background"
_NODES = ("node_customers", "node_tables")
_WEIGHTS = ("cite_weight", "cited_weight")
_LEFT_OVER = (
    *(*_WORDS, _BACKGROUND, *_NODES, "root_sum", "topic_citations"),
    *("whole_sum", "exact", "won", "tally"),
)
"""Arrays that are zero between steps, but may be nonzero after an interrupted step."""


class CudaPartChain(CudaChain):
    """A part of a chain of snapshot sweeps, on a GPU.

    Parameters
    ----------
    plan : PartPlan
    exchange : PartExchange
    spec, settings, seed, stream, threads, rounds
        As in `CudaChain`; the same for all parts.
    longest : int
        Maximum number of customers of a document in any part; kernels are compiled for it.
    """

    exchange: PartExchange

    def __init__(
        self,
        plan: PartPlan,
        exchange: PartExchange,
        spec: ModelSpec,
        settings: ChainSettings,
        *,
        seed: int,
        stream: int = 0,
        threads: int = 1,
        rounds: int = 1,
        longest: int,
    ) -> None:
        self.part = plan.part
        self.exchange = exchange
        self._plan = plan
        self._cited_moved = False
        self._longest = longest
        self._rows = DeviceRows(self)
        super().__init__(
            spec, plan.data, settings, seed=seed, stream=stream, threads=threads, rounds=rounds
        )

    def _most_customers(self, data: Data) -> int:  # noqa: ARG002 (of this part alone)
        """Return the bound for all parts, so that their kernels are the same and round alike."""
        return self._longest

    def _prepare(self) -> None:
        """Create all arrays on the device; degrees count the citations of the whole corpus."""
        self.degrees = self._plan.degrees
        super()._prepare()

    def _rooms(self) -> Array | None:
        """Return the rooms of the plan, which include topics from papers in other parts."""
        return self._plan.rooms

    def _take_counts(self, counts: TopicCounts) -> None:
        """Copy stored counts of all nodes but those that are never read, which have no room."""
        copy_counts(self.host.topics, counts, self._plan.nodes_with_room)

    def restore(self, state: State, extra: Mapping[str, Array] = NO_EXTRA) -> None:
        """Continue from the part of a stored state; discard the changes of an interrupted step."""
        self._cited_moved = False
        for name in _LEFT_OVER:
            self.device.clear(self.arrays[name])
        super().restore(state, extra)

    def _merge_words(self) -> None:
        """Sum the changes over all parts before they are merged.

        With more than two parts, each part sums one range of words and sends the sums to all.
        """
        exchange = self.exchange
        if exchange.size == 1:
            return
        words = np.arange(self.host.words.customers.shape[0])
        summed = [words] * exchange.size
        if exchange.size > 2:
            summed = np.array_split(words, exchange.size)
            found = exchange.swap_all([self._take_words(own) for own in summed])
            self._add_words([summed[exchange.rank]] * exchange.size, found)
        mine = self._take_words(summed[exchange.rank])
        self._add_words(summed, exchange.swap_all([mine] * exchange.size))

    def _take_words(self, words: np.ndarray) -> Payload:
        """Take the changes of some words off the device."""
        lists = self._rows.take_lists(_WORDS, words, clear=True)
        background = self._rows.take(_BACKGROUND, words, clear=True)
        return *_packed(lists), narrow(background)

    def _add_words(self, words: Sequence[np.ndarray], found: Sequence[Payload]) -> None:
        """Add changes to those on the device; of each payload, the words that it is about."""
        rows = np.concatenate(words)
        lists = join_lists([RowLists(*payload[:-1]) for payload in found])
        self._rows.add_lists(_WORDS, rows, lists)
        background = np.concatenate([payload[-1] for payload in found])
        self._rows.put(_BACKGROUND, rows, background, add=True)

    def _repair_nodes(self) -> None:
        """Repair level by level, then update the copies that the sweep of words needs."""
        super()._repair_nodes()
        self._cited_moved = False
        if self._plan.divided:
            self._fetch(self._nodes(self._plan.parents, weighed=self.network_on))

    def _repair_level(self, level: int) -> None:
        """Send changes of copies to the owners of the nodes, and repair the nodes owned here."""
        plan = self._plan
        if self._cited_moved or plan.divided:
            start = int(self.layout.level_start[level])
            route = plan.nodes[level] if self._cited_moved else plan.parents[level]
            copies = start + np.concatenate(route.copies)
            changes = self._rows.take_lists(_NODES, copies, clear=True)
            by_owner = split_lists(changes, [len(rows) for rows in route.copies])
            found = self.exchange.swap_all([_packed(lists) for lists in by_owner])
            owned = start + np.concatenate(route.owned)
            lists = join_lists([RowLists(*payload) for payload in found])
            self._rows.add_lists(_NODES, owned, lists)
        super()._repair_level(level)

    def _merge_citations(self) -> None:
        """Send the changes that citations made to cited papers to their owners."""
        route = self._plan.citations
        moves = self._rows.take_moves(np.concatenate(route.copies))
        ends = np.cumsum([len(made) for made in route.copies])[:-1]
        found = self.exchange.swap(np.split(moves, ends))
        self._rows.put_moves(np.concatenate(route.owned), np.concatenate(found))
        self._cited_moved = True

    def _before_citations(self) -> None:
        """Update all copies: those of cited papers and those of the nodes above them."""
        self._fetch([self._documents(), *self._nodes(self._plan.nodes, weighed=True)])

    def _documents(self) -> Copies:
        """Return the copies of cited papers, on the level that citations reach."""
        return Copies(self._plan.cited, self.layout.citation_node, weighed=True)

    def _nodes(self, routes: tuple[Route, ...], *, weighed: bool) -> list[Copies]:
        """Return the copies of nodes above documents."""
        starts = [int(n) for n in self.layout.level_start]
        return [
            Copies(routes[level], starts[level], weighed=weighed)
            for level in range(1, self.spec.n_shared)
        ]

    def _fetch(self, wanted: Sequence[Copies]) -> None:
        """Update copies of rows of counts, all in one message to each part."""
        outgoing: list[Payload] = [()] * self.exchange.size
        for route, first, weighed in wanted:
            owned, sizes = first + np.concatenate(route.owned), [len(own) for own in route.owned]
            counts = split_lists(self._rows.take_counts(owned), sizes)
            weights = [self._rows.take(name, owned) for name in (_WEIGHTS if weighed else ())]
            by_part = zip(*(np.split(one, np.cumsum(sizes)[:-1]) for one in weights), strict=True)
            more = list(by_part) if weighed else [()] * len(sizes)
            outgoing = [
                (*sent, *_packed(lists), *numbers)
                for sent, lists, numbers in zip(outgoing, counts, more, strict=True)
            ]
        found = self.exchange.swap_all(outgoing)
        at, n_columns = 0, len(RowLists._fields)
        for route, first, weighed in wanted:
            copies = first + np.concatenate(route.copies)
            lists = [RowLists(*payload[at : at + n_columns]) for payload in found]
            self._rows.put_counts(copies, join_lists(lists))
            at += n_columns
            for name in _WEIGHTS if weighed else ():
                self._rows.put(name, copies, np.concatenate([payload[at] for payload in found]))
                at += 1
        self.proposals.spoil_copies()

    def complete_listed(self) -> None:
        """List copies of groups as their owners do."""
        level = self.spec.n_shared - 1
        if level == 0:
            return
        device, array, route = self.device, self.arrays["listed"], self._plan.nodes[level]
        listed = device.download(array)
        found = self.exchange.swap([listed[owned] for owned in route.owned])
        listed[np.concatenate(route.copies)] = np.concatenate(found)
        device.upload(array, listed)

    def complete_weights(self, level: int) -> None:
        """Add what nodes inherit from children in other parts, and set the weights of all nodes."""
        if not self._plan.divided:
            return
        start, end = (int(n) for n in self.layout.level_start[level : level + 2])
        device, arrays = self.device, self.arrays
        inherited = arrays["inherited"][2 * start : 2 * end]
        found = device.download(inherited).view(np.int64).reshape(-1, 2)
        complete_sums(self.exchange, self._plan.parents[level], found)
        device.upload(inherited, found.view(np.uint64))
        weights = found / device.download(arrays["unit"])
        for name, values in zip(("cite_weight", "cited_weight"), weights.T, strict=True):
            device.upload(arrays[name][start:end], np.ascontiguousarray(values))

    def keep_sample(self, sums: Sums) -> None:
        """Add the posterior means of the rows that the part owns and of its citations."""
        wanted = self._nodes(self._plan.nodes, weighed=False)
        self._fetch([self._documents(), *wanted] if self.network_on else wanted)
        super().keep_sample(sums)


def _packed(lists: RowLists) -> Payload:
    """Return lists in the smallest types that hold them."""
    return tuple(narrow(column) for column in lists)
