"""A corpus's text as numbers: encoded as it streams in, then phrases and vocabulary."""

from __future__ import annotations

import shlex
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from citeweave.naming import choice
from citeweave.preparing import text as text_steps
from citeweave.preparing.hyphens import HyphenRules, apply_hyphens, find_hyphens
from citeweave.preparing.phrases import PhraseTable, find_phrases
from citeweave.preparing.pipeline import FORCED_SCORE, Pipeline, WordRules, load_thesaurus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from citeweave.preparing.queries import Query
    from citeweave.preparing.settings import Settings

__all__ = ["Encoded", "TextColumns", "automatic_min_count", "build_text"]

Span = tuple[int, int]
_ROUNDS = 6
_CHUNK = 1_000_000


class TextColumns:
    """The words of all texts, 4 bytes a word; raw text is not kept.

    Stop words, numbers and punctuation are stored as one -1 between the words that they
    part, so that phrases do not reach across them.
    """

    def __init__(self, rules: WordRules) -> None:
        self.rules = rules
        self.words: list[str] = []
        self._ids: dict[str, int] = {}
        self._of_piece = _PieceIds(self._id)
        self._stream = array("i")

    def add(self, text: str) -> Span:
        """Encode a text and give its place."""
        look_up = self._of_piece.__getitem__
        pieces = text_steps.pieces(self.rules.clean(text))
        ids = np.fromiter(map(look_up, pieces), dtype=np.int32, count=len(pieces))
        words = ids >= 0
        keep = words.copy()
        keep[1:] |= words[:-1]
        start = len(self._stream)
        self._stream.frombytes(ids[keep].tobytes())
        return start, len(self._stream)

    def joined(self, documents: Iterable[tuple[list[Span], list[Span]]]) -> _Joined:
        """Put the texts of documents one after the other, a break after each text.

        What was collected is given up, so that its memory is free for the steps to come.

        Parameters
        ----------
        documents
            For each document the places of its title and of its other texts.
        """
        stream = np.frombuffer(self._stream, dtype=np.int32)
        parts, ends, titles, length = [], [], [], 0
        gap = np.array([-1], dtype=np.int32)
        for first, other in documents:
            for start, stop in first:
                parts += [stream[start:stop], gap]
                length += stop - start + 1
            titles.append(length)
            for start, stop in other:
                parts += [stream[start:stop], gap]
                length += stop - start + 1
            ends.append(length)
        flat = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
        del parts, stream
        self._stream, self._of_piece = array("i"), _PieceIds(self._id)
        offsets = np.concatenate(([0], np.array(ends, dtype=np.int64)))
        return _Joined(flat, offsets, np.array(titles, dtype=np.int64))

    def _id(self, piece: str) -> int:
        word = self.rules.word(piece)
        if not word:
            return -1
        number = self._ids.setdefault(word, len(self.words))
        if number == len(self.words):
            self.words.append(word)
        return number


class _PieceIds(dict[str, int]):
    """Ids by piece as it stands in the text, worked out at first sight."""

    def __init__(self, make: Callable[[str], int]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, piece: str) -> int:
        number = self[piece] = self._make(piece)
        return number


@dataclass(frozen=True, slots=True)
class _Joined:
    """Texts of all documents: `titles` are the positions where titles end."""

    flat: np.ndarray
    offsets: np.ndarray
    titles: np.ndarray


