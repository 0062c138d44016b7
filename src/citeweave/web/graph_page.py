"""A graph as one self-contained page with an interactive picture."""

import os
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

import citeweave
from citeweave.explore import graphs
from citeweave.files import write_bytes
from citeweave.web.pictures import network_svg
from citeweave.web.templating import make_environment, page_policy, resource

__all__ = ["graph_html", "write_graph_page"]

_SCRIPTS = ("canvas.js", "network.js")


def graph_html(graph: graphs.Graph, positions: graphs.GraphLayout | None = None) -> str:
    """Render a graph as an HTML page.

    Parameters
    ----------
    graph : Graph
    positions : GraphLayout, optional
        Node positions (default: computed by `citeweave.explore.graphs.layout`).
    """
    places = graphs.layout(graph) if positions is None else positions
    script = "\n".join(resource(name) for name in _SCRIPTS)
    template = make_environment(None).get_template("graph_page.html")
    return template.render(
        graph=graph,
        drawing=network_svg(replace(graph, listed=()), places),
        policy=page_policy(script),
        style=Markup(resource("citeweave.css")),  # noqa: S704 (our own file)
        script=Markup(script),  # noqa: S704
        version=citeweave.__version__,
    )


def write_graph_page(
    graph: graphs.Graph,
    path: str | os.PathLike[str],
    *,
    positions: graphs.GraphLayout | None = None,
) -> None:
    """Write the page of a graph to a file, replacing an existing file atomically."""
    write_bytes(Path(path), graph_html(graph, positions).encode())
