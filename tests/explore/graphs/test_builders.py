"""What graphs hold of a model: which nodes, which links, of what size."""

from xml.sax.saxutils import escape

import numpy as np
import pytest

from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore import Exploration
from citeweave.explore.graphs import (
    Edge,
    Graph,
    Node,
    author_topics,
    citation_backbone,
    layout,
    paper_map,
    topic_flow,
)
from citeweave.explore.graphs.image import draw
from citeweave.explore.graphs.picture import compose
from citeweave.explore.graphs.svg import to_svg
from citeweave.explore.graphs.text import clean
from explore.graphs.made_up import make_model


@pytest.fixture(scope="module")
def view() -> Exploration:
    return Exploration(make_model())


def test_links_are_the_weights_of_authors(view: Exploration) -> None:
    graph = author_topics(view, min_weight=0.2)
    assert graph.edges
    rows = np.asarray(view.group_topic)
    for edge in graph.edges:
        author, k = graph.node(edge.source), graph.node(edge.target)
        assert (author.kind, k.kind) == ("author", "topic")
        assert edge.weight == pytest.approx(rows[author.key, k.key])


def test_weak_links_are_dropped_but_for_the_strongest(view: Exploration) -> None:
    few = author_topics(view, min_weight=1.0)
    assert len(few.edges) == 12  # one for each author
    many = author_topics(view, min_weight=0.0)
    assert len(many.edges) == 12 * 3  # no author has more than three
    assert {(e.source, e.target) for e in few.edges} < {(e.source, e.target) for e in many.edges}
    some = author_topics(view, min_weight=0.3)
    strongest = {(e.source, e.target) for e in few.edges}
    assert all(e.weight >= 0.3 or (e.source, e.target) in strongest for e in some.edges)


def test_authors_are_sized_by_influence_and_topics_coloured_by_share(view: Exploration) -> None:
    graph = author_topics(view)
    people = [node for node in graph.nodes if node.kind == "author"]
    influence = np.asarray(view.author_influence)
    assert {node.key: node.value for node in people} == pytest.approx(
        {a: influence[a] for a in range(12)}
    )
    by_influence = sorted(people, key=lambda node: node.value)
    assert [n.font_size for n in by_influence] == sorted(n.font_size for n in people)
    boxes = sorted((n for n in graph.nodes if n.kind == "topic"), key=lambda node: node.value)
    assert [node.tint for node in boxes] == sorted(node.tint for node in boxes)
    assert all(node.colour == view.colours[node.key] for node in boxes)


def test_the_number_of_authors_is_limited_and_every_topic_reached() -> None:
    view = Exploration(make_model(papers=400, authors=120, topics=8))
    graph = author_topics(view)
    people = [node for node in graph.nodes if node.kind == "author"]
    assert len(people) == 30
    assert any("30 of 120 authors" in note for note in graph.notes)
    most = np.argsort(-np.asarray(view.author_influence))[:20]
    assert set(most.tolist()) <= {node.key for node in people}
    dominant = {node.group for node in people}
    assert dominant == set(np.asarray(view.group_topic).argmax(axis=1).tolist())
    assert len([n for n in author_topics(view, authors=5).nodes if n.kind == "author"]) == 5


def test_authors_and_topics_can_be_named(view: Exploration) -> None:
    graph = author_topics(view, authors=[3, 1], topics=[2, 0], min_weight=0.0)
    assert {node.id for node in graph.nodes} == {"author-1", "author-3", "topic-0", "topic-2"}
    with pytest.raises(ParameterError, match="99"):
        author_topics(view, authors=[99])
    with pytest.raises(ParameterError, match="topics"):
        author_topics(view, topics=[7])
    with pytest.raises(ParameterError, match="min_weight"):
        author_topics(view, min_weight=1.5)


def test_names_given_to_topics_are_drawn() -> None:
    view = Exploration(make_model())
    assert author_topics(view, topics=[0]).node("topic-0").label[0] != "Robotics"
    view.name_topic(0, "Robotics")
    assert author_topics(view, topics=[0]).node("topic-0").label[0] == "Robotics"
    assert topic_flow(view).node("topic-0").name == "Robotics"


def test_phrases_are_shown_whole(view: Exploration) -> None:
    assert "soil water" in topic_flow(view).node("topic-0").text


def test_without_citations_authors_are_sized_by_papers() -> None:
    graph = author_topics(make_model(network=False))
    assert any("number of papers" in note for note in graph.notes)
    first = {n.key: n.value for n in graph.nodes if n.kind == "author"}
    assert sum(first.values()) == 60


def test_a_model_without_authors_takes_means_of_papers() -> None:
    model = make_model(nodes=False)
    graph = author_topics(model, min_weight=0.0)
    corpus = model.corpus_
    edge = graph.edges[0]
    author, k = graph.node(edge.source).key, graph.node(edge.target).key
    own = corpus.first_authors == author
    assert edge.weight == pytest.approx(model.doc_topic_[own].mean(axis=0)[k])
    assert any("means over their papers" in note for note in graph.notes)


def test_no_authors_is_a_clear_message() -> None:
    with pytest.raises(NotFoundError, match="authors"):
        author_topics(make_model(authors=0))


def test_no_citations_is_a_clear_message() -> None:
    with pytest.raises(NotFoundError, match="no citations"):
        topic_flow(make_model(citations=0))
    assert not paper_map(make_model(citations=0)).edges


