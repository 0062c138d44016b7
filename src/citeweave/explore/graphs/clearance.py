"""Move nodes off the lines of other nodes, so that no line runs behind an unrelated box."""

import numpy as np

from citeweave.explore.graphs.stress import remove_overlaps

__all__ = ["clear_lines", "covered_lines"]

ROUNDS = 40
LARGEST = 150
"""Maximum number of nodes; in larger graphs, lines cross everything anyway."""

FREE = 3.0
"""Distance between a line and a box, in points."""


def covered_lines(
    places: np.ndarray, sizes: np.ndarray, links: np.ndarray, room: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find lines that run behind boxes other than those at their ends.

    Parameters
    ----------
    places, sizes : ndarray, shape (n, 2)
    links : ndarray of int, shape (m, 2)
    room : float
        Minimum distance between line and box.

    Returns
    -------
    lines, nodes : ndarray of int
        Indices into `links` and `places` of each pair.
    pushes : ndarray, shape (pairs, 2)
        How far the node would have to move, at right angles to the line.
    """
    begin, end = places[links[:, 0]], places[links[:, 1]]
    along = end - begin
    length = np.maximum(np.linalg.norm(along, axis=1), 1e-9)
    along = along / length[:, None]
    across = np.column_stack((-along[:, 1], along[:, 0]))
    offsets = places[None] - begin[:, None]  # lines x nodes x 2
    forward = np.einsum("lnd,ld->ln", offsets, along)
    aside = np.einsum("lnd,ld->ln", offsets, across)
    half = sizes / 2 + room
    reach = np.abs(across) @ half.T  # of a box, perpendicular to the line
    ahead = np.abs(along) @ half.T
    inside = (np.abs(aside) < reach) & (forward > -ahead) & (forward < length[:, None] + ahead)
    rows = np.arange(len(links))
    inside[rows, links[:, 0]] = False
    inside[rows, links[:, 1]] = False
    lines, nodes = np.nonzero(inside & _crosses(begin, end, places, half))
    way = np.where(aside[lines, nodes] >= 0, 1.0, -1.0)
    depth = reach[lines, nodes] - np.abs(aside[lines, nodes])
    return lines, nodes, across[lines] * (way * depth)[:, None]


def _crosses(
    begin: np.ndarray, end: np.ndarray, places: np.ndarray, half: np.ndarray
) -> np.ndarray:
    """Whether each line meets each box [lines, nodes]: the slabs of both axes overlap on it."""
    step = end - begin
    enter = np.zeros((len(begin), len(places)))
    leave = np.ones_like(enter)
    for axis in (0, 1):
        low = places[None, :, axis] - half[None, :, axis] - begin[:, None, axis]
        high = low + 2 * half[None, :, axis]
        move = step[:, None, axis]
        still = np.abs(move) < 1e-12
        safe = np.where(still, 1.0, move)
        first, second = low / safe, high / safe
        beside = (low > 0) | (high < 0)
        enter = np.maximum(
            enter, np.where(still, np.where(beside, 2.0, 0.0), np.minimum(first, second))
        )
        leave = np.minimum(leave, np.where(still, 1.0, np.maximum(first, second)))
    return np.asarray(enter < leave)


def clear_lines(
    places: np.ndarray, sizes: np.ndarray, links: np.ndarray, *, margin: float
) -> np.ndarray:
    """Push nodes off other lines and apart, in turn; the best intermediate state is returned.

    Boxes do not overlap if they did not before.
    """
    if not 2 < len(places) <= LARGEST or not len(links):
        return places
    best, fewest = places, len(covered_lines(places, sizes, links)[0])
    for number in range(ROUNDS):
        if fewest == 0:
            break
        lines, nodes, pushes = covered_lines(places, sizes, links, room=FREE)
        moves = np.zeros_like(places)
        # early rounds move nodes far, so that they can pass each other
        strength = 0.9 - 0.5 * number / ROUNDS
        np.add.at(moves, nodes, pushes * strength)
        for side in (0, 1):
            np.add.at(moves, links[lines, side], -0.25 * strength * pushes)
        places = remove_overlaps(places + moves, sizes, margin=margin)
        found = len(covered_lines(places, sizes, links)[0])
        if found < fewest:
            best, fewest = places, found
    return best
