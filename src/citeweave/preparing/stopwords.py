"""Stop words: a maintained list per language, adapted to research literature."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

import stopwordsiso

from citeweave.errors import ParameterError
from citeweave.naming import choice

__all__ = ["academic_words", "read_word_list", "stop_words", "term_words"]


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, from the package `stopwordsiso`.

    The English list is meant for web search and contains words such as "computer" and "ring"; those
    listed in ``data/content_words_en.txt`` are removed from it.

    Parameters
    ----------
    language
        Two-letter code, such as "en".

    Raises
    ------
    ParameterError
        There is no list for the language.
    """
    if not stopwordsiso.has_lang(language):
        known = ", ".join(sorted(stopwordsiso.langs()))
        raise ParameterError(
            f"There are no stop words for the language {language!r}. Available: {known}. Give "
            "a file with your own list in the setting 'stop_words', or set it to 'none'"
            f"{choice('', ' (in the file of --config)')}."
        )
    words = {word.lower() for word in stopwordsiso.stopwords(language)}
    if language == "en":
        words -= _data("content_words_en.txt")
    return frozenset(words)


def academic_words(language: str) -> frozenset[str]:
    """Return words of academic boilerplate ("paper", "we propose"); only English has a list."""
    return _data("academic_words_en.txt") if language == "en" else frozenset()


def term_words(language: str) -> frozenset[str]:
    """Return stop words that may start terms ("question answering"); only English has a list."""
    return _data("term_words_en.txt") if language == "en" else frozenset()


def read_word_list(path: str | Path) -> frozenset[str]:
    """Read a user's file of words, separated by white space; ``#`` starts a comment."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(
            f"The stop word file {str(path)!r} cannot be read as UTF-8 text: {error}."
        ) from error
    return _words(text)


@cache
def _data(name: str) -> frozenset[str]:
    return _words((resources.files("citeweave.preparing") / "data" / name).read_text("utf-8"))


def _words(text: str) -> frozenset[str]:
    lines = (line.partition("#")[0] for line in text.splitlines())
    return frozenset(word for line in lines for word in line.lower().split())
