"""Options shared by several commands, and options generated from declared parameters."""

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from citeweave.parameters import Parameter
from citeweave.parameters.declaring import UNSET
from citeweave.parameters.describing import help_text, is_open

__all__ = [
    "MODEL",
    "RUN",
    "AsJson",
    "Checkpoints",
    "OpenPage",
    "RequestLog",
    "Run",
    "Sources",
    "gathers",
]

MODEL = "Model"
RUN = "Run"

Sources = Annotated[
    list[str],
    typer.Argument(
        help="Corpus folder, name of a data set, or export files (imported with default settings).",
        metavar="CORPUS|DATASET|FILES",
    ),
]
Run = Annotated[Path, typer.Argument(help="Run folder.", metavar="RUN", show_default=False)]
OpenPage = Annotated[
    bool | None,
    typer.Option(
        "--open/--no-open",
        help="Open a browser (default: if a desktop is available).",
        show_default=False,
    ),
]
RequestLog = Annotated[
    Path | None,
    typer.Option("--log", help="Append a line for each request to this file.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")]


@dataclass(frozen=True)
class Checkpoints:
    """How often chains are saved, and how much output is printed."""

    checkpoint_seconds: Annotated[
        float, typer.Option(help="Seconds between checkpoints.", rich_help_panel=RUN)
    ] = 60.0
    checkpoint_iterations: Annotated[
        int | None,
        typer.Option(
            help="Iterations between checkpoints (default: by time only).", rich_help_panel=RUN
        ),
    ] = None
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Write errors only.", rich_help_panel=RUN)
    ] = False

    @property
    def intervals(self) -> dict[str, Any]:
        """The options of `SCNTM.fit` and `citeweave.resume`."""
        return {
            "checkpoint_seconds": self.checkpoint_seconds,
            "checkpoint_iterations": self.checkpoint_iterations,
        }


class _Group:
    """A group of options that a command receives as one argument."""

    def __init__(self, source: type[Any] | Iterable[Parameter]) -> None:
        if isinstance(source, type) and is_dataclass(source):
            hints = get_type_hints(source, include_extras=True)
            self.options = {
                field.name: _keyword(field.name, hints[field.name], field.default)
                for field in fields(source)
            }
            self.make: Callable[[dict[str, Any]], Any] = lambda values: source(**values)
        else:
            table = {parameter.name: parameter for parameter in source if parameter.is_option}
            self.options = {name: _option(parameter) for name, parameter in table.items()}
            self.make = lambda values: {
                name: _read(table[name], value)
                for name, value in values.items()
                if value not in (None, []) or table[name].default is not UNSET
            }


def gathers(
    **groups: type[Any] | Iterable[Parameter],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Have a command receive groups of options, each as one argument.

    Parameters
    ----------
    **groups
        By argument name: either declared parameters, which the command receives as a dictionary of
        values without those that are left open (`Parameter.left_open`) and not given; or a
        dataclass whose fields are annotated as options; the command receives an instance of it. The
        help lists the options of a group in place of its argument.
    """
    made = {argument: _Group(source) for argument, source in groups.items()}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def wrapper(**given: Any) -> None:
            for argument, group in made.items():
                given[argument] = group.make({name: given.pop(name) for name in group.options})
            command(**given)

        own = inspect.signature(command)
        options: list[inspect.Parameter] = []
        for name, argument in own.parameters.items():
            options += made[name].options.values() if name in made else [argument]
        wrapper.__signature__ = own.replace(parameters=options)  # type: ignore[attr-defined]
        return wrapper

    return decorate


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _option(parameter: Parameter) -> inspect.Parameter:
    """Create the option of a parameter."""
    members = get_args(parameter.type) if isinstance(parameter.type, UnionType) else ()
    kind: Any = next((one for one in members if one is not NoneType), parameter.type)
    if get_origin(kind) is tuple:
        kind = list[str]
    elif parameter.read is not None:
        kind = str
    flag = parameter.option
    if kind is bool:
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    default = None if is_open(parameter) else parameter.default
    if default is None:
        kind |= None
    elif kind is str:
        default = str(default)
    option = typer.Option(flag, help=help_text(parameter), rich_help_panel=parameter.group or None)
    return _keyword(parameter.name, Annotated[kind, option], default)


def _read(parameter: Parameter, value: Any) -> Any:
    if parameter.read is None or value is None:
        return tuple(value) if isinstance(value, list) else value
    return parameter.read(value)
