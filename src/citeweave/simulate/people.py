"""Authors of documents, and the group b from which a document's topics come."""

import numpy as np

from citeweave.corpus.check import remove_repeats

__all__ = ["add_coauthors", "choose_groups", "draw_first_authors", "draw_labels"]

_TEAM_SIZES = (0.35, 0.30, 0.20, 0.15)  # shares of documents with 1, 2, 3 and 4 authors
_BLOCK = 10_000


def draw_first_authors(
    documents: int, authors: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw each document's dominant author, and the authors' productivity weights.

    If there are enough documents, every author is first author of one; the others are assigned by a
    heavy-tailed (Pareto) productivity.
    """
    weights = rng.pareto(1.5, authors) + 0.2
    if authors >= documents:
        return rng.permutation(authors)[:documents], weights
    running = np.cumsum(weights)
    places = np.searchsorted(running, rng.random(documents - authors) * running[-1], side="right")
    first = np.concatenate((np.arange(authors), np.minimum(places, authors - 1)))
    return rng.permutation(first), weights


def choose_groups(first: np.ndarray, authors: int, eta: float) -> np.ndarray:
    """Mark the documents whose first author is significant, with at least `eta` documents."""
    return np.asarray(np.bincount(first, minlength=authors)[first] >= eta)


def draw_labels(
    doc_topic: np.ndarray,
    category_topic: np.ndarray,
    shares: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw a category for documents whose topics come from elsewhere.

    A topic k ~ theta'_d is drawn, then category e with probability proportional to
    shares_e nu_ek: the label of a category's document that used topic k.
    """
    topics = _draw_topics(doc_topic, np.arange(len(doc_topic)), rng)
    by_topic = np.cumsum(shares[:, None] * category_topic, axis=0, dtype=np.float64)
    by_topic /= by_topic[-1]
    labels = np.empty(len(doc_topic), dtype=np.int64)
    for k in np.unique(topics):
        chosen = topics == k
        places = np.searchsorted(by_topic[:, k], rng.random(chosen.sum()), side="right")
        labels[chosen] = np.minimum(places, len(shares) - 1)
    return labels


def _draw_topics(vectors: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a topic from `vectors[r]` for each r of `rows`, in blocks to save memory."""
    topics = np.empty(len(rows), dtype=np.int64)
    for begin in range(0, len(rows), _BLOCK):
        running = np.cumsum(vectors[rows[begin : begin + _BLOCK]], axis=1, dtype=np.float64)
        draws = rng.random(len(running)) * running[:, -1]
        topics[begin : begin + _BLOCK] = (running <= draws[:, None]).sum(axis=1)
    return np.asarray(np.minimum(topics, vectors.shape[1] - 1))


def add_coauthors(
    first: np.ndarray, author_topic: np.ndarray, weights: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Add zero to three further authors, who share topics with the first, to each document.

    A topic k ~ nu of the first author is drawn, then an author with probability proportional to
    productivity times nu_ak. Returns author ids and offsets; the model uses only first authors.
    """
    documents, n_authors = len(first), len(author_topic)
    sizes = rng.choice(len(_TEAM_SIZES), size=documents, p=_TEAM_SIZES)
    leaders = np.repeat(first, sizes)
    topics = _draw_topics(author_topic, leaders, rng)
    partners = np.empty(len(leaders), dtype=np.int64)
    for k in np.unique(topics):
        chosen = topics == k
        by_author = np.cumsum(weights * author_topic[:, k], dtype=np.float64)
        draws_k = rng.random(chosen.sum()) * by_author[-1]
        places = np.searchsorted(by_author, draws_k, side="right")
        partners[chosen] = np.minimum(places, n_authors - 1)
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes + 1)))
    ids = np.empty(offsets[-1], dtype=np.int64)
    leading = np.zeros(offsets[-1], dtype=bool)
    leading[offsets[:-1]] = True
    ids[leading] = first
    ids[~leading] = partners
    ids, offsets, _ = remove_repeats(ids, offsets, n_authors)
    return ids, offsets
