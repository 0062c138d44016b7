"""Read files of any format into one stream of records, and collect problems."""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import IO, Self, TypeAlias

from citeweave.errors import CorpusError, ParameterError
from citeweave.reading import edges
from citeweave.reading.archives import is_archive, unpack
from citeweave.reading.formats import Format, Sample
from citeweave.reading.generic import check_columns
from citeweave.reading.problems import FileContext, FileCounts, OnProblem, Problem, ProblemLog
from citeweave.reading.record import Record, Reference
from citeweave.reading.registry import FORMATS, detect, find_format, why_unknown
from citeweave.reading.streams import ByteStream, Input, file_input
from citeweave.reading.tally import Tally

__all__ = ["Reading", "SourceLike", "read"]

SourceLike: TypeAlias = str | PathLike[str] | IO[bytes]

# Files in folders that are not data; they are skipped silently.
_ASIDE = ("readme", "license", "licence", "copying", "changelog", "thumbs.db", "desktop.ini")


def _checked(source: SourceLike) -> Path | Input:
    """Return an existing path or an open file, so that a wrong name is reported at once."""
    if isinstance(source, str) and source == "-":
        return Input("-", lambda: nullcontext(sys.stdin.buffer), once=True)
    if isinstance(source, str | PathLike):
        path = Path(source)
        if source == "" or not path.exists():
            raise CorpusError(
                f"{str(source)!r}: no such file or folder. Check the name and try again."
            )
        if path.is_file() or path.is_dir():
            return path
        # A pipe, such as <(…) in a shell, can only be read once.
        return Input(str(path), lambda: path.open("rb"), once=True)
    if not hasattr(source, "read") or isinstance(source, io.TextIOBase):
        raise ParameterError(
            "A source of read must be a path, '-' or a file opened in binary mode ('rb'). "
            f"Got {type(source).__name__} instead."
        )
    name = getattr(source, "name", None)
    # Files opened by the caller are closed by the caller.
    shown = name if isinstance(name, str) else "<open file>"
    return Input(shown, lambda: nullcontext(source), once=True)


