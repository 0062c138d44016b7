"""Apply the user's corrections to mentions of authors."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from citeweave.preparing.keys import doi_key
from citeweave.preparing.people.agreeing import agreement, written_name
from citeweave.reading.name_parts import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from citeweave.corpus.people import PersonRow
    from citeweave.preparing.people.by_name import NamedMention

__all__ = ["Corrected", "correct_people", "paper_keys"]


class Corrected(NamedTuple):
    """The result of applying corrections.

    Attributes
    ----------
    person : list of (str or None)
        The person named by the user for each entry in the concatenated author lists of all papers.
    unmatched : list of (PersonRow, str)
        Rows that match nobody, with the reasons.
    """

    person: list[str | None]
    unmatched: list[tuple[PersonRow, str]]


def paper_keys(ids: Iterable[Sequence[str]]) -> dict[str, int]:
    """Map all ids and DOIs of the papers to paper numbers."""
    found: dict[str, int] = {}
    for number, own in enumerate(ids):
        for one in own:
            found.setdefault(one.casefold(), number)
            if doi := doi_key(one):
                found.setdefault(doi, number)
    return found


def correct_people(
    rows: Sequence[PersonRow],
    teams: Sequence[Sequence[int]],
    mentions: Sequence[NamedMention],
    papers: dict[str, int],
) -> Corrected:
    """Find the entries that corrections apply to; rows with a paper take precedence.

    Parameters
    ----------
    rows : sequence of PersonRow
    teams : sequence of sequences of int
        The mentions of the authors of each paper.
    mentions : sequence of NamedMention
    papers : dict
        Maps ids and DOIs to paper numbers, see `paper_keys`.
    """
    starts, total = [], 0
    for team in teams:
        starts.append(total)
        total += len(team)
    person: list[str | None] = [None] * total
    unmatched: list[tuple[PersonRow, str]] = []
    general = [row for row in rows if not row.paper]
    by_key = _entries_by_key(teams, mentions) if general else {}
    for row in general:
        found = by_key.get(_key(row.name)) or by_key.get(row.name.casefold(), [])
        if not found:
            unmatched.append((row, "no paper has an author of this name"))
        for entry in found:
            person[entry] = row.person
    for row in rows:
        if not row.paper:
            continue
        paper = papers.get(row.paper.casefold())
        if paper is None and doi_key(row.paper):
            paper = papers.get(doi_key(row.paper))
        if paper is None:
            unmatched.append((row, "there is no such paper"))
            continue
        places = _named(row.name, teams[paper], mentions)
        if len(places) == 1:
            person[starts[paper] + places[0]] = row.person
        else:
            several = "several authors of the paper match the name"
            unmatched.append((row, several if places else "the paper has no author of this name"))
    return Corrected(person, unmatched)


def _key(name: str) -> str:
    return parse(name).full_key


def _entries_by_key(
    teams: Sequence[Sequence[int]], mentions: Sequence[NamedMention]
) -> dict[str, list[int]]:
    """Find entries by written name, id and ORCID."""
    found: dict[str, list[int]] = defaultdict(list)
    entry = 0
    for team in teams:
        for mention in team:
            own = mentions[mention]
            for key in dict.fromkeys((own.name.full_key, own.id or "", own.orcid or "")):
                found[key.casefold()].append(entry)
            entry += 1
    found.pop("", None)
    return found


def _named(name: str, team: Sequence[int], mentions: Sequence[NamedMention]) -> list[int]:
    """Find the named author of a paper: exactly as written, or else by a compatible name."""
    parsed = parse(name)
    exact = [
        place
        for place, mention in enumerate(team)
        if mentions[mention].name.full_key == parsed.full_key
        or name.casefold() in {(mentions[mention].id or "").casefold(), mentions[mention].orcid}
    ]
    if exact:
        return exact[:1] if len({team[place] for place in exact}) == 1 else exact
    wanted = written_name(parsed)
    fitting = []
    for place, mention in enumerate(team):
        own = written_name(mentions[mention].name)
        if own.block == wanted.block and agreement(own, wanted) is not None:
            fitting.append(place)
    return fitting
