"""The arrays that a chain begins with: layout, ratio tables and an empty state."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from citeweave.engines.core.arrays import (
    Array,
    Assignments,
    Layout,
    Parameters,
    Shape,
    StackedTables,
    State,
    Tables,
    TopicCounts,
    WordCounts,
)
from citeweave.engines.core.compact_rows import new_compact_rows
from citeweave.engines.core.count_lists import count_rooms
from citeweave.engines.core.data import ChainSettings, Data, Servers, read_words
from citeweave.engines.core.self_citations import MOST_SELF
from citeweave.engines.core.spec import LEFT_OUT, ModelSpec
from citeweave.engines.core.stirling import RatioTable, build_ratio_table
from citeweave.errors import ParameterError

__all__ = [
    "all_arrays",
    "arrays_of",
    "check_citation_order",
    "first_servers",
    "lay_out",
    "new_layout",
    "new_node_counts",
    "new_shape",
    "new_state",
    "new_tables",
    "node_rooms",
    "sort_by_word",
]


def all_arrays(state: State) -> list[Array]:
    """List all arrays of a state, in a fixed order; counts are dense, so it must not be large."""
    return [np.asarray(array) for part in state for array in arrays_of(part)]


def arrays_of(part: Any) -> tuple[Any, ...]:
    """Return the arrays of one part of a state, which may itself be an array."""
    return tuple(part) if isinstance(part, tuple) else (part,)


def check_citation_order(layout: Layout) -> None:
    """Reject citations that are not sorted by citing document, as snapshot sweeps require."""
    if np.any(np.diff(layout.citing) < 0):
        raise ParameterError("Citations must be sorted by citing document.")


def new_shape(spec: ModelSpec) -> Shape:
    """Describe the levels of a model."""
    return Shape(
        shared=(0,) * spec.n_shared,
        document=(0,) * spec.n_document,
        background=int(spec.word_level("corpus") is not None),
        burst=int(spec.word_level("document-topic") is not None),
        network=int(spec.citations is not None),
        below_citations=spec.below_citations,
    )


def new_layout(spec: ModelSpec, data: Data) -> tuple[Layout, Array]:
    """Sort tokens by word within documents and lay out the topic tree as one row of nodes."""
    tokens = read_words(data)
    order = sort_by_word(data._replace(tokens=tokens))
    return lay_out(spec, data, np.ascontiguousarray(tokens[order], np.int32)), order


def lay_out(spec: ModelSpec, data: Data, words: Array) -> Layout:
    """Lay out the topic tree as one row of nodes.

    ``words`` are those of the tokens, sorted within documents. The tree does not depend on them, so
    they may be left out where only the tree is needed.
    """
    sizes = [1, *(len(parent) for parent in data.parents)]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    parent = np.zeros(starts[-1], np.int32)
    for level, above in enumerate(data.parents, start=1):
        parent[starts[level] : starts[level + 1]] = starts[level - 1] + above
    citation_level = len(spec.topic_side) - 1 - spec.below_citations
    return Layout(
        word=words,
        document_start=np.ascontiguousarray(data.offsets, np.int64),
        parent=parent,
        level_start=starts,
        leaf=(starts[-2] + data.leaf).astype(np.int32),
        leaf_start=np.ascontiguousarray(data.leaf_start, np.int64),
        citing=np.ascontiguousarray(data.citing, np.int32),
        cited=np.ascontiguousarray(data.cited, np.int32),
        citation_node=int(starts[citation_level]),
        server_start=np.ascontiguousarray(data.servers.start, np.int64),
        server=(starts[max(spec.n_shared - 1, 0)] + data.servers.group).astype(np.int32),
    )


def sort_by_word(data: Data) -> Array:
    """Return the stable order of tokens by word within documents.

    Transposing the matrix of documents and words twice is a counting sort, four times as fast as a
    comparison sort.
    """
    tokens = read_words(data)
    places = np.arange(len(tokens), dtype=np.int32 if len(tokens) < 2**31 else np.int64)
    shape = (len(data.offsets) - 1, data.n_words)
    matrix = csr_array((places, tokens, data.offsets), shape=shape)
    order: Array = matrix.tocsc().tocsr().data
    return order


@lru_cache(maxsize=8)
def _table(discount: float) -> RatioTable:
    """Build the table of a discount once per process: several chains and levels share it."""
    return build_ratio_table(discount)


@lru_cache(maxsize=8)
def _stacked(discounts: tuple[float, ...]) -> StackedTables:
    distinct = list(dict.fromkeys(discounts))
    tables = [_table(discount) for discount in distinct]
    return StackedTables(
        place=np.array([distinct.index(discount) for discount in discounts]),
        discount=np.array(distinct),
        ratios=np.stack([table.ratios for table in tables]),
        weights=np.stack([table.weights for table in tables]),
        patches=np.stack([table.patches for table in tables]),
    )


def new_tables(spec: ModelSpec) -> Tables:
    """Return the ratio tables of a model's levels."""

    def word_table(nodes: str) -> RatioTable:
        level = spec.word_level(nodes)
        return _table(level.discount if level else spec.word_side[0].discount)

    return Tables(
        topic=_stacked(tuple(level.discount for level in spec.topic_side)),
        background=word_table("corpus"),
        topic_word=word_table("topic"),
        burst=word_table("document-topic"),
    )


