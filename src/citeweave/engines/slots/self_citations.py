"""Self-citations of many papers at a time, from a snapshot, over the topics that nodes have.

Like `engines.threads.self_citations`: each paper has its own random stream and sees the snapshot
and its own changes to it. Here this happens in the rows of the citation sweep, which hold only the
topics of the nodes above the paper.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.climb import Ends
from citeweave.engines.core.exponent import Exponent, new_exponent
from citeweave.engines.core.self_citations import SelfWork, new_self_work, offer_self_citation
from citeweave.engines.slots.change_lists import note_change
from citeweave.engines.slots.presence import note_presence
from citeweave.engines.slots.snapshot_citations import (
    SparseNeighbourhood,
    close_rows,
    copy_totals,
    empty_others,
    open_rows,
    settle_in,
)
from citeweave.engines.threads.citations import Rates
from citeweave.engines.threads.streams import WORDS, open_stream

__all__ = ["OwnOffers", "new_own_offers", "offer_self_citations"]


class OwnOffers(NamedTuple):
    """Buffers that one worker writes to."""

    here: SparseNeighbourhood
    exponent: Exponent
    """The sums, with the weights of the rows of ``here``."""
    work: SelfWork


def new_own_offers(here: SparseNeighbourhood, n_levels: int) -> OwnOffers:
    """Allocate memory for one worker, which has rows for citations already."""
    weights = here.weights
    exponent = new_exponent(0, here.topics.customers.shape[1], n_levels)._replace(
        cite_weight=weights.cite_weight, cited_weight=weights.cited_weight
    )
    return OwnOffers(here, exponent, new_self_work(0, n_levels))


@inlined
def _copy_sums(exponent, own):
    """Copy P and M of the snapshot."""
    for k in range(index(own.cite_sum.shape[0])):
        own.cite_sum[k] = exponent.cite_sum[k]
        own.cited_sum[k] = exponent.cited_sum[k]


@inlined
def _leave(citing, state, presence, exponent, here, row, topic):
    """Write a paper's change at one topic to its own counts, and note it at nodes above."""
    counts, k = state.topics, index(topic)
    for lower in range(citing.level + 1):
        i = index(row[lower])
        n = index(here.node[i])
        customers = here.topics.customers[i, k] - counts.customers[n, k]
        tables = here.topics.tables[i, k] - counts.tables[n, k]
        if n < citing.n_shared:
            if customers != 0 or tables != 0:
                note_change(here.noted, n, topic, customers, tables)
                here.topics.customers[i, k] -= customers
                here.topics.tables[i, k] -= tables
            copy_totals(state, exponent, here, i, n)
        else:
            counts.customers[n, k] += customers
            counts.tables[n, k] += tables
            counts.total_customers[n] += customers
            counts.total_tables[n] += tables
            note_presence(presence, n, topic, counts.customers[n, k])
            here.topics.customers[i, k] = 0  # its bit may be gone
            here.topics.tables[i, k] = 0


@hot_kernel
def offer_self_citations(citing, layout, tables, state, presence, exponent, mine, key, docs):
    """Propose one self-citation more or less for some papers.

    ``docs`` (int64 [n, 2]) holds documents and their numbers in the whole corpus.
    """
    here, own, work = mine
    parameters, topics = state.parameters, state.assignments.self_topic
    rates = Rates(parameters.topic_discount, here.concentration, parameters.topic_scale, here.share)
    level = citing.level
    ends = Ends(work.row, level, level)
    open_rows(state, presence, exponent, here)
    _copy_sums(exponent, own)
    for i in range(docs.shape[0]):
        d = docs[i, 0]
        node = layout.citation_node + d
        settle_in(citing, layout, state, presence, exponent, here, node, False)
        place = np.int64(here.place[node])
        for step in range(level + 1):
            work.row[0, level - step] = place
            place = here.parent[place]
        open_stream(key, WORDS, docs[i, 1], here.random)
        pair = parameters.cite[d] * parameters.cited[d]
        moved = offer_self_citation(
            here.random, tables, here.topics, rates, work, own, ends, topics, d, pair
        )
        if moved >= 0:
            _leave(citing, state, presence, exponent, here, work.row[0], moved)
            _copy_sums(exponent, own)
        empty_others(state, presence, here)
    close_rows(state, presence, here)
