"""Author names: parsing, the paper's standard form, and which names are no people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from citeweave.parameters.preparation import EXCLUSION_WORDS
from citeweave.preparing.keys import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citeweave.reading import Author

__all__ = ["EXCLUSION_WORDS", "Name", "is_person", "parse", "parse_author"]

# What stands in an author field where there is no author to name.
_PLACEHOLDERS = frozenset(
    {"", "et al", "others", "and others", "anonymous", "anon", "unknown", "n a", "na", "none"}
    | {"no author name available", "no author", "not available"}
)
_TITLES = frozenset(
    "prof professor dr doctor mr mrs ms miss sir dame lord lady rev reverend hon fr pater "  # noqa: SIM905 (reads as a list)
    "ing dipl dipl-ing dr-ing eng mag doz priv-doz".split()
)
_DEGREES = frozenset("phd dphil md msc mba bsc ma frs facs dsc mph rn dds esq cbe obe".split())  # noqa: SIM905
_SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv", "2nd", "3rd", "filho", "neto"})
_PARTICLES = frozenset(
    "van von der den de del della dela di da das dos do du la le las los el "  # noqa: SIM905
    "al bin ibn ben bint "
    "ter ten te zu zur zum 't af av vom vander st mac abu dal dalla degli lo san santa".split()
)
# Scripts written without spaces inside a name: the name stays whole.
_CJK = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_DBLP_NUMBER = re.compile(r"\s+(\d{4})$")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_SPLIT_INITIALS = re.compile(r"(?<=\w)\.(?=\w)")
_LETTER = re.compile(r"[^\W\d_]")


class Name(NamedTuple):
    """A name in parts.

    Attributes
    ----------
    given : str
        First and middle names as written, titles gone; may be initials or empty.
    family : str
        Family name with its particles ("van der Berg"); the whole name for CJK.
    suffix : str
        "Jr", "III" and the like, kept for display, no part of the key.
    number : str
        Four digits with which DBLP tells namesakes apart; part of the key.
    """

    given: str
    family: str
    suffix: str = ""
    number: str = ""

    @property
    def initial(self) -> str:
        """First letter of the first name, folded; empty where there is none."""
        found = _LETTER.search(self.given)
        return fold(found.group())[:1] if found else ""

    @property
    def key(self) -> str:
        """What is compared under the paper's standardisation: initial and family name."""
        parts = (self.initial, _squeeze(self.family), self.number)
        return " ".join(part for part in parts if part)

    @property
    def full_key(self) -> str:
        """What is compared without standardisation: all the names, folded."""
        parts = (_squeeze(self.given), _squeeze(self.family), self.number)
        return " ".join(part for part in parts if part)

    @property
    def first(self) -> str:
        """First name folded, empty where only initials are given."""
        for word in self.given.replace(".", ". ").split():
            letters = _squeeze(word)
            if len(letters) > 1 and not word.endswith(".") and not _all_initials(word):
                return letters
            return ""
        return ""

    @property
    def short(self) -> str:
        """The paper's form for print, "B. Lee"."""
        found = _LETTER.search(self.given)
        short = f"{found.group().upper()}. {self.family}" if found else self.family
        return f"{short} {self.number}" if self.number else short

    @property
    def display(self) -> str:
        """The name in reading order, with everything that was given."""
        if self.given and _CJK.search(self.family):
            return f"{self.family}{self.given}"
        words = (self.given, self.family, self.suffix, self.number)
        return " ".join(word for word in words if word)


def parse(text: str) -> Name:
    """Take a written name apart.

    Understood are "Family, Given", "Given Family", "Family, Suffix, Given" and the
    MEDLINE and Web of Science style "Family GM"; titles, degrees and remarks in
    brackets are removed.

    Examples
    --------
    >>> parse("Lee, Bruce A.").short
    'B. Lee'
    >>> parse("Prof. Dr. Ludwig van der Berg, Jr.")
    Name(given='Ludwig', family='van der Berg', suffix='Jr', number='')
    """
    text = " ".join(_BRACKETS.sub(" ", text).replace("*", " ").split()).strip(" ,;&")
    number = ""
    if found := _DBLP_NUMBER.search(text):
        number, text = found.group(1), text[: found.start()]
    if not text:
        return Name("", "", "", number)
    if _CJK.search(text):
        return Name("", text.replace(" ", "").replace(",", ""), "", number)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    parts, suffix = _take_suffix_parts(parts)
    if not parts:
        return Name("", text, suffix, number)
    if len(parts) >= 2:
        family, own = _take_suffix(_strip_titles(parts[0].split()))
        given, other = _take_suffix(_strip_titles(" ".join(parts[1:]).split()))
        # "Berg, Ludwig van der": the particles belong to the family name.
        while len(given) > 1 and given[-1].islower() and _bare(given[-1]) in _PARTICLES:
            family.insert(0, given.pop())
        return Name(" ".join(given), " ".join(family), suffix or own or other, number)
    words, own = _take_suffix(_strip_titles(parts[0].split()))
    given, family = _split_words(words)
    return Name(" ".join(given), " ".join(family), suffix or own, number)


