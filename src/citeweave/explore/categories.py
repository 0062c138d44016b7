"""Categories: their topics in a supervised model, or what papers of each category are about."""

from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.explore.frames import Columns
from citeweave.explore.topics import mixture_columns, words_of

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["category_columns", "category_mass", "crosstab_columns", "nearest_category"]

_WORDS = 5


def category_mass(view: "Exploration") -> np.ndarray | None:
    """Add up theta' over the papers of each category [categories, K]."""
    corpus = view.corpus
    if not corpus.n_categories:
        return None
    known = np.flatnonzero(np.asarray(corpus.categories) >= 0)
    label = np.asarray(corpus.categories)[known]
    return np.stack(
        [
            np.bincount(label, weights=view.doc_topic[known, k], minlength=corpus.n_categories)
            for k in range(view.n_topics)
        ],
        axis=1,
    )


def nearest_category(view: "Exploration") -> list[tuple[str | None, float | None]] | None:
    """Return the category with the largest part of each topic, and how large that part is."""
    mass = view.category_mass
    if mass is None:
        return None
    names = view.corpus.category_names
    found: list[tuple[str | None, float | None]] = []
    for k in range(view.n_topics):
        total = mass[:, k].sum()
        best = int(mass[:, k].argmax())
        found.append((names[best], float(mass[best, k] / total)) if total > 0 else (None, None))
    return found


def _topics(view: "Exploration") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Topics of categories, their rows in the model's groups (-1: from papers), their papers."""
    mass = view.category_mass
    if mass is None:
        raise AssertionError
    corpus = view.corpus
    labels = np.asarray(corpus.categories)
    papers = np.bincount(labels[labels >= 0], minlength=corpus.n_categories)
    topics = mass / np.maximum(papers, 1)[:, None]
    rows = view.group_rows(1, corpus.n_categories)
    if view.group_topic is not None:
        known = rows >= 0
        topics[known] = view.group_topic[rows[known]]
    return topics, rows, papers


def category_columns(view: "Exploration") -> Columns:
    """Return the columns of the table of categories, the largest first."""
    view.require("categories")
    topics, rows, papers = _topics(view)
    order = np.argsort(-papers, kind="stable")
    order = order[papers[order] > 0]
    names = view.corpus.category_names
    words = words_of(view, _WORDS, 1.0)
    main = topics[order].argmax(axis=1)
    mixtures = []
    for c in order.tolist():
        spread = None
        if view.group_sd is not None and rows[c] >= 0:
            spread = np.asarray(view.group_sd[rows[c]])
        mixtures.append(view.mixture(topics[c], spread))
    columns: dict[str, tuple[str, Any]] = {
        "category": ("int", order),
        "name": ("text", [names[c] for c in order.tolist()]),
        "papers": ("int", papers[order]),
        "topic": ("int", main),
        "topic_name": ("text", [view.topic_name(k) for k in main.tolist()]),
        "weight": ("float", topics[order, main]),
        "topics_from": ("text", ["model" if row >= 0 else "papers" for row in rows[order]]),
        "words": ("texts", [[view.vocabulary[w] for w in words[k].tolist()] for k in main]),
        **mixture_columns(mixtures),
    }
    return columns


def crosstab_columns(view: "Exploration") -> Columns:
    """Return category by topic, one row per pair: share in the category, and papers it leads."""
    view.require("categories")
    mass = view.category_mass
    if mass is None:
        raise AssertionError
    labels = np.asarray(view.corpus.categories)
    known = labels >= 0
    n_topics = view.n_topics
    pairs = labels[known].astype(np.int64) * n_topics + view.dominant[known]
    papers = np.bincount(pairs, minlength=len(mass) * n_topics).reshape(mass.shape)
    order = view.order
    category = np.repeat(np.arange(len(mass)), len(order))
    topic = np.tile(order, len(mass))
    names = view.corpus.category_names
    totals = np.maximum(mass.sum(axis=1, keepdims=True), 1e-12)
    return {
        "category": ("int", category),
        "name": ("text", [names[c] for c in category.tolist()]),
        "topic": ("int", topic),
        "topic_name": ("text", [view.topic_name(k) for k in topic.tolist()]),
        "share": ("float", (mass / totals)[category, topic]),
        "papers": ("int", papers[category, topic]),
    }
