"""The arrays of a chain, grouped as kernels receive them.

Symbols and equation labels are those of the paper; ``docs/reference/notation.md`` lists them all.
Every topic-side node (mu, the nu, the theta', the theta) is one row of the same arrays,
root first, so a model is a tree given by ``parent``, and kernels need no case per level.
"""

from typing import Any, NamedTuple

import numpy as np

from citeweave.compiled import inlined
from citeweave.engines.core.compact_rows import CompactRows, CountRows
from citeweave.engines.core.stirling import RatioTable

__all__ = [
    "Assignments",
    "Layout",
    "Model",
    "Parameters",
    "Shape",
    "StackedTables",
    "State",
    "Tables",
    "TopicCounts",
    "WordCounts",
    "flatten",
    "level_table",
]

Array = np.ndarray


class Shape(NamedTuple):
    """The levels of a model.

    Levels of the topic side are tuple *lengths*, whose values are never read: a length is part of
    the type, so loops over levels are unrolled. The rest are numbers that kernels read, so that one
    compilation serves models with and without citations, background and burstiness, and both stages
    of a chain.
    """

    shared: tuple[int, ...]
    """One entry per level above documents (mu, nu)."""
    document: tuple[int, ...]
    """One entry per document level (theta', theta)."""
    background: int
    """1 if the word side has a corpus level gamma, else 0."""
    burst: int
    """1 if the word side has a document-topic level phi', else 0."""
    network: int
    """1 if citations are modelled, else 0."""
    below_citations: int
    """Number of document levels below the one that citations reach."""


class Layout(NamedTuple):
    """Everything that is constant while a chain runs."""

    word: Array
    """int32 [tokens]: word of each token, sorted inside each document."""
    document_start: Array
    """int64 [documents + 1]: first token of each document."""
    parent: Array
    """int32 [nodes]: parent of each topic-side node; the root is its own. Only parents of papers
    change: with `Assignments.category` if categories are latent, with `Assignments.server` if all
    of their authors serve them."""
    level_start: Array
    """int64 [levels + 1]: first node of each topic-side level, root level first."""
    leaf: Array
    """int32 [paths]: leaf nodes by document; several if words choose their author."""
    leaf_start: Array
    """int64 [documents + 1]: first entry of each document in ``leaf``."""
    citing: Array
    """int32 [citations]."""
    cited: Array
    """int32 [citations]."""
    citation_node: int
    """Node of document 0 on the level that citations reach; document d is d further."""
    server_start: Array
    """int64 [documents + 1] (or empty): first entry in ``server`` of each paper with several
    authors."""
    server: Array
    """int32 [servers]: nodes of these authors, or of categories that replace them."""


class StackedTables(NamedTuple):
    """Ratio tables of several levels in one set of arrays, so that a level is an index."""

    place: Array
    """int64 [levels]: index of the table that a level uses."""
    discount: Array
    """float64 [tables]."""
    ratios: Array
    weights: Array
    patches: Array


class Tables(NamedTuple):
    """Stirling ratio tables by level."""

    topic: StackedTables
    """For the topic-side levels, root first."""
    background: RatioTable
    topic_word: RatioTable
    burst: RatioTable


class Model(NamedTuple):
    """The constant data of a model and its corpus, for kernels."""

    shape: Shape
    layout: Layout
    tables: Tables


@inlined
def level_table(tables, level):
    """Return the ratio table of a topic-side level."""
    i = tables.place[level]
    return RatioTable(tables.discount[i], tables.ratios[i], tables.weights[i], tables.patches[i])


class TopicCounts(NamedTuple):
    """Topic-side counts (eq:modularized_likelihood)."""

    customers: CountRows
    """int32 [nodes, topics]: c; an array, or lists of the topics of each node."""
    tables: CountRows
    """int32 [nodes, topics]: t; at the root 1 if c > 0."""
    total_customers: Array
    """int64 [nodes]: C."""
    total_tables: Array
    """int64 [nodes]: T."""
    held: Array
    """int32 [nodes or none, topics]: tables of a paper served by authors other than the current
    one, which sweeps must not remove; no rows if papers have one author each."""


class WordCounts(NamedTuple):
    """Word-side counts of phi and gamma."""

    customers: Array
    """int32 [words, topics]: c of phi_k at word v, word first so that a token reads one row."""
    tables: Array
    """int32 [words, topics]."""
    total_customers: Array
    """int64 [topics]."""
    total_tables: Array
    """int64 [topics]."""
    background_customers: Array
    """int32 [words]: c of gamma."""
    background_tables: Array
    """int32 [words]."""
    background_totals: Array
    """int64 [2]: C and T of gamma."""


class Assignments(NamedTuple):
    """Latent variables of tokens and citations."""

    topic: Array
    """int16 [tokens]: z."""
    path: Array
    """int16 [tokens] (or empty): which of the document's leaves the token chose."""
    burst_table: Array
    """uint8 [tokens] (or empty): table indicators at phi'; only their sums are meaningful."""
    citing_topic: Array
    """int16 [citations]: y; -1 while the network is off."""
    self_topic: Array
    """int16 [documents, maximum per document]: topics of sampled self-citations if x_ii is left
    out, padded with -1; no rows if it is known."""
    category: Array
    """int32 [documents] (or empty): category of each paper, known labels included."""
    server: Array
    """int32 [documents] (or empty): index among all `Servers` of the author who serves the tables
    that a paper opens now; -1 for papers with a single author."""
    served: Array
    """int32 [servers, topics]: number of a paper's tables that each of its authors serves, as last
    updated by `engines.core.authors`."""


class Parameters(NamedTuple):
    """Discounts, concentrations and the propensities of the citation model."""

    topic_discount: Array
    """float64 [levels]: alpha."""
    topic_concentration: Array
    """float64 [nodes]: beta."""
    word_discount: Array
    """float64 [3]: alpha of gamma, phi, phi'."""
    topic_word_concentration: Array
    """float64 [topics]: beta of each phi_k."""
    word_concentration: Array
    """float64 [2]: beta of gamma and of all phi'."""
    cite: Array
    """float64 [documents]: lambda+."""
    cited: Array
    """float64 [documents]: lambda-."""
    topic_scale: Array
    """float64 [topics]: lambdaT."""
    share: Array
    """float64 [nodes] (or empty): contribution of the author who serves a paper now, 1 for all
    other nodes."""
    contribution: Array
    """float64 [servers]: pi, the shares of a paper's authors in it."""
    contribution_prior: Array
    """float64 [positions] (or empty): delta of their Dirichlet prior."""


class State(NamedTuple):
    """Everything that changes while a chain runs, stored in checkpoints."""

    topics: TopicCounts
    words: WordCounts
    assignments: Assignments
    parameters: Parameters
    random: Array
    """uint64 [4]."""
    clock: Array
    """int64 [2]: iterations done; 1 once the network is on."""


def flatten(parts: tuple[Any, ...], prefix: str = "") -> dict[str, Any]:
    """Name all arrays of a NamedTuple of NamedTuples by their path ("topics.customers").

    Counts stored as lists are returned as `CompactRows`.
    """
    arrays: dict[str, Any] = {}
    for name, part in zip(parts._fields, parts, strict=True):  # type: ignore[attr-defined]
        if isinstance(part, tuple) and not isinstance(part, CompactRows):
            arrays |= flatten(part, f"{prefix}{name}.")
        else:
            arrays[prefix + name] = part
    return arrays
