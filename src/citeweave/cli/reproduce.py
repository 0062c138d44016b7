"""The former command `reproduce`, which forwards to `python -m reproduction` for one more release.

The experiments are in the folder `reproduction` of the repository.
"""

from importlib import import_module

import typer

from citeweave.cli.errors import USER_ERROR, complain

__all__ = ["register"]

MOVED = "`citeweave reproduce` is now `python -m reproduction`, run in a clone of the repository"


def register(app: typer.Typer) -> None:
    """Register the command, which accepts all options of its successor."""
    anything = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    app.command("reproduce", hidden=True, context_settings=anything)(reproduce)


def reproduce(context: typer.Context) -> None:
    """Reproduce the paper's tables and figures, if `python -m reproduction` is available."""
    try:
        command = import_module("reproduction.command")
    except ModuleNotFoundError as error:
        if error.name != "reproduction":
            raise
        complain("error", f"{MOVED}.")
        raise typer.Exit(USER_ERROR) from None
    complain("note", f"{MOVED}; the old name will be removed in the next release.")
    command.app(context.args, prog_name="python -m reproduction")
