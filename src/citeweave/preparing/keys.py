"""Comparison keys that are equal for different spellings of a title, name or DOI."""

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
    """Return the folded words of a title without tags and punctuation; empty if there are none.

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
    """Return the DOI in a text in lower case, without resolver; empty if there is none.

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
    """Return the Arabic and Roman numerals in a title key, in order.

    Titles that differ in these ("Part I", "Part II") are different works, however similar they are
    otherwise.

    Examples
    --------
    >>> numerals("strings in 10 dimensions part ii")
    ('10', 'ii')
    """
    return tuple(w for w in key.split() if not w.isalpha() or _ROMAN.match(w))


def hash64(text: str) -> int:
    """Return a 64-bit hash of a text, the same in every process; never 0, which means absent."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def scrub(text: str) -> str:
    """Replace lone surrogates, which result from wrong decoding and cannot be stored."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
