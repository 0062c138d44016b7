"""The language of a document, as given by the source or identified by py3langid."""

from __future__ import annotations

import copy
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from citeweave.errors import ParameterError
from citeweave.naming import choice
from citeweave.reading.folding import fold

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LanguageFilter", "language_code"]

# Languages in which research is published. Latin and creoles are omitted on purpose:
# titles full of technical terms ("Fault-tolerant quantum computation") look like them.
_CANDIDATES = (  # noqa: SIM905 (more readable than a list)
    "ar bg bs ca cs da de el en es et eu fa fi fr gl he hi hr hu id is it ja ka kk ko lt lv mk ms "
    "nl nn no pl pt ro ru sk sl sq sr sv th tr uk ur uz vi zh"
).split()
_NAMES = {
    "arabic": "ar",
    "bulgarian": "bg",
    "bosnian": "bs",
    "catalan": "ca",
    "chinese": "zh",
    "croatian": "hr",
    "czech": "cs",
    "danish": "da",
    "dutch": "nl",
    "english": "en",
    "estonian": "et",
    "finnish": "fi",
    "french": "fr",
    "german": "de",
    "greek": "el",
    "hebrew": "he",
    "hungarian": "hu",
    "indonesian": "id",
    "italian": "it",
    "japanese": "ja",
    "korean": "ko",
    "lithuanian": "lt",
    "malay": "ms",
    "norwegian": "no",
    "persian": "fa",
    "polish": "pl",
    "portuguese": "pt",
    "romanian": "ro",
    "russian": "ru",
    "serbian": "sr",
    "slovak": "sk",
    "slovenian": "sl",
    "spanish": "es",
    "swedish": "sv",
    "thai": "th",
    "turkish": "tr",
    "ukrainian": "uk",
    "vietnamese": "vi",
}
# Three-letter codes, of both kinds if ISO 639 has two.
_THREE = {
    "ara": "ar",
    "chi": "zh",
    "zho": "zh",
    "cze": "cs",
    "ces": "cs",
    "dan": "da",
    "dut": "nl",
    "nld": "nl",
    "eng": "en",
    "fin": "fi",
    "fre": "fr",
    "fra": "fr",
    "ger": "de",
    "deu": "de",
    "gre": "el",
    "ell": "el",
    "heb": "he",
    "hun": "hu",
    "ita": "it",
    "jpn": "ja",
    "kor": "ko",
    "nor": "no",
    "per": "fa",
    "fas": "fa",
    "pol": "pl",
    "por": "pt",
    "rum": "ro",
    "ron": "ro",
    "rus": "ru",
    "spa": "es",
    "swe": "sv",
    "tur": "tr",
    "ukr": "uk",
}
_ENGLISH_WORDS = re.compile(r"\b(?:the|of|and|which|this)\b", re.IGNORECASE)
_SAMPLE = 400


def language_code(written: str | None) -> set[str]:
    """Return the two-letter codes of the languages in a language field.

    Examples
    --------
    >>> sorted(language_code("English; French")), language_code("eng"), language_code("en-GB")
    (['en', 'fr'], {'en'}, {'en'})
    """
    codes = set()
    for part in re.split(r"[;,/|]| and ", fold(written or "")):
        word = part.strip()
        short = re.split(r"[-_ ]", word)[0]
        code = _NAMES.get(word) or _NAMES.get(short) or _THREE.get(short)
        if code:
            codes.add(code)
        elif len(short) == 2 and short.isalpha():
            codes.add(short)
    return codes


class LanguageFilter:
    """Decide which documents are in the wanted language.

    The first 400 characters of title and abstract are examined. If they are in the wanted language,
    the document is kept, whatever language the source gives, because that may refer to the full
    text. Otherwise the language given by the source decides. A document without a given language is
    dropped only if another language is identified with a probability of at least 0.8; short texts
    are kept.

    Parameters
    ----------
    language
        Two-letter code of the language to keep; None keeps all languages.
    min_letters
        Shorter texts are kept without examination.
    """

    def __init__(self, language: str | None, *, min_letters: int = 100) -> None:
        self.language = language
        self.min_letters = min_letters
        self._classify: Callable[[str], tuple[str, float]] | None = None
        if language is not None and language not in _CANDIDATES and language not in _load().labels:
            raise ParameterError(
                f"The setting 'language' must be one of {', '.join(sorted(_load().labels))}, or "
                f"{choice('None', 'none')} to keep all languages. Got {language!r} instead."
            )

    def foreign(self, stated: str | None, text: str) -> str | None:
        """Return the language of a document that is to be dropped, or None to keep it."""
        if self.language is None:
            return None
        codes = _codes(stated)
        if self.language in codes:
            return None
        code, probability = self._judge(text)
        if codes:
            read_as_wanted = code == self.language and probability >= 0.8
            return None if read_as_wanted else min(codes)
        return code if code != self.language and probability >= 0.8 else None

    def _judge(self, text: str) -> tuple[str | None, float]:
        """Return the language of a text and its probability; None for a short text."""
        assert self.language is not None  # noqa: S101 (checked by the caller)
        if len(text) < self.min_letters:
            return None, 0.0
        sample = text[:_SAMPLE]
        # No other language has these words, and checking for four of them is cheaper than a
        # classifier.
        if self.language == "en" and len(_ENGLISH_WORDS.findall(sample)) >= 4:
            return "en", 1.0
        if self._classify is None:
            self._classify = _identifier(self.language).classify
        return self._classify(sample)


@lru_cache(maxsize=1000)
def _codes(written: str | None) -> frozenset[str]:
    """Return `language_code`, cached because the same few texts occur again and again."""
    return frozenset(language_code(written))


@cache
def _load() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 (slow import, 0.7 s)

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@cache
def _identifier(language: str) -> Any:
    identifier = copy.copy(_load())  # set_languages changes the object, not the shared arrays
    known = set(identifier.labels)
    identifier.set_languages(sorted(known.intersection(_CANDIDATES) | {language}))
    return identifier
