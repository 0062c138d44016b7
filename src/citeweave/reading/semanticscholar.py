"""Semantic Scholar: API and dataset papers, the Open Research Corpus, S2ORC and CORD-19."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citeweave.reading.affiliations import affiliations_of
from citeweave.reading.formats import Format, Sample, as_dict, as_list, convert
from citeweave.reading.identifiers import clean, normalise_doi, parse_count, parse_year
from citeweave.reading.jsonstream import json_objects
from citeweave.reading.names import is_nameless, parse_name
from citeweave.reading.record import Affiliation, Author, Record, Reference
from citeweave.reading.references import reference_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["FORMAT"]


def _authors(items: Any, line: int, context: FileContext) -> tuple[Author, ...]:
    authors = []
    for item in as_list(items):
        author: Author | None
        if not isinstance(item, dict):
            author = parse_name(item)
        elif item.get("name") is not None:
            ids = as_list(item.get("ids"))
            author = parse_name(
                item["name"],
                id=clean(item.get("authorId")) or (clean(ids[0]) if ids else None),
                affiliations=_affiliations(item),
            )
        else:
            author = _from_parts(item)
        if author is not None:
            authors.append(author)
        elif not isinstance(item, dict) or is_nameless(item.get("name")):
            context.nameless_author(line)
    return tuple(authors)


def _affiliations(item: dict[str, Any]) -> tuple[Affiliation, ...]:
    return affiliations_of(item.get("affiliations") or item.get("affiliation") or [])


def _from_parts(item: dict[str, Any]) -> Author | None:
    """Return the author from S2ORC's first, middle, last and suffix."""
    given = [clean(item.get("first")), *map(clean, as_list(item.get("middle")))]
    family = [clean(item.get("last")), clean(item.get("suffix"))]
    given_text = " ".join(filter(None, given)) or None
    family_text = " ".join(filter(None, family)) or None
    name = " ".join(filter(None, (given_text, family_text)))
    if not name:
        return None
    return Author(name, given_text, family_text, affiliations=_affiliations(item))


def _abstract(value: Any) -> str | None:
    """Return an abstract given as a string, or as paragraphs in full-text files."""
    if isinstance(value, list):
        parts = [item.get("text") if isinstance(item, dict) else item for item in value]
        return clean(" ".join(part for part in parts if isinstance(part, str)))
    return clean(value)


def _references(paper: dict[str, Any]) -> tuple[Reference, ...]:
    for key in ("outbound_citations", "references", "outCitations"):
        items = as_list(paper.get(key))
        if items:
            found = (reference_of(item) for item in items)
            return tuple(reference for reference in found if reference is not None)
    references = []
    for entry in as_dict(paper.get("bib_entries")).values():
        item = as_dict(entry)
        dois = as_list(as_dict(item.get("other_ids")).get("DOI"))
        reference = reference_of({**item, "doi": dois[0] if dois else item.get("doi")})
        if reference is not None:
            references.append(reference)
    return tuple(references)


def _first_field(paper: dict[str, Any]) -> str | None:
    for key in ("fieldsOfStudy", "s2FieldsOfStudy", "s2fieldsofstudy", "mag_field_of_study"):
        for item in as_list(paper.get(key)):
            field = clean(item.get("category") if isinstance(item, dict) else item)
            if field:
                return field
    return None


def _record(paper: dict[str, Any], line: int, context: FileContext) -> Record | None:
    # Full-text files store the bibliographic part separately.
    about = {**paper, **as_dict(paper.get("metadata"))}
    other = as_dict(paper.get("externalIds") or paper.get("externalids"))
    doi = normalise_doi(about.get("doi")) or normalise_doi(other.get("DOI"))
    identifier = None
    for key in ("paperId", "paper_id", "corpusid", "corpusId", "id"):
        identifier = identifier or clean(paper.get(key))
    journal = about.get("journal")
    journal = journal.get("name") if isinstance(journal, dict) else journal
    venue = clean(about.get("venue")) or clean(journal) or clean(about.get("journalName"))
    return Record(
        id=identifier or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=clean(about.get("title")),
        abstract=_abstract(about.get("abstract")) or clean(about.get("paperAbstract")),
        authors=_authors(about.get("authors"), line, context),
        year=parse_year(about.get("year"))
        or parse_year(about.get("publicationDate") or about.get("publicationdate")),
        venue=venue,
        category=_first_field(about),
        references=_references(about),
        document_type=next(filter(None, map(clean, as_list(about.get("publicationTypes")))), None),
        cited_by=parse_count(about.get("citationCount", about.get("citationcount"))),
    )


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(json_objects(stream, context), _record, context)


def _sniff(sample: Sample) -> int:
    keys = sample.json_keys
    if keys & {"paperId", "corpusid", "corpusId"}:
        return 80
    marks = {"outbound_citations", "mag_field_of_study", "s2_url", "has_pdf_parse", "bib_entries"}
    if "paper_id" in keys and keys & marks:
        return 85
    return 80 if "outCitations" in keys and keys & {"paperAbstract", "inCitations"} else 0


FORMAT = Format(
    name="semanticscholar",
    label="Semantic Scholar / S2ORC JSON Lines",
    sniff=_sniff,
    read=_read,
    suffixes=(".jsonl", ".json"),
    gives="id doi title abstract authors author_ids affiliations year venue category references "
    "document_type cited_by",
)
