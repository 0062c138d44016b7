"""Our own layout: distances follow those in the graph, and no two nodes overlap.

Stress majorisation (Gansner, Koren and North 2005) from classical scaling, so that the same graph
always gives the same picture; then nodes are pushed apart until no boxes overlap.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

__all__ = [
    "arrange",
    "edge_lengths",
    "overlapping_pairs",
    "remove_overlaps",
    "scaled_stress",
    "stress_layout",
]

GAP = 26.0
"""Free length of an edge between the borders of its nodes, in points."""

MARGIN = 7.0
"""Minimum free space between any two nodes."""

FILL = 0.35
"""Part of a picture that nodes and their margins should cover, if possible."""

ASPECT = 1.5
"""Ratio of width to height of a picture, if there is a choice."""

DENSE = 1500
"""Maximum number of nodes for which all distances are used, rather than those from pivots."""

PIVOTS = 100


def stress_layout(
    sizes: np.ndarray, links: np.ndarray, weights: np.ndarray, *, spacing: float = 1.0
) -> np.ndarray:
    """Place nodes in the plane.

    Parameters
    ----------
    sizes : ndarray, shape (n, 2)
        Width and height of each node.
    links : ndarray of int, shape (m, 2)
        Nodes that edges join.
    weights : ndarray, shape (m,)
        Heavier edges are drawn shorter.
    spacing : float
        Multiplies `GAP` and `MARGIN`.

    Returns
    -------
    ndarray, shape (n, 2)
        Centres. Boxes are at least `MARGIN` apart.
    """
    lengths = edge_lengths(sizes, links, weights, spacing)
    places = np.zeros((len(sizes), 2))
    for inside, own in _parts(len(sizes), links):
        local = np.searchsorted(inside, links[own])
        places[inside] = _place_connected(len(inside), local, lengths[own])
    return arrange(places, sizes, links, spacing=spacing)


def arrange(
    places: np.ndarray, sizes: np.ndarray, links: np.ndarray, *, spacing: float = 1.0
) -> np.ndarray:
    """Turn a layout of points into one of boxes: compact, without overlaps.

    Parameters
    ----------
    places, sizes : ndarray, shape (n, 2)
    links : ndarray of int, shape (m, 2)
    spacing : float
        Multiplies `MARGIN`.
    """
    if not len(sizes):
        return np.zeros((0, 2))
    margin = spacing * MARGIN
    spots_of, members_of = [], []
    for inside, _ in _parts(len(sizes), links):
        spots = _condense(_lie_down(places[inside]), sizes[inside], margin)
        spots_of.append(remove_overlaps(spots, sizes[inside], margin=margin))
        members_of.append(inside)
    if len(spots_of) == 1:
        return spots_of[0]
    return _gather_parts(spots_of, members_of, sizes, links, 2 * margin)


def _parts(n: int, links: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Nodes and edges of each connected component, as indices in ascending order."""
    graph = csr_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(n, n))
    number, part_of = connected_components(graph, directed=False)
    of_link = part_of[links[:, 0]]
    return [(np.flatnonzero(part_of == p), np.flatnonzero(of_link == p)) for p in range(number)]


def edge_lengths(
    sizes: np.ndarray, links: np.ndarray, weights: np.ndarray, spacing: float = 1.0
) -> np.ndarray:
    """Return the desired length of each edge, from centre to centre."""
    if not len(links):
        return np.empty(0)
    radii = np.hypot(sizes[:, 0], sizes[:, 1]) / 2
    strength = weights / max(float(weights.max()), np.finfo(float).tiny)
    return np.asarray(
        spacing * GAP * (1.5 - strength) + 0.8 * (radii[links[:, 0]] + radii[links[:, 1]]),
        np.float64,
    )