@dataclass(frozen=True, slots=True)
class Encoded:
    """Tokens of all documents, and what was dropped on the way.

    Attributes
    ----------
    tokens, offsets, title_lengths : ndarray
        As `Corpus` has them.
    vocabulary : list of str
        Most frequent first.
    counts : ndarray of int64
        Occurrences of each word of the vocabulary.
    pipeline : Pipeline
        The steps, for new documents.
    terms : int
        Distinct words and phrases before the vocabulary was filtered.
    words : int
        Words of text, stop words not counted.
    min_count, max_documents : int, float
        The limits that were applied.
    n_common, n_rare, dropped_tokens : int
        Terms dropped as too common and as too rare, and how often those occur.
    common : list of (str, int)
        The most frequent of the terms dropped as too common, with their counts.
    warnings : list of str
        What the user should know.
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
    """Scale the paper's least count of 50 down for small corpora.

    One for every 20,000 words of text (stop words not counted), so that the full 50 are
    reached at a million words, some 10,000 abstracts, as in the paper's smallest set; at
    least 2, and 1 below 2,000 words, where every word counts.

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
    """Find phrases, count words, filter the vocabulary and number what is left."""
    joined = columns.joined(documents)
    names = list(columns.words)
    hyphens = find_hyphens(joined.flat, names) if settings.join_hyphens else HyphenRules()
    flat, (offsets, titles) = apply_hyphens(
        joined.flat, [joined.offsets, joined.titles], names, hyphens
    )
    joined = _Joined(flat, offsets, titles)
    inner = np.array([name in columns.rules.inner for name in names] + [True])
    n_words = int(np.count_nonzero(~inner[joined.flat]))  # a break takes the last entry
    min_count = settings.min_word_count or automatic_min_count(n_words)
    thesaurus, hopeless = load_thesaurus(settings, columns.rules, hyphens)
    phrases = _phrases(joined.flat, names, settings, min_count, thesaurus, inner)
    units = phrases.table.segment(joined.flat) if phrases.names else joined.flat
    pipeline = Pipeline(
        settings,
        columns.rules.stop,
        dict(zip(phrases.names, phrases.scores, strict=True)),
        thesaurus,
        hyphens=hyphens,
        inner=columns.rules.inner,
    )
    terms, of_unit = _terms(names + phrases.names, pipeline)
    del phrases, flat
    numbers, owner, in_title, in_documents = _count(units, joined, of_unit, len(terms))
    del units

    counts = np.bincount(numbers, minlength=len(terms))
    with_words = len(np.unique(owner))
    limit = max(settings.max_document_share * with_words, settings.max_document_floor)
    seen = counts > 0
    common = seen & (in_documents > limit) & (settings.max_document_share < 1)
    rare = seen & ~common & (counts < min_count)
    wanted = {word.lower() for word in settings.keep_words}
    safe = [i for i, term in enumerate(terms) if term in wanted]
    common[safe] = rare[safe] = False
    asked: list[str] = []
    if query is not None and query.keep_words:
        named = [i for i in np.flatnonzero(common).tolist() if query.names(terms[i])]
        common[named] = False
        asked = [terms[i] for i in named]
    kept = np.flatnonzero(seen & ~common & ~rare)
    kept = np.array(sorted(kept.tolist(), key=lambda i: (-counts[i], terms[i])), dtype=np.int64)
    place = np.full(len(terms), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)

    tokens = place[numbers] if len(numbers) else np.zeros(0, dtype=np.int32)
    stays = tokens >= 0
    lengths = np.bincount(owner[stays], minlength=len(documents))
    title_lengths = np.bincount(owner[stays & in_title], minlength=len(documents))
    everywhere = [i for i in np.flatnonzero(common) if in_documents[i] > with_words / 2]
    everywhere.sort(key=lambda i: (-in_documents[i], terms[i]))
    top = sorted(np.flatnonzero(common).tolist(), key=lambda i: (-counts[i], terms[i]))
    warnings = []
    if everywhere:
        warnings.append(_too_common([terms[i] for i in everywhere[:5]]))
    if asked:
        shown = ", ".join(map(repr, asked[:5])) + (", ..." if len(asked) > 5 else "")
        warnings.append(f"Kept though common, as the query names them: {shown}.")
    if hopeless:
        warnings.append(
            f"{len(hopeless)} labels of the word thesaurus can match nothing, as they have stop "
            f"words or punctuation inside or more than three words, such as {hopeless[0]!r}."
        )
    return Encoded(
        tokens=tokens[stays],
        offsets=np.concatenate(([0], np.cumsum(lengths))),
        title_lengths=title_lengths,
        vocabulary=[terms[i] for i in kept.tolist()],
        counts=counts[kept],
        pipeline=pipeline,
        terms=int(seen.sum()),
        words=n_words,
        min_count=min_count,
        max_documents=limit,
        n_common=int(common.sum()),
        n_rare=int(rare.sum()),
        dropped_tokens=int(len(tokens) - stays.sum()),
        common=[(terms[i], int(counts[i])) for i in top[:20]],
        warnings=warnings,
    )


