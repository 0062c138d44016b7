"""Problems met while reading, and counts of what was read: the basis of the import report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from citeweave.errors import CorpusError, ParameterError
from citeweave.reading.record import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citeweave.reading.streams import Input

__all__ = ["FileContext", "FileCounts", "OnProblem", "Problem", "ProblemLog"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a file.

    Attributes
    ----------
    file : str
        The file as named by the user.
    line : int or None
        Line number, or record number if the file has no lines; None for the whole file.
    field : str or None
        The field concerned, if any.
    message : str
        What is wrong and what was done about it.
    skipped : bool
        Whether a record was lost.

    Examples
    --------
    >>> from citeweave.reading import Problem
    >>> str(Problem("export.ris", 12, "PY", "'20x6' is not a year; left out"))
    "export.ris:12: PY: '20x6' is not a year; left out"
    """

    file: str
    line: int | None
    field: str | None
    message: str
    skipped: bool = False

    def __str__(self) -> str:
        """Return the problem in one line, in the style of a compiler."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        what = self.message if self.field is None else f"{self.field}: {self.message}"
        return f"{where}: {what}"


OnProblem: TypeAlias = Literal["collect", "raise"] | Callable[[Problem], object]


@dataclass(slots=True)
class FileCounts:
    r"""Counts for one file.

    Attributes
    ----------
    file : str
        The file as named by the user.
    format : str or None
        Name of the format it was read as; None if it was rejected.
    read, skipped, problems : int
        Numbers of records read, records skipped, and problems of any kind.
    recoded_lines : int
        Number of lines that were invalid in the file's encoding and read as Windows-1252.
    links : int
        Number of citation lines, for a file of citations.
    vocabulary : int
        Number of word columns, used or not, for a file of bags of words.
    refused : str or None
        Why nothing was read from the file.
    nameless_authors : int
        Number of author entries without a name, which were dropped.

    Examples
    --------
    >>> from pathlib import Path
    >>> from citeweave.reading import Reading
    >>> _ = Path("papers.ris").write_text("TY  - JOUR\nTI  - On soil\nER  - \n")
    >>> reading = Reading.of("papers.ris")
    >>> titles = [record.title for record in reading]
    >>> reading.counts["papers.ris"].read
    1
    """

    file: str
    format: str | None = None
    read: int = 0
    skipped: int = 0
    problems: int = 0
    recoded_lines: int = 0
    links: int = 0
    vocabulary: int = 0
    refused: str | None = None
    nameless_authors: int = 0


@dataclass(slots=True)
class ProblemLog:
    """Collects problems: all are counted, and the first `limit` are kept."""

    on_problem: OnProblem = "collect"
    limit: int = 1000
    kept: list[Problem] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        """Check the option, so that an invalid value is reported before reading."""
        if self.on_problem not in ("collect", "raise") and not callable(self.on_problem):
            raise ParameterError(
                "The 'on_problem' option of read must be 'collect', 'raise' or a function of one "
                f"Problem. Got {self.on_problem!r} instead."
            )

    def add(self, problem: Problem) -> None:
        """Count, keep and pass on one problem."""
        self.count += 1
        if len(self.kept) < self.limit:
            self.kept.append(problem)
        if self.on_problem == "raise":
            raise CorpusError(f"{problem} (use on_problem='collect' to continue after problems).")
        if callable(self.on_problem):
            self.on_problem(problem)


@dataclass(slots=True)
class FileContext:
    """Information for a reader about its file, and where it reports problems.

    Attributes
    ----------
    file : str
        Name of the file, for messages and ``Record.source``.
    log : ProblemLog
        The log of all files.
    counts : FileCounts
        The counts of this file.
    columns : mapping of str to str
        The user's map from record fields to columns, for generic formats.
    companions : mapping of str to Input
        Files that belong to this one (LINQS ``.cites``, TriDNR ``labels.txt``), by name.
    all_counts : dict of str to FileCounts
        The counts of all files, including companion files.
    """

    file: str
    log: ProblemLog
    counts: FileCounts
    columns: Mapping[str, str] = field(default_factory=dict)
    companions: Mapping[str, Input] = field(default_factory=dict)
    all_counts: dict[str, FileCounts] = field(default_factory=dict)

    def beside(self, other: Input, format: str) -> FileContext:  # noqa: A002
        """Return the context of a companion file, so that problems are reported under its name."""
        counts = self.all_counts.setdefault(other.name, FileCounts(other.name, format))
        return FileContext(other.name, self.log, counts, all_counts=self.all_counts)

    def source(self, position: int) -> Source:
        """Return the source of a record that starts at `position`."""
        return Source(self.file, position)

    def fallback_id(self, doi: str | None, position: int) -> str:
        """Return an id for a record without one."""
        return doi or f"{self.file}#{position}"

    def note(self, line: int | None, message: str, *, field: str | None = None) -> None:
        """Report a problem that does not lose a record."""
        self.counts.problems += 1
        self.log.add(Problem(self.file, line, field, message))

    def nameless_author(self, line: int) -> None:
        """Report an author entry without a name, once per file."""
        if not self.counts.nameless_authors:
            self.note(
                line,
                "an author without a name is dropped here and in later records",
                field="authors",
            )
        self.counts.nameless_authors += 1

    def skip(self, line: int | None, message: str, *, field: str | None = None) -> None:
        """Report a problem that loses one record."""
        self.counts.problems += 1
        self.counts.skipped += 1
        self.log.add(Problem(self.file, line, field, message, skipped=True))

    def refuse(self, reason: str) -> None:
        """Report that nothing could be read from the file."""
        self.counts.problems += 1
        self.counts.refused = reason
        self.log.add(Problem(self.file, None, None, reason))
