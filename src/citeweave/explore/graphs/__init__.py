"""Graphs of a fitted model, their layout, and the formats they are written in."""

import warnings

from citeweave.explore.graphs.author_topics import author_topics
from citeweave.explore.graphs.exchange import (
    to_dot,
    to_gexf,
    to_graphml,
    to_json,
    to_vosviewer,
)
from citeweave.explore.graphs.graph import Edge, Graph, Node
from citeweave.explore.graphs.image import draw, to_image
from citeweave.explore.graphs.layout import GraphLayout, layout
from citeweave.explore.graphs.lists import edges_csv, nodes_csv, to_pajek
from citeweave.explore.graphs.maps import MAPS, bibliometric_map, draw_network
from citeweave.explore.graphs.paper_map import citation_backbone, paper_map
from citeweave.explore.graphs.svg import to_svg
from citeweave.explore.graphs.thematic_map import thematic_map
from citeweave.explore.graphs.topic_flow import topic_flow
from citeweave.explore.graphs.write import FORMATS, write_graph

__all__ = [
    "FORMATS",
    "MAPS",
    "Edge",
    "Graph",
    "GraphLayout",
    "Node",
    "author_topics",
    "bibliometric_map",
    "citation_backbone",
    "draw",
    "draw_network",
    "edges_csv",
    "layout",
    "nodes_csv",
    "paper_map",
    "thematic_map",
    "to_dot",
    "to_gexf",
    "to_graphml",
    "to_image",
    "to_json",
    "to_pajek",
    "to_svg",
    "to_vosviewer",
    "topic_flow",
    "write_graph",
]


def __getattr__(name: str) -> object:
    """Return an object under its previous name, with a warning."""
    if name == "Layout":
        warnings.warn("Layout is now GraphLayout.", DeprecationWarning, stacklevel=2)
        return GraphLayout
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
