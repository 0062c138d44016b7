"""What went wrong while reading, and how much was read: the import report's raw material."""

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
    """One thing in a file that could not be read as it should.

    Attributes
    ----------
    file : str
        The file as the user named it.
    line : int or None
        Line (or record number where the file has no lines); None for the whole file.
    field : str or None
        The field concerned, where it is one.
    message : str
        What is wrong and what was done about it.
    skipped : bool
        Whether a record was lost by it.

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
        """Return the problem in one line, as a compiler would."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        what = self.message if self.field is None else f"{self.field}: {self.message}"
        return f"{where}: {what}"


OnProblem: TypeAlias = Literal["collect", "raise"] | Callable[[Problem], object]


@dataclass(slots=True)
class FileCounts:
    r"""What one file gave.

    Attributes
    ----------
    file : str
        The file as the user named it.
    format : str or None
        Name of the format it was read as; None if it was refused.
    read, skipped, problems : int
        Records given, records lost, problems of any kind.
    recoded_lines : int
        Lines that were not valid in the file's encoding and were read as Windows-1252.
    links : int
        Citation lines, for a file that lists citations.
    vocabulary : int
        Words the file has columns for, used or not, where it comes as bags of words.
    refused : str or None
        Why nothing was read from it.
    nameless_authors : int
        Entries of lists of authors that hold no name and were left out.

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
    """Collects problems: all are counted, the first `limit` are kept."""

    on_problem: OnProblem = "collect"
    limit: int = 1000
    kept: list[Problem] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        """Check the option here, so that a wrong one shows before any reading."""
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
            raise CorpusError(f"{problem} (read with on_problem='collect' to go on past it).")
        if callable(self.on_problem):
            self.on_problem(problem)


@dataclass(slots=True)
class FileContext:
    """What a reader is told about the file it reads, and where it reports to.

    Attributes
    ----------
    file : str
        Name of the file for messages and for ``Record.source``.
    log : ProblemLog
        The log of the whole reading.
    counts : FileCounts
        The counts of this file.
    columns : mapping of str to str
        The user's map from record fields to columns, for the generic formats.
    companions : mapping of str to Input
        Files that belong to this one (LINQS ``.cites``, TriDNR ``labels.txt``), by name.
    all_counts : dict of str to FileCounts
        The counts of all files of the reading, where a companion's are entered too.
    """

    file: str
    log: ProblemLog
    counts: FileCounts
    columns: Mapping[str, str] = field(default_factory=dict)
    companions: Mapping[str, Input] = field(default_factory=dict)
    all_counts: dict[str, FileCounts] = field(default_factory=dict)

    def beside(self, other: Input, format: str) -> FileContext:  # noqa: A002
        """Return the context of a companion file, so that its problems bear its name."""
        counts = self.all_counts.setdefault(other.name, FileCounts(other.name, format))
        return FileContext(other.name, self.log, counts, all_counts=self.all_counts)

    def source(self, position: int) -> Source:
        """Return the source of a record that starts at `position`."""
        return Source(self.file, position)

    def fallback_id(self, doi: str | None, position: int) -> str:
        """Return an id for a record whose source gives none."""
        return doi or f"{self.file}#{position}"

    def note(self, line: int | None, message: str, *, field: str | None = None) -> None:
        """Report a problem that loses no record."""
        self.counts.problems += 1
        self.log.add(Problem(self.file, line, field, message))

    def nameless_author(self, line: int) -> None:
        """Report that an entry of a list of authors has no name, once a file."""
        if not self.counts.nameless_authors:
            self.note(
                line,
                "an author without a name is left out here, and wherever there are more of them",
                field="authors",
            )
        self.counts.nameless_authors += 1

    def skip(self, line: int | None, message: str, *, field: str | None = None) -> None:
        """Report a problem that loses one record."""
        self.counts.problems += 1
        self.counts.skipped += 1
        self.log.add(Problem(self.file, line, field, message, skipped=True))

    def refuse(self, reason: str) -> None:
        """Report that the file, as a whole, gives nothing."""
        self.counts.problems += 1
        self.counts.refused = reason
        self.log.add(Problem(self.file, None, None, reason))
