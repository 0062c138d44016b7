"""Lists of institutions, countries, venues and funders, filtered and sorted with arrays."""

from collections.abc import Mapping

import numpy as np

from citeweave.explore import Exploration
from citeweave.explore.contributors import KINDS as ALL_KINDS
from citeweave.explore.literature import ordered

__all__ = ["KINDS", "ContributorList"]

KINDS = tuple(kind for kind in ALL_KINDS if kind != "authors")
"""The kinds shown on these pages; authors have their own."""


class ContributorList:
    """All contributors of one kind, which can be filtered by name, main topic and country."""

    def __init__(self, view: Exploration, kind: str) -> None:
        self._view = view
        self.kind = kind
        self._found = view.literature.contributors(kind)

    @property
    def sorts(self) -> list[tuple[str, str]]:
        """Sort orders available for this run; the first is the default."""
        view = self._view
        found = [("papers", "number of papers")]
        if view.cited_propensity is not None:
            found.append(("influence", "influence"))
        if view.corpus.n_citations:
            found += [("citations", "citations in the corpus"), ("h_index", "h-index")]
        if view.literature.cited_by is not None:
            found.append(("cited_by", "citations worldwide"))
        if len(view.literature.year_range) > 2:
            found.append(("growth", "growth"))
        return [*found, ("name", "name")]

    @property
    def countries(self) -> list[str]:
        """Sorted ISO codes of the institutions' countries; empty for other kinds."""
        return sorted({code for code in self._found.countries if code})

    def select(self, wanted: Mapping[str, str]) -> np.ndarray:
        """Select contributors that match ``q``, ``topic`` and ``country``, ordered by ``sort``."""
        view, found = self._view, self._found
        known = [name for name, _ in self.sorts]
        sort = wanted.get("sort", "")
        chosen = ordered(
            view.literature,
            self.kind,
            sort=sort if sort in known else known[0],
            influence=view.contributor_influence(self.kind),
        )
        mask = np.ones(len(found.names), bool)
        topic = wanted.get("topic", "").strip()
        if topic.isdecimal():
            mask &= view.contributor_topics(self.kind).argmax(axis=1) == int(topic)
        country = wanted.get("country", "").strip()
        if country:
            mask &= np.fromiter((code == country for code in found.countries), bool, len(mask))
        for word in wanted.get("q", "").casefold().split():
            mask &= np.fromiter((word in name.casefold() for name in found.names), bool, len(mask))
        fits: np.ndarray = chosen[mask[chosen]]
        return fits
