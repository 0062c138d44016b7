"""Parameters in the scikit-learn manner, read from the signature of a model's ``__init__``."""

import inspect
import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

from citeweave.errors import ParameterError

__all__ = ["Parametrised", "Rule", "integer", "number", "one_of", "true_or_false"]


class Rule(NamedTuple):
    """What a parameter may be: in words, and as a test."""

    wanted: str
    accepts: Callable[[Any], bool]


def integer(lowest: int, *, none: str = "") -> Rule:
    """Whole numbers from `lowest`; also None where `none` says what that stands for.

    Examples
    --------
    >>> rule = integer(1, none="a fresh one")
    >>> rule.wanted, rule.accepts(3), rule.accepts(True), rule.accepts(None)
    ('an integer of at least 1, or None for a fresh one', True, False, True)
    """

    def accepts(value: Any) -> bool:
        if value is None:
            return bool(none)
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return whole and int(value) >= lowest

    text = f"an integer of at least {lowest}"
    return Rule(f"{text}, or None for {none}" if none else text, accepts)


def number(lowest: float, highest: float = math.inf, *, above: bool = False) -> Rule:
    """Numbers from `lowest` (or, with `above`, greater than it) to `highest`, never infinite."""

    def accepts(value: Any) -> bool:
        real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if not real or not math.isfinite(value):
            return False
        return bool((value > lowest if above else value >= lowest) and value <= highest)

    if highest < math.inf:
        return Rule(f"a number from {lowest:g} to {highest:g}", accepts)
    return Rule(f"a number {'greater than' if above else 'of at least'} {lowest:g}", accepts)


def true_or_false() -> Rule:
    """Give the rule of switches."""
    return Rule("True or False", lambda value: isinstance(value, bool))


def one_of(*names: str) -> Rule:
    """One of a few words."""
    text = " or ".join(f"'{name}'" for name in names)
    return Rule(text, lambda value: isinstance(value, str) and value in names)


class Parametrised:
    """`get_params`, `set_params` and a short repr; the class's ``__init__`` only assigns."""

    rules: ClassVar[Mapping[str, Rule]] = {}
    """What each parameter may be, for `check_params`; a class may check in its own way instead."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002, FBT001, FBT002 (scikit-learn's signature)
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in _defaults(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; they are checked by `fit`."""
        known = _defaults(type(self))
        for name in params:
            if name not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}. "
                    f"Did you mean one of: {', '.join(known)}?"
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def check_params(self) -> None:
        """Hold each parameter against its rule."""
        for name, rule in self.rules.items():
            value = getattr(self, name)
            if not rule.accepts(value):
                raise ParameterError(
                    f"The '{name}' parameter of {type(self).__name__} must be {rule.wanted}. "
                    f"Got {value!r} instead."
                )

    def __repr__(self) -> str:
        """Give the parameters that are not the defaults, as scikit-learn does."""
        defaults = _defaults(type(self))
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if type(value) is not type(defaults[name]) or value != defaults[name]
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def _defaults(kind: type[Any]) -> dict[str, Any]:
    signature = inspect.signature(kind)
    return {name: parameter.default for name, parameter in signature.parameters.items()}
