"""Classes with declared parameters, following scikit-learn's conventions."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from citeweave.errors import ParameterError
from citeweave.parameters.declaring import check_values, table_of
from citeweave.parameters.describing import with_parameters
from citeweave.parameters.rules import Rule

__all__ = ["Parametrised", "declared"]


class Parametrised:
    """`get_params`, `set_params` and a short repr; the class's ``__init__`` only assigns.

    A class declares its parameters with `citeweave.parameters.parameter` and the decorator
    `declared`. A class with its own ``__init__`` fills `rules` by hand.

    Examples
    --------
    >>> from citeweave.parameters import Parametrised, declared, integer, parameter
    >>> @declared
    ... class Cook(Parametrised):
    ...     minutes: int = parameter(10, integer(1), "Time on the stove.")
    >>> Cook(minutes=5).get_params(), Cook()
    ({'minutes': 5}, Cook())
    """

    rules: ClassVar[Mapping[str, Rule]] = {}
    """Rules of the parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002, FBT001, FBT002 (scikit-learn's signature)
        """Return the parameters by name.

        Examples
        --------
        >>> from citeweave import SCNTM
        >>> SCNTM(topics=7).get_params()["topics"]
        7
        """
        return {name: getattr(self, name) for name in _defaults(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; they are checked by `fit`.

        Examples
        --------
        >>> from citeweave import SCNTM
        >>> SCNTM().set_params(topics=7).topics
        7
        """
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
        """Check each parameter against its rule.

        Examples
        --------
        >>> from citeweave import SCNTM
        >>> SCNTM(topics=7).check_params()
        """
        owner = type(self).__name__
        check_values(self.rules, self.get_params(), lambda name: f"'{name}' parameter of {owner}")

    def __repr__(self) -> str:
        """Show the parameters that differ from their defaults, as scikit-learn does."""
        defaults = _defaults(type(self))
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if type(value) is not type(defaults[name]) or value != defaults[name]
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


Declaring = TypeVar("Declaring", bound=Parametrised)


@dataclass_transform(kw_only_default=True, eq_default=False)
def declared(kind: type[Declaring]) -> type[Declaring]:
    """Generate the ``__init__``, the rules and the docstring of a class from its declarations.

    Type checkers and editors see the parameters as those of any data class.

    Examples
    --------
    >>> from citeweave.parameters import Parametrised, declared, integer, parameter
    >>> @declared
    ... class Cook(Parametrised):
    ...     minutes: int = parameter(10, integer(1), "Time on the stove.")
    >>> Cook(minutes=5).minutes
    5
    """
    made = dataclass(kw_only=True, eq=False, repr=False)(kind)
    table = table_of(made)
    made.rules = {name: parameter.rule for name, parameter in table.items()}
    made.__doc__ = with_parameters(made.__doc__, table.values())
    return made


def _defaults(kind: type[Any]) -> dict[str, Any]:
    signature = inspect.signature(kind)
    return {name: parameter.default for name, parameter in signature.parameters.items()}