def first_servers(servers: Servers) -> Array:
    """Let the first author of every shared paper serve it; -1 for papers that are not shared."""
    first = servers.start[:-1].astype(np.int32)
    first[np.diff(servers.start) == 0] = -1
    return first


def node_rooms(spec: ModelSpec, layout: Layout, settings: ChainSettings) -> Array:
    """Return the maximum number of topics that each node of a chain can have: int64 [nodes]."""
    networked = spec.citations is not None
    drawn = networked and settings.self_citations == LEFT_OUT
    return count_rooms(
        layout,
        spec.n_shared,
        settings.topics,
        citation_level=len(spec.topic_side) - 1 - spec.below_citations if networked else None,
        most_self=MOST_SELF if drawn else 0,
    )


def new_node_counts(
    spec: ModelSpec,
    layout: Layout,
    settings: ChainSettings,
    *,
    compact: bool,
    rooms: Array | None = None,
) -> TopicCounts:
    """Make empty topic-side counts of all nodes; if ``compact``, as lists where smaller.

    ``rooms`` are the maximum numbers of topics of nodes, by default those that follow from the
    layout.
    """
    n_nodes, k = len(layout.parent), settings.topics
    if compact:
        rooms = node_rooms(spec, layout, settings) if rooms is None else rooms
        customers, tables = new_compact_rows(rooms, k)
    return TopicCounts(
        customers=customers if compact else np.zeros((n_nodes, k), np.int32),
        tables=tables if compact else np.zeros((n_nodes, k), np.int32),
        total_customers=np.zeros(n_nodes, np.int64),
        total_tables=np.zeros(n_nodes, np.int64),
        held=np.zeros((n_nodes if len(layout.server) else 0, k), np.int32),
    )


def new_state(
    spec: ModelSpec,
    data: Data,
    layout: Layout,
    settings: ChainSettings,
    random: Array,
    *,
    compact: bool = False,
    rooms: Array | None = None,
) -> State:
    """Make the state of a chain before any token has a topic.

    With ``compact``, counts are stored as lists of the topics of each node where these are smaller,
    with ``rooms`` as in `new_node_counts`.
    """
    n_nodes = len(layout.parent)
    n_tokens = len(layout.word)
    n_documents = len(layout.document_start) - 1
    k = settings.topics
    beta = settings.concentration
    drawn = spec.citations is not None and settings.self_citations == LEFT_OUT

    def discount(levels: Sequence[str]) -> Array:
        found = (spec.word_level(nodes) for nodes in levels)
        return np.array([level.discount if level else 0.0 for level in found])

    betas = np.full(n_nodes, beta)
    servers = data.servers
    shared = len(servers.group) > 0
    if spec.draws_categories and settings.paper_concentration is not None:
        betas[layout.level_start[2] : layout.level_start[3]] = settings.paper_concentration
    return State(
        topics=new_node_counts(spec, layout, settings, compact=compact, rooms=rooms),
        words=WordCounts(
            customers=np.zeros((data.n_words, k), np.int32),
            tables=np.zeros((data.n_words, k), np.int32),
            total_customers=np.zeros(k, np.int64),
            total_tables=np.zeros(k, np.int64),
            background_customers=np.zeros(data.n_words, np.int32),
            background_tables=np.zeros(data.n_words, np.int32),
            background_totals=np.zeros(2, np.int64),
        ),
        assignments=Assignments(
            topic=np.zeros(n_tokens, np.int16),
            path=np.zeros(n_tokens if spec.words_choose_author else 0, np.int16),
            burst_table=np.zeros(n_tokens if spec.word_level("document-topic") else 0, np.uint8),
            citing_topic=np.full(len(layout.citing), -1, np.int16),
            self_topic=np.full((n_documents if drawn else 0, MOST_SELF), -1, np.int16),
            category=data.parents[1].astype(np.int32)
            if spec.draws_categories
            else np.zeros(0, np.int32),
            server=first_servers(servers),
            served=np.zeros((len(servers.group), k), np.int32),
        ),
        parameters=Parameters(
            topic_discount=np.array([level.discount for level in spec.topic_side]),
            topic_concentration=betas,
            word_discount=discount(("corpus", "topic", "document-topic")),
            topic_word_concentration=np.full(k, beta),
            word_concentration=np.full(2, beta),
            cite=np.ones(n_documents),
            cited=np.ones(n_documents),
            topic_scale=np.ones(k),
            share=np.ones(n_nodes if shared else 0),
            contribution=np.zeros(len(servers.group)),
            contribution_prior=np.ones(servers.authors.shape[1] if shared else 0),
        ),
        random=random,
        clock=np.zeros(2, np.int64),
    )
