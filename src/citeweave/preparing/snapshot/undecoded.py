"""Parts of works that arrive as JSON text: abstracts and references, read in batches."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.preparing.snapshot.kernels import LONGEST, place_words, read_ids
from citeweave.reading.entities import decode_entities

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["cited_numbers", "decoded_works", "texts_of"]

_AT_ONCE = 256
_INDEX, _CITED = "abstract_inverted_index", "referenced_works"
_BEFORE_NUMBER = np.frombuffer(b'"https://openalex.org/W', dtype=np.uint8)


def decoded_works(
    works: Iterable[tuple[int, dict[str, Any]]],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Replace the JSON of abstracts and references in works by their values.

    The index of an abstract is replaced by its text, and the ids of cited works by an array of
    numbers. JSON that is not plain is decoded instead, for the general readers.
    """
    source = iter(works)
    while some := list(islice(source, _AT_ONCE)):
        having = [work for _, work in some if isinstance(work.get(_INDEX), bytes)]
        texts = texts_of([work[_INDEX] for work in having])
        for work, text in zip(having, texts, strict=True):
            if text is None:
                work[_INDEX] = _decoded(work[_INDEX])
            elif text:
                work[_INDEX] = None
                work["abstract"] = decode_entities(text)
            else:
                work[_INDEX] = None
        citing = [work for _, work in some if isinstance(work.get(_CITED), bytes)]
        lists = cited_numbers([work[_CITED] for work in citing])
        for work, numbers in zip(citing, lists, strict=True):
            work[_CITED] = _decoded(work[_CITED]) if numbers is None else numbers
        yield from some


def cited_numbers(lists: Sequence[bytes]) -> list[np.ndarray | None]:
    """Return the numbers in JSON lists of OpenAlex ids, None for lists of anything else.

    Examples
    --------
    >>> cited_numbers([b'["https://openalex.org/W7","https://openalex.org/W5"]', b'["W7"]'])
    [array([7, 5]), None]
    """
    source, bounds = _one_after_the_other(lists)
    numbers = np.empty(len(source) // len(_BEFORE_NUMBER) + 1, dtype=np.int64)
    stops = np.zeros(len(lists), dtype=np.int64)
    read_ids(source, bounds, _BEFORE_NUMBER, numbers, stops)
    found: list[np.ndarray | None] = []
    start = 0
    for stop in stops.tolist():
        found.append(None if stop < 0 else numbers[start:stop].copy())
        start = max(start, stop)
    return found


def _one_after_the_other(texts: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    bounds = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
    return np.frombuffer(b"".join(texts), dtype=np.uint8), bounds


def texts_of(indices: Sequence[bytes]) -> list[str | None]:
    r"""Return the texts of inverted indices in JSON, None for those that are not plain.

    Examples
    --------
    >>> texts_of([b'{"topic": [0, 2], "a": [1]}', b'{"\\u00e9": [0]}', b"{}"])
    ['topic a topic', None, '']
    """
    source, bounds = _one_after_the_other(indices)
    begins, ends = np.empty(LONGEST, dtype=np.int64), np.empty(LONGEST, dtype=np.int64)
    text = np.empty(2 * len(source) + 1024, dtype=np.uint8)
    stops = np.zeros(len(indices), dtype=np.int64)
    done = 0
    while True:
        done = place_words(source, bounds, done, begins, ends, text, stops)
        if done == len(indices):
            break
        more = np.empty(2 * len(text) + LONGEST, dtype=np.uint8)
        more[: len(text)] = text
        text = more
    whole = text[: stops[-1] if len(stops) else 0].tobytes()
    found: list[str | None] = []
    start = 0
    for index, stop in zip(indices, stops.tolist(), strict=True):
        if stop > start:
            try:
                found.append(whole[start:stop].decode())
            except UnicodeDecodeError:
                found.append(None)
        else:
            found.append("" if index.strip() == b"{}" else None)
        start = stop
    return found


def _decoded(index: bytes) -> Any:
    try:
        return json.loads(index)
    except ValueError:
        return index.decode(errors="replace")
