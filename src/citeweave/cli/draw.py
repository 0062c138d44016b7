"""The commands `graph` and `plot`: pictures of a fitted model."""

# ruff: noqa: PLC0415  heavy imports inside the commands, so that the others start at once
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citeweave.cli.errors import complain, guarded
from citeweave.errors import ParameterError

if TYPE_CHECKING:
    from citeweave.explore.graphs import Graph

__all__ = ["register"]


class GraphKind(StrEnum):
    """Graphs that can be drawn."""

    AUTHORS = "authors"
    FLOW = "flow"
    MAP = "map"


class PlotKind(StrEnum):
    """Plots that can be drawn; the names are those of `citeweave.explore.plots.KINDS`."""

    ALL = "all"
    CONVERGENCE = "convergence"
    ACCEPTANCE = "acceptance"
    CONCENTRATIONS = "concentrations"
    ACTIVE_TOPICS = "active-topics"
    RHAT = "rhat"
    TIME = "time"
    AUTHORS = "authors"
    MAP = "map"
    SIMILARITY = "similarity"
    FLOW = "flow"


Run = Annotated[Path, typer.Argument(help="Run folder.", show_default=False)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Write errors only.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command("graph")(graph)
    app.command("plot")(plot)


@guarded
def graph(
    *,
    run: Run,
    kind: Annotated[
        GraphKind,
        typer.Option(help="Authors and topics, citations between topics, or the map of papers."),
    ] = GraphKind.AUTHORS,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="File to write: .svg, .png, .pdf, .dot, .graphml, .gexf, or .json for VOSviewer; "
            "may be given several times (default: KIND.svg).",
            show_default=False,
        ),
    ] = None,
    authors: Annotated[
        int | None, typer.Option(help="Most authors (default: 30).", show_default=False)
    ] = None,
    topics: Annotated[
        int | None,
        typer.Option(
            help="Most topics, the largest (default: all that matter).", show_default=False
        ),
    ] = None,
    papers: Annotated[
        int | None,
        typer.Option(help="Most papers on the map (default: 5000).", show_default=False),
    ] = None,
    links: Annotated[
        int | None,
        typer.Option(help="Most citations on the map (default: 1500).", show_default=False),
    ] = None,
    min_weight: Annotated[
        float | None,
        typer.Option(
            help="Drop weaker links: weight of a topic for an author (default: 0.15), part of a "
            "topic's citations (default: 0.06).",
            show_default=False,
        ),
    ] = None,
    words: Annotated[
        int | None, typer.Option(help="Words of a topic (default: 5).", show_default=False)
    ] = None,
    layout: Annotated[
        str, typer.Option(help="auto, own or graphviz; auto is Graphviz where there is one.")
    ] = "auto",
    dpi: Annotated[float, typer.Option(help="Pixels an inch of a PNG.")] = 200.0,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Write nodes, edges and places to standard output as JSON."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Draw a network: authors and their topics, citations between topics, or papers."""
    from citeweave.explore import Exploration
    from citeweave.explore.graphs import FORMATS, to_json, write_graph
    from citeweave.explore.graphs import layout as make_layout

    options = {
        "authors": authors,
        "topics": topics,
        "papers": papers,
        "links": links,
        "min_weight": min_weight,
        "words": words,
    }
    given = {name: value for name, value in options.items() if value is not None}
    _check_options(kind, given)
    files = list(out or ([] if as_json else [Path(f"{kind}.svg")]))
    for path in files:  # before the work, not after it
        if path.suffix.lower() not in FORMATS:
            raise ParameterError(
                f"A graph is written to a file that ends in one of {', '.join(FORMATS)}. "
                f"Got '{path}' instead."
            )
    drawn = _build(Exploration(run), kind, given)
    places = make_layout(drawn, engine=layout)
    for path in files:
        write_graph(drawn, path, positions=places, dpi=dpi)
    if as_json:
        sys.stdout.write(to_json(drawn, places) + "\n")
    if not quiet:
        for note in drawn.notes:
            complain("note", note)
        if places.engine != "given":
            complain("note", places.note)
        for path in files:
            # JSON has standard output for itself
            typer.echo(
                f"{path}: {len(drawn.nodes):,} nodes, {len(drawn.edges):,} links", err=as_json
            )


_TAKES = {
    GraphKind.AUTHORS: ("authors", "topics", "min_weight", "words"),
    GraphKind.FLOW: ("topics", "min_weight", "words"),
    GraphKind.MAP: ("papers", "links"),
}


def _check_options(kind: GraphKind, given: dict[str, Any]) -> None:
    for name in given:
        if name not in _TAKES[kind]:
            allowed = ", ".join(f"--{option.replace('_', '-')}" for option in _TAKES[kind])
            raise ParameterError(
                f"--kind {kind} does not take --{name.replace('_', '-')}; it takes {allowed}."
            )


def _build(view: Any, kind: GraphKind, given: dict[str, Any]) -> "Graph":
    from citeweave.explore.graphs import author_topics, paper_map, topic_flow

    if kind is GraphKind.AUTHORS:
        return author_topics(view, **given)
    if kind is GraphKind.FLOW:
        if "min_weight" in given:
            given["min_share"] = given.pop("min_weight")
        return topic_flow(view, **given)
    return paper_map(view, **given)


@guarded
def plot(
    *,
    run: Run,
    kind: Annotated[
        PlotKind, typer.Option(help="Which plot, or all into a folder.")
    ] = PlotKind.ALL,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File (.png, .pdf or .svg), or the folder for all (default: KIND.png, or "
            "RUN-plots).",
            show_default=False,
        ),
    ] = None,
    width: Annotated[
        float | None,
        typer.Option(
            help="Width in inches: 3.5 for a column, 7 for a page (default: what suits the plot).",
            show_default=False,
        ),
    ] = None,
    file_format: Annotated[
        str, typer.Option("--format", help="Of all plots in a folder: png, pdf or svg.")
    ] = "png",
    dpi: Annotated[float, typer.Option(help="Pixels an inch of a PNG.")] = 200.0,
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
            f"--kind all writes several files: --out must be a folder. Got '{folder}' instead; "
            "or choose one plot with --kind."
        )
    suffix = f".{file_format.lower().lstrip('.')}"
    written, missing = write_plots(Exploration(run), folder, suffix=suffix, width=width, dpi=dpi)
    if not quiet:
        for name, why in missing.items():
            complain("note", f"no plot '{name}'. {why}")
        typer.echo(f"{len(written)} plots in {folder}")
