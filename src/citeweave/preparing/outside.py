"""Works outside the corpus that its papers cite."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from citeweave.preparing.matching import FATES

if TYPE_CHECKING:
    from citeweave.preparing.matching import Matches
    from citeweave.preparing.references import ReferenceColumns

__all__ = ["MOST_WORKS", "OutsideWorks", "outside_works"]

MOST_WORKS = 5_000
"""Maximum number of works kept, most cited first; maps show a few hundred."""

_OUTSIDE = FATES.index("outside")


class OutsideWorks(NamedTuple):
    """Works outside a corpus that its papers cite.

    Attributes
    ----------
    labels : list of str
        Works cited by two or more papers, most cited first.
    citing : list of int
        Number of papers that cite each work.
    of_paper : list of (list of str or None)
        Labels of the works that each paper cites.
    shared : int
        Number of works cited by two or more papers, whether kept or not.
    """

    labels: list[str]
    citing: list[int]
    of_paper: list[list[str] | None]
    shared: int


def outside_works(references: ReferenceColumns, found: Matches, papers: int) -> OutsideWorks:
    """Find the works outside the corpus that are cited by two or more papers.

    Most works are cited by a single paper; they are not co-cited across papers and are ignored.
    """
    work = references.column("work")
    open_ = (found.citing >= 0) & (found.fate == _OUTSIDE) & (work != 0)
    pairs = np.stack([found.citing[open_].astype(np.uint64), work[open_]], axis=1)
    pairs = np.unique(pairs, axis=0) if len(pairs) else pairs
    works, counts = np.unique(pairs[:, 1], return_counts=True)
    shared = np.flatnonzero(counts >= 2)
    texts = {int(key): references.labels.get(int(key), "") for key in works[shared]}
    # a reproducible order: by count, then by text
    order = sorted(
        (-int(count), texts[key], key)
        for key, count in zip(works[shared].tolist(), counts[shared].tolist(), strict=True)
        if texts[key]
    )[:MOST_WORKS]
    place = {key: number for number, (_, _, key) in enumerate(order)}
    of_paper: list[list[str] | None] = [None] * papers
    for paper, key in pairs.tolist():
        number = place.get(key)
        if number is not None:
            row = of_paper[paper] = of_paper[paper] or []
            row.append(order[number][1])
    return OutsideWorks(
        labels=[text for _, text, _ in order],
        citing=[-count for count, _, _ in order],
        of_paper=[sorted(set(row)) if row else None for row in of_paper],
        shared=len(shared),
    )
