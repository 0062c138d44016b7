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
    """How records are turned into a corpus; the defaults are the paper's but for names."""

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
        "Documents with less text than this are kept without a look at their language.",
    )
    deduplicate: bool = parameter(
        True, _SWITCH, "Merge records with one DOI, or one title and first author in one year."
    )
    keep_apart: tuple[str, ...] = parameter(
        (),
        _WORDS,
        "Id of a record that is merged with no other. May be given again.",
        "Ids of records that are merged with no other; the report lists what was.",
    )
    join: tuple[tuple[str, ...], ...] = parameter(
        (),
        list_of_groups(),
        "Records of one work, as ID=ID. May be given again.",
        "Ids of records that are one work, a list for each: they are merged, whatever else says "
        "that they differ.",
        read=read_groups,
    )
    author_names: AuthorNames = parameter(
        "evidence",
        one_of("evidence", "initials", "compatible", "full"),
        "When two names are one author: evidence, initials, compatible or full.",
        "``evidence`` joins names that can be one person's and tells people of one name apart by "
        "co-authors, institutions, words, citations, venues and years. ``initials`` is the paper's "
        "way: B. Lee is Bruce Lee and Brett Lee alike. ``compatible`` joins initials to a full "
        "name where only one fits and keeps Bruce and Brett apart; ``full`` takes names as they "
        "are written. An author id or ORCID wins over all of them.",
        option="--names",
        read=str,
    )
    exclusion_words: tuple[str, ...] = parameter(
        EXCLUSION_WORDS,
        _WORDS,
        "An author's name with one of these words is dropped.",
        shown="the paper's list",
    )
    extra_exclusion_words: tuple[str, ...] = parameter((), _WORDS, "Further words of that kind.")
    author_thesaurus: str | None = parameter(
        None, _THESAURUS, "File that replaces names, see `read_thesaurus`."
    )
    people: str | None = parameter(
        None,
        _THESAURUS,
        "File of corrections: which names, in which papers, are one person's.",
        "File that says which names, in which papers, are whose (docs/how-to/people.md). It goes "
        "over names, evidence and identifiers.",
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
        True, _SWITCH, "Match references by author, year and journal alone."
    )
    fuzzy_similarity: float = parameter(
        0.92, number(0.5, 1), "Least similarity of two titles that count as one."
    )
    year_tolerance: int = parameter(
        1, integer(0, 10), "Years by which a reference may miss its work's year."
    )
    strip_urls: bool = parameter(True, _SWITCH, "Remove addresses.")
    strip_markup: bool = parameter(True, _SWITCH, "Remove mark-up and formulas.")
    strip_copyright: bool = parameter(True, _SWITCH, "Remove publishers' copyright lines.")
    join_keywords: bool = parameter(True, _SWITCH, "Take keywords as part of the abstract.")
    use_title: bool = parameter(True, _SWITCH, "Take the words of titles.")
    use_abstract: bool = parameter(True, _SWITCH, "Take the words of abstracts.")
    stop_words: str = parameter(
        "auto",
        text("'auto', 'none' or the name of a file of words"),
        "Words to drop: the language's list (auto), none, or those of a file.",
    )
    academic_stop_words: bool = parameter(
        True,
        _SWITCH,
        'With ``stop_words="auto"``, drop the words of writing papers too ("propose"); English '
        "only.",
    )
    extra_stop_words: tuple[str, ...] = parameter((), _WORDS, "Further words to drop.")
    keep_words: tuple[str, ...] = parameter(
        (),
        _WORDS,
        "Words never to drop, with commas between them.",
        "Words never to drop.",
        read=read_words,
    )
    min_word_length: int = parameter(2, integer(1, 100), "Shorter words are dropped.")
    phrases: bool = parameter(True, _SWITCH, "Make one token of significant phrases.")
    phrase_words: int = parameter(3, integer(2, 3), "Longest phrase, in words.")
    phrase_statistic: Literal["llr", "chi2"] = parameter(
        "llr",
        one_of("llr", "chi2"),
        "Log-likelihood ratio or chi-square.",
        read=str,
    )
    phrase_min_score: float = parameter(30.0, number(0), "Least statistic of a phrase.")
    phrase_min_strength: float = parameter(
        0.25, number(-1, 1), "Least normalised mutual information of a phrase."
    )
    phrase_min_count: int | None = parameter(
        None, integer(1, none="the least count of a word"), "Least occurrences of a phrase."
    )
    join_hyphens: bool = parameter(
        True,
        _SWITCH,
        'Of "real-time" and "real time" read both as the one that the corpus prefers.',
    )
    max_document_share: float = parameter(
        0.18, number(0, 1), "Drop words in more than this share of documents; 1 keeps all."
    )
    max_document_floor: int = parameter(
        10, integer(0), "Keep words in no more documents than this, whatever their share."
    )
    min_word_count: int | None = parameter(
        None,
        integer(1, none="a number that the size of the corpus gives"),
        "Drop words with fewer occurrences.",
        "Drop words with fewer occurrences. None scales the paper's 50 down for small corpora: one "
        "for every 20,000 words of text, at least 2 (1 below 2,000 words).",
    )
    filter_bags: bool = parameter(
        False, _SWITCH, "Filter the vocabulary of ready-made bags of words as well."
    )
    keep_empty: bool = parameter(
        True, _SWITCH, "Keep documents without a single word of the vocabulary."
    )
    keep_abstracts: bool = parameter(
        True, _SWITCH, "Store abstracts beside the corpus, for reading."
    )


SETTINGS = table_of(PreparationSettings)
"""The settings of preparation by name."""
