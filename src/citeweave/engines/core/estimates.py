"""Posterior means, summed over the samples that a chain keeps (eq:recover_vector, with t_k).

A chain stores sums, which are part of its checkpoints; those of several chains can be added once
their topics are matched. The large ones (one row per document or citation) are in single precision:
adding up a few thousand probabilities has a relative error below 1e-5.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from citeweave.compiled import kernel
from citeweave.engines.core.likelihood import topic_word_means
from citeweave.engines.core.row_places import count_at, n_places, topic_at

if TYPE_CHECKING:
    from citeweave.engines.core.spec import ModelSpec
    from citeweave.engines.protocol import RunningChain

__all__ = [
    "Sums",
    "add_sample",
    "empty_sums",
    "merge_sums",
    "new_sums",
    "renumber_categories",
    "take_means",
]

_CHUNK = 1 << 16


class Sums(NamedTuple):
    """Sums over kept samples; arrays of a level that the model lacks are empty."""

    samples: np.ndarray
    """int64 [1]: number of samples."""
    nodes: np.ndarray
    """float64 [shared nodes, topics]: mu and all nodes above documents, each row summing to 1."""
    nodes_squared: np.ndarray
    """float64 [shared nodes, topics]: their squares, for the spread over samples; nan if the chain
    began with a release that did not store them."""
    documents: np.ndarray
    """float32 [document levels, documents, topics]: theta' and theta, rows summing to 1."""
    mixture: np.ndarray
    """float32 [documents, topics]: if words choose authors, the mean of the chosen nu."""
    topic_word: np.ndarray
    """float64 [words, topics]: phi, over the samples in which the topic is in use."""
    topic_samples: np.ndarray
    """int64 [topics]: number of samples in which the topic is in use."""
    background: np.ndarray
    """float64 [words]: gamma."""
    citing: np.ndarray
    """float32 [citations, topics]: p(y = k | theta', lambdaT)."""
    cite: np.ndarray
    """float64 [documents]: lambda+ on the reported scale."""
    cited: np.ndarray
    """float64 [documents]: lambda-."""
    topic_scale: np.ndarray
    """float64 [topics]: lambdaT."""
    category: np.ndarray
    """float32 [documents, categories]: number of samples in which a paper has a category."""
    contribution: np.ndarray
    """float64 [servers]: shares of authors in the papers that they share."""
    contribution_squared: np.ndarray
    """float64 [servers]: their squares."""
    contribution_prior: np.ndarray
    """float64 [positions]: delta of the Dirichlet prior of shares."""


def new_sums(chain: "RunningChain") -> Sums:
    """Make empty sums for the model and the corpus of a chain."""
    spec, layout = chain.spec, chain.layout
    return empty_sums(
        spec,
        layout.level_start,
        topics=chain.settings.topics,
        words=chain.state.words.customers.shape[0],
        documents=chain.n_documents,
        citations=len(layout.citing),
        servers=len(layout.server),
        positions=len(chain.state.parameters.contribution_prior),
    )


def empty_sums(
    spec: "ModelSpec",
    level_start: np.ndarray,
    *,
    topics: int,
    words: int,
    documents: int,
    citations: int,
    servers: int = 0,
    positions: int = 0,
) -> Sums:
    """Make empty sums for a model and the sizes of a corpus."""
    networked = spec.citations is not None
    n_categories = int(level_start[2] - level_start[1]) if spec.draws_categories else 0
    nodes = int(level_start[spec.n_shared])
    return Sums(
        samples=np.zeros(1, np.int64),
        nodes=np.zeros((nodes, topics)),
        nodes_squared=np.zeros((nodes, topics)),
        documents=np.zeros((spec.n_document, documents, topics), np.float32),
        mixture=np.zeros((documents if spec.words_choose_author else 0, topics), np.float32),
        topic_word=np.zeros((words, topics)),
        topic_samples=np.zeros(topics, np.int64),
        background=np.zeros(words if spec.word_level("corpus") else 0),
        citing=np.zeros((citations if networked else 0, topics), np.float32),
        cite=np.zeros(documents if networked else 0),
        cited=np.zeros(documents if networked else 0),
        topic_scale=np.zeros(topics if networked else 0),
        category=np.zeros((documents, n_categories), np.float32),
        contribution=np.zeros(servers),
        contribution_squared=np.zeros(servers),
        contribution_prior=np.zeros(positions),
    )


