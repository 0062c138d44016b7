"""The public function `read`: records that can be turned into a corpus."""

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
    r"""Records that are read from files; they can be iterated over once.

    Created by `read`. Iterate over them, or turn them into a corpus with `prepare`.

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
        """Keep only records selected by a keyword query, labelled by its categories.

        Examples
        --------
        >>> import io
        >>> import citeweave
        >>> from citeweave.preparing import Query
        >>> file = io.BytesIO(b"@book{a, title={Amino acids}} @book{b, title={Tax law}}")
        >>> records = citeweave.read(file).select(Query({"Biology": ["amino acid"]}))
        >>> [(record.title, record.category) for record in records]
        [('Amino acids', 'Biology')]
        """
        counts = self._query = QueryCounts()
        self._asked = query
        return self.map(lambda records: query.select(records, counts=counts))

    def prepare(
        self, settings: Settings | None = None, *, progress: Progress | None = None
    ) -> Imported:
        """Create a corpus: clean and merge records, match citations, find phrases, filter words.

        Parameters
        ----------
        settings : Settings or None
            Preparation settings (default: as in the paper).
        progress : callable or None
            Called at intervals with the name of a step, the amount done and the total.

        Returns
        -------
        Imported
            The corpus and the report of the whole import.

        Raises
        ------
        CorpusError
            Nothing could be read, or no documents are left; the message gives the reasons.

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
        return f"Nothing could be read. {'; '.join(reasons) or 'The files contain no records'}."


read = Records.of
