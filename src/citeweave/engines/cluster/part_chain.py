"""One part of a chain: its own documents, swept as threads sweep those of a whole chain.

Every part holds the complete word side and mu, and all parts change them in the same way. Each
node in between belongs to one part. A part also holds copies of cited papers that other parts own,
and of other parts' nodes that are ancestors of its documents or of the papers that these cite.
Changes are sent to the owner, and updated rows are sent back: those of the parents of a part's own
documents after every merge, all others before citations are swept.

`ChainInParts` contains what all sweeps have in common, `PartChain` the sweeps over all topics, and
`citeweave.engines.cluster.sparse_part` the sweeps over slots.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from citeweave.engines.cluster.exchanges import PartExchange, Payload
from citeweave.engines.cluster.messages import complete_sums, fetch_copies, tell_owners
from citeweave.engines.cluster.plans import PartPlan, Route
from citeweave.engines.core.arrays import Array, State
from citeweave.engines.core.chain import NO_EXTRA, StepReport
from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.threads.chain import SnapshotChain

__all__ = ["ChainInParts", "Copies", "PartChain"]


class Copies(NamedTuple):
    """Rows that parts hold copies of, on one level."""

    route: Route
    first: int
    """Node that corresponds to index 0 of the route."""
    weighed: bool
    """Whether their weights in P and M are needed as well."""


class ChainInParts(SnapshotChain):
    """A part of a chain of snapshot sweeps of either kind.

    Parameters
    ----------
    plan : PartPlan
    exchange : PartExchange
    spec, settings, seed, stream, threads, rounds
        As in `SnapshotChain`; the same for all parts.
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
    ) -> None:
        self.part = plan.part
        self.exchange = exchange
        self._plan = plan
        self._cited_moved = False
        super().__init__(
            spec, plan.data, settings, seed=seed, stream=stream, threads=threads, rounds=rounds
        )
        self.degrees = plan.degrees
        if plan.divided:
            self.inherit_weights = self._complete_weights
            self.complete_shares = self._complete_shares

    def restore(self, state: State, extra: Mapping[str, Array] = NO_EXTRA) -> None:
        """Continue from the part of a stored state; discard the changes of an interrupted step."""
        super().restore(state, extra)
        self._cited_moved, self._draws.units_due = False, True
        self._forget_changes()

    @abstractmethod
    def _forget_changes(self) -> None:
        """Discard the changes that workers have recorded since the last snapshot."""

    @abstractmethod
    def _fetch(self, wanted: Sequence[Copies], more: Payload = ()) -> list[Payload]:
        """Update copies of rows; send ``more`` to all parts, and return theirs."""

    def _merge_nodes(self) -> None:
        """Merge level by level, then update the copies that the sweep of words needs."""
        super()._merge_nodes()
        self._cited_moved = False
        if self._plan.divided:
            self._fetch(self._nodes(self._plan.parents))

    def _merge_citations(self, round_: int) -> None:
        """Send the changes that citations made to cited papers to their owners, then merge."""
        route = self._plan.citations
        found = self.exchange.swap([self._moves[made] for made in route.copies])
        for received, moves in zip(route.owned, found, strict=True):
            self._moves[received] = moves
        self._cited_moved = True
        super()._merge_citations(round_)

    def _before_citations(self) -> None:
        """Update all copies: those of cited papers and those of the nodes above them."""
        super()._before_citations()
        self._fetch([self._documents(), *self._nodes(self._plan.nodes)])
        self._take_propensities()

    def _documents(self) -> Copies:
        """Return the copies of cited papers, on the level that citations reach."""
        return Copies(self._plan.cited, self.layout.citation_node, weighed=True)

    def _nodes(self, routes: tuple[Route, ...]) -> list[Copies]:
        """Return the copies of nodes above documents."""
        starts = [int(n) for n in self.layout.level_start]
        return [
            Copies(routes[level], starts[level], weighed=self.network_on)
            for level in range(1, self.spec.n_shared)
        ]

    def _take_propensities(self) -> None:
        """Set the propensities of copies of cited papers, which equal their weights."""
        parameters, first = self.state.parameters, self.layout.citation_node
        for copies in self._plan.cited.copies:
            parameters.cite[copies] = self.exponent.cite_weight[first + copies]
            parameters.cited[copies] = self.exponent.cited_weight[first + copies]

    def _complete_weights(self, level: int, found: np.ndarray) -> None:
        """Add what nodes inherit from children in other parts, and set the weights of all nodes.

        ``found`` (int64 [nodes of the level, 2]) is what they inherit from children in this part.
        """
        self._complete_shares(level, found[None])
        start = int(self.layout.level_start[level])
        weights = found / self._draws.unit
        end = start + len(found)
        self.exponent.cite_weight[start:end], self.exponent.cited_weight[start:end] = weights.T

    def _complete_shares(self, level: int, found: np.ndarray) -> None:
        """Add what nodes inherit from children in other parts: int64 [points, nodes, 2]."""
        complete_sums(self.exchange, self._plan.parents[level], found.swapaxes(0, 1))

    def measure(self) -> StepReport:
        """Report on the step, for all parts together."""
        tallies = np.concatenate([self.word_tally, self.citation_tally])
        tallies = self.exchange.sum(tallies)
        self.word_tally[:] = tallies[: len(self.word_tally)]
        self.citation_tally[:] = tallies[len(self.word_tally) :]
        return super().measure()

    def keep_sample(self, sums: Sums) -> None:
        """Add the posterior means of the rows that the part owns and of its citations."""
        wanted = self._nodes(self._plan.nodes)
        self._fetch([self._documents(), *wanted] if self.network_on else wanted)
        if self.network_on:
            self._take_propensities()
        super().keep_sample(sums)


