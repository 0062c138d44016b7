"""Text in pictures: its width, line breaks, and characters that XML forbids."""

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["clean", "shorten_name", "text_width", "wrap_words"]

# Widths in em of the characters of DejaVu Sans, the font of Matplotlib; it is wider than Helvetica
# and Arial, so a box measured for it also fits those.
_WIDTHS = {
    0.28: "'ijl",
    0.29: "IJ",
    0.33: " ,./:;\\|",
    0.36: "f-",
    0.40: "()[]t!r",
    0.48: '"*_`',
    0.53: "szc?",
    0.59: "LFkvxyP",
    0.62: "TYaoe",
    0.64: "ESbdghnpqu$0123456789{}",
    0.69: "KAVBRXZC",
    0.76: "UHNDG&",
    0.81: "OQw",
    0.85: "#+<=>^~M",
    0.98: "%mW@",
}
_WIDTH_OF = {letter: width for width, letters in _WIDTHS.items() for letter in letters}
_OTHER = 0.66  # letters with accents, Greek, Cyrillic
_BOLD = 1.15


def text_width(text: str, font_size: float, *, bold: bool = False) -> float:
    """Estimate the width of a line in the units of the font size.

    Examples
    --------
    >>> text_width("mm", 10) > text_width("ii", 10)
    True
    """
    width = 0.0
    for letter in text:
        known = _WIDTH_OF.get(letter)
        if known is None:
            if unicodedata.combining(letter):
                known = 0.0
            else:
                known = 1.0 if unicodedata.east_asian_width(letter) in "WF" else _OTHER
        width += known
    return width * font_size * (_BOLD if bold else 1.0)


def wrap_words(words: Iterable[str], widest: float, font_size: float) -> list[str]:
    """Break words, joined by commas, into lines; a word wider than a line gets its own.

    Examples
    --------
    >>> wrap_words(["soil", "crop yield", "water"], 80, 10)
    ['soil, crop yield,', 'water']
    """
    lines: list[str] = []
    line = ""
    for word in words:
        longer = f"{line}, {word}" if line else word
        if line and text_width(f"{longer},", font_size) > widest:
            lines.append(f"{line},")
            line = word
        else:
            line = longer
    return [*lines, line] if line else lines


def shorten_name(name: str, longest: int = 22) -> str:
    """Shorten a person's name that is too long: given names to initials, then cut.

    Examples
    --------
    >>> shorten_name("Ann Lee"), shorten_name("Maria Magdalena Schwarzenberger")
    ('Ann Lee', 'M. M. Schwarzenberger')
    """
    # DBLP numbers people of the same name
    name = re.sub(r"(?<=\S)\s+\d{4}$", "", " ".join(name.split()))
    if len(name) <= longest:
        return name
    if "," in name:
        last, _, first = name.partition(",")
        given = first.split()
    else:
        *given, last = name.split()
    short = " ".join([*(f"{part[0]}." for part in given), last.strip()])
    return short if len(short) <= longest else f"{short[: longest - 1]}…"


def clean(text: str) -> str:
    r"""Remove characters that XML 1.0 forbids (control characters, lone surrogates), unify spaces.

    Examples
    --------
    >>> clean("a\x00b\nc")
    'ab c'
    """
    kept = (letter for letter in text if _is_allowed(ord(letter)))
    return " ".join("".join(kept).split())


def _is_allowed(code: int) -> bool:
    return (
        code in {0x9, 0xA, 0xD}
        or 0x20 <= code < 0x7F
        or 0xA0 <= code <= 0xD7FF
        or 0xE000 <= code <= 0xFFFD
        or 0x10000 <= code <= 0x10FFFF
    )
