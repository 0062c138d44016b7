"""From texts as numbers to tokens: hyphens, phrases and the vocabulary."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from citeweave.naming import choice
from citeweave.preparing.counting import count_sorted
from citeweave.preparing.hyphens import HyphenRules, find_hyphens, hyphen_step
from citeweave.preparing.phrases import PhraseTable, find_phrases_in
from citeweave.preparing.pipeline import FORCED_SCORE, Pipeline, WordRules, load_thesaurus
from citeweave.preparing.text_columns import (
    Joined,
    MemoryTexts,
    Span,
    TextBlocks,
    TextColumns,
    Texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from citeweave.preparing.queries import Query
    from citeweave.preparing.settings import Settings

__all__ = ["Encoded", "TextPlan", "automatic_min_count", "build_text", "plan_text"]

T = TypeVar("T")

_ROUNDS = 6
_CHUNK = 1_000_000


@dataclass(frozen=True, slots=True)
class Encoded:
    """Tokens of all documents, and what was dropped.

    Attributes
    ----------
    tokens, offsets, title_lengths : ndarray
        As in `Corpus`.
    vocabulary : list of str
        Words, most frequent first.
    counts : ndarray of int64
        Number of occurrences of each word.
    pipeline : Pipeline
        The text steps, for new documents.
    terms : int
        Number of distinct words and phrases before filtering.
    words : int
        Number of words of text, without stop words.
    min_count, max_documents : int, float
        The limits that were applied.
    n_common, n_rare, dropped_tokens : int
        Numbers of terms dropped as too common and as too rare, and their total occurrences.
    common : list of (str, int)
        The most frequent of the terms dropped as too common, with their counts.
    warnings : list of str
        Messages for the user.
    """

    tokens: np.ndarray
    offsets: np.ndarray
    title_lengths: np.ndarray
    vocabulary: list[str]
    counts: np.ndarray
    pipeline: Pipeline
    terms: int
    words: int
    min_count: int
    max_documents: float
    n_common: int = 0
    n_rare: int = 0
    dropped_tokens: int = 0
    common: list[tuple[str, int]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def automatic_min_count(n_words: int) -> int:
    """Scale the paper's minimum count of 50 down for small corpora.

    The minimum count is one per 20,000 words of text (without stop words), so that 50 is reached at
    a million words, or about 10,000 abstracts, as in the paper's smallest data set. It is at least
    2, or 1 below 2,000 words, where every word counts.

    Examples
    --------
    >>> [automatic_min_count(n) for n in (500, 5_000, 375_000, 5_000_000)]
    [1, 2, 19, 50]
    """
    return min(50, max(-(-n_words // 20_000), 2 if n_words >= 2_000 else 1))


def build_text(
    columns: TextColumns,
    documents: list[tuple[list[Span], list[Span]]],
    settings: Settings,
    query: Query | None = None,
) -> Encoded:
    """Find phrases, count words, filter the vocabulary and encode the remaining words."""
    unsettled = MemoryTexts([columns.joined(documents)])
    plan, texts = plan_text(unsettled, columns.words, columns.rules, settings, query)
    parts = [plan.encode(block) for block in texts.blocks()]
    tokens, lengths, title_lengths = (np.concatenate(c) for c in zip(*parts, strict=True))
    return Encoded(
        tokens=tokens,
        offsets=np.concatenate(([0], np.cumsum(lengths))),
        title_lengths=title_lengths,
        **plan.facts,
    )


@dataclass(frozen=True, slots=True)
class TextPlan:
    """The decisions made about the words of a corpus.

    Attributes
    ----------
    facts : dict
        Fields of `Encoded` other than its arrays.
    phrases : PhraseTable
        Phrases that are treated as one word.
    place : ndarray of int32
        Number of each word and phrase in the vocabulary, -1 if it was dropped.
    """

    facts: dict[str, Any]
    phrases: PhraseTable
    place: np.ndarray

    def encode(self, block: Joined) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the tokens of a block of documents, and their numbers per document and title."""
        documents = len(block.titles)
        lengths = np.zeros(documents, dtype=np.int64)
        title_lengths = np.zeros(documents, dtype=np.int64)
        tokens = [np.zeros(0, dtype=np.int32)]
        for numbers, owner, in_title in _numbered(block, self.phrases, self.place):
            tokens.append(numbers)
            lengths += np.bincount(owner, minlength=documents)
            title_lengths += np.bincount(owner[in_title], minlength=documents)
        return np.concatenate(tokens), lengths, title_lengths


class StepRunner(Protocol):
    """Runs a named step, or returns its stored result."""

    def __call__(self, name: str, make: Callable[[], T], /) -> T:
        """Return the result of a step."""


def _at_once(_name: str, make: Callable[[], T], /) -> T:
    return make()


