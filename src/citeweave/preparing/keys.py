"""Comparison keys: what two spellings of one title, name or DOI have in common."""

from __future__ import annotations

import hashlib
import re

from citeweave.reading.folding import fold

__all__ = ["doi_key", "hash64", "numerals", "scrub", "title_key"]

_NOT_WORD = re.compile(r"[\W_]+")
_TAGS = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_DOI = re.compile(r"10\.\d+(?:\.\d+)*/\S+")
_ROMAN = re.compile(r"^(?=[ivx])(x{0,2})(ix|iv|v?i{0,3})$")


def title_key(title: str | None) -> str:
    """Give the words of a title, folded, tags and punctuation gone; empty where there are none.

    Examples
    --------
    >>> title_key("The <i>k</i>-Means++ Algorithm: A Review.")
    'the k means algorithm a review'
    """
    if not title:
        return ""
    if "<" in title:
        title = _TAGS.sub(" ", title)
    return _NOT_WORD.sub(" ", fold(title)).strip()


def doi_key(doi: str | None) -> str:
    """Give a DOI in lower case without its resolver; empty where the text holds no DOI.

    Examples
    --------
    >>> doi_key("https://doi.org/10.1109/TVCG.2013.1")
    '10.1109/tvcg.2013.1'
    """
    if not doi:
        return ""
    found = _DOI.search(doi)
    return found.group().lower().rstrip(".,;)") if found else ""


def numerals(key: str) -> tuple[str, ...]:
    """Give the numbers in a title key, Arabic and Roman, in order.

    Titles that differ in these ("Part I", "Part II") are different works however
    alike they look otherwise.

    Examples
    --------
    >>> numerals("strings in 10 dimensions part ii")
    ('10', 'ii')
    """
    return tuple(w for w in key.split() if not w.isalpha() or _ROMAN.match(w))


def hash64(text: str) -> int:
    """Give a 64-bit number for a text, the same in every process; never 0 (0 means absent)."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def scrub(text: str) -> str:
    """Replace lone surrogates, which wrong decoding leaves behind and no file can hold."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
