"""BibTeX and BibLaTeX, with a parser that skips broken entries but never the whole file.

A block extends from a line that starts an entry to the next such line. Within a block, the entry is
parsed by its braces; if these do not balance, its fields are split by lines instead.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from citeweave.reading.affiliations import (
    addresses,
    affiliations_in_brackets,
    funder_names,
    share_out,
)
from citeweave.reading.formats import Format, Sample, convert
from citeweave.reading.identifiers import (
    clean,
    find_doi,
    normalise_doi,
    normalise_orcid,
    normalise_researcher_id,
    parse_count,
    parse_year,
)
from citeweave.reading.latex import plain_text
from citeweave.reading.names import identifiers_by_name, parse_name
from citeweave.reading.record import Affiliation, Author, Record, Reference
from citeweave.reading.references import wos_reference
from citeweave.reading.scopus_references import scopus_references

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["FORMAT"]

Entry = dict[str, str]

_START = re.compile(r"\s*@\s*([A-Za-z]+)\s*[{(]")
_ENTRY = re.compile(r"@\s*([A-Za-z]+)\s*([{(])")
_NEXT_ENTRY = re.compile(r"@\s*[A-Za-z]+\s*[{(]\s*[^\s,{}()]+\s*,")
# Web of Science writes "Early Access Date", Scopus "funding_text 1" with a non-breaking
# space. If fields are split by lines, names with spaces must be capitalised.
_FIELD = re.compile(r"[\s,]*([A-Za-z][\w.:+-]*+(?:[ \u00a0]++[\w.:+-]++){0,5})\s*=\s*")
_FIELD_LINE = re.compile(
    r"[\s,]*([A-Za-z][\w.:+-]*+(?:[ \u00a0](?:\d+|[A-Z][\w-]*|of))*)\s*=\s*(.*)", re.DOTALL
)
_SPACE = re.compile(r"[\s\u00a0]+")
_WORD = re.compile(r"[^\s,#{}\"=()]+")
_BRACES = re.compile(r"\\.|[{}\"]", re.DOTALL)
_NO_ENTRY = frozenset({"comment", "preamble"})
_LARGEST_BLOCK = 1 << 25
_MOST_OPEN_COMMENTS = 16
_LARGEST_MACRO = 1 << 16
_YEARS = (
    "year",
    "date",
    "publication-year",
    "early-access-year",
    "early-access-date",
    "issue_date",
)
_CORRESPONDING = re.compile(r"\s*\((?:corresponding|reprint) author\)", re.IGNORECASE)
_CITED_BY = re.compile(r"cited by:?\s*(\d+)", re.IGNORECASE)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905


class _ExpansionError(ValueError):
    """Abbreviations expand to more text than any journal name has."""


class _UnbalancedError(ValueError):
    """Braces or quotation marks do not close inside the block."""


def _blocks(stream: ByteStream, context: FileContext) -> Iterator[tuple[int, str]]:
    """Yield (line, text) from each line that starts an entry to the next."""
    lines: list[str] = []
    start = 0
    size = 0
    for number, line in stream.lines():
        if _START.match(line):
            if lines:
                yield start, "\n".join(lines)
            lines, start, size = [line], number, len(line)
        elif lines:
            before = size
            size += len(line)
            if size <= _LARGEST_BLOCK:
                lines.append(line)
            elif before <= _LARGEST_BLOCK:
                context.note(start, f"entry longer than {_LARGEST_BLOCK} characters; truncated")
        elif "@" in line and _ENTRY.search(line):
            # An entry may start after other text on its line.
            lines, start, size = [line], number, len(line)
    if lines:
        yield start, "\n".join(lines)


def _entries(stream: ByteStream, context: FileContext) -> Iterator[tuple[int, Entry]]:
    macros = {month: month for month in _MONTHS}
    seen = False
    for start, text in _blocks(stream, context):
        # Entries may share a line; damage in one must not affect the next.
        starts = [found.start() for found in _NEXT_ENTRY.finditer(text)]
        at = counted = open_comments = 0
        line = start
        while found := _ENTRY.search(text, at):
            line += text.count("\n", counted, found.start())
            counted = found.start()
            kind = found[1].lower()
            seen = True
            place = bisect_right(starts, found.start())
            limit = starts[place] if place < len(starts) else len(text)
            at = found.end()
            if kind in _NO_ENTRY:
                # A comment contains no entries; an unclosed one is skipped by itself.
                if open_comments < _MOST_OPEN_COMMENTS:
                    try:
                        at = _closing(text, at, "}") + 1
                    except _UnbalancedError:
                        open_comments += 1
                continue
            region = text[at:limit]
            try:
                entry, end = _parse(region, 0, found[2], macros)
                at += end
            except _UnbalancedError as error:
                context.note(line, f"{error}; its fields were split by lines")
                entry, at = _by_lines(region), limit
            except _ExpansionError:
                why = f"abbreviations (@string) expand to more than {_LARGEST_MACRO} characters"
                if kind == "string" and (name := _FIELD.match(region)):
                    macros[_field_name(name[1])] = ""
                    context.note(line, f"{why}; left empty")
                else:
                    context.skip(line, f"entry skipped: its {why}")
                at = limit
                continue
            if kind == "string":
                macros.update({name: value for name, value in entry.items() if name[:1] != "@"})
            else:
                entry["@type"] = kind
                yield line, entry
    if not seen:
        context.refuse("no BibTeX entry found: nothing looks like '@article{key, …}'")


def _parse(text: str, at: int, opening: str, macros: dict[str, str]) -> tuple[Entry, int]:
    """Return the entry whose bracket opens before `at`, and its end position."""
    closing = "}" if opening == "{" else ")"
    entry: Entry = {}
    found = _FIELD.match(text, at)
    if found is None:
        # The key, which @string does not have.
        end = at
        while end < len(text) and text[end] not in f",{closing}\n":
            end += 1
        entry["@key"] = text[at:end].strip()
        at = end
    while True:
        found = _FIELD.match(text, at)
        if found is None:
            close = text.find(closing, at)
            if close < 0:
                raise _UnbalancedError("the entry is not closed")
            if re.search(r"[\w\"{]", text[at:close]):
                raise _UnbalancedError(f"cannot read {text[at : at + 40]!r} in the entry")
            return entry, close + 1
        value, at = _value(text, found.end(), macros)
        # If a field is given twice, the first one counts, as in BibTeX.
        entry.setdefault(_field_name(found[1]), value)


def _field_name(written: str) -> str:
    return _SPACE.sub("-", written.lower())


def _value(text: str, at: int, macros: dict[str, str]) -> tuple[str, int]:
    """Return one value, with parts joined by ``#``, and its end position."""
    parts: list[str] = []
    expanded = 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        mark = text[at : at + 1]
        if mark == "{":
            end = _closing(text, at + 1, "}")
            parts.append(text[at + 1 : end])
            at = end + 1
        elif mark == '"':
            end = _closing(text, at + 1, '"')
            parts.append(text[at + 1 : end])
            at = end + 1
        elif found := _WORD.match(text, at):
            whole = macros.get(found[0].lower(), found[0])
            expanded += len(whole) if whole is not found[0] else 0
            if expanded > _LARGEST_MACRO:
                raise _ExpansionError
            parts.append(whole)
            at = found.end()
        elif mark in ("", ",", "}", ")"):
            # An empty value: harmless.
            return "".join(parts), at
        else:
            raise _UnbalancedError(f"cannot read the value at {text[at : at + 40]!r}")
        joined = re.compile(r"\s*#").match(text, at)
        if joined is None:
            return "".join(parts), at
        at = joined.end()