def _place_connected(n: int, links: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    if n == 1:
        return np.zeros((1, 2))
    if n > DENSE:
        graph = csr_array((lengths, (links[:, 0], links[:, 1])), shape=(n, n))
        return _pivot_scaling(graph, n)
    matrix = np.zeros((n, n))
    # of several edges between two nodes, the shortest counts, which comes last
    for place in np.argsort(-lengths, kind="stable").tolist():
        a, b = links[place]
        matrix[a, b] = matrix[b, a] = lengths[place]
    distances = shortest_path(csr_array(matrix), directed=False)
    return _majorise(_classical_scaling(distances), distances)


def _condense(places: np.ndarray, sizes: np.ndarray, margin: float) -> np.ndarray:
    """Contract a picture with much empty space, towards the shape of a page.

    Distances keep their order along each axis; overlaps are removed afterwards.
    """
    extent = np.ptp(places, axis=0) + sizes.mean(axis=0)
    needed = float(np.prod(sizes + 2 * margin, axis=1).sum()) / FILL
    wanted = np.sqrt(needed * np.array([ASPECT, 1.0 / ASPECT]))
    return np.asarray(places * np.clip(wanted / extent, 0.45, 1.0))


def scaled_stress(distances: np.ndarray) -> np.ndarray:
    """Place points in the plane at the given `distances` [n, n] from each other."""
    return _lie_down(_majorise(_classical_scaling(distances), distances))


def _classical_scaling(distances: np.ndarray) -> np.ndarray:
    squares = distances**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    chosen = np.argsort(-values, kind="stable")[:2]
    places = np.zeros((len(distances), 2))
    found = vectors[:, chosen] * np.sqrt(np.maximum(values[chosen], 0.0))
    places[:, : found.shape[1]] = found
    places *= _signs(places)
    return np.asarray(places + _spread(len(places), 0.05 * float(distances.max())))


def _pivot_scaling(graph: csr_array, n: int) -> np.ndarray:
    """Place many nodes by their distances from some of them, far apart (Brandes and Pich 2007)."""
    nearest = np.full(n, np.inf)
    columns = []
    pivot = 0
    for _ in range(min(PIVOTS, n)):
        row = shortest_path(graph, directed=False, indices=pivot)
        columns.append(row)
        nearest = np.minimum(nearest, row)
        pivot = int(np.argmax(nearest))
    squares = np.column_stack(columns) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    _, vectors = np.linalg.eigh(centred.T @ centred)
    places = -centred @ vectors[:, [-1, -2]] / np.sqrt(n)
    places *= _signs(places)
    return np.asarray(places + _spread(n, 1.0))


def _signs(places: np.ndarray) -> np.ndarray:
    """Choose the sign of each axis by the largest entry of its eigenvector."""
    largest = np.abs(places).argmax(axis=0)
    return np.where(places[largest, np.arange(places.shape[1])] < 0, -1.0, 1.0)


def _spread(n: int, radius: float) -> np.ndarray:
    """Move nodes slightly, each in its own direction, so that no two coincide."""
    turns = np.arange(n) * (np.pi * (3.0 - np.sqrt(5.0)))  # the golden angle
    steps = radius * np.sqrt((np.arange(n) + 0.5) / n)
    return np.column_stack((steps * np.cos(turns), steps * np.sin(turns)))


def _majorise(places: np.ndarray, distances: np.ndarray, sweeps: int = 250) -> np.ndarray:
    """Lower the stress sum_ij (|x_i - x_j| - d_ij)^2 / d_ij^2, which no step can raise."""
    n = len(places)
    off = ~np.eye(n, dtype=bool)
    weights = np.zeros((n, n))
    weights[off] = distances[off] ** -2.0
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + np.ones((n, n)) / n) - np.ones((n, n)) / n
    last = np.inf
    for _ in range(sweeps):
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        stress = float((weights * (apart - distances) ** 2).sum())
        if last - stress < 1e-5 * stress:
            break
        last = stress
        ratio = np.divide(weights * distances, apart, out=np.zeros_like(apart), where=apart > 1e-9)
        places = inverse @ (np.diag(ratio.sum(axis=1)) - ratio) @ places
    return places


def _lie_down(places: np.ndarray) -> np.ndarray:
    """Rotate a picture so that it is widest from left to right, like pages and screens."""
    centred = places - places.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    turned = centred @ vectors[:, ::-1]
    return np.asarray(turned * _signs(turned))


def overlapping_pairs(places: np.ndarray, sizes: np.ndarray, margin: float = 0.0) -> np.ndarray:
    """Find pairs of boxes that overlap or are closer than a margin, as rows of two indices."""
    order = np.argsort(places[:, 0] - sizes[:, 0] / 2, kind="stable")
    left = (places[:, 0] - sizes[:, 0] / 2)[order]
    right = (places[:, 0] + sizes[:, 0] / 2)[order]
    ends = np.searchsorted(left, right + margin - 1e-9)
    counts = np.maximum(ends - np.arange(len(order)) - 1, 0)
    first = np.repeat(np.arange(len(order)), counts)
    starts = np.cumsum(counts) - counts
    second = np.arange(counts.sum()) - np.repeat(starts, counts) + first + 1
    a, b = order[first], order[second]
    apart = np.abs(places[a, 1] - places[b, 1])
    close = apart < (sizes[a, 1] + sizes[b, 1]) / 2 + margin - 1e-9
    return np.column_stack((a[close], b[close]))


