"""Resolve authors by identifiers and names only, with one rule per mode."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citeweave.preparing.union import Roots

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from citeweave.parameters.preparation import AuthorNames
    from citeweave.reading.name_parts import Name

__all__ = ["NamedMention", "group_by_name", "identifier_kinds", "identities"]

_KINDS = (
    ("OpenAlex", re.compile(r"A\d{3,}")),
    ("ResearcherID", re.compile(r"[A-Z]{1,3}-\d{4}-\d{4}")),
    ("number", re.compile(r"\d+")),
)


@dataclass(slots=True)
class NamedMention:
    """A written name with its identifiers and its number of occurrences."""

    name: Name
    id: str | None
    orcid: str | None
    count: int = 0


def identifier_kinds(mention: NamedMention) -> dict[Hashable, Hashable]:
    """Return the identifiers of a mention by kind; a person has one of each kind.

    Examples
    --------
    >>> from citeweave.reading.name_parts import parse
    >>> identifier_kinds(NamedMention(parse("B. Lee"), "A5069892096", "0000-0002-1825-0097"))
    {'OpenAlex': 'A5069892096', 'ORCID': '0000-0002-1825-0097'}
    """
    kinds: dict[Hashable, Hashable] = {}
    if mention.id:
        ident = mention.id
        kind = next((kind for kind, form in _KINDS if form.fullmatch(ident)), "id")
        kinds[kind] = ident
    if mention.orcid:
        kinds["ORCID"] = mention.orcid
    return kinds


def identities(mentions: Sequence[NamedMention]) -> dict[int, str]:
    """Return a common key per person for mentions with an identifier.

    Mentions that share an id or an ORCID belong to the same person, as do an id and an ORCID seen
    together.
    """
    roots = Roots()
    found: dict[int, str] = {}
    for index, mention in enumerate(mentions):
        tags = [f"id {mention.id}"] if mention.id else []
        tags += [f"orcid {mention.orcid}"] if mention.orcid else []
        if tags:
            found[index] = roots.join(tags)
    return {index: roots.find(tag) for index, tag in found.items()}


def group_by_name(
    mentions: Sequence[NamedMention], identity: dict[int, str], mode: AuthorNames
) -> list[str]:
    """Return the group of each mention, by identity or by name.

    A mention without identity is grouped by name. If exactly one identified author has that name,
    with compatible first names, the mention is assigned to that author.
    """
    same_key: dict[str, list[int]] = defaultdict(list)
    for index, mention in enumerate(mentions):
        key = mention.name.full_key if mode == "full" else mention.name.key
        same_key[key].append(index)
    grouped = dict(identity)
    for key, members in same_key.items():
        owners: dict[str, set[str]] = defaultdict(set)
        for index in members:
            if index in identity:
                owners[mentions[index].name.first].add(identity[index])
        nameless = [index for index in members if index not in identity]
        people = set().union(*owners.values())
        if mode != "compatible":
            only = min(people) if len(people) == 1 else ""
            for index in nameless:
                first = mentions[index].name.first
                fits = not first or first in owners or set(owners) == {""}
                grouped[index] = only if only and fits else f"name {key}"
            continue
        for index in nameless:
            first = mentions[index].name.first
            if first:
                own = owners[first]
                grouped[index] = min(own) if len(own) == 1 else f"name {key}|{first}"
                people.add(grouped[index])
        only = people.pop() if len(people) == 1 else f"name {key}"
        grouped |= {index: only for index in nameless if not mentions[index].name.first}
    return [grouped[index] for index in range(len(mentions))]
