"""The map of papers: each near those of its topics, with the backbone of their citations."""

from typing import Any

import numpy as np

from citeweave.errors import ParameterError
from citeweave.explore.graphs.facts import PictureFacts, facts_of
from citeweave.explore.graphs.graph import Edge, Graph, Node
from citeweave.explore.graphs.map_labels import Island, Label, place_labels
from citeweave.explore.graphs.map_layout import Islands, place_papers
from citeweave.explore.graphs.text import clean
from citeweave.naming import option

__all__ = ["citation_backbone", "dot_sizes", "island_middles", "paper_map"]

MOST_PAPERS = 5000
MOST_LINKS = 1500
SIZES = (4.0, 15.0)


def citation_backbone(view: Any, *, papers: np.ndarray | None = None) -> np.ndarray:
    """Select the most important citation of each paper.

    It is the citation with the largest rate lambda-_j sum_k lambdaT_k theta'_ik theta'_jk: to a
    paper that is often cited, and for topics of the citing paper. (In a model without a network: to
    the most cited paper on similar topics.) The result is a forest with at most one link from each
    paper.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    papers : ndarray of bool, shape (D,), optional
        Papers that may be at either end.

    Returns
    -------
    ndarray of int, shape (links,)
        Rows of ``corpus.citations``, the strongest first.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore.graphs import citation_backbone
    >>> model = citeweave.example_model()
    >>> chosen = citation_backbone(model)
    >>> citing = model.corpus_.citations[chosen, 0]
    >>> len(set(citing.tolist())) == len(chosen) < model.corpus_.n_citations
    True
    """
    facts = facts_of(view)
    citations = np.asarray(facts.corpus.citations)
    rows = np.arange(len(citations))
    if papers is not None:
        rows = rows[papers[citations[:, 0]] & papers[citations[:, 1]]]
    if not len(rows):
        return rows
    citing, cited = citations[rows, 0], citations[rows, 1]
    scale = facts.topic_scale
    rates = np.empty(len(rows))
    for begin in range(0, len(rows), 50_000):
        part = slice(begin, begin + 50_000)
        both = facts.doc_topic[citing[part]] * facts.doc_topic[cited[part]]
        rates[part] = both @ scale * facts.cited[cited[part]]
    order = np.lexsort((cited, -rates, citing))
    first = np.ones(len(order), bool)
    first[1:] = citing[order][1:] != citing[order][:-1]
    best = order[first]
    return np.asarray(rows[best[np.argsort(-rates[best], kind="stable")]])


def paper_map(view: Any, *, papers: int | None = MOST_PAPERS, links: int = MOST_LINKS) -> Graph:
    """Build the map of papers, which has its own layout.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    papers : int, optional
        Maximum number of papers, those most likely to be cited; None for all.
    links : int
        Maximum number of citations of the backbone, the strongest.

    Returns
    -------
    Graph
        Nodes of the kind ``paper`` (value: lambda-, or times cited) and a label for each topic: its
        name where there is room, otherwise a number that ``listed`` explains.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore.graphs import paper_map
    >>> graph = paper_map(citeweave.example_model(), papers=50)
    >>> sum(node.kind == "paper" for node in graph.nodes)
    50
    """
    if papers is not None and papers < 1:
        raise ParameterError(f"{option('papers')} must be at least 1. Got {papers} instead.")
    if links < 0:
        raise ParameterError(f"'links' must not be negative. Got {links} instead.")
    facts = facts_of(view)
    total = facts.corpus.n_documents
    if not total:
        raise ParameterError("There are no papers to draw: the corpus is empty.")
    order = np.lexsort((np.arange(total), -facts.cited))
    chosen = np.sort(order[:papers])
    # the area of an island follows the papers drawn, or a few papers would be far apart
    islands = (
        facts.islands
        if len(chosen) == total
        else place_papers(facts.doc_topic[chosen], facts.dominant[chosen])
    )
    shown = np.zeros(total, bool)
    shown[chosen] = True
    notes = []
    if len(chosen) < total:
        by = "influence (λ⁻)" if facts.has_network else "citations"
        notes.append(f"{len(chosen):,} of {total:,} papers are shown, by {by}.")
    nodes = _paper_nodes(facts, chosen, islands.papers)
    backbone = citation_backbone(facts, papers=shown)
    if len(backbone) > links:
        notes.append(
            f"{links:,} of the {len(backbone):,} citations of the backbone are drawn "
            "(for each paper, the one with the highest rate)."
        )
    elif len(backbone):
        notes.append("For each paper, the citation with the highest rate is drawn.")
    edges = _edges(facts, backbone[:links])
    labels = _labels(facts, islands, facts.dominant[chosen])
    numbered = sorted(label.topic for label in labels if label.numbered)
    return Graph(
        name="paper-map",
        title="Papers by topic",
        nodes=(*nodes, *(_label_node(facts, label) for label in labels)),
        edges=tuple(edges),
        notes=tuple(notes),
        legend=tuple(
            (facts.colours[k], clean(facts.name(k))) for k in facts.topics if islands.radii[k] > 0
        ),
        listed=tuple((facts.colours[k], f"{k}  {clean(facts.name(k, 30))}") for k in numbered),
    )