def plan_text(
    texts: Texts,
    words: Sequence[str],
    rules: WordRules,
    settings: Settings,
    query: Query | None = None,
    *,
    scratch: Path | None = None,
    step: StepRunner = _at_once,
) -> tuple[TextPlan, TextBlocks]:
    """Decide on hyphens, phrases and the vocabulary of a corpus.

    Parameters
    ----------
    texts
        The texts of all documents; they are discarded and replaced by the returned ones.
    words
        The words by id.
    rules, settings, query
        Rules, settings and query of the corpus.
    scratch
        Folder for counts that do not fit into memory.
    step
        Called with the name of each step and the function that computes it; returns the result,
        which may be stored from an earlier call with the same texts, words and settings.

    Returns
    -------
    plan : TextPlan
        How blocks of texts are turned into tokens.
    texts : TextBlocks
        The texts with resolved hyphens, to be used with the plan.
    """
    names = list(words)
    hyphens = HyphenRules()
    settled: TextBlocks = texts
    if settings.join_hyphens:
        hyphens = step(
            "hyphens",
            lambda: find_hyphens(lambda: _flats(texts), _word_counts(texts, len(names)), names),
        )
        if hyphens.split or hyphens.join:
            apply = hyphen_step(names, hyphens)

            def settle(block: Joined) -> Joined:
                flat, (offsets, titles) = apply(block.flat, [block.offsets, block.titles])
                return Joined(flat, offsets, titles)

            settled = texts.rewritten(settle)
    inner = np.array([name in rules.inner for name in names], dtype=bool)
    word_counts = step("word-counts", lambda: _word_counts(settled, len(names)))
    n_words = int(word_counts[~inner].sum())
    min_count = settings.min_word_count or automatic_min_count(n_words)
    thesaurus, hopeless = load_thesaurus(settings, rules, hyphens)
    phrases = step(
        "phrases",
        lambda: _phrases(
            settled, word_counts, names, settings, min_count, thesaurus, inner, scratch
        ),
    )
    pipeline = Pipeline(
        settings,
        rules.stop,
        dict(zip(phrases.names, phrases.scores, strict=True)),
        thesaurus,
        hyphens=hyphens,
        inner=rules.inner,
    )
    terms, of_unit = _terms(names + phrases.names, pipeline)
    counts, in_documents, with_words = step(
        "term-counts", lambda: _count(settled, phrases.table, of_unit, len(terms))
    )

    limit = max(settings.max_document_share * with_words, settings.max_document_floor)
    seen = counts > 0
    common = seen & (in_documents > limit) & (settings.max_document_share < 1)
    rare = seen & ~common & (counts < min_count)
    wanted = {word.lower() for word in settings.keep_words}
    safe = [i for i, term in enumerate(terms) if term in wanted] if wanted else []
    common[safe] = rare[safe] = False
    asked: list[str] = []
    if query is not None and query.keep_words:
        named = [i for i in np.flatnonzero(common).tolist() if query.names(terms[i])]
        common[named] = False
        asked = [terms[i] for i in named]
    kept = np.flatnonzero(seen & ~common & ~rare)
    kept = np.array(sorted(kept.tolist(), key=lambda i: (-counts[i], terms[i])), dtype=np.int64)
    place = np.full(len(terms) + 1, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)

    everywhere = [i for i in np.flatnonzero(common) if in_documents[i] > with_words / 2]
    everywhere.sort(key=lambda i: (-in_documents[i], terms[i]))
    top = sorted(np.flatnonzero(common).tolist(), key=lambda i: (-counts[i], terms[i]))
    warnings = []
    if everywhere:
        warnings.append(_too_common([terms[i] for i in everywhere[:5]]))
    if asked:
        shown = ", ".join(map(repr, asked[:5])) + (", ..." if len(asked) > 5 else "")
        warnings.append(f"Kept although common, because the query contains them: {shown}.")
    if hopeless:
        warnings.append(
            f"{len(hopeless)} labels of the word thesaurus cannot match anything, because they "
            "contain stop words or punctuation or have more than three words, such as "
            f"{hopeless[0]!r}."
        )
    facts = {
        "vocabulary": [terms[i] for i in kept.tolist()],
        "counts": counts[kept],
        "pipeline": pipeline,
        "terms": int(seen.sum()),
        "words": n_words,
        "min_count": min_count,
        "max_documents": limit,
        "n_common": int(common.sum()),
        "n_rare": int(rare.sum()),
        "dropped_tokens": int(counts[common | rare].sum()),
        "common": [(terms[i], int(counts[i])) for i in top[:20]],
        "warnings": warnings,
    }
    return TextPlan(facts, phrases.table, place[of_unit]), settled


def _flats(texts: TextBlocks) -> Iterator[np.ndarray]:
    return (block.flat for block in texts.blocks())


def _word_counts(texts: TextBlocks, size: int) -> np.ndarray:
    counts = np.zeros(size, dtype=np.int64)
    for flat in _flats(texts):
        counts += np.bincount(flat[flat >= 0], minlength=size)
    return counts


