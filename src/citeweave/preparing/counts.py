"""What an import did: everything that was read, changed, matched or dropped, in numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["ImportReport"]


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """The report of an import.

    Numbers add up: ``records_read`` is ``documents`` and everything in `dropped`;
    ``references`` is the sum of `citations_by_fate`.

    Attributes
    ----------
    records_read : int
        Records that came in.
    documents : int
        Documents of the corpus.
    dropped : dict
        Records that are no document of their own, by reason: "language", "empty record",
        "duplicate of same id", "duplicate of same doi", "duplicate of same title",
        "no words left".
    languages_dropped : dict
        Languages of the records dropped for it.
    with_title, with_abstract, with_keywords, with_authors, with_year, with_category : int
        Documents that have the field.
    authors : int
        Distinct authors.
    authors_identified : int
        Those told by an id or ORCID.
    author_mentions : int
        Entries in author lists.
    authors_excluded : dict
        Written names taken for no author, with how often; the most frequent.
    authors_excluded_mentions : int
        All entries dropped so.
    merged_names : list of dict
        Authors joined by name alone from several spellings: ``author``, ``names``,
        ``mentions``, ``first_names`` (distinct ones: two or more may be two people).
    merged_names_total, merged_first_names_total : int
        All such authors; those among them with more than one first name.
    references, citations_matched : int
        References of the documents; distinct citations inside the corpus.
    citations_by_fate : dict
        References by what became of them.
    citations_by_source : dict
        The same for each source file.
    words, tokens : int
        Words of text without stop words; tokens of the corpus.
    vocabulary_before, vocabulary : int
        Distinct words and phrases before and after the filter.
    words_common, words_rare : int
        Distinct words dropped as too common, as too rare.
    tokens_dropped : int
        Occurrences of those.
    most_common_dropped : list of (str, int)
        The words dropped as too common with their counts.
    min_word_count : int
        The least count of a word that was applied.
    max_documents : float
        Words in more documents than this were dropped.
    phrases : int
        Phrases in the vocabulary.
    longest_phrases : list of (str, int)
        The twenty longest that survived, by words, then by occurrences, with counts.
    tfidf : dict or None
        How counts were recovered from TF-IDF values: ``method``, ``n_documents``,
        ``largest_error``, ``documents_off``.
    warnings : list of str
        What deserves a look.
    """

    records_read: int = 0
    documents: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    languages_dropped: dict[str, int] = field(default_factory=dict)
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
    merged_first_names_total: int = 0
    references: int = 0
    citations_matched: int = 0
    citations_by_fate: dict[str, int] = field(default_factory=dict)
    citations_by_source: dict[str, dict[str, int]] = field(default_factory=dict)
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

    @property
    def records_skipped(self) -> int:
        """Records that are no document of their own."""
        return sum(self.dropped.values())

    def drop(self, reason: str) -> None:
        """Count one record dropped."""
        self.dropped[reason] = self.dropped.get(reason, 0) + 1

    def as_dict(self) -> dict[str, Any]:
        """Give the report as JSON can hold it."""
        values = asdict(self)
        values["most_common_dropped"] = [list(pair) for pair in self.most_common_dropped]
        values["longest_phrases"] = [list(pair) for pair in self.longest_phrases]
        head = {"records_read": values.pop("records_read")}
        return head | {"records_skipped": self.records_skipped} | values
