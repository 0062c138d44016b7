"""The most common settings as forms: the fields, and how their values are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.parameters import Rule, integer, true_or_false
from citeweave.parameters.preparation import SETTINGS, read_words
from citeweave.parameters.scntm import CHAINS, ITERATIONS, PARAMETERS

__all__ = ["FIT_FIELDS", "IMPORT_FIELDS", "Field", "fit_fields", "fit_parameters", "read_fields"]

Kind = Literal["whole", "number", "words", "choice", "switch"]

AUTO = "auto"
MINUTES = 20


@dataclass(frozen=True)
class Field:
    """One field of a form.

    Attributes
    ----------
    name : str
        Name of the setting.
    label, hint : str
        Text shown to the user.
    kind : str
        Type of input.
    default
        Value if the user does not change it; None is an empty field.
    rule : Rule
        Allowed values.
    choices : sequence of (str, str)
        Values and their descriptions.
    advanced : bool
        Whether it is shown under "More settings".
    factor : float
        For numbers: the displayed value divided by the stored value; 100 for percentages.
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
        """Format a value for its form field."""
        if value is None:
            return "none" if self.kind == "choice" else ""
        if self.kind == "words":
            return ", ".join(value)
        if self.kind == "number":
            return f"{value * self.factor:g}"
        return str(value)

    def read(self, text: str | None) -> Any:
        """Parse the submitted text; a switch that is off is not sent at all.

        Raises
        ------
        ParameterError
            The text is not a valid value for the setting.
        """
        value = self._value("" if text is None else text.strip())
        if not self.rule.accepts(value):
            raise ParameterError(
                f"{self.label}: the value must be {self.rule.values}. Got {text!r} instead."
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
                raise ParameterError(f"{self.label}: choose one of the listed values.")
            return None if text == "none" and self.rule.none else text
        if not text:
            return None
        kind: Callable[[str], float] = int if self.kind == "whole" else float
        try:
            typed = kind(text.replace(",", ".") if self.kind == "number" else text)
        except ValueError:
            raise ParameterError(
                f"{self.label}: the value must be a number. Got {text[:40]!r} instead."
            ) from None
        return typed / self.factor if self.factor != 1.0 else typed


def _setting(name: str, label: str, hint: str, kind: Kind, **more: Any) -> Field:
    """Create the field of an import setting, with its usual default and rule."""
    setting = SETTINGS[name]
    return Field(name, label, hint, kind, setting.default, setting.rule, **more)


IMPORT_FIELDS: tuple[Field, ...] = (
    _setting(
        "language",
        "Language",
        "Papers in other languages are dropped.",
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
        "When do two names mean the same author?",
        "A name can be written in many ways, and many people share a name.",
        "choice",
        choices=(
            ("evidence", "by evidence: co-authors, institutions, words, citations"),
            ("compatible", "when the full names are compatible"),
            ("initials", "when surname and first initial agree"),
            ("full", "only when written the same"),
        ),
    ),
    _setting(
        "category_from",
        "Label of a paper",
        "Where to take the label of each paper from, if you want labels.",
        "choice",
        choices=(
            ("category", "the category given in the files"),
            ("venue", "the journal or conference"),
            ("year", "the year"),
            ("none", "no labels"),
        ),
    ),
    _setting(
        "min_word_count",
        "Minimum occurrences of a word",
        "Rarer words are dropped. Empty: chosen by the size of the corpus.",
        "whole",
    ),
    _setting(
        "max_document_share",
        "Maximum share of papers with a word, in %",
        "Words that occur in more papers say little about topics and are dropped.",
        "number",
        factor=100.0,
    ),
    _setting(
        "extra_stop_words",
        "Words to drop",
        "Separated by commas.",
        "words",
    ),
    _setting(
        "keep_words",
        "Words to keep",
        "Never dropped, however frequent. Separated by commas.",
        "words",
    ),
    _setting(
        "phrases",
        "Find phrases",
        "For example, “climate change” becomes one term.",
        "switch",
        advanced=True,
    ),
    _setting("use_abstract", "Use abstracts", "In addition to titles.", "switch", advanced=True),
    _setting("join_keywords", "Use keywords", "Add keywords to the text.", "switch", advanced=True),
    _setting(
        "deduplicate", "Merge duplicates", "Keep one record per paper.", "switch", advanced=True
    ),
    _setting(
        "match_fuzzy",
        "Match references by similar titles",
        "In addition to identifiers and identical titles.",
        "switch",
        advanced=True,
    ),
    _setting(
        "keep_empty",
        "Keep papers without words",
        "Papers that have no words left after preparation.",
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
        "Maximum number of topics",
        "The model may use fewer. 20 is a good start; a large literature may have 50.",
        "whole",
        _TOPICS.default,
        _TOPICS.rule,
    ),
    Field(
        "automatic",
        "Find the number of topics for me",
        "First tries 10, 20, 40, 80 and 160, which takes several times longer.",
        "switch",
        False,
        true_or_false(),
    ),
    Field(
        "minutes",
        "Maximum minutes",
        "The fit ends earlier if its chains agree. Empty: no limit.",
        "number",
        MINUTES,
        PARAMETERS["minutes"].rule,
    ),
    Field(
        "citations",
        "Use citations",
        "Papers that cite each other tend to share topics. Also estimates influence.",
        "switch",
        True,
        true_or_false(),
    ),
    Field(
        "groups",
        "Papers take their topics from",
        "The level from which papers inherit their topics.",
        "choice",
        "author",
        Rule("one of the listed values", lambda value: value in {"author", "label"}),
        choices=(("author", "its first author"), ("label", "its label")),
    ),
    Field(
        "chains",
        "Chains",
        "Independent runs. With two or more you can see whether the result is reliable.",
        "whole",
        CHAINS,
        _CHAINS,
        advanced=True,
    ),
    Field(
        "iterations",
        "Maximum iterations",
        "Per chain.",
        "whole",
        ITERATIONS,
        _ITERATIONS,
        advanced=True,
    ),
    Field(
        "exactly",
        "Run all iterations",
        "Even if the chains agree earlier; the limit in minutes is then ignored.",
        "switch",
        False,
        true_or_false(),
        advanced=True,
    ),
    Field(
        "threads",
        "Cores",
        "Number of processor cores to use. Empty: all.",
        "whole",
        None,
        PARAMETERS["threads"].rule,
        advanced=True,
    ),
    Field(
        "seed",
        "Seed",
        "The same number gives the same result. Empty: random.",
        "whole",
        None,
        PARAMETERS["seed"].rule,
        advanced=True,
    ),
)


def fit_fields(corpus: Corpus) -> tuple[Field, ...]:
    """Return the fields that apply to a corpus."""
    left_out = set()
    if not corpus.n_citations:
        left_out.add("citations")
    if not (corpus.n_categories and corpus.n_authors):
        left_out.add("groups")
    return tuple(field for field in FIT_FIELDS if field.name not in left_out)


def read_fields(fields: Sequence[Field], form: Mapping[str, str]) -> dict[str, Any]:
    """Parse all fields of a form.

    Examples
    --------
    >>> form = {"topics": "12", "minutes": "", "chains": "2", "iterations": "500"}
    >>> kept = [field for field in FIT_FIELDS if field.name in form]
    >>> read_fields(kept, form)
    {'topics': 12, 'minutes': None, 'chains': 2, 'iterations': 500}
    """
    return {field.name: field.read(form.get(field.name)) for field in fields}


def fit_parameters(values: Mapping[str, Any], corpus: Corpus) -> dict[str, Any]:
    """Convert the values of the fit form to JSON-serialisable parameters of `SCNTM`."""
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
