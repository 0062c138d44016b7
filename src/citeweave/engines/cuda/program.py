"""The CUDA source of one model: our own kernels, compiled for its levels and number of topics."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from citeweave.engines.core.spec import ModelSpec

__all__ = [
    "FIELDS",
    "MEASURE_ROWS",
    "PACKED_BELOW",
    "SLOT_UNITS",
    "SWEEPS",
    "UNITS",
    "WARP",
    "LaneGrouping",
    "Program",
    "burst_rows",
    "choose_grouping",
    "context_source",
    "kernel_names",
    "kernel_source",
    "plan_program",
    "refuse_model",
    "table_places",
    "warp_source",
    "weigh_parts",
]

FIELDS: dict[str, str] = {
    # counts, assignments and parameters: the arrays of the state
    "customers": "int",
    "tables": "int",
    "count_row": "i64",  # lists of topics, where counts are stored as such
    "count_topic": "short",
    "counts": "int",
    "total_customers": "i64",
    "total_tables": "i64",
    "held": "int",
    "word_customers": "int",
    "word_tables": "int",
    "word_total_customers": "i64",
    "word_total_tables": "i64",
    "background_customers": "int",
    "background_tables": "int",
    "background_totals": "i64",
    "topic": "short",
    "burst_table": "unsigned char",
    "citing_topic": "short",
    "self_topic": "short",
    "server": "int",
    "served": "int",
    "topic_discount": "double",
    "topic_concentration": "double",
    "word_discount": "double",
    "topic_word_concentration": "double",
    "word_concentration": "double",
    "cite": "double",
    "cited": "double",
    "topic_scale": "double",
    "share": "double",
    # what never changes
    "word": "int",
    "document_start": "i64",
    "parent": "int",
    "level_start": "int",
    "level_end": "int",
    "node_number": "i64",
    "document_number": "int",
    "extent": "i64",
    "leaf": "int",
    "citing": "int",
    "cited_document": "int",
    "cites": "i64",
    "received_start": "i64",
    "received_by": "int",
    "order": "int",
    "cite_order": "int",
    "child": "int",
    "segment_start": "i64",
    "server_start": "i64",
    "server_node": "int",
    "made": "double",
    "received": "double",
    "dense": "Pair",
    "patches": "float",
    "table_discount": "double",
    "ranges": "i64",
    "run": "unsigned short",
    # weights kept between sweeps
    "stay": "float",
    "open": "float",
    "background_pair": "Pair",
    "cite_sum": "double",
    "cited_sum": "double",
    "cite_weight": "double",
    "cited_weight": "double",
    "cite_passed": "double",
    "cited_passed": "double",
    "inherited": "u64",
    "whole_sum": "u64",
    "unit": "double",
    "node_rate": "double",
    # changes of a sweep
    "node_customers": "int",
    "node_tables": "int",
    "change_customers": "int",
    "change_tables": "int",
    "change_background": "int",
    "move_old": "short",
    "move_new": "short",
    "move_depth": "unsigned char",
    "move_weight": "float",
    "root_sum": "int",
    "topic_citations": "int",
    # sums over kept samples
    "node_mean": "double",
    "sum_nodes": "double",
    "sum_squares": "double",
    "sum_documents": "float",
    "sum_phi": "double",
    "sum_background": "double",
    "sum_citing": "float",
    "sum_topics": "i64",
    "sum_cite": "double",
    "sum_cited": "double",
    "sum_scale": "double",
    # sweeps over slots
    "guess": "unsigned",
    "guess_mass": "float",
    "guess_root": "float",
    "seat_sum": "u64",
    "share_sum": "u64",
    "cite_guess": "unsigned",
    "move_slope": "float",
    "listed": "unsigned char",
    "bits": "unsigned",
    "outer": "double",
    "far_cells": "float",
    # scratch and sums
    "scratch": "float",
    "column": "double",
    "trial_sum": "u64",
    "node_value": "double",
    "exact": "u64",
    "report": "double",
    "won": "u64",
    "tally": "u64",
    "counter": "int",
}
"""Arrays that kernels know, in the order of the structure they are passed in."""

UNITS: dict[str, tuple[str, ...]] = {
    "words": ("climb.cuh", "fields.cuh", "document.cuh", "change.cuh", "all_words.cuh", "words.cu"),
    "citations": ("climb.cuh", "ends.cuh", "all_ends.cuh", "citations.cu"),
    "self_citations": ("climb.cuh", "self_citations.cu"),
    "nodes": ("exact.cuh", "nodes.cuh", "merge.cu", "start.cu", "exponent.cu", "rows.cu"),
    "parameters": ("exact.cuh", "ranges.cuh", "auxiliaries.cu"),
    "sums": ("exact.cuh", "ranges.cuh", "nodes.cuh", "likelihood.cu", "faults.cu", "slices.cu"),
    "estimates": ("exact.cuh", "ranges.cuh", "nodes.cuh", "estimates.cu"),
}
"""Parts of the program that are compiled apart, at the same time; all begin with common.cuh and
counts.cuh."""

_SLOTS = ("proposals.cuh", "climb.cuh", "slots.cuh")

SLOT_UNITS: dict[str, tuple[str, ...]] = UNITS | {
    "words": (
        *_SLOTS,
        *("fields.cuh", "document.cuh", "change.cuh"),
        *("slot_walk.cuh", "slot_change.cuh", "slot_words.cuh", "words.cu"),
    ),
    "citations": (*_SLOTS, "ends.cuh", "slot_beyond.cuh", "slot_ends.cuh", "citations.cu"),
    "estimates": ("exact.cuh", "ranges.cuh", "proposals.cuh", "nodes.cuh", "estimates.cu"),
    "proposals": ("exact.cuh", "proposals.cuh", "nodes.cuh", "proposal.cu", "marked.cu"),
}
"""The same where sweeps go over slots."""

SWEEPS = ("words", "citations")
"""Units whose groups of lanes are smaller than a warp."""

_KERNEL = re.compile(r"^KERNEL(?:_OF\([^)]*\))?\s+(\w+)\(", re.MULTILINE)
WARP = 32
_HELD_CHUNKS = 16
PACKED_BELOW = 1 << 15
"""Counts that two of which fit into one number."""
_ROWS_FIT = 300
"""Most topics whose rows are held in shared memory; with more of them too few warps would fit."""


_COUNTS_FIT = 1024
"""The same where they are the two rows that the tokens of a document are counted in."""


class LaneGrouping(NamedTuple):
    """How sweeps are cut into blocks, warps and groups of lanes."""

    lanes: int
    """Lanes that walk a document together: few of them leave fewer idle."""
    threads: int
    """Threads per block."""
    word_blocks: int
    """Blocks that a multiprocessor should hold; registers are shared out accordingly."""
    cite_blocks: int
    near_slots: int = 0
    """Slots of a document that lie in shared memory; 0 where sweeps go over all topics."""
    cite_lanes: int = 0
    """Lanes that walk a document's citations, where other than those of its words."""

    def of_citations(self) -> "LaneGrouping":
        """Return the grouping of citations: their slots are better kept in the card's memory."""
        return self._replace(lanes=self.cite_lanes or self.lanes, near_slots=0)


