"""The settings of preparation: every step, its switch and its thresholds."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, get_origin, get_type_hints

from citeweave.errors import ParameterError
from citeweave.preparing.names import EXCLUSION_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["AuthorNames", "CategoryFrom", "Settings"]

AuthorNames = Literal["initials", "compatible", "full"]
CategoryFrom = Literal["category", "venue", "year", "none"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How records are turned into a corpus; the defaults follow the paper's section on data.

    Attributes
    ----------
    language : str or None
        Keep documents in this language (two letters); None keeps all.
    language_min_letters : int
        Documents with less text than this are kept without a look at their language.
    deduplicate : bool
        Merge records with one DOI, or one title, year and first author.
    author_names : {"initials", "compatible", "full"}
        "initials" is the paper's way: B. Lee is Bruce Lee and Brett Lee alike. "compatible"
        joins initials to a full name where only one fits and keeps Bruce and Brett apart;
        "full" takes names as they are written. An author id or ORCID wins over all three.
    exclusion_words, extra_exclusion_words : tuple of str
        An author's name with one of these words is dropped.
    author_thesaurus, word_thesaurus : str or None
        Files that replace names or terms, see `read_thesaurus`.
    category_from : {"category", "venue", "year", "none"}
        The field that becomes the document's category.
    match_titles, match_fuzzy, match_strings : bool
        Match references by title; by similar title; by author, year and journal alone.
    fuzzy_similarity : float
        Least similarity of two titles that count as one, from 0 to 1.
    year_tolerance : int
        Years by which a reference may miss its work's year.
    strip_urls, strip_markup, strip_copyright : bool
        Remove addresses, mark-up and formulas, publishers' copyright lines.
    join_keywords : bool
        Take keywords as part of the abstract.
    use_title, use_abstract : bool
        Take the words of titles, of abstracts.
    stop_words : str
        "auto" for the language's list, "none", or a file of words.
    academic_stop_words : bool
        With "auto", drop the words of writing papers too ("propose"); English only.
    extra_stop_words, keep_words : tuple of str
        Words to drop besides, words never to drop.
    min_word_length : int
        Shorter words are dropped.
    phrases : bool
        Make one token of significant phrases.
    phrase_words : int
        Longest phrase, 2 or 3 words.
    phrase_statistic : {"llr", "chi2"}
        Log-likelihood ratio or chi-square.
    phrase_min_score, phrase_min_strength : float
        Least statistic, least normalised mutual information, of a phrase.
    phrase_min_count : int or None
        Least occurrences; None takes the least count of a word.
    join_hyphens : bool
        Of "real-time" and "real time" read both as the one that the corpus prefers.
    max_document_share : float
        Drop words in more than this share of documents; 1 keeps all.
    max_document_floor : int
        ... but none that are in no more documents than this.
    min_word_count : int or None
        Drop words with fewer occurrences; None scales the paper's 50 down for small
        corpora: one for every 20,000 words of text, at least 2 (1 below 2,000 words).
    filter_bags : bool
        Filter the vocabulary of ready-made bags of words as well.
    keep_empty : bool
        Keep documents without a single word of the vocabulary.
    keep_abstracts : bool
        Store abstracts beside the corpus, for reading.
    """

    language: str | None = "en"
    language_min_letters: int = 100
    deduplicate: bool = True
    author_names: AuthorNames = "initials"
    exclusion_words: tuple[str, ...] = EXCLUSION_WORDS
    extra_exclusion_words: tuple[str, ...] = ()
    author_thesaurus: str | None = None
    word_thesaurus: str | None = None
    category_from: CategoryFrom = "category"
    match_titles: bool = True
    match_fuzzy: bool = True
    match_strings: bool = True
    fuzzy_similarity: float = field(default=0.92, metadata={"range": (0.5, 1.0)})
    year_tolerance: int = field(default=1, metadata={"range": (0, 10)})
    strip_urls: bool = True
    strip_markup: bool = True
    strip_copyright: bool = True
    join_keywords: bool = True
    use_title: bool = True
    use_abstract: bool = True
    stop_words: str = "auto"
    academic_stop_words: bool = True
    extra_stop_words: tuple[str, ...] = ()
    keep_words: tuple[str, ...] = ()
    min_word_length: int = field(default=2, metadata={"range": (1, 100)})
    phrases: bool = True
    phrase_words: int = field(default=3, metadata={"range": (2, 3)})
    phrase_statistic: Literal["llr", "chi2"] = "llr"
    phrase_min_score: float = field(default=30.0, metadata={"range": (0, None)})
    phrase_min_strength: float = field(default=0.25, metadata={"range": (-1.0, 1.0)})
    phrase_min_count: int | None = field(default=None, metadata={"range": (1, None)})
    join_hyphens: bool = True
    max_document_share: float = field(default=0.18, metadata={"range": (0.0, 1.0)})
    max_document_floor: int = field(default=10, metadata={"range": (0, None)})
    min_word_count: int | None = field(default=None, metadata={"range": (1, None)})
    filter_bags: bool = False
    keep_empty: bool = True
    keep_abstracts: bool = True

    def __post_init__(self) -> None:
        """Check the values."""
        hints = get_type_hints(type(self))
        for setting in fields(self):
            value = getattr(self, setting.name)
            if isinstance(value, list):
                value = tuple(value)
                object.__setattr__(self, setting.name, value)
            _check(setting.name, value, hints[setting.name], setting.metadata.get("range"))
        if self.language is not None and not (self.language.isalpha() and self.language.islower()):
            raise ParameterError(
                f"The setting 'language' must be a code in small letters such as \"en\", or None "
                f"to keep all languages. Got {self.language!r} instead."
            )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, where: str = "settings") -> Self:
        """Make settings of a mapping; what it leaves out keeps its default."""
        known = [setting.name for setting in fields(cls)]
        for name in values:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"Did you mean {near[0]!r}?" if near else f"Known are {', '.join(known)}."
                raise ParameterError(f"Unknown setting {name!r} in {where}. {hint}")
        return cls(**values)

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Read settings from a TOML file, from its table ``[prepare]`` or from its top.

        TOML knows no null: write ``language = "none"`` to keep all languages. Files that
        settings name are looked for beside the TOML file.
        """
        path = Path(path)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ParameterError(f"The settings {str(path)!r} cannot be read: {error}.") from error
        values = content.get("prepare", content)
        if not isinstance(values, dict):
            raise ParameterError(
                f"'prepare' in {str(path)!r} must be a table of settings. Got {values!r} instead."
            )
        values = dict(values)
        if values.get("language") == "none":
            values["language"] = None
        for name in ("author_thesaurus", "word_thesaurus", "stop_words"):
            named = values.get(name)
            if isinstance(named, str) and named not in {"auto", "none"}:
                values[name] = str(path.parent / named)
        return cls.from_dict(values, where=str(path))

    def as_dict(self) -> dict[str, Any]:
        """Give the settings as JSON can hold them; `from_dict` takes them back."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


