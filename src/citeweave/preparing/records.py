"""`read`, as users call it: records that know how to become a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from citeweave.errors import CorpusError
from citeweave.preparing.queries import Query, QueryCounts
from citeweave.preparing.report import Report
from citeweave.preparing.run import Progress
from citeweave.preparing.run import prepare as prepare_records
from citeweave.preparing.settings import Settings
from citeweave.reading import read as read_files
from citeweave.reading.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from citeweave.corpus import Corpus
    from citeweave.reading import Reading, Record
    from citeweave.reading.problems import FileCounts, OnProblem, Problem
    from citeweave.reading.reading import SourceLike

__all__ = ["Imported", "Records", "read"]

_REASONS_SHOWN = 5


class Imported(NamedTuple):
    """A corpus and the report of how it came about."""

    corpus: Corpus
    report: Report


class Records:
    """Records while they are read from files; they can be gone through once.

    Made by `read`. Go through them one by one, or turn them into a corpus by `prepare`.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._tally = Tally()
        self._records: Iterator[Record] = self._tally.count(reading)
        self._query: QueryCounts | None = None

    @property
    def counts(self) -> dict[str, FileCounts]:
        """What each file has given so far."""
        return self._reading.counts

    @property
    def problems(self) -> list[Problem]:
        """The problems kept so far."""
        return self._reading.problems

    @property
    def problem_count(self) -> int:
        """The number of all problems so far."""
        return self._reading.problem_count

    @property
    def records_read(self) -> int:
        """Records read so far."""
        return self._reading.records_read

    @property
    def records_skipped(self) -> int:
        """Records that could not be read so far."""
        return self._reading.records_skipped

    @property
    def as_read(self) -> dict[str, int]:
        """What the records held when they came from the files, before any step."""
        return self._tally.as_dict()

    def __iter__(self) -> Self:
        """Return the records themselves."""
        return self

    def __next__(self) -> Record:
        """Return the next record."""
        return next(self._records)

    def close(self) -> None:
        """Stop reading and close what is open."""
        self._reading.close()

    def select(self, query: Query) -> Self:
        """Keep only what a keyword query selects, labelled by its categories."""
        self._query = QueryCounts()
        self._records = query.select(self._records, counts=self._query)
        return self

    def map(self, change: Callable[[Iterable[Record]], Iterator[Record]]) -> Self:
        """Let a function change, add or leave out records on their way."""
        self._records = change(self._records)
        return self

    def prepare(
        self, settings: Settings | None = None, *, progress: Progress | None = None
    ) -> Imported:
        """Make a corpus of the records: clean, merge, match citations, find phrases, filter words.

        Parameters
        ----------
        settings : Settings or None
            Which steps are taken and how; the paper's by default.
        progress : callable or None
            Called now and then with a step's name, how much of it is done, and how much there is.

        Returns
        -------
        Imported
            The corpus and the report of the whole import.

        Raises
        ------
        CorpusError
            Nothing could be read, or no document is left; the text gives the reasons.

        Examples
        --------
        >>> import io
        >>> entries = b"@book{lim, title={Topic models}} @book{b, title={Topic trees}}"
        >>> corpus, report = read(io.BytesIO(entries)).prepare()
        >>> corpus.n_documents, report.as_dict()["records_read"]
        (2, 2)
        """
        settings = settings or Settings()
        try:
            corpus, steps = prepare_records(self._records, settings=settings, progress=progress)
        except CorpusError as error:
            files = ", ".join(counts.file for counts in self.counts.values() if counts.read)
            why = f"{files}: {error}" if files else self._why_nothing()
            raise CorpusError(why) from error
        finally:
            self.close()
        return Imported(corpus, Report.of(steps, self, settings=settings, query=self._query))

    def _why_nothing(self) -> str:
        reasons = [str(problem) for problem in self.problems[:_REASONS_SHOWN]]
        more = self.problem_count - len(reasons)
        if more > 0:
            reasons.append(f"and {more} more problems")
        return f"Nothing could be read. {'; '.join(reasons) or 'The files hold no records'}."


def read(
    *sources: SourceLike,
    format: str | None = None,  # noqa: A002  the natural word for it
    columns: Mapping[str, str] | None = None,
    citations: SourceLike | Sequence[SourceLike] | None = None,
    on_problem: OnProblem = "collect",
    max_problems: int = 1000,
) -> Records:
    """Read records from files, folders, archives, standard input or open files.

    Parameters
    ----------
    *sources : path, "-" or open binary file
        What to read. Folders are read with all below them in order of name, ``-`` is
        standard input, gzip is unpacked by itself, archives are read as folders.
    format : str or None
        Name of the format of all sources; by default each file's content tells.
    columns : mapping of str to str, or None
        For tables and JSON Lines of no known provenance: from record fields to columns.
    citations : path, open binary file or a sequence of them, or None
        Lists of citations that come apart: two columns, citing id and cited id.
    on_problem : {"collect", "raise"} or callable
        What to do about a bad record besides passing it over.
    max_problems : int
        How many problems to keep; all are counted.

    Returns
    -------
    Records
        The records, to go through or to `prepare`.

    Examples
    --------
    >>> import io
    >>> records = read(io.BytesIO(b"@book{lim, title={Topic models}, year=2016}"))
    >>> [(record.title, record.year) for record in records]
    [('Topic models', 2016)]
    """
    return Records(
        read_files(
            *sources,
            format=format,
            columns=columns,
            citations=citations,
            on_problem=on_problem,
            max_problems=max_problems,
        )
    )
