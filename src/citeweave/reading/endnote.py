"""EndNote's tagged export (``.enw``), which Google Scholar and publishers also offer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citeweave.reading.affiliations import share_out
from citeweave.reading.formats import Format, Sample, convert
from citeweave.reading.identifiers import clean, find_doi, normalise_doi, parse_year
from citeweave.reading.record import Record
from citeweave.reading.tagged import Block, address_lines, keyword_list, written_authors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["FORMAT"]

Fields = dict[str, list[str]]

_TAG = re.compile(r"\ufeff?%([0-9A-Za-z?@!#$\]&()*+^><\[=~])(?:\s(.*)|$)")


def _first(fields: Fields, *tags: str) -> str | None:
    return next((text for tag in tags for one in fields.get(tag, ()) if (text := clean(one))), None)


def _doi(fields: Fields) -> str | None:
    doi = normalise_doi(_first(fields, "R"))
    for value in fields.get("U", []) + fields.get("Z", []):
        doi = doi or (find_doi(value) if "doi" in value.lower() and len(value) < 2000 else None)
    return doi


def _record(fields: Fields, line: int, context: FileContext) -> Record | None:
    doi = _doi(fields)
    title = _first(fields, "T", "!")
    venue = _first(fields, "J", "B", "S", "O")
    authors, rest = share_out(
        written_authors(fields.get("A", ())), address_lines(fields.get("+", ()))
    )
    kind = (_first(fields, "0") or "").lower()
    return Record(
        id=_first(fields, "M") or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=title,
        abstract=_first(fields, "X"),
        keywords=keyword_list(fields.get("K", ())),
        authors=authors,
        year=parse_year(_first(fields, "D")) or parse_year(_first(fields, "8")),
        venue=venue if venue != title else None,
        language=_first(fields, "G"),
        affiliations=rest,
        document_type=_first(fields, "9") or kind or None,
    )


def _blocks(stream: ByteStream, context: FileContext) -> Iterator[tuple[int, Fields]]:
    """Yield (line, fields) of each record, from one ``%0`` to the next.

    The older refer format has no ``%0``; its records are separated by empty lines.
    """
    block: Block | None = None
    typed = gap = False
    for number, line in stream.lines():
        if not line.strip():
            gap = True
            continue
        found = _TAG.fullmatch(line)
        if found is None:
            if block is not None:
                block.extend(line.strip(), context)
            continue
        tag, value = found[1], (found[2] or "").strip()
        typed = typed or tag == "0"
        ended = tag == "0" or (gap and not typed and block is not None and "T" in block)
        if block is not None and ended:
            yield block.start, block.joined("\n")
            block = None
        if block is None:
            block = Block(number)
        block.add(tag, value, context)
        gap = False
    if block is not None:
        yield block.start, block.joined("\n")
    else:
        context.refuse("no EndNote record found: no line starts with '%0 '")


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(_blocks(stream, context), _record, context)


def _sniff(sample: Sample) -> int:
    lines = sample.lines[:60]
    tagged = [found[1] for line in lines if (found := _TAG.fullmatch(line))]
    if "0" in tagged:
        return 85 if len(tagged) >= 2 else 55
    # refer: starts directly with tagged lines of authors and titles
    refer = {"A", "T"} <= set(tagged) and _TAG.fullmatch(sample.first_line) is not None
    return 55 if refer else 0


FORMAT = Format(
    name="endnote",
    label="EndNote tagged (.enw)",
    sniff=_sniff,
    read=_read,
    suffixes=(".enw", ".txt"),
    gives="id doi title abstract keywords authors affiliations year venue language document_type",
)
