"""Who works with whom: weighted pairs of contributors, by the papers that they share."""

import numpy as np

from citeweave.errors import ParameterError
from citeweave.explore.contributors import Contributors
from citeweave.explore.frames import Columns
from citeweave.naming import option
from citeweave.networks.counting import co_occurrence, incidence
from citeweave.wording import count

__all__ = ["MAX_MEMBERS", "collaboration_columns", "collaboration_pairs", "left_out"]

MAX_MEMBERS = 100
"""Papers of more contributors tell little of who works with whom, and cost the square of them."""


def collaboration_pairs(
    found: Contributors, *, counting: str = "full", max_members: int = MAX_MEMBERS
) -> tuple[np.ndarray, np.ndarray]:
    """Weight each pair of contributors by the papers that they share.

    Parameters
    ----------
    found : Contributors
    counting : {"full", "fractional"}
        Each joint paper counts 1, or 1/(n - 1) if n contributors share it.
    max_members : int
        Papers with more contributors are left out, which limits time and memory to
        ``max_members`` times the number of contributions.

    Returns
    -------
    pairs : ndarray of int, shape (m, 2)
        Contributors, the smaller number first; sorted.
    weights : ndarray of float, shape (m,)

    Examples
    --------
    >>> from citeweave import Corpus
    >>> from citeweave.explore.contributors import contributors_of
    >>> corpus = Corpus.from_lists(
    ...     tokens=[["a"], ["b"]], authors=[["Ann", "Bo", "Cy"], ["Ann", "Bo"]]
    ... )
    >>> pairs, weights = collaboration_pairs(contributors_of(corpus, "authors"))
    >>> pairs.tolist(), weights.tolist()
    ([[0, 1], [0, 2], [1, 2]], [2.0, 1.0, 1.0])
    """
    if max_members < 2:
        raise ParameterError(f"{option('max_members')} must be at least 2. Got {max_members}.")
    who, paper = found.pairs
    members = found.of_paper.counts[paper]
    few = (members > 1) & (members <= max_members)
    table = incidence(paper[few], who[few], (found.n_papers, len(found.names)))
    return co_occurrence(table, np.arange(len(found.names)), counting=counting)


def left_out(found: Contributors, max_members: int) -> str:
    """Return a note on papers left out for having too many contributors; "" if none."""
    many = int(np.count_nonzero(found.of_paper.counts > max_members))
    if not many:
        return ""
    verb = "is" if many == 1 else "are"
    return f"{count(many, 'paper')} with more than {max_members:,} {found.kind} {verb} left out."


def collaboration_columns(
    found: Contributors, *, top: int | None, min_papers: int, counting: str, max_members: int
) -> Columns:
    """Return the columns of the table of pairs, the heaviest first."""
    pairs, weights = collaboration_pairs(found, counting=counting, max_members=max_members)
    papers = found.papers.counts
    enough = (papers[pairs] >= min_papers).all(axis=1)
    pairs, weights = pairs[enough], weights[enough]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -weights))[:top]
    source, target = pairs[order].T
    return {
        "source": ("int", source),
        "target": ("int", target),
        "source_name": ("text", [found.names[i] for i in source.tolist()]),
        "target_name": ("text", [found.names[i] for i in target.tolist()]),
        "weight": ("float", weights[order]),
        "source_papers": ("int", papers[source]),
        "target_papers": ("int", papers[target]),
    }
