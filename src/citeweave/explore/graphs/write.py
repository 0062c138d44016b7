"""Write a graph to a file in the format that its name asks for."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from citeweave.errors import ParameterError
from citeweave.explore.graphs.exchange import to_dot, to_gexf, to_graphml, to_vosviewer
from citeweave.explore.graphs.graph import Graph
from citeweave.explore.graphs.image import to_image
from citeweave.explore.graphs.layout import GraphLayout, layout
from citeweave.explore.graphs.lists import edges_csv, nodes_csv, to_pajek
from citeweave.explore.graphs.svg import to_svg
from citeweave.explore.plots.style import check_dpi
from citeweave.files import write_bytes

__all__ = ["FORMATS", "format_of", "write_graph"]

Positions = Mapping[str, tuple[float, float]]

_TEXT: dict[str, Callable[[Graph, Positions], str]] = {
    ".svg": lambda graph, places: to_svg(graph, places, standalone=True),
    ".dot": to_dot,
    ".gv": to_dot,
    ".graphml": to_graphml,
    ".gexf": to_gexf,
    ".json": to_vosviewer,
    ".net": to_pajek,
    ".csv": edges_csv,
    ".nodes.csv": nodes_csv,
}
FORMATS = (*_TEXT, ".png", ".pdf")


def format_of(path: Path) -> str:
    """Return the format that the suffix of a file asks for, or raise an error."""
    name = path.name.lower()
    kind = ".nodes.csv" if name.endswith(".nodes.csv") else path.suffix.lower()
    if kind not in FORMATS:
        raise ParameterError(
            f"A graph is written to a file that ends in one of {', '.join(FORMATS)}. "
            f"Got '{path}' instead."
        )
    return kind


def write_graph(
    graph: Graph,
    path: str | os.PathLike[str],
    *,
    positions: GraphLayout | None = None,
    engine: str = "auto",
    dpi: float = 200.0,
) -> GraphLayout:
    """Write a graph to a file; the suffix of the file sets the format.

    Parameters
    ----------
    graph : Graph
    path : path
        ``.svg``, ``.png`` or ``.pdf`` (both by Matplotlib), ``.dot`` or ``.gv``, ``.graphml``,
        ``.gexf``, ``.json`` for VOSviewer, ``.net`` for Pajek, ``.csv`` for a list of edges or
        ``.nodes.csv`` for a list of nodes.
    positions : GraphLayout, optional
        Made by `layout` if not given.
    engine : {"auto", "own", "graphviz"}
        See `layout`.
    dpi : float
        Resolution of a PNG, in pixels per inch.

    Returns
    -------
    GraphLayout
        The layout that was used; its `note` says how it was made.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore.graphs import topic_flow, write_graph
    >>> positions = write_graph(topic_flow(citeweave.example_model()), "flow.svg", engine="own")
    >>> positions.engine
    'own'
    """
    path = Path(path)
    kind = format_of(path)
    check_dpi(dpi)
    places = layout(graph, engine=engine) if positions is None else positions
    if kind in _TEXT:
        content = _TEXT[kind](graph, places).encode()
    else:
        content = to_image(graph, places, kind=kind[1:], dpi=dpi)
    write_bytes(path, content)
    return places
