"""Initial clusters of documents: k-means on words, smoothed over citations.

Documents are clustered by the direction of their words (spherical k-means), smoothed over
citations (`citeweave.model.embedding`). Clusters for initial topics use words carried four steps;
those for initial categories use words carried near and far alike, with more or less emphasis on
words that go along with citations (`citeweave.model.word_emphasis`), and are corrected for the
directions in which clusters are wide (`citeweave.model.discriminant`).
"""

from typing import NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.model.consensus import consensus_memberships
from citeweave.model.discriminant import correct_clusters
from citeweave.model.embedding import (
    DIMENSIONS,
    EmbeddedWords,
    SmoothedWords,
    embed_words,
    smooth_words,
)

__all__ = ["Clusters", "agreed_clusters", "cluster_documents", "grow_clusters"]

SMOOTHING = 4
"""Steps along citations that words are carried for initial topics."""
RESTARTS = 3
AGREEING = 240
"""Number of runs whose consensus gives the initial categories, in corpora of up to `ORDINARY` size.
With more runs, other seeds give more similar clusters."""
ORDINARY = 25_000
"""Papers times categories, to which the time of a run is proportional."""
LEAST_AGREEING = 20
EMPHASES = (0.0, 0.25, 0.5)
"""Powers of the autocorrelation of words along citations by which words are multiplied."""
CONSENSUS_STARTS = 25
"""Number of these runs that the search for the consensus begins with."""
MOST_ROUNDS = 30


class Clusters(NamedTuple):
    """Result of k-means."""

    closeness: float
    """Mean cosine of documents with the centre of their cluster."""
    labels: np.ndarray
    """int64 [D]."""
    centres: np.ndarray
    """float64 [V, clusters], each of length 1."""
    scores: np.ndarray
    """float64 [D, clusters]: cosines of documents with all centres."""


def grow_clusters(smoothed: SmoothedWords, known: np.ndarray) -> Clusters:
    """Grow clusters around known documents (-1: unknown); every cluster has at least one."""
    return _k_means(smoothed, _members(known, int(known.max()) + 1), known)


def cluster_documents(
    corpus: Corpus, clusters: int, rng: np.random.Generator, *, known: np.ndarray | None = None
) -> np.ndarray:
    """Cluster the documents of a corpus by words and citations, by spherical k-means.

    The best of a few runs is taken, each initialised by k-means++.

    Parameters
    ----------
    corpus : Corpus
    clusters : int
        Maximum number of clusters; never more than documents.
    rng : Generator
    known : ndarray of int, shape (D,), optional
        Clusters of documents that are known and kept, -1 for the others.

    Returns
    -------
    ndarray of int, shape (D,)

    Examples
    --------
    >>> corpus = Corpus.from_lists(tokens=[["sun", "moon"], ["sun", "star"], ["oak", "elm"]] * 4)
    >>> found = cluster_documents(corpus, 2, np.random.default_rng(1))
    >>> found.shape, len(set(found[[0, 1, 3]])), bool(found[0] != found[2])
    ((12,), 1, True)
    """
    smoothed, sketch = smooth_words(corpus, rng, (SMOOTHING,))
    if known is None or not len(known):
        known = np.full(corpus.n_documents, -1)
    return _best_run(smoothed, sketch, clusters, rng, known, restarts=RESTARTS)


def agreed_clusters(
    corpus: Corpus, clusters: int, rng: np.random.Generator, *, known: np.ndarray
) -> np.ndarray:
    """Return the clusters that several runs of k-means agree on, by words carried near and far.

    Runs differ in their initial centres, and in how much they emphasise words that go along with
    citations. If every cluster has known documents, there are no centres to draw, and one run for
    each emphasis is enough. A step of linear discriminant analysis then corrects the clusters;
    known documents keep theirs.

    Examples
    --------
    >>> corpus = Corpus.from_lists(tokens=[["sun", "moon"], ["sun", "star"], ["oak", "elm"]] * 4)
    >>> nobody = np.full(12, -1)
    >>> found = agreed_clusters(corpus, 2, np.random.default_rng(1), known=nobody)
    >>> len(set(found[[0, 1, 3]])), bool(found[0] != found[2])
    (1, True)
    """
    views = [
        embed_words(smooth_words(corpus, rng, emphasis=power)[0], rng, max(DIMENSIONS, clusters))
        for power in (EMPHASES if len(corpus.citations) else EMPHASES[:1])
    ]
    differ = int(known.max(initial=-1)) + 1 < clusters
    number = _agreeing(corpus.n_documents, clusters) if differ else len(views)
    # in turns, so that the runs with which the consensus begins are of all kinds
    turns = [views[run % len(views)] for run in range(number)]
    runs = [_best_run(view, view.rows, clusters, rng, known, restarts=1) for view in turns]
    members = [np.eye(clusters)[found] for found in runs]
    classes = consensus_memberships(members, starts=_starts(corpus.n_documents, clusters))
    agreed = np.where(known >= 0, known, classes.argmax(axis=1))
    corrected = correct_clusters([view.rows for view in views], agreed, clusters)
    return np.where(known >= 0, known, corrected)


