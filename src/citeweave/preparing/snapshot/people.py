"""Authors of a snapshot: identified by OpenAlex ids only, numbered and named."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from citeweave.preparing.keys import scrub
from citeweave.preparing.names import parse_author
from citeweave.preparing.people.by_name import NamedMention
from citeweave.preparing.people.describing import fullness, mixed_case
from citeweave.reading import parse_name
from citeweave.reading.name_parts import SUFFIXES, TITLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.preparing.snapshot.kept import KeptSteps
    from citeweave.preparing.snapshot.pieces import Piece

__all__ = ["author_names", "number_authors"]

_AT_ONCE = 1_000_000
_PLAIN = re.compile(r"([A-Z][a-z]{3,})(?: [A-Z]\.)? ([A-Z][a-z]{3,})")
_NOT_PLAIN = {word.casefold() for word in (*TITLES, *SUFFIXES)}


def number_authors(pieces: Sequence[Piece], kept: Sequence[np.ndarray]) -> int:
    """Assign numbers to authors by their first mention in a document; return how many there are.

    Each piece gets the numbers of its own authors, -1 for those of no document.
    """
    keys, used_rows = [], []
    for piece, documents in zip(pieces, kept, strict=True):
        own = piece.authors("key")["key"].to_numpy()
        used = np.zeros(len(own), dtype=bool)
        used[piece.ragged("teams").take(documents).values] = True
        rows = np.flatnonzero(used)
        keys.append(own[rows])
        used_rows.append((len(own), rows))
    together = np.concatenate([np.zeros(0, dtype=np.int64), *keys])
    _, first, back = np.unique(together, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    numbers = rank[back]
    at = 0
    for piece, (size, rows) in zip(pieces, used_rows, strict=True):
        own_numbers = np.full(size, -1, dtype=np.int32)
        own_numbers[rows] = numbers[at : at + len(rows)]
        np.save(piece.folder / "author_numbers.npy", own_numbers)
        at += len(rows)
    return len(first)


def author_names(pieces: Sequence[Piece], total: int, step: KeptSteps) -> tuple[pl.Series, int]:
    """Choose a unique display name for each author; count those with an identifier.

    The fullest form is shown, as elsewhere. If two authors have the same name, the ORCID or id is
    added to that of the later one. Each step chooses the names of a million authors.
    """
    names: list[pl.Series] = []
    tags: list[pl.Series] = []
    for low in range(0, total, _AT_ONCE):
        high = min(low + _AT_ONCE, total)
        made = step(f"names-{low}", partial(_chosen, pieces, low, high))
        names.append(made["name"])
        tags.append(made["tag"])
    if not names:
        return pl.Series("name", [], dtype=pl.String), 0
    frame = pl.DataFrame({"name": pl.concat(names), "tag": pl.concat(tags)})
    identified = int(frame["tag"].is_not_null().sum())
    frame = frame.select(
        pl.when(pl.col("name").is_first_distinct() | pl.col("tag").is_null())
        .then(pl.col("name"))
        .otherwise(pl.format("{} [{}]", "name", "tag"))
        .alias("name")
    )
    return _unique(frame["name"]), identified


def _chosen(pieces: Sequence[Piece], low: int, high: int) -> pl.DataFrame:
    """Choose the names of a range of authors."""
    made = [_best(group) for group in _forms(pieces, low, high)]
    schema = {"name": pl.String, "tag": pl.String}
    return pl.DataFrame(dict(zip(schema, zip(*made, strict=True), strict=True)), schema=schema)


def _forms(pieces: Sequence[Piece], low: int, high: int) -> list[list[tuple[str, str, str, int]]]:
    """Collect the spellings of a range of authors: (name, id, orcid, mentions) of each."""
    frames = []
    for piece in pieces:
        number = piece.array("author_numbers")
        rows = np.flatnonzero((number >= low) & (number < high))
        if len(rows):
            counts = np.bincount(piece.array("teams"), minlength=len(number))[rows]
            frames.append(
                piece.authors("id", "orcid", "name")[rows].with_columns(
                    number=pl.Series(number[rows]), count=pl.Series(counts)
                )
            )
    table = (
        pl.concat(frames)
        .group_by("number", "name", "id", "orcid", maintain_order=True)
        .agg(pl.col("count").sum())
    )
    found: list[list[tuple[str, str, str, int]]] = [[] for _ in range(high - low)]
    for number, *form in table.iter_rows():
        found[number - low].append(tuple(form))
    return found


def _best(forms: list[tuple[str, str, str, int]]) -> tuple[str, str | None]:
    """Return the display name of an author, and an identifier to distinguish namesakes."""
    if len(forms) == 1:
        name, ident, orcid, _ = forms[0]
        plain = _PLAIN.fullmatch(name)
        if plain is not None and not {plain[1].casefold(), plain[2].casefold()} & _NOT_PLAIN:
            return name, orcid or ident  # the result of parsing it
    mentions = []
    for name, ident, orcid, count in forms:
        author = parse_name(name)
        if author is not None:
            mentions.append(NamedMention(parse_author(author), ident, orcid, count))
    if not mentions:
        return scrub(forms[0][0]), forms[0][2] or forms[0][1]
    best = max(mentions, key=fullness)
    tag = best.orcid or best.id
    return scrub(mixed_case(best.name)), scrub(tag) if tag else None


def _unique(names: pl.Series) -> pl.Series:
    """Add numbers to names that still occur twice: people without an identifier."""
    again = np.flatnonzero(~names.is_first_distinct().to_numpy())
    if not len(again):
        return names.rename("name")
    # only names that end in a number can be in the way of a new one; most names stay in polars
    used = set(names.filter(names.str.contains(r" \(\d+\)$")).to_list())
    made = []
    for base in names.gather(again).to_list():
        number = 2
        while f"{base} ({number})" in used:
            number += 1
        made.append(f"{base} ({number})")
        used.add(made[-1])
    return names.rename("name").scatter(again, made)
