"""Bibliometric networks of a corpus: co-citation, coupling, co-words and others."""

from citeweave.networks.building import network_of
from citeweave.networks.clusters import cluster
from citeweave.networks.counting import COUNTINGS, WEIGHTS
from citeweave.networks.history import historiograph, main_path, search_path_counts
from citeweave.networks.network import WeightedNetwork
from citeweave.networks.sources import SOURCES, TERMS
from citeweave.networks.thematic import QUADRANTS, Themes, themes_of

KINDS = (*SOURCES, "historiograph", "main-path")
"""Networks of a corpus alone."""

__all__ = [
    "COUNTINGS",
    "KINDS",
    "QUADRANTS",
    "TERMS",
    "WEIGHTS",
    "Themes",
    "WeightedNetwork",
    "cluster",
    "historiograph",
    "main_path",
    "network_of",
    "search_path_counts",
    "themes_of",
]
