"""Words first, symbols second; lists that show what matters first, and all where they say so."""

import io
import re
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from citeweave.cli.explore_show import paper_table, topic_table
from citeweave.corpus import Corpus
from citeweave.explore import Exploration
from citeweave.explore.citations import interest
from citeweave.explore.search import KINDS
from citeweave.explore.wordforms import singular
from citeweave.web.charts import sparkline
from citeweave.web.glossary import AGREEMENT, GLOSSARY, spoken
from citeweave.web.report import report_html
from explore.graphs.made_up import make_model
from web.calling import Client, open_client

PLAIN = re.compile(r"lambda[-+]|\bpropensit(?:y|ies)\b|\bsnapshots?\b|\beta\b|\bnu\b|\btheta\b")


@pytest.fixture(scope="module")
def model() -> Any:
    made = make_model(papers=80, topics=6, citations=600)
    del made.traces_
    return made


@pytest.fixture(scope="module")
def client(model: Any) -> Client:
    return open_client(model)


def text_of(page: str) -> str:
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", " ", page)


def drawn(table: Any, width: int = 80) -> str:
    out = io.StringIO()
    Console(width=width, file=out).print(table)
    return out.getvalue()


@pytest.mark.parametrize(
    "path", ["/", "/papers", "/papers/0", "/authors", "/authors/1", "/diagnostics"]
)
def test_pages_for_readers_use_words(client: Client, path: str) -> None:
    assert not PLAIN.findall(text_of(client.get(path).text))


def test_the_report_uses_words_and_explains_them(model: Any) -> None:
    text = text_of(report_html(model))
    assert not PLAIN.findall(text)
    assert all(term.word in text for term in GLOSSARY)


def test_the_terminal_uses_words(model: Any) -> None:
    view = Exploration(model)
    text = drawn(paper_table(view, view.papers(top=3), None))
    assert "influence (λ⁻)" in text
    assert not PLAIN.findall(text)


def test_the_glossary_has_a_page(client: Client) -> None:
    text = text_of(client.get("/glossary").text)
    for term in GLOSSARY:
        assert term.word in text
        assert term.symbol in text
    assert "/glossary" in client.get("/").text


def test_agreement_says_what_is_good_and_what_to_do() -> None:
    assert "0.9" in AGREEMENT
    assert "more iterations" in AGREEMENT
    assert spoken("concentration of theta'") == "concentration: words of papers (θ′)"


def test_search_shows_papers_first(model: Any) -> None:
    kinds = [hit.kind for hit in Exploration(model).search("a", limit=12)]
    places = [KINDS.index(kind) for kind in kinds]
    assert KINDS[:3] == ("paper", "author", "topic")
    assert places == sorted(places)


def test_countries_are_counted_in_english(client: Client) -> None:
    assert "1–2 of 2 countries" in client.get("/countries").text
    assert "No countries" in client.get("/countries?q=ruritania").text


def test_papers_leave_room_for_authors() -> None:
    view = Exploration(make_model(papers=200))
    kinds = [hit.kind for hit in view.search("surname1", limit=8)]
    assert kinds[0] == "paper"
    assert "author" in kinds


def test_show_all_means_all() -> None:
    model = make_model(papers=400, citations=1)
    many = Corpus.from_lists(
        tokens=[["a"]] * 400,
        titles=[f"Paper {d}" for d in range(400)],
        citations=[(d, 0) for d in range(1, 400)],
    )
    model.corpus_ = many
    model.topic_word_ = np.ones((4, 1))
    model.citing_topic_ = np.full((399, 4), 0.25)
    del model.groups_
    page = open_client(model).get("/papers/0?all=1").text
    assert page.count('class="title"') >= 399


def test_topics_over_time_share_an_axis(client: Client) -> None:
    low = sparkline([0.1, 0.1], largest=0.4)
    high = sparkline([0.4, 0.4], largest=0.4)
    points = [re.search(r'polyline class="line" points="0.0,([\d.]+)', s)[1] for s in (low, high)]
    assert float(points[0]) > float(points[1]) + 15
    page = client.get("/topics").text
    tops = [
        min(float(y) for y in re.findall(r",([\d.]+)", line))
        for line in re.findall(r'polyline class="line" points="([^"]+)"', page)
    ]
    assert min(tops) == pytest.approx(2.0)
    assert max(tops) > 3.0


def test_citations_are_sorted_by_interest(model: Any) -> None:
    view = Exploration(model)
    rows = view.citations()["citation"].to_numpy()
    assert sorted(rows.tolist()) == list(range(view.corpus.n_citations))
    assert (np.diff(interest(view)[rows]) <= 1e-12).all()


def test_singular_and_plural_are_one_word() -> None:
    assert singular("Networks") == singular("network")
    assert singular("soil analyses") != singular("soil")
    made = make_model()
    words = made.corpus_.vocabulary
    words[1], words[2] = "network", "networks"
    view = Exploration(made)
    for row in view.top_words(5):
        assert not {"network", "networks"} <= set(row)


def test_a_topic_shows_several_phrases_in_eighty_columns(model: Any) -> None:
    view = Exploration(model)
    text = drawn(topic_table(view, view.topics(words=10), 1))
    assert len(re.findall(r"t\d+word\d", text)) >= 5
