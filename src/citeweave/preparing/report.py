"""The import report: what was read, changed, matched or dropped."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from citeweave import __version__
from citeweave.corpus.storage import REPORT_FILE
from citeweave.errors import CorpusError, ParameterError
from citeweave.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citeweave.corpus import Corpus
    from citeweave.preparing.queries import QueryCounts
    from citeweave.reading import Reading

__all__ = ["REPORT_FILE", "Report"]

FORMAT = "citeweave-import"
VERSION = 1

_MERGED_KEPT = 1000

UNREADABLE = "could not be read"
NO_CATEGORY = "no category of the query"
SEVERAL = "several categories of the query"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(slots=True, kw_only=True)
class Report:
    """Everything that an import read, changed, matched or dropped.

    It is stored with the corpus (``corpus.import_report``, the file ``import.json`` in its folder)
    and copied into every run. The numbers add up:

        records_read + records_unreadable == documents + records_skipped,

    `records_skipped` is the sum of `skipped_by_reason` and `references` that of
    `citations_by_fate`.

    Attributes
    ----------
    created, citeweave : str
        Time of the import and version of citeweave.
    records_read, records_unreadable : int
        Numbers of records that could and could not be read.
    skipped_by_reason : dict
        Records that did not become a document, by reason: "could not be read", "no category of
        the query", "several categories of the query", "language", "empty record",
        "duplicate of same id", "duplicate of same doi", "duplicate of same title",
        "duplicate named by you", "no words left".
    as_read : dict
        Counts of the contents of all records as read from the files (`Tally`); the other counts
        refer to the documents.
    documents : int
        Number of documents in the corpus.
    languages_dropped : dict
        Languages of the records that were dropped because of their language.
    merged_records : list of dict
        Records merged into another: ``kept``, ``merged`` (ids), ``reason``, ``title``; the first
        1,000. The setting ``keep_apart`` undoes merges, ``join`` adds others.
    with_title, with_abstract, with_keywords, with_authors, with_year, with_category : int
        Number of documents that have the field.
    authors : int
        Number of distinct authors.
    authors_identified : int
        Number of authors identified by an id or ORCID.
    author_mentions : int
        Number of entries in author lists.
    authors_excluded : dict
        The most frequent names that were not considered authors, with their counts.
    authors_excluded_mentions : int
        Number of entries dropped for this reason.
    merged_names : list of dict
        Authors joined from several spellings by name only: ``author``, ``names``,
        ``mentions``, ``first_names`` (distinct ones: two or more may be two people).
    split_names : list of dict
        Names that belong to several authors: ``name``, ``authors`` (the first ten), ``n_authors``,
        ``mentions``; the 50 with the most authors. `split_names_total` is their number.
    people : list of [person, name, paper]
        The corrections that were applied; `people_unmatched` lists those that match nobody, with
        reasons.
    merged_names_total, merged_first_names_total, first_names_joined : int
        Number of such authors; number of those with more than one first name; total number of first
        names of the latter.
    with_affiliation : int
        Number of documents with a known institution or country.
    institutions, institutions_identified, countries : int
        Numbers of distinct institutions, of those with an identifier (ROR, OpenAlex), and of
        countries.
    references, citations_matched : int
        Number of references of the documents; number of distinct citations within the corpus.
    citations_by_fate : dict
        Number of references by outcome.
    citations_by_source : dict
        The same per source file.
    outside_works, outside_works_total : list of dict, int
        The 50 most cited works outside the corpus (`work`, `papers`), and the number of works cited
        by two or more papers.
    words, tokens : int
        Number of words of text without stop words; number of tokens in the corpus.
    vocabulary_before, vocabulary : int
        Numbers of distinct words and phrases before and after filtering.
    words_common, words_rare : int
        Numbers of distinct words dropped as too common and as too rare.
    tokens_dropped : int
        Number of their occurrences.
    most_common_dropped : list of (str, int)
        The words dropped as too common, with their counts.
    min_word_count : int
        The minimum word count that was applied.
    max_documents : float
        Words that occur in more documents than this were dropped.
    phrases : int
        Number of phrases in the vocabulary.
    longest_phrases : list of (str, int)
        The twenty longest phrases, by number of words and then by count, with counts.
    tfidf : dict or None
        How counts were recovered from TF-IDF values: ``method``, ``n_documents``,
        ``largest_error``, ``documents_off``.
    warnings : list of str
        Warnings for the user.
    files : list of dict
        Counts per file (`FileCounts`).
    problems_total, problems : int, list of dict
        Number of problems in the files, and the first ones (`Problem`).
    query : dict or None
        Counts of a query (`QueryCounts`).
    settings_changed : dict
        Settings that differ from the defaults.

    Examples
    --------
    >>> import io
    >>> from citeweave import read
    >>> corpus, report = read(io.BytesIO(b"@book{lim, title={Topic models}}")).prepare()
    >>> report.records_read, report.records_skipped, report.documents
    (1, 0, 1)
    >>> Report.of(corpus) == report
    True
    """

    citeweave: str = __version__
    created: str = field(default_factory=_now)
    records_read: int = 0
    records_unreadable: int = 0
    skipped_by_reason: dict[str, int] = field(default_factory=dict)
    as_read: dict[str, int] = field(default_factory=dict)
    documents: int = 0
    languages_dropped: dict[str, int] = field(default_factory=dict)
    merged_records: list[dict[str, Any]] = field(default_factory=list)
    with_title: int = 0
    with_abstract: int = 0
    with_keywords: int = 0
    with_authors: int = 0
    with_year: int = 0
    with_category: int = 0
    authors: int = 0
    authors_identified: int = 0
    author_mentions: int = 0
    authors_excluded: dict[str, int] = field(default_factory=dict)
    authors_excluded_mentions: int = 0
    merged_names: list[dict[str, Any]] = field(default_factory=list)
    merged_names_total: int = 0
    split_names: list[dict[str, Any]] = field(default_factory=list)
    split_names_total: int = 0
    people: list[list[str]] = field(default_factory=list)
    people_unmatched: list[dict[str, Any]] = field(default_factory=list)
    merged_first_names_total: int = 0
    first_names_joined: int = 0
    with_affiliation: int = 0
    institutions: int = 0
    institutions_identified: int = 0
    countries: int = 0
    references: int = 0
    citations_matched: int = 0
    citations_by_fate: dict[str, int] = field(default_factory=dict)
    citations_by_source: dict[str, dict[str, int]] = field(default_factory=dict)
    outside_works: list[dict[str, Any]] = field(default_factory=list)
    outside_works_total: int = 0
    words: int = 0
    tokens: int = 0
    vocabulary_before: int = 0
    vocabulary: int = 0
    words_common: int = 0
    words_rare: int = 0
    tokens_dropped: int = 0
    most_common_dropped: list[tuple[str, int]] = field(default_factory=list)
    min_word_count: int = 0
    max_documents: float = 0.0
    phrases: int = 0
    longest_phrases: list[tuple[str, int]] = field(default_factory=list)
    tfidf: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    problems_total: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list)
    query: dict[str, Any] | None = None
    settings_changed: dict[str, Any] = field(default_factory=dict)

    @property
    def records_skipped(self) -> int:
        """Number of records that did not become a document."""
        return sum(self.skipped_by_reason.values())

    def skip(self, reason: str, number: int = 1) -> None:
        """Count records that do not become a document.

        Examples
        --------
        >>> from citeweave.preparing import Report
        >>> report = Report()
        >>> report.skip("other language", 3)
        >>> report.skipped_by_reason, report.records_skipped
        ({'other language': 3}, 3)
        """
        if number:
            self.skipped_by_reason[reason] = self.skipped_by_reason.get(reason, 0) + number

    def merge(self, kept: str, merged: str, reason: str, title: str | None) -> None:
        """Record that one record was merged into another.

        Examples
        --------
        >>> from citeweave.preparing import Report
        >>> report = Report()
        >>> report.merge("w1", "w2", "same DOI", "On soil")
        >>> report.merged_records[0]["kept"], report.records_skipped
        ('w1', 1)
        """
        self.skip(reason)
        if len(self.merged_records) < _MERGED_KEPT:
            row = {"kept": kept, "merged": merged, "reason": reason, "title": title}
            self.merged_records.append(row)

    def add_reading(self, reading: Reading, query: QueryCounts | None = None) -> None:
        """Add the results of reading, and of a query, to the report.

        Examples
        --------
        >>> import io
        >>> from citeweave.preparing import Report
        >>> from citeweave.reading import read
        >>> reading = read(io.BytesIO(b"@book{lim, title={Topic models}}"))
        >>> papers, report = list(reading), Report()
        >>> report.add_reading(reading)
        >>> report.records_read, report.problems_total
        (1, 0)
        """
        later, self.skipped_by_reason = self.skipped_by_reason, {}
        self.skip(UNREADABLE, reading.records_skipped)
        if query is not None:
            self.skip(NO_CATEGORY, query.unmatched)
            self.skip(SEVERAL, query.several)
            self.query = query.as_dict()
        self.skipped_by_reason |= later
        self.records_read = reading.records_read
        self.records_unreadable = reading.records_skipped
        self.as_read = reading.as_read
        self.files = [asdict(counts) for counts in reading.counts.values()]
        self.problems_total = reading.problem_count
        self.problems = [asdict(problem) for problem in reading.problems]

    @classmethod
    def of(cls, corpus: Corpus) -> Self | None:
        """Return the report of a corpus, or None if it was not created by an import.

        Examples
        --------
        >>> from citeweave.preparing import Report, prepare
        >>> from citeweave.reading import Record, Source
        >>> corpus = prepare([Record("w1", Source("x", 1), title="Decision tree pruning")]).corpus
        >>> Report.of(corpus).documents
        1
        """
        return None if corpus.import_report is None else cls.from_dict(corpus.import_report)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Create a report from the result of `as_dict`.

        Examples
        --------
        >>> from citeweave.preparing import Report
        >>> report = Report(documents=3)
        >>> Report.from_dict(report.as_dict()) == report
        True
        """
        if values.get("format") != FORMAT or values.get("version") != VERSION:
            raise CorpusError(
                f"This is not an import report of version {VERSION}: its format is "
                f"{values.get('format')!r}."
            )
        names = {one.name for one in fields(cls)}
        report = cls(**{name: value for name, value in values.items() if name in names})
        for name in ("most_common_dropped", "longest_phrases"):
            setattr(report, name, [(word, number) for word, number in getattr(report, name)])
        return report

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a report saved as JSON, or the one in a corpus folder.

        Examples
        --------
        >>> from citeweave.preparing import Report
        >>> _ = Report(documents=3).save("report.json")
        >>> Report.load("report.json").documents
        3
        """
        place = Path(path)
        if place.is_dir():
            place /= REPORT_FILE
        try:
            values = json.loads(place.read_text(encoding="utf-8"))
            return cls.from_dict(values if isinstance(values, dict) else {})
        except (OSError, ValueError, TypeError) as error:
            raise CorpusError(f"The import report '{place}' cannot be read: {error}.") from error
        except CorpusError as error:
            raise CorpusError(f"'{place}': {error}") from error

    def as_dict(self) -> dict[str, Any]:
        """Return all values in JSON-serialisable form.

        Examples
        --------
        >>> from citeweave.preparing import Report
        >>> Report(documents=3).as_dict()["documents"]
        3
        """
        values = asdict(self)
        for name in ("most_common_dropped", "longest_phrases"):
            values[name] = [list(pair) for pair in values[name]]
        head = {name: values.pop(name) for name in ("citeweave", "created", "records_read")}
        head["records_unreadable"] = values.pop("records_unreadable")
        head["records_skipped"] = self.records_skipped
        return {"format": FORMAT, "version": VERSION} | head | values

    def to_html(self) -> str:
        """Return the report as a self-contained HTML page.

        Examples
        --------
        >>> from citeweave.preparing import prepare
        >>> from citeweave.reading import Record, Source
        >>> report = prepare([Record("w1", Source("x", 1), title="Decision tree pruning")]).report
        >>> report.to_html()[:15]
        '<!doctype html>'
        """
        from citeweave.preparing.page import html_page  # noqa: PLC0415 (it imports this file)

        return html_page(self)

    def to_json(self) -> str:
        """Return the report as JSON text.

        Examples
        --------
        >>> import json
        >>> from citeweave.preparing import Report
        >>> json.loads(Report(documents=3).to_json())["documents"]
        3
        """
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report as JSON or HTML, depending on the file name; to a folder as JSON.

        Raises
        ------
        ParameterError
            The file name ends neither in .json nor in .html.
        CorpusError
            The file cannot be written.

        Examples
        --------
        >>> from citeweave.preparing import Report, prepare
        >>> from citeweave.reading import Record, Source
        >>> report = prepare([Record("w1", Source("x", 1), title="Decision tree pruning")]).report
        >>> Report.load(report.save("import.json")).documents
        1
        """
        place = Path(path)
        if place.is_dir():
            place /= REPORT_FILE
        check_report_name(place)
        text = self.to_json() if place.suffix.lower() == ".json" else self.to_html()
        try:
            # file names may contain undecodable bytes, which survive a round trip through JSON
            with write_atomically(place) as file:
                file.write(text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise CorpusError(
                f"The report cannot be written to '{place}': {error.strerror or error}. "
                "Choose another file."
            ) from error
        return place


def check_report_name(path: str | os.PathLike[str]) -> None:
    """Raise an error for a file name with an unknown suffix, before any work is done."""
    if Path(path).suffix.lower() not in {".json", ".html", ".htm"}:
        raise ParameterError(
            f"The file name of a report must end in .html or .json. Got '{os.fspath(path)}' "
            "instead."
        )
