"""Turn raw text into words: remove mark-up, mathematics and addresses, then tokenise."""

from __future__ import annotations

import html
import re
import unicodedata

__all__ = ["BREAK", "clean", "is_missing", "normalise_word", "pieces"]

#: Marker between words that are not adjacent (punctuation).
BREAK = ""

_INLINE_TAG = re.compile(
    r"</?(?:jats:)?(?:sub|sup|sc|b|i|em|strong|u|tt)(?:\s[^<>]{0,200})?>", re.IGNORECASE
)
_FORMULA = re.compile(
    r"<(mml:math|math|tex-math|inline-formula)\b.{0,2000}?</\1>", re.IGNORECASE | re.DOTALL
)
_TAG = re.compile(r"</?[A-Za-z!][^<>]{0,400}>")
# Greek letters and indices in IEEE plain text: "/spl alpha/", "/sup 2/".
_SLASHED = re.compile(r"/(?:spl|sup|sub)\s[^/]{1,24}/")
_URL = re.compile(
    r"(?:https?|ftp)://[^\s<>]+|\bwww\.[^\s<>]+|\bdoi:\s*\S+|\b10\.\d{4,9}/\S+"
    r"|\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}"
    r"|\barXiv:\S+|\b[a-z]{2,8}-[a-z]{2,4}/\d{7}\b",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(
    r"(?:©|\(c\)|&copy;|\bcopyright\b)\s*(?:©|\(c\))?\s*(?:\d{4}\b|the authors?\b|by\b).{0,400}$",
    re.IGNORECASE | re.DOTALL,
)
_RIGHTS = re.compile(r"\ball rights reserved\b\.?", re.IGNORECASE)
_MATH = re.compile(r"\$\$(.{0,2000}?)\$\$|\$([^$]{0,500})\$|\\\((.{0,500}?)\\\)", re.DOTALL)
_MATH_TEXT = re.compile(r"\\(?:math(?:rm|bf|it|sf|cal)|text(?:rm|bf|it|sf)?|mbox|rm|bf|it)\b\s*")
_SCRIPT = re.compile(r"[_^]\s*(?:\{[^{}]*\}|\\[A-Za-z]+|.)", re.DOTALL)
_COMMAND = re.compile(r"\\[A-Za-z]+\*?|\\[^A-Za-z\s]")
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_ACCENT = re.compile(
    r"\\([`'^\"~=.]|[uvHckrdb](?![A-Za-z]))\s*(?:\{\s*(\\?[A-Za-z])\s*\}|(\\?[A-Za-z]))"
)
_SYMBOL = re.compile(r"\{?\\(ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j)(?![A-Za-z])(?:\{\}|\s)?\}?")
_BRACED = re.compile(r"\{([^{}\\]*)\}")
_COMBINING = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    '"': "\u0308",
    "~": "\u0303",
    "=": "\u0304",
    ".": "\u0307",
    "u": "\u0306",
    "v": "\u030c",
    "H": "\u030b",
    "c": "\u0327",
    "k": "\u0328",
    "r": "\u030a",
    "d": "\u0323",
    "b": "\u0331",
}
_SYMBOLS = {
    "ss": "ß",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "aa": "å",
    "AA": "Å",
    "o": "ø",
    "O": "Ø",
    "l": "ł",
    "L": "Ł",
    "i": "i",
    "j": "j",
}
_DASHES = str.maketrans(
    {"\u2010": "-", "\u2011": "-", "\u00ad": None, "\u2019": "'", "\u02bc": "'"}
)
_PIECE = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*|[^\w\s]|_")
_MISSING = frozenset(
    {"no abstract available", "abstract not available", "no abstract", "not available", "n/a", "na"}
    | {"none", "null", "nan", "abstract", "-", "no abstract provided", "no abstract is available"}
)

_LONGEST_MISSING = max(map(len, _MISSING))


