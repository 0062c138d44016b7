"""Positions of nodes: by Graphviz if available, otherwise by our own layout."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping

import numpy as np

from citeweave.errors import MissingDependencyError, ParameterError
from citeweave.explore.graphs.clearance import clear_lines
from citeweave.explore.graphs.graph import Graph
from citeweave.explore.graphs.stress import MARGIN, arrange, edge_lengths, stress_layout
from citeweave.installing import install_extra
from citeweave.naming import choice

__all__ = ["ENGINES", "GraphLayout", "layout"]

ENGINES = ("auto", "own", "graphviz")

PROGRAM = "neato"
SECONDS = 120
POINTS_PER_INCH = 72.0


class GraphLayout(Mapping[str, tuple[float, float]]):
    """Positions of nodes: a mapping from ids to (x, y), in points, with y downwards.

    Attributes
    ----------
    engine : str
        The layout that was used: ``own``, ``graphviz`` or ``given`` (by the graph itself).
    note : str
        The same in a sentence.

    Examples
    --------
    >>> from citeweave.explore.graphs import Graph, GraphLayout, Node, layout
    >>> graph = Graph("pair", "", (Node("word", 0, ("soil",)), Node("word", 1, ("crop",))), ())
    >>> positions = layout(graph, engine="own")
    >>> isinstance(positions, GraphLayout), sorted(positions), positions.engine
    (True, ['word-0', 'word-1'], 'own')
    """

    def __init__(self, places: Mapping[str, tuple[float, float]], engine: str, note: str) -> None:
        self._places = dict(places)
        self.engine = engine
        self.note = note

    def __getitem__(self, node_id: str) -> tuple[float, float]:
        """Return the position of a node."""
        return self._places[node_id]

    def __iter__(self) -> Iterator[str]:
        """Iterate over ids."""
        return iter(self._places)

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self._places)

    def __repr__(self) -> str:
        """Return a short description."""
        return f"GraphLayout({len(self):,} nodes, {self.engine})"


def _own() -> str:
    return choice("engine='own'", "--layout own")


def layout(graph: Graph, *, engine: str = "auto") -> GraphLayout:
    """Place the nodes of a graph so that no two of their boxes overlap.

    Parameters
    ----------
    graph : Graph
        A graph that has its own positions, such as a map of papers, keeps them.
    engine : {"auto", "own", "graphviz"}
        ``own`` has no requirements and gives the same picture on every machine. ``graphviz`` runs
        neato, from pygraphviz if it is installed, otherwise the program on the search path.
        ``auto`` uses Graphviz if it is available and ``own`` otherwise.

    Returns
    -------
    GraphLayout
        A mapping from node ids to (x, y); its `note` says how it was made.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore.graphs import author_topics, layout
    >>> graph = author_topics(citeweave.example_model(), authors=4)
    >>> positions = layout(graph, engine="own")
    >>> len(positions) == len(graph.nodes)
    True
    """
    if engine not in ENGINES:
        named = choice("'engine'", "--layout")
        raise ParameterError(
            f"{named} must be one of {', '.join(ENGINES)}. Got {engine!r} instead."
        )
    if graph.nodes and all(node.position is not None for node in graph.nodes):
        given = {node.id: node.position for node in graph.nodes if node.position is not None}
        return GraphLayout(given, "given", "Positions are those given by the graph.")
    sizes = np.array([(node.width, node.height) for node in graph.nodes]).reshape(-1, 2)
    links, weights = _links(graph)
    text = _dot_lines(sizes, links, weights, graph.spacing)
    kind, note = "graphviz", ""
    if engine == "own" or not graph.nodes:
        kind = "own"
    elif importlib.util.find_spec("pygraphviz") is not None:
        note = "Laid out by Graphviz (neato, from the package pygraphviz)."
        found = _by_wheel(text, len(sizes))
    elif (program := shutil.which(PROGRAM)) is not None:
        note = f"Laid out by Graphviz ({PROGRAM}, found on the search path)."
        found = _by_program(program, text, len(sizes))
    elif engine == "graphviz":
        raise MissingDependencyError(
            "Graphviz is not available: neither the package pygraphviz nor the program 'neato'. "
            f"Run: {install_extra('graphviz')}, or install Graphviz, or choose {_own()}."
        )
    else:
        kind = "own"
    if kind == "own":
        note = OWN_NOTE
        places = stress_layout(sizes, links, weights, spacing=graph.spacing)
    else:
        places = arrange(found, sizes, links, spacing=graph.spacing)
    if not graph.directed:  # arrows are curved, so straight lines do not matter
        places = clear_lines(places, sizes, links, margin=MARGIN * graph.spacing)
    return _named(graph, places, kind, note)


OWN_NOTE = (
    "Laid out by citeweave itself (stress majorisation). "
    "For a layout by Graphviz, install the extra 'graphviz', or Graphviz itself."
)


def _named(graph: Graph, places: np.ndarray, engine: str, note: str) -> GraphLayout:
    if len(places):
        sizes = np.array([(node.width, node.height) for node in graph.nodes])
        places = places - (places - sizes / 2).min(axis=0)
    named = {
        node.id: (float(x), float(y))
        for node, (x, y) in zip(graph.nodes, places.tolist(), strict=True)
    }
    return GraphLayout(named, engine, note)


def _links(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Edges as pairs of indices, without loops, which do not affect the layout."""
    rows = [
        (graph.index(edge.source), graph.index(edge.target), edge.weight)
        for edge in graph.edges
        if edge.source != edge.target
    ]
    table = np.array(rows, np.float64).reshape(-1, 3)
    return table[:, :2].astype(np.int64), table[:, 2]


