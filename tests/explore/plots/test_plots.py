"""Plots: figures that hold what the model holds, and clear words where there is nothing to plot."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from citeweave.errors import MissingDependencyError, NotFoundError, ParameterError
from citeweave.explore import Exploration
from citeweave.explore import plots as p
from citeweave.explore.plots.style import figures_of_width, spread_labels, wrap_name
from explore.graphs.made_up import make_model

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")


@pytest.fixture(scope="module")
def view() -> Exploration:
    return Exploration(make_model())


def new_axes():
    from matplotlib.figure import Figure

    return Figure().add_subplot()


@pytest.mark.parametrize("kind", list(p.KINDS))
def test_every_plot_is_a_figure(view: Exploration, kind: str) -> None:
    from matplotlib.figure import Figure

    figure = p.KINDS[kind](view)
    assert isinstance(figure, Figure)
    assert figure.axes


@pytest.mark.parametrize("kind", list(p.KINDS))
def test_every_plot_can_be_drawn_on_given_axes(view: Exploration, kind: str) -> None:
    ax = new_axes()
    assert p.KINDS[kind](view, ax) is ax.figure
    assert ax.has_data()


def test_convergence_has_a_line_a_chain_and_marks_the_network(view: Exploration) -> None:
    ax = new_axes()
    p.plot_convergence(view, ax)
    lines = [line for line in ax.lines if line.get_label().startswith("chain")]
    assert len(lines) == 2
    traces = view.model.traces_["log_likelihood"] / view.corpus.n_tokens
    for line, trace in zip(lines, traces, strict=True):
        np.testing.assert_allclose(line.get_ydata(), trace)
    marks = [line for line in ax.lines if line not in lines]
    assert [list(mark.get_xdata()) for mark in marks] == [[21, 21]]  # on from the 21st iteration
    words = [text.get_text().strip() for text in ax.texts]
    assert "citations from here" in words
    assert any(text.startswith("R-hat") for text in words)


def test_a_model_of_text_alone_has_no_mark() -> None:
    model = make_model()
    model.traces_["acceptance"] = np.full_like(model.traces_["acceptance"], np.nan)
    ax = new_axes()
    p.plot_convergence(model, ax)
    assert len(ax.lines) == 2
    with pytest.raises(NotFoundError, match="never used"):
        p.plot_acceptance(model)


def test_concentrations_and_acceptance_have_their_lines(view: Exploration) -> None:
    ax = new_axes()
    p.plot_acceptance(view, ax)
    assert len(ax.lines) == 2 * 2  # two kinds, two chains
    ax = new_axes()
    p.plot_concentrations(view, ax)
    lines = [line for line in ax.lines if len(line.get_xdata()) == 40]
    assert len(lines) == 2 * 2  # two levels, two chains
    assert {text.get_text() for text in ax.texts} >= {r"$\mu$", r"$\theta'$"}


def test_rhat_shows_what_moves(view: Exploration) -> None:
    ax = new_axes()
    p.plot_rhat(view, ax)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["log likelihood", r"$\mu$", r"$\theta'$"]  # topics in use stand still
    still = make_model(iterations=6)
    with pytest.raises(NotFoundError, match="four kept"):
        p.plot_rhat(still)


def test_a_model_without_traces_says_so() -> None:
    model = make_model()
    del model.traces_
    with pytest.raises(NotFoundError, match="not fitted by sampling"):
        p.plot_convergence(model)


def test_topics_over_time_have_a_panel_each(view: Exploration) -> None:
    figure = p.plot_topics_over_time(view)
    shown = [ax for ax in figure.axes if ax.lines]
    assert len(shown) == 4
    theta, years = view.model.doc_topic_, np.array([2000 + d % 5 for d in range(60)])
    first = shown[0].lines[0]
    largest = int(np.argmax(theta.mean(axis=0)))
    np.testing.assert_array_equal(first.get_xdata(), range(2000, 2005))
    np.testing.assert_allclose(
        first.get_ydata(), [theta[years == year, largest].mean() for year in range(2000, 2005)]
    )
    ax = new_axes()
    p.plot_topics_over_time(view, ax)
    assert len(ax.lines) == 4


def test_many_topics_are_direct_labels_not_a_legend() -> None:
    view = Exploration(make_model(topics=30, papers=300))
    figure = p.plot_topics_over_time(view)
    assert sum(bool(ax.lines) for ax in figure.axes) == 24
    assert "6 smaller" in figure.get_suptitle()
    figure = p.plot_paper_map(view)
    (ax,) = figure.axes
    assert ax.get_legend() is None
    dominant = set(view.model.doc_topic_.argmax(axis=1).tolist())
    heads = {text.get_text().partition(",")[0] for text in ax.texts}
    assert all(view.topic_name(k).partition(",")[0] in heads for k in dominant)


def test_no_years_no_authors_no_citations_are_clear_messages() -> None:
    with pytest.raises(NotFoundError, match="year"):
        p.plot_topics_over_time(make_model(years=False))
    with pytest.raises(NotFoundError, match="authors"):
        p.plot_author_profiles(make_model(authors=0))
    with pytest.raises(NotFoundError, match="no citations"):
        p.plot_topic_flow(make_model(citations=0))
    with pytest.raises(NotFoundError, match="two topics"):
        p.plot_topic_similarity(make_model(topics=1))
    assert p.plot_paper_map(make_model(topics=1)).axes


def test_author_profiles_take_names(view: Exploration) -> None:
    ax = new_axes()
    p.plot_author_profiles(view, ax, authors=[3, 5])
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [view.corpus.author_names[a] for a in (3, 5)]
    with pytest.raises(ParameterError, match="99"):
        p.plot_author_profiles(view, authors=[99])
    with pytest.raises(ParameterError, match="at least 1"):
        p.plot_author_profiles(view, authors=0)


def test_the_map_shows_every_paper(view: Exploration) -> None:
    ax = new_axes()
    p.plot_paper_map(view, ax)
    assert len(ax.collections[0].get_offsets()) == 60


def test_heat_maps_hold_the_numbers(view: Exploration) -> None:
    ax = new_axes()
    p.plot_topic_flow(view, ax)
    values = np.asarray(ax.images[0].get_array())
    assert values.shape == (4, 4)
    np.testing.assert_allclose(values.sum(axis=1), 100.0)
    ax = new_axes()
    p.plot_topic_similarity(view, ax)
    alike = np.ma.getdata(ax.images[0].get_array())
    np.testing.assert_allclose(alike[~np.eye(4, dtype=bool)], alike.T[~np.eye(4, dtype=bool)])


def overlapping_texts(figure) -> list[tuple[str, str]]:
    figure.draw_without_rendering()
    boxes = [
        (text.get_text(), text.get_window_extent())
        for ax in figure.axes
        for text in ax.texts
        if text.get_text().strip()
    ]
    return [
        (name, other)
        for i, (name, box) in enumerate(boxes)
        for other, other_box in boxes[i + 1 :]
        if box.shrunk(0.98, 0.9).overlaps(other_box.shrunk(0.98, 0.9))
    ]


@pytest.mark.parametrize("width", [3.5, 7.0])
@pytest.mark.parametrize("kind", ["map", "concentrations", "convergence", "acceptance"])
def test_labels_do_not_overlap(kind: str, width: float) -> None:
    view = Exploration(make_model(topics=12, papers=400))
    with figures_of_width(width):
        figure = p.KINDS[kind](view)
    assert figure.get_size_inches()[0] == width
    assert overlapping_texts(figure) == []


def test_labels_are_spread() -> None:
    assert spread_labels([], 1.0, 0.0, 1.0).tolist() == []
    places = spread_labels([5.0, 5.0, 5.0, 9.9], 1.0, 0.0, 10.0)
    np.testing.assert_allclose(places, [4.0, 5.0, 6.0, 9.9])
    crowded = spread_labels([1.0] * 5, 1.0, 0.0, 2.0)
    assert crowded.min() >= 0.0
    assert crowded.max() <= 2.0
    low = spread_labels([0.0, 0.0, 0.1], 1.0, 0.0, 10.0)
    np.testing.assert_allclose(low, [0.0, 1.0, 2.0])
    assert wrap_name("soil, water, crops", 6, 2) == "soil,\nwater"
    assert wrap_name("$x$", 6, 2) == r"\$x\$"


def test_files_are_the_same_every_time(view: Exploration, tmp_path: Path) -> None:
    for suffix in (".png", ".pdf", ".svg"):
        paths = [tmp_path / f"{name}{suffix}" for name in "ab"]
        for path in paths:
            p.write_plot(view, "convergence", path, dpi=50)
        assert paths[0].read_bytes() == paths[1].read_bytes()


def test_letters_that_the_font_lacks_are_one_note(tmp_path: Path) -> None:
    view = Exploration(make_model())
    view.name_topic(0, "主题模型 研究")
    with pytest.warns(RuntimeWarning, match="not in Matplotlib's font") as told:
        p.write_plot(view, "map", tmp_path / "map.png", dpi=40)
    assert len(told) == 1


def test_wrong_requests_are_refused(view: Exploration, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="kind"):
        p.write_plot(view, "pie", tmp_path / "a.png")
    with pytest.raises(ParameterError, match=r"\.png"):
        p.write_plot(view, "map", tmp_path / "a.bmp")
    with pytest.raises(ParameterError, match="width"):
        p.write_plot(view, "map", tmp_path / "a.png", width=-1)
    with pytest.raises(ParameterError, match=r"\.gif"):
        p.write_plots(view, tmp_path / "all", suffix=".gif")
    assert not (tmp_path / "all").exists()


def test_all_that_can_be_shown_is_written(tmp_path: Path) -> None:
    model = make_model(years=False, authors=0)
    written, missing = p.write_plots(model, tmp_path / "all", dpi=40)
    assert {path.stem for path in written} | set(missing) == set(p.KINDS)
    assert set(missing) == {"time", "levels", "authors"}
    assert all(path.stat().st_size > 1000 for path in written)


def test_without_matplotlib_the_install_line_is_given(
    view: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    for draw in p.KINDS.values():
        with pytest.raises(MissingDependencyError, match=r"\[plot\]"):
            draw(view)


def test_the_settings_of_the_session_are_left_alone(view: Exploration) -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    p.plot_convergence(view)
    assert dict(mpl.rcParams) == before
