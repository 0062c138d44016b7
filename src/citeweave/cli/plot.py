"""The command `plot`: plots of a fitted model."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from citeweave.cli.errors import complain, guarded
from citeweave.cli.options import Run
from citeweave.errors import ParameterError

__all__ = ["register"]


class PlotKind(StrEnum):
    """Kinds of plots; the names are those of `citeweave.explore.plots.KINDS`."""

    ALL = "all"
    CONVERGENCE = "convergence"
    ACCEPTANCE = "acceptance"
    CONCENTRATIONS = "concentrations"
    ACTIVE_TOPICS = "active-topics"
    RHAT = "rhat"
    TIME = "time"
    LEVELS = "levels"
    AUTHORS = "authors"
    INSTITUTIONS = "institutions"
    COUNTRIES = "countries"
    MAP = "map"
    SIMILARITY = "similarity"
    FLOW = "flow"


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Write errors only.")]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("plot")(plot)


@guarded
def plot(
    *,
    run: Run,
    kind: Annotated[
        PlotKind, typer.Option(help="Kind of plot, or all to write every kind to a folder.")
    ] = PlotKind.ALL,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File (.png, .pdf or .svg), or folder for --kind all (default: KIND.png, or "
            "RUN-plots).",
            show_default=False,
        ),
    ] = None,
    width: Annotated[
        float | None,
        typer.Option(
            help="Width in inches: 3.5 for a column, 7 for a page (default: depends on the plot).",
            show_default=False,
        ),
    ] = None,
    file_format: Annotated[
        str, typer.Option("--format", help="Format of the plots in a folder: png, pdf or svg.")
    ] = "png",
    dpi: Annotated[
        float, typer.Option(help="Resolution of PNG files, in pixels per inch.")
    ] = 200.0,
    quiet: Quiet = False,
) -> None:
    """Draw convergence, topics over time, authors, the map of papers and more (Matplotlib)."""
    from citeweave.explore import Exploration
    from citeweave.explore.plots import write_plot, write_plots

    if kind is not PlotKind.ALL:
        view = Exploration(run)
        path = write_plot(view, kind.value, out or Path(f"{kind}.png"), width=width, dpi=dpi)
        if not quiet:
            typer.echo(f"{path}")
        return
    folder = out if out is not None else Path(f"{run.absolute().name}-plots")
    if folder.suffix.lower() in {".png", ".pdf", ".svg"}:
        raise ParameterError(
            f"--kind all writes several files, so --out must be a folder. Got '{folder}' instead. "
            "To draw one plot, choose it with --kind."
        )
    suffix = f".{file_format.lower().lstrip('.')}"
    written, missing = write_plots(Exploration(run), folder, suffix=suffix, width=width, dpi=dpi)
    if not quiet:
        for name, why in missing.items():
            complain("note", f"plot '{name}' skipped. {why}")
        typer.echo(f"{len(written)} plots in {folder}")