def _dot_lines(sizes: np.ndarray, links: np.ndarray, weights: np.ndarray, spacing: float) -> str:
    """Write boxes and lengths only; without names and labels, nothing needs escaping."""
    lines = [
        "graph g {",
        'graph [overlap=true, start="7", maxiter=2000, pack=20, packmode="graph"];',
        'node [shape=box, fixedsize=true, label=""];',
    ]
    for place, (width, height) in enumerate((sizes / POINTS_PER_INCH).tolist()):
        lines.append(f"n{place} [width={width:.4f}, height={height:.4f}];")
    lengths = edge_lengths(sizes, links, weights, spacing) / POINTS_PER_INCH
    lines += [
        f"n{a} -- n{b} [len={length:.4f}];"
        for (a, b), length in zip(links.tolist(), lengths.tolist(), strict=True)
    ]
    return "\n".join([*lines, "}", ""])


def _by_wheel(text: str, number: int) -> np.ndarray:
    import pygraphviz  # noqa: PLC0415 (optional)

    drawn = pygraphviz.AGraph(string=text)
    try:
        drawn.layout(prog=PROGRAM)
        places = [
            [float(part) for part in drawn.get_node(f"n{place}").attr["pos"].split(",")[:2]]
            for place in range(number)
        ]
    finally:
        drawn.close()
    return _downwards(np.array(places))


def _by_program(program: str, text: str, number: int) -> np.ndarray:
    try:
        answer = subprocess.run(  # noqa: S603 (the program is Graphviz, its input is our own)
            [program, "-Tplain"],
            input=text,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise MissingDependencyError(
            f"Graphviz ('{program}') could not lay out the graph ({error}). "
            f"Repair it, or choose {_own()}."
        ) from error
    places = np.zeros((number, 2))
    for name, x, y in re.findall(r"^node n(\d+) (\S+) (\S+)", answer.stdout, flags=re.MULTILINE):
        places[int(name)] = float(x), float(y)
    return _downwards(places * POINTS_PER_INCH)


def _downwards(places: np.ndarray) -> np.ndarray:
    """Flip y, which Graphviz counts upwards and pictures count downwards."""
    return np.asarray(places * np.array([1.0, -1.0]))
