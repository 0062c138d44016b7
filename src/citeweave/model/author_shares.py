"""Papers of several authors: which nodes may serve their tables, and whose share that is."""

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from citeweave.corpus import Corpus
from citeweave.engines.core.data import NO_SERVERS, Servers
from citeweave.parameters.scntm import SHARES_BY_POSITION

__all__ = [
    "AuthorEntries",
    "AuthorShares",
    "author_entries",
    "beta_interval",
    "find_servers",
    "share_out",
]


class AuthorEntries(NamedTuple):
    """The node that represents each author of each paper; entries as in ``corpus.author_ids``."""

    document: np.ndarray
    """int64 [entries]."""
    is_author: np.ndarray
    """bool [entries]: True for the author, False for the paper's category."""
    label: np.ndarray
    """int64 [entries]: id of the author or category; -1 if no node represents the author."""


class AuthorShares(NamedTuple):
    """The servers of papers, and how authors' shares follow from theirs."""

    servers: Servers
    entry: np.ndarray
    """int64 [entries]: the server that represents an author, -1 if the paper has a single node."""
    part: np.ndarray
    """float64 [entries]: the author's part of that server's share, or of the paper."""


def author_entries(corpus: Corpus, nodes: str, eta: float) -> AuthorEntries:
    """Find the node that represents each author: their own, or the category of the paper.

    Parameters
    ----------
    corpus : Corpus
    nodes : {"author", "group"}
        Kind of nodes on the level above papers.
    eta : float
        Minimum number of papers of an author on a ``group`` level; below it, the category is used.
    """
    document = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.author_offsets))
    author = np.asarray(corpus.author_ids, np.int64)
    if nodes == "author" or eta == 0:
        return AuthorEntries(document, np.ones(len(author), bool), author)
    pairs = np.unique(document * max(corpus.n_authors, 1) + author)
    papers = np.bincount(pairs % max(corpus.n_authors, 1), minlength=corpus.n_authors)
    enough = papers[author] >= eta
    category = np.asarray(corpus.categories, np.int64)[document]
    return AuthorEntries(document, enough, np.where(enough, author, category))


def find_servers(
    corpus: Corpus,
    entries: AuthorEntries,
    node: np.ndarray,
    contributions: str,
    *,
    alone: bool = False,
) -> AuthorShares:
    """List the servers of papers with several nodes.

    Parameters
    ----------
    corpus : Corpus
    entries : AuthorEntries
    node : ndarray of int, shape (entries,)
        Index of the node that represents each author, -1 for none.
    contributions : {"equal", "position"}
        Whether authors are distinguished by their position.
    alone : bool
        Also list papers with a single node.

    Returns
    -------
    AuthorShares
        For papers with a single node, no server is listed, and the authors it represents share the
        paper evenly.
    """
    position = _positions(corpus, contributions)
    kept = np.flatnonzero(node >= 0)
    width = int(node.max(initial=0)) + 1
    pairs, first, place = np.unique(
        entries.document[kept] * width + node[kept], return_index=True, return_inverse=True
    )
    # in the order of authors, which `np.unique` loses
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    pairs, place = pairs[order], rank[place]
    paper, group = np.divmod(pairs, width)
    authors = np.zeros((len(pairs), position.max(initial=0) + 1))
    np.add.at(authors, (place, position[kept]), 1.0)
    behind = authors.sum(axis=1)
    found = np.bincount(paper, minlength=corpus.n_documents)
    least = 1 if alone else 2
    several = found[paper] >= least
    entry = np.full(len(node), -1, np.int64)
    number = np.where(several, np.cumsum(several) - 1, -1)
    entry[kept] = number[place]
    part = np.zeros(len(node))
    part[kept] = 1.0 / behind[place]
    if not several.any():
        return AuthorShares(NO_SERVERS, entry, part)
    counts = np.where(found >= least, found, 0)
    servers = Servers(
        start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        group=group[several].astype(np.int32),
        authors=authors[several],
    )
    return AuthorShares(servers, entry, part)


def _positions(corpus: Corpus, contributions: str) -> np.ndarray:
    """Return the position of each author: 0 first, 1 last of several, 2 between; or all 0."""
    counts = np.diff(corpus.author_offsets)
    if contributions != SHARES_BY_POSITION:
        return np.zeros(int(counts.sum()), np.int64)
    place = np.arange(int(counts.sum())) - np.repeat(corpus.author_offsets[:-1], counts)
    last = place == np.repeat(counts, counts) - 1
    return np.where(place == 0, 0, np.where(last, 1, 2))


def share_out(shares: AuthorShares, values: np.ndarray) -> np.ndarray:
    """Return, for each author of each paper, the value of the server that represents them.

    Parameters
    ----------
    shares : AuthorShares
    values : ndarray, shape (servers,)
        Shares, or their spread.

    Returns
    -------
    ndarray, shape (entries,)
        For a paper with a single node, 1 divided by its number of authors.
    """
    whole = np.append(values, 1.0)[shares.entry]
    out: np.ndarray = whole * shares.part
    return out


def beta_interval(mean: np.ndarray, spread: np.ndarray, mass: float = 0.9) -> np.ndarray:
    """Return intervals of shares, from Beta distributions with the given means and spreads.

    Parameters
    ----------
    mean, spread : ndarray, shape (n,)
    mass : float
        Probability that an interval contains its share.

    Returns
    -------
    ndarray, shape (n, 2)
        For shares without spread, the share twice.

    Examples
    --------
    >>> beta_interval(np.array([0.5, 1.0]), np.array([0.2887, 0.0])).round(2).tolist()
    [[0.05, 0.95], [1.0, 1.0]]
    """
    out = np.stack([mean, mean], axis=1).astype(np.float64)
    free = (spread > 0) & (mean > 0) & (mean < 1)
    # no share varies more than one that is either 0 or 1
    variance = np.minimum(np.square(spread[free]), 0.999 * mean[free] * (1 - mean[free]))
    weight = mean[free] * (1 - mean[free]) / variance - 1
    tails = np.array([[(1 - mass) / 2], [(1 + mass) / 2]])
    out[free] = betaincinv(mean[free] * weight, (1 - mean[free]) * weight, tails).T
    return out