def test_one_topic_can_be_drawn() -> None:
    model = make_model(topics=1)
    for graph in (author_topics(model), topic_flow(model), paper_map(model)):
        assert len(layout(graph, engine="own")) == len(graph.nodes)


def test_flow_counts_citations(view: Exploration) -> None:
    graph = topic_flow(view, min_share=0.0)
    flow = (
        view.model.doc_topic_[view.corpus.citations[:, 0]].T
        @ (view.model.doc_topic_[view.corpus.citations[:, 1]])
    )
    assert graph.directed
    assert graph.edges
    for edge in graph.edges:
        k, other = graph.node(edge.source).key, graph.node(edge.target).key
        assert edge.weight == pytest.approx(flow[k, other])
        assert k != other
    assert not topic_flow(view, min_share=1.0).edges


def test_the_backbone_has_one_citation_a_paper(view: Exploration) -> None:
    rows = citation_backbone(view)
    citations = np.asarray(view.corpus.citations)
    citing = citations[rows, 0]
    assert sorted(citing.tolist()) == sorted(set(citations[:, 0].tolist()))
    theta, cited = view.model.doc_topic_, view.model.cited_propensity_
    rate = (theta[citations[:, 0]] * theta[citations[:, 1]]).sum(axis=1) * cited[citations[:, 1]]
    for row in rows.tolist():
        same = citations[:, 0] == citations[row, 0]
        assert rate[row] == pytest.approx(rate[same].max())


def test_papers_stand_on_the_island_of_their_topic(view: Exploration) -> None:
    graph = paper_map(view)
    papers = [node for node in graph.nodes if node.kind == "paper"]
    assert len(papers) == 60
    assert papers[0].title.startswith("<script>")
    spots = np.array([node.position for node in papers])
    groups = np.array([node.group for node in papers])
    assert groups.tolist() == view.model.doc_topic_.argmax(axis=1).tolist()
    centres = {k: spots[groups == k].mean(axis=0) for k in set(groups.tolist())}
    for spot, group in zip(spots, groups.tolist(), strict=True):
        nearest = min(centres, key=lambda k: float(np.linalg.norm(spot - centres[k])))
        assert nearest == group
    fewer = paper_map(view, papers=10, links=3)
    assert len([n for n in fewer.nodes if n.kind == "paper"]) == 10
    most = np.argsort(-view.model.cited_propensity_)[:10]
    assert {n.key for n in fewer.nodes if n.kind == "paper"} == set(most.tolist())
    assert len(fewer.edges) <= 3


@pytest.mark.parametrize("topics", [4, 50, 150])
def test_labels_of_the_map_cover_no_other_and_stay_at_their_islands(topics) -> None:
    view = Exploration(make_model(topics=topics, papers=12 * topics))
    graph = paper_map(view)
    labels = [node for node in graph.nodes if node.kind == "topic"]
    papers = [node for node in graph.nodes if node.kind == "paper"]
    assert {node.key for node in labels} == {node.group for node in papers}
    spots = np.array([node.position for node in papers])
    groups = np.array([node.group for node in papers])
    for number, one in enumerate(labels):
        assert one.name == clean(view.topic_name(one.key))
        own = spots[groups == one.key]
        reach = np.abs(own - own.mean(axis=0)).max() + one.height + one.font_size
        assert np.abs(np.subtract(one.position, own.mean(axis=0))).max() <= reach
        for other in labels[number + 1 :]:
            apart = np.abs(np.subtract(one.position, other.position))
            assert (2 * apart >= (one.width + other.width, one.height + other.height)).any()
    short = {node.key for node in labels if node.label == (str(node.key),)}
    assert len(short) < (1, 40, 150)[(4, 50, 150).index(topics)]
    assert [text.split()[0] for _, text in graph.listed] == [str(k) for k in sorted(short)]


def test_numbers_of_the_map_are_explained_below_it() -> None:
    view = Exploration(make_model(topics=150, papers=1800))
    graph = paper_map(view)
    assert graph.listed
    picture = compose(graph, layout(graph))
    left, top, width, height = picture.box
    lowest = max(shape.y for shape in picture.shapes)
    assert [entry.text for entry in picture.entries] == [clean(text) for _, text in graph.listed]
    for entry in picture.entries:
        assert left < entry.x < entry.begin < left + width
        assert lowest < entry.y < top + height
    text = to_svg(graph, layout(graph))
    figure = draw(graph, layout(graph))
    drawn = {words.get_text() for words in figure.axes[0].texts}
    for _, line in graph.listed:
        assert f">{escape(clean(line))}</text>" in text
        assert clean(line) in drawn


def test_a_graph_checks_itself() -> None:
    one = Node("topic", 1)
    with pytest.raises(ParameterError, match="topic-1"):
        Graph("g", "", (one, one), ())
    with pytest.raises(ParameterError, match="author-2"):
        Graph("g", "", (one,), (Edge("topic-1", "author-2", 1.0),))
    with pytest.raises(ParameterError, match="shape"):
        Graph("g", "", (Node("topic", 1, shape="star"),), ())
    with pytest.raises(ParameterError, match="no node 'x'"):
        Graph("g", "", (one,), ()).node("x")


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(ParameterError, match="doc_topic_"):
        author_topics(object())
