"""The command `reproduce`, which has moved out of the package: for one more release it says where.

The experiments lie beside the package in its repository, as `reproduction`.
"""

from importlib import import_module

import typer

from citeweave.cli.errors import USER_ERROR, complain

__all__ = ["register"]

MOVED = "`citeweave reproduce` is now `python -m reproduction`, run in a clone of the repository"


def register(app: typer.Typer) -> None:
    """Add the command of this file; it takes whatever options the moved one has."""
    anything = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    app.command("reproduce", hidden=True, context_settings=anything)(reproduce)


def reproduce(context: typer.Context) -> None:
    """Make the paper's tables and figures again, where `python -m reproduction` can be found."""
    try:
        command = import_module("reproduction.command")
    except ModuleNotFoundError as error:
        if error.name != "reproduction":
            raise
        complain("error", f"{MOVED}.")
        raise typer.Exit(USER_ERROR) from None
    complain("note", f"{MOVED}; the old name goes in the next release.")
    command.app(context.args, prog_name="python -m reproduction")