def add_sample(
    chain: "RunningChain", sums: Sums, scales: tuple[float, float] | None = None
) -> None:
    """Add the posterior means of a chain's present state to its sums.

    ``scales`` are the means of lambda+ and lambda-, if the chain has computed them.
    """
    state, layout = chain.state, chain.layout
    n_words, n_topics = state.words.customers.shape
    used = state.topics.customers[0] > 0
    background = np.zeros(n_words)
    words = np.zeros((n_words, n_topics))
    topic_word_means(chain.shape, state, background, words)
    sums.topic_word[:, used] += words[:, used]
    sums.topic_samples[used] += 1
    if len(sums.background):
        sums.background[:] += background
    means = np.zeros(sums.nodes.shape)
    n_shared = chain.spec.n_shared
    add_nodes(n_shared, layout, state.topics, state.parameters, means, sums.nodes)
    sums.nodes_squared[:] += np.square(means / means.sum(axis=1, keepdims=True))
    add_documents(n_shared, layout, state.topics, state.parameters, means, sums.documents)
    if len(sums.mixture):
        add_mixtures(layout, state.assignments, means, sums.mixture)
    if chain.network_on:
        parameters = state.parameters
        last = n_shared + chain.spec.n_document - chain.spec.below_citations
        add_citations(n_shared, last, layout, state.topics, parameters, means, sums.citing)
        # only the products are identified, so the means are set to 1
        cite_scale, cited_scale = scales or (parameters.cite.mean(), parameters.cited.mean())
        sums.cite[:] += parameters.cite / cite_scale
        sums.cited[:] += parameters.cited / cited_scale
        sums.topic_scale[:] += parameters.topic_scale * (cite_scale * cited_scale)
    if sums.category.size:
        sums.category[np.arange(chain.n_documents), state.assignments.category] += 1
    if len(sums.contribution):
        sums.contribution[:] += state.parameters.contribution
        sums.contribution_squared[:] += np.square(state.parameters.contribution)
        sums.contribution_prior[:] += state.parameters.contribution_prior
    sums.samples[0] += 1


def merge_sums(into: Sums, other: Sums, order: np.ndarray) -> None:
    """Add another chain's sums; its topic ``order[k]`` is topic k here."""
    by_topic = {"nodes", "nodes_squared", "documents", "mixture", "topic_word", "topic_samples"}
    by_topic |= {"citing", "topic_scale"}
    for name in Sums._fields:
        mine, theirs = getattr(into, name), getattr(other, name)
        if mine.size == 0:
            continue
        if name not in by_topic:
            mine += theirs
            continue
        rows, more = mine.reshape(-1, len(order)), theirs.reshape(-1, len(order))
        for begin in range(0, len(rows), _CHUNK):  # avoids a second copy of the large ones
            rows[begin : begin + _CHUNK] += more[begin : begin + _CHUNK][:, order]


def renumber_categories(sums: Sums, order: np.ndarray) -> None:
    """Renumber the categories of a chain: its category ``order[c]`` becomes c."""
    for array in (sums.nodes, sums.nodes_squared):
        array[1 : 1 + len(order)] = array[1 + order]
    sums.category[:] = sums.category[:, order]


def take_means(sums: Sums) -> Sums:
    """Turn sums into means in place (``samples`` stay counts); a topic never used has phi = gamma.

    NumPy: each array divided by ``samples``, phi by ``topic_samples``.
    """
    n = int(sums.samples[0])
    by_topic_samples = {"samples", "topic_samples", "topic_word"}
    for name in set(Sums._fields) - by_topic_samples:
        array = getattr(sums, name)
        np.divide(array, array.dtype.type(n), out=array)
    seen = sums.topic_samples > 0
    sums.topic_word[:, seen] /= sums.topic_samples[seen]
    n_words = len(sums.topic_word)
    base = sums.background[:, None] if len(sums.background) else 1.0 / n_words
    sums.topic_word[:, ~seen] = base
    return sums


