"""Networks of a corpus: things that occur together, the largest chosen, weighted and clustered."""

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import NotFoundError
from citeweave.naming import choice, option
from citeweave.networks.clusters import cluster
from citeweave.networks.counting import (
    check_choice,
    check_number,
    co_occurrence,
    similarity,
)
from citeweave.networks.network import WeightedNetwork, several
from citeweave.networks.papers import mean_years
from citeweave.networks.sources import SOURCES, Occurrences, SourceOptions

__all__ = ["TOP", "network_of"]

TOP = 100
RELEVANT = 0.6
"""Part of the most frequent words that are kept as the most telling ones, as VOSviewer does."""


def network_of(
    corpus: Corpus,
    kind: str,
    *,
    top: int = TOP,
    min_size: int = 0,
    min_count: float = 0.0,
    counting: str = "full",
    weight: str = "association",
    max_members: int | None = 100,
    terms: str = "auto",
    resolution: float = 1.0,
    seed: int = 0,
) -> WeightedNetwork:
    """Build a network of items that occur together in a corpus, with clusters.

    Parameters
    ----------
    corpus : Corpus
    kind : str
        ``co-citation``: papers cited together. ``coupling``, ``author-coupling``: papers or authors
        that cite the same papers. ``co-words``: words that occur together. ``co-cited-works``:
        works cited together, including works outside the corpus. ``co-authors``,
        ``co-institutions``, ``co-countries``: those that write papers together.
    top : int
        Maximum number of nodes, those with the largest sizes; for ``coupling``, those that share
        most.
    min_size : int
        Leave out papers with fewer citations in the corpus, or words and authors with fewer papers.
    min_count : float
        Leave out links with a smaller count.
    counting : {"full", "fractional"}
        See `citeweave.networks.counting.co_occurrence`.
    weight : {"association", "raw", "salton", "jaccard", "equivalence"}
        See `citeweave.networks.counting.similarity`.
    max_members : int, optional
        In networks of authors, institutions or countries, leave out papers with more of them; None
        for no limit.
    terms : {"auto", "keywords", "text"}
        For ``co-words``: by default keywords if the corpus has any, otherwise words of the text.
    resolution, seed
        Options of the clustering; see `citeweave.networks.cluster`.

    Returns
    -------
    WeightedNetwork

    Raises
    ------
    NotFoundError
        The corpus lacks the data for the network, or nothing is left of it.

    Examples
    --------
    >>> corpus = Corpus.from_lists(
    ...     tokens=[["a"], ["b"], ["c"], ["d"]], citations=[(2, 0), (2, 1), (3, 0), (3, 1)]
    ... )
    >>> network = network_of(corpus, "co-citation", weight="raw")
    >>> network.keys.tolist(), network.links.tolist(), network.counts.tolist()
    ([0, 1], [[0, 1]], [2.0])
    """
    check_choice("kind", kind, tuple(SOURCES))
    check_number("top", top, 1)
    check_number("min_size", min_size, 0)
    source = SOURCES[kind](corpus, SourceOptions(counting, max_members, terms))
    chosen, notes = _choose(source, top, min_size, counting)
    links, counts = co_occurrence(source.table, chosen, counting=counting)
    strong = counts >= min_count
    links, counts = links[strong], counts[strong]
    if not len(links):
        raise NotFoundError(_empty(kind, min_size, min_count))
    occurrences = np.asarray(source.table.sum(axis=0))[chosen]
    names = [source.name(thing) for thing in chosen.tolist()]
    found = WeightedNetwork(
        kind=kind,
        of=source.of,
        names=tuple(name for name, _ in names),
        labels=tuple(label for _, label in names),
        keys=chosen,
        sizes=source.sizes[chosen],
        size_name=source.size_name,
        links=links,
        counts=counts,
        weights=similarity(links, counts, occurrences, weight=weight),
        years=mean_years(corpus, source.papers[:, chosen]),
        papers=source.papers[:, chosen],
        title=source.title,
        notes=(*source.notes, *notes),
    )
    return cluster(found.linked(), resolution=resolution, seed=seed)


def _choose(
    source: Occurrences, top: int, min_size: int, counting: str
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Pick the things to be shown, in rising order of their numbers; also a note on the others."""
    fit = np.flatnonzero((source.rank > 0) & (source.sizes >= min_size))
    order = fit[np.lexsort((fit, -source.rank[fit]))]
    chosen = order[:top]
    if source.relevant and len(order) > top:
        frequent = np.sort(order[: round(top / RELEVANT)])
        telling = relevance(source, frequent, counting)
        chosen = frequent[np.lexsort((frequent, -telling))[:top]]
        how = f"the most telling of the {len(frequent):,} most frequent"
    elif source.rank is source.sizes:
        how = f"by {source.size_name}"
    else:
        how = "those that share most"
    if len(chosen) == len(order):
        return np.sort(chosen), ()
    note = f"{len(chosen):,} of {len(order):,} {several(source.of)} are chosen, {how}."
    return np.sort(chosen), (note,)


def relevance(source: Occurrences, things: np.ndarray, counting: str = "full") -> np.ndarray:
    """Measure how far the co-occurrences of a word differ from those of all words, shape (n,).

    It is the Kullback-Leibler divergence between the two, by which van Eck and Waltman (2011)
    select terms: a word that occurs with everything says little.
    """
    links, counts = co_occurrence(source.table, things, counting=counting)
    both = np.concatenate((links, links[:, ::-1]))
    counts = np.concatenate((counts, counts))
    totals = np.bincount(both[:, 0], counts, len(things))
    overall = totals / max(float(totals.sum()), np.finfo(float).tiny)
    share = counts / totals[both[:, 0]]
    terms = share * np.log(share / overall[both[:, 1]])
    return np.bincount(both[:, 0], terms, len(things))


def _empty(kind: str, min_size: int, min_count: float) -> str:
    reason = f"There is nothing to draw of {kind}: no two of its nodes occur together"
    limits = [
        f"{option(name)} {value:g}"
        for name, value, none in (("min_size", min_size, 0), ("min_count", min_count, 0.0))
        if value > none
    ]
    if limits:
        smaller = choice("smaller values", "smaller ones")
        return f"{reason} with {' and '.join(limits)}; try {smaller}."
    return f"{reason} in this corpus."
