"""Pictures of the run for the explorer and the report: interactive networks and maps."""

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
"""Maximum number of cached pictures; a map can be requested with many options."""


def network_svg(
    graph: graphs.Graph,
    places: graphs.GraphLayout,
    link: Callable[[graphs.Node], str] | None = None,
) -> Markup:
    """Draw a network without styles, which the page supplies; `link` maps nodes to URLs."""
    # the SVG writer escapes all text from the corpus
    return Markup(graphs.to_svg(graph, places, standalone=False, link=link))  # noqa: S704


def page_of(node: graphs.Node, *, papers: int) -> str:
    """Return the path of the page of a node, or an empty string if it has none.

    Parameters
    ----------
    node : Node
    papers : int
        Number of papers in the corpus. A cited work with a smaller key is a paper of the corpus;
        one outside the corpus has no page.
    """
    kind = "paper" if node.kind == "work" and node.key < papers else node.kind
    if kind in {"topic", "author", "paper", "institution", "country"}:
        return f"/{several(kind)}/{node.key}"
    return f"/search?q={quote(node.name)}" if kind == "word" else ""


def _doi_link(text: str) -> str:
    """Return the link of the DOI in a written reference, or an empty string if it has none."""
    from citeweave.preparing.keys import doi_key  # noqa: PLC0415 (slow import, for one map only)

    doi = doi_key(text)
    return f"https://doi.org/{quote(doi, safe='/')}" if doi else ""


def map_json(view: Exploration, *, titles: int | None = None) -> str:
    """Write the map of all papers as JSON that can be embedded in a page.

    Parameters
    ----------
    view : Exploration
    titles : int, optional
        Number of papers with titles, most cited first (default: all).
    """
    text = json.dumps(map_data(view, titles=titles), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


class Pictures:
    """Creates pictures on first use and caches them until a topic is renamed."""

    def __init__(self, view: Exploration, base: str = "") -> None:
        self._view = view
        self._base = base
        self._lock = threading.RLock()
        self.drawing_alone = threading.Lock()
        """Held while Matplotlib draws: its settings are global to the process."""
        self._graphs: dict[tuple[str, MapOptions], tuple[graphs.Graph, graphs.GraphLayout]] = {}
        self._map: str | None = None

    def forget(self) -> None:
        """Discard pictures that contain topic names."""
        with self._lock:
            self._graphs.clear()
            self._map = None

    def graph(self, kind: str, options: MapOptions = ()) -> tuple[graphs.Graph, graphs.GraphLayout]:
        """Return a graph with node positions; maps take options."""
        makers: dict[str, Callable[[Any], graphs.Graph]] = {
            "authors": graphs.author_topics,
            "flow": graphs.topic_flow,
            "map": graphs.paper_map,
        }
        if kind not in PICTURES:
            raise NotFoundError(f"There is no picture {kind!r}. Available: {', '.join(PICTURES)}.")
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
                # our own layout gives the same picture on every machine
                self._graphs[key] = graph, graphs.layout(graph, engine="own")
                while len(self._graphs) > KEPT:
                    del self._graphs[next(iter(self._graphs))]
            return self._graphs[key]

    def network(self, kind: str, options: MapOptions = ()) -> tuple[graphs.Graph, Markup]:
        """Return a network and its SVG, in which each node links to its page.

        The legend is omitted from the SVG, because the page shows it next to the picture.
        """
        graph, places = self.graph(kind, options)
        return graph, network_svg(replace(graph, listed=()), places, self._page_of)

    def _page_of(self, node: graphs.Node) -> str:
        path = page_of(node, papers=self._view.corpus.n_documents)
        if path:
            return f"{self._base}{path}"
        return _doi_link(node.full_name) if node.kind == "work" else ""

    def paper_map(self) -> str:
        """Return the map of all papers as JSON."""
        with self._lock:
            if self._map is None:
                self._map = map_json(self._view)
            return self._map
