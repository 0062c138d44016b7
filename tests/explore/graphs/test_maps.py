"""Maps: what is drawn of networks, in which colours, and what other programs read of them."""

import csv
import io
import json
import sys
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import networkx as nx
import numpy as np
import pytest

from citeweave.corpus import Corpus
from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore import Exploration
from citeweave.explore.colours import PALETTE
from citeweave.explore.graphs import (
    MAPS,
    Graph,
    bibliometric_map,
    draw_network,
    edges_csv,
    layout,
    nodes_csv,
    thematic_map,
    to_graphml,
    to_pajek,
    to_svg,
    to_vosviewer,
    write_graph,
)
from citeweave.explore.graphs.geometry import bounds, extent
from citeweave.explore.graphs.network_map import LABELS
from citeweave.explore.graphs.stress import overlapping_pairs
from citeweave.explore.graphs.text import clean
from citeweave.networks import Themes, WeightedNetwork, cluster, network_of
from explore.graphs.made_up import NASTY, make_model


@pytest.fixture(scope="module")
def view() -> Exploration:
    return Exploration(make_model(papers=80, citations=300))


@pytest.fixture(
    scope="module",
    params=[kind for kind in MAPS if kind != "co-authors"],
)
def drawn(request: pytest.FixtureRequest, view: Exploration):
    graph = bibliometric_map(view, request.param)
    return graph, layout(graph)


def things(graph: Graph) -> list:
    return [node for node in graph.nodes if node.shape != "label"]


def test_every_map_is_placed_and_no_dot_or_name_covers_another(drawn) -> None:
    graph, places = drawn
    assert places.engine == "given"
    boxes, centres = [], []
    for node in things(graph):
        (x, y), (wide, above, below) = places[node.id], extent(node)
        boxes.append((2 * wide, above + below))
        centres.append((x, y + (below - above) / 2))
    if graph.name != "thematic-map":  # there quadrants matter more
        assert not len(overlapping_pairs(np.array(centres), np.array(boxes), margin=-0.5))
    left, top, right, bottom = bounds(graph, places)
    for (x, y), (wide, high) in zip(centres, boxes, strict=True):
        assert left - 1e-6 <= x - wide / 2 <= x + wide / 2 <= right + 1e-6
        assert top - 1e-6 <= y - high / 2 <= y + high / 2 <= bottom + 1e-6


def test_the_same_run_gives_the_same_map(view: Exploration) -> None:
    first = bibliometric_map(view, "co-citation")
    assert first == bibliometric_map(view, "co-citation")


def test_programs_read_nodes_links_and_clusters(drawn) -> None:
    graph, places = drawn
    nodes = things(graph)
    links = [e for e in graph.edges if graph.node(e.source).shape != "label"]
    read = nx.parse_graphml(to_graphml(graph, places))
    assert read.number_of_nodes() == len(nodes)
    assert read.number_of_edges() == len(links)
    assert not any(name.startswith("rule") for name in read)
    some = nodes[0]
    for name, value in some.facts:
        assert read.nodes[some.id][name] == pytest.approx(value, rel=1e-5)
    online = json.loads(to_vosviewer(graph, places))["network"]
    assert len(online["items"]) == len(nodes)
    assert len(online["links"]) == len(links)
    rows = list(csv.DictReader(io.StringIO(nodes_csv(graph, places))))
    assert [row["id"] for row in rows] == [node.id for node in nodes]
    lines = list(csv.DictReader(io.StringIO(edges_csv(graph))))
    assert [(row["source"], row["target"]) for row in lines] == [
        (e.source, e.target) for e in links
    ]


def test_pajek_files_number_nodes_and_list_links(drawn) -> None:
    graph, places = drawn
    nodes = things(graph)
    head, *lines = to_pajek(graph, places).splitlines()
    assert head == f"*Vertices {len(nodes)}"
    for number, (line, node) in enumerate(zip(lines, nodes, strict=False), start=1):
        assert line.startswith(f'{number} "')
        assert line.count('"') == 2
        x, y = map(float, line.split('"')[2].split()[:2])
        assert 0.0 <= min(x, y) <= max(x, y) <= 1.0
        assert clean(node.full_name).replace('"', "'") in line
    assert lines[len(nodes)] == ("*Arcs" if graph.directed else "*Edges")
    found = []
    for line in lines[len(nodes) + 1 :]:
        a, b, weight = line.split()
        found.append((nodes[int(a) - 1].id, nodes[int(b) - 1].id, float(weight)))
    links = [e for e in graph.edges if graph.node(e.source).shape != "label"]
    assert [pair[:2] for pair in found] == [(e.source, e.target) for e in links]
    assert [pair[2] for pair in found] == pytest.approx([e.weight for e in links], rel=1e-5)


def test_networkx_reads_pajek_files() -> None:
    graph = draw_network(
        WeightedNetwork.from_edges([("a b", "c", 2.0), ("c", "d", 1.0)], of="word")
    )
    read = nx.parse_pajek(to_pajek(graph, layout(graph)))
    weights = {frozenset(ends[:2]): ends[2] for ends in read.edges.data("weight")}
    assert weights == {frozenset({"a b", "c"}): 2.0, frozenset({"c", "d"}): 1.0}


