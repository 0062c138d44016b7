"""Prior probability that two mentions of a name are the same person."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.preparing.people.agreeing import NameAgreement, WrittenName

__all__ = ["NamePrior"]

#: Log-odds of the same person if one other person with the name is expected.
BIAS = 0.7
#: Minimum expected number of other people with a name, however rare.
LEAST_OTHERS = 0.02
#: Factor by which each further matching given name reduces the number of others.
MIDDLE = 0.12
#: Expected others for a first name unique in the corpus, with up to four letters and with more.
UNSEEN_SHORT, UNSEEN_LONG = 0.5, 0.1
_SHORT_NAME = 4
_LETTERS = 26


@cache
def common_families() -> dict[str, tuple[float, str]]:
    """Return the share of authors with each common family name, and the group of the name."""
    text = files("citeweave.preparing.people").joinpath("families.tsv").read_text("utf-8")
    rows = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    return {family: (float(share) / 1000, group.strip()) for family, share, group in rows}


class NamePrior:
    """Log-odds that two mentions are the same person, by the expected number of namesakes.

    Of D different names in the corpus, a family name F is expected to be shared by
    ``n(F) = max(D_F - 1, D share_F)`` other people, where ``D_F`` counts the corpus's own names and
    ``share_F`` is that of `families.tsv`. A given name has the share that it has among the names of
    its group (names of East Asia, Korea, ..., all others), so that ``n(F) p(first)`` others bear
    both. Where only initials agree it is the share of the initial, and at least the first names
    that the corpus has for it.

    Parameters
    ----------
    names : sequence of WrittenName
        All distinct names in the corpus.
    """

    def __init__(self, names: Sequence[WrittenName]) -> None:
        self._known = common_families()
        people: set[tuple[str, str]] = set()
        self._first_names: dict[str, set[str]] = defaultdict(set)
        for name in names:
            initial = name.given[0][0][:1] if name.given else ""
            people.add((name.family, name.first or initial + name.middle))
            if name.first:
                self._first_names[name.block].add(name.first)
        self.size = max(len(people), 1)
        self._of_family = Counter(family for family, _ in people)
        self._first: dict[str, Counter[str]] = defaultdict(Counter)
        self._initial: dict[str, Counter[str]] = defaultdict(Counter)
        for family, given in people:
            group = self._group(family)
            self._initial[group][given[:1]] += 1
            if len(given) > 1:
                self._first[group][given] += 1

    def _group(self, family: str) -> str:
        return self._known[family][1] if family in self._known else ""

    def others(self, one: WrittenName, other: WrittenName, agreed: NameAgreement) -> float:
        """Return the expected number of other people who share what two names have in common."""
        family = one.family
        share = self._known[family][0] if family in self._known else 0.0
        bearers = max(self._of_family[family] - 1, self.size * share)
        group = self._group(family)
        if agreed.first:
            counts = self._first[group]
            # without the person themselves: a name of a single person is rare, especially a long
            # one
            unseen = UNSEEN_SHORT if len(one.first) <= _SHORT_NAME else UNSEEN_LONG
            seen = max(counts[one.first] - 1, 0) + unseen
            found = bearers * seen / (counts.total() + 1)
        elif one.given and other.given:
            counts = self._initial[group]
            found = bearers * (counts[one.given[0][0][:1]] + 1) / (counts.total() + _LETTERS)
            known = self._first_names[one.block]
            own = {one.first, other.first} - {""}
            found = max(found, len(known - own) - (0 if own else 1))
        else:
            found = bearers
        return max(found * MIDDLE**agreed.middle, 0.0) + LEAST_OTHERS

    def log_odds(self, one: WrittenName, other: WrittenName, agreed: NameAgreement) -> float:
        """Return the log-odds of the same person, ``BIAS - log(others)``."""
        return BIAS - math.log(self.others(one, other, agreed))
