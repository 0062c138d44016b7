"""The course of a literature: who cites whom among its most cited papers, and its main path."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from citeweave.corpus import Corpus
from citeweave.corpus.columns import years_of
from citeweave.errors import NotFoundError
from citeweave.networks.clusters import cluster
from citeweave.networks.counting import check_number
from citeweave.networks.network import WeightedNetwork
from citeweave.networks.papers import (
    citations_got,
    need_citations,
    paper_label,
    paper_name,
)

__all__ = ["historiograph", "main_path", "search_path_counts"]


def historiograph(
    corpus: Corpus,
    *,
    top: int = 40,
    min_size: int = 0,
    resolution: float = 1.0,
    seed: int = 0,
) -> WeightedNetwork:
    """Link the most cited papers of a corpus by their citations, for a chronological drawing.

    As in Garfield's HistCite, nodes are the papers most cited by papers of the corpus (the local
    citation score) and links are the citations among them.

    Parameters
    ----------
    corpus : Corpus
        With citations and years.
    top : int
        Maximum number of papers.
    min_size : int
        Leave out papers with fewer citations in the corpus.
    resolution, seed
        Options of the clustering; see `citeweave.networks.cluster`.

    Returns
    -------
    WeightedNetwork
        Directed, from citing to cited papers; every weight is 1.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.networks import historiograph
    >>> network = historiograph(citeweave.example_corpus(), top=10)
    >>> len(network.names) <= 10, network.directed
    (True, True)
    """
    check_number("top", top, 1)
    check_number("min_size", min_size, 0)
    need_citations(corpus, "historiograph")
    years = years_of(corpus)
    if not (years > 0).any():
        raise NotFoundError("There is no historiograph: the papers of the corpus have no years.")
    got = citations_got(corpus)
    fit = np.flatnonzero((got >= max(min_size, 1)) & (years > 0))
    chosen = np.sort(fit[np.lexsort((fit, -got[fit]))[:top]])
    notes = []
    if len(chosen) < len(fit):
        notes.append(f"{len(chosen):,} of {len(fit):,} cited papers are chosen, by citations.")
    undated = int(((got > 0) & (years == 0)).sum())
    if undated:
        notes.append(f"{undated:,} cited papers without a year are left out.")
    network = _citations_among(corpus, chosen, years)
    if not len(network.links):
        raise NotFoundError(
            "There is nothing to draw of historiograph: none of its papers cites another; choose "
            "more papers."
        )
    linked = replace(
        network,
        kind="historiograph",
        title="The most cited papers in chronological order",
        notes=tuple(notes),
    ).linked()
    return cluster(linked, resolution=resolution, seed=seed)


def main_path(corpus: Corpus, *, top: int = 10) -> WeightedNetwork:
    """Find the main paths of a citation network: those that carry the most search paths.

    Starting from the citations with the largest search path counts, each path is followed back to a
    paper that cites nothing in the corpus and forward to one that is not cited, always along the
    largest count: the key-route main paths of Liu and Lu (2012).

    Parameters
    ----------
    corpus : Corpus
        With citations; years, if known, order the picture.
    top : int
        Number of citations to start from.

    Returns
    -------
    WeightedNetwork
        Directed, from citing to cited papers. A weight is the search path count relative to the
        largest; `main` marks the path through the largest.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.networks import main_path
    >>> network = main_path(citeweave.example_corpus(), top=3)
    >>> float(network.weights.max()), bool(network.main.any())
    (1.0, True)
    """
    check_number("top", top, 1)
    need_citations(corpus, "main path")
    years = years_of(corpus)
    ends, logs = search_path_counts(corpus)
    order = np.argsort(-logs, kind="stable")
    forth = _best_at(ends[:, 1], logs, corpus.n_documents)  # of those that cite a paper
    back = _best_at(ends[:, 0], logs, corpus.n_documents)  # of those that a paper cites
    used = np.zeros(len(ends), bool)
    first = np.zeros(len(ends), bool)
    for number, key in enumerate(order[:top].tolist()):
        for start, best, side in ((key, back, 1), (key, forth, 0)):
            link = start
            while link >= 0:
                used[link] = True
                first[link] |= number == 0
                link = int(best[ends[link, side]])
    rows = np.flatnonzero(used)
    papers, places = np.unique(ends[rows], return_inverse=True)
    network = _nodes(corpus, papers, years)
    links = places.reshape(-1, 2)
    weights = np.exp(logs[rows] - logs.max())
    dropped = corpus.n_citations - len(ends)
    notes = [f"Paths through the {min(top, len(ends)):,} citations of the largest counts."]
    if dropped:
        notes.append(f"{dropped:,} citations that close circles of papers are left out.")
    found = replace(
        network,
        kind="main-path",
        title="The main paths of the literature",
        links=links,
        counts=weights,
        weights=weights,
        main=first[rows],
        notes=tuple(notes),
    )
    return cluster(found)


def search_path_counts(corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """Count the search paths through each citation, as logarithms.

    A search path leads along citations from a paper that is not cited to one that cites nothing.
    The count of a citation is the number of paths into its citing paper times the number of paths
    out of its cited paper (Batagelj 2003), found in one pass in each direction. Where papers cite
    each other in a cycle, paths would be endless: citations that close a cycle are left out, first
    those of later papers, then those of papers that cite less and are cited more within the cycle.

    Returns
    -------
    ends : ndarray of int, shape (m, 2)
        Citing and cited paper of each citation that remains.
    logs : ndarray, shape (m,)
        Logarithm of its count: counts exceed the range of any number type.

    Examples
    --------
    >>> corpus = Corpus.from_lists(
    ...     tokens=[["a"]] * 4, citations=[(1, 0), (2, 0), (3, 1), (3, 2), (3, 0)]
    ... )
    >>> ends, logs = search_path_counts(corpus)
    >>> {tuple(e): round(float(np.exp(x))) for e, x in zip(ends.tolist(), logs)}
    {(1, 0): 1, (2, 0): 1, (3, 0): 1, (3, 1): 1, (3, 2): 1}
    """
    ends = _without_circles(np.asarray(corpus.citations, np.int64), years_of(corpus))
    total = corpus.n_documents
    inward = _paths(ends[:, 0], ends[:, 1], total)
    outward = _paths(ends[:, 1], ends[:, 0], total)
    return ends, inward[ends[:, 0]] + outward[ends[:, 1]]


def _without_circles(ends: np.ndarray, years: np.ndarray) -> np.ndarray:
    """Leave out citations that close a circle."""
    backwards = years[ends[:, 0]] < years[ends[:, 1]]
    ends = ends[~(backwards & (years[ends[:, 0]] > 0) & _in_circles(ends, len(years)))]
    inside = _in_circles(ends, len(years))
    rows = ends[inside]
    citing = np.bincount(rows[:, 0], minlength=len(years))
    cited = np.bincount(rows[:, 1], minlength=len(years))
    rank = np.empty(len(years), np.int64)
    rank[np.argsort(citing - cited, kind="stable")] = np.arange(len(years))
    return np.asarray(ends[~inside | (rank[ends[:, 0]] > rank[ends[:, 1]])])


def _in_circles(ends: np.ndarray, total: int) -> np.ndarray:
    """Return which citations are within a strongly connected component, shape (m,)."""
    table: Any = sparse.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), (total, total))
    _, part = connected_components(table, directed=True, connection="strong")
    return np.asarray(part[ends[:, 0]] == part[ends[:, 1]])


def _paths(begin: np.ndarray, end: np.ndarray, total: int) -> np.ndarray:
    """Logarithm of the number of paths that reach each node from the sources, shape (total,)."""
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], end[order]
    starts = np.searchsorted(begin, np.arange(total + 1))
    waiting = np.bincount(end, minlength=total)
    logs = np.full(total, -np.inf)
    front = np.flatnonzero(waiting == 0)
    logs[front] = 0.0
    while len(front):  # a layer of papers all of whose paths are known at a time
        number = starts[front + 1] - starts[front]
        within = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        links = np.repeat(starts[front], number) + within
        np.logaddexp.at(logs, end[links], logs[begin[links]])
        reached, times = np.unique(end[links], return_counts=True)
        waiting[reached] -= times
        front = reached[waiting[reached] == 0]
    return logs


def _best_at(nodes: np.ndarray, logs: np.ndarray, total: int) -> np.ndarray:
    """Find the link with the largest count at each node, -1 where it has none, shape (total,)."""
    best = np.full(total, -1, np.int64)
    order = np.lexsort((-np.arange(len(nodes)), logs))  # of equal ones the first
    best[nodes[order]] = order
    return best


def _nodes(corpus: Corpus, papers: np.ndarray, years: np.ndarray) -> WeightedNetwork:
    """Make a network of papers without links."""
    numbers = papers.tolist()
    return WeightedNetwork(
        kind="citations",
        of="paper",
        names=tuple(paper_name(corpus, d) for d in numbers),
        labels=tuple(paper_label(corpus, d, int(years[d])) for d in numbers),
        keys=papers,
        papers=sparse.eye_array(corpus.n_documents, format="csr")[:, papers],
        sizes=citations_got(corpus)[papers].astype(float),
        size_name="citations",
        links=np.empty((0, 2), np.int64),
        counts=np.empty(0),
        weights=np.empty(0),
        years=np.where(years[papers] > 0, years[papers].astype(float), np.nan),
        directed=True,
    )


def _citations_among(corpus: Corpus, papers: np.ndarray, years: np.ndarray) -> WeightedNetwork:
    place = np.full(corpus.n_documents, -1)
    place[papers] = np.arange(len(papers))
    citations = np.asarray(corpus.citations, np.int64)
    inside = (place[citations] >= 0).all(axis=1)
    rows = citations[inside]
    ones = np.ones(len(rows))
    return replace(_nodes(corpus, papers, years), links=place[rows], counts=ones, weights=ones)
