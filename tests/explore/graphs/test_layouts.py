"""Layouts: no overlaps, the same every time, and distances that mean something."""

import builtins
import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citeweave.errors import MissingDependencyError, ParameterError
from citeweave.explore.graphs import Edge, Graph, Node, author_topics, layout, paper_map, topic_flow
from citeweave.explore.graphs.clearance import clear_lines, covered_lines
from citeweave.explore.graphs.layout import _by_program, _dot_lines
from citeweave.explore.graphs.map_layout import SPACING, place_papers
from citeweave.explore.graphs.stress import (
    arrange,
    overlapping_pairs,
    remove_overlaps,
    stress_layout,
)
from explore.graphs.made_up import make_model


def boxes_of(graph: Graph, places: dict[str, tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    spots = np.array([places[node.id] for node in graph.nodes])
    return spots, np.array([(node.width, node.height) for node in graph.nodes])


def overlaps(spots: np.ndarray, sizes: np.ndarray) -> list[tuple[int, int]]:
    """All pairs, each looked at: the twin of `overlapping_pairs`."""
    found = []
    for i in range(len(spots)):
        for j in range(i + 1, len(spots)):
            apart = np.abs(spots[i] - spots[j]) - (sizes[i] + sizes[j]) / 2
            if (apart < -1e-9).all():
                found.append((i, j))
    return found


@pytest.mark.parametrize("build", [author_topics, topic_flow])
@pytest.mark.parametrize("topics", [1, 2, 9])
def test_no_two_boxes_overlap(build, topics: int) -> None:
    graph = build(make_model(topics=topics, papers=200, authors=50))
    places = layout(graph, engine="own")
    assert overlaps(*boxes_of(graph, places)) == []
    assert places.engine == "own"
    assert "citeweave" in places.note


def test_the_same_graph_gives_the_same_places() -> None:
    first, second = (layout(author_topics(make_model()), engine="own") for _ in range(2))
    assert dict(first) == dict(second)
    one, two = (paper_map(make_model()) for _ in range(2))
    assert [n.position for n in one.nodes] == [n.position for n in two.nodes]


def test_distances_follow_the_graph() -> None:
    # a path of five: the ends are farthest apart
    links = np.array([(0, 1), (1, 2), (2, 3), (3, 4)])
    places = stress_layout(np.full((5, 2), 10.0), links, np.ones(4))
    apart = np.linalg.norm(places[0] - places, axis=1)
    assert apart.tolist() == sorted(apart.tolist())


def test_parts_that_are_not_linked_lie_apart() -> None:
    sizes = np.full((7, 2), 20.0)
    links = np.array([(0, 1), (1, 2), (3, 4)])
    places = stress_layout(sizes, links, np.ones(3))
    assert overlaps(places, sizes) == []
    assert places.shape == (7, 2)
    assert np.isfinite(places).all()


def test_lines_behind_boxes_are_found() -> None:
    # a line from 0 to 1, a box on it, one beside it and one beyond its end
    places = np.array([(0.0, 0.0), (100.0, 0.0), (50.0, 4.0), (50.0, 30.0), (140.0, 0.0)])
    sizes = np.full((5, 2), 20.0)
    links = np.array([(0, 1)])
    lines, nodes, pushes = covered_lines(places, sizes, links)
    assert (lines.tolist(), nodes.tolist()) == ([0], [2])
    np.testing.assert_allclose(pushes, [(0.0, 6.0)])  # up to the border of the box
    upright = covered_lines(places[:, ::-1], sizes, links)
    assert upright[1].tolist() == [2]
    moved = clear_lines(places, sizes, links, margin=5.0)
    assert len(covered_lines(moved, sizes, links)[0]) == 0
    assert overlaps(moved, sizes) == []


def test_no_line_runs_behind_an_author_or_topic() -> None:
    graph = author_topics(make_model(papers=200, authors=25, topics=6), min_weight=0.3)
    places = layout(graph, engine="own")
    spots, sizes = boxes_of(graph, places)
    links = np.array([(graph.index(e.source), graph.index(e.target)) for e in graph.edges])
    before = stress_layout(sizes, links, np.array([e.weight for e in graph.edges]))
    covered = len(covered_lines(spots, sizes, links)[0])
    assert covered < len(covered_lines(before, sizes, links)[0])
    assert covered <= 2


def test_degenerate_graphs() -> None:
    assert len(layout(Graph("g", "", (), ()))) == 0
    alone = Graph("g", "", (Node("topic", 0),), (Edge("topic-0", "topic-0", 1.0),))
    assert layout(alone, engine="own")["topic-0"] == (4.0, 4.0)
    assert arrange(np.zeros((0, 2)), np.zeros((0, 2)), np.empty((0, 2), int)).shape == (0, 2)


def test_many_nodes_are_placed_by_pivots() -> None:
    n = 1600
    links = np.column_stack((np.arange(n - 1), np.arange(1, n)))
    sizes = np.full((n, 2), 4.0)
    places = stress_layout(sizes, links, np.ones(n - 1))
    assert len(overlapping_pairs(places, sizes)) == 0


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(1, 30), st.integers(1, 30)),
        min_size=1,
        max_size=25,
    )
)
def test_overlaps_are_found_and_removed(rows: list[tuple[int, int, int, int]]) -> None:
    table = np.array(rows, float)
    spots, sizes = table[:, :2], table[:, 2:]
    found = {tuple(sorted(pair)) for pair in overlapping_pairs(spots, sizes).tolist()}
    assert found == set(overlaps(spots, sizes))
    moved = remove_overlaps(spots, sizes, margin=2.0)
    assert overlaps(moved, sizes + 2.0) == []


