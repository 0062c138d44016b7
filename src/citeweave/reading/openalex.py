"""OpenAlex works: JSON Lines of a snapshot, API pages, single works."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from citeweave.reading.affiliations import addresses, affiliation_of, funder_names
from citeweave.reading.entities import decode_entities
from citeweave.reading.formats import Format, Sample, as_dict, as_list, convert
from citeweave.reading.identifiers import (
    clean,
    normalise_doi,
    normalise_orcid,
    normalise_ror,
    parse_count,
    parse_year,
)
from citeweave.reading.jsonstream import json_objects
from citeweave.reading.names import is_nameless, parse_name
from citeweave.reading.record import Affiliation, Author, Record, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["FORMAT", "abstract_from_index", "countries_of", "institutions_of"]
__all__ += ["record_of", "short_id"]

# An index with a word at position 10^9 must not create a list of that length.
_LONGEST_ABSTRACT = 100_000


def short_id(value: Any) -> str | None:
    """Return "W2741809807" from "https://openalex.org/W2741809807"."""
    if not isinstance(value, str):
        return None
    return clean(value.rsplit("/", 1)[-1])


def abstract_from_index(index: Any) -> str | None:
    """Return the text of an inverted index {word: [positions]}.

    Examples
    --------
    >>> abstract_from_index({"topic": [0, 2], "a": [1]})
    'topic a topic'
    """
    if not isinstance(index, dict) or not index:
        return None
    length = sum(map(len, index.values()))
    if length > _LONGEST_ABSTRACT:
        raise ValueError(f"{length} words")
    # Nearly always every position is used exactly once: no sorting needed.
    words: list[str | None] = [None] * length
    try:
        for word, positions in index.items():
            for position in positions:
                words[position] = word
    except IndexError:
        words = [None]
    if None not in words:
        return clean(decode_entities(" ".join(words)))  # type: ignore[arg-type]
    placed = [(int(place), word) for word, places in index.items() for place in places]
    return clean(decode_entities(" ".join([word for _, word in sorted(placed)])))


def _references(cited: Any) -> tuple[Reference, ...]:
    """Return the cited works; this loop takes a good part of the reading time."""
    ids = [item for item in as_list(cited) if isinstance(item, str)]
    joined = "".join(ids)
    if joined.isprintable() and " " not in joined:
        return tuple([Reference(item[item.rfind("/") + 1 :]) for item in ids if item[-1:] != "/"])
    return tuple([Reference(name) for name in map(short_id, ids) if name])


def _authors(authorships: Any, line: int, context: FileContext) -> tuple[Author, ...]:
    authors = []
    for authorship in as_list(authorships):
        if not isinstance(authorship, dict):
            continue
        person = as_dict(authorship.get("author"))
        name = person.get("display_name") or authorship.get("raw_author_name")
        author = parse_name(
            name,
            id=short_id(person.get("id")),
            orcid=normalise_orcid(person.get("orcid")),
            affiliations=_affiliations(authorship),
        )
        if author is not None:
            authors.append(author)
        elif is_nameless(name):
            context.nameless_author(line)
    return tuple(authors)


def _institution(item: Any) -> Affiliation | None:
    """Return one institution; cached, because works repeat the same ones."""
    if not isinstance(item, dict):
        return affiliation_of(item)
    values = (item.get("display_name"), item.get("country_code"), item.get("ror"), item.get("id"))
    if not all(value is None or type(value) is str for value in values):
        return None
    return _place(*values)


@lru_cache(maxsize=50_000)
def _place(
    name: str | None, country: str | None, ror: str | None, identifier: str | None
) -> Affiliation | None:
    made = Affiliation(clean(name), clean(country), normalise_ror(ror), short_id(identifier))
    return made if any(made) else None


def _affiliations(authorship: dict[str, Any]) -> tuple[Affiliation, ...]:
    """Return the institutions of an author, or else the addresses, or else only the countries."""
    found = institutions_of(authorship)
    if found:
        return found
    raw = authorship.get("raw_affiliation_strings") or authorship.get("raw_affiliation_string")
    found = addresses(as_list(raw))
    countries = countries_of(authorship)
    if not found:
        return countries
    one = countries[0].country if len(countries) == 1 else None
    return tuple(place._replace(country=one) for place in found)


def institutions_of(authorship: dict[str, Any]) -> tuple[Affiliation, ...]:
    """Return the institutions of an author that OpenAlex has identified."""
    institutions = authorship.get("institutions")
    if not institutions:
        return ()
    return tuple(filter(None, map(_institution, as_list(institutions))))


def countries_of(authorship: dict[str, Any]) -> tuple[Affiliation, ...]:
    """Return the distinct countries of an author."""
    codes = [code for code in map(clean, as_list(authorship.get("countries"))) if code]
    return tuple(Affiliation(country=code) for code in dict.fromkeys(codes))


def _funders(work: dict[str, Any]) -> tuple[str, ...]:
    """Return the funders; works from before 2025 list them with their grants."""
    named = [as_dict(one).get("display_name") for one in as_list(work.get("funders"))]
    granted = [as_dict(one).get("funder_display_name") for one in as_list(work.get("grants"))]
    return funder_names(named or granted)


def _venue(work: dict[str, Any]) -> str | None:
    for key in ("primary_location", "best_oa_location"):
        venue = clean(as_dict(as_dict(work.get(key)).get("source")).get("display_name"))
        if venue:
            return venue
    return clean(as_dict(work.get("host_venue")).get("display_name"))


def _category(work: dict[str, Any]) -> str | None:
    """Return the field of the primary topic, or the broadest concept of older snapshots."""
    topic = as_dict(work.get("primary_topic"))
    category = clean(as_dict(topic.get("field")).get("display_name"))
    if category is not None:
        return category
    for concept in as_list(work.get("concepts")):
        if isinstance(concept, dict) and concept.get("level") == 0:
            return clean(concept.get("display_name"))
    return None


def _keywords(work: dict[str, Any]) -> tuple[str, ...]:
    words = []
    for item in as_list(work.get("keywords")):
        name = item.get("display_name") or item.get("keyword") if isinstance(item, dict) else item
        word = clean(name)
        if word:
            words.append(word)
    return tuple(words)


def _record(work: dict[str, Any], line: int, context: FileContext) -> Record | None:
    return record_of(
        work,
        line,
        context,
        authors=_authors(work.get("authorships"), line, context),
        references=_references(work.get("referenced_works")),
    )


def record_of(
    work: dict[str, Any],
    line: int,
    context: FileContext,
    *,
    authors: tuple[Author, ...] = (),
    references: tuple[Reference, ...] = (),
) -> Record:
    """Return the record of a work, with authors and references as given.

    The import of a snapshot instead reads those of millions of works as numbers.
    """
    doi = normalise_doi(work.get("doi"))
    abstract = None
    try:
        abstract = abstract_from_index(work.get("abstract_inverted_index"))
    except (TypeError, ValueError) as error:
        context.note(
            line, f"inverted index cannot be read ({error})", field="abstract_inverted_index"
        )
    if abstract is None:
        abstract = clean(work.get("abstract"))
    return Record(
        id=short_id(work.get("id")) or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=clean(work.get("title")) or clean(work.get("display_name")),
        abstract=abstract,
        keywords=_keywords(work),
        authors=authors,
        year=parse_year(work.get("publication_year")) or parse_year(work.get("publication_date")),
        venue=_venue(work),
        category=_category(work),
        references=references,
        language=clean(work.get("language")),
        document_type=clean(work.get("type")),
        cited_by=parse_count(work.get("cited_by_count")),
        funders=_funders(work),
    )


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(json_objects(stream, context), _record, context)


def _sniff(sample: Sample) -> int:
    if not sample.is_json:
        return 0
    marks = {"authorships", "abstract_inverted_index", "referenced_works", "host_venue"}
    score = 20 * len(marks & sample.json_keys)
    if "openalex.org/W" in sample.text:
        score += 60
    return min(score, 90) if score >= 40 else 0


FORMAT = Format(
    name="openalex",
    label="OpenAlex works (JSON, JSON Lines)",
    sniff=_sniff,
    read=_read,
    suffixes=(".jsonl", ".json"),
    gives="id doi title abstract keywords authors author_ids affiliations year venue category "
    "references language document_type cited_by funders",
)
