"""The command `graph`: networks and maps of a fitted model or a corpus."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
import sys
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citeweave.cli.errors import complain, guarded
from citeweave.cli.options import gathers
from citeweave.errors import ParameterError

if TYPE_CHECKING:
    from citeweave.explore.graphs import Graph, GraphLayout

__all__ = ["register"]


class GraphKind(StrEnum):
    """Kinds of graphs."""

    AUTHORS = "authors"
    FLOW = "flow"
    MAP = "map"
    THEMATIC = "thematic"
    CO_CITATION = "co-citation"
    CO_CITED_WORKS = "co-cited-works"
    COUPLING = "coupling"
    AUTHOR_COUPLING = "author-coupling"
    CO_WORDS = "co-words"
    CO_AUTHORS = "co-authors"
    CO_INSTITUTIONS = "co-institutions"
    CO_COUNTRIES = "co-countries"
    HISTORIOGRAPH = "historiograph"
    MAIN_PATH = "main-path"


OF_MODELS = (GraphKind.AUTHORS, GraphKind.FLOW, GraphKind.MAP, GraphKind.THEMATIC)
"""Kinds that need a fitted model; the others only need a corpus."""

PICTURE = "Pictures of a model"
MAPS = "Maps of a corpus"


@dataclass(frozen=True)
class PictureOptions:
    """Options for pictures of a fitted model; each kind accepts some of them."""

    authors: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of authors (default: 30).",
            show_default=False,
            rich_help_panel=PICTURE,
        ),
    ] = None
    topics: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of topics, largest first (default: all that have links).",
            show_default=False,
            rich_help_panel=PICTURE,
        ),
    ] = None
    papers: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of papers on the map (default: 5000).",
            show_default=False,
            rich_help_panel=PICTURE,
        ),
    ] = None
    links: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of links drawn (default: 1500 citations on the map of papers, "
            "1000 on the other maps).",
            show_default=False,
        ),
    ] = None
    min_weight: Annotated[
        float | None,
        typer.Option(
            help="Omit weaker links: by weight of a topic for an author (default: 0.15), or by "
            "share of a topic's citations (default: 0.06).",
            show_default=False,
            rich_help_panel=PICTURE,
        ),
    ] = None
    words: Annotated[
        int | None,
        typer.Option(
            help="Words per topic (default: 5; 30 per theme).",
            show_default=False,
            rich_help_panel=PICTURE,
        ),
    ] = None


@dataclass(frozen=True)
class MapOptions:
    """Options for maps of a corpus; each kind accepts some of them."""

    top: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of nodes, largest first (default: 100; historiograph: 40; "
            "main-path starts with 10 citations).",
            show_default=False,
            rich_help_panel=MAPS,
        ),
    ] = None
    min_size: Annotated[
        int | None,
        typer.Option(
            help="Minimum number of citations of a paper, or of papers per author or word "
            "(default: 0).",
            show_default=False,
            rich_help_panel=MAPS,
        ),
    ] = None
    min_count: Annotated[
        float | None,
        typer.Option(
            help="Omit links with a smaller count than this.",
            show_default=False,
            rich_help_panel=MAPS,
        ),
    ] = None
    counting: Annotated[
        str | None,
        typer.Option(
            help="full, or fractional (each paper has the same total weight, however many items it "
            "links).",
            show_default="full",
            rich_help_panel=MAPS,
        ),
    ] = None
    weight: Annotated[
        str | None,
        typer.Option(
            help="Similarity: association (as in VOSviewer), raw, salton, jaccard or equivalence.",
            show_default="association",
            rich_help_panel=MAPS,
        ),
    ] = None
    terms: Annotated[
        str | None,
        typer.Option(
            help="For co-words: keywords, text, or auto (keywords if there are any).",
            show_default="auto",
            rich_help_panel=MAPS,
        ),
    ] = None
    max_members: Annotated[
        int | None,
        typer.Option(
            help="Omit papers with more authors, institutions or countries than this; 0 for no "
            "limit (default: 100).",
            show_default=False,
            rich_help_panel=MAPS,
        ),
    ] = None
    resolution: Annotated[
        float | None,
        typer.Option(
            help="Resolution of the clustering; values above 1 give more, smaller clusters "
            "(default: 1).",
            show_default=False,
            rich_help_panel=MAPS,
        ),
    ] = None
    colour: Annotated[
        str | None,
        typer.Option(
            help="Colour nodes by cluster, topic (needs a run) or year.",
            show_default="cluster",
            rich_help_panel=MAPS,
        ),
    ] = None


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("graph")(graph)


@guarded
@gathers(pictures=PictureOptions, maps=MapOptions)
def graph(
    *,
    source: Annotated[
        str,
        typer.Argument(
            help="Run folder; for maps of a corpus, also a corpus folder, a data set or a file.",
            metavar="RUN|CORPUS",
            show_default=False,
        ),
    ],
    kind: Annotated[
        GraphKind,
        typer.Option(
            help="What to draw. Four kinds need a run: authors and their topics, the flow of "
            "citations between topics, the map of papers, and the thematic map of topics. The "
            "others are maps of a corpus."
        ),
    ] = GraphKind.AUTHORS,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="File to write: .svg, .png, .pdf, .html, .dot, .graphml, .gexf, .json for "
            "VOSviewer, .net for Pajek, .csv (edges) or .nodes.csv; may be repeated "
            "(default: KIND.svg).",
            show_default=False,
        ),
    ] = None,
    pictures: PictureOptions,
    maps: MapOptions,
    layout: Annotated[
        str,
        typer.Option(help="Layout: auto, own or graphviz; auto uses Graphviz if it is installed."),
    ] = "auto",
    dpi: Annotated[
        float, typer.Option(help="Resolution of PNG files, in pixels per inch.")
    ] = 200.0,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Write nodes, edges and positions to standard output as JSON."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write errors only.")] = False,
) -> None:
    """Draw a network or a map of a fitted model or a corpus."""
    from citeweave.explore.graphs import layout as make_layout
    from citeweave.explore.graphs import to_json
    from citeweave.explore.graphs.write import format_of

    given = _given(pictures) | _given(maps)
    _check_options(kind, given)
    files = list(out or ([] if as_json else [Path(f"{kind}.svg")]))
    for path in files:  # fail before the work, not after it
        if path.suffix.lower() != ".html":
            format_of(path)
    drawn = _build(_open(source, kind, quiet=quiet or as_json), kind, given)
    places = make_layout(drawn, engine=layout)
    for path in files:
        _write(drawn, places, path, dpi)
    if as_json:
        sys.stdout.write(to_json(drawn, places) + "\n")
    if not quiet:
        for note in drawn.notes:
            complain("note", note)
        if places.engine != "given":
            complain("note", places.note)
        number = sum(node.kind != "rule" for node in drawn.nodes)
        links = sum(not edge.source.startswith("rule-") for edge in drawn.edges)
        for path in files:
            # standard output is reserved for JSON
            typer.echo(f"{path}: {number:,} nodes, {links:,} links", err=as_json)


_ALL_MAPS = ("top", "min_size", "min_count", "counting", "weight", "resolution", "colour", "links")
_TAKES = {
    GraphKind.AUTHORS: ("authors", "topics", "min_weight", "words"),
    GraphKind.FLOW: ("topics", "min_weight", "words"),
    GraphKind.MAP: ("papers", "links"),
    GraphKind.THEMATIC: ("topics", "words"),
    GraphKind.CO_CITATION: _ALL_MAPS,
    GraphKind.COUPLING: _ALL_MAPS,
    GraphKind.AUTHOR_COUPLING: (*_ALL_MAPS, "max_members"),
    GraphKind.CO_WORDS: (*_ALL_MAPS, "terms"),
    GraphKind.CO_AUTHORS: (*_ALL_MAPS, "max_members"),
    GraphKind.CO_INSTITUTIONS: (*_ALL_MAPS, "max_members"),
    GraphKind.CO_COUNTRIES: (*_ALL_MAPS, "max_members"),
    GraphKind.HISTORIOGRAPH: ("top", "min_size", "resolution", "colour"),
    GraphKind.MAIN_PATH: ("top", "colour"),
}


def _given(options: PictureOptions | MapOptions) -> dict[str, Any]:
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return {name: value for name, value in values.items() if value is not None}


def _check_options(kind: GraphKind, given: dict[str, Any]) -> None:
    for name in given:
        if name not in _TAKES[kind]:
            allowed = ", ".join(f"--{option.replace('_', '-')}" for option in _TAKES[kind])
            raise ParameterError(
                f"--kind {kind} does not accept --{name.replace('_', '-')}; it accepts {allowed}."
            )


def _open(source: str, kind: GraphKind, *, quiet: bool) -> Any:
    """Open a run or, for maps of a corpus, anything from which a corpus can be made."""
    from citeweave.cli.show import make_console
    from citeweave.cli.sources import open_sources
    from citeweave.corpus.storage import is_corpus_folder
    from citeweave.explore import Exploration
    from citeweave.runs.folder import is_run_folder

    path = Path(source)
    if is_run_folder(path):
        return Exploration(path)
    if kind in OF_MODELS:
        if is_corpus_folder(path):
            others = ", ".join(k for k in GraphKind if k not in OF_MODELS)
            raise ParameterError(
                f"'{source}' is a corpus, but --kind {kind} needs a fitted model. Fit one first, "
                f"or choose one of: {others}."
            )
        return Exploration(path)  # raises an error that says what is wrong
    return open_sources([source], None if quiet else make_console(stderr=True))


def _build(view: Any, kind: GraphKind, given: dict[str, Any]) -> "Graph":
    from citeweave.explore.graphs import author_topics, bibliometric_map, paper_map, topic_flow

    if kind is GraphKind.AUTHORS:
        return author_topics(view, **given)
    if kind is GraphKind.FLOW:
        if "min_weight" in given:
            given["min_share"] = given.pop("min_weight")
        return topic_flow(view, **given)
    if kind is GraphKind.MAP:
        return paper_map(view, **given)
    if given.get("max_members") == 0:
        given["max_members"] = None
    return bibliometric_map(view, kind.value, **given)


def _write(drawn: "Graph", places: "GraphLayout", path: Path, dpi: float) -> None:
    from citeweave.explore.graphs import write_graph

    if path.suffix.lower() != ".html":
        write_graph(drawn, path, positions=places, dpi=dpi)
        return
    from citeweave.web.graph_page import write_graph_page

    write_graph_page(drawn, path, positions=places)
