"""Case and accent folding, for comparing names and titles."""

import unicodedata

__all__ = ["fold"]

# Letters that Unicode does not decompose into a base letter and an accent.
_SPECIAL = str.maketrans(
    {
        "ß": "ss",
        "ẞ": "ss",
        "æ": "ae",
        "Æ": "ae",
        "œ": "oe",
        "Œ": "oe",
        "ø": "o",
        "Ø": "o",
        "ł": "l",
        "Ł": "l",
        "đ": "d",
        "Đ": "d",
        "ð": "d",
        "Ð": "d",
        "þ": "th",
        "Þ": "th",
        "ı": "i",
    }
)


def fold(text: str) -> str:
    """Return text in lower case without accents: ``Müller`` and ``MULLER`` give ``muller``.

    Examples
    --------
    >>> fold("Lukasz Łuczaj, Århus")
    'lukasz luczaj, arhus'
    """
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.translate(_SPECIAL))
    return "".join(c for c in plain if not unicodedata.combining(c)).lower()
