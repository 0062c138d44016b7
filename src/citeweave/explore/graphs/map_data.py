"""The map of papers for a canvas: positions, sizes and titles, and names of topics."""

from typing import Any

import numpy as np

from citeweave.explore.graphs.facts import facts_of
from citeweave.explore.graphs.paper_map import dot_sizes, island_middles
from citeweave.explore.graphs.text import clean

__all__ = ["map_data"]

LONGEST_TITLE = 140


def map_data(view: Any, *, titles: int | None = None) -> dict[str, Any]:
    """Describe the map of all papers by plain values.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    titles : int, optional
        Number of papers with titles, the most cited first; all if not given.

    Returns
    -------
    dict
        ``x``, ``y``, ``size``, ``topic`` and ``title`` of each paper, ``colours`` by topic, and
        ``labels`` of the topics that have an island: number, name, position and radius.
    """
    facts = facts_of(view)
    islands = facts.islands
    total = facts.corpus.n_documents
    named = np.ones(total, bool)
    if titles is not None and titles < total:
        named[:] = False
        named[np.argsort(-facts.cited, kind="stable")[:titles]] = True
    middles = island_middles(islands.papers, facts.dominant, len(facts.share))
    labels = [
        {
            "topic": k,
            "text": clean(facts.name(k)),
            "x": round(float(middles[k, 0]), 1),
            "y": round(float(middles[k, 1]), 1),
            "radius": round(float(islands.radii[k]), 1),
        }
        for k in facts.topics
        if islands.radii[k] > 0
    ]
    places = np.round(islands.papers, 1)
    return {
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "size": np.round(dot_sizes(facts.cited), 1).tolist(),
        "topic": facts.dominant.tolist(),
        "title": [_title(facts.view, d) if named[d] else "" for d in range(total)],
        "labels": labels,
        "colours": [facts.colours[k] for k in range(len(facts.share))],
    }


def _title(view: Any, paper: int) -> str:
    title, year = clean(view.title(paper)), int(view.years[paper])
    if len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE - 1].rstrip() + "…"
    return f"{title} ({year})" if year else title