def _too_common(words: list[str]) -> str:
    """Warn about dropped words that may have been search terms, and say how to keep them."""
    typed = shlex.quote(",".join(words))
    how = choice(f"Settings(keep_words={words!r})", f"citeweave import --keep-words {typed}")
    return (
        "Dropped as too common, although they may have been search terms for these documents: "
        f"{', '.join(map(repr, words))}, each in more than half of the documents. "
        f"To keep them: {how}."
    )


@dataclass(frozen=True, slots=True)
class _Phrases:
    names: list[str]
    scores: list[float]
    table: PhraseTable


def _phrases(
    texts: TextBlocks,
    word_counts: np.ndarray,
    names: list[str],
    settings: Settings,
    min_count: int,
    thesaurus: dict[str, str],
    inner: np.ndarray,
    scratch: Path | None,
) -> _Phrases:
    """Find phrases that remain frequent after resolving overlaps, those of the thesaurus first."""
    number = {name: i for i, name in enumerate(names)} if thesaurus else {}
    forced = [
        tuple(number[word] for word in label.split(" "))
        for label in thesaurus
        if " " in label and all(word in number for word in label.split(" "))
    ]
    scores = dict.fromkeys(forced, FORCED_SCORE)
    least = settings.phrase_min_count or max(min_count, 3)
    if settings.phrases:
        for phrase in find_phrases_in(
            lambda: _flats(texts),
            word_counts,
            min_count=least,
            max_words=settings.phrase_words,
            statistic=settings.phrase_statistic,
            min_score=settings.phrase_min_score,
            min_strength=settings.phrase_min_strength,
            not_last=inner,
            scratch=scratch,
        ):
            scores.setdefault(phrase.words, phrase.score)
    table = PhraseTable(list(scores), list(scores.values()), len(names))
    for _ in range(_ROUNDS):
        # "neural network" may be rare once "artificial neural network" is one unit: it is then
        # dropped, so that its words are counted individually.
        counts = table.count(_flats(texts))
        weak = [
            words
            for words, count in zip(scores, counts.tolist(), strict=True)
            if count < least and scores[words] < FORCED_SCORE
        ]
        if not weak:
            break
        for words in weak:
            del scores[words]
        table = PhraseTable(list(scores), list(scores.values()), len(names))
    spelled = [" ".join(names[word] for word in words) for words in scores]
    return _Phrases(spelled, list(scores.values()), table)


def _terms(units: list[str], pipeline: Pipeline) -> tuple[list[str], np.ndarray]:
    """Return for each unit the number of the term it is counted as; -1 if it is dropped."""
    number: dict[str, int] = {}
    of_unit = np.full(len(units) + 1, -1, dtype=np.int64)
    for i, unit in enumerate(units):
        term = pipeline.term(unit)
        if term:
            of_unit[i] = number.setdefault(term, len(number))
    return list(number), of_unit


def _count(
    texts: TextBlocks, phrases: PhraseTable, of_unit: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Count occurrences and documents of each term, and documents with any term."""
    counts = np.zeros(size, dtype=np.int64)
    in_documents = np.zeros(size, dtype=np.int64)
    with_terms = 0
    for block in texts.blocks():
        for numbers, owner, _ in _numbered(block, phrases, of_unit):
            if not len(numbers):
                continue
            counts += np.bincount(numbers, minlength=size)
            pairs, _ = count_sorted((owner - owner[0]) * np.int64(size) + numbers)
            in_documents += np.bincount(pairs % size, minlength=size)
            with_terms += 1 + int(np.count_nonzero(np.diff(owner)))
    return counts, in_documents, with_terms


def _numbered(
    block: Joined, phrases: PhraseTable, of_unit: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield the numbers of words and phrases in a block, a few documents at a time.

    Parameters
    ----------
    block
        Texts of documents.
    phrases
        Phrases that are one unit.
    of_unit
        Number of each word and phrase, -1 if it has none; the last entry is not used.

    Yields
    ------
    numbers, owner, in_title : ndarray
        For each word or phrase, its number, its document, and whether it is in the title.
    """
    first, documents = 0, len(block.titles)
    while first < documents:
        goal = block.offsets[first] + _CHUNK
        last = max(first + 1, int(np.searchsorted(block.offsets, goal, side="right")) - 1)
        start, stop = block.offsets[first], block.offsets[last]
        flat = np.asarray(block.flat[start:stop])
        units = phrases.segment(flat) if phrases.phrases else flat
        at = np.flatnonzero(units >= 0)
        numbers = of_unit[units[at]]
        at, numbers = start + at[numbers >= 0], numbers[numbers >= 0]
        lengths = np.diff(np.searchsorted(at, block.offsets[first : last + 1]))
        owner = np.repeat(np.arange(first, last), lengths)
        yield numbers, owner, at < block.titles[owner]
        first = last