def is_missing(text: str | None) -> bool:
    """Return whether a field is empty or a placeholder ("[No abstract available]").

    Examples
    --------
    >>> is_missing("[No abstract available]"), is_missing("Abstract algebra")
    (True, False)
    """
    if not text:
        return True
    inside = text.strip(" []().\t\n")
    return len(inside) <= _LONGEST_MISSING and (inside.lower() in _MISSING or not text.strip())


def clean(
    text: str, *, urls: bool = True, markup: bool = True, copyright_notes: bool = True
) -> str:
    """Remove everything that is not prose from a text.

    Parameters
    ----------
    text
        A title, abstract or keyword as given by the source.
    urls
        Whether to remove web and e-mail addresses, DOIs and arXiv numbers.
    markup
        Whether to remove HTML and JATS tags, decode entities, convert LaTeX accents to letters, and
        keep only words of LaTeX mathematics ("AdS" from ``$AdS_5$``).
    copyright_notes
        Whether to remove a publisher's copyright line at the end of an abstract.

    Examples
    --------
    >>> clean("Beyond <i>CO<sub>2</sub></i> &amp; $AdS_5$, see https://example.org/a")
    'Beyond CO2 & AdS , see'
    """
    if markup:
        text = _without_markup(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_DASHES))
    # a character is looked for first: that takes a fortieth of the time of two or three
    colon = ":" in text and ("iv:" in text or "doi:" in text)
    if urls and ("/" in text or "@" in text or colon or "www." in text):
        text = _URL.sub(" ", text)
    if copyright_notes:
        bracketed = "(" in text and ("(c)" in text or "(C)" in text)
        if "©" in text or bracketed or "opyright" in text:
            text = _COPYRIGHT.sub(" ", text)
        if "eserved" in text:
            text = _RIGHTS.sub(" ", text)
    # nearly all texts have single spaces by now, and parting them takes four times as long
    if "  " not in text and text.isprintable():
        return text.strip()
    return " ".join(text.split())


def pieces(text: str) -> list[str]:
    """Split a clean text into words and the other characters between them.

    A word consists of letters and digits, with hyphens and apostrophes inside it.

    Examples
    --------
    >>> pieces("K-means, a p53 tree")
    ['k-means', ',', 'a', 'p53', 'tree']
    """
    return _PIECE.findall(text.lower())


def normalise_word(piece: str) -> str:
    """Return the normalised word of a piece, or `BREAK` for punctuation and numbers.

    Examples
    --------
    >>> [normalise_word(p) for p in ("kolmogorov's", "3d", "1990", ";")]
    ['kolmogorov', '3d', '', '']
    """
    word = piece.removesuffix("'s")
    return word if word.isalpha() or any(c.isalpha() for c in word) else BREAK


def _without_markup(text: str) -> str:
    if "&" in text and ";" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _FORMULA.sub(" ", text)
        text = _INLINE_TAG.sub("", text)
        text = _TAG.sub(" ", text)
    if "/" in text and "/s" in text:
        text = _SLASHED.sub(" ", text)
    if "$" in text or ("\\" in text and "\\(" in text):
        text = _MATH.sub(_math_words, text)
    if "\\" in text:
        text = _ACCENT.sub(_accent, text)
        text = _SYMBOL.sub(lambda found: _SYMBOLS[found.group(1)], text)
    if "{" in text:
        # Braces protect capitals or group: remove them, innermost first, and keep the text.
        for _ in range(4):
            text = _BRACED.sub(r"\1", text)
    if "\\" in text:
        text = _COMMAND.sub(" ", text)
    return text


def _math_words(found: re.Match[str]) -> str:
    inside = found.group(1) or found.group(2) or found.group(3) or ""
    inside = _SCRIPT.sub(" ", _MATH_TEXT.sub(" ", inside))
    inside = _COMMAND.sub(" ", inside)
    words = _LETTERS.findall(inside)
    return f" {' '.join(words)} " if words else " "


def _accent(found: re.Match[str]) -> str:
    letter = (found.group(2) or found.group(3)).lstrip("\\")
    return unicodedata.normalize("NFC", letter + _COMBINING[found.group(1)])
