"""Parser of personal names: given name, family name, suffix."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from citeweave.reading.folding import fold

__all__ = [
    "PARTICLES",
    "SUFFIXES",
    "TITLES",
    "Name",
    "is_glued",
    "is_initials",
    "is_short",
    "namesake_number",
    "parse",
]

TITLES = frozenset(
    "prof professor dr doctor mr mrs ms miss sir dame lord lady rev reverend hon fr pater "  # noqa: SIM905 (more readable than a list)
    "ing dipl dipl-ing dr-ing eng mag doz priv-doz".split()
)
_DEGREES = frozenset("phd dphil md msc mba bsc ma frs facs dsc mph rn dds esq cbe obe".split())  # noqa: SIM905
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv", "2nd", "3rd", "4th", "5th", "filho", "neto"})
# "Roberts JR" may be J. R. Roberts or a junior.
_LIKE_INITIALS = frozenset({"JR", "SR", "II", "IV"})
# Part of the family name regardless of case.
PARTICLES = frozenset(
    "af al ap bin bint da dal dalla de degli del dela della den der di dos du el ibn la le "  # noqa: SIM905
    "ten ter van vander von zu zur".split()
)
# Part of it in lower case only: "Ben", "Do" and "San" are also given and family names.
_SMALL_PARTICLES = PARTICLES | frozenset(
    "'t abu av ben das do las lo los mac san santa st te vom zum".split()  # noqa: SIM905
)
# Scripts without spaces inside a name: the name is not split.
_CJK = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_NAMESAKE = re.compile(r"\s+(\d{4})$")  # DBLP distinguishes namesakes by a number: "Wei Wang 0001"
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_LETTER = re.compile(r"[^\W\d_]")
_INITIALS = re.compile(r"(?:[^\W\d_]{1,2}\.[- ]?)+[^\W\d_]?\.?")
_BARE_INITIALS = re.compile(r"[A-ZÀ-ÖØ-Þ](?:-?[A-ZÀ-ÖØ-Þ]){0,3}")
_GLUED = re.compile(r"((?:[^\W\d_]{1,2}(?:\.-?|-(?=[^\W\d_]{1,2}\.)))+)([^\W\d_][^.]*)")
# Old Web of Science records truncate long family names: "COSTADEB.O".
_CUT_SHORT = re.compile(r"([^\W\d_]{3,})\.([A-Z]{1,3})")
_DOTTED_LETTERS = re.compile(r"(?:[^\W\d_]\.){2,}")


class Name(NamedTuple):
    """A name in parts.

    Attributes
    ----------
    given : str
        First and middle names as written, without titles; may be initials or empty.
    family : str
        Family name with its particles ("van der Berg"); the whole name for CJK.
    suffix : str
        "Jr", "III" and the like; kept for display, not part of the key.
    number : str
        Four digits by which DBLP distinguishes namesakes; part of the key.
    """

    given: str
    family: str
    suffix: str = ""
    number: str = ""

    @property
    def initial(self) -> str:
        """First letter of the first name, folded; empty if there is none."""
        found = _LETTER.search(self.given)
        return fold(found.group())[:1] if found else ""

    @property
    def key(self) -> str:
        """Key under the paper's standardisation: initial and family name."""
        parts = (self.initial, _squeeze(self.family), self.number)
        return " ".join(part for part in parts if part)

    @property
    def full_key(self) -> str:
        """Key without standardisation: all names, folded."""
        parts = (_squeeze(self.given), _squeeze(self.family), self.number)
        return " ".join(part for part in parts if part)

    @property
    def first(self) -> str:
        """First name, folded; empty if only initials are given."""
        for word in self.given.replace(".", ". ").split():
            letters = _squeeze(word)
            if len(letters) > 1 and not is_short(word):
                return letters
            return ""
        return ""

    @property
    def short(self) -> str:
        """The short form used in the paper, such as "B. Lee"."""
        found = _LETTER.search(self.given)
        short = f"{found.group().upper()}. {self.family}" if found else self.family
        return f"{short} {self.number}" if self.number else short

    @property
    def display(self) -> str:
        """The full name in reading order."""
        if self.given and _CJK.search(self.family):
            return f"{self.family}{self.given}"
        words = (self.given, self.family, self.suffix, self.number)
        return " ".join(word for word in words if word)


@lru_cache(maxsize=100_000)
def parse(text: str, *, family_first: bool | None = None) -> Name:
    """Parse a written name.

    Supported forms are "Family, Given", "Given Family", "Family, Suffix, Given" and the MEDLINE and
    Web of Science style "Family GM". Titles, degrees and remarks in brackets are removed.

    Parameters
    ----------
    text : str
        One name.
    family_first : bool or None
        Whether capital letters without dots at the end are initials, as in "Lim KW", or a family
        name, as in "Wei LI". None guesses from their number.

    Examples
    --------
    >>> parse("Lee, Bruce A.").short
    'B. Lee'
    >>> parse("Prof. Dr. Ludwig van der Berg, Jr.")
    Name(given='Ludwig', family='van der Berg', suffix='Jr', number='')
    """
    text = " ".join(_BRACKETS.sub(" ", text).replace("*", " ").split()).strip(" ,;&")
    number = namesake_number(text)
    text = text.removesuffix(number).rstrip(" ,")
    if not text:
        return Name("", "", "", number)
    if _CJK.search(text):
        return Name("", _whole(text, given_first=family_first is not None), "", number)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    parts, suffix = _take_suffix_parts(parts)
    if len(parts) >= 2:
        family, own = _take_suffix(_strip_titles(parts[0].split()))
        given, other = _take_suffix(_strip_titles(" ".join(parts[1:]).split()))
        # "Berg, Ludwig van der": the particles belong to the family name.
        while len(given) > 1 and given[-1].islower() and _bare(given[-1]) in _SMALL_PARTICLES:
            family.insert(0, given.pop())
        return Name(" ".join(given), " ".join(family), suffix or own or other, number)
    if not parts:
        return Name("", text, suffix, number)
    words = _strip_titles(parts[0].split(), alone=True)
    if len(words) > 2 and not (family_first is not False and _may_be_initials(words)):
        words, own = _take_suffix(words)
        suffix = suffix or own
    given, family = _split_words(words, family_first=family_first)
    return Name(" ".join(given), " ".join(family), suffix, number)


