"""Rules for the values of parameters: in words, for errors and tables, and as a test."""

import math
import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

from citeweave.errors import ParameterError
from citeweave.naming import on_command_line

__all__ = [
    "Rule",
    "integer",
    "list_of_groups",
    "list_of_words",
    "number",
    "one_of",
    "pair",
    "refusal",
    "text",
    "true_or_false",
]


class Rule(NamedTuple):
    """The values that a parameter may have.

    Examples
    --------
    >>> rule = integer(1, none="a fresh one")
    >>> rule.wanted
    'an integer of at least 1, or None for a fresh one'
    >>> rule.accepts(3), rule.accepts(True), rule.accepts(None)
    (True, False, True)
    """

    values: str
    """These values in words, without None."""
    accepts: Callable[[Any], bool]
    none: str = ""
    """Meaning of None; empty if None is rejected."""
    choices: tuple[str, ...] = ()
    """The accepted words, if nothing else is accepted."""

    @property
    def wanted(self) -> str:
        """All accepted values in words, including None."""
        if not self.none or on_command_line():
            return self.values
        return f"{self.values}, or None for {self.none}"


def refusal(what: str, wanted: str, value: object) -> ParameterError:
    """Return the error for a wrong value, in the one template of the package.

    Examples
    --------
    >>> print(refusal("'topics' parameter of SCNTM", "an integer of at least 1", 0))
    The 'topics' parameter of SCNTM must be an integer of at least 1. Got 0 instead.
    """
    return ParameterError(f"The {what} must be {wanted}. Got {value!r} instead.")


def _rule(values: str, accepts: Callable[[Any], bool], none: str) -> Rule:
    def accepts_none(value: Any) -> bool:
        return value is None or accepts(value)

    return Rule(values, accepts_none if none else accepts, none)


def integer(lowest: int, highest: int | None = None, *, none: str = "") -> Rule:
    """Whole numbers from `lowest`; also None, if `none` gives its meaning.

    Examples
    --------
    >>> from citeweave.parameters import integer
    >>> integer(1, 9).wanted, integer(1, 9).accepts(10)
    ('an integer from 1 to 9', False)
    """

    def accepts(value: Any) -> bool:
        # a bool is an int in Python, but never meant as one
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return whole and lowest <= int(value) and (highest is None or int(value) <= highest)

    bounds = f"of at least {lowest}" if highest is None else f"from {lowest} to {highest}"
    return _rule(f"an integer {bounds}", accepts, none)


def number(
    lowest: float, highest: float = math.inf, *, above: bool = False, none: str = ""
) -> Rule:
    """Numbers from `lowest` (or, with `above`, greater than it) to `highest`, never infinite.

    Examples
    --------
    >>> from citeweave.parameters import number
    >>> number(0, above=True).accepts(0), number(0, above=True).accepts(0.5)
    (False, True)
    """

    def accepts(value: Any) -> bool:
        real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if not real or not math.isfinite(value):
            return False
        return bool((value > lowest if above else value >= lowest) and value <= highest)

    if highest < math.inf:
        bounds = f"from {lowest:g} to {highest:g}"
    else:
        bounds = f"{'greater than' if above else 'of at least'} {lowest:g}"
    return _rule(f"a number {bounds}", accepts, none)


def pair(values: str, each: Rule) -> Rule:
    """Two values in a tuple or a list; `values` says of what, as in "numbers (shape, rate)".

    Examples
    --------
    >>> from citeweave.parameters import number, pair
    >>> rule = pair("numbers (shape, rate)", number(0, above=True))
    >>> rule.accepts((0.1, 0.1)), rule.accepts((0.1,))
    (True, False)
    """

    def accepts(value: Any) -> bool:
        two = isinstance(value, tuple | list) and len(value) == 2
        return two and all(each.accepts(part) for part in value)

    return Rule(f"a pair of {values}", accepts)


def text(values: str, *, none: str = "") -> Rule:
    """Any text; `values` describes its meaning."""
    return _rule(values, lambda value: isinstance(value, str), none)


def list_of_words() -> Rule:
    """Words in a tuple or a list."""

    def accepts(value: Any) -> bool:
        several = isinstance(value, tuple | list)
        return several and all(isinstance(word, str) for word in value)

    return Rule("a list of words", accepts)


def list_of_groups() -> Rule:
    """Return the rule of groups of two words or more, each in a tuple or a list."""
    words = list_of_words()

    def accepts(value: Any) -> bool:
        several = isinstance(value, tuple | list)
        return several and all(words.accepts(group) and len(group) > 1 for group in value)

    return Rule("a list of lists of two words or more", accepts)


def true_or_false() -> Rule:
    """Return the rule of switches.

    Examples
    --------
    >>> from citeweave.parameters import true_or_false
    >>> true_or_false().accepts(True), true_or_false().accepts("yes")
    (True, False)
    """
    return Rule("True or False", lambda value: isinstance(value, bool))


def one_of(*names: str) -> Rule:
    """One of a few words.

    Examples
    --------
    >>> from citeweave.parameters import one_of
    >>> one_of("paper", "gibbs").accepts("gibbs"), one_of("paper", "gibbs").wanted
    (True, "'paper' or 'gibbs'")
    """
    text = " or ".join(f"'{name}'" for name in names)
    return Rule(text, lambda value: isinstance(value, str) and value in names, choices=names)
