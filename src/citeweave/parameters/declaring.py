"""One declaration per parameter: a field of a class, from which everything else is generated."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, get_type_hints

from citeweave.parameters.rules import Rule, refusal

__all__ = ["UNSET", "Parameter", "check_values", "parameter", "table_of"]

UNSET: Any = object()
"""Stands for "no value" if None is a value."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """Everything known about a parameter; see `parameter` for its declaration.

    Examples
    --------
    >>> from citeweave import SCNTM
    >>> from citeweave.parameters import table_of
    >>> topics = table_of(SCNTM)["topics"]
    >>> topics.option, topics.rule.accepts(0)
    ('--topics', False)
    """

    name: str
    type: Any
    """The annotation, such as ``int | None``."""
    default: Any
    rule: Rule
    summary: str
    about: str
    group: str
    option: str
    read: Callable[[Any], Any] | None
    restore: Callable[[Any], Any] | None
    before: Any
    page: str
    shown: str

    @property
    def is_option(self) -> bool:
        """Whether it is an option of commands."""
        return bool(self.option)

    def but(self, *, none: str | None = None, **changes: Any) -> Self:
        """Copy it with other properties, for a command with its own default or help.

        Parameters
        ----------
        none : str, optional
            Meaning of None for that command.
        **changes
            Fields of this class.

        Examples
        --------
        >>> from citeweave import SCNTM
        >>> from citeweave.parameters import table_of
        >>> table_of(SCNTM)["topics"].but(default=50).default
        50
        """
        if none is not None:
            changes["rule"] = self.rule._replace(none=none)
        return replace(self, **changes)

    def left_open(self) -> Self:
        """Copy it for a command that passes it on only if it is given.

        Examples
        --------
        >>> from citeweave import SCNTM
        >>> from citeweave.parameters import table_of
        >>> topics = table_of(SCNTM)["topics"]
        >>> topics.default, topics.left_open().default == topics.default
        (20, False)
        """
        nothing = self.default in {None, ()}
        return self.but(default=UNSET, none="none" if nothing else self.shown or str(self.default))

    def from_json(self, value: Any) -> Any:
        """Return the value from a manifest, whose JSON has no tuples and no infinity.

        Examples
        --------
        >>> from citeweave import SCNTM
        >>> from citeweave.parameters import table_of
        >>> table_of(SCNTM)["levels"].from_json(["venue"])
        ('venue',)
        """
        if self.restore is not None:
            return self.restore(value)
        return tuple(value) if isinstance(value, list) else value


def parameter(
    default: Any,
    rule: Rule,
    summary: str,
    about: str = "",
    *,
    group: str = "",
    option: str | None = None,
    read: Callable[[Any], Any] | None = None,
    restore: Callable[[Any], Any] | None = None,
    before: Any = UNSET,
    page: str = "",
    shown: str = "",
) -> Any:
    """Declare a parameter, as the value of an annotated name in a data class.

    Parameters
    ----------
    default : object
        Value if nothing is given.
    rule : Rule
        Accepted values, and the meaning of None.
    summary : str
        One sentence, the help of the command line.
    about : str, optional
        Description in docstrings and on pages; by default `summary`.
    group : str, optional
        Heading under which commands list it.
    option : str, optional
        Name on the command line; by default ``--`` and the parameter's name. "" for a parameter
        that is not an option.
    read : callable, optional
        Converts the typed text to a value, or all texts of an option that may be repeated; by
        default the annotation determines how it is read.
    restore : callable, optional
        Converts the entry of a manifest to a value that JSON cannot represent.
    before : object, optional
        Value for runs made before this parameter existed.
    page : str, optional
        Page of the documentation with more information.
    shown : str, optional
        Text shown for the default, if its value is too long.

    Examples
    --------
    >>> from citeweave.parameters import integer
    >>> @dataclass(kw_only=True)
    ... class Cook:
    ...     minutes: int = parameter(10, integer(1), "Time on the stove.")
    >>> Cook().minutes, table_of(Cook)["minutes"].option
    (10, '--minutes')
    """
    traits = {
        "rule": rule,
        "summary": summary,
        "about": about or summary,
        "group": group,
        "option": option,
        "read": read,
        "restore": restore,
        "before": before,
        "page": page,
        "shown": shown,
    }
    return field(default=default, metadata=traits)


def table_of(declaring: type[Any]) -> dict[str, Parameter]:
    """Return the parameters that a data class declares, by name and in order.

    Examples
    --------
    >>> from citeweave import SCNTM
    >>> from citeweave.parameters import table_of
    >>> table_of(SCNTM)["seed"].option
    '--seed'
    """
    types = get_type_hints(declaring)
    table = {}
    for declared in fields(declaring):
        traits = dict(declared.metadata)
        if traits["option"] is None:
            traits["option"] = f"--{declared.name.replace('_', '-')}"
        table[declared.name] = Parameter(
            name=declared.name, type=types[declared.name], default=declared.default, **traits
        )
    return table


def check_values(
    rules: Mapping[str, Rule], values: Mapping[str, Any], what: Callable[[str], str]
) -> None:
    """Check values against their rules; `what` names a parameter in the error.

    Raises
    ------
    ParameterError
        For the first value that its rule rejects.

    Examples
    --------
    >>> from citeweave.parameters import check_values, integer
    >>> check_values({"minutes": integer(1)}, {"minutes": 0}, "'{}' of Cook".format)
    Traceback (most recent call last):
        ...
    citeweave.errors.ParameterError: The 'minutes' of Cook must be an integer of at least 1. Got 0
    instead.
    """
    for name, rule in rules.items():
        if not rule.accepts(values[name]):
            raise refusal(what(name), rule.wanted, values[name])