def parse_author(author: Author) -> Name:
    """Take a record's author apart, by the source's own parts where it gives them."""
    # a family name without a letter is a number that a source took for one
    if author.family and _LETTER.search(author.family):
        family = _DBLP_NUMBER.sub("", author.family.replace(",", " "))
        written = f"{family}, {author.given or ''}"
        name = parse(written)
        found = _DBLP_NUMBER.search(author.name or "")
        if found and not name.number:
            name = name._replace(number=found.group(1))
        return name
    return parse(author.name or author.given or "")


def is_person(text: str, exclusion_words: Iterable[str] = EXCLUSION_WORDS) -> bool:
    """Tell whether a name may be a person's: it has letters and no exclusion word.

    Examples
    --------
    >>> is_person("Technische Universität München"), is_person("Bruce Lee")
    (False, True)
    """
    words = _words(text)
    if not _LETTER.search(text) or " ".join(words) in _PLACEHOLDERS or _TITLES.issuperset(words):
        return False
    excluded = {fold(word) for word in exclusion_words}
    return not excluded.intersection(words)


def _words(text: str) -> list[str]:
    return re.sub(r"[\W_]+", " ", fold(text)).split()


def _squeeze(text: str) -> str:
    """Fold; hyphens and dots part words, apostrophes do not."""
    return " ".join(re.sub(r"[\W_]+", " ", fold(text).replace("'", "").replace("’", "")).split())


def _bare(word: str) -> str:
    return fold(word).replace(".", "").replace("’", "'").strip("-")


def _strip_titles(words: list[str]) -> list[str]:
    start, end = 0, len(words)
    while end - start > 1 and _bare(words[start]) in _TITLES:
        start += 1
    while end - start > 1 and _bare(words[end - 1]) in _DEGREES and _is_degree(words[end - 1]):
        end -= 1
    return words[start:end]


def _is_degree(word: str) -> bool:
    """Tell degrees ("PhD", "M.D.") from family names ("Ma")."""
    letters = [c for c in word if c.isalpha()]
    return sum(c.isupper() for c in letters) >= 2


def _take_suffix_parts(parts: list[str]) -> tuple[list[str], str]:
    kept, suffix = parts[:1], ""
    for part in parts[1:]:
        if _bare(part) in _SUFFIXES:
            suffix = part.strip(". ")
        elif not (_bare(part) in _DEGREES and _is_degree(part)):
            kept.append(part)
    return kept, suffix


def _take_suffix(words: list[str]) -> tuple[list[str], str]:
    if len(words) > 1 and _bare(words[-1]) in _SUFFIXES:
        return words[:-1], words[-1].strip(". ")
    return words, ""


def _all_initials(word: str) -> bool:
    letters = [c for c in word if c.isalpha()]
    return len(letters) <= 3 and all(c.isupper() for c in letters)


def _split_words(words: list[str]) -> tuple[list[str], list[str]]:
    """Part "Given Middle particle Family" and "Family GM" into given and family names."""
    if len(words) == 1:
        dotted = _SPLIT_INITIALS.sub(". ", words[0]).split()
        return dotted[:-1], dotted[-1:]
    start = len(words)
    while start > 1 and _trailing_initials(words[start - 1], words[start - 2]):
        start -= 1
    if start < len(words) and len(words[0]) > 2 and "." not in words[0]:
        return words[start:], words[:start]
    words = [piece for word in words for piece in _SPLIT_INITIALS.sub(". ", word).split()]
    cut = len(words) - 1
    while cut > 1 and _bare(words[cut - 1]) in _PARTICLES and not words[cut - 1].endswith("."):
        cut -= 1
    return words[:cut], words[cut:]


def _trailing_initials(word: str, before: str) -> bool:
    """Tell whether a name's last word is initials, as in "Lee BA", "LEE BA" and "Lee B. A."."""
    bare = word.replace(".", "").replace("-", "")
    if not (bare.isalpha() and bare.isupper()):
        return False
    return len(bare) <= 2 or (len(bare) == 3 and not before.isupper())
