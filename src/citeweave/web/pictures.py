"""Pictures of the run, for the explorer and the report: networks that can be moved, and maps."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from citeweave.errors import NotFoundError
from citeweave.explore import Exploration, graphs
from citeweave.explore.graphs.map_data import map_data
from citeweave.networks.network import several
from citeweave.web.maps import MapOptions

__all__ = ["NETWORKS", "PICTURES", "Pictures", "map_json", "network_svg", "page_of"]

NETWORKS = {"authors": "Authors and topics", "flow": "Citations between topics"}
PICTURES = (*NETWORKS, "map", *graphs.MAPS)
KEPT = 24
"""Pictures that are kept, the latest; a map can be asked for in many ways."""


def network_svg(
    graph: graphs.Graph,
    places: graphs.GraphLayout,
    link: Callable[[graphs.Node], str] | None = None,
) -> Markup:
    """Draw a network for a page, which styles it; `link` gives the pages of its nodes."""
    # the writer escapes all text that comes from the corpus
    return Markup(graphs.to_svg(graph, places, standalone=False, link=link))  # noqa: S704


def page_of(node: graphs.Node) -> str:
    """Give the address of the page that a node of a picture leads to, or an empty text."""
    if node.kind in {"topic", "author", "paper", "institution", "country"}:
        return f"/{several(node.kind)}/{node.key}"
    return f"/search?q={quote(node.name)}" if node.kind == "word" else ""


def map_json(view: Exploration, *, titles: int | None = None) -> str:
    """Write the map of all papers as JSON that may stand inside a page.

    Parameters
    ----------
    view : Exploration
    titles : int, optional
        How many papers are named, the most cited first; all if not given.
    """
    text = json.dumps(map_data(view, titles=titles), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


class Pictures:
    """Makes pictures when they are first asked for and keeps them until a topic is renamed."""

    def __init__(self, view: Exploration, base: str = "") -> None:
        self._view = view
        self._base = base
        self._lock = threading.RLock()
        self.drawing_alone = threading.Lock()
        """Held while Matplotlib draws: its settings belong to the whole process."""
        self._graphs: dict[tuple[str, MapOptions], tuple[graphs.Graph, graphs.GraphLayout]] = {}
        self._map: str | None = None

    def forget(self) -> None:
        """Drop what carries names of topics."""
        with self._lock:
            self._graphs.clear()
            self._map = None

    def graph(self, kind: str, options: MapOptions = ()) -> tuple[graphs.Graph, graphs.GraphLayout]:
        """Give a graph with the places of its nodes; maps take options."""
        makers: dict[str, Callable[[Any], graphs.Graph]] = {
            "authors": graphs.author_topics,
            "flow": graphs.topic_flow,
            "map": graphs.paper_map,
        }
        if kind not in PICTURES:
            raise NotFoundError(f"There is no picture {kind!r}; there are {', '.join(PICTURES)}.")
        key = (kind, options)
        with self._lock:
            if key not in self._graphs:
                if kind == "authors":
                    self._view.require("authors")
                elif kind == "flow" and not self._view.corpus.n_citations:
                    self._view.require("citations")
                if kind in makers:
                    graph = makers[kind](self._view)
                else:
                    graph = graphs.bibliometric_map(self._view, kind, **dict(options))
                # our own layout gives the same picture on every computer
                self._graphs[key] = graph, graphs.layout(graph, engine="own")
                while len(self._graphs) > KEPT:
                    del self._graphs[next(iter(self._graphs))]
            return self._graphs[key]

    def network(self, kind: str, options: MapOptions = ()) -> tuple[graphs.Graph, Markup]:
        """Give a network and its drawing, each node a link to its page.

        What is listed below a picture stands beside it on a page.
        """
        graph, places = self.graph(kind, options)
        return graph, network_svg(replace(graph, listed=()), places, self._page_of)

    def _page_of(self, node: graphs.Node) -> str:
        path = page_of(node)
        return f"{self._base}{path}" if path else ""

    def paper_map(self) -> str:
        """Give the map of all papers as JSON."""
        with self._lock:
            if self._map is None:
                self._map = map_json(self._view)
            return self._map
