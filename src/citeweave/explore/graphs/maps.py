"""The usual bibliometric maps, of a corpus or of a fitted model."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.storage import is_corpus_folder
from citeweave.errors import ParameterError
from citeweave.explore.graphs.facts import PictureFacts, facts_of
from citeweave.explore.graphs.graph import Graph
from citeweave.explore.graphs.history_map import history_graph
from citeweave.explore.graphs.network_map import LINKS, map_graph
from citeweave.explore.graphs.painting import paint
from citeweave.explore.graphs.thematic_map import thematic_map
from citeweave.naming import option
from citeweave.networks import WeightedNetwork, historiograph, main_path, network_of
from citeweave.networks.counting import check_choice, check_number

__all__ = ["MAPS", "bibliometric_map", "draw_network"]

MAPS = {
    "co-citation": "Co-citation",
    "co-cited-works": "Cited works",
    "coupling": "Bibliographic coupling",
    "author-coupling": "Coupling of authors",
    "co-words": "Co-words",
    "co-authors": "Co-authors",
    "co-institutions": "Institutions",
    "co-countries": "Countries",
    "historiograph": "Historiograph",
    "main-path": "Main paths",
    "thematic": "Thematic map",
}
"""Kinds of maps with their names; all but the last need only a corpus."""


def bibliometric_map(
    source: Any,
    kind: str,
    *,
    colour: str = "cluster",
    links: int = LINKS,
    **options: Any,
) -> Graph:
    """Build one of the standard bibliometric maps.

    Parameters
    ----------
    source : Corpus, path of a corpus or run, Exploration or fitted model
        The thematic map and colours by topic require a fitted model.
    kind : str
        One of `MAPS`.
    colour : {"cluster", "topic", "year"}
        The meaning of colours; the thematic map always has the colours of its topics.
    links : int
        Maximum number of links, those with the largest counts.
    **options
        Options of `citeweave.networks.network_of`, `historiograph`, `main_path` or, for
        ``thematic``, `thematic_map`.

    Returns
    -------
    Graph
        The map, with its layout.

    Examples
    --------
    >>> corpus = Corpus.from_lists(
    ...     tokens=[["a"], ["b"], ["c"]], citations=[(2, 0), (2, 1)], titles=["One", "Two", "Three"]
    ... )
    >>> graph = bibliometric_map(corpus, "co-citation")
    >>> graph, graph.nodes[0].name
    (Graph('co-citation', 2 nodes, 1 edge), 'One')
    """
    check_choice("kind", kind, tuple(MAPS))
    check_number("links", links, 0)
    corpus, facts = _opened(source)
    if kind == "thematic":
        if facts is None:
            raise ParameterError("A thematic map needs topics: give the folder of a run.")
        return thematic_map(facts, **options)
    return draw_network(
        _network(corpus, kind, options), corpus=corpus, view=facts, colour=colour, links=links
    )


def draw_network(
    network: WeightedNetwork,
    *,
    corpus: Corpus | None = None,
    view: Any = None,
    colour: str = "cluster",
    links: int = LINKS,
) -> Graph:
    """Build a map of any weighted network.

    Parameters
    ----------
    network : WeightedNetwork
        From a corpus, or from `WeightedNetwork.from_edges`.
    corpus : Corpus, optional
        Corpus whose words name the clusters.
    view : Exploration, fitted model or path of a run, optional
        Required for colours by topic.
    colour, links
        As in `bibliometric_map`.

    Returns
    -------
    Graph

    Examples
    --------
    >>> from citeweave.networks import cluster
    >>> edges = [("Peru", "Chile", 3), ("Chile", "Cuba", 1), ("Peru", "Cuba", 1)]
    >>> draw_network(cluster(WeightedNetwork.from_edges(edges, of="country")))
    Graph('co-country', 3 nodes, 3 edges)
    """
    if not network.names:
        raise ParameterError("There is nothing to draw: the network has no nodes.")
    facts = None if view is None else facts_of(view)
    painting = paint(network, colour, corpus=corpus, facts=facts)
    if network.directed and not np.isnan(network.years).all():
        return history_graph(network, painting)
    return map_graph(network, painting, links=links)


def _opened(source: Any) -> tuple[Corpus, PictureFacts | None]:
    if isinstance(source, Corpus):
        return source, None
    if isinstance(source, str | os.PathLike) and is_corpus_folder(Path(source)):
        return Corpus.load(source), None
    facts = facts_of(source)
    return facts.corpus, facts


def _network(corpus: Corpus, kind: str, options: dict[str, Any]) -> WeightedNetwork:
    taken = {"historiograph": ("top", "min_size", "resolution", "seed"), "main-path": ("top",)}
    unknown = sorted(set(options) - set(taken.get(kind, options)))
    if unknown:
        raise ParameterError(
            f"A {kind} does not take {', '.join(map(option, unknown))}; it takes "
            f"{', '.join(map(option, taken[kind]))}."
        )
    if kind == "historiograph":
        return historiograph(corpus, **options)
    if kind == "main-path":
        return main_path(corpus, **options)
    return network_of(corpus, kind, **options)
