"""Turn files (possibly gzipped, in any encoding, with any line ends) into clean lines of text.

Everything is streamed: a chunk of bytes is decompressed, converted to UTF-8 and split into lines,
and only the current line (or JSON value) is in memory. A damaged end is reported, and everything
before it is kept.
"""

from __future__ import annotations

import codecs
import tempfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from citeweave.errors import CiteweaveError, ParameterError
from citeweave.files import is_full
from citeweave.reading.limits import MOST_BLANK_LINES, MOST_EXPANSION, unpacks_too_much

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from citeweave.reading.problems import FileContext

__all__ = [
    "HEAD_BYTES",
    "LONGEST_LINE",
    "ByteStream",
    "Input",
    "SheetStream",
    "copy_limited",
    "file_input",
    "input_lines",
    "room_to_unpack",
]

HEAD_BYTES = 1 << 16
LONGEST_LINE = 1 << 26
_CHUNK = 1 << 18
_ROWS_OF_HEAD = 20
_CELL_OF_HEAD = 200
_LENIENT = "citeweave.cp1252"
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def _bad_bytes_as_cp1252(error: UnicodeError) -> tuple[str, int]:
    """Decode only invalid UTF-8 bytes as Windows-1252, for files of mixed encodings."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    bad = error.object[error.start : error.end]
    text = "".join(_CP1252[byte] for byte in bad)
    return text, error.end


# Five bytes are undefined in Windows-1252; Latin-1 defines all.
_CP1252 = [
    bytes([byte]).decode("cp1252" if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else "latin-1")
    for byte in range(256)
]
codecs.register_error(_LENIENT, _bad_bytes_as_cp1252)


@dataclass(frozen=True, slots=True)
class Input:
    """A file that can be opened: on disk, in an archive, standard input, or opened by the user.

    Attributes
    ----------
    name : str
        Name for messages.
    open : callable
        Returns a context manager with the open binary file, which closes it unless the caller
        opened it.
    path : Path or None
        Path on disk (not for archive members).
    once : bool
        Whether it can be read only once (standard input, or a file opened by the caller).
    """

    name: str
    open: Callable[[], AbstractContextManager[IO[bytes]]]
    path: Path | None = None
    once: bool = False

    @property
    def basename(self) -> str:
        """File name without folders, archive and ``.gz``."""
        name = self.name.replace("\\", "/").rsplit("!", 1)[-1].rsplit("/", 1)[-1]
        return name.removesuffix(".gz")


def file_input(path: Path, *, name: str | None = None) -> Input:
    """Return a file on disk as an input; `name` overrides the name of a temporary copy."""
    return Input(name or str(path), lambda: path.open("rb"), path if name is None else None)


@contextmanager
def room_to_unpack(name: str) -> Iterator[None]:
    """Distinguish a full temporary folder from damaged data."""
    try:
        yield
    except OSError as error:
        if not is_full(error):
            raise
        raise CiteweaveError(
            f"There is not enough space to unpack '{name}' in the temporary folder "
            f"'{tempfile.gettempdir()}' ({error.strerror}). Free some space, or set TMPDIR to "
            "another folder."
        ) from error


class ByteStream:
    """The decompressed bytes of one open file, to be read once: as lines, chunks or a file.

    Attributes
    ----------
    head : bytes
        The first 64 kB after decompression.
    encoding : str
        The encoding, detected from a byte order mark or the pattern of zero bytes.
    """

    def __init__(self, raw: IO[bytes], context: FileContext) -> None:
        self._context = context
        chunks = _raw_chunks(raw, context)
        first = next(chunks, b"")
        if first.startswith(b"\x1f\x8b"):
            chunks = _gunzip(first, chunks, context)
            first = next(chunks, b"")
        while len(first) < HEAD_BYTES and (more := next(chunks, b"")):
            first += more
        self.head = first[:HEAD_BYTES]
        self.encoding, self._bom = _encoding_of(self.head)
        self._first = first
        self._rest = chunks

    @property
    def head_text(self) -> str:
        """The head as text, without a truncated character at its end."""
        text = self.head[self._bom :]
        if self.encoding == "utf-8":
            if len(self.head) == HEAD_BYTES:
                text = text[: _whole_characters(text)]
            return text.decode("utf-8", errors=_LENIENT)
        return text.decode(self.encoding, errors="ignore")

    @contextmanager
    def as_path(self) -> Iterator[Path]:
        """Yield the path of a file with the bytes, for formats that need to seek (Parquet)."""
        with tempfile.TemporaryDirectory(prefix="citeweave-") as folder:
            path = Path(folder) / "input"
            with room_to_unpack(self._context.file), path.open("wb") as file:
                file.write(self._first)
                for chunk in self._rest:
                    file.write(chunk)
            yield path

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (number, text) of each line without its end; CR, LF and CRLF all end lines."""
        number = blank = 0
        for line in _split_lines(self._utf8(), self._context):
            number += 1
            blank = 0 if line else blank + 1
            if blank > MOST_BLANK_LINES:
                self._context.note(
                    number,
                    f"{MOST_BLANK_LINES} consecutive empty lines; the rest of the file is skipped",
                )
                return
            if line is None:
                continue
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                text = line.decode("utf-8", errors=_LENIENT)
                self._note_encoding(number)
            yield number, text

    def text(self) -> Iterator[str]:
        """Yield the text in pieces of about 256 kB, for formats that are not line-based."""
        line = 1
        carry = b""
        for chunk in self._utf8():
            chunk = carry + chunk  # noqa: PLW2901  the cut character is completed
            cut = _whole_characters(chunk)
            carry, chunk = chunk[cut:], chunk[:cut]  # noqa: PLW2901
            yield self._decode(chunk, line)
            line += chunk.count(b"\n")
        if carry:
            yield self._decode(carry, line)

    def _decode(self, chunk: bytes, line: int) -> str:
        try:
            return chunk.decode("utf-8")
        except UnicodeDecodeError as error:
            self._note_encoding(line + chunk.count(b"\n", 0, error.start))
            return chunk.decode("utf-8", errors=_LENIENT)

    def _note_encoding(self, line: int) -> None:
        counts = self._context.counts
        counts.recoded_lines += 1
        if counts.recoded_lines == 1:
            self._context.note(
                line,
                "invalid UTF-8 bytes from here on were read as Windows-1252 (if letters look "
                "wrong, save the file as UTF-8)",
                field="encoding",
            )

    def _utf8(self) -> Iterator[bytes]:
        """Yield the bytes without byte order mark, converted from UTF-16 and UTF-32 to UTF-8."""
        if self.encoding == "utf-8":
            yield self._first[self._bom :]
            yield from self._rest
            return
        decoder = codecs.getincrementaldecoder(self.encoding)(errors="replace")
        yield decoder.decode(self._first[self._bom :]).encode("utf-8", "replace")
        for chunk in self._rest:
            yield decoder.decode(chunk).encode("utf-8", "replace")
        tail = decoder.decode(b"", final=True)
        if tail:
            self._context.note(None, f"the file ends inside a character of {self.encoding}")


