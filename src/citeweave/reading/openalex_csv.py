"""OpenAlex works exported from the web site: CSV with lists joined by bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citeweave.reading.affiliations import funder_names, share_out
from citeweave.reading.cells import cell, listed, table_reader
from citeweave.reading.formats import Format, Sample
from citeweave.reading.identifiers import normalise_doi, normalise_orcid, parse_count, parse_year
from citeweave.reading.names import parse_name
from citeweave.reading.openalex import short_id
from citeweave.reading.record import Affiliation, Author, Record, Reference

if TYPE_CHECKING:
    from citeweave.reading.problems import FileContext
    from citeweave.reading.table import Row

__all__ = ["FORMAT"]


def _places(row: Row, *columns: str) -> list[str]:
    """Return the items of a column, including empty ones, since lists match by position."""
    for column in columns:
        cell = row.get(column)
        if cell:
            return [item.strip() for item in cell.split("|")]
    return []


def _authors(row: Row, line: int, context: FileContext) -> tuple[Author, ...]:
    names = _places(row, "authorships.author.display_name", "author_names", "authors")
    ids = _places(row, "authorships.author.id", "author_ids")
    orcids = _places(row, "authorships.author.orcid", "author_orcids")
    # Empty values may be missing from the joined lists; then positions no longer match.
    if ids and len(ids) != len(names):
        context.note(
            line,
            f"{len(names)} authors but {len(ids)} author ids; the ids are ignored",
            field="authorships.author.id",
        )
        ids = []
    if len(orcids) != len(names):
        orcids = []
    places = _affiliations(row, len(names))
    authors = []
    for place, name in enumerate(names):
        author = parse_name(
            name,
            id=short_id(ids[place]) if ids else None,
            orcid=normalise_orcid(orcids[place]) if orcids else None,
            affiliations=(places[place],)
            if len(places) == len(names) and any(places[place])
            else (),
        )
        if author is not None:
            authors.append(author)
    return tuple(authors)


def _affiliations(row: Row, n_authors: int) -> list[Affiliation]:
    """Return the institutions, with their countries if these can be determined.

    If no author has two institutions, there are as many entries as authors, including empty ones,
    and positions match. Otherwise the institutions are only known to belong to the paper.
    """
    names = _places(row, "authorships.institutions.display_name")
    ids = _places(row, "authorships.institutions.id")
    countries = _places(row, "authorships.countries")
    ids = ids if len(ids) == len(names) else [""] * len(names)
    if len(names) == n_authors == len(countries):
        codes = [code if "," not in code else "" for code in countries]
    else:
        only = set(filter(None, countries))
        codes = [only.pop() if len(only) == 1 else ""] * len(names)
    found = [
        Affiliation(institution=name or None, country=code or None, id=short_id(ident))
        for name, ident, code in zip(names, ids, codes, strict=True)
    ]
    if names and not any(codes):
        found += [Affiliation(country=code) for code in dict.fromkeys(filter(None, countries))]
    elif not names:
        found = [Affiliation(country=code or None) for code in countries]
    return found


def _record(row: Row, line: int, context: FileContext) -> Record | None:
    doi = normalise_doi(row.get("doi"))
    keywords = listed(row, "keywords.display_name", "keywords", mark="|")
    authors = _authors(row, line, context)
    places = _affiliations(row, len(authors))
    if any(author.affiliations for author in authors):
        places = []
    authors, rest = share_out(authors, filter(any, places))
    cited = listed(row, "referenced_works", "referenced_works.id", mark="|")
    return Record(
        id=short_id(row.get("id")) or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=cell(row, "title", "display_name"),
        abstract=cell(row, "abstract"),
        keywords=tuple(keywords),
        authors=authors,
        year=parse_year(row.get("publication_year")) or parse_year(row.get("publication_date")),
        venue=cell(row, "primary_location.source.display_name", "host_venue", "source"),
        category=cell(
            row,
            "primary_topic.field.display_name",
            "primary_topic.subfield.display_name",
            "primary_topic.display_name",
        ),
        references=tuple(Reference(id=short_id(item)) for item in cited),
        language=cell(row, "language"),
        affiliations=rest,
        document_type=cell(row, "type"),
        cited_by=parse_count(row.get("cited_by_count")),
        funders=funder_names(
            listed(row, "funders.display_name", "grants.funder_display_name", mark="|")
        ),
    )


def _sniff(sample: Sample) -> int:
    if sample.is_json or "id" not in sample.header:
        return 0
    if any(name.startswith("authorships.") for name in sample.header):
        return 90
    return 70 if "openalex.org/W" in sample.text and "publication_year" in sample.header else 0


FORMAT = Format(
    name="openalex-csv",
    label="OpenAlex works (CSV export)",
    sniff=_sniff,
    read=table_reader(_record),
    suffixes=(".csv",),
    gives="id doi title abstract keywords authors author_ids affiliations year venue category "
    "references language document_type cited_by funders",
)