def choose_grouping(topics: int, *, sparse: bool = False) -> LaneGrouping:
    """Choose by the number of topics, whose rows fill the shared memory; measured on an H200."""
    if sparse:
        return LaneGrouping(8, 32, 12, 16, near_slots=32, cite_lanes=WARP)
    if topics <= 32:
        return LaneGrouping(4, 32, 16, 16)
    if topics <= 96:
        return LaneGrouping(8, 32, 12, 16)
    if topics <= _ROWS_FIT:
        return LaneGrouping(WARP, WARP, 1, 8)
    return LaneGrouping(WARP, 128, 4, 3)


def weigh_parts(topics: int) -> int:
    """Choose how many sums are taken of a topic's weights in the nodes of a level, then added."""
    return max(1056 // -(-topics // WARP), 1)


MEASURE_ROWS = 4
"""Rows that the log likelihood counts in: tokens and tables of a document and of a long run."""


def burst_rows(topics: int) -> int:
    """Rows for counting documents' tokens, three per document of a batch (``BURST_ROWS``)."""
    batches = ((32, 8), (64, 4), (128, 2))
    return 3 * next((batch for most, batch in batches if topics <= most), 1)


def table_places(spec: ModelSpec) -> tuple[list[float], list[int]]:
    """Return the distinct discounts of a model, and which of them each level uses.

    Levels are those of the topic side, then gamma, phi and phi'; one that the model lacks takes the
    place of another.
    """
    found = [spec.word_level(nodes) for nodes in ("corpus", "topic", "document-topic")]
    levels = [*spec.topic_side, *(level or spec.word_side[0] for level in found)]
    discounts = [float(level.discount) for level in levels]
    distinct = list(dict.fromkeys(discounts))
    return distinct, [distinct.index(discount) for discount in discounts]


def refuse_model(spec: ModelSpec) -> str | None:
    """Return why a model cannot be sampled on a GPU; None if it can."""
    if spec.words_choose_author:
        return (
            f"In model {spec.name!r} words choose their author, which the GPU does not support. "
            "Use threads instead."
        )
    single = [level.name for level in spec.topic_side if not level.shared_concentration]
    topic_level = spec.word_level("topic")
    if topic_level is not None and not topic_level.shared_concentration:
        single.append(topic_level.name)
    if single:
        return (
            f"Levels {', '.join(single)} of model {spec.name!r} have one concentration per node, "
            "which the GPU does not support. Give them a shared one, or use threads instead."
        )
    return None


class Program(NamedTuple):
    """What a program is compiled for, and the sizes that follow."""

    defines: dict[str, int | str]
    word_rows: int
    cite_rows: int
    rows_shared: bool
    lanes: int
    """Lanes that walk a document's words together; all but sweeps is done by whole warps."""
    cite_lanes: int
    """The same for its citations."""

    @property
    def units(self) -> dict[str, tuple[str, ...]]:
        """Parts of the program that are compiled apart, and the files of each."""
        return SLOT_UNITS if self.defines["SPARSE"] else UNITS

    def row_floats(self, rows: int, lanes: int) -> int:
        """Floats that the rows of one group take (``ROW_STRIDE`` of the kernels)."""
        floats = rows * int(self.defines["K"])
        return floats + (lanes % WARP - floats) % WARP

    def word_bytes(self, groups: int) -> int:
        """Shared memory of a block of groups that walk words; lambdaT comes before their rows."""
        first = -(-int(self.defines["K"]) // 4) * 4 if self.defines["LAMBDAS"] else 0
        return 4 * (first + self.row_floats(self.word_rows, self.lanes) * groups)

    def for_unit(self, unit: str) -> "Program":
        """Copy the program for one unit: sweeps have small groups, and words lambdaT at hand."""
        changed: dict[str, int | str] = {}
        if unit not in SWEEPS:
            changed["LANES"] = WARP
        elif unit == "citations":
            changed |= {"LANES": self.cite_lanes, "NEAR_SLOTS": 0}
        if unit != "words":
            changed["LAMBDAS"] = 0
        return self._replace(defines=self.defines | changed)


def plan_program(
    spec: ModelSpec,
    *,
    topics: int,
    words: int,
    grouping: LaneGrouping,
    packed: bool = True,
    most_self: int = 0,
    shared: bool = False,
    compact: bool = False,
) -> Program:
    """Choose the constants of a model's program.

    ``packed`` where counts of a document are below `PACKED_BELOW`; ``most_self`` is the number of
    self-citations that a paper may be given, 0 where they are known; ``shared`` tells whether
    papers have several authors who serve them, ``compact`` whether counts of nodes are lists.
    """
    _, places = table_places(spec)
    levels = len(spec.topic_side)
    burst = int(spec.word_level("document-topic") is not None)
    network = int(spec.citations is not None)
    lanes, threads = grouping.lanes, grouping.threads
    pair = 1 if packed else 2  # rows of two counts
    held = -(-topics // lanes) <= _HELD_CHUNKS
    word_rows = 2 * spec.n_shared - 1 + pair * spec.n_document + 2 * (levels - 1) + 4
    word_rows += 2 * pair * (1 + burst) + 2 * network + int(not held)
    cite_rows = 4 * (levels - spec.below_citations) + 5
    sparse = grouping.near_slots > 0
    # where all nodes that citations reach have bits, no slice needs the means of nodes
    reached = levels - spec.below_citations
    marks = not network or (spec.n_shared <= 2 and reached == spec.n_shared + 1)
    if sparse:  # rows over all topics are for counting alone
        word_rows = cite_rows = 2
    rows_shared = topics <= (_COUNTS_FIT if sparse else _ROWS_FIT)

    def discounts(values: list[float]) -> str:
        return ", ".join(f"{value!r}f" for value in values)

    word_levels = [spec.word_level(nodes) for nodes in ("corpus", "topic", "document-topic")]
    defines: dict[str, int | str] = {
        "K": topics,
        "N_WORDS": words,
        "N_SHARED": spec.n_shared,
        "N_DOCUMENT": spec.n_document,
        "BACKGROUND": int(spec.word_level("corpus") is not None),
        "BURST": burst,
        "NETWORK": network,
        "BELOW": spec.below_citations,
        "MOST_SELF": most_self,
        "AUTHORS": int(shared),
        "LANES": lanes,
        "WORD_THREADS": threads,
        "CITE_THREADS": threads,
        "WORD_BLOCKS": grouping.word_blocks,
        "CITE_BLOCKS": grouping.cite_blocks,
        "ROWS_SHARED": int(rows_shared),
        "LAMBDAS": network and int(not sparse),
        "PACKED": int(packed),
        "SPARSE": int(sparse),
        "COMPACT": int(compact),
        "MEANS": int(not compact or not marks),
        "NEAR_SLOTS": grouping.near_slots,
        "TABLE_PLACES": f"0x{sum(place << 4 * i for i, place in enumerate(places)):x}u",
        "TOPIC_DISCOUNTS": discounts([float(level.discount) for level in spec.topic_side]),
        "WORD_DISCOUNTS": discounts([level.discount if level else 0.0 for level in word_levels]),
    }
    return Program(defines, word_rows, cite_rows, rows_shared, lanes, grouping.of_citations().lanes)


def context_source(qualifier: str) -> str:
    """Write the structure of all arrays that kernels know, and its one variable."""
    members = "\n".join(f"  {kind} *{name};" for name, kind in FIELDS.items())
    return (
        f"struct Pair;\nstruct Context {{\n{members}\n}};\n"
        f'extern "C" {{ {qualifier} Context ctx; }}\n'
    )


def kernel_source(program: Program, machine: str, qualifier: str, units: Iterable[str] = ()) -> str:
    """Put a program together, or some units of it.

    ``machine`` is the source of what kernels need of the machine.
    """
    defines = "\n".join(f"#define {name} {value}" for name, value in program.defines.items())
    parts = (part for unit in units or program.units for part in program.units[unit])
    once = dict.fromkeys(("common.cuh", "counts.cuh", *parts))  # units share headers
    return "\n".join([defines, machine, context_source(qualifier), *map(_source, once)])


def kernel_names(program: Program, unit: str) -> list[str]:
    """List the kernels of a unit."""
    return [name for part in program.units[unit] for name in _KERNEL.findall(_source(part))]


def warp_source() -> str:
    """Read what kernels need of the machine, on a GPU."""
    return _source("warp.cuh")


@cache
def _source(part: str) -> str:
    folder = files("citeweave.engines.cuda") / "source"
    return (folder / part).read_text(encoding="utf-8")
