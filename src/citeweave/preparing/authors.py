"""Who wrote what: mentions of authors gathered, and resolved to authors at the end."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from citeweave.preparing.keys import scrub
from citeweave.preparing.names import is_person, parse_author
from citeweave.preparing.union import Roots
from citeweave.reading.name_parts import Name, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citeweave.parameters.preparation import AuthorNames
    from citeweave.reading import Author

__all__ = ["AuthorRegister", "MergedName", "ResolvedAuthors"]

EXCLUDED = -1


@dataclass(frozen=True, slots=True)
class MergedName:
    """One author made of several written names, without an id to say that they are one."""

    author: str
    names: tuple[str, ...]
    mentions: int
    first_names: int


@dataclass(frozen=True, slots=True)
class ResolvedAuthors:
    """Authors after resolution.

    Attributes
    ----------
    labels : list of str
        One name for display an author, unique: the fullest form seen, or "B. Lee" where
        several first names were joined.
    of_mention : list of int
        The author of each mention.
    identified : int
        Authors told by an id or ORCID.
    merged : list of MergedName
        Authors joined by name alone from several written names, most first names first.
    """

    labels: list[str]
    of_mention: list[int]
    identified: int
    merged: list[MergedName] = field(default_factory=list)


@dataclass(slots=True)
class _Mention:
    name: Name
    id: str | None
    orcid: str | None
    count: int = 0


class AuthorRegister:
    """Collect mentions of authors while records stream by, then tell who is who.

    Parameters
    ----------
    mode
        How names are compared, see `Settings.author_names`.
    exclusion_words
        Names with one of these words are no authors.
    thesaurus
        Written name in lower case to the name to use, "" to drop it.
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
        self._mentions: list[_Mention] = []
        self._known: dict[tuple[str | None, ...], int] = {}

    def mention(self, author: Author) -> int:
        """Register one mention; the same spelling gives the same number, -1 is no author."""
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
        """Give the family name of a mention, as written."""
        return self._mentions[mention].name.family

    def name(self, mention: int) -> Name:
        """Give the parsed name of a mention."""
        return self._mentions[mention].name

    def _add(self, author: Author) -> int:
        name = parse_author(author)
        written = (author.name, name.display, name.short, f"{name.family}, {name.given}")
        for form in written:
            target = self._thesaurus.get(" ".join((form or "").lower().split()))
            if target is not None:
                # The user's word overrides the source's id.
                return self._append(_Mention(parse(target), None, None)) if target else EXCLUDED
        text = author.name or name.display
        if not name.family or not is_person(text, self._exclusion_words):
            return EXCLUDED
        return self._append(_Mention(name, author.id or None, author.orcid or None))

    def _append(self, mention: _Mention) -> int:
        self._mentions.append(mention)
        return len(self._mentions) - 1

    def resolve(self) -> ResolvedAuthors:
        """Decide which mentions are one author.

        Mentions that share an id or an ORCID are one; an id and an ORCID seen together
        belong to one. A mention without either goes by its name; where exactly one
        identified author bears that name, and the first names do not contradict, it is
        taken for that author.
        """
        roots = Roots()
        identity: dict[int, str] = {}
        for index, mention in enumerate(self._mentions):
            tags = [f"id {mention.id}"] if mention.id else []
            tags += [f"orcid {mention.orcid}"] if mention.orcid else []
            if tags:
                identity[index] = roots.join(tags)
        identity = {index: roots.find(tag) for index, tag in identity.items()}
        by_name = self._by_name(identity)
        groups: dict[str, list[int]] = defaultdict(list)
        for index in range(len(self._mentions)):
            groups[identity.get(index) or by_name[index]].append(index)
        # Number authors by first mention, so that the same input gives the same numbers.
        ordered = sorted(groups.values(), key=lambda members: members[0])
        of_mention = [0] * len(self._mentions)
        for author, members in enumerate(ordered):
            for index in members:
                of_mention[index] = author
        labels = self._labels(ordered)
        return ResolvedAuthors(
            labels,
            of_mention,
            len(set(identity.values())),
            self._merged(ordered, labels, identity),
        )

    def _by_name(self, identity: dict[int, str]) -> dict[int, str]:
        """Give each mention without id the group of its name."""
        same_key: dict[str, list[int]] = defaultdict(list)
        for index, mention in enumerate(self._mentions):
            same_key[self._key(mention.name)].append(index)
        grouped: dict[int, str] = {}
        for key, members in same_key.items():
            owners: dict[str, set[str]] = defaultdict(set)
            for index in members:
                if index in identity:
                    owners[self._first(index)].add(identity[index])
            people = set().union(*owners.values())
            nameless = [index for index in members if index not in identity]
            if self.mode != "compatible":
                only = min(people) if len(people) == 1 else ""
                for index in nameless:
                    first = self._first(index)
                    fits = not first or first in owners or set(owners) == {""}
                    grouped[index] = only if only and fits else f"name {key}"
                continue
            for index in nameless:
                first = self._first(index)
                if first:
                    own = owners[first]
                    grouped[index] = min(own) if len(own) == 1 else f"name {key}|{first}"
                    people.add(grouped[index])
            only = people.pop() if len(people) == 1 else f"name {key}"
            grouped |= {index: only for index in nameless if not self._first(index)}
        return grouped

    def _first(self, index: int) -> str:
        return self._mentions[index].name.first

    def _key(self, name: Name) -> str:
        return name.full_key if self.mode == "full" else name.key

    def _labels(self, ordered: list[list[int]]) -> list[str]:
        labels, used = [], set()
        for members in ordered:
            best = max((self._mentions[i] for i in members), key=_fullness)
            people = {self._first(i) for i in members} - {""}
            own_id = any(self._mentions[i].id or self._mentions[i].orcid for i in members)
            # One full name would speak for several people: the paper's form speaks for all.
            several = len(people) > 1 and not own_id
            label = base = scrub(best.name.short if several else _mixed_case(best.name))
            if label in used and (best.orcid or best.id):
                label = f"{base} [{scrub(best.orcid or best.id or '')}]"
            number = 2
            while label in used:
                label = f"{base} ({number})"
                number += 1
            used.add(label)
            labels.append(label)
        return labels

    def _merged(
        self, ordered: list[list[int]], labels: list[str], identity: dict[int, str]
    ) -> list[MergedName]:
        merged = []
        for label, members in zip(labels, ordered, strict=True):
            by_name = [self._mentions[i] for i in members if i not in identity]
            forms = {mention.name.full_key: mention.name.display for mention in by_name}
            if len(forms) < 2:
                continue
            firsts = {mention.name.first for mention in by_name} - {""}
            names = tuple(sorted(forms.values()))
            merged.append(MergedName(label, names, sum(m.count for m in by_name), len(firsts)))
        return sorted(merged, key=lambda m: (-m.first_names, -m.mentions, m.author))


def _fullness(mention: _Mention) -> tuple[int, int, int, int, str]:
    name = mention.name
    given = sum(c.isalpha() for c in name.given)
    mixed = int(not name.family.isupper())
    return (int(bool(name.first)), given, mixed, mention.count, name.display)


def _mixed_case(name: Name) -> str:
    """Write a family name in capitals ("BREVIK") as a name."""
    if name.family.isupper() and len(name.family) > 3:
        name = name._replace(family=name.family.title())
    return name.display or "?"
