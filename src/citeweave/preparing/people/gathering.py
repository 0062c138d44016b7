"""Collect facts about the papers of an import, for author disambiguation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from citeweave.preparing.people.facts import gather_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.preparing.collect import Draft
    from citeweave.preparing.people.evidence import PaperFacts
    from citeweave.preparing.places import ResolvedPlaces

__all__ = ["facts_of"]


class _Words(Protocol):
    @property
    def tokens(self) -> np.ndarray: ...
    @property
    def offsets(self) -> np.ndarray: ...


def facts_of(
    drafts: Sequence[Draft],
    words: _Words,
    citations: np.ndarray,
    places: ResolvedPlaces,
    paper: np.ndarray,
    block: np.ndarray,
) -> PaperFacts:
    """Collect facts about documents under construction.

    Parameters
    ----------
    drafts : sequence of Draft
    words : object with `tokens` and `offsets`
    citations : ndarray of int [C, 2]
    places : ResolvedPlaces
        Institutions of the affiliations.
    paper, block : ndarray of int [S]
        Paper and name block of each author entry.
    """
    entry: list[int] = []
    institution: list[int] = []
    at = 0
    for draft in drafts:
        # institutions of the paper may belong to any author; long lists would only repeat them
        rest = draft.other_places if len(draft.other_places) * len(draft.authors) < 1000 else ()
        for own in draft.author_places:
            found = {places.of_mention[one] for one in own or rest} - {-1}
            entry += [at] * len(found)
            institution += sorted(found)
            at += 1
    return gather_facts(
        paper=paper,
        block=block,
        institutions=(np.array(entry, dtype=np.int64), np.array(institution, dtype=np.int64)),
        tokens=words.tokens,
        offsets=words.offsets,
        citations=np.asarray(citations, dtype=np.int64).reshape(-1, 2),
        venues=[draft.venue for draft in drafts],
        years=[draft.year for draft in drafts],
    )
