"""Turn records into a corpus step by step, and report what was done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.affiliations import Affiliations
from citeweave.errors import CorpusError
from citeweave.naming import choice
from citeweave.preparing.collect import Collector, Draft
from citeweave.preparing.encode import Encoded, build_text
from citeweave.preparing.keys import scrub
from citeweave.preparing.matching import FATES, MatchOptions, match
from citeweave.preparing.outside import OutsideWorks, outside_works
from citeweave.preparing.people.corrections import paper_keys
from citeweave.preparing.people.gathering import facts_of
from citeweave.preparing.pipeline import FORMAT
from citeweave.preparing.report import Report
from citeweave.preparing.settings import Settings

if TYPE_CHECKING:
    from citeweave.preparing.authors import ResolvedAuthors
    from citeweave.preparing.bags import Bags
    from citeweave.preparing.places import ResolvedPlaces
    from citeweave.preparing.queries import Query
    from citeweave.reading import Record

__all__ = ["Imported", "Progress", "changed_settings", "describe_words", "places_by_author"]
__all__ += ["prepare"]

#: Called with the name of a step, the amount done, and the total (None if unknown).
Progress = Callable[[str, int, int | None], None]

_EVERY = 500
_NO_TEXT = {"format": FORMAT, "bags": True}
_MERGED_SHOWN = 50
_EXCLUDED_SHOWN = 50
_OUTSIDE_LISTED = 50
_AUTHORS_SHOWN = 10
_LOWER = "lower the setting 'min_word_count'"


class Imported(NamedTuple):
    """A corpus and its import report, which is also stored in the corpus.

    Examples
    --------
    >>> from citeweave.preparing import prepare
    >>> from citeweave.reading import Record, Source
    >>> imported = prepare([Record("w1", Source("x", 1), title="Decision tree pruning")])
    >>> imported.corpus.n_documents, imported.report.documents
    (1, 1)
    """

    corpus: Corpus
    report: Report


class _Tokens(NamedTuple):
    tokens: np.ndarray
    offsets: np.ndarray
    title_lengths: np.ndarray
    vocabulary: list[str]


def prepare(
    records: Iterable[Record],
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
    query: Query | None = None,
) -> Imported:
    """Create a corpus from records: clean, merge, match citations, find phrases, filter words.

    Records are processed one by one and need not fit into memory. Only word and reference numbers
    are kept, and the texts shown to readers (title, names, abstract).

    Parameters
    ----------
    records
        Records in any order.
    settings
        Preparation settings (default: as in the paper).
    progress
        Called at intervals with the name of a step, the amount done and the total.
    query
        The query that selected the records; its words are kept, however common they are.

    Returns
    -------
    Imported
        The corpus, whose ``preparation`` describes the text steps so that `Pipeline` can
        repeat them for new documents, and the `Report`.

    Raises
    ------
    CorpusError
        No documents are left.

    Examples
    --------
    >>> from citeweave.reading import Author, Record, Reference, Source
    >>> works = [
    ...     Record("a", Source("x", 1), title="Decision tree pruning"),
    ...     Record("b", Source("x", 2), title="Pruning", references=(Reference(id="a"),)),
    ... ]
    >>> corpus, report = prepare(works)
    >>> corpus.vocabulary
    ['pruning', 'decision', 'tree']
    >>> report.citations_matched
    1
    """
    settings = settings or Settings()
    tell = progress or _silent
    report = Report(settings_changed=changed_settings(settings))
    collector = Collector(settings, report)
    for number, record in enumerate(records, start=1):
        collector.add(record)
        if number % _EVERY == 0:
            tell("records", number, None)
    tell("records", report.records_read, report.records_read)

    corrections = collector.correct()
    documents = list(collector.documents())
    if not documents:
        reasons = ", ".join(f"{reason}: {n}" for reason, n in report.skipped_by_reason.items())
        raise CorpusError(
            f"No documents are left of {report.records_read} records"
            f"{f' (dropped by {reasons})' if reasons else ''}. "
            "Check the files, or disable the step that drops them."
        )
    tell("text", 0, len(documents))
    drafts = [draft for _, draft in documents]
    encoded = build_text(
        collector.text,
        [(_spans(d.title_span), [*_spans(d.abstract_span), *d.keyword_spans]) for d in drafts],
        settings,
        query,
    )
    bags = collector.bags.build([draft.bag for draft in drafts], settings)
    tokens = _combine(encoded, bags)
    tell("text", len(documents), len(documents))

    place = np.full(len(collector.drafts), -1, dtype=np.int64)
    place[[number for number, _ in documents]] = np.arange(len(documents))
    kept = np.arange(len(documents))
    if not settings.keep_empty:
        kept = np.flatnonzero(np.diff(tokens.offsets))
        report.skip("no words left", len(documents) - len(kept))
        if len(kept) == 0:
            raise CorpusError(f"No document has any words left; {_LOWER}.")
        tokens = _select(tokens, kept)
        drafts = [drafts[i] for i in kept.tolist()]
        renumber = np.full(len(documents), -1, dtype=np.int64)
        renumber[kept] = np.arange(len(kept))
        place = np.where(place >= 0, renumber[place], -1)
    tell("citations", 0, len(collector.references))
    citations, outside = _citations(collector, drafts, place, report)
    tell("citations", len(collector.references), len(collector.references))

    preparation = encoded.pipeline.as_preparation() if collector.text.words else dict(_NO_TEXT)
    places = collector.places.resolve()
    tell("authors", 0, None)
    resolved = collector.authors.resolve(
        [draft.authors for draft in drafts],
        lambda paper, block: facts_of(drafts, tokens, citations, places, paper, block),
        people=collector.people,
        papers=paper_keys(draft.names for draft in drafts) if collector.people else None,
    )
    corpus = _corpus(drafts, tokens, citations, outside, resolved, places, preparation)
    _describe_documents(report, drafts)
    _describe_authors(report, collector, resolved, corpus.n_authors)
    _describe_places(report, corpus)
    report.author_mentions = len(corpus.author_ids)
    report.tokens, report.vocabulary = corpus.n_tokens, corpus.vocabulary_size
    describe_words(report, encoded)
    _describe_bags(report, bags)
    report.warnings += corrections + encoded.warnings + _warnings(report, collector, corpus)
    return Imported(replace(corpus, import_report=report.as_dict()), report)


def changed_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that differ from the defaults."""
    usual = Settings().as_dict()
    return {name: value for name, value in settings.as_dict().items() if value != usual[name]}


