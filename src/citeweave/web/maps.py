"""What can be chosen of a bibliometric map: read from an address, and offered on its page."""

from typing import Any, NamedTuple

from starlette.requests import Request

from citeweave.explore.graphs import MAPS
from citeweave.explore.graphs.painting import COLOURINGS
from citeweave.networks import COUNTINGS, TERMS, WEIGHTS
from citeweave.web.routes import QueryField, read_choice, read_integer

__all__ = [
    "LEDES",
    "MOST",
    "NEEDS",
    "QUERY",
    "MapOptions",
    "choices_of",
    "default_top",
    "read_options",
]

MapOptions = tuple[tuple[str, Any], ...]
"""Options that differ from their defaults, by name: a map is kept under these."""

MOST = 300
"""Nodes of a map in a page, at most."""

LEDES = {
    "co-citation": "Papers that other papers cite together lie near each other. Dot size "
    "grows with the citations that a paper receives in this literature.",
    "co-cited-works": "Works that papers cite together lie near each other, whether they are in "
    "this literature or not. Dot size grows with the number of its papers that cite a work.",
    "coupling": "Papers that cite the same papers lie near each other: work on the same ground, "
    "also where it is too new to be cited.",
    "author-coupling": "Authors whose papers cite the same papers lie near each other, whether "
    "they ever wrote together or not.",
    "co-words": "Words that occur in the same papers lie near each other. Dot size grows with "
    "the number of papers that have the word.",
    "co-authors": "Authors who write together are linked. Dot size grows with the number of "
    "papers of an author.",
    "co-institutions": "Institutions whose authors write together are linked. Dot size grows with "
    "the number of papers of an institution.",
    "co-countries": "Countries whose authors write together are linked. Dot size grows with the "
    "number of papers of a country.",
    "historiograph": "The most cited papers in order of time, and which of them cites which.",
    "main-path": "The paths of citations through which most of this literature is connected, "
    "from its newest papers to its oldest.",
    "thematic": "Topics by how much their words occur with those of others (centrality) and "
    "with each other (density), as Callon's strategic diagram shows themes.",
}


NEEDS = {
    "author-coupling": "authors",
    "co-authors": "authors",
    "co-institutions": "institutions",
    "co-countries": "countries",
    "co-cited-works": "outside_references",
}
"""Maps that are offered only where a corpus names those whom they show."""


class MapChoice(NamedTuple):
    """A field of the page's form: name, heading, and values with their texts."""

    name: str
    text: str
    values: tuple[tuple[str, str], ...]


_COLOURS = MapChoice(
    "colour", "Colours", (("cluster", "Clusters"), ("topic", "Topics"), ("year", "Years"))
)
_COUNTING = MapChoice("counting", "Counting", (("full", "Full"), ("fractional", "Fractional")))
_WEIGHT = MapChoice(
    "weight",
    "Similarity",
    (
        ("association", "Association strength"),
        ("raw", "Counts"),
        ("salton", "Salton's cosine"),
        ("jaccard", "Jaccard's index"),
        ("equivalence", "Equivalence index"),
    ),
)
_TERMS = MapChoice(
    "terms", "Words", (("auto", "Automatic"), ("keywords", "Keywords"), ("text", "Text"))
)

QUERY = (
    QueryField("colour", f"Of maps: {', '.join(COLOURINGS)}."),
    QueryField("top", "Of maps: most nodes.", {"type": "integer"}),
    QueryField("counting", f"Of maps: {', '.join(COUNTINGS)}."),
    QueryField("weight", f"Of maps: {', '.join(WEIGHTS)}."),
    QueryField("terms", f"Of co-words: {', '.join(TERMS)}."),
)


def choices_of(kind: str) -> tuple[MapChoice, ...]:
    """Give what the page of a map offers to choose."""
    if kind == "thematic":
        return ()
    if kind in {"historiograph", "main-path"}:
        return (_COLOURS,)
    words = (_TERMS,) if kind == "co-words" else ()
    return (_COLOURS, *words, _COUNTING, _WEIGHT)


def default_top(kind: str) -> int | None:
    """Give the number of nodes that a map has where none is asked for; None without a choice."""
    return {"historiograph": 40, "main-path": 10, "thematic": None}.get(kind, 100)


def read_options(request: Request, kind: str) -> MapOptions:
    """Read the options of a map from an address; what does not fit is as if it were not there."""
    if kind not in MAPS:
        return ()
    found: list[tuple[str, Any]] = []
    for choice in choices_of(kind):
        values = tuple(value for value, _ in choice.values)
        chosen = read_choice(request, choice.name, values)
        if chosen != values[0]:
            found.append((choice.name, chosen))
    usual = default_top(kind)
    if usual is not None:
        top = read_integer(request, "top", usual, low=5, high=MOST)
        if top != usual:
            found.append(("top", top))
    return tuple(found)
