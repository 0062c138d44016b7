"""Count the contents of records as they are read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from citeweave.reading.record import Record

__all__ = ["Tally"]


@dataclass(slots=True)
class Tally:
    """Counts over all records that were read, including those dropped later.

    Attributes
    ----------
    with_title, with_abstract, with_keywords, with_authors, with_year, with_references : int
        Number of records that have the field.
    author_mentions : int
        Number of entries in author lists.
    references : int
        Number of entries in reference lists.

    Examples
    --------
    >>> from citeweave.reading import Record, Source, Tally
    >>> tally = Tally()
    >>> records = list(tally.count([Record("w1", Source("x", 1), title="On soil")]))
    >>> tally.with_title, tally.with_abstract
    (1, 0)
    """

    with_title: int = 0
    with_abstract: int = 0
    with_keywords: int = 0
    with_authors: int = 0
    with_year: int = 0
    with_references: int = 0
    author_mentions: int = 0
    references: int = 0

    def count(self, records: Iterable[Record]) -> Iterator[Record]:
        """Pass records on, counting them.

        Examples
        --------
        >>> from citeweave.reading import Record, Source, Tally
        >>> tally = Tally()
        >>> for record in tally.count([Record("w1", Source("x", 1), title="On soil", year=1999)]):
        ...     print(record.title)
        On soil
        >>> tally.with_year
        1
        """
        for record in records:
            self.with_title += record.title is not None
            self.with_abstract += record.abstract is not None
            self.with_keywords += bool(record.keywords)
            self.with_authors += bool(record.authors)
            self.with_year += record.year is not None
            self.with_references += bool(record.references)
            self.author_mentions += len(record.authors)
            self.references += len(record.references)
            yield record

    def as_dict(self) -> dict[str, int]:
        """Return the counts as JSON-serialisable values.

        Examples
        --------
        >>> from citeweave.reading import Tally
        >>> Tally(with_title=2).as_dict()["with_title"]
        2
        """
        return asdict(self)