def _whole(text: str, *, given_first: bool) -> str:
    """Return a name in a script without spaces, family name first."""
    words = text.replace(",", " ").split()
    # Sources that give names in parts put the given name first, as is usual in the West.
    if given_first and "," not in text:
        words.insert(0, words.pop())
    return "".join(words)


def namesake_number(text: str) -> str:
    """Return the four digits by which DBLP distinguishes namesakes; empty if there are none."""
    found = _NAMESAKE.search(text)
    return found[1] if found else ""


def is_initials(word: str, *, bare: bool) -> bool:
    """Return whether a word is initials: "K.W." or, if `bare`, also "KW"."""
    if _is_suffix(word) and word not in _LIKE_INITIALS:
        return False
    if "." in word:
        return _INITIALS.fullmatch(word) is not None
    return bare and _BARE_INITIALS.fullmatch(word) is not None


def is_glued(word: str) -> bool:
    """Return whether a word is initials and a family name without a space: "F.Bonechi"."""
    return _GLUED.fullmatch(word) is not None


def _squeeze(text: str) -> str:
    """Fold a name; hyphens and dots separate words, apostrophes do not."""
    return " ".join(re.sub(r"[\W_]+", " ", fold(text).replace("'", "").replace("’", "")).split())


def _bare(word: str) -> str:
    return fold(word).replace(".", "").replace("’", "'").strip("-")


def _strip_titles(words: list[str], *, alone: bool = False) -> list[str]:
    """Remove titles and degrees; in a name without comma (`alone`), "MA" may be the family name."""
    start, end, least = 0, len(words), 2 if alone else 1
    while end - start > 1 and _is_title(words[start]):
        start += 1
    while end - start > least and _is_degree(words[end - 1], shortest=3 if alone else 2):
        end -= 1
    return words[start:end]


def _is_title(word: str) -> bool:
    """Return whether a word is a title ("Dr.") and not initials ("D.R.")."""
    return _bare(word) in TITLES and not _DOTTED_LETTERS.fullmatch(word)


def _is_degree(word: str, shortest: int = 2) -> bool:
    """Return whether a word is a degree ("PhD", "M.D.") and not a family name ("Ma")."""
    letters = [c for c in word if c.isalpha()]
    known = _bare(word) in _DEGREES and len(letters) >= shortest
    return known and sum(c.isupper() for c in letters) >= 2


def _is_suffix(word: str) -> bool:
    """Return whether a word is a suffix ("Jr.") and not initials ("J.R.")."""
    return fold(word).strip(". ") in SUFFIXES


def _may_be_initials(words: list[str]) -> bool:
    """Distinguish "De Souza JR", which ends in initials, from "Shaffer AL JR"."""
    return words[-1] in _LIKE_INITIALS and not is_initials(words[-2], bare=True)


def _take_suffix_parts(parts: list[str]) -> tuple[list[str], str]:
    kept, suffix = parts[:1], ""
    for part in parts[1:]:
        if _is_suffix(part) and not (len(parts) == 2 and part in _LIKE_INITIALS):
            suffix = part.strip(". ")
        elif not _is_degree(part, shortest=3 if len(parts) == 2 else 2):
            kept.append(part)
    return kept, suffix


def _take_suffix(words: list[str]) -> tuple[list[str], str]:
    if len(words) > 1 and _is_suffix(words[-1]):
        return words[:-1], words[-1].strip(". ")
    return words, ""


def is_short(word: str) -> bool:
    """Return whether a given name is initials or abbreviated: "B.", "BA", "Chr."."""
    letters = [c for c in word if c.isalpha()]
    return word.endswith(".") or (len(letters) <= 3 and all(c.isupper() for c in letters))


def _split_words(words: list[str], *, family_first: bool | None) -> tuple[list[str], list[str]]:
    """Split "Given Middle particle Family" and "Family GM" into given and family names."""
    start = len(words)
    while start > 1 and _trailing_initials(words, start - 1, family_first=family_first):
        start -= 1
    if start < len(words) and not is_initials(words[0], bare=False):
        return words[start:], words[:start]
    if len(words) == 1 and (found := _CUT_SHORT.fullmatch(words[0])):
        return [found[2]], [found[1]]
    if glued := _GLUED.fullmatch(words[-1]):
        words = [*words[:-1], glued[1], glued[2]]
    cut = len(words) - 1
    while cut > 1 and _is_particle(words[cut - 1]):
        cut -= 1
    return words[:cut], words[cut:]


def _is_particle(word: str) -> bool:
    if word.endswith("."):
        return False
    return _bare(word) in (_SMALL_PARTICLES if word.islower() else PARTICLES)


def _trailing_initials(words: list[str], place: int, *, family_first: bool | None) -> bool:
    """Return whether the last word is initials, as in "Lee BA", "LEE BA" and "Lee B. A."."""
    word, before = words[place], words[place - 1]
    if "." in word or family_first is not None:
        return is_initials(word, bare=bool(family_first))
    letters = word.replace("-", "")
    if not (letters.isalpha() and letters.isupper()):
        return False
    if len(words[0]) <= 2 and not _is_particle(words[0]):
        return False
    return len(letters) <= 2 or (len(letters) == 3 and not before.isupper())
