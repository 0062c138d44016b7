"""Recognise names of people, and parse the authors of records."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from citeweave.parameters.preparation import EXCLUSION_WORDS
from citeweave.reading.folding import fold
from citeweave.reading.name_parts import TITLES, Name, namesake_number, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citeweave.reading import Author

__all__ = ["EXCLUSION_WORDS", "is_person", "parse_author"]

# Placeholders in author fields.
_PLACEHOLDERS = frozenset(
    {"", "et al", "others", "and others", "anonymous", "anon", "unknown", "n a", "na", "none"}
    | {"no author name available", "no author", "not available"}
)
_LETTER = re.compile(r"[^\W\d_]")
_NO_WORD = re.compile(r"[\W_]+")


def parse_author(author: Author) -> Name:
    """Parse an author of a record, using the source's own name parts if available."""
    # a family name without letters is a number that was mistaken for one
    if author.family and _LETTER.search(author.family):
        family = author.family.replace(",", " ")
        number = namesake_number(family) or namesake_number(author.name or "")
        if number:
            family = family.removesuffix(number)
        name = parse(f"{family}, {author.given or ''}")
        return name._replace(number=number) if number and not name.number else name
    return parse(author.name or author.given or "")


def is_person(text: str, exclusion_words: Iterable[str] = EXCLUSION_WORDS) -> bool:
    """Return whether a name may be a person: it has letters and no exclusion word.

    Examples
    --------
    >>> is_person("Technische Universität München"), is_person("Bruce Lee")
    (False, True)
    """
    words = _NO_WORD.sub(" ", fold(text)).split()
    if not _LETTER.search(text) or " ".join(words) in _PLACEHOLDERS or TITLES.issuperset(words):
        return False
    return not _folded(tuple(exclusion_words)).intersection(words)


@lru_cache(maxsize=8)
def _folded(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(fold, words))
