"""Collect mentions of authors, and resolve them to distinct authors."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from citeweave.preparing.names import is_person, parse_author
from citeweave.preparing.people.by_name import (
    NamedMention,
    group_by_name,
    identifier_kinds,
    identities,
)
from citeweave.preparing.people.corrections import Corrected, correct_people
from citeweave.preparing.people.describing import (
    MergedName,
    SplitName,
    author_labels,
    merged_names,
    split_names,
)
from citeweave.preparing.people.telling import Mentions, compare_by, tell_people_apart
from citeweave.reading.name_parts import Name, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from citeweave.corpus.people import PersonRow
    from citeweave.parameters.preparation import AuthorNames
    from citeweave.preparing.people.agreeing import WrittenName
    from citeweave.preparing.people.evidence import PaperFacts
    from citeweave.reading import Author

__all__ = ["AuthorRegister", "FactsOf", "ResolvedAuthors"]

EXCLUDED = -1

FactsOf: TypeAlias = "Callable[[np.ndarray, np.ndarray], PaperFacts]"
"""Returns facts about papers, given the paper and the name block of each author entry."""


@dataclass(frozen=True, slots=True)
class ResolvedAuthors:
    """Authors after resolution.

    Attributes
    ----------
    labels : list of str
        A unique display name per author: the fullest form seen, or "B. Lee" if several first names
        were joined.
    of_entry : ndarray of int64
        The author of each entry in the concatenated author lists of all papers.
    identified : int
        Number of authors identified by an id or ORCID.
    merged : list of MergedName
        Authors joined from several written names by name only, most first names first.
    split : list of SplitName
        Names that belong to several authors, by evidence other than identifiers.
    unmatched : list of (PersonRow, str)
        Corrections that match nobody, with the reasons.
    """

    labels: list[str]
    of_entry: np.ndarray
    identified: int
    merged: list[MergedName] = field(default_factory=list)
    split: list[SplitName] = field(default_factory=list)
    unmatched: list[tuple[PersonRow, str]] = field(default_factory=list)


class AuthorRegister:
    """Collect mentions of authors while records are read, then resolve them to authors.

    Parameters
    ----------
    mode
        How names are compared, see `Settings.author_names`.
    exclusion_words
        Names that contain one of these words are not authors.
    thesaurus
        Maps a written name in lower case to the name to use, or to "" to drop it.
    """

    def __init__(
        self,
        mode: AuthorNames,
        *,
        exclusion_words: Iterable[str] = (),
        thesaurus: dict[str, str] | None = None,
    ) -> None:
        self.mode = mode
        self.excluded: dict[str, int] = {}
        self._exclusion_words = tuple(exclusion_words)
        self._thesaurus = thesaurus or {}
        self._mentions: list[NamedMention] = []
        self._known: dict[tuple[str | None, ...], int] = {}

    def mention(self, author: Author) -> int:
        """Register a mention and return its number, equal for equal spellings; -1 if no author."""
        key = (author.name, author.given, author.family, author.id, author.orcid)
        index = self._known.get(key)
        if index is None:
            index = self._known[key] = self._add(author)
        if index == EXCLUDED:
            written = author.name or author.family or ""
            self.excluded[written] = self.excluded.get(written, 0) + 1
        else:
            self._mentions[index].count += 1
        return index

    def family(self, mention: int) -> str:
        """Return the family name of a mention, as written."""
        return self._mentions[mention].name.family

    def name(self, mention: int) -> Name:
        """Return the parsed name of a mention."""
        return self._mentions[mention].name

    def _add(self, author: Author) -> int:
        name = parse_author(author)
        written = (author.name, name.display, name.short, f"{name.family}, {name.given}")
        for form in written:
            target = self._thesaurus.get(" ".join((form or "").lower().split()))
            if target is not None:
                # The user's correction overrides the id of the source.
                return self._append(NamedMention(parse(target), None, None)) if target else EXCLUDED
        text = author.name or name.display
        if not name.family or not is_person(text, self._exclusion_words):
            return EXCLUDED
        return self._append(NamedMention(name, author.id or None, author.orcid or None))

    def _append(self, mention: NamedMention) -> int:
        self._mentions.append(mention)
        return len(self._mentions) - 1

    def resolve(
        self,
        teams: Sequence[Sequence[int]],
        facts: FactsOf | None = None,
        *,
        people: Sequence[PersonRow] = (),
        papers: dict[str, int] | None = None,
    ) -> ResolvedAuthors:
        """Decide which author entries belong to the same author.

        Identifiers come first: mentions that share an id or an ORCID are the same author, an id and
        an ORCID seen together belong to the same author, and different identifiers of the same kind
        mean different authors. Mentions without identifiers are resolved by name and, with
        ``mode="evidence"``, by facts about the papers.

        Parameters
        ----------
        teams : sequence of sequences of int
            The mentions of the authors of each paper.
        facts : callable, optional
            Facts about the papers for ``mode="evidence"``; without them only names are used.
        people : sequence of PersonRow
            The user's corrections, which take precedence over everything else.
        papers : dict, optional
            Maps ids and DOIs that corrections may use to paper numbers.
        """
        corrected = correct_people(people, teams, self._mentions, papers or {})
        mention = np.fromiter(chain.from_iterable(teams), dtype=np.int64)
        paper = np.repeat(np.arange(len(teams)), [len(team) for team in teams])
        identity = identities(self._mentions)
        if self.mode == "evidence" and facts is not None:
            group = self._by_evidence(mention, paper, identity, facts, corrected.person)
        else:
            mode = "compatible" if self.mode == "evidence" else self.mode
            of_mention = group_by_name(self._mentions, identity, mode)
            group = [
                of_mention[i] if own is None else f"person {own}"
                for i, own in zip(mention.tolist(), corrected.person, strict=True)
            ]
        return self._resolved(group, mention, identity, corrected)

    def _by_evidence(
        self,
        mention: np.ndarray,
        paper: np.ndarray,
        identity: dict[int, str],
        facts: FactsOf,
        named: Sequence[str | None],
    ) -> list[Hashable]:
        forms: dict[WrittenName, int] = {}
        name_of = np.array(
            [
                forms.setdefault(name, len(forms))
                for name in compare_by([one.name for one in self._mentions])
            ],
            dtype=np.int64,
        )
        names = list(forms)
        number: dict[str, int] = {}
        block_of = np.array(
            [number.setdefault(name.block, len(number)) for name in names], dtype=np.int64
        )
        people = {tag: i for i, tag in enumerate(dict.fromkeys(identity.values()))}
        marks: list[dict[Hashable, Hashable]] = [{} for _ in people]
        person = np.full(len(self._mentions), -1, dtype=np.int64)
        for index, tag in identity.items():
            person[index] = people[tag]
            marks[people[tag]] |= identifier_kinds(self._mentions[index])
        of_entry = person[mention]
        # corrections take precedence over identifiers
        number_of = {
            own: len(people) + i for i, own in enumerate(dict.fromkeys(filter(None, named)))
        }
        marks += [{"person": own} for own in number_of]
        for place, own in enumerate(named):
            if own is not None:
                of_entry[place] = number_of[own]
        found = tell_people_apart(
            names,
            Mentions(paper, name_of[mention], of_entry, marks),
            facts(paper, block_of[name_of[mention]]),
            block_of_name=block_of,
        )
        return list(map(int, found))

    def _resolved(
        self,
        group: Sequence[Hashable],
        mention: np.ndarray,
        identity: dict[int, str],
        corrected: Corrected,
    ) -> ResolvedAuthors:
        """Assign numbers by first mention and names to authors, and describe what was done."""
        counts: dict[Hashable, Counter[int]] = {}
        for own, index in zip(group, mention.tolist(), strict=True):
            counts.setdefault(own, Counter())[index] += 1
        # so that the same input gives the same numbers, regardless of the order of groups
        ordered = sorted(counts, key=lambda own: min(counts[own]))
        number = {own: i for i, own in enumerate(ordered)}
        of_author = [counts[own] for own in ordered]
        called = {own: name for own, name in zip(group, corrected.person, strict=True) if name}
        labels = author_labels(
            of_author,
            self._mentions,
            [called.get(own) for own in ordered],
            strangers=self.mode == "initials",
        )
        identified = set(identity)
        return ResolvedAuthors(
            labels,
            np.array([number[own] for own in group], dtype=np.int64),
            sum(any(i in identity for i in own) for own in of_author),
            merged_names(labels, of_author, self._mentions, identified),
            split_names(labels, of_author, self._mentions, identified)
            if self.mode == "evidence"
            else [],
            corrected.unmatched,
        )
