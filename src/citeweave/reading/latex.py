r"""Convert LaTeX in BibTeX values to plain text: ``{\"o}`` becomes "ö"."""

from __future__ import annotations

import re
import unicodedata

from citeweave.reading.entities import decode_entities

__all__ = ["plain_text"]

_COMBINING = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
    "b": "\u0331",
}
_LETTERS = {
    "aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø",
    "l": "ł", "L": "Ł", "ss": "ß", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ",
    "TH": "Þ", "dj": "đ", "DJ": "Đ", "ng": "ŋ", "NG": "Ŋ", "S": "§", "P": "¶", "pounds": "£",
    "copyright": "©", "textendash": "–", "textemdash": "—", "textquoteright": "’",
    "textquoteleft": "‘", "textquotedblleft": "“", "textquotedblright": "”", "textbackslash": "\\",
    "textasciitilde": "~", "textasciicircum": "^", "textunderscore": "_", "textregistered": "®",
    "texttrademark": "™", "textdegree": "°", "textless": "<", "textgreater": ">", "ldots": "…",
    "dots": "…", "textellipsis": "…", "slash": "/", "alpha": "α", "beta": "β", "gamma": "γ",
    "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ",
    "sigma": "σ", "tau": "τ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Sigma": "Σ", "Phi": "Φ",
    "Psi": "Ψ", "Omega": "Ω", "infty": "∞", "times": "×", "pm": "±", "leq": "≤", "le": "≤",
    "geq": "≥", "ge": "≥", "sim": "∼", "approx": "≈", "rightarrow": "→", "to": "→",
    "LaTeX": "LaTeX", "TeX": "TeX", "BibTeX": "BibTeX",
    "cdot": "·", "ell": "ℓ", "partial": "∂", "prime": "′", "circ": "°",
}  # fmt: skip

_SIGN_ACCENT = re.compile(
    r"""\\(["'`^~=.])\s*(?:\{\s*(\\?[A-Za-zÀ-ɏ]{0,2})\s*\}|(\\[ij](?![A-Za-z])|[A-Za-zÀ-ɏ]))"""
)
_WORD_ACCENT = re.compile(
    r"\\([urHvdckb])(?:\s*\{\s*(\\?[A-Za-zÀ-ɏ]{0,2})\s*\}|\s+(\\[ij](?![A-Za-z])|[A-Za-zÀ-ɏ]))"
)
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?[ ]?")
_ESCAPED = re.compile(r"\\([&%$#_{}])")
_DOTLESS = {"\\i": "i", "\\j": "j", "ı": "i", "ȷ": "j"}
_ASIDE = {"{": "\ue000", "}": "\ue001", "$": "\ue002"}


def _accented(match: re.Match[str]) -> str:
    letter = match[2] if match[2] is not None else match[3]
    letter = _DOTLESS.get(letter, letter).lstrip("\\")
    if not letter:
        return ""
    return unicodedata.normalize("NFC", letter[0] + _COMBINING[match[1]] + letter[1:])


def _command(match: re.Match[str]) -> str:
    # Commands that only style their argument (\emph, \textit) are replaced by it.
    return _LETTERS.get(match[1], "" if match[0].endswith(match[1]) else " ")


def _escaped(match: re.Match[str]) -> str:
    # Protect escaped braces and dollars from the removal of bare ones.
    return _ASIDE.get(match[1], match[1])


def plain_text(text: str) -> str:
    r"""Return a BibTeX value without LaTeX mark-up.

    Examples
    --------
    >>> plain_text(r"{G}{\"o}del, Escher \& {\'{E}}tudes: 10\% of $\alpha$")
    'Gödel, Escher & Études: 10% of α'
    """
    # first, because the patterns below would backtrack over runs of white space
    text = " ".join(text.split())
    if "\\" in text:
        text = _SIGN_ACCENT.sub(_accented, text)
        text = _WORD_ACCENT.sub(_accented, text)
        text = _ESCAPED.sub(_escaped, text)
        text = text.replace("\\\\", " ").replace("\\-", "").replace("\\/", "")
        text = text.replace("\\,", " ").replace("\\;", " ").replace("\\ ", " ")
        text = _COMMAND.sub(_command, text)
    text = text.replace("{", "").replace("}", "").replace("$", "")
    text = text.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”")
    # A tie is a space; the sign itself comes as \textasciitilde or \~{}, handled above.
    text = text.replace("~", " ")
    if "\ue000" <= max(text, default="") <= "\uf8ff":
        for bare, aside in _ASIDE.items():
            text = text.replace(aside, bare)
    return decode_entities(" ".join(text.split()))