def _agreeing(documents: int, clusters: int) -> int:
    """Choose the number of runs: fewer if each takes long, in proportion to D C.

    Examples
    --------
    >>> _agreeing(3_000, 7), _agreeing(20_000, 3), _agreeing(1_000_000, 60)
    (240, 100, 20)
    """
    most = AGREEING * ORDINARY // (documents * clusters)
    return int(np.clip(most, LEAST_AGREEING, AGREEING))


def _starts(documents: int, clusters: int) -> int:
    """Choose the number of runs that the consensus begins with; time per run grows as D C^2.

    Examples
    --------
    >>> _starts(3_000, 7), _starts(20_000, 20), _starts(1_000_000, 60)
    (25, 12, 1)
    """
    cost = documents * clusters**2
    return int(np.clip(CONSENSUS_STARTS * 4 * 10**6 // cost, 1, CONSENSUS_STARTS))


def _best_run(
    rows: SmoothedWords | EmbeddedWords,
    sketch: np.ndarray,
    clusters: int,
    rng: np.random.Generator,
    known: np.ndarray,
    *,
    restarts: int,
) -> np.ndarray:
    """Run k-means several times and return the clusters that documents are closest to [D]."""
    documents = len(sketch)
    clusters = min(clusters, documents)
    best, labels = -np.inf, np.zeros(documents, np.int64)
    centred = int(known.max(initial=-1)) + 1  # clusters whose centres come from known documents
    for _ in range(restarts if centred < clusters else 1):
        first = known.copy()
        drawn = np.zeros(0, np.int64)
        if centred < clusters:
            taken = np.flatnonzero(known >= 0)
            drawn = _first_centres(sketch, clusters - centred, rng, taken)
        first[drawn] = centred + np.arange(len(drawn))
        found = _k_means(rows, _members(first, centred + len(drawn)), known)
        if found.closeness > best:
            best, labels = found.closeness, found.labels
    return labels


def _first_centres(
    sketch: np.ndarray, clusters: int, rng: np.random.Generator, taken: np.ndarray
) -> np.ndarray:
    """Choose documents far from each other and from those given, by k-means++ on sketches."""
    chosen = [] if len(taken) else [int(rng.integers(len(sketch)))]
    near = np.full(len(sketch), 2.0)
    for d in taken.tolist():
        near = np.minimum(near, _distance(sketch, d))
    while len(chosen) < clusters:
        if chosen:
            near = np.minimum(near, _distance(sketch, chosen[-1]))
        near[chosen] = 0.0
        near[taken] = 0.0
        total = np.cumsum(near)
        if total[-1] == 0.0:
            break
        chosen.append(int(np.searchsorted(total, rng.random() * total[-1], side="right")))
    return np.array(chosen, np.int64)


def _distance(sketch: np.ndarray, document: int) -> np.ndarray:
    """Compute the squared distance of all documents to one, for sketches of length 1."""
    likeness = np.einsum("dr,r->d", sketch, sketch[document])
    return np.asarray(np.maximum(2.0 - 2.0 * likeness, 0.0))


def _members(labels: np.ndarray, clusters: int) -> np.ndarray:
    """Return the clusters of documents as columns of 0 and 1; none for a label of -1."""
    out = np.zeros((len(labels), clusters))
    chosen = labels >= 0
    out[chosen, labels[chosen]] = 1.0
    return out


def _directions(centres: np.ndarray) -> np.ndarray:
    """Divide columns by their lengths."""
    length = np.sqrt(np.einsum("vk,vk->k", centres, centres))
    return np.asarray(centres / np.maximum(length, 1e-300))


def _k_means(
    rows: SmoothedWords | EmbeddedWords, member: np.ndarray, known: np.ndarray
) -> Clusters:
    """Alternate between documents and centres until neither changes.

    ``member`` [documents, clusters] gives the documents of the initial centres, and is overwritten.
    """
    documents = len(member)
    labels = np.full(documents, -1)
    for _ in range(MOST_ROUNDS):
        centres = _directions(rows.sums(member))
        scores = rows.scores(centres)
        found = np.where(known >= 0, known, scores.argmax(axis=1))
        if np.array_equal(found, labels):
            break
        labels = found
        closeness = scores[np.arange(documents), labels]
        member[:] = 0.0
        member[np.arange(documents), labels] = 1.0
        empty = np.flatnonzero(~member.any(axis=0))
        if len(empty):  # the documents that fit worst become centres of their own
            alone = np.argsort(np.where(known >= 0, np.inf, closeness), kind="stable")[: len(empty)]
            member[alone, empty] = 1.0
    return Clusters(float(closeness.mean()), labels, centres, scores)
