"""Abstracts of works that come as inverted indices in JSON, put in order many at a time."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.preparing.snapshot.kernels import LONGEST, place_words
from citeweave.reading.entities import decode_entities

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["texts_of", "with_abstracts"]

_AT_ONCE = 256
_INDEX = "abstract_inverted_index"


def with_abstracts(
    works: Iterable[tuple[int, dict[str, Any]]],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give works with the text of an abstract in place of its index in JSON.

    An index that is not plain is decoded and left for `abstract_from_index`.
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
        yield from some


def texts_of(indices: Sequence[bytes]) -> list[str | None]:
    r"""Give the texts of inverted indices in JSON, None for those that are not plain.

    Examples
    --------
    >>> texts_of([b'{"topic": [0, 2], "a": [1]}', b'{"\\u00e9": [0]}', b"{}"])
    ['topic a topic', None, '']
    """
    source = np.frombuffer(b"".join(indices), dtype=np.uint8)
    bounds = np.concatenate(([0], np.cumsum([len(index) for index in indices], dtype=np.int64)))
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
