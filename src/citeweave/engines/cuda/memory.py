"""The arrays of a chain on the device: its state, what never changes, and room for sweeps."""

from collections.abc import Collection
from typing import Any

import numpy as np

from citeweave.engines.core.arrays import State
from citeweave.engines.core.chain import Chain
from citeweave.engines.core.compact_rows import CompactRows, CountRows
from citeweave.engines.core.stirling import RatioTable
from citeweave.engines.cuda.device import Device
from citeweave.engines.cuda.program import (
    MEASURE_ROWS,
    Program,
    burst_rows,
    table_places,
)
from citeweave.engines.cuda.proposals import slot_room

__all__ = [
    "EXACT_LIMBS",
    "SERVED",
    "bytes_needed",
    "bytes_of_sums",
    "download_state",
    "fixed_arrays",
    "ratio_tables",
    "room_arrays",
    "tree_arrays",
    "upload_state",
]

_SAMPLE_SUMS = (
    "sum_nodes",
    "sum_squares",
    "sum_documents",
    "sum_phi",
    "sum_background",
    "sum_citing",
    "sum_topics",
    "sum_cite",
    "sum_cited",
    "sum_scale",
)
_TRIAL_SUMS = 2 * 16
"""Sums of a topic in slice draws: two for each of 16 values."""
EXACT_LIMBS = 4
"""Whole numbers of an exact sum, as in exact.cuh."""
_SEGMENT = 256
"""Most children whose sum is taken by one group of lanes."""

_NAMES = {
    "topics": ("customers", "tables", "total_customers", "total_tables", "held"),
    "words": (
        "word_customers",
        "word_tables",
        "word_total_customers",
        "word_total_tables",
        "background_customers",
        "background_tables",
        "background_totals",
    ),
    "assignments": (
        *("topic", "", "burst_table", "citing_topic", "self_topic", ""),
        *("server", "served"),
    ),
    "parameters": (
        "topic_discount",
        "topic_concentration",
        "word_discount",
        "topic_word_concentration",
        "word_concentration",
        "cite",
        "cited",
        "topic_scale",
        "share",
        "",
        "",
    ),
}
"""Device names of the state's arrays, part by part; "" for those that stay on the host."""


_ROWS = ("customers", "tables")
_LISTS = {"count_row": np.int64, "count_topic": np.int16, "counts": np.int32}
"""Counts of nodes, stored as rows of all topics or as lists."""


def _pairs(state: State) -> list[tuple[str, np.ndarray]]:
    """Name the arrays of a state; those that counts are not stored in are empty."""
    found = {
        name: array
        for part, names in _NAMES.items()
        for name, array in zip(names, getattr(state, part), strict=True)
        if name
    }
    counts: CountRows = found["customers"]
    found |= {name: np.zeros(0, kind) for name, kind in _LISTS.items()}
    if isinstance(counts, CompactRows):
        found |= dict.fromkeys(_ROWS, np.zeros(0, np.int32))
        found |= dict(zip(_LISTS, (counts.row, counts.topic, counts.counts), strict=True))
    return list(found.items())


def upload_state(
    device: Device, arrays: dict[str, Any], state: State, names: Collection[str] = ()
) -> None:
    """Copy a state to the device, or those arrays named, into the arrays there or into new ones."""
    for name, array in _pairs(state):
        if names and name not in names:
            continue
        if name in arrays and array.size:
            device.upload(arrays[name], array)
        elif name not in arrays:
            # one element at least: an empty array has no place
            arrays[name] = device.put(array if array.size else np.zeros(1, array.dtype))


def download_state(device: Device, arrays: dict[str, Any], state: State) -> None:
    """Copy the device's state into the arrays of ``state``."""
    for name, array in _pairs(state):
        if array.size:
            array[...] = device.download(arrays[name]).reshape(array.shape)


SERVED = (*_NAMES["topics"], "server", "served", "share")
"""What a draw of who serves papers may change."""


