"""TriDNR folders with ``docs.txt``, ``labels.txt`` and ``adjedges.txt`` (M10, DBLP)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citeweave.reading.entities import decode_entities
from citeweave.reading.formats import Format, Sample
from citeweave.reading.identifiers import clean
from citeweave.reading.record import Record, Reference
from citeweave.reading.streams import input_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.edges import Citations
    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream, Input

__all__ = ["FORMAT"]

_LABELS = "labels.txt"
_EDGES = "adjedges.txt"


def _words_of_lines(other: Input, context: FileContext) -> Iterator[tuple[int, list[str]]]:
    for number, line in input_lines(other, context):
        words = [word for word in map(clean, line.split()) if word]
        if words:
            yield number, words


def _labels(context: FileContext) -> dict[str, str]:
    other = context.companions.get(_LABELS)
    if other is None:
        context.note(None, f"there is no {_LABELS} next to it: the documents have no category")
        return {}
    own = context.beside(other, "tridnr labels")
    labels = {}
    for number, words in _words_of_lines(other, own):
        if len(words) == 2:
            labels[words[0]] = words[1]
        else:
            own.note(number, f"expected an id and a label, got {len(words)} words")
    return labels


def _citations(context: FileContext) -> Citations:
    other = context.companions.get(_EDGES)
    if other is None:
        context.note(None, f"there is no {_EDGES} next to it: the documents have no citations")
        return {}
    own = context.beside(other, "tridnr edges")
    citations: Citations = {}
    for _, words in _words_of_lines(other, own):
        # A document, followed by the documents it is linked to.
        citations.setdefault(words[0], []).extend(words[1:])
        own.counts.links += len(words) - 1
    return citations


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    labels = _labels(context)
    citations = _citations(context)
    for number, line in stream.lines():
        identifier, _, title = decode_entities(line).strip().partition(" ")
        name = clean(identifier)
        if name is None:
            continue
        yield Record(
            id=name,
            source=context.source(number),
            title=clean(title),
            category=labels.get(name),
            references=tuple(Reference(id=cited) for cited in citations.get(name, ())),
        )


def _sniff(sample: Sample) -> int:
    if sample.name != "docs.txt":
        return 0
    lines = sample.lines
    fitting = sum(re.match(r"\S+ \S", line) is not None for line in lines)
    return 60 if lines and fitting >= 0.9 * len(lines) else 0


def _companions(name: str) -> tuple[str, ...]:
    return (_LABELS, _EDGES) if name == "docs.txt" else ()


FORMAT = Format(
    name="tridnr",
    label="TriDNR docs.txt, labels.txt, adjedges.txt (M10)",
    sniff=_sniff,
    read=_read,
    suffixes=(".txt",),
    gives="id title category references",
    companions=_companions,
)