def test_counts_go_to_vosviewer_and_both_to_the_list_of_edges(view: Exploration) -> None:
    graph = bibliometric_map(view, "co-citation")
    network = network_of(view.corpus, "co-citation")
    counts = sorted(network.counts.tolist())[-len(graph.edges) :]
    found = json.loads(to_vosviewer(graph, layout(graph)))["network"]
    assert sorted(link["strength"] for link in found["links"]) == pytest.approx(counts)
    rows = list(csv.DictReader(io.StringIO(edges_csv(graph))))
    assert sorted(float(row["count"]) for row in rows) == pytest.approx(counts)
    assert [float(row["weight"]) for row in rows] == [edge.weight for edge in graph.edges]
    names = {entry["label"] for entry in found["clusters"]}
    assert all(name.startswith("cluster ") for name in names)


def test_links_are_cut_to_the_strongest_but_nothing_falls_off(view: Exploration) -> None:
    network = network_of(view.corpus, "co-citation")
    graph = bibliometric_map(view, "co-citation", links=0)
    assert len(graph.edges) == len(network.names) - 1  # a tree that spans it
    assert any(f"of {len(network.links):,} links are drawn" in note for note in graph.notes)
    some = bibliometric_map(view, "co-citation", links=60)
    strongest = sorted(network.counts.tolist())[-60:]
    drawn = sorted(edge.count for edge in some.edges)
    assert drawn[-len(strongest) // 2 :] == strongest[-len(strongest) // 2 :]


def test_sizes_grow_with_citations_and_the_largest_have_names() -> None:
    many = LABELS + 10
    corpus = Corpus.from_lists(
        tokens=[["w"]] * (many + 30),
        citations=[(many + c, d) for d in range(many) for c in range(1 + d // 10)],
        titles=[f"Paper {d}" for d in range(many + 30)],
    )
    graph = bibliometric_map(corpus, "co-citation", top=many)
    by_size = sorted(graph.nodes, key=lambda node: node.value)
    widths = [node.width for node in by_size]
    assert widths == sorted(widths)
    assert sum(bool(node.label) for node in graph.nodes) == LABELS
    assert all(node.label for node in by_size[-LABELS:])


def test_colours_stand_for_clusters_topics_or_years(view: Exploration) -> None:
    clusters = bibliometric_map(view, "co-citation")
    assert all(node.colour == PALETTE[node.group] for node in clusters.nodes)
    assert all(dict(node.facts)["cluster"] == node.group + 1 for node in clusters.nodes)
    topics = bibliometric_map(view, "co-citation", colour="topic")
    assert all(node.group == view.dominant[node.key] for node in topics.nodes)
    assert all(node.colour == view.colours[node.group] for node in topics.nodes)
    years = bibliometric_map(view, "co-citation", colour="year")
    of_year: dict[float, set[str]] = {}
    for node in years.nodes:
        of_year.setdefault(dict(node.facts)["year"], set()).add(node.colour)
    assert all(len(colours) == 1 for colours in of_year.values())
    assert len({min(colours) for colours in of_year.values()}) == 5
    assert len({text for _, text in years.listed}) == len(years.listed)
    for graph in (clusters, topics, years):
        assert {node.colour for node in graph.nodes} <= {c for c, _ in graph.listed} | {
            min(colours) for colours in of_year.values()
        }


def test_a_paper_has_the_main_topic_that_pages_give_it() -> None:
    view = Exploration(make_model())
    # as a consensus of chains may: not the largest weight
    view.__dict__["dominant"] = (view.dominant + 1) % view.n_topics
    graph = bibliometric_map(view, "coupling", colour="topic")
    assert all(node.group == view.dominant[node.key] for node in graph.nodes)


def test_topics_of_words_and_authors_are_those_of_their_papers(view: Exploration) -> None:
    graph = bibliometric_map(view, "author-coupling", colour="topic")
    assert graph.nodes
    for node in graph.nodes:
        papers = view.papers_of_author[node.key]
        assert node.group == view.doc_topic[papers].sum(axis=0).argmax()


def test_the_historiograph_runs_down_the_years(view: Exploration) -> None:
    graph = bibliometric_map(view, "historiograph")
    papers = things(graph)
    assert graph.directed
    heights = {}
    for node in papers:
        heights.setdefault(int(view.years[node.key]), set()).add(node.position[1])
    order = sorted(heights)
    for year, following in pairwise(order):
        assert max(heights[year]) < min(heights[following])
    marks = [node.text for node in graph.nodes if node.shape == "label" and node.label]
    assert marks == [str(year) for year in order]
    cited = {(int(a), int(b)) for a, b in view.corpus.citations}
    for edge in graph.edges:
        source, target = graph.node(edge.source), graph.node(edge.target)
        assert source.kind == "rule" or (source.key, target.key) in cited


def test_a_main_path_without_years_is_drawn_too() -> None:
    corpus = Corpus.from_lists(tokens=[["w"]] * 4, citations=[(1, 0), (2, 1), (3, 2)])
    graph = bibliometric_map(corpus, "main-path")
    assert graph.directed
    assert len(graph.edges) == 3
    with pytest.raises(NotFoundError, match="have no years"):
        bibliometric_map(corpus, "historiograph")
    with pytest.raises(NotFoundError, match="no years to colour by"):
        bibliometric_map(corpus, "main-path", colour="year")


def test_the_thematic_map_keeps_topics_in_their_quadrants(
    view: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    four = Themes(
        topics=np.arange(4),
        centrality=np.array([9.0, 1.0, 2.0, 8.0]),
        density=np.array([9.0, 8.0, 1.0, 2.0]),
        words=(),
        links=np.ones((4, 4)) - np.eye(4),
    )
    module = sys.modules["citeweave.explore.graphs.thematic_map"]  # beside a function so named
    monkeypatch.setattr(module, "themes_of", lambda *_, **__: four)
    graph = thematic_map(view)
    assert [dict(node.facts)["quadrant"] for node in things(graph)] == [1, 2, 3, 4]
    ends = [graph.node(f"rule-{number}").position for number in range(4)]
    middle = (ends[2][0], ends[0][1])
    for node in things(graph):
        (x, y), facts = node.position, dict(node.facts)
        right, up = x > middle[0], y < middle[1]
        wanted = {(True, True): 1, (False, True): 2, (False, False): 3, (True, False): 4}
        assert facts["quadrant"] == wanted[right, up]
    svg = ET.fromstring(to_svg(graph, layout(graph)))  # noqa: S314 (our own text)
    text = " ".join("".join(e.itertext()) for e in svg.iter("{http://www.w3.org/2000/svg}text"))
    for name in ("Motor themes", "Niche themes", "Emerging or declining themes", "Basic themes"):
        assert name in text


def test_the_thematic_map_takes_the_largest_topics(view: Exploration) -> None:
    assert {node.key for node in things(thematic_map(view, topics=2))} == set(view.order[:2])
    with pytest.raises(ParameterError, match="'topics' must be at least 1"):
        thematic_map(view, topics=0)


def test_nasty_names_stay_text_and_rules_have_no_links(view: Exploration) -> None:
    graph = bibliometric_map(view, "historiograph", top=80)
    part = to_svg(
        graph, layout(graph), standalone=False, link=lambda n: "" if n.kind == "rule" else "/x"
    )
    assert "<script>alert" not in part
    root = ET.fromstring(part)  # noqa: S314
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        if group.get("data-kind"):
            linked = group.find("{http://www.w3.org/2000/svg}a") is not None
            assert linked == (group.get("data-kind") != "rule")
    network = WeightedNetwork.from_edges([(NASTY, "=1+1", 2.0)], of="word")
    wild = draw_network(cluster(network))
    assert "'=1+1" in nodes_csv(wild, layout(wild))


def test_any_network_can_be_drawn(tmp_path) -> None:
    edges = [("Peru", "Chile", 3), ("Chile", "Cuba", 1), ("Oman", "Iran", 2)]
    network = cluster(WeightedNetwork.from_edges(edges, of="country"))
    graph = draw_network(network)
    assert {node.kind for node in graph.nodes} == {"country"}
    for name in ("a.svg", "a.net", "a.csv", "a.nodes.csv", "a.gexf", "a.json"):
        write_graph(graph, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 50
    assert (tmp_path / "a.nodes.csv").read_text().startswith("id,kind,key,name")
    with pytest.raises(ParameterError, match="no nodes"):
        draw_network(WeightedNetwork.from_edges([], of="country"))
    with pytest.raises(NotFoundError, match="Topics of countries are not known"):
        draw_network(network, view=make_model(), colour="topic")
    plain = draw_network(replace(network, groups=None))
    assert {node.colour for node in plain.nodes} == {PALETTE[0]}


def test_maps_are_made_of_corpora_their_folders_and_runs(tmp_path) -> None:
    corpus = make_model(authors=0).corpus_
    folder = corpus.save(tmp_path / "corpus")
    assert bibliometric_map(folder, "coupling") == bibliometric_map(corpus, "coupling")
    with pytest.raises(ParameterError, match="thematic map needs topics"):
        bibliometric_map(folder, "thematic")
    with pytest.raises(ParameterError, match="'colour' topic needs a fitted model"):
        bibliometric_map(corpus, "coupling", colour="topic")
    with pytest.raises(ParameterError, match="'colour' must be one of cluster, topic, year"):
        bibliometric_map(corpus, "coupling", colour="red")
    with pytest.raises(ParameterError, match=r"'kind' must be one of .* Got 'x' instead"):
        bibliometric_map(corpus, "x")
    with pytest.raises(
        ParameterError, match="historiograph does not take 'weight'; it takes 'top'"
    ):
        bibliometric_map(corpus, "historiograph", weight="raw")
    with pytest.raises(NotFoundError, match="have no authors"):
        bibliometric_map(corpus, "co-authors")