def remove_overlaps(
    places: np.ndarray, sizes: np.ndarray, *, margin: float = MARGIN, rounds: int = 400
) -> np.ndarray:
    """Push boxes apart, each pair in the direction of the smaller overlap, until none overlap.

    If this cycles, the picture is widened slightly, so that it always ends.
    """
    places = np.array(places, np.float64)
    number = 0
    while len(pairs := overlapping_pairs(places, sizes, margin)):
        a, b = pairs[:, 0], pairs[:, 1]
        between = places[b] - places[a]
        needed = (sizes[a] + sizes[b]) / 2 + margin - np.abs(between)
        axis = (needed[:, 1] < needed[:, 0]).astype(int)
        rows = np.arange(len(pairs))
        direction = np.where(between[rows, axis] >= 0, 1.0, -1.0)
        # slightly more than needed, or rounding would leave the last overlaps forever
        step = direction * (needed[rows, axis] / 2 + 0.01)
        moves = np.zeros_like(places)
        met = np.zeros(places.shape)
        np.add.at(moves, (a, axis), -step)
        np.add.at(moves, (b, axis), step)
        np.add.at(met, (a, axis), 1.0)
        np.add.at(met, (b, axis), 1.0)
        places += moves / np.maximum(np.sqrt(met), 1.0)
        number += 1
        if number % rounds == 0:
            places = _apart(places) * 1.05
    return places


def _apart(places: np.ndarray) -> np.ndarray:
    """Separate coinciding nodes, which widening could not separate."""
    return (
        places
        if len(np.unique(places, axis=0)) == len(places)
        else places + _spread(len(places), 1.0)
    )


def _gather_parts(
    spots_of: list[np.ndarray],
    members_of: list[np.ndarray],
    sizes: np.ndarray,
    links: np.ndarray,
    margin: float,
) -> np.ndarray:
    """Arrange the components of a graph, with small ones in the gaps of large ones.

    The largest component stays. Each of the others gets the free spot on a grid that enlarges the
    picture least and is nearest to its middle. Spots under an edge are not free.
    """
    boxes = [
        np.column_stack((spots - sizes[inside] / 2, spots + sizes[inside] / 2))
        for spots, inside in zip(spots_of, members_of, strict=True)
    ]
    extents = [np.array([*box[:, :2].min(axis=0), *box[:, 2:].max(axis=0)]) for box in boxes]
    areas = [(e[2] - e[0]) * (e[3] - e[1]) for e in extents]
    places = np.zeros((len(sizes), 2))
    taken = np.empty((0, 4))
    whole = None
    for part in np.argsort(-np.array(areas), kind="stable").tolist():
        inside, spots, extent = members_of[part], spots_of[part], extents[part]
        if whole is None:
            shift = np.zeros(2)
        else:
            wide, high = extent[2] - extent[0], extent[3] - extent[1]
            corner = _free_spot(taken, whole, wide, high, margin)
            shift = corner - extent[:2]
        places[inside] = spots + shift
        moved = boxes[part] + np.tile(shift, 2)
        extent = extent + np.tile(shift, 2)
        lines = [
            _along(places[a], places[b]) for a, b in links.tolist() if a in set(inside.tolist())
        ]
        taken = np.concatenate((taken, moved, *lines))
        if whole is None:
            whole = extent
        else:
            whole = np.concatenate(
                (np.minimum(whole[:2], extent[:2]), np.maximum(whole[2:], extent[2:]))
            )
    return places


def _along(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Points along a line, as boxes without extent."""
    number = 2 + int(np.linalg.norm(end - begin) / 12.0)
    points = begin + np.linspace(0.0, 1.0, number)[:, None] * (end - begin)
    return np.column_stack((points, points))


def _free_spot(
    taken: np.ndarray, whole: np.ndarray, wide: float, high: float, margin: float
) -> np.ndarray:
    """Corner of a free box of a given size, in or next to a picture."""
    xs = np.linspace(whole[0] - wide - margin, whole[2] + margin, 60)
    ys = np.linspace(whole[1] - high - margin, whole[3] + margin, 60)
    x, y = (grid.ravel() for grid in np.meshgrid(xs, ys))
    free = np.ones(len(x), bool)
    for left, top, right, bottom in taken.tolist():
        free &= (
            (x >= right + margin)
            | (x + wide <= left - margin)
            | (y >= bottom + margin)
            | (y + high <= top - margin)
        )
    x, y = x[free], y[free]  # the corners of the grid are outside the picture, so some are free
    width = np.maximum(whole[2], x + wide) - np.minimum(whole[0], x)
    height = np.maximum(whole[3], y + high) - np.minimum(whole[1], y)
    middle = (whole[:2] + whole[2:]) / 2
    away = np.hypot(x + wide / 2 - middle[0], y + high / 2 - middle[1])
    # pages are wider than high
    cost = np.maximum(width, 1.5 * height) * 10 + np.sqrt(width * height) + away * 0.5
    best = int(np.argmin(cost))
    return np.array([x[best], y[best]])