@kernel
def _descend(counts, parameters, level, node, mean):
    """Turn the mean of a node's parent into the node's own, in place (eq:recover_vector)."""
    discount = parameters.topic_discount[level]
    beta = parameters.topic_concentration[node]
    scale = 1.0 / (beta + counts.total_customers[node])
    share = (beta + discount * counts.total_tables[node]) * scale
    for k in range(mean.shape[0]):
        mean[k] *= share
    for j in range(n_places(counts.customers, node)):
        own = count_at(counts.customers, node, j) - discount * count_at(counts.tables, node, j)
        mean[topic_at(counts.customers, node, j)] += own * scale


@kernel
def add_nodes(n_shared, layout, counts, parameters, means, sums):
    """Fill ``means`` of the nodes above documents and add their normalised rows.

    The mass that mu reserves for unseen topics is left out, so rows are normalised over topics in
    use.
    """
    n_topics = means.shape[1]
    for level in range(n_shared):
        for node in range(layout.level_start[level], layout.level_start[level + 1]):
            if level > 0:
                means[node] = means[layout.parent[node]]
            _descend(counts, parameters, level, node, means[node])
            total = means[node].sum()
            for k in range(n_topics):
                sums[node, k] += means[node, k] / total


@kernel
def add_documents(n_shared, layout, counts, parameters, means, sums):
    """Add the normalised means of every document on each document level."""
    n_levels, n_documents, n_topics = sums.shape
    if n_levels == 0:
        return
    mean = np.empty(n_topics)
    for d in range(n_documents):
        mean[:] = means[layout.parent[layout.level_start[n_shared] + d]]
        for lower in range(n_levels):
            level = n_shared + lower
            _descend(counts, parameters, level, layout.level_start[level] + d, mean)
            scale = 1.0 / mean.sum()
            for k in range(n_topics):
                sums[lower, d, k] += np.float32(mean[k] * scale)


@kernel
def add_mixtures(layout, assignments, means, sums):
    """Add, for each document, the mean of nu over the authors that its words chose.

    A document without words counts each of its authors once.
    """
    n_topics = means.shape[1]
    mean = np.empty(n_topics)
    for d in range(sums.shape[0]):
        begin, end = layout.document_start[d], layout.document_start[d + 1]
        first, last = layout.leaf_start[d], layout.leaf_start[d + 1]
        mean[:] = 0.0
        if end > begin:
            for i in range(begin, end):
                node = layout.leaf[first + assignments.path[i]]
                for k in range(n_topics):
                    mean[k] += means[node, k]
        else:
            for i in range(first, last):
                for k in range(n_topics):
                    mean[k] += means[layout.leaf[i], k]
        scale = 1.0 / mean.sum()
        for k in range(n_topics):
            sums[d, k] += np.float32(mean[k] * scale)


@kernel
def _citation_mean(n_shared, last, layout, counts, parameters, means, document, mean):
    """Fill the mean of a document on the level that citations see (theta')."""
    mean[:] = means[layout.parent[layout.level_start[n_shared] + document]]
    for level in range(n_shared, last):
        _descend(counts, parameters, level, layout.level_start[level] + document, mean)


@kernel
def add_citations(n_shared, last, layout, counts, parameters, means, sums):
    """Add p(y_ij = k) for every citation: lambdaT_k theta'_ik theta'_jk, normalised over k."""
    n_topics = means.shape[1]
    citing = np.empty(n_topics)
    cited = np.empty(n_topics)
    previous = -1
    for e in range(sums.shape[0]):
        i = layout.citing[e]
        if i != previous:
            _citation_mean(n_shared, last, layout, counts, parameters, means, i, citing)
            previous = i
        _citation_mean(n_shared, last, layout, counts, parameters, means, layout.cited[e], cited)
        total = 0.0
        for k in range(n_topics):
            cited[k] *= parameters.topic_scale[k] * citing[k]
            total += cited[k]
        for k in range(n_topics):
            sums[e, k] += np.float32(cited[k] / total)
