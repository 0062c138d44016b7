"""One part of a chain on a GPU; `citeweave.engines.cluster.part_chain` is the same in threads.

All exchanges pass through the host: rows of counts and of changes, sums, and moves of citations.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from citeweave.engines.cluster.exchanges import PartExchange
from citeweave.engines.cluster.messages import complete_sums, fetch_copies, tell_owners
from citeweave.engines.cluster.plans import PartPlan, Route
from citeweave.engines.core.arrays import Array, State
from citeweave.engines.core.chain import NO_EXTRA
from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.sparse_sweeps import SPARSE_FROM
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.cuda.chain import CudaChain
from citeweave.engines.cuda.rows import DeviceRows
from citeweave.errors import ParameterError

__all__ = ["CudaPartChain", "refuse_on_gpus"]

_WORDS = ("change_customers", "change_tables", "change_background")
_NODES = ("node_customers", "node_tables")
_LEFT_OVER = (*_WORDS, *_NODES, "root_sum", "topic_citations", "whole_sum", "exact", "won", "tally")
"""Arrays that are zero between steps, but may be nonzero after an interrupted step."""


def refuse_on_gpus(spec: ModelSpec, topics: int) -> str | None:
    """Return why a model that can be divided cannot be divided between GPUs; None if it can."""
    if topics >= SPARSE_FROM:
        return (
            f"Workers with GPUs weigh all topics of every token, and take fewer than {SPARSE_FROM} "
            f"topics. Got {topics} instead. Use workers without GPUs (device 'cpu'), or one GPU "
            "without workers."
        )
    return CudaChain.capabilities.refusal(spec, topics)


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
        refused = refuse_on_gpus(spec, settings.topics)
        if refused is not None:
            raise ParameterError(refused)
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

    def restore(self, state: State, extra: Mapping[str, Array] = NO_EXTRA) -> None:
        """Continue from the part of a stored state; discard the changes of an interrupted step."""
        self._cited_moved = False
        for name in _LEFT_OVER:
            self.device.clear(self.arrays[name])
        super().restore(state, extra)

    def _merge_words(self) -> None:
        """Sum the changes over all parts, one range of words per part, before they are merged."""
        device, arrays = self.device, self.arrays
        n_words = self.host.words.customers.shape[0]
        found = [device.download(arrays[name]).reshape(n_words, -1) for name in _WORDS]
        together = self.exchange.sum_by_ranges(np.concatenate(found, axis=1))
        ends = np.cumsum([one.shape[1] for one in found])[:-1]
        for name, part in zip(_WORDS, np.split(together, ends, axis=1), strict=True):
            device.upload(arrays[name], np.ascontiguousarray(part))

    def _repair_nodes(self) -> None:
        """Repair level by level, then update the copies that the sweep of words needs."""
        super()._repair_nodes()
        self._cited_moved = False
        if self._plan.divided:
            self._fetch_nodes(self._plan.parents, weighted=self.network_on)

    def _repair_level(self, level: int) -> None:
        """Send changes of copies to the owners of the nodes, and repair the nodes owned here."""
        plan, topics = self._plan, self.settings.topics
        if self._cited_moved or plan.divided:
            start = int(self.layout.level_start[level])
            route = plan.nodes[level] if self._cited_moved else plan.parents[level]

            def take(copies: np.ndarray) -> np.ndarray:
                rows = start + copies
                found = [self._rows.take(name, rows, topics, clear=True) for name in _NODES]
                return np.stack(found).reshape(2, len(rows), topics)

            def add(owned: np.ndarray, both: np.ndarray) -> None:
                for name, changes in zip(_NODES, both, strict=True):
                    self._rows.put(name, start + owned, changes, add=True)

            tell_owners(self.exchange, route, take, add)
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
        self._fetch_documents()
        self._fetch_nodes(self._plan.nodes, weighted=True)

    def _fetch_documents(self) -> None:
        """Update copies of cited papers, on the level that citations reach."""
        self._fetch_rows(self._plan.cited, self.layout.citation_node, weighted=True)

    def _fetch_nodes(self, routes: tuple[Route, ...], *, weighted: bool) -> None:
        """Update copies of nodes above documents, with their weights if ``weighted``."""
        for level in range(1, self.spec.n_shared):
            start = int(self.layout.level_start[level])
            self._fetch_rows(routes[level], start, weighted=weighted)

    def _fetch_rows(self, route: Route, start: int, *, weighted: bool) -> None:
        """Update copies of rows of counts, with the totals and, if ``weighted``, the weights."""
        topics = self.settings.topics
        totals = ["total_customers", "total_tables"]
        totals += ["cite_weight", "cited_weight"] if weighted else []

        def take(owned: np.ndarray) -> list[np.ndarray]:
            rows = start + owned
            both = [self._rows.take(name, rows, topics) for name in ("customers", "tables")]
            counts = np.stack(both).reshape(2, len(rows), topics)
            return [counts, *(self._rows.take(name, rows) for name in totals)]

        def put(copies: np.ndarray, found: Sequence[np.ndarray]) -> None:
            rows = start + copies
            for name, values in zip(("customers", "tables"), found[0], strict=True):
                self._rows.put(name, rows, values)
            for name, values in zip(totals, found[1:], strict=True):
                self._rows.put(name, rows, values)

        fetch_copies(self.exchange, route, take, put)

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
        if self.network_on:
            self._fetch_documents()
        self._fetch_nodes(self._plan.nodes, weighted=False)
        super().keep_sample(sums)
