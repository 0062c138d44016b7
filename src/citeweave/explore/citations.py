"""Citations: the topics they are made for, and how they flow between topics."""

from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.explore.frames import Columns

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["citation_columns", "flow_by_citing_topic", "flow_columns", "flow_matrix", "interest"]

_CHUNK = 1 << 16
_SMALL = 0.5
"""Cells of the flow by citing topic with fewer expected citations than this are left out."""


def citation_columns(
    view: "Exploration", *, paper: int | None, top: int | None, probabilities: bool, titles: bool
) -> Columns:
    """Return the columns of the table of citations, with ``topic_k`` for each topic in use."""
    view.require("citations")
    topics = view.citing_topic
    if topics is None:  # for type checkers: `require` has raised
        raise AssertionError
    corpus = view.corpus
    rows = np.arange(len(topics))
    if paper is not None:
        d = view.check_paper(paper)
        rows = np.concatenate([view.outgoing[d], view.incoming[d]])
    else:
        rows = rows[np.argsort(-interest(view), kind="stable")]
    if top is not None:
        rows = rows[:top]
    citing, cited = np.asarray(corpus.citations[rows, 0]), np.asarray(corpus.citations[rows, 1])
    chosen = topics[rows]
    main = chosen.argmax(axis=1)
    names = [view.topic_name(k) if view.used[k] else "" for k in range(view.n_topics)]
    ids = corpus.ids
    columns: dict[str, tuple[str, Any]] = {
        "citation": ("int", rows),
        "citing": ("int", citing),
        "cited": ("int", cited),
        "citing_id": ("text", [ids[d] for d in citing.tolist()]),
        "cited_id": ("text", [ids[d] for d in cited.tolist()]),
    }
    if titles:
        columns["citing_title"] = ("text", [view.title(d) for d in citing.tolist()])
        columns["cited_title"] = ("text", [view.title(d) for d in cited.tolist()])
    columns["topic"] = ("int", main)
    columns["topic_name"] = ("text", [names[k] for k in main.tolist()])
    columns["probability"] = ("single", chosen[np.arange(len(rows)), main])
    if probabilities:
        for k in sorted(view.order):
            columns[f"topic_{k}"] = ("single", np.ascontiguousarray(chosen[:, k]))
    return columns


def interest(view: "Exploration") -> np.ndarray:
    """Rate how informative each citation is [citations].

    The influence of the cited paper times the dissimilarity of the topics of both papers: high
    where another field takes up an important paper. (Without influence: its number of citations.)
    """
    citations = np.asarray(view.corpus.citations)
    cited = view.cited_propensity
    weight = view.incoming.counts.astype(np.float64) if cited is None else np.asarray(cited)
    norms = np.maximum(np.linalg.norm(view.doc_topic, axis=1), np.finfo(float).tiny)
    out = np.empty(len(citations))
    for begin in range(0, len(citations), _CHUNK):
        part = citations[begin : begin + _CHUNK]
        both = (view.doc_topic[part[:, 0]] * view.doc_topic[part[:, 1]]).sum(axis=1)
        alike = both / (norms[part[:, 0]] * norms[part[:, 1]])
        out[begin : begin + _CHUNK] = weight[part[:, 1]] * (1.0 - np.minimum(alike, 1.0))
    return out


def flow_matrix(view: "Exploration") -> np.ndarray:
    """Add up citations from topic to topic [K, K]: theta' of the citing times that of the cited.

    NumPy: ``theta[citing].T @ theta[cited]``, in pieces.
    """
    citations = view.corpus.citations
    out = np.zeros((view.n_topics, view.n_topics))
    for begin in range(0, len(citations), _CHUNK):
        part = citations[begin : begin + _CHUNK]
        out += view.doc_topic[part[:, 0]].T @ view.doc_topic[part[:, 1]]
    return out


def flow_by_citing_topic(view: "Exploration", topics: np.ndarray) -> np.ndarray:
    """Divide the flow by the topic of citations [K topic, K citing, K cited].

    NumPy: ``einsum("ey,ei,ej->yij", topics, theta[citing], theta[cited])``, in pieces.
    """
    citations = view.corpus.citations
    n = view.n_topics
    out = np.zeros((n * n, n))
    step = max(_CHUNK // n, 1)  # the product of two vectors a citation is the largest array
    for begin in range(0, len(citations), step):
        part = citations[begin : begin + step]
        pairs = topics[begin : begin + step, :, None] * view.doc_topic[part[:, 0], None, :]
        out += pairs.reshape(len(part), n * n).T @ view.doc_topic[part[:, 1]]
    return out.reshape(n, n, n)


def flow_columns(view: "Exploration", *, by_citing_topic: bool) -> Columns:
    """Return the columns of the flow: one row per pair of topics (and citing topic)."""
    matrix = view.flow_matrix
    if matrix is None:
        view.require("citations")  # says why, unless the model has no citing topics alone
        raise AssertionError
    order = view.order
    if by_citing_topic:
        return _flow_by_citing_topic(view, order)
    part = matrix[np.ix_(order, order)]
    total = part.sum()
    expected = np.outer(part.sum(axis=1), part.sum(axis=0)) / total if total > 0 else part
    source, target = (grid.ravel() for grid in np.meshgrid(order, order, indexing="ij"))
    out = part.sum(axis=1, keepdims=True)
    return {
        "citing_topic": ("int", source),
        "cited_topic": ("int", target),
        "citing_name": ("text", [view.topic_name(k) for k in source.tolist()]),
        "cited_name": ("text", [view.topic_name(k) for k in target.tolist()]),
        "citations": ("float", part.ravel()),
        "share": ("float", (part / np.where(out > 0, out, 1.0)).ravel()),
        "expected": ("float", expected.ravel()),
        "lift": ("float", (part / np.where(expected > 0, expected, 1.0)).ravel()),
    }


def _flow_by_citing_topic(view: "Exploration", order: list[int]) -> Columns:
    view.require("citations")
    topics = view.citing_topic
    if topics is None:
        raise AssertionError
    cube = flow_by_citing_topic(view, topics)[order]
    row, i, j = np.nonzero(cube >= _SMALL)
    reason = np.array(order, np.int64)[row]
    return {
        "made_for": ("int", reason),
        "citing_topic": ("int", i),
        "cited_topic": ("int", j),
        "made_for_name": ("text", [view.topic_name(k) for k in reason.tolist()]),
        "citing_name": ("text", [view.topic_name(k) for k in i.tolist()]),
        "cited_name": ("text", [view.topic_name(k) for k in j.tolist()]),
        "citations": ("float", cube[row, i, j]),
    }