def _silent(_step: str, _done: int, _total: int | None) -> None:
    """Ignore progress."""


def _spans(span: tuple[int, int] | None) -> list[tuple[int, int]]:
    return [] if span is None else [span]


def _combine(encoded: Encoded, bags: Bags) -> _Tokens:
    """Combine the tokens of texts and of bags; a document has one or the other."""
    if not bags.vocabulary:
        return _Tokens(encoded.tokens, encoded.offsets, encoded.title_lengths, encoded.vocabulary)
    if not encoded.vocabulary:
        return _Tokens(bags.tokens, bags.offsets, encoded.title_lengths, bags.vocabulary)
    vocabulary = list(dict.fromkeys([*encoded.vocabulary, *bags.vocabulary]))
    number = {word: i for i, word in enumerate(vocabulary)}
    of_bag = np.array([number[word] for word in bags.vocabulary], dtype=np.int32)
    text_lengths, bag_lengths = np.diff(encoded.offsets), np.diff(bags.offsets)
    owner = np.concatenate(
        [
            np.repeat(np.arange(len(text_lengths)), text_lengths),
            np.repeat(np.arange(len(bag_lengths)), bag_lengths),
        ]
    )
    order = np.argsort(owner, kind="stable")
    tokens = np.concatenate([encoded.tokens, of_bag[bags.tokens]])[order]
    offsets = np.concatenate(([0], np.cumsum(text_lengths + bag_lengths)))
    return _Tokens(tokens, offsets, encoded.title_lengths, vocabulary)


def _select(tokens: _Tokens, kept: np.ndarray) -> _Tokens:
    lengths = np.diff(tokens.offsets)
    # Only documents without tokens are dropped, so the tokens do not change.
    offsets = np.concatenate(([0], np.cumsum(lengths[kept])))
    return tokens._replace(offsets=offsets, title_lengths=tokens.title_lengths[kept])


