"""Co-occurrence: sparse tables of events and items, with full or fractional counting.

An event is what brings things together: a paper that cites two papers, a paper that two papers
cite, a paper with its authors or its words. Nothing here is larger than the table itself before a
few things are chosen, and after that no larger than their square.
"""

from typing import Any

import numpy as np
from scipy import sparse

from citeweave.errors import ParameterError
from citeweave.naming import option

__all__ = [
    "COUNTINGS",
    "WEIGHTS",
    "check_choice",
    "check_number",
    "co_occurrence",
    "incidence",
    "link_strength",
    "similarity",
]

COUNTINGS = ("full", "fractional")
WEIGHTS = ("association", "raw", "salton", "jaccard", "equivalence")


def incidence(events: np.ndarray, things: np.ndarray, shape: tuple[int, int]) -> Any:
    """Build the 0/1 table of which items take part in which events.

    Parameters
    ----------
    events, things : ndarray of int, shape (pairs,)
        A pair that occurs twice counts once.
    shape : (events, things)

    Returns
    -------
    csr_array of float64, shape (events, things)
    """
    table: Any = sparse.csr_array(
        (np.ones(len(events)), (np.asarray(events), np.asarray(things))), shape=shape
    )
    table.data[:] = 1.0
    return table


def _event_weights(table: Any, counting: str) -> np.ndarray:
    """Weight of each pair of an event: 1, or 1/(n - 1) where n things take part."""
    check_choice("counting", counting, COUNTINGS)
    members = np.diff(table.indptr).astype(np.float64)
    if counting == "full":
        return np.ones(len(members))
    shares = np.zeros(len(members))
    return np.asarray(np.divide(1.0, members - 1.0, out=shares, where=members > 1))


def link_strength(table: Any, *, counting: str = "full") -> np.ndarray:
    """Sum what each item shares with all others, shape (items,), without building a table of pairs.

    Each event of n items gives each of them n - 1 pairs, counted as in `co_occurrence`.
    """
    members = np.diff(table.indptr)
    return np.asarray(table.T @ (_event_weights(table, counting) * (members - 1)))


def co_occurrence(
    table: Any, chosen: np.ndarray, *, counting: str = "full"
) -> tuple[np.ndarray, np.ndarray]:
    """Count how often each pair of the given items occurs together.

    Parameters
    ----------
    table : csr_array, shape (events, things)
        Of ones, as `incidence` makes it.
    chosen : ndarray of int, shape (n,)
        The items to count.
    counting : {"full", "fractional"}
        Each event counts 1 for each of its pairs, or 1/(n - 1) if n items take part in it,
        selected or not, so that each item receives 1 from it in total (Perianes-Rodriguez, Waltman
        and van Eck 2016).

    Returns
    -------
    links : ndarray of int, shape (m, 2)
        Indices into `chosen`, the smaller first.
    counts : ndarray, shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> table = incidence(np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 1, 2]), (2, 3))
    >>> links, counts = co_occurrence(table, np.arange(3))
    >>> links.tolist(), counts.tolist()
    ([[0, 1], [0, 2], [1, 2]], [1.0, 1.0, 2.0])
    >>> co_occurrence(table, np.arange(3), counting="fractional")[1].tolist()
    [0.5, 0.5, 1.5]
    """
    weights = _event_weights(table, counting)
    part = table[:, chosen].tocsr()
    pairs = sparse.triu(part.T @ (sparse.diags_array(weights) @ part), k=1).tocoo()
    order = np.lexsort((pairs.coords[1], pairs.coords[0]))
    links = np.column_stack(pairs.coords).astype(np.int64)[order]
    return links, np.asarray(pairs.data, np.float64)[order]


def similarity(
    links: np.ndarray, counts: np.ndarray, occurrences: np.ndarray, *, weight: str = "association"
) -> np.ndarray:
    """Make counts c_ij comparable between rare and common items.

    Parameters
    ----------
    links : ndarray of int, shape (m, 2)
    counts : ndarray, shape (m,)
    occurrences : ndarray, shape (n,)
        Number of events s_i in which each item takes part.
    weight : {"association", "raw", "salton", "jaccard", "equivalence"}
        ``association``: 2 M c_ij / (k_i k_j), with k_i the sum of i's counts and M that of all
        links, the association strength of VOSviewer: c_ij against what is expected if links were
        made at random. ``salton``: c_ij / sqrt(s_i s_j). ``jaccard``: c_ij / (s_i + s_j - c_ij).
        ``equivalence``: c_ij^2 / (s_i s_j), as Callon has it. ``raw``: c_ij.

    Returns
    -------
    ndarray, shape (m,)
    """
    check_choice("weight", weight, WEIGHTS)
    if weight == "raw" or not len(links):
        return counts
    first, second = links.T
    if weight == "association":
        strength = np.bincount(links.ravel(), np.repeat(counts, 2), len(occurrences))
        return np.asarray(2 * counts.sum() * counts / (strength[first] * strength[second]))
    one, other = occurrences[first].astype(float), occurrences[second].astype(float)
    if weight == "salton":
        return np.asarray(counts / np.sqrt(one * other))
    if weight == "jaccard":
        return np.asarray(counts / (one + other - counts))
    return np.asarray(counts**2 / (one * other))


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise an error if a value is not one of those allowed."""
    if value not in choices:
        raise ParameterError(
            f"{option(name)} must be one of {', '.join(choices)}. Got {value!r} instead."
        )


def check_number(name: str, value: float, least: float) -> None:
    """Raise an error if a number is too small."""
    if value < least:
        raise ParameterError(f"{option(name)} must be at least {least:g}. Got {value:g} instead.")
