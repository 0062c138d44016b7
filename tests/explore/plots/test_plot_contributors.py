"""The plot of contributors: bars as long as papers are many, alone and with others."""

from __future__ import annotations

import pytest

from citeweave import Corpus
from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore import plots

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    rows = [["NO"], ["NO", "AU"], ["NO", "AU", "SG"], ["AU"], ["NO"], None]
    return Corpus.from_lists(tokens=[["a"]] * 6, metadata={"countries": rows})


def _bars(figure) -> dict[str, list[float]]:
    (ax,) = figure.axes
    names = [label.get_text() for label in ax.get_yticklabels()]
    return {
        name: [container.patches[place].get_width() for container in ax.containers]
        for place, name in enumerate(names)
    }


def test_bars_are_papers_alone_and_with_others(corpus: Corpus) -> None:
    figure = plots.plot_contributors(corpus, kind="countries")
    assert _bars(figure) == {"Norway": [2, 2], "Australia": [1, 2], "Singapore": [0, 1]}
    assert list(_bars(plots.plot_contributors(corpus, kind="countries", most=1))) == ["Norway"]


def test_what_cannot_be_plotted_is_said(corpus: Corpus) -> None:
    with pytest.raises(NotFoundError, match="names no institutions"):
        plots.plot_contributors(corpus)
    with pytest.raises(ParameterError, match="most"):
        plots.plot_contributors(corpus, kind="countries", most=0)
