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
from citeweave.explore.graphs.paper_map import citation_backbone, paper_map
from citeweave.explore.graphs.svg import to_svg
from citeweave.explore.graphs.topic_flow import topic_flow
from citeweave.explore.graphs.write import FORMATS, write_graph

__all__ = [
    "FORMATS",
    "Edge",
    "Graph",
    "GraphLayout",
    "Node",
    "author_topics",
    "citation_backbone",
    "draw",
    "layout",
    "paper_map",
    "to_dot",
    "to_gexf",
    "to_graphml",
    "to_image",
    "to_json",
    "to_svg",
    "to_vosviewer",
    "topic_flow",
    "write_graph",
]


def __getattr__(name: str) -> object:
    """Give what had another name in the release before, with a warning."""
    if name == "Layout":
        warnings.warn("Layout is now GraphLayout.", DeprecationWarning, stacklevel=2)
        return GraphLayout
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
