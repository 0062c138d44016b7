"""`read`, as users call it: records that know how to become a corpus."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from citeweave.errors import CorpusError
from citeweave.preparing.queries import Query, QueryCounts
from citeweave.preparing.run import Imported, Progress
from citeweave.preparing.run import prepare as prepare_records
from citeweave.reading import Reading

if TYPE_CHECKING:
    from citeweave.preparing.settings import Settings

__all__ = ["Records", "read"]

_REASONS_SHOWN = 5


class Records(Reading):
    r"""Records while they are read from files; they can be gone through once.

    Made by `read`. Go through them one by one, or turn them into a corpus by `prepare`.

    Examples
    --------
    >>> from pathlib import Path
    >>> import citeweave
    >>> _ = Path("papers.ris").write_text("TY  - JOUR\nTI  - On soil\nER  - \n")
    >>> [record.title for record in citeweave.read("papers.ris")]
    ['On soil']
    """

    _query: QueryCounts | None = None
    _asked: Query | None = None

    def select(self, query: Query) -> Self:
        """Keep only what a keyword query selects, labelled by its categories."""
        counts = self._query = QueryCounts()
        self._asked = query
        return self.map(lambda records: query.select(records, counts=counts))

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
        >>> corpus.n_documents, report.records_read
        (2, 2)
        """
        try:
            corpus, report = prepare_records(
                self, settings=settings, progress=progress, query=self._asked
            )
        except CorpusError as error:
            files = ", ".join(counts.file for counts in self.counts.values() if counts.read)
            why = f"{files}: {error}" if files else self._why_nothing()
            raise CorpusError(why) from error
        finally:
            self.close()
        report.add_reading(self, self._query)
        return Imported(replace(corpus, import_report=report.as_dict()), report)

    def _why_nothing(self) -> str:
        reasons = [str(problem) for problem in self.problems[:_REASONS_SHOWN]]
        more = self.problem_count - len(reasons)
        if more > 0:
            reasons.append(f"and {more} more problems")
        return f"Nothing could be read. {'; '.join(reasons) or 'The files hold no records'}."


read = Records.of
