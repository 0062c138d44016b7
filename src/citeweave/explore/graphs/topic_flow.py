"""Citations between topics, summed by the topics of the papers at both ends."""

from typing import Any

import numpy as np

from citeweave.errors import ParameterError
from citeweave.explore.graphs.author_topics import topic_node
from citeweave.explore.graphs.facts import PictureFacts, facts_of
from citeweave.explore.graphs.graph import Edge, Graph
from citeweave.explore.graphs.text import clean
from citeweave.naming import choice, option
from citeweave.wording import percent

__all__ = ["topic_flow"]

MIN_SHARE = 0.06
MOST_LINKS = 2
FEWEST = 0.005
"""A topic that makes and gets less than this part of all citations is left out."""

LINE_WIDTHS = (0.8, 6.0)


def topic_flow(
    view: Any, *, topics: int | None = None, min_share: float = MIN_SHARE, words: int = 4
) -> Graph:
    """Build the graph of citations between topics.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    topics : int, optional
        How many topics, the largest; all in use by default.
    min_share : float
        An arrow is drawn if at least this share of a topic's citations goes to another topic; at
        most two arrows leave each topic.
    words : int
        Number of words in each rectangle.

    Returns
    -------
    Graph
        Directed; the weight of an edge is the expected number of citations.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore.graphs import topic_flow
    >>> graph = topic_flow(citeweave.example_model())
    >>> graph.directed, len(graph.nodes)
    (True, 3)
    """
    if not 0.0 <= min_share <= 1.0:
        named = choice("'min_share'", "--min-weight")
        raise ParameterError(f"{named} must be between 0 and 1. Got {min_share!r} instead.")
    if topics is not None and topics < 1:
        raise ParameterError(f"{option('topics')} must be at least 1. Got {topics} instead.")
    facts = facts_of(view)
    flow = facts.flow
    both = (flow.sum(axis=0) + flow.sum(axis=1)) / (2 * flow.sum())
    shown = [k for k in facts.topics if both[k] >= FEWEST][:topics]
    largest = max(float(facts.share[k]) for k in facts.topics)
    given = flow.sum(axis=1)
    nodes = []
    for k in shown:
        own = flow[k, k] / given[k] if given[k] > 0 else 0.0
        line = f"within: {percent(own, 0)} of citations"
        strength = float(facts.share[k]) / largest
        nodes.append(topic_node(facts, k, strength, words, extra=(line,)))
    notes = [
        f"Flows below {100 * min_share:g} % of a topic's citations are dropped.",
        f"No topic has more than {MOST_LINKS} arrows.",
    ]
    if len(shown) < len(facts.topics):
        notes.append(
            f"{len(shown)} of {len(facts.topics)} topics are shown: the largest ones with "
            "citations."
        )
    return Graph(
        name="topic-flow",
        title="Citations between topics",
        nodes=tuple(nodes),
        edges=tuple(_edges(facts, flow, shown, min_share)),
        directed=True,
        spacing=3.0,
        notes=tuple(notes),
        legend=tuple((facts.colours[k], clean(facts.name(k))) for k in shown),
    )


def _edges(facts: PictureFacts, flow: np.ndarray, shown: list[int], min_share: float) -> list[Edge]:
    found = []
    for k in shown:
        total = flow[k].sum()
        others = sorted((other for other in shown if other != k), key=lambda o: (-flow[k, o], o))
        for other in others[:MOST_LINKS]:
            weight = float(flow[k, other])
            if weight > 0 and weight >= min_share * total:
                found.append((k, other, weight, weight / total))
    heaviest = max((weight for *_, weight, _ in found), default=1.0)
    low, high = LINE_WIDTHS
    return [
        Edge(
            source=f"topic-{k}",
            target=f"topic-{other}",
            weight=weight,
            width=low + (high - low) * weight / heaviest,
            title=f"{clean(facts.name(k))} → {clean(facts.name(other))}: about {weight:,.0f} "
            f"citations, {percent(part, 0)} of those it makes",
        )
        for k, other, weight, part in found
    ]
