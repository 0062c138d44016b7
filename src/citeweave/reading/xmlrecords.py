"""Read records from untrusted XML files, one at a time.

The file is split at the tags that enclose a record, and each piece is parsed by itself. A file of
any size therefore needs the memory of one record, a malformed record does not affect others, and
the parser never sees the document type declaration: there are no nested entities ("billion laughs")
and no external files or URLs.
"""

from __future__ import annotations

import re
from html.entities import html5
from typing import TYPE_CHECKING
from xml.etree.ElementTree import TreeBuilder
from xml.parsers import expat

from citeweave.reading.entities import decode_entities
from citeweave.reading.identifiers import clean

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["begins_as_xml", "text_of", "texts_of", "xml_records"]

_LARGEST_RECORD = 1 << 25
_MOST_TAGS = 1_000_000
"""Maximum number of tags per record; a paper with 3,000 authors has about 50,000."""
_PLAIN = frozenset({"utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "us-ascii", "ascii"})
_WESTERN = frozenset({"iso-8859-1", "latin1", "latin-1", "windows-1252", "cp1252"})
_DECLARED = re.compile(r"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})[\"']")
# forbidden in XML, but written by reference managers
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_AMPERSAND = re.compile(r"&(?:#(\d{1,7}|[xX][0-9a-fA-F]{1,6});|([A-Za-z][A-Za-z0-9]{1,31});)?")
_KEPT = frozenset({"amp", "lt", "gt", "quot", "apos"})
_COMMENT_END = re.compile("-->")


def xml_records(
    stream: ByteStream, context: FileContext, *tags: str
) -> Iterator[tuple[int, Element]]:
    """Yield (line, element) of each element with one of these tags, which must not be nested.

    Parameters
    ----------
    stream : ByteStream
        The file.
    context : FileContext
        Where unparsable records are reported.
    *tags : str
        Names of record elements.
    """
    declared = _DECLARED.search(stream.head_text[:1000])
    name = declared[1].lower() if declared else "utf-8"
    if name not in _PLAIN | _WESTERN:
        context.note(
            1,
            f"the file declares the encoding {name[:40]}, but is read as UTF-8 or Windows-1252 (if "
            "letters look wrong, save it as UTF-8)",
            field="encoding",
        )
    found = False
    for line, piece in _pieces(stream.text(), context, tags):
        found = True
        if piece.count("<") > _MOST_TAGS:
            context.skip(line, f"record with more than {_MOST_TAGS} tags skipped")
            continue
        try:
            yield line, _parsed(_mended(piece))
        except expat.ExpatError as error:
            context.skip(line, f"record skipped: it is not well-formed XML ({error})")
    if not found and not context.counts.problems:
        context.refuse(f"no record found: there is no <{tags[0]}> in the file")


def _pieces(
    texts: Iterator[str], context: FileContext, tags: tuple[str, ...]
) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of each record including its tags, skipping comments in between."""
    names = "|".join(map(re.escape, tags))
    opening = re.compile(rf"<!--|<({names})(?=[\s/>])")
    longest = max(map(len, tags)) + 24
    buffer = _Buffer(texts)
    while True:
        found = buffer.search(opening, longest)
        if found is None:
            return
        buffer.move(found.start())
        start = buffer.line
        if found[1] is None:
            end = buffer.search(_COMMENT_END, longest)
            if end is None:
                context.note(start, "unclosed comment; the rest of the file is skipped")
                return
            buffer.move(end.end())
            continue
        # a new record before the end of this one means that its end is missing
        name = re.escape(found[1])
        closing = re.compile(rf"</{name}\s{{0,20}}>|<{name}(?=[\s/>])")
        end = buffer.search(closing, longest, most=_LARGEST_RECORD)
        if end is None:
            reason = f"is longer than {_LARGEST_RECORD} characters" if buffer.more else "has no end"
            context.skip(start, f"record skipped: it {reason}")
            buffer.move(found.end())
        elif end[0].startswith("</"):
            yield start, buffer.move(end.end())
        else:
            context.skip(start, "record skipped: it has no end")
            buffer.move(end.start())


class _Buffer:
    """The unread text, filled as far as a search needs.

    Positions refer to `text`; consumed text is removed only when more is read.
    """

    def __init__(self, texts: Iterator[str]) -> None:
        self._texts = texts
        self.text = ""
        self.at = 0
        self.line = 1
        self.more = True

    def search(
        self, pattern: re.Pattern[str], longest: int, *, most: int | None = None
    ) -> re.Match[str] | None:
        """Find a pattern from the current position, reading more as needed.

        Without `most`, text without a match is discarded; otherwise it is kept, and the search ends
        after that many characters. No match is longer than `longest`.
        """
        start = self.at + (most is not None)
        while True:
            found = pattern.search(self.text, start)
            # a match at the very end may change with the next chunk
            if found is not None and (found.end() < len(self.text) or not self.more):
                return found
            if not self.more or (most is not None and len(self.text) - self.at > most):
                return None
            start = max(len(self.text) - longest, start)
            if most is None:
                self.move(start)
            start -= self.at
            self._fill()

    def move(self, place: int) -> str:
        """Move to a position and return the skipped text."""
        passed = self.text[self.at : place]
        self.line += passed.count("\n")
        self.at = place
        return passed

    def _fill(self) -> None:
        """Double the buffer, so that each character is copied only a few times."""
        rest = self.text[self.at :]
        parts = [rest]
        size = 0
        while size <= len(rest):
            piece = next(self._texts, None)
            if piece is None:
                self.more = False
                break
            parts.append(piece)
            size += len(piece)
        self.text = "".join(parts)
        self.at = 0


def _parsed(piece: str) -> Element:
    """Parse one record; namespace prefixes are kept, whether declared or not."""
    builder = TreeBuilder()
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.Parse(piece.encode("utf-8"), True)
    return builder.close()


def _mended(piece: str) -> str:
    """Repair common errors of exports: forbidden characters, entities, bare ampersands."""
    piece = _FORBIDDEN.sub("", piece)
    return _AMPERSAND.sub(_ampersand, piece) if "&" in piece else piece


def _ampersand(found: re.Match[str]) -> str:
    number, name = found.groups()
    if number is not None:
        code = int(number[1:], 16) if number[0] in "xX" else int(number)
        fine = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0x110000
        return found[0] if fine and code not in (0xFFFE, 0xFFFF) else ""
    if name in _KEPT:
        return found[0]
    if name is None:
        return "&amp;"
    return html5.get(f"{name};", f"&amp;{name};")


def text_of(element: Element | None) -> str | None:
    """Return the text of an element including its children: "H<sub>2</sub>O" is "H2O"."""
    if element is None:
        return None
    return clean(decode_entities("".join(element.itertext())))


def texts_of(element: Element, path: str) -> list[str]:
    """Return the texts of all non-empty elements under a path."""
    return [text for one in element.iterfind(path) if (text := text_of(one))]


def begins_as_xml(text: str) -> bool:
    """Return whether the start of a file looks like XML."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")
