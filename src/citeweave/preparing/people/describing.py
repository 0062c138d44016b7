"""Display names of authors, and lists of joined and split names."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citeweave.preparing.keys import scrub

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from citeweave.preparing.people.by_name import NamedMention
    from citeweave.reading.name_parts import Name

__all__ = ["MergedName", "SplitName", "author_labels", "fullness", "merged_names", "mixed_case"]
__all__ += ["split_names"]


@dataclass(frozen=True, slots=True)
class MergedName:
    """One author joined from several written names without an identifier."""

    author: str
    names: tuple[str, ...]
    mentions: int
    first_names: int


@dataclass(frozen=True, slots=True)
class SplitName:
    """One written name that was split between several people.

    Attributes
    ----------
    name : str
        The written name.
    authors : tuple of str
        The authors it was assigned to, ordered by number of papers.
    mentions : int
        Number of papers with this name.
    """

    name: str
    authors: tuple[str, ...]
    mentions: int


def author_labels(
    groups: Sequence[Iterable[int]],
    mentions: Sequence[NamedMention],
    given: Sequence[str | None],
    *,
    strangers: bool,
) -> list[str]:
    """Return a unique display name per author: the fullest form seen.

    Parameters
    ----------
    groups : sequence of iterables of int
        The mentions of each author.
    mentions : sequence of NamedMention
    given : sequence of str or None
        The name given by the user, if any.
    strangers : bool
        Whether one author may have different first names, as when grouping by initials.
    """
    labels, used = [], {label for label in given if label}
    numbers: dict[str, int] = {}
    for members, own in zip(groups, given, strict=True):
        if own:
            labels.append(own)
            continue
        best = max((mentions[i] for i in members), key=fullness)
        people = {mentions[i].name.first for i in members} - {""}
        identified = any(mentions[i].id or mentions[i].orcid for i in members)
        # One full name would represent several people; the paper's short form covers all.
        several = len(people) > 1 and not identified and strangers
        label = base = scrub(best.name.short if several else mixed_case(best.name))
        if label in used and (best.orcid or best.id):
            label = f"{base} [{scrub(best.orcid or best.id or '')}]"
        # remember the next number: thousands may share a name
        number = numbers.get(base, 2)
        while label in used:
            label = f"{base} ({number})"
            number += 1
        numbers[base] = number
        used.add(label)
        labels.append(label)
    return labels


def fullness(mention: NamedMention) -> tuple[int, int, int, int, str]:
    """Return a sort key for the spellings of an author; the largest is displayed."""
    name = mention.name
    given = sum(c.isalpha() for c in name.given)
    mixed = int(not name.family.isupper())
    return (int(bool(name.first)), given, mixed, mention.count, name.display)


def mixed_case(name: Name) -> str:
    """Convert a family name in capitals ("BREVIK") to mixed case."""
    if name.family.isupper() and len(name.family) > 3:
        name = name._replace(family=name.family.title())
    return name.display or "?"


def merged_names(
    labels: Sequence[str],
    counts: Sequence[Counter[int]],
    mentions: Sequence[NamedMention],
    identified: set[int],
) -> list[MergedName]:
    """List authors joined from several written names by name only, most first names first.

    Parameters
    ----------
    labels : sequence of str
    counts : sequence of Counter
        For each author, its mentions with their numbers of papers.
    mentions : sequence of NamedMention
    identified : set of int
        Mentions with an identifier.
    """
    merged = []
    for label, own in zip(labels, counts, strict=True):
        by_name = [i for i in own if i not in identified]
        forms = {mentions[i].name.full_key: mentions[i].name.display for i in by_name}
        if len(forms) < 2:
            continue
        firsts = {mentions[i].name.first for i in by_name} - {""}
        names = tuple(sorted(forms.values()))
        merged.append(MergedName(label, names, sum(own[i] for i in by_name), len(firsts)))
    return sorted(merged, key=lambda m: (-m.first_names, -m.mentions, m.author))


def split_names(
    labels: Sequence[str],
    counts: Sequence[Counter[int]],
    mentions: Sequence[NamedMention],
    identified: set[int],
) -> list[SplitName]:
    """List names shared by several authors without an identifier, most authors first."""
    bearers: dict[str, Counter[int]] = defaultdict(Counter)
    written: dict[str, str] = {}
    for author, own in enumerate(counts):
        for i, papers in own.items():
            if i not in identified:
                key = mentions[i].name.full_key
                bearers[key][author] += papers
                written.setdefault(key, mentions[i].name.display)
    split = [
        SplitName(
            written[key],
            tuple(labels[author] for author, _ in own.most_common()),
            own.total(),
        )
        for key, own in bearers.items()
        if len(own) > 1
    ]
    return sorted(split, key=lambda s: (-len(s.authors), -s.mentions, s.name))