class Reading(Iterator[Record]):
    r"""An iterator of records that also collects problems and counts per file.

    Attributes
    ----------
    problems : list of Problem
        The first problems, up to the given limit.
    problem_count : int
        Number of all problems.
    counts : dict of str to FileCounts
        Records read and skipped, format, and reason for rejection, by file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from citeweave.reading import Reading
    >>> _ = Path("papers.ris").write_text("TY  - JOUR\nTI  - On soil\nER  - \n")
    >>> reading = Reading.of("papers.ris")
    >>> [record.title for record in reading], reading.problem_count
    (['On soil'], 0)
    """

    def __init__(
        self,
        sources: Sequence[Path | Input],
        form: Format | None,
        columns: Mapping[str, str],
        citations: Sequence[Path | Input],
        log: ProblemLog,
    ) -> None:
        self._log = log
        self._form = form
        self._columns = columns
        self._edge_files: list[str] = []
        self.counts: dict[str, FileCounts] = {}
        self._tally = Tally()
        self._source = self._run(sources, citations)
        self._records: Iterator[Record] = self._tally.count(self._source)

    @classmethod
    def of(
        cls,
        *sources: SourceLike,
        format: str | None = None,  # noqa: A002  the natural word for it
        columns: Mapping[str, str] | None = None,
        citations: SourceLike | Sequence[SourceLike] | None = None,
        on_problem: OnProblem = "collect",
        max_problems: int = 1000,
    ) -> Self:
        """Read records from files, folders, archives, standard input or open files.

        Parameters
        ----------
        *sources : path, "-" or open binary file
            What to read. Folders are read recursively in order of name, ``-`` is standard input,
            gzip is decompressed automatically, and ``.tar``, ``.tgz`` and ``.zip`` archives are
            read like folders.
        format : str or None
            Name of the format of all sources (default: detected from the content of each file).
        columns : mapping of str to str, or None
            For tables and JSON Lines of unknown origin: maps record fields ("title", "authors", …)
            to columns. Other fields are looked up by their usual column names.
        citations : path, open binary file or a sequence of them, or None
            Separate lists of citations with two columns, citing id and cited id.
        on_problem : {"collect", "raise"} or callable
            What to do about a bad record, which is skipped in any case: add it to the list of
            problems, raise an error, or also call a function with each problem.
        max_problems : int
            Maximum number of problems to keep; all are counted.

        Returns
        -------
        Reading
            An iterator of records with the attributes `problems` and `counts`. The result of
            `citeweave.read` can also be turned into a corpus: `Records.prepare`.

        Raises
        ------
        CorpusError
            A path does not exist.
        ParameterError
            An option has an invalid value.

        Examples
        --------
        >>> import io
        >>> reading = Reading.of(io.BytesIO(b"@book{lim, title={Topic models}, year=2016}"))
        >>> [(record.title, record.year) for record in reading]
        [('Topic models', 2016)]
        """
        if not sources:
            raise ParameterError("read needs at least one file, folder, '-' or open file.")
        form = find_format(format) if format is not None else None
        log = ProblemLog(on_problem, max_problems)
        given: list[SourceLike] = []
        if citations is not None:
            given = list(citations) if isinstance(citations, list | tuple) else [citations]  # type: ignore[list-item]
        return cls(
            [_checked(source) for source in sources],
            form,
            check_columns(columns or {}),
            [_checked(source) for source in given],
            log,
        )

    @property
    def problems(self) -> list[Problem]:
        """The problems kept so far."""
        return self._log.kept

    @property
    def problem_count(self) -> int:
        """The number of problems so far."""
        return self._log.count

    @property
    def records_read(self) -> int:
        """Number of records read so far."""
        return sum(counts.read for counts in self.counts.values())

    @property
    def records_skipped(self) -> int:
        """Number of records skipped so far."""
        return sum(counts.skipped for counts in self.counts.values())

    @property
    def as_read(self) -> dict[str, int]:
        """Counts of the contents of the records as read from the files (`Tally`)."""
        return self._tally.as_dict()

    def __iter__(self) -> Self:
        """Return the reading itself, which can be iterated over once."""
        return self

    def __next__(self) -> Record:
        """Return the next record."""
        return next(self._records)

    def close(self) -> None:
        """Stop reading and close open files.

        Examples
        --------
        >>> import io
        >>> from citeweave.reading import read
        >>> reading = read(io.BytesIO(b"@book{a, title={Soil}} @book{b, title={Seed}}"))
        >>> next(reading).title
        'Soil'
        >>> reading.close()
        """
        self._source.close()

    def map(self, change: Callable[[Iterable[Record]], Iterator[Record]]) -> Self:
        """Apply a function that changes, adds or drops records in the stream.

        Examples
        --------
        >>> import io
        >>> from citeweave.reading import read
        >>> reading = read(io.BytesIO(b"@book{a, title={Soil}, year=1999} @book{b, title={Seed}}"))
        >>> dated = reading.map(lambda records: (r for r in records if r.year is not None))
        >>> [record.title for record in dated]
        ['Soil']
        """
        self._records = change(self._records)
        return self

    def _context(self, item: Input) -> FileContext:
        counts = self.counts.setdefault(item.name, FileCounts(item.name))
        return FileContext(item.name, self._log, counts, self._columns, all_counts=self.counts)

    def _run(
        self, sources: Sequence[Path | Input], citations: Sequence[Path | Input]
    ) -> Generator[Record, None, None]:
        given = self._load_citations(citations)
        plain: list[Input] = []
        with ExitStack() as stack:
            for source in sources:
                if isinstance(source, Input):
                    plain.append(source)
                elif source.is_dir():
                    yield from self._group(plain, given, folder=False)
                    plain = []
                    yield from self._group(self._folder(source, stack), given, folder=True)
                elif is_archive(source):
                    yield from self._group(plain, given, folder=False)
                    plain = []
                    yield from self._group(self._archive(source, stack), given, folder=True)
                else:
                    plain.append(file_input(source))
            yield from self._group(plain, given, folder=False)
        if given:
            links = sum(map(len, given.values()))
            self._log.add(
                Problem(
                    ", ".join(self._edge_files),
                    None,
                    "references",
                    f"{links} citations by {len(given)} documents that were not read were skipped",
                )
            )

    def _folder(self, folder: Path, stack: ExitStack) -> list[Input]:
        items: list[Input] = []
        for path in sorted(folder.rglob("*")):
            hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
            if hidden or not path.is_file():
                continue
            if is_archive(path):
                items += self._archive(path, stack)
            else:
                items.append(file_input(path))
        if not items:
            self._log.add(Problem(str(folder), None, None, "the folder contains no files"))
        return items

    def _archive(self, path: Path, stack: ExitStack) -> list[Input]:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="citeweave-")))
        context = self._context(file_input(path))
        context.counts.format = "archive"
        return unpack(path, str(path), temporary, context)

    def _load_citations(self, sources: Sequence[Path | Input]) -> edges.Citations:
        given: edges.Citations = {}
        for source in sources:
            self._read_edges(source if isinstance(source, Input) else file_input(source), given)
        return given

    def _read_edges(self, item: Input, given: edges.Citations) -> None:
        context = self._context(item)
        context.counts.format = "edges"
        self._edge_files.append(item.name)
        edges.read_edges(item, context, into=given)

    def _group(
        self, items: Sequence[Input], given: edges.Citations, *, folder: bool
    ) -> Iterator[Record]:
        """Read files given together; companion files are found among them and next to them."""
        by_name = {_place(item): item for item in items}
        companions: dict[str, dict[str, Input]] = {}
        claimed: set[str] = set()
        for item in items:
            found = _companions_of(item, by_name)
            if found:
                companions[item.name] = found
                claimed.update(other.name for other in found.values())
        left = [item for item in items if item.name not in claimed]
        if len(left) > 1 and self._form is None and not any(item.once for item in left):
            left = self._attach_edges(left, given)
        for item in left:
            yield from self._file(item, companions.get(item.name, {}), given, folder=folder)

    def _attach_edges(self, items: Sequence[Input], given: edges.Citations) -> list[Input]:
        """Use a citation list given with a single other file as its citations."""
        lists = [item for item in items if self._sniffed(item) is edges.FORMAT]
        others = [item for item in items if item not in lists and not _is_aside(item)]
        if lists and len(others) == 1:
            for item in lists:
                self._read_edges(item, given)
            return others
        return list(items)

    def _sniffed(self, item: Input) -> Format | None:
        quiet = FileContext(item.name, ProblemLog(limit=0), FileCounts(item.name))
        try:
            with item.open() as raw:
                stream = ByteStream(raw, quiet)
        except OSError:
            # It will be reported when it is read.
            return None
        return detect(Sample(item.basename, stream.head, stream.head_text))

    def _file(
        self,
        item: Input,
        companions: Mapping[str, Input],
        given: edges.Citations,
        *,
        folder: bool,
    ) -> Iterator[Record]:
        context = self._context(item)
        context.companions = companions
        with ExitStack() as stack:
            try:
                raw = stack.enter_context(item.open())
            except OSError as error:
                context.refuse(f"cannot be opened ({error.strerror or error})")
                return
            stream = ByteStream(raw, context)
            sample = Sample(item.basename, stream.head, stream.head_text)
            form = self._form or detect(sample, with_columns=bool(self._columns))
            if form is None:
                if folder and _is_aside(item):
                    context.counts.refused = "not data"
                else:
                    context.refuse(why_unknown(sample))
                return
            context.counts.format = form.name
            _note_suffix(form, item, context)
            for record in form.read(stream, context):
                context.counts.read += 1
                if given and record.id in given:
                    cited = tuple(Reference(id=other) for other in given.pop(record.id))
                    yield replace(record, references=record.references + cited)
                else:
                    yield record
            if not context.counts.read and not context.counts.problems:
                context.refuse(f"no records in it, read as {form.name} ({form.label})")


