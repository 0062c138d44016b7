"""Any table or JSON Lines file, with columns found by their usual names or a user-defined map."""

from __future__ import annotations

import difflib
import json
import re
from typing import TYPE_CHECKING, Any

from citeweave.errors import ParameterError
from citeweave.naming import choice
from citeweave.reading.affiliations import (
    affiliations_of,
    funder_names,
    share_out,
    with_affiliations,
)
from citeweave.reading.formats import as_list
from citeweave.reading.identifiers import (
    clean,
    normalise_doi,
    normalise_orcid,
    parse_count,
    parse_year,
)
from citeweave.reading.latex import plain_text
from citeweave.reading.names import is_nameless, parse_name, parse_names, split_names
from citeweave.reading.record import Affiliation, Author, Record, Reference
from citeweave.reading.references import reference_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from citeweave.reading.problems import FileContext

__all__ = ["COLUMNS", "check_columns", "has_text", "make_record", "missing_columns"]

# Record field to its usual column names, most likely first.
COLUMNS: dict[str, tuple[str, ...]] = {
    "id": (
        "id",
        "_id",
        "paper_id",
        "paperid",
        "doc_id",
        "document_id",
        "pmid",
        "uid",
        "key",
        "identifier",
        "eid",
        "ut",
        "citation_key",
        "lens_id",
        "publication id",
    ),
    "doi": ("doi", "digital object identifier", "dois", "item doi"),
    "title": (
        "title",
        "document title",
        "article title",
        "paper title",
        "paper_title",
        "item title",
        "titles",
        "display_name",
    ),
    "abstract": (
        "abstract",
        "abstract note",
        "abstract_text",
        "abstracts",
        "summary",
        "text",
        "description",
        "body",
    ),
    "keywords": (
        "keywords",
        "keyword",
        "author keywords",
        "authorkeywords",
        "author_keywords",
        "tags",
        "manual tags",
        "ieee terms",
    ),
    "authors": (
        "authors",
        "author",
        "author names",
        "author_names",
        "authornames-deduped",
        "authornames",
        "author full names",
        "author/s",
        "creators",
        "authors_raw",
    ),
    "year": (
        "year",
        "publication year",
        "publication_year",
        "pubyear",
        "pub_year",
        "year_published",
        "py",
        "publication date",
        "publication_date",
        "published",
        "date",
        "issued",
        "published-print",
        "published-online",
        "update_date",
    ),
    "venue": (
        "venue",
        "journal",
        "journal/book",
        "journal_name",
        "source title",
        "conference",
        "publication title",
        "booktitle",
        "container-title",
        "journal_ref",
        "journal-ref",
        "publication",
        "source",
    ),
    "category": ("category", "label", "class", "categories", "field", "subject", "field of study"),
    "references": (
        "references",
        "cited references",
        "cited_references",
        "referenced_works",
        "reference_ids",
        "internalreferences",
        "outbound_citations",
        "reference",
        "cites",
    ),
    "language": ("language", "lang", "language of original document"),
    "affiliations": (
        "affiliations",
        "affiliation",
        "author affiliations",
        "author_affiliations",
        "authoraffiliation",
        "authoraffiliations",
        "institutions",
        "institution",
        "addresses",
    ),
    "document_type": (
        "document_type",
        "document type",
        "publication type",
        "publication_type",
        "doc_type",
        "item type",
        "type",
    ),
    "cited_by": (
        "cited_by",
        "cited by",
        "cited_by_count",
        "citedby",
        "times cited",
        "times_cited",
        "citation count",
        "citation_count",
        "citationcount",
        "is-referenced-by-count",
        "citationcount_crossref",
        "cites",
    ),
    "funders": ("funders", "funder", "funding", "funding agencies", "funding_agencies"),
}
_TEXT_COLUMNS = frozenset(COLUMNS["title"] + COLUMNS["abstract"])
_SHORT_NAME = re.compile(r"[^,.]*[a-zß-ÿ][^,.]* [A-Z]{1,3}")
_COUNT = re.compile(r"\d+(?:\.0*)?")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")


