"""The few settings that most people want, as forms: what is asked, and what the answers mean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.parameters import Rule, integer, true_or_false
from citeweave.parameters.preparation import SETTINGS, read_words
from citeweave.parameters.scntm import PARAMETERS

__all__ = ["FIT_FIELDS", "IMPORT_FIELDS", "Field", "fit_fields", "fit_parameters", "read_fields"]

Kind = Literal["whole", "number", "words", "choice", "switch"]

AUTO = "auto"
MINUTES = 20


@dataclass(frozen=True)
class Field:
    """One question of a form.

    Attributes
    ----------
    name : str
        Of the setting.
    label, hint : str
        What people read.
    kind : str
        How it is asked.
    default
        Its value unless the user says otherwise; None is an empty field.
    rule : Rule
        Values that it may have.
    choices : sequence of (str, str)
        Values and their names.
    advanced : bool
        Whether it is folded away.
    factor : float
        Of numbers: what is asked, divided by what is meant; 100 for percentages.
    """

    name: str
    label: str
    hint: str
    kind: Kind
    default: Any
    rule: Rule
    choices: Sequence[tuple[str, str]] = ()
    advanced: bool = False
    factor: float = 1.0

    def show(self, value: Any) -> str:
        """Write a value as its field holds it."""
        if value is None:
            return "none" if self.kind == "choice" else ""
        if self.kind == "words":
            return ", ".join(value)
        if self.kind == "number":
            return f"{value * self.factor:g}"
        return str(value)

    def read(self, text: str | None) -> Any:
        """Read what was typed; a switch that is off is not sent at all.

        Raises
        ------
        ParameterError
            It is nothing that the setting can be.
        """
        value = self._value("" if text is None else text.strip())
        if not self.rule.accepts(value):
            raise ParameterError(
                f"{self.label}: that must be {self.rule.values}. Got {text!r} instead."
            )
        return value

    def _value(self, text: str) -> Any:
        if self.kind == "switch":
            return text == "on"
        if self.kind == "words":
            return read_words([text])
        if self.kind == "choice":
            known = [value for value, _ in self.choices]
            if text not in known:
                raise ParameterError(f"{self.label}: choose one of the list.")
            return None if text == "none" and self.rule.none else text
        if not text:
            return None
        kind: Callable[[str], float] = int if self.kind == "whole" else float
        try:
            typed = kind(text.replace(",", ".") if self.kind == "number" else text)
        except ValueError:
            raise ParameterError(
                f"{self.label}: a number is expected. Got {text[:40]!r} instead."
            ) from None
        return typed / self.factor if self.factor != 1.0 else typed


def _setting(name: str, label: str, hint: str, kind: Kind, **more: Any) -> Field:
    """Ask for a setting of the import, with the default and the rule that it has everywhere."""
    setting = SETTINGS[name]
    return Field(name, label, hint, kind, setting.default, setting.rule, **more)


IMPORT_FIELDS: tuple[Field, ...] = (
    _setting(
        "language",
        "Language",
        "Papers in other languages are left out.",
        "choice",
        choices=(
            ("en", "English"),
            ("de", "German"),
            ("es", "Spanish"),
            ("fr", "French"),
            ("it", "Italian"),
            ("nl", "Dutch"),
            ("pt", "Portuguese"),
            ("none", "all languages"),
        ),
    ),
    _setting(
        "author_names",
        "When are two names one author?",
        "Names are written in many ways, and many people share a name.",
        "choice",
        choices=(
            ("evidence", "by evidence: co-authors, institutions, words, citations"),
            ("compatible", "when the full names fit"),
            ("initials", "when surname and first initial agree"),
            ("full", "only when written the same"),
        ),
    ),
    _setting(
        "category_from",
        "Label of a paper",
        "Where the label of each paper comes from, if you want labels.",
        "choice",
        choices=(
            ("category", "the category in the files"),
            ("venue", "the journal or conference"),
            ("year", "the year"),
            ("none", "no labels"),
        ),
    ),
    _setting(
        "min_word_count",
        "Least occurrences of a word",
        "Rarer words are left out. Empty: a number that suits the size of the corpus.",
        "whole",
    ),
    _setting(
        "max_document_share",
        "Most papers with a word, in %",
        "Words in a larger share of the papers say nothing about topics and are left out.",
        "number",
        factor=100.0,
    ),
    _setting(
        "extra_stop_words",
        "Words to leave out",
        "With commas between them.",
        "words",
    ),
    _setting(
        "keep_words",
        "Words to keep",
        "Never left out, however frequent. With commas between them.",
        "words",
    ),
    _setting("phrases", "Find phrases", "“climate change” is one term.", "switch", advanced=True),
    _setting("use_abstract", "Use abstracts", "Not titles alone.", "switch", advanced=True),
    _setting("join_keywords", "Use keywords", "As part of the text.", "switch", advanced=True),
    _setting(
        "deduplicate", "Merge duplicates", "One record for each paper.", "switch", advanced=True
    ),
    _setting(
        "match_fuzzy",
        "Match references by similar titles",
        "Besides identifiers and equal titles.",
        "switch",
        advanced=True,
    ),
    _setting(
        "keep_empty",
        "Keep papers without words",
        "Papers of which no word is left.",
        "switch",
        advanced=True,
    ),
)

_TOPICS = PARAMETERS["topics"]
_CHAINS = integer(1, 8)
_ITERATIONS = integer(20, 1_000_000)

FIT_FIELDS: tuple[Field, ...] = (
    Field(
        "topics",
        "Topics, at most",
        "Fewer may turn out to be in use. 20 is a good start; a large literature may hold 50.",
        "whole",
        _TOPICS.default,
        _TOPICS.rule,
    ),
    Field(
        "automatic",
        "Find the number of topics for me",
        "Tries 10, 20, 40, 80 and 160 first, which takes several times longer.",
        "switch",
        False,
        true_or_false(),
    ),
    Field(
        "minutes",
        "Minutes, at most",
        "The fit ends sooner when its chains agree. Empty: no limit.",
        "number",
        MINUTES,
        PARAMETERS["minutes"].rule,
    ),
    Field(
        "citations",
        "Use citations",
        "Papers that cite each other are likely to share topics; also tells who is influential.",
        "switch",
        True,
        true_or_false(),
    ),
    Field(
        "groups",
        "A paper takes after",
        "What papers inherit their topics from.",
        "choice",
        "author",
        Rule("one of the list", lambda value: value in {"author", "label"}),
        choices=(("author", "its first author"), ("label", "its label")),
    ),
    Field(
        "chains",
        "Chains",
        "Independent repetitions. Two or more show whether the result can be trusted.",
        "whole",
        PARAMETERS["chains"].default,
        _CHAINS,
        advanced=True,
    ),
    Field(
        "iterations",
        "Iterations, at most",
        "Steps of each chain.",
        "whole",
        PARAMETERS["iterations"].default,
        _ITERATIONS,
        advanced=True,
    ),
    Field(
        "exactly",
        "Make all iterations",
        "Even when the chains agree sooner; minutes do not count then.",
        "switch",
        False,
        true_or_false(),
        advanced=True,
    ),
    Field(
        "threads",
        "Cores",
        "Of this computer, used at the same time. Empty: all of them.",
        "whole",
        None,
        PARAMETERS["threads"].rule,
        advanced=True,
    ),
    Field(
        "seed",
        "Seed",
        "The same number gives the same result. Empty: a fresh one.",
        "whole",
        None,
        PARAMETERS["seed"].rule,
        advanced=True,
    ),
)


def fit_fields(corpus: Corpus) -> tuple[Field, ...]:
    """Choose the questions that make sense for a corpus."""
    left_out = set()
    if not corpus.n_citations:
        left_out.add("citations")
    if not (corpus.n_categories and corpus.n_authors):
        left_out.add("groups")
    return tuple(field for field in FIT_FIELDS if field.name not in left_out)


def read_fields(fields: Sequence[Field], form: Mapping[str, str]) -> dict[str, Any]:
    """Read all fields of a form.

    Examples
    --------
    >>> form = {"topics": "12", "minutes": "", "chains": "2", "iterations": "500"}
    >>> kept = [field for field in FIT_FIELDS if field.name in form]
    >>> read_fields(kept, form)
    {'topics': 12, 'minutes': None, 'chains': 2, 'iterations': 500}
    """
    return {field.name: field.read(form.get(field.name)) for field in fields}


def fit_parameters(values: Mapping[str, Any], corpus: Corpus) -> dict[str, Any]:
    """Turn the answers of the form of a fit into parameters of `SCNTM`, as JSON can hold them."""
    by_label = values.get("groups") == "label" or (corpus.n_categories and not corpus.n_authors)
    cites = values.get("citations", bool(corpus.n_citations))
    return {
        "topics": AUTO if values["automatic"] else values["topics"],
        "minutes": None if values["exactly"] else values["minutes"],
        "model": "scntm" if cites else "cntm-text",
        "eta": "inf" if by_label else 0,
        "chains": values["chains"],
        "iterations": values["iterations"],
        "exactly": values["exactly"],
        "threads": values["threads"],
        "seed": values["seed"],
    }