read = Reading.of


def _place(item: Input) -> str:
    """Return the folder and the name without ``.gz``, by which companion files are matched."""
    folder = item.name.replace("\\", "/").rpartition("/")[0]
    return f"{folder}/{item.basename}"


def _companions_of(item: Input, by_name: Mapping[str, Input]) -> dict[str, Input]:
    found: dict[str, Input] = {}
    folder = _place(item).removesuffix(item.basename)
    for form in FORMATS:
        for name in form.companions(item.basename) if form.companions else ():
            other = by_name.get(folder + name)
            if other is None and item.path is not None:
                for path in (item.path.with_name(name), item.path.with_name(f"{name}.gz")):
                    other = file_input(path) if other is None and path.is_file() else other
            if other is not None:
                found[name] = other
    return found


def _is_aside(item: Input) -> bool:
    return item.basename.lower().startswith(_ASIDE)


_SURE_SUFFIXES = {".ris": "ris", ".bib": "bibtex", ".nbib": "medline", ".ciw": "wos"}
_SURE_SUFFIXES |= {".enw": "endnote"}


def _note_suffix(form: Format, item: Input, context: FileContext) -> None:
    """Report a file whose suffix suggests a different format than its content."""
    suffix = Path(item.basename).suffix.lower()
    promised = _SURE_SUFFIXES.get(suffix)
    if promised is not None and promised != form.name:
        context.note(
            None,
            f"the name ends in {suffix}, but the content was read as {form.name} ({form.label})",
            field="format",
        )
