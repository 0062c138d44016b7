"""Pictures of the run: the networks that can be moved, and the map of papers."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from citeweave.errors import NotFoundError
from citeweave.explore import Exploration, graphs
from citeweave.explore.graphs.facts import facts_of
from citeweave.explore.graphs.geometry import bounds
from citeweave.explore.labels import short_label

__all__ = ["NETWORKS", "PICTURES", "Drawing", "Pictures"]

NETWORKS = {"authors": "Authors and topics", "flow": "Citations between topics"}
PICTURES = (*NETWORKS, "map")
_MARGIN = 14.0
_LINE = 1.25  # distance of lines of text in font sizes, as in the graphs' own SVG
_LONGEST_TITLE = 140
_ARROW = 0.58  # how far on its way an edge carries its arrow


@dataclass(frozen=True)
class Drawing:
    """A graph with places, as the template of the network draws it."""

    title: str
    notes: tuple[str, ...]
    view_box: str
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    directed: bool


class Pictures:
    """Makes pictures when they are first asked for and keeps them until a topic is renamed."""

    def __init__(self, view: Exploration) -> None:
        self._view = view
        self._lock = threading.RLock()
        self.drawing_alone = threading.Lock()
        """Held while Matplotlib draws: its settings belong to the whole process."""
        self._graphs: dict[str, tuple[graphs.Graph, graphs.Layout]] = {}
        self._map: str | None = None

    def forget(self) -> None:
        """Drop what carries names of topics."""
        with self._lock:
            self._graphs.clear()
            self._map = None

    def graph(self, kind: str) -> tuple[graphs.Graph, graphs.Layout]:
        """Give a graph with the places of its nodes."""
        makers: dict[str, Callable[[Any], graphs.Graph]] = {
            "authors": graphs.author_topics,
            "flow": graphs.topic_flow,
            "map": graphs.paper_map,
        }
        if kind not in makers:
            raise NotFoundError(f"There is no picture {kind!r}; there are {', '.join(PICTURES)}.")
        with self._lock:
            if kind not in self._graphs:
                if kind == "authors":
                    self._view.require("authors")
                elif kind == "flow" and not self._view.corpus.n_citations:
                    self._view.require("citations")
                graph = makers[kind](self._view)
                # our own layout gives the same picture on every computer
                self._graphs[kind] = graph, graphs.layout(graph, engine="own")
            return self._graphs[kind]

    def drawing(self, kind: str) -> Drawing:
        """Give what the template of the network draws."""
        graph, places = self.graph(kind)
        left, top, right, bottom = bounds(graph, places)
        box = (
            left - _MARGIN,
            top - _MARGIN,
            right - left + 2 * _MARGIN,
            bottom - top + 2 * _MARGIN,
        )
        return Drawing(
            title=graph.title,
            notes=graph.notes,
            view_box=" ".join(f"{value:.1f}" for value in box),
            nodes=[_node(node, places[node.id]) for node in graph.nodes],
            edges=[_edge(edge, places) for edge in graph.edges],
            directed=graph.directed,
        )

    def paper_map(self, slot: Callable[[int], int]) -> str:
        """Give places, topics and titles of all papers by columns, and the names, as JSON.

        ``slot`` numbers the colours of topics.
        """
        with self._lock:
            if self._map is None:
                found = self._make_map(slot)
                self._map = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
            return self._map

    def _make_map(self, slot: Callable[[int], int]) -> dict[str, Any]:
        view = self._view
        islands = facts_of(view).islands
        places = np.round(islands.papers, 1)
        slots = np.array([slot(k) for k in range(view.n_topics)])
        years = view.years.tolist()
        titles = [
            f"{_cut(view.title(d))}{f' ({year})' if year else ''}" for d, year in enumerate(years)
        ]
        labels = [
            {
                "x": round(float(islands.centres[k, 0]), 1),
                "y": round(float(islands.centres[k, 1]), 1),
                "text": short_label(view.topic_name(k), 26),
            }
            for k in view.order
            if islands.radii[k] > 0
        ]
        return {
            "document": list(range(len(titles))),
            "x": places[:, 0].tolist(),
            "y": places[:, 1].tolist(),
            "topic": slots[view.dominant].tolist(),
            "title": titles,
            "labels": labels,
        }


def _cut(text: str, longest: int = _LONGEST_TITLE) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _node(node: graphs.Node, place: tuple[float, float]) -> dict[str, Any]:
    step = node.font_size * _LINE
    first = -step * (len(node.label) - 1) / 2 + 0.35 * node.font_size
    return {
        "id": node.id,
        "kind": node.kind,
        "href": f"/{node.kind}s/{node.key}",
        "title": node.title or node.text,
        "name": node.text,
        "shape": node.shape,
        "x": round(place[0], 1),
        "y": round(place[1], 1),
        "width": round(node.width, 1),
        "height": round(node.height, 1),
        "font": round(node.font_size, 2),
        "colour": node.colour,
        "lines": [
            {"text": line, "y": round(first + number * step, 1), "bold": number < node.heading}
            for number, line in enumerate(node.label)
        ],
    }


def _edge(edge: graphs.Edge, places: graphs.Layout) -> dict[str, Any]:
    (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
    # two strokes, so that an arrow can stand where they meet
    x, y = x1 + _ARROW * (x2 - x1), y1 + _ARROW * (y2 - y1)
    return {
        "source": edge.source,
        "target": edge.target,
        "width": round(edge.width, 2),
        "title": edge.title,
        "path": f"M{x1:.1f} {y1:.1f}L{x:.1f} {y:.1f}L{x2:.1f} {y2:.1f}",
    }