def test_islands_hold_their_papers() -> None:
    theta = np.random.default_rng(1).dirichlet(np.full(6, 0.2), size=2000)
    islands = place_papers(theta)
    dominant = theta.argmax(axis=1)
    away = np.linalg.norm(islands.papers - islands.centres[dominant], axis=1)
    assert (away <= islands.radii[dominant] + 1e-6).all()
    # the purer a paper the nearer to the middle
    for k in range(6):
        own = dominant == k
        pure = theta[own, k]
        assert np.corrcoef(pure, away[own])[0, 1] < -0.5
    nearest = np.sort(np.linalg.norm(islands.papers[:200, None] - islands.papers[None], axis=2))
    assert np.median(nearest[:, 1]) > SPACING / 3


def test_all_papers_alike_are_still_spread() -> None:
    islands = place_papers(np.tile([0.7, 0.3], (50, 1)))
    assert len(np.unique(islands.papers.round(6), axis=0)) == 50
    assert np.isnan(islands.centres[1]).all()


def test_engines_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = author_topics(make_model())
    with pytest.raises(ParameterError, match="engine"):
        layout(graph, engine="dot")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    with pytest.raises(MissingDependencyError, match=r"\[graphviz\]"):
        layout(graph, engine="graphviz")
    assert layout(graph).engine == "own"


def test_graphviz_as_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a program that answers as neato -Tplain does, all in one row
    program = tmp_path / "neato"
    program.write_text(
        "#!/bin/sh\n"
        "cat > /dev/null\n"
        "echo 'graph 1 10 10'\n"
        "echo 'node n0 1.0 2.0 1 1 x solid box black lightgrey'\n"
        "echo 'node n1 3.5 2.0 1 1 x solid box black lightgrey'\n"
        "echo stop\n"
    )
    program.chmod(0o755)
    places = _by_program(str(program), "graph g {}", 2)
    assert places.tolist() == [[72.0, -144.0], [252.0, -144.0]]
    with pytest.raises(MissingDependencyError, match="engine='own'"):
        _by_program(str(tmp_path / "absent"), "graph g {}", 2)
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    monkeypatch.setattr(shutil, "which", lambda _: str(program))
    pair = Graph("g", "", (Node("topic", 0), Node("topic", 1)), (Edge("topic-0", "topic-1", 1.0),))
    assert layout(pair).engine == "graphviz"


def test_graphviz_gets_numbers_alone() -> None:
    text = _dot_lines(np.array([[72.0, 36.0], [72.0, 36.0]]), np.array([[0, 1]]), np.ones(1), 1.0)
    assert "n0 [width=1.0000, height=0.5000];" in text
    assert "n0 -- n1 [len=" in text


def test_graphviz_of_the_wheel() -> None:
    pytest.importorskip("pygraphviz", reason="the extra 'graphviz' is not installed")
    graph = author_topics(make_model())
    places = layout(graph, engine="graphviz")
    assert "pygraphviz" in places.note
    assert overlaps(*boxes_of(graph, places)) == []


def test_own_layout_needs_no_graphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args, **kwargs):
        if name.startswith(("pygraphviz", "matplotlib")):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert len(layout(topic_flow(make_model()), engine="own")) > 0
