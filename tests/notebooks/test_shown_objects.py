"""Objects in a notebook: tables with what matters, escaped."""

import pytest

from citeweave import SCNTM, Corpus
from citeweave.evaluate.report import Evaluation, Measure
from citeweave.explore import Exploration


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    words = [["soil", "<i>crop</i>", "water_table"], ["star", "orbit", "comet"]]
    return Corpus.from_lists(
        tokens=[words[d % 2] * 3 for d in range(20)],
        titles=[f"<script>{d}</script>" for d in range(20)],
        authors=[["A & B", "C", "D", "E"] for _ in range(20)],
        citations=[(d, d - 2) for d in range(2, 20)],
        metadata={"year": [2000 + d if d else None for d in range(20)]},
    )


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> SCNTM:
    return SCNTM(topics=3, iterations=20, seed=1, chains=1).fit(corpus)


def test_a_corpus_shows_its_first_documents(corpus: Corpus) -> None:
    shown = corpus._repr_html_()
    assert "First 5 documents" in shown
    assert "&lt;script&gt;4&lt;/script&gt;" in shown
    assert "A &amp; B, C, D and 1 more" in shown
    assert "2004" in shown
    assert "2005" not in shown
    assert "None" not in shown


def test_a_model_shows_whether_it_is_fitted_and_its_topics(model: SCNTM) -> None:
    assert "not fitted" in SCNTM()._repr_html_()
    shown = model._repr_html_()
    assert "20 of 20 iterations" in shown
    assert "water table" in shown
    assert "<i>crop" not in shown


def test_an_exploration_shows_names_of_topics_and_what_is_missing(model: SCNTM) -> None:
    view = Exploration(model)
    view.name_topic(view.order[0], "Earth & sky")
    shown = view._repr_html_()
    assert "Earth &amp; sky" in shown
    assert view.missing["categories"] in shown


def test_an_evaluation_shows_values_first_and_reasons_last() -> None:
    measures = (
        Measure("clusters", "NMI", "training documents", None, "there are no <labels>"),
        Measure("words", "perplexity", "held out", 812.34, "completion"),
    )
    shown = Evaluation("scntm", measures, verdict="The chains agree.")._repr_html_()
    assert shown.index("812.3") < shown.index("no &lt;labels&gt;")
    assert "The chains agree." in shown
