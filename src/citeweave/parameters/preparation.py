"""The settings of preparation, each in one place: every step, its switch and its thresholds."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from citeweave.errors import ParameterError
from citeweave.parameters.declaring import parameter, table_of
from citeweave.parameters.rules import (
    Rule,
    integer,
    list_of_groups,
    list_of_words,
    number,
    one_of,
    text,
    true_or_false,
)

__all__ = [
    "EXCLUSION_WORDS",
    "SETTINGS",
    "AuthorNames",
    "CategoryFrom",
    "PreparationSettings",
    "read_groups",
    "read_language",
    "read_words",
]

AuthorNames = Literal["evidence", "initials", "compatible", "full"]
CategoryFrom = Literal["category", "venue", "year", "none"]

EXCLUSION_WORDS: tuple[str, ...] = (
    "society",
    "university",
    "universität",
    "universitat",
    "author",
    "advisor",
    "acknowledgement",
    "video",
    "mathematik",
    "abstract",
    "industrial",
    "review",
    "example",
    "department",
    "information",
    "enterprises",
    "informatik",
    "laboratory",
    "introduction",
    "encyclopedia",
    "algorithm",
    "section",
    "available",
)
"""The paper's list (appendix:exclusion_words); a name with one of these words is no author."""


def read_language(value: Any) -> Any:
    """Read a language where there is no None: "none" stands for it."""
    return None if value == "none" else value


