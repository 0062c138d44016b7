"""The page of bibliometric maps, its pictures for download and its JSON."""

import json
import re
from dataclasses import replace

import pytest

from citeweave.corpus import Corpus
from citeweave.explore.graphs import MAPS, Node, bibliometric_map
from citeweave.web.graph_page import graph_html
from citeweave.web.maps import LEDES
from citeweave.web.pictures import KEPT, page_of
from explore.graphs.made_up import NASTY, make_model
from web.calling import Client, make_site, open_client


def test_every_map_has_a_page_and_says_what_it_shows(client: Client) -> None:
    assert set(LEDES) == set(MAPS)
    for kind, name in MAPS.items():
        answer = client.get(f"/bibliometrics?kind={kind}")
        assert answer.status_code == 200, kind
        assert f"<h1>{name}</h1>" in answer.text
        assert 'aria-current="page">' + name in answer.text
        assert "<svg" in answer.text


def test_dots_lead_to_papers_authors_and_topics(client: Client) -> None:
    for kind, target in (
        ("co-citation", "papers"),
        ("co-authors", "authors"),
        ("thematic", "topics"),
        ("co-institutions", "institutions"),
        ("co-countries", "countries"),
        ("co-cited-works", "papers"),
    ):
        text = client.get(f"/bibliometrics?kind={kind}").text
        drawn = text[text.index('class="graph"') :]
        links = re.findall(rf'href="(/{target}/\d+)"', drawn)
        assert links, kind
        assert client.get(links[0]).status_code == 200
    text = client.get("/bibliometrics?kind=co-words").text
    words = re.findall(r'href="(/search\?q=[^"]+)" aria-label="word', text)
    assert client.get(words[0]).status_code == 200


def test_cited_works_outside_the_corpus_lead_to_their_doi() -> None:
    node = Node("work", 9, (), full_name="Blei DM, 2003, JMLR, V3, P993, DOI 10.1162/jmlr.2003.3")
    assert page_of(node, papers=10) == "/papers/9"
    assert page_of(node, papers=9) == ""
    link = make_site(make_model()).pictures._page_of(replace(node, key=10**6))
    assert link == "https://doi.org/10.1162/jmlr.2003.3"
    plain = replace(node, key=10**6, full_name="Elder 3, 1990, J OLD")
    assert make_site(make_model()).pictures._page_of(plain) == ""


def test_choices_are_kept_and_go_into_the_links_for_download(client: Client) -> None:
    path = "/bibliometrics?kind=coupling&colour=topic&weight=salton&top=12&counting=nonsense"
    text = client.get(path).text
    assert '<option value="topic" selected>' in text
    assert '<option value="salton" selected>' in text
    assert '<option value="full" selected>' in text
    assert 'value="12"' in text
    link = re.search(r'href="(/picture/coupling\.json[^"]*)"', text).group(1).replace("&amp;", "&")
    assert "colour=topic" in link
    found = json.loads(client.get(link).text)["network"]
    assert 0 < len(found["items"]) <= 12
    plain = json.loads(client.get("/picture/coupling.json").text)["network"]
    assert len(plain["items"]) > len(found["items"])


@pytest.mark.parametrize(
    "form", ["svg", "graphml", "gexf", "json", "dot", "net", "csv", "nodes.csv"]
)
def test_maps_are_downloaded_in_every_form(client: Client, form: str) -> None:
    answer = client.get(f"/picture/co-citation.{form}")
    assert answer.status_code == 200
    assert f'filename="co-citation.{form}"' in answer.headers["content-disposition"]


def test_programs_get_maps_as_json(client: Client) -> None:
    answer = client.get("/api/networks/historiograph?top=20").json()
    assert answer["name"] == "historiograph"
    assert answer["directed"]
    unknown = client.get("/api/networks/nonsense")
    assert unknown.status_code == 404
    assert "co-citation" in unknown.json()["error"]


def test_what_a_corpus_lacks_is_said_on_the_page(client: Client, bare_client: Client) -> None:
    assert client.get("/bibliometrics?kind=nonsense").status_code == 200
    answer = bare_client.get("/bibliometrics?kind=co-citation")
    assert answer.status_code == 200
    assert "the corpus has no citations among its papers" in answer.text
    assert "kind=co-authors" in answer.text
    assert "kind=co-institutions" not in answer.text
    assert "kind=co-countries" not in answer.text
    assert "kind=co-cited-works" not in answer.text


@pytest.fixture(scope="module")
def bare_client() -> Client:
    model = make_model(citations=0, network=False, nodes=False)
    corpus = model.corpus_
    words = [corpus.words(d) for d in range(corpus.n_documents)]
    authors = [corpus.authors(d) for d in range(corpus.n_documents)]
    model.corpus_ = Corpus.from_lists(tokens=words, vocabulary=corpus.vocabulary, authors=authors)
    return open_client(model)


def test_few_pictures_are_kept() -> None:

    site = make_site(make_model())
    for top in range(5, 5 + KEPT + 4):
        site.pictures.graph("co-words", (("top", top),))
    assert len(site.pictures._graphs) == KEPT


def test_a_graph_is_a_page_of_its_own() -> None:
    page = graph_html(bibliometric_map(make_model(), "co-citation"))
    assert NASTY not in page
    assert "script-src 'sha256-" in page or "script-src &#39;sha256-" in page
    assert page.count("<script>") == 1