def dot_sizes(cited: np.ndarray) -> np.ndarray:
    """Size dots so that their area follows how much papers are cited."""
    low, high = SIZES
    largest = max(float(cited.max(initial=0.0)), np.finfo(float).tiny)
    return np.asarray(low + (high - low) * np.sqrt(np.maximum(cited, 0.0) / largest))


def island_middles(papers: np.ndarray, dominant: np.ndarray, topics: int) -> np.ndarray:
    """Return the mean position of the papers of each topic [K, 2]; nan if it has none."""
    counts = np.bincount(dominant, minlength=topics)
    sums = np.column_stack([np.bincount(dominant, papers[:, axis], topics) for axis in (0, 1)])
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / counts[:, None])


def _paper_nodes(facts: PictureFacts, chosen: np.ndarray, places: np.ndarray) -> list[Node]:
    values = facts.cited[chosen]
    sizes = dot_sizes(values)
    titles, ids = facts.corpus.titles, facts.corpus.ids
    nodes = []
    for d, value, size, (x, y) in zip(
        chosen.tolist(), values.tolist(), sizes.tolist(), places.tolist(), strict=True
    ):
        k = int(facts.dominant[d])
        nodes.append(
            Node(
                kind="paper",
                key=d,
                title=clean(titles[d] or ids[d]),
                value=value,
                shape="dot",
                width=size,
                height=size,
                colour=facts.colours[k],
                group=k,
                position=(x, y),
            )
        )
    return nodes


def _labels(facts: PictureFacts, islands: Islands, dominant: np.ndarray) -> list[Label]:
    middles = island_middles(islands.papers, dominant, len(islands.radii))
    named = [
        Island(
            topic=k,
            name=clean(facts.name(k)),
            x=float(middles[k, 0]),
            y=float(middles[k, 1]),
            radius=float(islands.radii[k]),
        )
        for k in facts.topics
        if islands.radii[k] > 0
    ]
    return place_labels(named, span=float(np.ptp(islands.papers, axis=0).max()))


def _label_node(facts: PictureFacts, label: Label) -> Node:
    return Node(
        kind="topic",
        key=label.topic,
        label=label.lines,
        title=f"Topic {label.topic}: {', '.join(facts.words(label.topic, 6))}",
        value=float(facts.share[label.topic]),
        shape="label",
        width=label.width,
        height=label.height,
        font_size=label.font_size,
        group=label.topic,
        heading=len(label.lines),
        position=(label.x, label.y),
        full_name=clean(facts.name(label.topic)),
    )


def _edges(facts: PictureFacts, rows: np.ndarray) -> list[Edge]:
    citations = np.asarray(facts.corpus.citations)[rows]
    return [
        Edge(
            source=f"paper-{citing}",
            target=f"paper-{cited}",
            weight=1.0,
            width=0.4,
            colour="#9a9a9a",
        )
        for citing, cited in citations.tolist()
    ]