def _closing(text: str, at: int, mark: str) -> int:
    """Return the position of the brace or quotation mark that closes a value starting at `at`."""
    depth = 0
    for found in _BRACES.finditer(text, at):
        here = found[0]
        if here == mark and depth == 0:
            return found.start()
        if here == "{":
            depth += 1
        elif here == "}":
            depth -= 1
            if depth < 0:
                break
    raise _UnbalancedError("braces or quotation marks do not balance in the entry")


def _by_lines(text: str) -> Entry:
    """Return the fields of a broken entry, each from the start of a line to the next field."""
    entry: Entry = {}
    name = "@key"
    values: dict[str, list[str]] = {name: []}
    for line in text.split("\n"):
        found = _FIELD_LINE.match(line)
        if found:
            name = _field_name(found[1])
            values.setdefault(name, []).append(found[2])
        else:
            values[name].append(line)
    for name, lines in values.items():
        value = " ".join(lines).strip().rstrip(",").strip()
        if name == "@key":
            value = value.split(",")[0].strip()
        entry[name] = value.strip('{}" ')
    return entry


def _split_outside_braces(text: str, word: re.Pattern[str]) -> list[str]:
    """Split at `word` outside braces: a name in braces may contain "and"."""
    parts: list[str] = []
    depth = 0
    start = 0
    at = 0
    for found in re.finditer(rf"\\.|[{{}}]|{word.pattern}", text, re.DOTALL | word.flags):
        here = found[0]
        if here == "{":
            depth += 1
        elif here == "}":
            depth = max(depth - 1, 0)
        elif depth == 0 and here[0] != "\\":
            parts.append(text[start : found.start()])
            start = found.end()
        at = found.end()
    parts.append(text[start : max(at, len(text))])
    return [part.strip() for part in parts if part.strip()]


_AND = re.compile(r" and ", re.IGNORECASE)


def _authors(entry: Entry) -> tuple[Author, ...]:
    names = _split_outside_braces(" ".join(entry.get("author", "").split()), _AND)
    texts = [plain_text(name) for name in names]
    orcids = identifiers_by_name(texts, _numbers(entry, "orcid-numbers"), normalise_orcid)
    ids = identifiers_by_name(
        texts, _numbers(entry, "researcherid-numbers"), normalise_researcher_id
    )
    authors = []
    for name, text, orcid, ident in zip(names, texts, orcids, ids, strict=True):
        if name.startswith("{") and name.endswith("}") and "," not in text:
            # Braces around the whole name mark an organisation.
            organisation = clean(text)
            author = Author(organisation) if organisation else None
        else:
            author = parse_name(text, orcid=orcid, id=ident)
        if author is not None:
            authors.append(author)
    return tuple(authors)


