"""Citations: the topics they are made for, and how they flow between topics."""

from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.explore.frames import Columns

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["citation_columns", "flow_columns", "flow_matrix"]

_CHUNK = 1 << 16
_SMALL = 0.5
"""Cells of the flow by citing topic with fewer expected citations than this are left out."""


def citation_columns(
    view: "Exploration", *, paper: int | None, top: int | None, probabilities: bool, titles: bool
) -> Columns:
    """Columns of the table of citations; a column ``topic_k`` for each topic in use."""
    view.require("citations")
    topics = view.citing_topic
    if topics is None:  # for type checkers: `require` has raised
        raise AssertionError
    corpus = view.corpus
    rows = np.arange(len(topics))
    if paper is not None:
        d = view.check_paper(paper)
        rows = np.concatenate([view.outgoing[d], view.incoming[d]])
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


def flow_matrix(view: "Exploration", weights: np.ndarray | None = None) -> np.ndarray:
    """Citations from topic to topic [K, K]: sums of theta' of the citing times that of the cited.

    With ``weights`` [E] each citation counts so much. NumPy: ``(theta[i] * w[:, None]).T @
    theta[j]``, in pieces.
    """
    citations = view.corpus.citations
    out = np.zeros((view.n_topics, view.n_topics))
    for begin in range(0, len(citations), _CHUNK):
        part = citations[begin : begin + _CHUNK]
        source = view.doc_topic[part[:, 0]].astype(np.float64)
        if weights is not None:
            source *= weights[begin : begin + _CHUNK, None]
        out += source.T @ view.doc_topic[part[:, 1]]
    return out


def flow_columns(view: "Exploration", *, by_citing_topic: bool) -> Columns:
    """Columns of the flow: a row for each pair of topics (and citing topic, if asked for)."""
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
    made_for, source, target, number = [], [], [], []
    for y in order:
        part = flow_matrix(view, np.asarray(topics[:, y], np.float64))
        rows, columns = np.nonzero(part >= _SMALL)
        made_for.append(np.full(len(rows), y))
        source.append(rows)
        target.append(columns)
        number.append(part[rows, columns])
    y, i, j = (np.concatenate(parts) for parts in (made_for, source, target))
    return {
        "made_for": ("int", y),
        "citing_topic": ("int", i),
        "cited_topic": ("int", j),
        "made_for_name": ("text", [view.topic_name(k) for k in y.tolist()]),
        "citing_name": ("text", [view.topic_name(k) for k in i.tolist()]),
        "cited_name": ("text", [view.topic_name(k) for k in j.tolist()]),
        "citations": ("float", np.concatenate(number)),
    }
