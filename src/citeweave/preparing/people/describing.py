"""Names to show for authors, and which names were joined and split to make them."""

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
    """One author made of several written names, without an id to say that they are one."""

    author: str
    names: tuple[str, ...]
    mentions: int
    first_names: int


@dataclass(frozen=True, slots=True)
class SplitName:
    """One written name that was taken for several people's.

    Attributes
    ----------
    name : str
        As written.
    authors : tuple of str
        Those that it was given to, by the number of papers.
    mentions : int
        Papers with this name.
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
    """Give each author a name to show, unique: the fullest form seen.

    Parameters
    ----------
    groups : sequence of iterables of int
        The mentions of each author.
    mentions : sequence of NamedMention
    given : sequence of str or None
        What the user calls the author.
    strangers : bool
        Whether people of different first names may be one author, as by initials.
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
        # One full name would speak for several people: the paper's form speaks for all.
        several = len(people) > 1 and not identified and strangers
        label = base = scrub(best.name.short if several else mixed_case(best.name))
        if label in used and (best.orcid or best.id):
            label = f"{base} [{scrub(best.orcid or best.id or '')}]"
        # the next number is remembered: thousands may bear one name
        number = numbers.get(base, 2)
        while label in used:
            label = f"{base} ({number})"
            number += 1
        numbers[base] = number
        used.add(label)
        labels.append(label)
    return labels


def fullness(mention: NamedMention) -> tuple[int, int, int, int, str]:
    """Order the spellings of one author: the largest is shown."""
    name = mention.name
    given = sum(c.isalpha() for c in name.given)
    mixed = int(not name.family.isupper())
    return (int(bool(name.first)), given, mixed, mention.count, name.display)


def mixed_case(name: Name) -> str:
    """Write a family name in capitals ("BREVIK") as a name."""
    if name.family.isupper() and len(name.family) > 3:
        name = name._replace(family=name.family.title())
    return name.display or "?"


def merged_names(
    labels: Sequence[str],
    counts: Sequence[Counter[int]],
    mentions: Sequence[NamedMention],
    identified: set[int],
) -> list[MergedName]:
    """List the authors joined by name alone from several written names, most first names first.

    Parameters
    ----------
    labels : sequence of str
    counts : sequence of Counter
        Of each author: mentions with the number of papers.
    mentions : sequence of NamedMention
    identified : set of int
        Mentions that an identifier tells.
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
    """List the names that several authors share without an identifier, most authors first."""
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
