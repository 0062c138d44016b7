"""Collect affiliations while records are read, and resolve them to institutions."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from citeweave.corpus.affiliations import affiliation_columns
from citeweave.preparing.institutions import Place, institution_key, place_of
from citeweave.preparing.keys import scrub
from citeweave.preparing.union import Roots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.reading import Affiliation

__all__ = ["PlaceRegister", "ResolvedPlaces"]

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class ResolvedPlaces:
    """Institutions after resolution.

    Attributes
    ----------
    names : list of str
        Unique name of each institution.
    ids : list of str
        The ROR, or else the id in the source, or else "".
    countries : list of str
        ISO code of the country, "" if unknown.
    of_mention : list of int
        The institution of each mention, -1 if there is none.
    country_of_mention : list of str
        The country of each mention, "" if there is none.
    """

    names: list[str]
    ids: list[str]
    countries: list[str]
    of_mention: list[int]
    country_of_mention: list[str]

    @property
    def identified(self) -> int:
        """Number of institutions with an identifier."""
        return sum(map(bool, self.ids))

    def columns(
        self, authors: Sequence[Sequence[Sequence[int]]], rest: Sequence[Sequence[int]]
    ) -> dict[str, list[Any]]:
        """Return the metadata columns for a corpus.

        Parameters
        ----------
        authors
            For each document and each of its authors, the affiliation mentions.
        rest
            For each document, mentions that are not assigned to an author.
        """
        return affiliation_columns(
            [[self._institutions(own) for own in team] for team in authors],
            [self._institutions(others) for others in rest],
            [
                self._countries_alone(team, others)
                for team, others in zip(authors, rest, strict=True)
            ],
            names=self.names,
            ids=self.ids,
            countries=self.countries,
        )

    def _institutions(self, mentions: Sequence[int]) -> list[int]:
        if len(mentions) == 1:  # nearly always
            number = self.of_mention[mentions[0]]
            return [number] if number >= 0 else []
        found = [self.of_mention[mention] for mention in mentions]
        return list(dict.fromkeys([number for number in found if number >= 0]))

    def _countries_alone(self, team: Sequence[Sequence[int]], others: Sequence[int]) -> list[str]:
        """Return the countries of mentions without an institution."""
        of_mention = self.of_mention
        alone = [mention for own in (*team, others) for mention in own if of_mention[mention] < 0]
        return [code for code in map(self.country_of_mention.__getitem__, alone) if code]


class PlaceRegister:
    """Collect affiliations, then decide which are the same institution.

    Institutions are identified by their ids (ROR, OpenAlex); two ids seen together belong to the
    same institution. Names without an id are compared by their words, with abbreviations expanded,
    and by country.
    """

    def __init__(self) -> None:
        self._known: dict[Affiliation, int] = {}
        self._mentions: list[tuple[Affiliation, Place]] = []
        self._count: list[int] = []

    def mention(self, affiliation: Affiliation, times: int = 1) -> int:
        """Register an affiliation with its count; the same text gives the same number."""
        number = self._known.setdefault(affiliation, len(self._mentions))
        if number == len(self._mentions):
            self._mentions.append((affiliation, place_of(affiliation)))
            self._count.append(0)
        self._count[number] += times
        return number

    def resolve(self) -> ResolvedPlaces:
        """Decide which affiliations are the same institution."""
        roots = Roots()
        group: dict[int, str] = {}
        for number, (affiliation, _) in enumerate(self._mentions):
            tags = [f"ror {affiliation.ror}"] if affiliation.ror else []
            tags += [f"id {affiliation.id}"] if affiliation.id else []
            if tags:
                group[number] = roots.join(tags)
        group = {number: roots.find(tag) for number, tag in group.items()}
        group |= self._by_name(group)
        members: dict[str, list[int]] = defaultdict(list)
        for number in range(len(self._mentions)):
            if number in group:
                members[group[number]].append(number)
        return self._resolved(list(members.values()))

    def _by_name(self, identified: dict[int, str]) -> dict[int, str]:
        """Group named institutions without id by name and country."""
        owners: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        unnamed: list[tuple[int, str, str]] = []
        for number, (_, place) in enumerate(self._mentions):
            key = institution_key(place.name) if place.name else ""
            if not key:
                continue
            country = place.country or ""
            if number in identified:
                owners[key][country].add(identified[number])
            else:
                unnamed.append((number, key, country))
        countries: dict[str, set[str]] = defaultdict(set)
        for _, key, country in unnamed:
            countries[key] |= {country} - {""}
        for key, own in owners.items():
            countries[key] |= set(own) - {""}
        found: dict[int, str] = {}
        for number, key, country in unnamed:
            # without a country: the institution of that name, if it is unique
            alone = not country and len(countries[key]) == 1
            where = next(iter(countries[key])) if alone else country
            known = owners[key][where] if key in owners else set()
            found[number] = next(iter(known)) if len(known) == 1 else f"name {key}|{where}"
        return found

    def _resolved(self, groups: list[list[int]]) -> ResolvedPlaces:
        of_mention = [-1] * len(self._mentions)
        names, ids, countries = [], [], []
        used: set[str] = set()
        for number, members in enumerate(groups):
            for mention in members:
                of_mention[mention] = number
            country = self._most([self._mentions[m][1].country for m in members], members)
            label = base = self._name(members)
            suffix = 2
            if label in used and country:
                label = f"{base} ({country})"
            while label in used:
                label, suffix = f"{base} ({suffix})", suffix + 1
            used.add(label)
            names.append(label)
            countries.append(country)
            ids.append(
                self._most([self._mentions[m][0].ror for m in members], members)
                or self._most([self._mentions[m][0].id for m in members], members)
            )
        own = [place.country or "" for _, place in self._mentions]
        return ResolvedPlaces(names, ids, countries, of_mention, own)

    def _most(self, values: Sequence[str | None], members: Sequence[int]) -> str:
        """Return the most frequent value, "" if there is none."""
        counts: Counter[str] = Counter()
        for value, mention in zip(values, members, strict=True):
            if value:
                counts[value] += self._count[mention]
        return min(counts, key=lambda value: (-counts[value], value)) if counts else ""

    def _name(self, members: Sequence[int]) -> str:
        """Return the spelling to display: written out, not in capitals, most frequent."""
        counts: Counter[str] = Counter()
        for mention in members:
            affiliation, place = self._mentions[mention]
            name = scrub((place.name or "")[:_LONGEST_NAME])
            if name:
                # a name with an identifier comes from the registry
                counts[name] += self._count[mention] * (1000 if affiliation.ror else 1)
        if not counts:
            return self._most(
                [self._mentions[m][0].ror or self._mentions[m][0].id for m in members], members
            )
        best = max(
            counts, key=lambda name: (not name.isupper(), _written_out(name), counts[name], name)
        )
        return best.title() if best.isupper() and len(best) > 5 else best


def _written_out(name: str) -> bool:
    """Return whether a name has no abbreviated words, unlike those of Web of Science."""
    words = name.lower().replace(".", "").split()
    return not {"univ", "inst", "natl", "ctr", "hosp", "acad", "sci", "technol"} & set(words)
