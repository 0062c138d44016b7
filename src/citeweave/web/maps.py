"""Options of bibliometric maps: offered on their pages and read from query strings."""

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
"""Options that differ from their defaults, by name; used as a cache key."""

MOST = 300
"""Maximum number of nodes of a map on a page."""

LEDES = {
    "co-citation": "Papers that are cited together lie close to each other. Dot size grows with "
    "the number of citations a paper receives in this corpus.",
    "co-cited-works": "Works that are cited together lie close to each other, whether or not they "
    "are in this corpus. Dot size grows with the number of papers in the corpus that cite a work.",
    "coupling": "Papers that cite the same papers lie close to each other. This also shows related "
    "work that is too recent to be cited.",
    "author-coupling": "Authors whose papers cite the same papers lie close to each other, whether "
    "or not they have written together.",
    "co-words": "Words that occur in the same papers lie close to each other. Dot size grows with "
    "the number of papers that contain the word.",
    "co-authors": "Authors who write together are linked. Dot size grows with an author's number "
    "of papers.",
    "co-institutions": "Institutions whose authors write together are linked. Dot size grows with "
    "an institution's number of papers.",
    "co-countries": "Countries whose authors write together are linked. Dot size grows with a "
    "country's number of papers.",
    "historiograph": "The most cited papers in chronological order, with the citations between "
    "them.",
    "main-path": "The chains of citations that carry the most paths from the newest papers to the "
    "oldest.",
    "thematic": "Callon's strategic diagram: topics by how strongly their words co-occur with "
    "words of other topics (centrality) and with each other (density).",
}


NEEDS = {
    "author-coupling": "authors",
    "co-authors": "authors",
    "co-institutions": "institutions",
    "co-countries": "countries",
    "co-cited-works": "outside_references",
}
"""Maps that are offered only if the corpus has the contributors they show."""


class MapChoice(NamedTuple):
    """A form field: its name, label, and values with their descriptions."""

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
    QueryField("colour", f"Maps only: {', '.join(COLOURINGS)}."),
    QueryField("top", "Maps only: maximum number of nodes.", {"type": "integer"}),
    QueryField("counting", f"Maps only: {', '.join(COUNTINGS)}."),
    QueryField("weight", f"Maps only: {', '.join(WEIGHTS)}."),
    QueryField("terms", f"Co-words only: {', '.join(TERMS)}."),
)


def choices_of(kind: str) -> tuple[MapChoice, ...]:
    """Return the options that the page of a map offers."""
    if kind == "thematic":
        return ()
    if kind in {"historiograph", "main-path"}:
        return (_COLOURS,)
    words = (_TERMS,) if kind == "co-words" else ()
    return (_COLOURS, *words, _COUNTING, _WEIGHT)


def default_top(kind: str) -> int | None:
    """Return the default number of nodes of a map; None if it cannot be chosen."""
    return {"historiograph": 40, "main-path": 10, "thematic": None}.get(kind, 100)


def read_options(request: Request, kind: str) -> MapOptions:
    """Read the options of a map from a query string, ignoring invalid ones."""
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