class SheetStream(ByteStream):
    """The rows of a spreadsheet, for readers of tables; its head is the start of the table as text.

    Parameters
    ----------
    rows : iterator of (int, list of str)
        Number and cells of each non-empty row.
    """

    def __init__(self, rows: Iterator[tuple[int, list[str]]]) -> None:
        first = list(islice(rows, _ROWS_OF_HEAD))
        # lines about the search may precede the header
        named = (i for i, (_, cells) in enumerate(first[:5]) if sum(map(bool, cells)) > 2)
        first = first[next(named, 0) :]
        self.rows = chain(first, rows)
        lines = [
            "\t".join(" ".join(cell.replace('"', " ").split())[:_CELL_OF_HEAD] for cell in cells)
            for _, cells in first
        ]
        if lines:
            # commas in column names must not be mistaken for delimiters
            lines[0] += "\t" * sum(map(lines[0].count, ",;|"))
        text = "\n".join(lines)
        self.head = text.encode("utf-8", "replace")
        self.encoding, self._bom = "utf-8", 0


def input_lines(item: Input, context: FileContext) -> Iterator[tuple[int, str]]:
    """Yield the lines of a companion file; report it if it cannot be read."""
    try:
        with item.open() as raw:
            yield from ByteStream(raw, context).lines()
    except OSError as error:
        context.refuse(f"cannot be opened ({error.strerror or error})")