def _citations(
    collector: Collector, drafts: list[Draft], place: np.ndarray, report: Report
) -> tuple[np.ndarray, OutsideWorks]:
    use, references = collector.settings, collector.references
    owner = np.array(
        [place[collector.root(i)] for i in range(len(collector.drafts))], dtype=np.int64
    )
    document = references.column("document").astype(np.int64)
    document = owner[document] if len(document) else document
    citing = document >= 0
    found = match(
        [collector.work(draft) for draft in drafts],
        references,
        document,
        MatchOptions(
            titles=use.match_titles,
            fuzzy=use.match_fuzzy,
            strings=use.match_strings,
            similarity=use.fuzzy_similarity,
            year_tolerance=use.year_tolerance,
        ),
    )
    fates = np.bincount(found.fate[citing], minlength=len(FATES)).tolist()
    report.references = int(citing.sum())
    report.citations_matched = len(found.citations)
    report.citations_by_fate = dict(zip(FATES, fates, strict=True))
    file = references.column("file")
    report.citations_by_source = found.by_file(file, collector.files)
    outside = outside_works(references, found, len(drafts))
    listed = zip(outside.labels[:_OUTSIDE_LISTED], outside.citing, strict=False)
    report.outside_works = [{"work": label, "papers": papers} for label, papers in listed]
    report.outside_works_total = outside.shared
    return found.citations, outside


