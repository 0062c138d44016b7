"""Colours of topics: apart for every eye that can be asked, the same wherever a topic is shown."""

import json
import re
from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from citeweave.explore import Exploration
from citeweave.explore.colours import OTHER, PALETTE, TopicColours, mix, readable_on
from citeweave.explore.graphs import (
    author_topics,
    layout,
    paper_map,
    to_gexf,
    to_graphml,
    to_svg,
    to_vosviewer,
    topic_flow,
)
from explore.graphs.made_up import make_model

NOTICED = 0.02  # of OKLab: about what is just noticed
LIGHT, DARK = "#ffffff", "#1b1e23"  # grounds of the pages
DEUTERANOPIA = [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.011820, 0.042940, 0.968881],
]
PROTANOPIA = [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
]


def linear(colour: str) -> np.ndarray:
    levels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)


def oklab(colour: str, seen_as: list[list[float]] | None = None) -> np.ndarray:
    """Coordinates in OKLab (Ottosson 2020), as seen with a deficiency if one is given."""
    rgb = linear(colour)
    if seen_as is not None:
        rgb = np.clip(np.array(seen_as) @ rgb, 0.0, 1.0)
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    opponents = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return opponents @ np.cbrt(cones @ rgb)


def apart(first: str, second: str, seen_as: list[list[float]] | None = None) -> float:
    return float(np.linalg.norm(oklab(first, seen_as) - oklab(second, seen_as)))


def contrast(first: str, second: str) -> float:
    weights = np.array([0.2126, 0.7152, 0.0722])
    low, high = sorted(float(weights @ linear(colour)) for colour in (first, second))
    return (high + 0.05) / (low + 0.05)


def test_the_distance_is_that_of_oklab() -> None:
    assert oklab("#ffffff") == pytest.approx([1.0, 0.0, 0.0], abs=1e-4)
    assert oklab("#ff0000") == pytest.approx([0.62796, 0.22486, 0.12585], abs=1e-4)


def test_any_two_of_thirty_topics_differ_wherever_they_meet() -> None:
    colours = TopicColours(list(range(30)))
    nearest = min(apart(colours[a], colours[b]) for a, b in combinations(range(30), 2))
    assert nearest >= 4 * NOTICED
    followers = min(apart(a, b) for a, b in pairwise([colours[k] for k in range(30)]))
    assert followers >= 8 * NOTICED


def test_topics_that_follow_each_other_differ_round_the_whole_palette() -> None:
    colours = TopicColours(list(range(150)))
    assert min(apart(colours[k], colours[k + 1]) for k in range(149)) >= 8 * NOTICED
    assert len(set(PALETTE)) == len(PALETTE)


@pytest.mark.parametrize("ground", [LIGHT, DARK])
def test_every_colour_is_told_from_the_ground_of_both_themes(ground: str) -> None:
    assert min(contrast(colour, ground) for colour in PALETTE) >= 1.6
    assert min(apart(colour, ground) for colour in (*PALETTE, OTHER)) >= 5 * NOTICED


@pytest.mark.parametrize("seen_as", [DEUTERANOPIA, PROTANOPIA])
def test_the_first_ten_are_told_without_red_and_green(seen_as: list[list[float]]) -> None:
    pairs = combinations(PALETTE[:10], 2)
    assert min(apart(a, b, seen_as) for a, b in pairs) >= 3.5 * NOTICED
    assert min(apart(a, b, seen_as) for a, b in combinations(PALETTE[:30], 2)) >= 2 * NOTICED


def test_colours_follow_the_shares_of_topics() -> None:
    colours = TopicColours([5, 2])
    assert (colours[5], colours[2], colours[0]) == (PALETTE[0], PALETTE[1], OTHER)
    many = TopicColours(list(range(100)))
    assert many[0] == many[len(PALETTE)]


def test_words_can_be_read_on_every_colour() -> None:
    for colour in PALETTE:
        for share in (0.1, 0.4, 1.0):
            fill = mix(LIGHT, colour, share)
            assert contrast(fill, readable_on(fill)) >= 4.5


@pytest.mark.parametrize("build", [author_topics, topic_flow, paper_map])
def test_a_topic_has_its_colour_in_every_graph_and_file(build) -> None:
    view = Exploration(make_model(topics=6, papers=120))
    graph = build(view)
    places = layout(graph, engine="own")
    topics = {node.id: node.group for node in graph.nodes if node.kind in {"topic", "paper"}}
    for node in graph.nodes:
        if node.kind == "paper" or (node.kind == "topic" and node.shape == "box"):
            assert node.colour == view.colours[node.group]
    assert set(graph.legend) >= {
        (view.colours[k], view.topic_name(k)) for k in topics.values() if k is not None
    } - {(OTHER, "")}
    tree = ET.fromstring(to_svg(graph, places))  # noqa: S314 (our own text)
    for group in tree.iter("{http://www.w3.org/2000/svg}g"):
        if group.get("data-kind") == "paper" or "cw-box" in (group.get("class") or ""):
            found = {part.get("fill") for part in group} - {LIGHT, None}
            assert view.colours[int(group.get("data-group"))] in found
    root = ET.fromstring(to_graphml(graph, places))  # noqa: S314
    for node in root.iter("{http://graphml.graphdrawing.org/xmlns}node"):
        if node.get("id") in topics:
            colour = next(data.text for data in node if data.get("key") == "n_colour")
            assert colour == view.colours[topics[node.get("id")]]
    root = ET.fromstring(to_gexf(graph, places))  # noqa: S314
    for node in root.iter("{http://gexf.net/1.3}node"):
        if node.get("id") in topics:
            paint = node.find("{http://gexf.net/1.3/viz}color")
            found = "#" + "".join(f"{int(paint.get(part)):02x}" for part in "rgb")
            assert found == view.colours[topics[node.get("id")]]


def test_vosviewer_gets_the_colours_of_clusters() -> None:
    view = Exploration(make_model(topics=6, papers=120))
    graph = paper_map(view)
    found = json.loads(to_vosviewer(graph, layout(graph)))
    colours = {
        row["cluster"]: row["color"] for row in found["config"]["color_schemes"]["cluster_colors"]
    }
    for item, node in zip(
        found["network"]["items"], (n for n in graph.nodes if n.shape != "label"), strict=True
    ):
        assert re.fullmatch("#[0-9a-f]{6}", colours[item["cluster"]])
        assert colours[item["cluster"]] == view.colours[node.group]
