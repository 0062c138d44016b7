"""Colours of maps: by cluster, by topic of a fitted model, or by year."""

from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore.colours import OTHER, PALETTE, mix
from citeweave.explore.graphs.facts import PictureFacts
from citeweave.explore.graphs.network_map import Painting
from citeweave.explore.graphs.text import clean
from citeweave.naming import option
from citeweave.networks import WeightedNetwork
from citeweave.networks.describing import cluster_names
from citeweave.networks.network import several
from citeweave.wording import count

__all__ = ["COLOURINGS", "paint"]

COLOURINGS = ("cluster", "topic", "year")

# from dark to light like viridis, whose order is kept in greyscale
_YEARS = ("#440154", "#3b528b", "#21918c", "#5ec962", "#c8d820")
_MOST_LISTED = 20


def paint(
    network: WeightedNetwork, colour: str, *, corpus: Corpus | None, facts: PictureFacts | None
) -> Painting:
    """Colour the nodes of a network.

    Parameters
    ----------
    network : WeightedNetwork
    colour : {"cluster", "topic", "year"}
    corpus : Corpus, optional
        Corpus whose words name the clusters.
    facts : PictureFacts, optional
        A fitted model, for colours by topic.
    """
    if colour not in COLOURINGS:
        raise ParameterError(
            f"{option('colour')} must be one of {', '.join(COLOURINGS)}. Got {colour!r} instead."
        )
    if colour == "topic":
        return _by_topic(network, facts)
    if colour == "year":
        return _by_year(network)
    return _by_cluster(network, corpus)


def _by_cluster(network: WeightedNetwork, corpus: Corpus | None) -> Painting:
    groups = network.groups
    if groups is None:
        return Painting([PALETTE[0]] * len(network.names), None, ())
    sizes = np.bincount(groups)
    described = [""] * len(sizes) if corpus is None else cluster_names(corpus, network)
    names = [f"{g + 1} {clean(text)}".strip() for g, text in enumerate(described)]
    colours = [PALETTE[g % len(PALETTE)] for g in range(len(sizes))]
    listed = [
        (colours[g], f"{names[g]} ({count(int(sizes[g]), network.of, several(network.of))})")
        for g in range(min(len(sizes), _MOST_LISTED))
    ]
    return Painting(
        [colours[g] for g in groups.tolist()],
        groups.tolist(),
        tuple(listed),
        tuple(enumerate(f"cluster {name}" for name in names)),
    )


def _by_topic(network: WeightedNetwork, facts: PictureFacts | None) -> Painting:
    if facts is None:
        raise ParameterError(
            f"{option('colour')} topic needs a fitted model: give the folder of a run."
        )
    if network.papers is None:
        raise NotFoundError(f"Topics of {several(network.of)} are not known: colour by cluster.")
    weights = np.asarray(network.papers.T @ facts.doc_topic)
    topics = weights.argmax(axis=1)
    if network.of == "paper":
        topics = facts.dominant[network.keys]
    present = [k for k in facts.topics if (topics == k).any()]
    names = {k: clean(facts.name(k)) for k in present}
    sizes = {k: count(int((topics == k).sum()), network.of, several(network.of)) for k in present}
    listed = [(facts.colours[k], f"{k}  {names[k]} ({sizes[k]})") for k in present]
    return Painting(
        [facts.colours[k] for k in topics.tolist()],
        topics.tolist(),
        tuple(listed),
        tuple((k, f"topic {k} {name}") for k, name in names.items()),
    )


def _by_year(network: WeightedNetwork) -> Painting:
    years: Any = network.years
    known = ~np.isnan(years)
    if not known.any():
        raise NotFoundError(
            f"There are no years to colour by: the {several(network.of)} of the map have none."
        )
    # a few old ones must not make all others look the same
    low, high = np.quantile(years[known], [0.05, 0.95])
    span = max(float(high - low), 1e-9)
    colours = [
        _ramp((float(year) - float(low)) / span) if seen else OTHER
        for year, seen in zip(years.tolist(), known.tolist(), strict=True)
    ]
    stops = np.linspace(float(low), float(high), len(_YEARS))
    digits = 0 if span >= len(_YEARS) else 1  # mean years of authors and words are close together
    listed = [(shade, f"{year:.{digits}f}") for shade, year in zip(_YEARS, stops, strict=True)]
    if not known.all():
        listed.append((OTHER, "unknown"))
    groups = None if network.groups is None else network.groups.tolist()
    return Painting(colours, groups, tuple(listed))


def _ramp(share: float) -> str:
    place = min(max(share, 0.0), 1.0) * (len(_YEARS) - 1)
    first = min(int(place), len(_YEARS) - 2)
    return mix(_YEARS[first], _YEARS[first + 1], place - first)