def _too_common(words: list[str]) -> str:
    """Say which words were dropped that a search may have asked for, and what keeps them."""
    typed = shlex.quote(",".join(words))
    how = choice(f"Settings(keep_words={words!r})", f"citeweave import --keep-words {typed}")
    return (
        "Dropped as too common, though the search for these documents may have named them: "
        f"{', '.join(map(repr, words))}, each in more than half of the documents. "
        f"To keep them: {how}."
    )


@dataclass(frozen=True, slots=True)
class _Phrases:
    names: list[str]
    scores: list[float]
    table: PhraseTable


def _phrases(
    flat: np.ndarray,
    names: list[str],
    settings: Settings,
    min_count: int,
    thesaurus: dict[str, str],
    inner: np.ndarray,
) -> _Phrases:
    """Find phrases that stay frequent when overlaps are settled; the thesaurus's come first."""
    number = {name: i for i, name in enumerate(names)}
    forced = [
        tuple(number[word] for word in label.split(" "))
        for label in thesaurus
        if " " in label and all(word in number for word in label.split(" "))
    ]
    scores = dict.fromkeys(forced, FORCED_SCORE)
    least = settings.phrase_min_count or max(min_count, 3)
    if settings.phrases:
        for phrase in find_phrases(
            flat,
            len(names),
            min_count=least,
            max_words=settings.phrase_words,
            statistic=settings.phrase_statistic,
            min_score=settings.phrase_min_score,
            min_strength=settings.phrase_min_strength,
            not_last=inner[:-1],
        ):
            scores.setdefault(phrase.words, phrase.score)
    table = PhraseTable(list(scores), list(scores.values()), len(names))
    for _ in range(_ROUNDS):
        # "neural network" may be rare once "artificial neural network" is one unit: given
        # up, so that its words are counted as words.
        units = table.segment(flat)
        counts = np.bincount(units[units >= 0], minlength=len(names) + len(scores))[len(names) :]
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
    texts = [" ".join(names[word] for word in words) for words in scores]
    return _Phrases(texts, list(scores.values()), table)


def _terms(units: list[str], pipeline: Pipeline) -> tuple[list[str], np.ndarray]:
    """Give each unit the number of the term it is counted as; -1 for units that are dropped."""
    number: dict[str, int] = {}
    of_unit = np.full(len(units) + 1, -1, dtype=np.int64)
    for i, unit in enumerate(units):
        term = pipeline.term(unit)
        if term:
            of_unit[i] = number.setdefault(term, len(number))
    return list(number), of_unit


def _count(
    units: np.ndarray, joined: _Joined, of_unit: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Give the number of every term of all documents, some documents at a time.

    Returns
    -------
    numbers, owner, in_title : ndarray
        For each term in a text its number, its document, whether it stands in the title.
    in_documents : ndarray of int64
        For each number the documents that have it.
    """
    in_documents = np.zeros(size, dtype=np.int64)
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    first, n_documents = 0, len(joined.titles)
    while first < n_documents:
        goal = joined.offsets[first] + _CHUNK
        last = max(first + 1, int(np.searchsorted(joined.offsets, goal, side="right")) - 1)
        start, stop = joined.offsets[first], joined.offsets[last]
        at = start + np.flatnonzero(units[start:stop] >= 0)
        numbers = of_unit[units[at]]
        at, numbers = at[numbers >= 0], numbers[numbers >= 0]
        owner = np.searchsorted(joined.offsets, at, side="right") - 1
        # Sorted by hand: np.unique hashes, which is slower on keys as dense as these.
        pairs = np.sort((owner - first) * np.int64(size) + numbers)
        new = np.ones(len(pairs), dtype=bool)
        new[1:] = pairs[1:] != pairs[:-1]
        in_documents += np.bincount(pairs[new] % max(size, 1), minlength=size)
        parts.append((numbers.astype(np.int32), owner.astype(np.int32), at < joined.titles[owner]))
        first = last
    if not parts:
        empty = np.zeros(0, dtype=np.int32)
        return empty, empty, empty.astype(bool), in_documents
    numbers, owner, in_title = (np.concatenate(column) for column in zip(*parts, strict=True))
    return numbers, owner, in_title, in_documents
