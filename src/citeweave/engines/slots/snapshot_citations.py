"""The snapshot sweep of citations over the topics of papers.

`engines.threads.citations` sweeps over all topics. As there, the unit of work is the citing
document. Its citations are moved by the kernel of the sequential sweep, in the worker's own rows,
which hold the nodes of both ends. Rows are empty between documents; only the topics that a node has
are written and cleared. Rows of shared nodes stay filled for a whole round if memory allows, and so
do the sums of `rates`; changes that a document makes to them are undone after it.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import TopicCounts
from citeweave.engines.core.exponent import Exponent
from citeweave.engines.core.row_places import pair_at, ranked_count
from citeweave.engines.slots.change_lists import Noted, note_change
from citeweave.engines.slots.citations import (
    SparseCitationWork,
    ask_bits,
    new_citation_work,
    sweep_opened,
)
from citeweave.engines.slots.hubs import (
    MOST_HUBS,
    HubRows,
    Hubs,
    add_hubs,
    copy_hubs,
    new_hubs,
    restore_hubs,
)
from citeweave.engines.slots.presence import lowest_bit, new_presence, note_presence
from citeweave.engines.slots.proposal_tables import ProposalTables
from citeweave.engines.slots.rates import RateSums, new_rates
from citeweave.engines.slots.sparse_change import busy_words
from citeweave.engines.threads.citations import (
    bring_citation,
    note_end,
    own_view,
    return_topics,
)
from citeweave.engines.threads.streams import CITATIONS, open_stream
from citeweave.engines.threads.world import new_counts

__all__ = [
    "Snapshot",
    "SparseNeighbourhood",
    "close_rows",
    "copy_totals",
    "empty_others",
    "new_neighbourhood",
    "note_moved_documents",
    "open_rows",
    "settle_in",
    "sweep_citing",
]

_WIDTH = 64
_MOST_BYTES = 1 << 29
"""Memory limit for rows that stay filled, over all workers."""


class Weights(NamedTuple):
    """The arrays of an `Exponent` that ``sweep_opened`` reads and writes."""

    cite_weight: np.ndarray
    cited_weight: np.ndarray


class Snapshot(NamedTuple):
    """What is fixed, besides the state, while citations are swept."""

    presence: np.ndarray
    """uint64 [nodes, words of 64 topics]."""
    proposal: ProposalTables
    rates: RateSums
    exponent: Exponent
    """Only its weights are read."""
    hubs: HubRows


class SparseNeighbourhood(NamedTuple):
    """What one worker writes to: a document, the papers that it cites and all nodes above them."""

    topics: TopicCounts
    presence: np.ndarray
    """uint64 [rows, words of 64 topics]."""
    parent: np.ndarray
    concentration: np.ndarray
    share: np.ndarray
    """float64 [rows]: as in `Parameters`; empty unless authors share papers."""
    weights: Weights
    work: SparseCitationWork
    rates: RateSums
    base: RateSums
    """The values of ``rates`` before a document moves."""
    base_hubs: Hubs
    """The values of the hubs before a document moves."""
    citing: np.ndarray
    cited: np.ndarray
    topic: np.ndarray
    node: np.ndarray
    """int32 [rows]: the node of each row, numbered as in the whole tree."""
    place: np.ndarray
    """int32 [nodes of the whole tree]: the row of each node, -1 for none."""
    random: np.ndarray
    noted: Noted
    """The worker's changes to shared nodes."""
    rows: np.ndarray
    """int64 [4]: rows reserved for nodes that stay, how many of these are in use, how many of the
    rows after them are in use, and how many nodes may stay that are not hubs."""
    tally: np.ndarray
    """int64 [6]: as in ``citation_sweep``."""


