"""The command `levels`: show the topics of venues, periods and other levels of a model."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
from typing import Annotated, Any

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.explore import Output, write_table
from citeweave.cli.options import Run, gathers

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("levels")(levels)


@guarded
@gathers(output=Output)
def levels(
    *,
    run: Run,
    level: Annotated[
        str | None,
        typer.Option(help="Show only this level, such as venue or period (default: all)."),
    ] = None,
    output: Output,
) -> None:
    """Show the topics of a run's venues, periods or other levels (fit --level)."""
    from citeweave.cli.explore_show import level_tables
    from citeweave.explore import Exploration

    view = Exploration(run)
    frame = view.levels(level)
    limit = output.limit

    def draw() -> list[Any]:
        return level_tables(frame, limit)

    shown = frame if limit is None else frame.head(limit)
    write_table(shown, draw, output, missing=view.missing)