class PartChain(ChainInParts):
    """A part of a chain of snapshot sweeps over all topics."""

    def _forget_changes(self) -> None:
        for array in self._changes or ():
            array[...] = 0

    def _merge_words(self) -> None:
        """Sum the changes over all parts, one range of words per part, before they are merged."""
        changes = self._changes
        if changes is None:
            return
        words, background = changes.words, changes.background_tables
        shape = words.shape[1:]
        together = np.zeros((shape[0], shape[1] * shape[2] + 1), np.int32)
        np.sum(words.reshape(len(words), shape[0], -1), axis=0, out=together[:, :-1])
        np.sum(background, axis=0, out=together[:, -1])
        together = self.exchange.sum_by_ranges(together)
        words[0], background[0] = together[:, :-1].reshape(shape), together[:, -1]
        words[1:], background[1:] = 0, 0
        super()._merge_words()

    def _merge_level(self, level: int) -> None:
        """Send the changes of copies to the owners of the nodes, and merge the nodes owned here."""
        changes, plan = self._changes, self._plan
        if changes is None:
            return
        customers, tables = changes.node_customers, changes.node_tables
        if level == 0:
            both = np.stack([customers[:, 0].sum(axis=0), tables[:, 0].sum(axis=0)])
            both = self.exchange.sum(both)
            customers[:, 0], tables[:, 0] = 0, 0
            customers[0, 0], tables[0, 0] = both
        elif self._cited_moved or plan.divided:
            start = int(self.layout.level_start[level])
            route = plan.nodes[level] if self._cited_moved else plan.parents[level]

            def take(copies: np.ndarray) -> np.ndarray:
                rows = start + copies
                both = np.stack([customers[:, rows].sum(axis=0), tables[:, rows].sum(axis=0)])
                customers[:, rows], tables[:, rows] = 0, 0
                return both.astype(np.int32)

            def add(owned: np.ndarray, both: np.ndarray) -> None:
                customers[0, start + owned] += both[0]
                tables[0, start + owned] += both[1]

            tell_owners(self.exchange, route, take, add)
        super()._merge_level(level)

    def _fetch(self, wanted: Sequence[Copies], more: Payload = ()) -> list[Payload]:
        for one in wanted:
            self._fetch_rows(one)
        return self.exchange.swap_all([more] * self.exchange.size) if more else []

    def _fetch_rows(self, wanted: Copies) -> None:
        """Update copies of rows of one level."""
        counts, route, start = self.state.topics, wanted.route, wanted.first
        weights = (self.exponent.cite_weight, self.exponent.cited_weight)
        totals = (counts.total_customers, counts.total_tables, *(weights if wanted.weighed else ()))

        def take(owned: np.ndarray) -> list[np.ndarray]:
            rows = start + owned
            both = np.stack([counts.customers[rows], counts.tables[rows]])
            return [both, *(array[rows] for array in totals)]

        def put(copies: np.ndarray, found: Sequence[np.ndarray]) -> None:
            rows = start + copies
            counts.customers[rows], counts.tables[rows] = found[0]
            for array, came in zip(totals, found[1:], strict=True):
                array[rows] = came

        fetch_copies(self.exchange, route, take, put)
