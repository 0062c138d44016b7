"""LINQS data sets: Cora and CiteSeer (``.content``, ``.cites``) and PubMed (``.tab``)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citeweave.reading.edges import Citations, read_edges
from citeweave.reading.formats import Format, Sample, convert
from citeweave.reading.identifiers import clean
from citeweave.reading.record import Record, Reference, WordsKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["CONTENT", "NODES"]

# id, class label, words with their values
Document = tuple[str, str | None, tuple[tuple[str, float], ...]]


def _citations(context: FileContext, *, cited_first: bool) -> Citations:
    citations: Citations = {}
    for other in context.companions.values():
        read_edges(other, context.beside(other, "edges"), cited_first=cited_first, into=citations)
    if not context.companions:
        context.note(None, "there is no citation file next to it (.cites or DIRECTED.cites.tab)")
    return citations


_MOST_OFTEN = 1_000_000


def _records(
    documents: Iterator[tuple[int, Document]],
    context: FileContext,
    citations: Citations,
    kind: WordsKind,
) -> Iterator[Record]:
    def make(document: Document, line: int, context: FileContext) -> Record:
        identifier, label, words = document
        return Record(
            id=identifier,
            source=context.source(line),
            category=label,
            references=tuple(Reference(id=cited) for cited in citations.pop(identifier, ())),
            words=words,
            words_kind=kind,
        )

    yield from convert(documents, make, context)
    if citations:
        links = sum(map(len, citations.values()))
        context.note(
            None,
            f"{links} citations by {len(citations)} documents that are not in the file were "
            "skipped",
            field="references",
        )


def _number(cell: str) -> float:
    """Return the count or weight of a word."""
    value = float(cell)
    if not 0 <= value <= _MOST_OFTEN:  # written so that nan fails
        raise ValueError(f"{cell[:40]!r} is not a number between 0 and {_MOST_OFTEN}")
    return value


def _content(stream: ByteStream, context: FileContext) -> Iterator[tuple[int, Document]]:
    """Yield the documents: id, one value per word, label. The words are unnamed."""
    width = 0
    names: list[str] = []
    for number, line in stream.lines():
        cells = line.rstrip().split("\t")
        if cells == [""]:
            continue
        if width == 0:
            width = len(cells)
            digits = len(str(max(width - 3, 0)))
            names = [f"w{place:0{digits}d}" for place in range(width - 2)]
            context.counts.vocabulary = len(names)
        identifier = clean(cells[0])
        if len(cells) != width or identifier is None:
            context.skip(number, f"expected {width} columns as in the first line, got {len(cells)}")
            continue
        try:
            words = tuple(
                (name, _number(cell))
                for name, cell in zip(names, cells[1:-1], strict=True)
                if cell != "0"
            )
        except ValueError as error:
            context.skip(number, f"the value of a word cannot be read ({error})")
            continue
        yield number, (identifier, clean(cells[-1]), words)


def _read_content(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    citations = _citations(context, cited_first=True)
    return _records(_content(stream, context), context, citations, "count")


def _nodes(stream: ByteStream, context: FileContext) -> Iterator[tuple[int, Document]]:
    """Yield the documents: id, ``label=``, and ``word=weight`` for its words."""
    for number, line in stream.lines():
        cells = line.rstrip().split("\t")
        if cells == [""] or cells[0] == "NODE":
            continue
        if cells[0].startswith("cat="):
            context.counts.vocabulary = sum(cell.startswith("numeric:") for cell in cells)
            continue
        identifier = clean(cells[0])
        label = None
        words = []
        bad = None
        for cell in cells[1:]:
            name, equals, value = cell.rpartition("=")
            if not equals or name == "summary" or cell.startswith("summary="):
                continue
            if name == "label":
                label = clean(value)
                continue
            try:
                words.append((name, _number(value)))
            except ValueError:
                bad = cell
        if identifier is None or len(cells) < 2 or bad is not None:
            context.skip(number, f"not a document of NODE.paper.tab: {(bad or line)[:80]!r}")
            continue
        yield number, (identifier, label, tuple(words))


def _read_nodes(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    citations = _citations(context, cited_first=False)
    return _records(_nodes(stream, context), context, citations, "tfidf")


def _sniff_content(sample: Sample) -> int:
    cells = sample.first_line.split("\t")
    if len(cells) < 4 or not all(re.fullmatch(r"\d+(?:\.\d+)?", cell) for cell in cells[1:-2]):
        return 0
    return 80 if all(cell in ("0", "1") for cell in cells[1:-2]) else 40


def _sniff_nodes(sample: Sample) -> int:
    return 95 if sample.first_line.startswith("NODE\t") else 0


def _content_companions(name: str) -> tuple[str, ...]:
    stem = name.removesuffix(".content")
    return (f"{stem}.cites",) if stem != name else ()


def _node_companions(name: str) -> tuple[str, ...]:
    other = name.replace("NODE.paper.tab", "DIRECTED.cites.tab")
    return (other,) if other != name else ()


CONTENT = Format(
    name="linqs",
    label="LINQS .content/.cites (Cora, CiteSeer)",
    sniff=_sniff_content,
    read=_read_content,
    suffixes=(".content",),
    gives="id category references words",
    companions=_content_companions,
)
NODES = Format(
    name="linqs-pubmed",
    label="LINQS NODE.paper.tab/DIRECTED.cites.tab (PubMed)",
    sniff=_sniff_nodes,
    read=_read_nodes,
    suffixes=(".tab",),
    gives="id category references words",
    companions=_node_companions,
)