def check_columns(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the user's column map, or raise an error for unknown fields."""
    for field, column in columns.items():
        if field not in COLUMNS:
            near = difflib.get_close_matches(str(field), COLUMNS, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ParameterError(
                f"The 'columns' option of read maps record fields to columns, but {field!r} is not "
                f"a record field. Fields: {', '.join(COLUMNS)}.{hint}"
            )
        if not isinstance(column, str) or not column.strip():
            raise ParameterError(
                f"The column for field {field!r} must be a name. Got {column!r} instead."
            )
    return dict(columns)


def has_text(names: Iterable[str]) -> bool:
    """Return whether some column looks like a title or a text."""
    return not _TEXT_COLUMNS.isdisjoint(names)


def missing_columns(names: Iterable[str], context: FileContext) -> str | None:
    """Return why a table with these columns cannot be read, or None."""
    known = {name.lower() for name in names}
    for field, column in context.columns.items():
        if column.strip().lower() not in known:
            near = difflib.get_close_matches(column.lower(), known, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            return f"no column {column!r} for field {field!r}.{hint} Columns: {_named(known)}"
    if not has_text(known) and not context.columns.keys() & {"title", "abstract"}:
        naming = choice("columns={'title': …, 'abstract': …}", "--columns title=…,abstract=…")
        return (
            f"no column looks like a title or an abstract; name them with {naming}. "
            f"Columns: {_named(known)}"
        )
    return None


def _named(names: set[str]) -> str:
    shown = sorted(name[:60] for name in names if name)
    return ", ".join(shown[:40]) + (", …" if len(shown) > 40 else "")


def _get(item: Mapping[str, Any], field: str, columns: Mapping[str, str]) -> Any:
    """Return the value of a field; a column in the user's map may be a dotted path."""
    if field in columns:
        path = columns[field].strip().lower()
        if path in item:
            return item[path]
        value: Any = item
        for step in path.split("."):
            if not isinstance(value, dict):
                return None
            value = next((inner for key, inner in value.items() if key.lower() == step), None)
        return value
    for name in COLUMNS[field]:
        value = item.get(name)
        if value is not None and value != "":
            return value
    return None


def _plain(value: Any) -> str | None:
    """Return a text; for an object its name, for a list its first item."""
    if isinstance(value, list):
        return next((text for text in map(_plain, value[:20]) if text), None)
    if isinstance(value, dict):
        for key in ("name", "display_name", "raw", "title", "text", "value"):
            if isinstance(value.get(key), str):
                return clean(value[key])
        return None
    return clean(value)


def _listed(text: str) -> list[Any] | None:
    """Return the items of a list written as text, as pandas and other tools do."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        quoted = _QUOTED.findall(text)
        if quoted:
            return [single or double for single, double in quoted]
        return [part for part in text[1:-1].split(",") if part.strip()]
    return value if isinstance(value, list) else None


def _author(item: Any) -> Author | None:
    if not isinstance(item, dict):
        latex = isinstance(item, str) and ("\\" in item or "~" in item)
        return parse_name(plain_text(item) if latex else item)
    identifier = clean(item.get("id") or item.get("authorId") or item.get("_id"))
    orcid = normalise_orcid(item.get("orcid") or item.get("ORCID"))
    places = affiliations_of(item.get("affiliations") or item.get("affiliation") or [])
    name = item.get("name") or item.get("display_name") or item.get("full_name")
    if name is None:
        given = _any(item, "given", "first", "first_name", "firstName")
        family = _any(item, "family", "last", "last_name", "lastName")
        whole = " ".join(filter(None, (given, family)))
        return Author(whole, given, family, identifier, orcid, places) if whole else None
    return parse_name(name, id=identifier, orcid=orcid, affiliations=places)


def _is_nobody(item: Any) -> bool:
    return _author(item) is None if isinstance(item, dict) else is_nameless(item)


def _any(item: dict[str, Any], *keys: str) -> str | None:
    return next((text for key in keys if (text := clean(item.get(key)))), None)


def _authors(value: Any) -> tuple[Author, ...]:
    if isinstance(value, str):
        listed = _listed(value)
        if listed is None:
            listed = list(split_names(value))
            # PubMed's tables write "Lim KW"; a single such name could also be "Wei LI".
            if len(listed) > 1 and sum(map(bool, map(_SHORT_NAME.fullmatch, listed))) > 1:
                return parse_names(listed, family_first=True)
        value = listed
    found = (_author(item) for item in as_list(value))
    return tuple(author for author in found if author is not None)


def _placed(
    authors: tuple[Author, ...], value: Any
) -> tuple[tuple[Author, ...], tuple[Affiliation, ...]]:
    """Assign the affiliations of a column to the authors, one each, or else to the record.

    If authors have their own affiliations, the column is ignored.
    """
    if any(author.affiliations for author in authors) or value is None:
        return authors, ()
    items = value
    if isinstance(value, str):
        items = _listed(value)
        if items is None:
            mark = next((mark for mark in (";", "|", "\n") if mark in value), ";")
            items = value.split(mark)
    items = as_list(items)
    if len(items) == len(authors) > 1:
        own = [affiliations_of(one) for one in items]
        return with_affiliations(authors, own), ()
    return share_out(authors, affiliations_of(items))


def _funders(value: Any) -> tuple[str, ...]:
    items = value.split(";") if isinstance(value, str) else as_list(value)
    return funder_names(map(_plain, items))


def _keywords(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        items = _listed(value)
        if items is None:
            mark = next((mark for mark in (";", "|", "\n", ",") if mark in value), ";")
            items = list(value.split(mark))
    else:
        items = as_list(value)
    return tuple(word for word in map(_plain, items) if word)


def _references(value: Any) -> tuple[Reference, ...]:
    if isinstance(value, int | float):
        return ()  # citation counts, which Publish or Perish calls "Cites"
    if isinstance(value, str):
        items = _listed(value)
        if items is None:
            items = _split_references(value)
    else:
        items = as_list(value)
    found = (reference_of(item) for item in items)
    return tuple(reference for reference in found if reference is not None)


def _without_count(item: Mapping[str, Any], value: Any, columns: Mapping[str, str]) -> Any:
    """Drop a single number in a column "cites", which is a count of citations."""
    counted = "references" not in columns and value is not None and value is item.get("cites")
    return None if counted and _COUNT.fullmatch(str(value).strip()) else value


def _split_references(text: str) -> list[Any]:
    for mark in (";", "|", "\n"):
        if mark in text:
            return list(text.split(mark))
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 1 and not any(" " in part for part in parts):
        return list(parts)
    words = text.split()
    if len(words) > 1 and all(any(c.isdigit() for c in word) for word in words):
        return list(words)
    return [text]


def make_record(item: dict[str, Any], line: int, context: FileContext) -> Record | None:
    """Return the record of one row or object, whose keys are compared in lower case."""
    lower = {key.lower(): value for key, value in item.items() if isinstance(key, str)}

    def get(field: str) -> Any:
        return _get(lower, field, context.columns)

    identifier = _plain(get("id"))
    doi = normalise_doi(_plain(get("doi"))) or normalise_doi(identifier)
    written = get("authors")
    authors, rest = _placed(_authors(written), get("affiliations"))
    if isinstance(written, list) and any(map(_is_nobody, written)):
        context.nameless_author(line)
    return Record(
        id=identifier or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=_plain(get("title")),
        abstract=_plain(get("abstract")),
        keywords=_keywords(get("keywords")),
        authors=authors,
        year=parse_year(_scalar(get("year"))),
        venue=_plain(get("venue")),
        category=_plain(get("category")),
        references=_references(_without_count(lower, get("references"), context.columns)),
        language=_plain(get("language")),
        affiliations=rest,
        document_type=_plain(get("document_type")),
        cited_by=parse_count(_plain(get("cited_by"))),
        funders=_funders(get("funders")),
    )


def _scalar(value: Any) -> Any:
    """Return the part of a value that contains the year, as in CSL-JSON and Crossref dates."""
    value = as_list(value)[0] if isinstance(value, list) and value else value
    if not isinstance(value, dict):
        return value
    parts = as_list(value.get("date-parts"))[:1]
    first = as_list(parts[0])[:1] if parts else []
    found = (*first, value.get("year"), value.get("raw"), value.get("literal"))
    return next((item for item in found if item is not None), None)
