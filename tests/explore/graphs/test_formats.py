"""Formats: what is written can be read back, whatever a bibliography holds."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from citeweave.errors import ParameterError
from citeweave.explore.graphs import (
    Edge,
    Graph,
    Node,
    author_topics,
    layout,
    paper_map,
    to_dot,
    to_gexf,
    to_graphml,
    to_json,
    to_svg,
    to_vosviewer,
    topic_flow,
    write_graph,
)
from citeweave.explore.graphs.text import clean, shorten_name, text_width, wrap_words
from explore.graphs.made_up import NASTY, make_model

SVG = "{http://www.w3.org/2000/svg}"
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"
GEXF = "{http://gexf.net/1.3}"
VIZ = "{http://gexf.net/1.3/viz}"


@pytest.fixture(scope="module", params=["authors", "flow", "map"])
def drawn(request: pytest.FixtureRequest):
    build = {"authors": author_topics, "flow": topic_flow, "map": paper_map}[request.param]
    graph = build(make_model())
    return graph, layout(graph, engine="own")


def things(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.shape != "label"]


def test_svg_holds_all_nodes_and_edges(drawn) -> None:
    graph, places = drawn
    root = ET.fromstring(to_svg(graph, places))  # noqa: S314 (our own text)
    groups = {g.get("id"): g for g in root.iter(f"{SVG}g") if g.get("data-kind")}
    assert set(groups) == {node.id for node in graph.nodes}
    for node in graph.nodes:
        group = groups[node.id]
        assert (group.get("data-kind"), group.get("data-id")) == (node.kind, str(node.key))
        assert group.find(f"{SVG}title").text == clean(node.title)
        text = group.find(f"{SVG}text")
        lines = [] if text is None else [span.text for span in text]
        assert lines == [clean(line) for line in node.label]
    ends = [
        (e.get("data-source"), e.get("data-target")) for e in root.iter() if e.get("data-source")
    ]
    assert ends == [(edge.source, edge.target) for edge in graph.edges]
    assert not list(root.iter(f"{SVG}script"))


def test_svg_for_a_page_has_no_head_and_no_classes_where_not_wanted(drawn) -> None:
    graph, places = drawn
    part = to_svg(graph, places, standalone=False)
    assert part.startswith("<svg ")
    assert "<style" not in part
    assert 'class="cw-node' in part
    assert "class=" not in to_svg(graph, places, standalone=False, css_classes=False)
    assert "<script" not in part


def test_svg_keeps_all_nodes_in_its_view_box(drawn) -> None:
    graph, places = drawn
    root = ET.fromstring(to_svg(graph, places))  # noqa: S314
    left, top, width, height = map(float, root.get("viewBox").split())
    for node in graph.nodes:
        x, y = places[node.id]
        assert left <= x - node.width / 2 <= x + node.width / 2 <= left + width
        assert top <= y - node.height / 2 <= y + node.height / 2 <= top + height


def test_graphml_is_read_back(drawn) -> None:
    graph, places = drawn
    root = ET.fromstring(to_graphml(graph, places))  # noqa: S314
    keys = {key.get("id"): key.get("attr.name") for key in root.iter(f"{GRAPHML}key")}
    found = {}
    for node in root.iter(f"{GRAPHML}node"):
        found[node.get("id")] = {keys[data.get("key")]: data.text for data in node}
    assert set(found) == {node.id for node in things(graph)}
    for node in things(graph):
        assert (found[node.id]["title"] or "") == clean(node.title)
        assert float(found[node.id]["value"]) == pytest.approx(node.value, rel=1e-5)
        assert float(found[node.id]["x"]) == pytest.approx(places[node.id][0], rel=1e-5, abs=1e-3)
    edges = [(e.get("source"), e.get("target")) for e in root.iter(f"{GRAPHML}edge")]
    assert edges == [(edge.source, edge.target) for edge in graph.edges]
    direction = root.find(f"{GRAPHML}graph").get("edgedefault")
    assert direction == ("directed" if graph.directed else "undirected")


def test_gexf_is_read_back(drawn) -> None:
    graph, places = drawn
    root = ET.fromstring(to_gexf(graph, places))  # noqa: S314
    assert (root.tag, root.get("version")) == (f"{GEXF}gexf", "1.3")
    body = root.find(f"{GEXF}graph")
    assert [part.tag.removeprefix(GEXF) for part in body] == [
        "attributes",
        "attributes",
        "nodes",
        "edges",
    ]
    declared = {a.get("id") for a in body[0]}
    nodes = {node.get("id"): node for node in body.find(f"{GEXF}nodes")}
    assert set(nodes) == {node.id for node in things(graph)}
    for node in things(graph):
        values = {v.get("for"): v.get("value") for v in nodes[node.id].iter(f"{GEXF}attvalue")}
        assert set(values) <= declared
        assert values["title"] == clean(node.title)
        colour = nodes[node.id].find(f"{VIZ}color")
        rgb = "".join(f"{int(colour.get(part)):02x}" for part in "rgb")
        assert f"#{rgb}" == node.colour.lower()
        y = float(nodes[node.id].find(f"{VIZ}position").get("y"))
        assert y == pytest.approx(-places[node.id][1], abs=0.01)
    edges = body.find(f"{GEXF}edges")
    assert [(e.get("source"), e.get("target")) for e in edges] == [
        (edge.source, edge.target) for edge in graph.edges
    ]
    assert [float(e.get("weight")) for e in edges] == pytest.approx(
        [edge.weight for edge in graph.edges], rel=1e-5
    )


def test_vosviewer_is_read_back(drawn) -> None:
    graph, places = drawn
    network = json.loads(to_vosviewer(graph, places))["network"]
    items = network["items"]
    assert [item["id"] for item in items] == list(range(1, len(things(graph)) + 1))
    for item, node in zip(items, things(graph), strict=True):
        assert item["label"]
        assert -1.0 <= item["x"] <= 1.0
        assert -1.0 <= item["y"] <= 1.0
        assert 1 <= item["cluster"] <= 1000
        assert all(value >= 0 for value in item["weights"].values())
        assert "<" not in item["description"]  # shown as HTML there
        assert (item["weights"]["Size"]) == pytest.approx(node.value, abs=1e-6)
    ids = {item["id"] for item in items}
    assert len(network["links"]) == len(graph.edges)
    assert all({link["source_id"], link["target_id"]} <= ids for link in network["links"])
    assert {item["cluster"] for item in items} >= {c["cluster"] for c in network["clusters"]}


def test_json_is_read_back(drawn) -> None:
    graph, places = drawn
    found = json.loads(to_json(graph, places))
    assert [node["id"] for node in found["nodes"]] == [node.id for node in graph.nodes]
    assert [node["title"] for node in found["nodes"]] == [node.title for node in graph.nodes]
    assert len(found["edges"]) == len(graph.edges)
    assert all({"x", "y"} <= set(node) for node in found["nodes"])


def read_dot(text: str) -> tuple[dict[str, dict[str, str]], list[tuple[str, str]]]:
    """Read what `to_dot` writes by the rules of the language: quotes end at an unescaped quote."""
    string = r'"((?:[^"\\]|\\.)*)"'
    nodes, edges = {}, []
    for line in text.splitlines():
        if match := re.fullmatch(rf"  {string} (--|->) {string} \[.*\];", line):
            edges.append((match[1], match[3]))
        elif match := re.fullmatch(rf"  {string} \[(.*)\];", line):
            pairs = re.findall(rf"(\w+)={string}(?:, |$)", match[2])
            nodes[match[1]] = dict(pairs)
    return nodes, edges


def unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text).replace("&amp;", "&")


def test_dot_is_read_back(drawn) -> None:
    graph, places = drawn
    text = to_dot(graph, places)
    nodes, edges = read_dot(text)
    assert set(nodes) == {node.id for node in graph.nodes}
    for node in graph.nodes:
        assert unescape(nodes[node.id]["tooltip"]) == clean(node.title)
        x, y = nodes[node.id]["pos"].rstrip("!").split(",")
        assert (float(x), float(y)) == pytest.approx(
            (places[node.id][0], -places[node.id][1]), abs=0.06
        )
    assert edges == [(edge.source, edge.target) for edge in graph.edges]
    assert text.startswith("digraph" if graph.directed else "graph")
    assert "pos=" not in to_dot(graph)


def test_graphviz_reads_our_dot(drawn) -> None:
    pygraphviz = pytest.importorskip("pygraphviz", reason="the extra 'graphviz' is not installed")
    graph, places = drawn
    read = pygraphviz.AGraph(string=to_dot(graph, places))
    assert len(read.nodes()) == len(graph.nodes)
    assert len(read.edges()) == len(graph.edges)


def test_nasty_text_is_escaped_everywhere() -> None:
    nodes = (
        Node("author", 0, (NASTY,), NASTY, shape="ellipse"),
        Node("topic", 1, ("a\x00b\x1f", "]]> -->", "\ud800x"), "tab\tand\nbreak"),
    )
    graph = Graph("author-topics", NASTY, nodes, (Edge("author-0", "topic-1", 1.0, title=NASTY),))
    places = layout(graph, engine="own")
    for text in (to_svg(graph, places), to_graphml(graph, places), to_gexf(graph, places)):
        text.encode()  # no lone surrogates
        root = ET.fromstring(text)  # noqa: S314
        everything = " ".join(
            [*root.itertext(), *(v for e in root.iter() for v in e.attrib.values())]
        )
        assert clean(NASTY) in everything
        assert "tab and break" in everything
    dot, edges = read_dot(to_dot(graph, places))
    assert unescape(dot["author-0"]["label"]) == NASTY
    assert edges == [("author-0", "topic-1")]
    assert "\\\\N" in dot["author-0"]["label"]  # not Graphviz's "name of the node"


def test_files_are_written_by_the_end_of_their_name(drawn, tmp_path: Path) -> None:
    graph, places = drawn
    starts = {
        ".svg": b"<?xml",
        ".dot": b"digraph" if graph.directed else b"graph",
        ".graphml": b"<?xml",
        ".gexf": b"<?xml",
        ".json": b'{"network"',
    }
    for suffix, start in starts.items():
        path = tmp_path / f"picture{suffix}"
        assert write_graph(graph, path, positions=places) is places
        assert path.read_bytes().startswith(start)
    with pytest.raises(ParameterError, match=r"\.svg"):
        write_graph(graph, tmp_path / "picture.bmp", positions=places)


def test_png_and_pdf(drawn, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    graph, places = drawn
    for suffix, start in ((".png", b"\x89PNG"), (".pdf", b"%PDF")):
        first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
        for path in (first, second):
            write_graph(graph, path, positions=places, dpi=40)
        assert first.read_bytes().startswith(start)
        assert first.read_bytes() == second.read_bytes()
    with pytest.raises(ParameterError, match="dpi"):
        write_graph(graph, tmp_path / "a.png", positions=places, dpi=0)


def test_a_notebook_shows_a_graph(drawn) -> None:
    graph, _ = drawn
    assert graph._repr_svg_().startswith("<?xml")


def test_text_is_measured_and_broken() -> None:
    assert text_width("漢", 10) == 10.0
    assert text_width("e\u0301", 10) == text_width("e", 10)
    lines = wrap_words(["alpha", "beta", "gamma", "a very long phrase indeed"], 60, 10)
    assert " ".join(lines) == "alpha, beta, gamma, a very long phrase indeed"
    assert all(text_width(line, 10) <= 60 for line in lines[:-1])
    assert shorten_name("Jian Zhao 0010") == "Jian Zhao"
    assert shorten_name("Schwarzenberger, Maria Magdalena") == "M. M. Schwarzenberger"
    assert len(shorten_name("x" * 60)) == 22
