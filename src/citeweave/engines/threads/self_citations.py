"""The snapshot draw of unobserved self-citations; see `engines.core.self_citations`.

Each paper has its own random stream and sees the snapshot and its own changes, as in the sweep of
words.
"""

from citeweave.compiled import hot_kernel
from citeweave.engines.core.climb import Ends
from citeweave.engines.core.self_citations import offer_self_citation
from citeweave.engines.threads.streams import WORDS, open_stream
from citeweave.engines.threads.words import enter_document, leave_document

__all__ = ["offer_self_citations"]


@hot_kernel
def offer_self_citations(level, paths, layout, tables, state, exponent, world, work, key, docs):
    """Propose adding or removing one self-citation for some papers.

    ``level`` is the level that citations reach; ``docs`` (int64 [n, 2]) holds documents and their
    numbers in the whole corpus.
    """
    topics = state.assignments.self_topic
    rng, own = world.state.random, world.state
    ends = Ends(work.row, level, level)
    for lower in range(level + 1):  # a document's nodes are ordered root first
        work.row[0, lower] = lower
    for i in range(docs.shape[0]):
        d = docs[i, 0]
        enter_document(paths, layout, state, exponent, world, True, 0, d)
        open_stream(key, WORDS, docs[i, 1], rng)
        pair = state.parameters.cite[d] * state.parameters.cited[d]
        moved = offer_self_citation(
            rng, tables, own.topics, own.parameters, work, world.exponent, ends, topics, d, pair
        )
        if moved >= 0:
            leave_document(paths, state, world, d)
