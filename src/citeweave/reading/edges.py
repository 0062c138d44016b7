"""Citation lists that are separate from the documents they link."""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING

from citeweave.naming import choice
from citeweave.reading.formats import Format, Sample
from citeweave.reading.identifiers import clean
from citeweave.reading.streams import input_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.record import Record
    from citeweave.reading.streams import ByteStream, Input

__all__ = ["FORMAT", "Citations", "read_edges"]

# Citing id to cited ids. Kept in memory as a whole, because documents come in any order.
Citations = dict[str, list[str]]

_CITING = frozenset({"citing", "source", "from", "from_id", "src", "citing_id", "citing_paper"})
_CITED = frozenset({"cited", "target", "to", "to_id", "dst", "cited_id", "cited_paper"})


def _cells(text: str) -> list[str]:
    """Split a line at tabs, or else commas, or else spaces, since ids may contain the others."""
    mark = "\t" if "\t" in text else "," if "," in text else None
    return [cell.strip() for cell in text.split(mark)]


def read_edges(
    other: Input, context: FileContext, *, cited_first: bool = False, into: Citations | None = None
) -> Citations:
    """Read pairs of ids, one pair per line.

    Parameters
    ----------
    other : Input
        The file: two columns separated by a tab, comma or spaces. An optional header line
        ("citing", "cited") determines their order; lines that start with ``#`` or ``%`` are
        comments. The LINQS form ``paper:A | paper:B`` is supported.
    context : FileContext
        Context of this file, which receives problems and the number of links.
    cited_first : bool
        Whether the cited document comes first, as in LINQS ``.cites`` files.
    into : Citations or None
        Mapping to add to.
    """
    citations: Citations = {} if into is None else into
    first = True
    for number, line in input_lines(other, context):
        text = line.strip()
        if not text or text[0] in "#%":
            continue
        cells = [cell.strip('"') for cell in _cells(text)]
        if first:
            first = False
            names = [cell.lower() for cell in cells]
            if names and (names[0] in _CITING | _CITED or names[-1] in _CITED):
                cited_first = names[0] in _CITED
                continue
        if text in ("DIRECTED cites", "DIRECTED\tcites", "NO_FEATURES"):
            continue
        if len(cells) == 4 and cells[2] == "|":
            cells = [cells[1].removeprefix("paper:"), cells[3].removeprefix("paper:")]
        pair = [clean(cell) for cell in cells[:2]]
        if len(pair) < 2 or pair[0] is None or pair[1] is None:
            context.skip(number, f"expected two ids, got {text[:80]!r}")
            continue
        citing, cited = (pair[1], pair[0]) if cited_first else (pair[0], pair[1])
        citations.setdefault(intern(citing), []).append(intern(cited))
        context.counts.links += 1
    return citations


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:  # noqa: ARG001
    context.refuse(
        "this is a list of citations without documents; pass it as "
        f"{choice('citations=', '--citations')} together with the file of documents (for LINQS, "
        "pass .content and .cites together)"
    )
    return iter(())


def _sniff(sample: Sample) -> int:
    lines = [line for line in sample.lines[:100] if line[:1] not in "#%"]
    # The last line of the sample may be truncated.
    rows = [_cells(line.strip()) for line in lines[:-1] or lines]
    if not rows:
        return 0
    if rows[0] == ["DIRECTED", "cites"]:
        return 90
    if any(len(row) != 2 or not all(row) for row in rows):
        return 0
    names = {cell.lower().strip('"') for cell in rows[0]}
    if names & _CITING and names & _CITED:
        return 80
    if sample.name.endswith((".cites", ".edges", ".edgelist")):
        return 40
    # Two words per line are ids only if they contain digits.
    numbered = all(any(letter.isdigit() for letter in cell) for row in rows[1:] for cell in row)
    return 15 if len(rows) > 2 and numbered else 0


FORMAT = Format(
    name="edges",
    label="Citation list (two columns of ids)",
    sniff=_sniff,
    read=_read,
    suffixes=(".cites", ".edges", ".edgelist", ".tsv"),
    gives="references",
)