def read_groups(texts: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Read ids of records with marks of equality between them.

    Examples
    --------
    >>> read_groups(["WOS:0012 = 10.1000/182", "a=b=c"])
    (('WOS:0012', '10.1000/182'), ('a', 'b', 'c'))
    """
    groups = []
    for typed in texts:
        ids = tuple(part.strip() for part in typed.split("="))
        if len(ids) < 2 or not all(ids):
            raise ParameterError(
                f"--join must be written ID=ID, the ids of records of one work. Got {typed!r} "
                "instead. Ids that hold such a mark can be given in the file of --config: "
                'join = [["ID", "ID"]].'
            )
        groups.append(ids)
    return tuple(groups)


def read_words(texts: Iterable[str]) -> tuple[str, ...]:
    """Read words or phrases with commas between them.

    Examples
    --------
    >>> read_words(["restoration, support vector machine", "forest"])
    ('restoration', 'support vector machine', 'forest')
    """
    return tuple(word.strip() for typed in texts for word in typed.split(",") if word.strip())


def _is_language(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.isalpha() and value.islower())


_SWITCH = true_or_false()
_WORDS = list_of_words()
_THESAURUS = text("the name of a file", none="none")


@dataclass(frozen=True, kw_only=True)
class PreparationSettings:
    """How records become a corpus; defaults are those of the original paper, except for names."""

    language: str | None = parameter(
        "en",
        Rule('a code in small letters such as "en"', _is_language, none="all languages"),
        "Keep papers in this language: en, de, ...; none keeps all.",
        "Keep documents in this language (two letters); None keeps all.",
        read=read_language,
    )
    language_min_letters: int = parameter(
        100,
        integer(0),
        "Documents with fewer letters than this are kept without checking their language.",
    )
    deduplicate: bool = parameter(
        True, _SWITCH, "Merge records with the same DOI, or the same title, first author and year."
    )
    keep_apart: tuple[str, ...] = parameter(
        (),
        _WORDS,
        "Id of a record that must not be merged with any other; may be repeated.",
        "Ids of records that must not be merged with any other; the report lists what was merged.",
    )
    join: tuple[tuple[str, ...], ...] = parameter(
        (),
        list_of_groups(),
        "Ids of two records of the same work, which are merged, as ID=ID; may be repeated.",
        "Ids of records that are the same work, one list per work; they are merged even if they "
        "differ otherwise.",
        read=read_groups,
    )
    author_names: AuthorNames = parameter(
        "evidence",
        one_of("evidence", "initials", "compatible", "full"),
        "How author names are matched: evidence, initials, compatible or full.",
        "``evidence`` joins names that can belong to one person, and distinguishes people of "
        "the same name by co-authors, institutions, words, citations, venues and years. "
        "``initials`` is the method of the original paper: B. Lee, Bruce Lee and Brett Lee are "
        "one author. ``compatible`` joins initials to a full name if only one fits, and keeps "
        "Bruce and Brett apart; ``full`` takes names as they are written. An author id or ORCID "
        "takes precedence over all of these.",
        option="--names",
        read=str,
    )
    exclusion_words: tuple[str, ...] = parameter(
        EXCLUSION_WORDS,
        _WORDS,
        "Author names that contain one of these words are dropped.",
        shown="the paper's list",
    )
    extra_exclusion_words: tuple[str, ...] = parameter((), _WORDS, "Further words of that kind.")
    author_thesaurus: str | None = parameter(
        None, _THESAURUS, "File that replaces names, see `read_thesaurus`."
    )
    people: str | None = parameter(
        None,
        _THESAURUS,
        "File of corrections: which names, in which papers, belong to one person.",
        "File of corrections that says which names, in which papers, belong to whom "
        "(docs/how-to/people.md). It takes precedence over names, evidence and identifiers.",
        read=str,
    )
    word_thesaurus: str | None = parameter(
        None, _THESAURUS, "File that replaces terms, see `read_thesaurus`."
    )
    category_from: CategoryFrom = parameter(
        "category",
        one_of("category", "venue", "year", "none"),
        "The field that becomes the document's category.",
        read=str,
    )
    match_titles: bool = parameter(True, _SWITCH, "Match references by title.")
    match_fuzzy: bool = parameter(True, _SWITCH, "Match references by similar title.")
    match_strings: bool = parameter(
        True, _SWITCH, "Match references by author, year and journal only."
    )
    fuzzy_similarity: float = parameter(
        0.92, number(0.5, 1), "Minimum similarity of two titles for a match."
    )
    year_tolerance: int = parameter(
        1,
        integer(0, 10),
        "Maximum difference between the year of a reference and that of the work.",
    )
    strip_urls: bool = parameter(True, _SWITCH, "Remove URLs.")
    strip_markup: bool = parameter(True, _SWITCH, "Remove markup and formulas.")
    strip_copyright: bool = parameter(True, _SWITCH, "Remove publishers' copyright lines.")
    join_keywords: bool = parameter(True, _SWITCH, "Treat keywords as part of the abstract.")
    use_title: bool = parameter(True, _SWITCH, "Use the words of titles.")
    use_abstract: bool = parameter(True, _SWITCH, "Use the words of abstracts.")
    stop_words: str = parameter(
        "auto",
        text("'auto', 'none' or the name of a file of words"),
        "Stop words: the list of the language (auto), none, or the words in a file.",
    )
    academic_stop_words: bool = parameter(
        True,
        _SWITCH,
        'With ``stop_words="auto"``, also drop words common in academic writing ("propose"); '
        "English only.",
    )
    extra_stop_words: tuple[str, ...] = parameter((), _WORDS, "Further words to drop.")
    keep_words: tuple[str, ...] = parameter(
        (),
        _WORDS,
        "Words that are always kept, separated by commas.",
        "Words that are always kept.",
        read=read_words,
    )
    min_word_length: int = parameter(
        2, integer(1, 100), "Minimum length of a word; shorter ones are dropped."
    )
    phrases: bool = parameter(True, _SWITCH, "Join significant phrases into one token.")
    phrase_words: int = parameter(3, integer(2, 3), "Longest phrase, in words.")
    phrase_statistic: Literal["llr", "chi2"] = parameter(
        "llr",
        one_of("llr", "chi2"),
        "Statistic by which phrases are found: log-likelihood ratio or chi-square.",
        read=str,
    )
    phrase_min_score: float = parameter(
        30.0, number(0), "Minimum value of the statistic for a phrase."
    )
    phrase_min_strength: float = parameter(
        0.25, number(-1, 1), "Minimum normalised mutual information of a phrase."
    )
    phrase_min_count: int | None = parameter(
        None,
        integer(1, none="the minimum count of a word"),
        "Minimum number of occurrences of a phrase.",
    )
    join_hyphens: bool = parameter(
        True,
        _SWITCH,
        'Unify "real-time" and "real time" to the form that is more common in the corpus.',
    )
    max_document_share: float = parameter(
        0.18, number(0, 1), "Drop words in more than this share of documents; 1 keeps all."
    )
    max_document_floor: int = parameter(
        10, integer(0), "Words in at most this many documents are kept, whatever their share."
    )
    min_word_count: int | None = parameter(
        None,
        integer(1, none="chosen by corpus size"),
        "Drop words with fewer occurrences.",
        "Drop words with fewer occurrences. None scales the paper's 50 down for small corpora: "
        "1 per 20,000 words of text, at least 2 (1 below 2,000 words).",
    )
    filter_bags: bool = parameter(
        False, _SWITCH, "Filter the vocabulary of ready-made bags of words as well."
    )
    keep_empty: bool = parameter(
        True, _SWITCH, "Keep documents without any word of the vocabulary."
    )
    keep_abstracts: bool = parameter(True, _SWITCH, "Store abstracts with the corpus, for display.")


SETTINGS = table_of(PreparationSettings)
"""The settings of preparation by name."""