def tree_arrays(chain: Chain) -> dict[str, np.ndarray]:
    """List the children of all nodes, in segments of a limited number.

    The children that the chain owns, where segments begin (with room for as many as there may be,
    as papers change their parents), and the first segment of each node, which stays on the host.
    """
    ends = chain.part.level_end[1:]
    own = [np.arange(*span) for span in zip(chain.layout.level_start[1:], ends, strict=False)]
    owned = np.concatenate(own)
    parent = chain.layout.parent[owned]
    order = owned[np.argsort(parent, kind="stable")]
    made = np.bincount(parent, minlength=len(chain.layout.parent))
    segments = -(-made // _SEGMENT)
    first = np.concatenate([[0], np.cumsum(segments)])
    begins = np.repeat(np.cumsum(made) - made, segments)
    begins += _SEGMENT * (np.arange(first[-1]) - np.repeat(first[:-1], segments))
    most = np.count_nonzero(made) if not len(chain.layout.server) else len(made)
    begin = np.full(most + len(order) // _SEGMENT + 1, len(order), np.int64)
    begin[: len(begins)] = begins
    return {
        "parent": chain.layout.parent,
        "child": order.astype(np.int32),
        "segment_start": begin,
        "node_segment": first.astype(np.int64),
    }


def _by_round(sizes: np.ndarray, rounds: int, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order documents by round, longest first, and tell where rounds begin.

    ``number`` are the documents' numbers in the whole corpus, of those that the chain owns.
    """
    order = np.lexsort((number, -sizes[: len(number)], number % rounds))
    starts = np.searchsorted(number[order] % rounds, np.arange(rounds + 1))
    return order.astype(np.int32), starts


def ratio_tables(chain: Chain) -> list[RatioTable]:
    """Return the ratio tables of the model's distinct discounts."""
    stacked = chain.tables.topic
    known = [
        RatioTable(float(stacked.discount[i]), stacked.ratios[i], stacked.weights[i], patches)
        for i, patches in enumerate(stacked.patches)
    ]
    known += [chain.tables.background, chain.tables.topic_word, chain.tables.burst]
    by_discount = {table.discount: table for table in known}
    return [by_discount[discount] for discount in table_places(chain.spec)[0]]


def _padded_patches(tables: list[RatioTable]) -> np.ndarray:
    """Stack the tables' polynomials in single precision, 24 places each, read four at a time."""
    stacked = np.stack([table.patches for table in tables]).astype(np.float32)
    room = np.zeros((*stacked.shape[:-1], 24), np.float32)
    room[..., : stacked.shape[-1]] = stacked
    return room


def _ranges(chain: Chain) -> np.ndarray:
    """Where ``node_value`` holds what: levels, phi, gamma, phi' (nothing), words of documents."""
    starts, part = chain.layout.level_start, chain.part
    levels = list(zip(starts[:-1], part.level_end, strict=True))
    gamma = starts[-1] + chain.settings.topics
    ranges = [*levels, (starts[-1], gamma), (gamma, gamma + 1), (0, 0), (0, part.n_documents)]
    return np.array(ranges, np.int64)


def fixed_arrays(
    chain: Chain, rounds: int, *, lists: bool
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Make what never changes, on the host; also where rounds of words and citations begin.

    ``lists`` tells whether counts of nodes are lists of topics.
    """
    layout = chain.layout
    n_documents, part = chain.n_documents, chain.part
    number = part.document[: part.n_documents]
    order, word_rounds = _by_round(np.diff(layout.document_start), rounds, number)
    made = np.bincount(layout.citing, minlength=n_documents)
    cite_order, cite_rounds = _by_round(made, rounds, number)
    tables = ratio_tables(chain)
    degrees = chain.degrees
    arrays = {
        "word": layout.word,
        "document_start": layout.document_start,
        "level_start": layout.level_start.astype(np.int32),
        "level_end": part.level_end.astype(np.int32),
        "node_number": part.node.astype(np.int64),
        "document_number": part.document.astype(np.int32),
        "extent": np.array([n_documents, part.n_documents, part.all_documents], np.int64),
        "leaf": layout.leaf,
        "citing": layout.citing,
        "cited_document": layout.cited,
        "cites": np.concatenate([[0], np.cumsum(made)]).astype(np.int64),
        **_received(chain, lists=lists),
        "order": order,
        "cite_order": cite_order,
        **tree_arrays(chain),
        "server_start": layout.server_start,
        "server_node": layout.server,
        "made": degrees[0],
        "received": degrees[1],
        "dense": np.stack([table.weights for table in tables]).astype(np.float32),
        "patches": _padded_patches(tables),
        "table_discount": np.array([table.discount for table in tables]),
        "ranges": _ranges(chain),
    }
    return arrays, word_rounds, cite_rounds


def _received(chain: Chain, *, lists: bool) -> dict[str, np.ndarray]:
    """List the citations that each paper receives, which change its list of topics."""
    cited = chain.layout.cited
    if not lists or chain.spec.citations is None:
        return {"received_start": np.zeros(0, np.int64), "received_by": np.zeros(0, np.int32)}
    received = np.bincount(cited, minlength=chain.n_documents)
    return {
        "received_start": np.concatenate([[0], np.cumsum(received)]).astype(np.int64),
        "received_by": np.argsort(cited, kind="stable").astype(np.int32),
    }


def room_arrays(
    chain: Chain, program: Program, *, sweeping: int, far_floats: int
) -> dict[str, tuple[int, type]]:
    """List what sweeps need besides, by size and type.

    ``sweeping`` groups work on documents at a time; their slots beyond those in shared memory take
    ``far_floats``.
    """
    layout = chain.layout
    topics = chain.settings.topics
    n_nodes = len(layout.parent)
    n_shared = int(layout.level_start[chain.spec.n_shared])
    n_words = chain.state.words.customers.shape[0]
    networked = chain.spec.citations is not None
    n_citations = len(layout.citing) if networked else 0
    citation_level = chain.citation_level
    weighted = n_nodes if networked else 0
    rows = max(program.word_rows, program.cite_rows, burst_rows(topics), MEASURE_ROWS)
    rows = 0 if program.rows_shared else rows
    floats = program.row_floats(rows, program.lanes) if rows else 0
    columns = 2 * topics + 2 if networked else 0
    sizes: dict[str, tuple[int, type]] = {
        "run": (len(layout.word), np.uint16),
        "stay": (n_words * topics, np.float32),
        "open": (n_words * topics, np.float32),
        "background_pair": (2 * n_words, np.float32),
        "cite_sum": (topics, np.float64),
        "cited_sum": (topics, np.float64),
        "cite_weight": (weighted, np.float64),
        "cited_weight": (weighted, np.float64),
        "cite_passed": (weighted, np.float64),
        "cited_passed": (weighted, np.float64),
        "inherited": (2 * int(layout.level_start[citation_level]) if networked else 0, np.uint64),
        "whole_sum": (columns * max(citation_level, 1), np.uint64),
        "unit": (2, np.float64),
        "node_rate": (weighted, np.float64),
        "node_customers": (n_shared * topics, np.int32),
        "node_tables": (n_shared * topics, np.int32),
        "change_customers": (n_words * topics, np.int32),
        "change_tables": (n_words * topics, np.int32),
        "change_background": (n_words, np.int32),
        "move_old": (n_citations, np.int16),
        "move_new": (n_citations, np.int16),
        "move_depth": (4 * n_citations, np.uint8),
        "move_weight": (2 * citation_level * n_citations, np.float32),
        # made when the first sample is kept
        **dict.fromkeys(_SAMPLE_SUMS, (1, np.float64)),
        **slot_room(chain, program, far_floats=far_floats),
        "root_sum": (topics, np.int32),
        "topic_citations": (topics, np.int32),
        "scratch": (sweeping * floats, np.float32),
        "column": (columns * max(citation_level, 1), np.float64),
        "trial_sum": (_TRIAL_SUMS * topics if networked else 0, np.uint64),
        "node_mean": (n_shared * topics if program.defines["MEANS"] else 0, np.float64),
        "node_value": (max(n_nodes + topics + 1, chain.n_documents), np.float64),
        "exact": (EXACT_LIMBS * (len(chain.spec.topic_side) + 6), np.uint64),
        "report": (64, np.float64),
        "won": (32, np.uint64),
        "tally": (17, np.uint64),
        "counter": (8, np.int32),
    }
    return sizes


def bytes_needed(
    chain: Chain, stored: State, fixed: dict[str, np.ndarray], room: dict[str, tuple[int, type]]
) -> int:
    """Count the bytes that a chain will take on the device, with the sums of samples to come.

    ``stored`` is its state in the form that the device stores it in.
    """
    total = sum(array.nbytes for array in fixed.values()) + bytes_of_sums(chain)
    total += sum(size * np.dtype(kind).itemsize for size, kind in room.values())
    return total + sum(array.nbytes for _, array in _pairs(stored))


def bytes_of_sums(chain: Chain) -> int:
    """Count the bytes of `Sums` on the device; they are made when the first sample is kept."""
    layout, topics = chain.layout, chain.settings.topics
    documents = chain.n_documents
    shared = int(layout.level_start[chain.spec.n_shared])
    words = chain.state.words.customers.shape[0]
    singles = chain.spec.n_document * documents * topics
    doubles = 2 * shared * topics + words * (topics + 1) + topics
    if chain.spec.citations is not None:
        singles += len(layout.citing) * topics
        doubles += 2 * documents + topics
    return 4 * singles + 8 * doubles