def _raw_chunks(raw: IO[bytes], context: FileContext) -> Iterator[bytes]:
    while True:
        try:
            chunk = raw.read(_CHUNK)
        except OSError as error:
            context.note(None, f"reading stopped: {error}; the records before this point are kept")
            return
        if not isinstance(chunk, bytes):
            raise ParameterError(
                "A source of read must be a file opened in binary mode ('rb'). "
                f"Got {context.file}, which gives {type(chunk).__name__}."
            )
        if not chunk:
            return
        yield chunk


def _gunzip(first: bytes, rest: Iterator[bytes], context: FileContext) -> Iterator[bytes]:
    """Decompress gzip data, including concatenated members, and keep what precedes any damage."""
    given = 0
    taken = len(first)
    unpacker = zlib.decompressobj(wbits=31)
    waiting = first
    while True:
        try:
            unpacked = unpacker.decompress(waiting, _CHUNK)
        except zlib.error as error:
            context.note(
                None,
                f"the gzip data is damaged after {given} decompressed bytes ({error}); everything "
                "before that is kept",
                field="gzip",
            )
            return
        if unpacked:
            given += len(unpacked)
            if unpacks_too_much(taken, given):
                context.note(
                    None,
                    f"the gzip data expands to more than {MOST_EXPANSION} times its size, which is "
                    f"implausible for text; its first {given - len(unpacked)} bytes are kept "
                    "(decompress it yourself if it is correct)",
                    field="gzip",
                )
                return
            yield unpacked
        if unpacker.eof:
            waiting = unpacker.unused_data.lstrip(b"\0")
            if len(waiting) < 2:
                more = next(rest, b"")
                taken += len(more)
                waiting = (waiting + more).lstrip(b"\0")
            if not waiting:
                return
            if not waiting.startswith(b"\x1f\x8b"):
                context.note(None, "bytes after the end of the gzip data ignored", field="gzip")
                return
            unpacker = zlib.decompressobj(wbits=31)
            continue
        waiting = unpacker.unconsumed_tail
        if not waiting:
            waiting = next(rest, b"")
            taken += len(waiting)
        if not waiting and not unpacked:
            context.note(
                None,
                f"the gzip data is truncated after {given} decompressed bytes; everything before "
                "that is kept",
                field="gzip",
            )
            return


def _encoding_of(head: bytes) -> tuple[str, int]:
    """Return the encoding and the length of its byte order mark."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding, len(mark)
    # UTF-16 text without a mark has a zero byte in nearly every pair of bytes.
    pairs = len(head) // 2
    if pairs >= 2:
        zeros_even = head[: 2 * pairs : 2].count(0)
        zeros_odd = head[1 : 2 * pairs : 2].count(0)
        if zeros_odd > 0.4 * pairs and zeros_even < 0.1 * pairs:
            return "utf-16-le", 0
        if zeros_even > 0.4 * pairs and zeros_odd < 0.1 * pairs:
            return "utf-16-be", 0
    return "utf-8", 0


def _whole_characters(data: bytes) -> int:
    """Return the length of `data` without a truncated UTF-8 character at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if needed > back else len(data)
    return len(data)


def _split_lines(chunks: Iterator[bytes], context: FileContext) -> Iterator[bytes | None]:
    """Yield the lines; None for a line longer than the limit, which is reported."""
    parts: list[bytes] = []
    size = 0
    number = 1
    after_cr = False
    for chunk in chunks:
        if after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # noqa: PLW2901  the LF belongs to the CR before it
        if not chunk:
            continue
        after_cr = chunk.endswith(b"\r")
        lines = chunk.splitlines(keepends=True)
        last = lines.pop() if not chunk.endswith((b"\n", b"\r")) else b""
        for line in lines:
            if size > LONGEST_LINE:
                yield None
            elif parts:
                parts.append(line)
                yield b"".join(parts).rstrip(b"\r\n")
            else:
                yield line.rstrip(b"\r\n")
            parts.clear()
            size = 0
            number += 1
        if last:
            size += len(last)
            if size <= LONGEST_LINE:
                parts.append(last)
            elif parts:
                parts.clear()
                context.skip(
                    number,
                    f"line longer than {LONGEST_LINE} bytes skipped (is this a text file?)",
                )
    if parts:
        yield b"".join(parts)


def copy_limited(source: IO[bytes], target: IO[bytes], limit: int) -> bool:
    """Copy at most `limit` bytes; return whether that was everything."""
    left = limit
    while left > 0:
        chunk = source.read(min(_CHUNK, left))
        if not chunk:
            return True
        target.write(chunk)
        left -= len(chunk)
    return not source.read(1)
