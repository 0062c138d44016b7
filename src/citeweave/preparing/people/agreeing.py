"""Decide whether two written names can mean the same person."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from citeweave.reading.folding import fold
from citeweave.reading.name_parts import PARTICLES, Name, is_short

__all__ = ["NameAgreement", "WrittenName", "agreement", "family_forms", "written_name"]

_NO_VOWEL = re.compile(r"[^\W\d_aeiouyAEIOUYà-üÀ-Ü]{2,3}")
_LETTERS = re.compile(r"[\W_]+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "ñ": "nh"})
# Transliterations of Russian and Ukrainian names, and umlauts.
_ENDINGS = ((re.compile(r"(?<=\w{3})sk(?:iy|ij|ii|yi|yj|y|i)$"), "ski"),
            (re.compile(r"(?<=\w{3})(?:off|ow|ov)$"), "ov"),
            (re.compile(r"(?<=\w{4})(?:eff|ew|ev)$"), "ev"))  # fmt: skip
_SPELLINGS = ((re.compile(r"(?:iy|ii|ij|yi|ey|ei|y|j)$"), "i"), (re.compile("ks"), "x"),
              (re.compile("(?:ya|ja)"), "ia"), (re.compile("(?:yu|ju)"), "iu"),
              (re.compile("kh"), "h"), (re.compile("oe"), "o"), (re.compile("ae"), "a"),
              (re.compile("ue(?=r|nt)"), "u"))  # fmt: skip
# Short forms that are not a prefix of the full name.
_SHORT_FORMS = {
    "bernie": "bernard", "bert": "albert", "bill": "william", "bob": "robert",
    "cathy": "catherine", "charlie": "charles", "chuck": "charles", "dave": "david",
    "dick": "richard", "jeff": "jeffrey", "jerry": "gerald", "jim": "james", "joe": "joseph",
    "kathy": "katherine", "larry": "lawrence", "mike": "michael", "nate": "nathan",
    "pete": "peter", "rick": "richard", "steve": "stephen", "steven": "stephen", "sue": "susan",
    "ted": "edward", "tony": "anthony", "andy": "andrew",
}  # fmt: skip
# Short forms that are a prefix: "Alex" may be Alexander, Alexei or Alexandra.
_BEGINNINGS = frozenset(
    "abe al alex ben brad chris dan don doug ed fred greg jon josh kate ken liz matt max nick "  # noqa: SIM905
    "pat phil ray rob ron sam stan theo tim tom vic vlad will zach".split()
)


class WrittenName(NamedTuple):
    """A name in the form used for comparison.

    Attributes
    ----------
    family : str
        Letters of the family name without particles; spellings of the same name are unified.
    particles : str
        Its particles ("vander"), which may be omitted in some spellings.
    given : tuple of (str, bool)
        Parts of the given names in order, each with a flag for full names.
    number : str
        Number by which DBLP distinguishes namesakes.
    suffix : str
        Jr, III and the like.
    """

    family: str
    particles: str
    given: tuple[tuple[str, bool], ...]
    number: str
    suffix: str

    @property
    def block(self) -> str:
        """Family name, first initial and number; only names in the same block are compared."""
        initial = self.given[0][0][:1] if self.given else ""
        return f"{self.family} {initial} {self.number}"

    @property
    def first(self) -> str:
        """The first name in comparison form, if it is written in full."""
        return self.given[0][0] if self.given and self.given[0][1] else ""

    @property
    def middle(self) -> str:
        """Initials of the other given names."""
        return "".join(text[0] for text, _ in self.given[1:])


class NameAgreement(NamedTuple):
    """How far two compatible names agree.

    Attributes
    ----------
    first : bool
        Whether both have the same full first name.
    middle : int
        Number of further given names that agree, at least by initial.
    """

    first: bool
    middle: int


def family_forms(name: Name) -> tuple[str, str]:
    """Return the family name for comparison, and its possible spellings without accents.

    Examples
    --------
    >>> from citeweave.reading.name_parts import parse
    >>> family_forms(parse("Jörg Müller")), family_forms(parse("N. Zhukovsky"))
    (('muller', 'mueller'), ('zhukovski', 'zhukovski'))
    """
    words = [word for word in re.split(r"[\s]+", name.family) if word]
    kept = [word for word in words if fold(word).strip("'’") not in PARTICLES] or words
    text = " ".join(kept)
    return _letters(fold(text)), _letters(fold(text.lower().translate(_UMLAUTS)))


def _letters(text: str) -> str:
    letters = _LETTERS.sub("", text)
    for pattern, put in _ENDINGS:
        letters = pattern.sub(put, letters)
    return letters


def written_name(name: Name, aliases: dict[str, str] | None = None) -> WrittenName:
    """Convert a name to its comparison form.

    Parameters
    ----------
    name : Name
        The parsed name.
    aliases : dict, optional
        Maps family names to other spellings of the same name ("mueller" to "muller").
    """
    family, _ = family_forms(name)
    words = name.family.split()
    particles = [fold(word).strip("'’") for word in words]
    kept = "".join(word for word in particles if word in PARTICLES)
    return WrittenName(
        (aliases or {}).get(family, family),
        kept if len(kept) < len("".join(particles)) else "",
        _given(name.given),
        name.number,
        fold(name.suffix).strip(". "),
    )


def _given(text: str) -> tuple[tuple[str, bool], ...]:
    parts: list[tuple[str, bool]] = []
    for word in text.replace(".", ". ").split():
        # "Ph Brax" lacks a dot
        lost_dot = not is_short(word) and _NO_VOWEL.fullmatch(word) is not None
        whole = not is_short(word) and not lost_dot
        for piece in word.replace("‐", "-").split("-"):
            letters = _LETTERS.sub("", fold(piece))
            if not letters:
                continue
            if whole and len(letters) > 1:
                parts.append((_one_spelling(letters), True))
            elif "." in word or lost_dot:
                parts.append((letters, False))  # "Chr." matches all names that start like this
            else:
                parts += [(letter, False) for letter in letters]
    return tuple(parts)


@lru_cache(maxsize=100_000)
def _one_spelling(letters: str) -> str:
    letters = _SHORT_FORMS.get(letters, letters)
    first, rest = letters[0], letters[1:]
    if len(rest) >= 3:
        for pattern, put in _SPELLINGS:
            rest = pattern.sub(put, rest)
    return first + rest


def agreement(one: WrittenName, other: WrittenName) -> NameAgreement | None:
    """Return how far two names in a block agree, or None if they are incompatible.

    Given names are compared in order. An initial agrees with names that start with it, and middle
    names may be missing in one. "Jian-Ping", "Jianping" and "J. P." agree.

    Examples
    --------
    >>> from citeweave.reading.name_parts import parse
    >>> def compare(one, other):
    ...     return agreement(written_name(parse(one)), written_name(parse(other)))
    >>> compare("Maria Rocio Guede", "M. R. Guede")
    NameAgreement(first=False, middle=1)
    >>> compare("Bruce Lee", "Brett Lee"), compare("Bruce A. Lee", "Bruce B. Lee")
    (None, None)
    """
    if one.suffix and other.suffix and one.suffix != other.suffix:
        return None
    if one.particles and other.particles and one.particles != other.particles:
        return None
    a, b = one.given, other.given
    if not a or not b:
        return NameAgreement(first=False, middle=0)
    first = a[0][1] and b[0][1]
    if first and not _one_first_name(a[0][0], b[0][0]):
        joined = "".join(text for text, _ in a), "".join(text for text, _ in b)
        return NameAgreement(first=True, middle=1) if joined[0] == joined[1] else None
    # "J. P. Li" may be Jianping Li, whose name has one part, so a missing part is no evidence
    for (text, _), (against, _) in zip(a, b, strict=False):
        if not (text.startswith(against) or against.startswith(text)):
            return None
    for (text, whole), (against, also) in zip(a[1:], b[1:], strict=False):
        if whole and also and not _one_first_name(text, against):
            return None
    return NameAgreement(first=first, middle=min(len(a), len(b)) - 1)


def _one_first_name(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or (short in _BEGINNINGS and long.startswith(short))