def _corpus(
    drafts: list[Draft],
    tokens: _Tokens,
    citations: np.ndarray,
    outside: OutsideWorks,
    resolved: ResolvedAuthors,
    places: ResolvedPlaces,
    preparation: dict[str, Any],
) -> Corpus:
    lengths = np.array([len(draft.authors) for draft in drafts], dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    names = dict.fromkeys(draft.category for draft in drafts if draft.category)
    number = {name: i for i, name in enumerate(names)}
    metadata: dict[str, list[Any]] = {
        "year": [draft.year for draft in drafts],
        "venue": [draft.venue for draft in drafts],
        "doi": [draft.doi for draft in drafts],
        "keywords": [list(draft.keywords) or None for draft in drafts],
        "abstract": [draft.abstract for draft in drafts],
        "document_type": [draft.document_type for draft in drafts],
        "cited_by": [draft.cited_by for draft in drafts],
        "funders": [list(draft.funders) or None for draft in drafts],
        "outside_references": outside.of_paper,
        **places.columns(
            [
                places_by_author(
                    resolved.of_entry[start : start + len(draft.authors)].tolist(),
                    draft.author_places,
                )
                for draft, start in zip(drafts, starts.tolist(), strict=False)
            ],
            [draft.other_places for draft in drafts],
        ),
    }
    return Corpus.from_arrays(
        tokens=tokens.tokens,
        offsets=tokens.offsets,
        vocabulary=tokens.vocabulary,
        title_lengths=tokens.title_lengths,
        author_ids=resolved.of_entry,
        author_offsets=starts,
        author_names=resolved.labels,
        categories=np.array([number.get(d.category or "", -1) for d in drafts], dtype=np.int64),
        category_names=list(names),
        citations=citations,
        ids=[draft.id for draft in drafts],
        titles=[draft.title for draft in drafts],
        metadata={k: v for k, v in metadata.items() if any(x is not None for x in v)},
        preparation=preparation,
    )


def places_by_author(authors: Sequence[int], places: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the affiliations of each author, with each author of a paper only once."""
    of_author: dict[int, list[int]] = {}
    for author, own in zip(authors, places, strict=True):
        of_author.setdefault(author, []).extend(own)
    return list(of_author.values())


def _describe_documents(report: Report, drafts: list[Draft]) -> None:
    report.documents = len(drafts)
    report.with_title = sum(draft.title is not None for draft in drafts)
    report.with_abstract = sum(draft.has_abstract for draft in drafts)
    report.with_keywords = sum(bool(draft.keywords) for draft in drafts)
    report.with_authors = sum(bool(draft.authors) for draft in drafts)
    report.with_year = sum(draft.year is not None for draft in drafts)
    report.with_category = sum(draft.category is not None for draft in drafts)


def _describe_authors(
    report: Report, collector: Collector, resolved: ResolvedAuthors, n_authors: int
) -> None:
    excluded = Counter(collector.authors.excluded)
    report.authors = n_authors
    report.authors_identified = resolved.identified
    report.authors_excluded = {scrub(n): c for n, c in excluded.most_common(_EXCLUDED_SHOWN)}
    report.authors_excluded_mentions = excluded.total()
    report.merged_names = [
        asdict(merged) | {"names": [scrub(name) for name in merged.names]}
        for merged in resolved.merged[:_MERGED_SHOWN]
    ]
    report.merged_names_total = len(resolved.merged)
    report.split_names = [
        {
            "name": scrub(split.name),
            "authors": list(split.authors[:_AUTHORS_SHOWN]),
            "n_authors": len(split.authors),
            "mentions": split.mentions,
        }
        for split in resolved.split[:_MERGED_SHOWN]
    ]
    report.split_names_total = len(resolved.split)
    report.people = [[row.person, row.name, row.paper] for row in collector.people]
    report.people_unmatched = [
        {"line": row.line, "person": row.person, "name": row.name, "paper": row.paper, "why": why}
        for row, why in resolved.unmatched
    ]
    joined = [m.first_names for m in resolved.merged if m.first_names > 1]
    report.merged_first_names_total = len(joined)
    report.first_names_joined = sum(joined)


def _describe_places(report: Report, corpus: Corpus) -> None:
    found = Affiliations.of(corpus)
    report.with_affiliation = len(
        {*found.institutions[:, 0].tolist(), *found.nations[:, 0].tolist()}
    )
    report.institutions = len(found.names)
    report.institutions_identified = sum(map(bool, found.ids))
    report.countries = len(found.codes)


def describe_words(report: Report, encoded: Encoded) -> None:
    """Describe the preparation of words and phrases."""
    report.words = encoded.words
    report.vocabulary_before = encoded.terms
    report.words_common, report.words_rare = encoded.n_common, encoded.n_rare
    report.tokens_dropped = encoded.dropped_tokens
    report.most_common_dropped = encoded.common
    report.min_word_count, report.max_documents = encoded.min_count, encoded.max_documents
    phrases = [
        (word, int(count))
        for word, count in zip(encoded.vocabulary, encoded.counts, strict=True)
        if " " in word
    ]
    report.phrases = len(phrases)
    phrases.sort(key=lambda pair: (-pair[0].count(" "), -pair[1], pair[0]))
    report.longest_phrases = phrases[:20]


def _describe_bags(report: Report, bags: Bags) -> None:
    report.vocabulary_before += bags.words_before
    if bags.recovered is not None:
        report.tfidf = {
            "method": bags.recovered.method,
            "n_documents": bags.recovered.n_documents,
            "largest_error": bags.recovered.largest_error,
            "documents_off": bags.recovered.off,
        }


def _number_of(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _warnings(report: Report, collector: Collector, corpus: Corpus) -> list[str]:
    warnings = []
    if collector.ids_renamed:
        warnings.append(
            f"{len(collector.ids_renamed)} records have the id of a different work, such as "
            f"{collector.ids_renamed[0]!r}; they were kept under a new id ending in '#2'."
        )
    if report.references and not report.citations_matched:
        warnings.append(
            f"None of the {report.references} references leads to a document in the corpus, so "
            "models will have no citation network."
        )
    if corpus.vocabulary_size == 0:
        warnings.append(f"No words are left in the vocabulary; {_LOWER}.")
    empty = corpus.report.empty_documents
    if empty:
        warnings.append(f"{empty} documents have no words in the vocabulary.")
    if report.tfidf and report.tfidf["documents_off"]:
        warnings.append(
            f"Counts were recovered from TF-IDF by the {report.tfidf['method']}, and "
            f"{report.tfidf['documents_off']} documents do not give whole numbers "
            f"(largest error {report.tfidf['largest_error']:.2g}); they were rounded."
        )
    if report.people_unmatched:
        first = report.people_unmatched[0]
        where = f" in paper {first['paper']!r}" if first["paper"] else ""
        warnings.append(
            f"{_number_of(len(report.people_unmatched), 'row')} of the file of people "
            f"{'matches' if len(report.people_unmatched) == 1 else 'match'} nobody here, such as "
            f"line {first['line']}, {first['name']!r}{where}: {first['why']}."
        )
    if report.merged_first_names_total and collector.settings.author_names == "initials":
        warnings.append(
            f"People with {report.first_names_joined} different first names are joined into "
            f"{_number_of(report.merged_first_names_total, 'author')} by their initials, as in the "
            f"paper; {choice('author_names=', '--names ')}evidence separates them."
        )
    return warnings
