"""Papers divided by levels such as venue and period: nodes within nodes, from the root down."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.columns import PaperColumn, paper_column, shared_column
from citeweave.engines.core.spec import Level
from citeweave.wording import count

__all__ = ["ALONE", "Stratum", "lay_out_strata", "notes_on_levels", "reach_strata"]

ALONE = -3
"""`ALONE` - d stands for paper d, which has no value and a node of its own."""


class Stratum(NamedTuple):
    """The nodes of one level that divides papers."""

    value: np.ndarray
    """int64 [nodes]: number among the column's values; -1 for the node shared by papers without
    one, and `ALONE` - d for a node of paper d alone."""
    parent: np.ndarray
    """int64 [nodes]: place on the level above."""
    of_document: np.ndarray
    """int64 [D]."""


def lay_out_strata(
    corpus: Corpus, levels: Sequence[Level], *, own: bool, years: int | None
) -> list[Stratum]:
    """Assign to each paper its node on the levels that divide papers, upper first.

    A node stands for a value within a node of the level above. Papers without a value share a node
    there, or have one each if ``own``.
    """
    found: list[Stratum] = []
    above = np.zeros(corpus.n_documents, np.int64)
    for level in levels:
        column = shared_column(corpus, level.column, years=years)
        value = column.of_paper.astype(np.int64)
        if own:
            value = np.where(value < 0, ALONE - np.arange(corpus.n_documents), value)
        # values in their order, then the unknown
        rank = np.where(value < 0, len(column.values) - value, value)
        nodes, place = np.unique(np.stack([above, rank], axis=1), axis=0, return_inverse=True)
        parent, rank = nodes[:, 0], nodes[:, 1]
        told = np.where(rank >= len(column.values), len(column.values) - rank, rank)
        above = place.reshape(-1).astype(np.int64)
        found.append(Stratum(told, parent, above))
    return found


def reach_strata(
    train: Corpus,
    new: Corpus,
    levels: Sequence[Level],
    nodes: Sequence[tuple[np.ndarray, np.ndarray]],
    *,
    years: int | None,
) -> list[np.ndarray]:
    """Follow new papers down the levels that divide papers, as far as there are nodes for them.

    Parameters
    ----------
    train, new : Corpus
    levels : sequence of Level
    nodes : sequence of (value, parent)
        For each level, as in `Stratum`.
    years : int, optional
        Width of periods.

    Returns
    -------
    list of ndarray of int64, shape (D of new,)
        By level, index of the paper's node; -1 from the first level without one.
    """
    reached: list[np.ndarray] = []
    above = np.zeros(new.n_documents, np.int64)
    for level, (value, parent) in zip(levels, nodes, strict=True):
        known = paper_column(train, level.column, years=years)
        wanted = known.matched(paper_column(new, level.column, years=known.years or None))
        place = {
            key: number
            for number, key in enumerate(zip(parent.tolist(), value.tolist(), strict=True))
        }
        above = np.array(
            [place.get(key, -1) for key in zip(above.tolist(), wanted.tolist(), strict=True)],
            np.int64,
        )
        reached.append(above)
    return reached


def notes_on_levels(
    corpus: Corpus, levels: Sequence[Level], *, own: bool, years: int | None
) -> list[str]:
    """Describe the number of values of each level, and the number of papers without a value."""
    columns = [paper_column(corpus, level.column, years=years) for level in levels]
    return [_note(column, own=own) for column in columns]


def _note(column: PaperColumn, *, own: bool) -> str:
    papers, number = len(column.of_paper), len(column.values)
    width = f" of {count(column.years, 'year')}" if column.years else ""
    text = f"Level '{column.name}': {count(number, 'value')}{width}"
    if column.known == papers:
        return f"{text}, one for each paper."
    nodes = "have a node each" if own else "share a node"
    return f"{text}; {papers - column.known:,} of {papers:,} papers have none and {nodes}."
