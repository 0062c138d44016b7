"""Papers in chronological order: one row per year, with arrows from citing to cited papers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from citeweave.explore.graphs.geometry import LINE
from citeweave.explore.graphs.graph import Edge, Graph, Node
from citeweave.explore.graphs.network_map import Painting, link_edges, map_nodes
from citeweave.explore.graphs.text import text_width
from citeweave.networks import WeightedNetwork

__all__ = ["history_graph"]

ROW = 46.0
"""Height of a row of papers, in points."""

GAP = 14.0
WIDEST = 900.0
"""Width in points; a year whose papers do not fit into it has several rows."""

SWEEPS = 60
RULE = "#d9d9d9"
MAIN = "#444444"


def history_graph(network: WeightedNetwork, painting: Painting) -> Graph:
    """Draw a directed network of papers, the oldest at the top.

    Parameters
    ----------
    network : WeightedNetwork
        Network with links from citing to cited papers. Papers without a year are in the last row.
    painting : Painting
    """
    nodes = map_nodes(network, painting)
    wide = np.array(
        [
            max(node.width, *(text_width(line, node.font_size) for line in node.label), 0.0)
            for node in nodes
        ]
    )
    rows = _rows(network.years, wide)
    x = _across(network, rows, wide)
    top = 0.0
    y = np.zeros(len(nodes))
    marks: list[Node] = []
    edges: list[Edge] = []
    left, right = float((x - wide / 2).min()) - 60.0, float((x + wide / 2).max()) + 10.0
    for number, (year, members) in enumerate(rows):
        high = max(nodes[i].height + LINE * nodes[i].font_size for i in members)
        middle = top + high / 2 + LINE * 4  # names are above their dots
        y[members] = middle
        if number == 0 or rows[number - 1][0] != year:
            marks += _rule(len(marks), "" if year is None else str(year), left, right, top)
            edges.append(Edge(marks[-2].id, marks[-1].id, 0.0, width=0.5, colour=RULE))
            marks.append(_year_mark(len(marks), year, left, middle))
        top += max(ROW, high + GAP)
    placed = [
        # lines arrive from below, where newer papers are
        replace(node, position=(float(a), float(b)), above=True)
        for node, a, b in zip(nodes, x, y, strict=True)
    ]
    shown = np.arange(len(network.links))
    lines = link_edges(network, nodes, shown)
    if network.main is not None:
        main = network.main.tolist()
        lines = [
            replace(line, colour=MAIN, width=line.width + 0.8) if thick else line
            for line, thick in zip(lines, main, strict=True)
        ]
    lines = [replace(line, width=min(line.width, 1.8)) for line in lines]
    return Graph(
        name=network.kind,
        title=network.title,
        nodes=(*placed, *marks),
        edges=(*edges, *lines),
        directed=True,
        notes=network.notes,
        listed=painting.listed,
        legend=painting.listed,
        group_names=painting.group_names,
    )


def _rows(years: np.ndarray, wide: np.ndarray) -> list[tuple[int | None, np.ndarray]]:
    """Papers of each row: one row per year, or several for a year with many papers."""
    known = np.where(np.isnan(years), np.inf, years)
    rows: list[tuple[int | None, np.ndarray]] = []
    for year in np.unique(known).tolist():
        members = np.flatnonzero(known == year)
        needed = float((wide[members] + GAP).sum())
        parts = min(int(np.ceil(needed / WIDEST)), len(members))
        shown = None if np.isinf(year) else int(year)
        rows += [(shown, part) for part in np.array_split(members, parts)]
    return rows


def _across(
    network: WeightedNetwork, rows: Sequence[tuple[int | None, np.ndarray]], wide: np.ndarray
) -> np.ndarray:
    """Place papers from left to right, each near those that it cites and that cite it."""
    n = len(wide)
    table = np.zeros((n, n))
    first, second = network.links.T
    table[first, second] = table[second, first] = 1.0
    # begin with the clusters next to each other, so that lines stay within them
    groups = np.zeros(n) if network.groups is None else network.groups.astype(float)
    x = np.asarray(groups * 120.0)
    degree = np.maximum(table.sum(axis=1), 1.0)
    for sweep in range(SWEEPS):
        ideal = 0.15 * x + 0.85 * (table @ x) / degree
        # papers that are too close are spread again
        spread = max(float(np.std(ideal)), 1e-9)
        ideal = (ideal - ideal.mean()) * max(1.0, 0.25 * WIDEST / spread * (sweep < SWEEPS // 2))
        for _, members in rows:
            # rows stay aligned, or a long history would drift off the page
            near = ideal[members] - 0.4 * ideal[members].mean()
            x[members] = _apart(near, wide[members])
    return x


def _apart(ideal: np.ndarray, wide: np.ndarray) -> np.ndarray:
    """Spread a row until nothing overlaps, keeping its order and its centre."""
    order = np.argsort(ideal, kind="stable")
    room = (wide[order][:-1] + wide[order][1:]) / 2 + GAP
    offsets = np.concatenate(([0.0], np.cumsum(room)))
    # least squares under x_i + room <= x_(i+1): monotone regression of the remainders
    level = _monotone(ideal[order] - offsets)
    found = np.empty(len(ideal))
    found[order] = level + offsets
    return found


def _monotone(values: np.ndarray) -> np.ndarray:
    """Return the nearest increasing sequence, by pooling adjacent violators."""
    blocks: list[list[float]] = []
    for value in values.tolist():
        blocks.append([value, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, m), (b, n) = blocks[-2], blocks.pop()
            blocks[-1] = [(a * m + b * n) / (m + n), m + n]
    return np.concatenate([np.full(int(number), mean) for mean, number in blocks])


def _rule(number: int, year: str, left: float, right: float, top: float) -> list[Node]:
    """Make the ends of the line above a year: labels without text."""
    title = f"Papers of {year}" if year else "Papers without a year"
    return [
        Node(
            "rule",
            number + end,
            title=title,
            shape="label",
            width=0.0,
            height=0.0,
            position=(x, top - GAP / 2),
        )
        for end, x in enumerate((left, right))
    ]


def _year_mark(number: int, year: int | None, left: float, y: float) -> Node:
    text = "no year" if year is None else str(year)
    return Node(
        "rule",
        number,
        label=(text,),
        title=text,
        shape="label",
        width=44.0,
        height=12.0,
        font_size=10.0,
        heading=1,
        position=(left + 22.0, y),
    )
