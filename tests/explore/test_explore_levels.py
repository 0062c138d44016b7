"""Topics of venues and periods that are levels of the model, in tables and plots."""

import numpy as np
import pytest

from citeweave.cli.show import author_table
from citeweave.corpus import Corpus
from citeweave.errors import NotFoundError
from citeweave.explore import Exploration
from citeweave.explore.facts import Z90
from citeweave.explore.levels import level_topics
from citeweave.explore.parts import join_parts
from citeweave.explore.plots import plot_levels
from citeweave.model import Groups
from explore.graphs.made_up import make_model
from reference.parted import fit_parted


@pytest.fixture(scope="module")
def view():
    return Exploration(fit_parted())


def test_every_venue_has_its_topics(view):
    table = view.levels("venue")
    assert table["level"].to_list() == ["venue"] * 3
    assert table["papers"].to_list() == [20, 20, 20]
    assert len(set(table["topic"].to_list())) == 3
    phi = np.asarray(view.topic_word)
    for row in table.iter_rows(named=True):
        word = row["name"].removeprefix("Journal of <b>").removesuffix("</b>")
        assert phi[row["topic"], view.corpus.vocabulary.index(word)] > 0.1
        assert row["weight_low"] <= row["weight"] <= row["weight_high"]
        assert row["weight_low"] < row["weight_high"]
        nu = view.model.level_topic_["venue"][row["node"]]
        np.testing.assert_allclose(row["weights"], nu[row["topics"]])
    assert view.levels().equals(table)


def test_the_table_of_venues_is_by_the_model(view):
    table = view.contributors("venues", sort="name")
    assert table["topics_from"].to_list() == ["model"] * 3
    level = {row["name"]: row for row in view.levels().iter_rows(named=True)}
    for row in table.iter_rows(named=True):
        assert row["weight"] == pytest.approx(level[row["name"]]["weight"])
        assert row["lows"] == pytest.approx(level[row["name"]]["lows"])
        page = view.contributor("venues", row["venue"])
        assert page.topics_from == "model"
        assert page.topics[0].low == pytest.approx(row["lows"][0])


def test_topics_of_other_contributors_are_of_their_papers(view):
    plain = Exploration(make_model())
    assert set(plain.contributors("countries")["topics_from"]) == {"papers"}
    with pytest.raises(NotFoundError, match=r"no level 'period'\. Fit one that has: citeweave fit"):
        view.levels("period")
    with pytest.raises(NotFoundError, match="has no levels that divide papers"):
        Exploration(make_model(years=False)).levels()


def test_an_author_has_one_row_whatever_the_venues(view):
    corpus = view.corpus
    names = [corpus.author_names[a] for a in view.groups.label.tolist()]
    assert len(set(names)) == len(names)
    assert view.authors()["topics_from"].to_list().count("model") == len(names)


def test_nodes_of_an_author_are_joined_by_papers():
    corpus = Corpus.from_lists(tokens=[["a"]] * 5, authors=[["Ann"]] * 3 + [["Bo"]] * 2)
    groups = Groups(
        level="nu",
        kind=np.array([0, 0, 0], np.int8),
        label=np.array([0, 1, 0], np.int32),
        documents=np.array([1, 2, 2], np.int32),
        of_document=np.array([0, 2, 2, 1, 1], np.int32),
        parent=np.array([0, 0, 1], np.int32),
        corpus=corpus,
    )
    topics = np.array([[0.9, 0.1], [0.5, 0.5], [0.3, 0.7]])
    joined, means, spread = join_parts(groups, topics, np.full((3, 2), 0.3))
    assert joined.names == ["Ann", "Bo"]
    assert joined.documents.tolist() == [3, 2]
    assert joined.of_document.tolist() == [0, 0, 0, 1, 1]
    np.testing.assert_allclose(means, [[0.5, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(spread, [[0.3 * 5**0.5 / 3] * 2, [0.3] * 2])
    assert join_parts(joined, means, None)[0] is joined


def test_periods_follow_each_other_in_plots():
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    model = make_model()
    figure = plot_levels(model)
    shown = figure.axes[0]
    names = [text.get_text() for text in shown.get_xticklabels()]
    assert names == ["2000", "2001", "2002", "2003", "2004"]
    view = Exploration(model)
    drawn = [ax.lines[0].get_ydata() for ax in figure.axes if ax.lines]
    for k, values in zip(view.order, drawn, strict=True):
        np.testing.assert_allclose(values, model.level_topic_["period"][:, k])
    with pytest.raises(NotFoundError, match="no level 'venue'"):
        plot_levels(model, level="venue")


def test_venues_stand_for_themselves_in_plots(view):
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    ax = plot_levels(view).axes[0]
    assert ax.lines[0].get_linewidth() == 0.0
    (spans,) = ax.collections  # from the lower to the upper end of each interval
    level = level_topics(view, "venue")
    k = view.order[0]
    half = Z90 * level.spread[level.rows, k]
    ends = np.array([span[:, 1] for span in spans.get_segments()])
    centre = level.topics[level.rows, k]
    expected = np.stack([np.maximum(centre - half, 0), np.minimum(centre + half, 1)], axis=1)
    np.testing.assert_allclose(ends, expected, atol=1e-6)


def test_the_table_of_a_run_names_every_author_once(view):
    table = author_table(view.model, [f"{k}" for k in range(4)], most=100)
    names = list(table.columns[0].cells)
    assert names
    assert len(set(names)) == len(names)
    assert not any("Journal" in name for name in names)