def _numbers(entry: Entry, field: str) -> list[str]:
    """Return Web of Science's lists of identifiers, with lines like "Kaiser, Robin/J-3641-2014"."""
    return [plain_text(line) for line in re.split(r"\n|;", entry.get(field, ""))]


def _placed(entry: Entry) -> tuple[tuple[Author, ...], tuple[Affiliation, ...]]:
    """Return the authors with their affiliations, and the affiliations of the record (Scopus)."""
    authors = _authors(entry)
    text = entry.get("affiliation", "")
    if "unique-id" not in entry:
        whole = plain_text(text or entry.get("affiliations", ""))
        return share_out(authors, addresses(whole.split(";")))
    lines = map(plain_text, re.split(r"\.\s*\n", text))
    placed, rest = affiliations_in_brackets(authors, map(_bracketed, filter(str.strip, lines)))
    if rest or any(author.affiliations for author in placed):
        return placed, rest
    return share_out(authors, addresses(plain_text(entry.get("affiliations", "")).split(";")))


def _bracketed(line: str) -> str:
    """Put the authors of a WoS address into brackets: "Lim, K.; Du, L., ANU, Australia"."""
    *names, last = _CORRESPONDING.sub("", " ".join(line.split())).split(";")
    parts = last.split(",", 2)
    return f"[{';'.join([*names, ','.join(parts[:2])])}] {parts[2]}" if len(parts) == 3 else line


def _cited_by(entry: Entry) -> int | None:
    found = _CITED_BY.match(entry.get("note", "").strip())
    return parse_count(found[1] if found else entry.get("times-cited"))


def _references(entry: Entry) -> tuple[Reference, ...]:
    scopus = entry.get("references", "")
    if scopus:
        return scopus_references(plain_text(scopus))
    lines = entry.get("cited-references", "").split("\n")
    references = (wos_reference(plain_text(line).rstrip(".")) for line in lines)
    return tuple(reference for reference in references if reference is not None)


def _field(entry: Entry, *names: str) -> str | None:
    for name in names:
        if entry.get(name):
            text = clean(plain_text(entry[name]))
            if text:
                return text
    return None


def _keywords(entry: Entry) -> tuple[str, ...]:
    text = _field(entry, "author_keywords", "keywords", "keyword", "keywords-plus", "mesh-terms")
    words = re.split(r"\s*;\s*", text) if text and ";" in text else (text or "").split(",")
    return tuple(word for word in map(clean, words) if word)


def _year(entry: Entry) -> int | None:
    years = (parse_year(_field(entry, name)) for name in _YEARS)
    return next((year for year in years if year is not None), None)


def _record(entry: Entry, line: int, context: FileContext) -> Record | None:
    # Underscores and percent signs in identifiers are not LaTeX.
    doi = normalise_doi(entry.get("doi", "").replace("\\", "").replace("{", "").replace("}", ""))
    if doi is None and "doi.org/" in entry.get("url", ""):
        doi = find_doi(entry["url"])
    categories = (_field(entry, "web-of-science-categories", "research-areas") or "").split(";")
    authors, rest = _placed(entry)
    funding = _field(entry, "funding_details", "funding-details", "funding-acknowledgement") or ""
    return Record(
        id=_field(entry, "unique-id") or clean(entry.get("@key")) or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=_field(entry, "title"),
        abstract=_field(entry, "abstract"),
        keywords=_keywords(entry),
        authors=authors,
        year=_year(entry),
        venue=_field(entry, "journal", "journaltitle", "booktitle", "series"),
        category=clean(categories[0]),
        references=_references(entry),
        language=_field(entry, "language", "langid"),
        affiliations=rest,
        document_type=_field(entry, "document_type", "type") or entry.get("@type"),
        cited_by=_cited_by(entry),
        funders=funder_names(funding.split(";")),
    )


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(_entries(stream, context), _record, context)


def _sniff(sample: Sample) -> int:
    kinds = re.findall(r"^[ \t]*@[ \t]*([A-Za-z]+)[ \t]*[{(]", sample.text, re.MULTILINE)
    if not kinds or sample.is_json:
        return 0
    fields = re.findall(r"^[ \t,]*[A-Za-z][\w-]*[ \t]*=[ \t]*[{\"\w]", sample.text, re.MULTILINE)
    return 85 if fields else 50


FORMAT = Format(
    name="bibtex",
    label="BibTeX / BibLaTeX",
    sniff=_sniff,
    read=_read,
    suffixes=(".bib", ".bibtex"),
    gives="id doi title abstract keywords authors author_ids affiliations year venue category "
    "references language document_type cited_by funders",
)
