"""Which names are people, and the name of a record's author in parts."""

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

# What stands in an author field where there is no author to name.
_PLACEHOLDERS = frozenset(
    {"", "et al", "others", "and others", "anonymous", "anon", "unknown", "n a", "na", "none"}
    | {"no author name available", "no author", "not available"}
)
_LETTER = re.compile(r"[^\W\d_]")
_NO_WORD = re.compile(r"[\W_]+")


def parse_author(author: Author) -> Name:
    """Take a record's author apart, by the source's own parts where it gives them."""
    # a family name without a letter is a number that a source took for one
    if author.family and _LETTER.search(author.family):
        family = author.family.replace(",", " ")
        number = namesake_number(family) or namesake_number(author.name or "")
        if number:
            family = family.removesuffix(number)
        name = parse(f"{family}, {author.given or ''}")
        return name._replace(number=number) if number and not name.number else name
    return parse(author.name or author.given or "")


def is_person(text: str, exclusion_words: Iterable[str] = EXCLUSION_WORDS) -> bool:
    """Tell whether a name may be a person's: it has letters and no exclusion word.

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
