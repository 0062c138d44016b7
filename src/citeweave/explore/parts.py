"""Groups divided by levels such as venue, combined again: one row per author."""

from dataclasses import replace

import numpy as np

from citeweave.model import Groups

__all__ = ["join_parts"]


def join_parts(
    groups: Groups, topics: np.ndarray, spread: np.ndarray | None
) -> tuple[Groups, np.ndarray, np.ndarray | None]:
    """Combine the nodes of every author and category: their mean, weighted by papers.

    Parameters
    ----------
    groups : Groups
        Below levels that divide papers, an author has one node in each part.
    topics : ndarray, shape (B, K)
    spread : ndarray, shape (B, K), optional
        Standard deviations of the topics; nodes of different parts count as independent.

    Returns
    -------
    groups, topics, spread
        Unchanged if no node is divided; names are those of authors and categories only.
    """
    key = groups.kind.astype(np.int64) * (1 << 33) + groups.label
    found, place = np.unique(key, return_inverse=True)
    if len(found) == len(key):
        whole = groups if groups.above is None else replace(groups, above=None)
        return whole, topics, spread
    papers = np.bincount(place, weights=groups.documents, minlength=len(found))
    share = (groups.documents / np.maximum(papers, 1.0)[place])[:, None]
    first = np.lexsort((-groups.documents, place))
    first = first[np.unique(place[first], return_index=True)[1]]
    joined = replace(
        groups,
        kind=groups.kind[first],
        label=groups.label[first],
        documents=papers.astype(np.int32),
        of_document=place[groups.of_document].astype(np.int32),
        parent=groups.parent[first],
        above=None,
    )
    sums = np.zeros((len(found), topics.shape[1]))
    np.add.at(sums, place, share * topics)
    if spread is None:
        return joined, sums, None
    variance = np.zeros_like(sums)
    np.add.at(variance, place, np.square(share * spread))
    return joined, sums, np.sqrt(variance)
