"""Collect from records what the corpus needs, one by one, merging duplicates."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any

from citeweave.corpus.people import read_people
from citeweave.naming import option
from citeweave.preparing.authors import AuthorRegister
from citeweave.preparing.bags import BagColumns
from citeweave.preparing.duplicates import DuplicateIndex, WorkKeys
from citeweave.preparing.keys import scrub
from citeweave.preparing.language import LanguageFilter
from citeweave.preparing.matching import Work
from citeweave.preparing.pipeline import WordRules
from citeweave.preparing.places import PlaceRegister
from citeweave.preparing.references import ReferenceColumns, family_key, venue_key
from citeweave.preparing.text import is_missing
from citeweave.preparing.text_columns import TextColumns
from citeweave.preparing.thesaurus import read_thesaurus
from citeweave.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.preparing.report import Report
    from citeweave.preparing.settings import Settings
    from citeweave.reading import Record

__all__ = ["Collector", "Draft", "document_fields", "says_something"]

Span = tuple[int, int]


@dataclass(slots=True)
class Draft:
    """A document under construction, with texts as positions in the text columns."""

    id: str
    keys: WorkKeys
    title: str | None = None
    abstract: str | None = None
    keywords: tuple[str, ...] = ()
    year: int | None = None
    venue: str | None = None
    doi: str | None = None
    category: str | None = None
    authors: tuple[int, ...] = ()
    author_places: tuple[tuple[int, ...], ...] = ()
    other_places: tuple[int, ...] = ()
    document_type: str | None = None
    cited_by: int | None = None
    funders: tuple[str, ...] = ()
    title_span: Span | None = None
    abstract_span: Span | None = None
    keyword_spans: tuple[Span, ...] = ()
    bag: Span | None = None
    has_abstract: bool = False
    other_keys: list[WorkKeys] = field(default_factory=list)
    merged_into: int = -1

    @property
    def has_places(self) -> bool:
        """Whether any affiliation is known."""
        return any(self.author_places) or bool(self.other_places)

    @property
    def names(self) -> tuple[str, ...]:
        """Ids and DOIs of the document, including those of merged records."""
        keys = (self.keys, *self.other_keys)
        return (self.id, *(one for key in keys for one in (key.id, key.doi) if one))

    def absorb(self, other: Draft) -> None:
        """Merge a later record of the same work, which fills in missing fields."""
        if not self.authors:
            self.authors = other.authors
            self.author_places, self.other_places = other.author_places, other.other_places
        elif not self.has_places and len(self.authors) == len(other.authors):
            self.author_places, self.other_places = other.author_places, other.other_places
        elif not self.has_places:
            # they cannot be assigned from a different author list
            self.other_places = tuple(one for own in other.author_places for one in own)
            self.other_places += other.other_places
        self.document_type = self.document_type or other.document_type
        counts = [count for count in (self.cited_by, other.cited_by) if count is not None]
        self.cited_by = max(counts, default=None)
        self.funders = self.funders or other.funders
        if self.title is None:
            self.title, self.title_span = other.title, other.title_span
        if not self.has_abstract:
            self.abstract, self.abstract_span = other.abstract, other.abstract_span
            self.has_abstract = other.has_abstract
        new = [i for i, word in enumerate(other.keywords) if word not in self.keywords]
        self.keywords += tuple(other.keywords[i] for i in new)
        if other.keyword_spans:
            self.keyword_spans += tuple(other.keyword_spans[i] for i in new)
        self.year = self.year if self.year is not None else other.year
        self.venue = self.venue or other.venue
        self.doi = self.doi or other.doi
        self.category = self.category or other.category
        self.bag = self.bag if self.bag is not None else other.bag
        self.other_keys += [other.keys, *other.other_keys]


class Collector:
    """Everything that is kept while records are read.

    Parameters
    ----------
    settings
        Which steps to take.
    report
        Receives the counts of what is dropped.
    """

    def __init__(self, settings: Settings, report: Report) -> None:
        self.settings = settings
        self.report = report
        self.drafts: list[Draft] = []
        self.text = TextColumns(WordRules.from_settings(settings))
        self.bags = BagColumns()
        self.references = ReferenceColumns()
        self.files: list[str] = []
        thesaurus = read_thesaurus(settings.author_thesaurus) if settings.author_thesaurus else {}
        self.authors = AuthorRegister(
            settings.author_names,
            exclusion_words=settings.exclusion_words + settings.extra_exclusion_words,
            thesaurus=thesaurus,
        )
        self.people = read_people(settings.people) if settings.people else []
        self.places = PlaceRegister()
        self._language = LanguageFilter(
            settings.language, min_letters=settings.language_min_letters
        )
        self._duplicates = DuplicateIndex()
        self._apart = frozenset(settings.keep_apart)
        self._file_number: dict[str, int] = {}
        self._ids: set[str] = set()
        self.ids_renamed: list[str] = []

    def add(self, record: Record) -> None:
        """Add one record."""
        self.report.records_read += 1
        abstract = None if is_missing(record.abstract) else record.abstract
        title = None if is_missing(record.title) else record.title
        if not (title or abstract or record.words or says_something(record)):
            self.report.skip("empty record")
            return
        if record.words is None:
            sample = f"{title or ''}. {abstract or ''}"
            code = self._language.foreign(record.language, sample)
            if code is not None:
                self.report.skip("language")
                counts = self.report.languages_dropped
                counts[code] = counts.get(code, 0) + 1
                return
        number = len(self.drafts)
        draft = self._draft(record, title, abstract)
        found, id_taken = self._duplicates.add(draft.keys, merge=self.settings.deduplicate)
        if id_taken or (not found and draft.id in self._ids):
            draft.id = self._free_id(draft.id)
        self.drafts.append(draft)
        file = self._file_number.setdefault(record.source.file, len(self.files))
        if file == len(self.files):
            self.files.append(record.source.file)
        for reference in record.references:
            self.references.add(number, reference, file)
        for other, reason in found:
            if self._apart.intersection((draft.id, self.drafts[self.root(other)].id)):
                continue
            self._merge(other, number, f"duplicate of same {reason}")
        if draft.merged_into < 0:
            self._ids.add(draft.id)

    def correct(self) -> list[str]:
        """Merge the records that the user declared to be one work; return warnings."""
        numbers: dict[str, int] = {}
        for number, draft in enumerate(self.drafts):
            numbers.setdefault(draft.id, number)
        named = dict.fromkeys(one for group in self.settings.join for one in group)
        missing = [one for one in (*named, *self.settings.keep_apart) if one not in numbers]
        for group in self.settings.join:
            known = [numbers[one] for one in group if one in numbers]
            for other in known[1:]:
                self._merge(known[0], other, "duplicate named by you")
        if not missing:
            return []
        where = f"{option('join')} or {option('keep_apart')}"
        verb = "is" if len(missing) == 1 else "are"
        return [f"{count(len(missing), 'id')} in {where} {verb} no record's: {missing[0]!r}."]

    def _draft(self, record: Record, title: str | None, abstract: str | None) -> Draft:
        use = self.settings
        mentions = [self.authors.mention(author) for author in record.authors]
        authors = tuple(mention for mention in mentions if mention >= 0)
        places = [tuple(map(self.places.mention, author.affiliations)) for author in record.authors]
        people = [mention >= 0 for mention in mentions]
        # the address of a name that is not a person still belongs to the paper
        loose = [
            one for own, person in zip(places, people, strict=True) if not person for one in own
        ]
        loose += map(self.places.mention, record.affiliations)
        family = family_key(self.authors.family(authors[0])) if authors else ""
        ident = scrub(record.id.strip()) or f"{record.source.file}#{record.source.position}"
        fields = document_fields(record, title, abstract, use)
        keywords = fields["keywords"]
        draft = Draft(
            ident,
            WorkKeys.of(ident=ident, doi=record.doi, title=title, year=record.year, family=family),
            authors=authors,
            author_places=tuple(compress(places, people)),
            other_places=tuple(loose),
            has_abstract=abstract is not None,
            **fields,
        )
        if record.words is not None:
            draft.bag = self.bags.add(record)
            return draft
        if title and use.use_title:
            draft.title_span = self.text.add(title)
        if abstract and use.use_abstract:
            draft.abstract_span = self.text.add(abstract)
        if use.join_keywords:
            draft.keyword_spans = tuple(self.text.add(word) for word in keywords)
        return draft

    def _free_id(self, ident: str) -> str:
        number = 2
        while f"{ident}#{number}" in self._ids:
            number += 1
        self.ids_renamed.append(ident)
        return f"{ident}#{number}"

    def root(self, number: int) -> int:
        """Return the draft into which a record was merged."""
        while self.drafts[number].merged_into >= 0:
            number = self.drafts[number].merged_into
        return number

    def _merge(self, one: int, other: int, reason: str) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        if first != second:
            kept, merged = self.drafts[first], self.drafts[second]
            self.report.merge(kept.id, merged.id, reason, kept.title or merged.title)
            kept.absorb(merged)
            # From now on, only the pointer is needed.
            self.drafts[second] = Draft(merged.id, merged.keys, merged_into=first)

    def documents(self) -> Iterator[tuple[int, Draft]]:
        """Return the documents: drafts that were not merged into another one."""
        return ((i, draft) for i, draft in enumerate(self.drafts) if draft.merged_into < 0)

    def work(self, draft: Draft) -> Work:
        """Return the identifying data by which references may refer to a document."""
        keys = [draft.keys, *draft.other_keys]
        family, initial = draft.keys.family, ""
        if draft.authors:
            name = self.authors.name(draft.authors[0])
            family, initial = family_key(name.family), name.initial
        return Work(
            ids=tuple(dict.fromkeys(key.id for key in keys)),
            dois=tuple(dict.fromkeys(key.doi for key in keys if key.doi)),
            titles=tuple(dict.fromkeys(key.title for key in keys if key.title)),
            year=draft.year,
            family=family,
            initial=initial,
            venue=venue_key(draft.venue),
        )


def document_fields(
    record: Record, title: str | None, abstract: str | None, settings: Settings
) -> dict[str, Any]:
    """Return the fields of a document taken from its record, by the names of `Draft`.

    Parameters
    ----------
    record
        The record as read.
    title, abstract
        Title and abstract of the record; None if they only say that there is none.
    settings
        Determine whether abstracts are kept, and where the category comes from.
    """
    choice = settings.category_from
    category = None if choice == "none" else getattr(record, choice)
    keywords = dict.fromkeys(scrub(word.strip()) for word in record.keywords if word.strip())
    return {
        "title": scrub(title) if title else None,
        "abstract": scrub(abstract) if abstract and settings.keep_abstracts else None,
        "keywords": tuple(keywords),
        "year": record.year,
        "venue": scrub(record.venue) if record.venue else None,
        "doi": scrub(record.doi) if record.doi else None,
        "category": scrub(str(category).strip()) or None if category is not None else None,
        "document_type": scrub(record.document_type) if record.document_type else None,
        "cited_by": record.cited_by,
        "funders": tuple(map(scrub, record.funders)),
    }


def says_something(record: Record) -> bool:
    """Return whether a record without text is still useful for the citation network."""
    return bool(
        record.keywords or record.authors or record.references or record.doi or record.category
    )