def new_neighbourhood(chain, most_cited: int, noted: Noted) -> SparseNeighbourhood:
    """Allocate memory for one worker; ``most_cited`` is the most citations of a document."""
    n_levels = len(chain.spec.topic_side)
    topics = chain.settings.topics
    n_nodes = len(chain.layout.parent)
    n_shared = int(chain.layout.level_start[chain.spec.n_shared])
    staying = min(n_shared, max(_MOST_BYTES // (8 * topics * getattr(chain, "threads", 1)), 1))
    room = staying + min(n_shared, MOST_HUBS * n_levels)  # hubs always stay
    rows = room + (most_cited + 1) * n_levels
    return SparseNeighbourhood(
        topics=new_counts(rows, topics, held=len(chain.layout.server) > 0),
        presence=new_presence(rows, topics),
        parent=np.zeros(rows, np.int32),
        concentration=np.zeros(rows),
        share=np.ones(rows if len(chain.layout.server) else 0),
        weights=Weights(np.zeros(rows), np.zeros(rows)),
        work=new_citation_work(topics, n_levels, most_cited),
        rates=new_rates(topics),
        base=new_rates(topics),
        base_hubs=new_hubs(topics),
        citing=np.zeros(most_cited, np.int32),
        cited=np.zeros(most_cited, np.int32),
        topic=np.zeros(most_cited, np.int16),
        node=np.zeros(rows, np.int32),
        place=np.full(n_nodes, -1, np.int32),
        random=np.zeros(4, np.uint64),
        noted=noted,
        rows=np.array([room, 0, 0, staying]),
        tally=np.zeros(6, np.int64),
    )


@inlined
def copy_totals(state, exponent, here, place, node):
    """Copy the totals and weights of a node from the snapshot to its row."""
    counts = state.topics
    here.topics.total_customers[place] = counts.total_customers[node]
    here.topics.total_tables[place] = counts.total_tables[node]
    here.weights.cite_weight[place] = exponent.cite_weight[node]
    here.weights.cited_weight[place] = exponent.cited_weight[node]


@inlined
def _write_row(counts, presence, here, i, n, filled):
    """Write the counts of a node in the snapshot to a row, or clear them, in the topics it has."""
    word = here.work.sparse.word
    rank = 0
    for w in range(busy_words(presence, n, word)):
        j = word[index(w)]
        bits = presence[n, index(j)]
        while bits != np.uint64(0):
            k = index(_WIDTH * j + lowest_bit(bits))
            bits &= bits - np.uint64(1)
            here.topics.customers[i, k] = (
                ranked_count(counts.customers, n, rank, k) if filled else 0
            )
            here.topics.tables[i, k] = ranked_count(counts.tables, n, rank, k) if filled else 0
            rank += 1
            if here.topics.held.shape[0] > 0:
                here.topics.held[i, k] = counts.held[n, k] if filled else 0


@inlined
def _fill_row(state, presence, exponent, here, place, node):
    """Copy a node into an empty row."""
    i, n = index(place), index(node)
    here.place[n] = place
    here.node[i] = node
    here.concentration[i] = state.parameters.topic_concentration[n]
    if here.share.shape[0] > 0:
        here.share[i] = state.parameters.share[n]
    copy_totals(state, exponent, here, i, n)
    for j in range(index(presence.shape[1])):
        here.presence[i, j] = presence[n, j]
    _write_row(state.topics, presence, here, i, n, True)


@inlined
def _empty_row(state, presence, here, place):
    """Clear a row whose counts equal those of the snapshot."""
    i = index(place)
    n = index(here.node[i])
    here.place[n] = -1
    _write_row(state.topics, presence, here, i, n, False)


@inlined
def settle_in(citing, layout, state, presence, exponent, here, node, is_hub):
    """Copy a node of the citation level, or a hub, and those of its ancestors that have no row yet.

    Mu always has a row. Shared nodes stay if they are hubs, or if there is room for the whole path,
    because all ancestors of a node that stays must stay, too.
    """
    stays = is_hub or here.rows[1] + citing.level - 1 <= here.rows[3]
    below = -1
    current = node
    while True:
        place = here.place[current]
        known = place >= 0
        if not known:
            kind = 1 if stays and current < citing.n_shared else 2
            place = here.rows[kind] + (here.rows[0] if kind == 2 else 0)
            here.rows[kind] += 1
            _fill_row(state, presence, exponent, here, place, current)
        if below >= 0:
            here.parent[below] = place
        if known:
            break
        below = place
        current = layout.parent[current]


@inlined
def open_rows(state, presence, exponent, here):
    """Begin a round: copy mu."""
    here.parent[0] = 0
    here.rows[1] = 1
    here.rows[2] = 0
    _fill_row(state, presence, exponent, here, 0, 0)


@inlined
def empty_others(state, presence, here):
    """Clear the rows that do not stay."""
    for i in range(here.rows[2]):
        _empty_row(state, presence, here, here.rows[0] + i)
    here.rows[2] = 0


@inlined
def close_rows(state, presence, here):
    """End a round: clear the rows that stayed."""
    for place in range(here.rows[1]):
        _empty_row(state, presence, here, place)


@hot_kernel
def _open_round(citing, layout, state, snapshot, here):
    """Begin a round: copy mu, the hubs and the sums of rates."""
    presence, rates, exponent = snapshot.presence, snapshot.rates, snapshot.exponent
    mine, hubs = here.rates, here.work.hubs
    open_rows(state, presence, exponent, here)
    for k in range(index(rates.cite.shape[0])):
        mine.cite[k] = rates.cite[k]
        mine.cited[k] = rates.cited[k]
    here.work.sparse.changed[:] = 0
    add_hubs(state.parameters, mine, hubs, snapshot.hubs)
    for j in range(1, hubs.size[0]):
        node = hubs.node[j]
        if node >= 0:
            settle_in(citing, layout, state, presence, exponent, here, node, True)
            hubs.node[j] = here.place[node]
    copy_hubs(hubs, here.base_hubs)
    for k in range(index(rates.cite.shape[0])):
        here.base.cite[k] = mine.cite[k]
        here.base.cited[k] = mine.cited[k]
        restore_hubs(here.base_hubs, hubs, k)


@inlined
def _note_shared(here, counts, place, node, topic):
    """Move the change of one topic at a shared node into ``here.noted``."""
    i, n, k = index(place), index(node), index(topic)
    before = pair_at(counts.customers, counts.tables, n, k)
    customers = here.topics.customers[i, k] - before[0]
    tables = here.topics.tables[i, k] - before[1]
    if customers != 0 or tables != 0:
        note_change(here.noted, node, topic, customers, tables)
        here.topics.customers[i, k] -= customers
        here.topics.tables[i, k] -= tables
        note_presence(here.presence, place, topic, here.topics.customers[i, k])


@inlined
def _move_out(state, snapshot, here, record, first, last):
    """Record the changes (those at documents by citation), and restore rows and sums."""
    presence, exponent = snapshot.presence, snapshot.exponent
    counts = state.topics
    for e in range(first, last):
        i = e - first
        for end in range(2):
            place = here.citing[i] if end == 0 else here.cited[i]
            note_end(here, counts, record, e, end, place)
            while place > 0:
                place = here.parent[place]
                copy_totals(state, exponent, here, place, here.node[place])
    for i in range(here.work.logged[0]):
        place = here.work.log[index(i), index(0)]
        _note_shared(here, counts, place, here.node[place], here.work.log[index(i), index(1)])
    here.work.logged[0] = 0
    empty_others(state, presence, here)
    changed = here.work.sparse.changed
    moved = False
    for j in range(changed.shape[0]):
        bits = changed[index(j)]
        changed[index(j)] = np.uint64(0)
        while bits != np.uint64(0):
            k = index(_WIDTH * j + lowest_bit(bits))
            bits &= bits - np.uint64(1)
            here.rates.cite[k] = here.base.cite[k]
            here.rates.cited[k] = here.base.cited[k]
            restore_hubs(here.work.hubs, here.base_hubs, k)
            moved = True
    if moved:
        copy_hubs(here.base_hubs, here.work.hubs)


@hot_kernel
def sweep_citing(citing, layout, tables, state, snapshot, here, record, key, docs):
    """Visit the citations of citing documents, each document with its own random stream.

    ``docs`` (int64 [n, 2]) are documents and their numbers in the whole corpus.
    """
    level, start = citing.level, citing.start
    presence, exponent = snapshot.presence, snapshot.exponent
    _open_round(citing, layout, state, snapshot, here)
    for i in range(docs.shape[0]):
        d = docs[i, 0]
        first, last = start[d], start[d + 1]
        if first == last:
            continue
        if i + 1 < docs.shape[0]:
            after = docs[i + 1, 0]
            for e in range(start[after], start[after + 1]):
                ask_bits(layout, presence, layout.citation_node + layout.cited[e])
        node = layout.citation_node + d
        settle_in(citing, layout, state, presence, exponent, here, node, False)
        for e in range(first, last):
            cited = layout.citation_node + layout.cited[e]
            settle_in(citing, layout, state, presence, exponent, here, cited, False)
            bring_citation(layout, state, here, record, node, e, e - first)
        open_stream(key, CITATIONS, docs[i, 1], here.random)
        near, own = own_view(state.parameters, here, last - first)
        sweep_opened(
            level,
            near,
            tables,
            own,
            here.work,
            here.presence,
            snapshot.proposal,
            here.rates,
            here.weights,
            here.tally,
        )
        return_topics(state, here, record, first, last)
        _move_out(state, snapshot, here, record, first, last)
    close_rows(state, presence, here)


@inlined
def _note_moved(counts, presence, node, record, e):
    """Update the bits of the topics that one citation left and joined, at one of its ends."""
    for which in range(2):
        k = np.int64(record[e, which])
        note_presence(presence, node, k, counts.customers[index(node), index(k)])


@hot_kernel
def note_moved_documents(layout, counts, presence, lists, record, turn, begin, end):
    """Update the bits of documents ``begin`` to ``end`` - 1 after a round of citations.

    The arguments are those of ``engines.threads.merge.add_moves``, which must be called first.
    """
    made, start, received = lists
    round_, rounds, number = turn
    for d in range(begin, end):
        node = layout.citation_node + d
        if number[d] % rounds == round_:
            for e in range(made[d], made[d + 1]):
                _note_moved(counts, presence, node, record, e)
        for j in range(start[d], start[d + 1]):
            e = received[j]
            if rounds == 1 or number[layout.citing[e]] % rounds == round_:
                _note_moved(counts, presence, node, record, e)