def _check(name: str, value: Any, hint: Any, bounds: tuple[Any, Any] | None) -> None:
    options = get_args(hint)
    if get_origin(hint) is Literal:
        if value not in options:
            allowed = ", ".join(f'"{option}"' for option in options)
            raise ParameterError(
                f"The setting {name!r} must be one of {allowed}. Got {value!r} instead."
            )
        return
    if get_origin(hint) is tuple:
        if not isinstance(value, tuple) or not all(isinstance(word, str) for word in value):
            raise ParameterError(f"The setting {name!r} must be a list of words. Got {value!r}.")
        return
    optional = type(None) in options
    if optional and value is None:
        return
    kind = next(option for option in options if option is not type(None)) if optional else hint
    accepted: tuple[type, ...] = (int, float) if kind is float else (kind,)
    # A bool is an int to Python, but nobody means one by the other.
    if not isinstance(value, accepted) or (kind is not bool and isinstance(value, bool)):
        raise ParameterError(
            f"The setting {name!r} must be of type {kind.__name__}"
            f"{' or None' if optional else ''}. Got {value!r} instead."
        )
    if bounds is None:
        return
    low, high = bounds
    # Written so that nan fails.
    if not (value >= low and (high is None or value <= high)):
        limit = f"from {low} to {high}" if high is not None else f"at least {low}"
        raise ParameterError(f"The setting {name!r} must be {limit}. Got {value!r} instead.")
