"""One declaration a parameter: a field of a class, from which everything else is made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, get_type_hints

from citeweave.parameters.rules import Rule, refusal

__all__ = ["UNSET", "Parameter", "check_values", "parameter", "table_of"]

UNSET: Any = object()
"""Stands for "no value", where None is one."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """All that is known of a parameter; see `parameter` for what is declared."""

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
        """Whether commands take it as an option."""
        return bool(self.option)

    def but(self, *, none: str | None = None, **changes: Any) -> Self:
        """Copy it with other traits, for a command whose default or help is its own.

        Parameters
        ----------
        none : str, optional
            What None stands for there.
        **changes
            Fields of this class.
        """
        if none is not None:
            changes["rule"] = self.rule._replace(none=none)
        return replace(self, **changes)

    def left_open(self) -> Self:
        """Copy it for a command that leaves it to others where it is not given."""
        nothing = self.default in {None, ()}
        return self.but(default=UNSET, none="none" if nothing else self.shown or str(self.default))

    def from_json(self, value: Any) -> Any:
        """Return the value that a manifest holds as JSON, which has no tuples and no infinity."""
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
        Value where nothing is given.
    rule : Rule
        Values that are accepted, and what None stands for.
    summary : str
        One sentence, the help of the command line.
    about : str, optional
        The description in docstrings and on pages; `summary` if not given.
    group : str, optional
        Heading under which commands list it.
    option : str, optional
        Name on the command line; ``--`` and the parameter's name if not given, and "" for a
        parameter that is no option.
    read : callable, optional
        Makes a value of what was typed, for an option that is text, or of all that was typed for
        one that may be given again; if not given the annotation says how it is read.
    restore : callable, optional
        Makes a value of what a manifest holds, where JSON cannot hold it.
    before : object, optional
        What runs did that were made before there was this parameter.
    page : str, optional
        The page of the documentation that says more.
    shown : str, optional
        How the default is written, where its value is too long.

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
    """Return the parameters that a data class declares, by name and in order."""
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
    """Hold values against their rules; `what` names a parameter in the error.

    Raises
    ------
    ParameterError
        For the first value that its rule refuses.
    """
    for name, rule in rules.items():
        if not rule.accepts(values[name]):
            raise refusal(what(name), rule.wanted, values[name])
