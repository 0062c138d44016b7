"""Parameters in words: docstrings, help of options, and the tables of the documentation."""

import inspect
import re
import textwrap
import types
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any, get_args, get_origin

from citeweave.parameters.declaring import UNSET, Parameter

__all__ = ["help_text", "is_open", "markdown_table", "type_text", "with_parameters"]

_WIDTH = 92
_SECTION = re.compile(r"^[^\n]+\n-{3,}$", re.MULTILINE)


def help_text(parameter: Parameter) -> str:
    """Return the help of an option: the summary, and what happens if it is left out.

    Examples
    --------
    >>> from citeweave.parameters.scntm import PARAMETERS
    >>> help_text(PARAMETERS["thin"])
    'Iterations between kept samples (default: about 50 samples).'
    """
    if not is_open(parameter):
        return parameter.summary
    return f"{parameter.summary.removesuffix('.')} (default: {parameter.rule.none})."


def is_open(parameter: Parameter) -> bool:
    """Return whether a rule replaces the parameter if it is not given."""
    return parameter.default is None or parameter.default is UNSET


def type_text(parameter: Parameter) -> str:
    """Return a type as NumPy's docstrings write it.

    Examples
    --------
    >>> from citeweave.parameters.scntm import PARAMETERS
    >>> [type_text(PARAMETERS[name]) for name in ("topics", "seed", "unknown", "propensity_prior")]
    ['int', 'int', '{"shared", "own"}', '(float, float)']
    """
    if parameter.rule.choices:
        return "{" + ", ".join(f'"{word}"' for word in parameter.rule.choices) + "}"
    return " or ".join(_name(part) for part in _parts(parameter.type))


def _parts(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union without None."""
    members = get_args(annotation) if get_origin(annotation) is types.UnionType else (annotation,)
    return tuple(member for member in members if member is not type(None))


def _name(annotation: Any) -> str:
    if get_origin(annotation) is not tuple:
        return str(annotation.__name__)
    members = get_args(annotation)
    if members[-1] is Ellipsis:
        return f"tuple of {_name(members[0])}"
    return f"({', '.join(_name(member) for member in members)})"


def with_parameters(text: str | None, table: Iterable[Parameter]) -> str | None:
    """Put the section of parameters before the other sections of a docstring."""
    if text is None:  # python -OO
        return None
    text = inspect.cleandoc(text)
    section = "\n".join(["Parameters", "----------", *map(_entry, table)])
    first = _SECTION.search(text)
    if first is None:
        return f"{text}\n\n{section}\n"
    return f"{text[: first.start()]}{section}\n\n{text[first.start() :]}"


def _entry(parameter: Parameter) -> str:
    about = parameter.about
    if parameter.default is None:
        head = f"{parameter.name} : {type_text(parameter)}, optional"
        about = f"{about} By default {parameter.rule.none}."
    else:
        default = parameter.shown or repr(parameter.default)
        head = f"{parameter.name} : {type_text(parameter)}, default={default}"
    body = textwrap.fill(about, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"{head}\n{textwrap.indent(body, '    ')}"


def markdown_table(table: Iterable[Parameter], heading: str = "parameter") -> str:
    """Write parameters as a table of a page: name, values, default and description.

    The page is assumed to be in a subfolder of ``docs``, as all pages with tables are.
    """
    lines = [f"| {heading} | values | default | meaning |", "|---|---|---|---|"]
    for parameter in table:
        default = parameter.shown or f"`{parameter.default!r}`"
        if parameter.default is None:
            default = parameter.rule.none
        about = parameter.about
        if parameter.page:
            name = PurePosixPath(parameter.page).stem.replace("-", " ")
            about = f"{about} More: [{name}](../{parameter.page})."
        cells = (f"`{parameter.name}`", parameter.rule.values, default, about)
        lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    return "\n".join(lines)
