"""The pages: all of them answer, all of their links lead somewhere, what is missing is said."""

import re
from html.parser import HTMLParser

import pytest

from citeweave.explore import Exploration
from web.calling import Client, open_client
from web.report.literature import fit, literature


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        for name in ("href", "src", "data-map"):
            target = values.get(name)
            if target and target.startswith("/"):
                self.found.add(target.partition("#")[0])


def crawl(client: Client, most: int) -> set[str]:
    """Follow links from the start page; give the kinds of pages seen, all of which answered."""
    waiting, seen, kinds = ["/"], {"/"}, set()
    for _ in range(most):
        if not waiting:
            break
        path = waiting.pop(0)
        answer = client.get(path)
        assert answer.status_code == 200, path
        kinds.add(re.sub(r"\d+", "N", path.partition("?")[0]))
        if "text/html" in answer.headers["content-type"]:
            new = Links(answer.text).found - seen
            seen |= new
            # pictures by Matplotlib are slow and tested where they are made
            waiting += sorted(
                link
                for link in new
                if not link.endswith((".png", ".pdf")) and not link.startswith("/plot/")
            )
    return kinds


def test_every_link_from_every_page_leads_somewhere(client: Client) -> None:
    kinds = crawl(client, 400)
    wanted = {"/", "/topics", "/topics/N", "/authors", "/authors/N", "/papers", "/papers/N"}
    wanted |= {"/network", "/map", "/place", "/diagnostics", "/about", "/api", "/api/map"}
    wanted |= {"/institutions", "/institutions/N", "/countries/N", "/venues/N", "/funders/N"}
    wanted |= {"/download/institutions.csv", "/download/authors-network.csv"}
    wanted |= {"/download/papers.csv", "/picture/authors.svg", "/api/openapi.json"}
    assert wanted <= kinds


def test_topics_lead_to_authors_and_papers_and_back(client: Client) -> None:
    topic = Links(client.get("/topics/0").text).found
    assert any(re.fullmatch(r"/authors/\d+", link) for link in topic)
    paper = next(link for link in topic if re.fullmatch(r"/papers/\d+", link))
    found = Links(client.get(paper).text).found
    assert any(re.fullmatch(r"/authors/\d+", link) for link in found)
    assert any(re.fullmatch(r"/topics/\d+", link) for link in found)


def titles(text: str) -> list[str]:
    return re.findall(r'class="paper-title" href="/papers/(\d+)"', text)


def test_filters_leave_those_that_fit(client: Client, run) -> None:
    view = Exploration(run)
    shown = titles(client.get("/papers?from=2001&to=2002&category=Sky").text)
    expected = [str(d) for d in range(60) if view.years[d] in {2001, 2002} and d % 3 == 1]
    assert sorted(shown) == sorted(expected)
    assert titles(client.get("/papers", params={"venue": "Journal of <b>court</b>"}).text)
    assert "No papers match" in client.get("/papers?q=zebra").text


def test_pages_of_a_list_are_its_parts(client: Client) -> None:
    parts = [titles(client.get(f"/papers?sort=oldest&page={n}").text) for n in (1, 2, 3)]
    assert [len(part) for part in parts] == [25, 25, 10]
    assert sorted(int(d) for part in parts for d in part) == list(range(60))
    assert titles(client.get("/papers?sort=oldest&page=99").text) == parts[2]
    assert titles(client.get("/papers?sort=oldest&page=x").text) == parts[0]


def test_a_new_name_is_everywhere_and_stays(own_run) -> None:
    client = open_client(own_run)
    form = {"token": "secret-token", "name": "Ground & <water>"}
    assert client.post("/topics/1/name", data=form).status_code == 303
    again = open_client(own_run)
    for reader in (client, again):
        for path in ("/", "/topics", "/topics/1", "/network?kind=flow"):
            assert "Ground &amp; &lt;water&gt;" in reader.get(path).text, path
        assert reader.get("/api/search?q=ground").json()["results"][0]["kind"] == "topic"
    client.post("/topics/1/name", data=form | {"name": "  "})
    assert "Ground" not in client.get("/topics").text


def test_a_name_that_cannot_be_is_explained(own_run) -> None:
    client = open_client(own_run)
    answer = client.post("/topics/1/name", data={"token": "secret-token", "name": "x" * 500})
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert not (own_run / "names.json").exists()


def test_a_run_that_cannot_be_written_says_so(own_run) -> None:
    client = open_client(own_run)
    assert client.get("/topics/1").status_code == 200
    (own_run / "names.json").mkdir()
    answer = client.post("/topics/1/name", data={"token": "secret-token", "name": "x"})
    assert answer.status_code == 400
    assert "names.json" in answer.text


@pytest.mark.parametrize(
    "path", ["/nothing", "/topics/99", "/authors/9999", "/papers/60", "/topics/x"]
)
def test_what_is_not_there_gets_a_page_that_helps(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert {"/topics", "/authors", "/papers"} <= Links(answer.text).found
    assert 'role="search"' in answer.text


def test_a_placed_paper_shows_its_place(client: Client) -> None:
    form = {
        "token": "secret-token",
        "title": "Soil and seed of the harvest",
        "abstract": "crop " * 5,
    }
    answer = client.post("/place", data=form | {"references": "Paper 3 on soil\nUnheard of"})
    assert answer.status_code == 200
    assert "Most similar papers" in answer.text
    assert "1 reference found" in answer.text
    assert "1 reference not in this corpus" in answer.text
    assert re.search(
        r'<li>\s*<a class="title" href="/papers/\d+">Paper \d+ on soil</a>', answer.text
    )


@pytest.mark.parametrize("title", ["", "xylophone qwerty"])
def test_a_paper_that_cannot_be_placed_keeps_what_was_written(client: Client, title: str) -> None:
    form = {"token": "secret-token", "title": title, "abstract": "", "references": "<b>keep me</b>"}
    answer = client.post("/place", data=form)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert "&lt;b&gt;keep me&lt;/b&gt;</textarea>" in answer.text


LACKING = {
    "years": {"years": False},
    "authors": {"authors": False},
    "citations": {"citations": False},
    "titles": {"titles": False},
}


@pytest.mark.parametrize("part", LACKING)
def test_what_a_corpus_lacks_is_left_out_and_said(part: str) -> None:
    view = Exploration(fit(literature(**LACKING[part]), iterations=30))
    client = open_client(view.model)
    assert {"/", "/topics/N", "/papers/N", "/map", "/about"} <= crawl(client, 150)
    assert client.get("/network?kind=flow").status_code == 200
    # apostrophes are escaped in pages
    assert view.missing[part].replace("'", "&#39;") in client.get("/about").text
    if part == "authors":
        assert client.get("/authors").status_code == 404
        assert "The corpus names no authors." in client.get("/authors").text
        assert 'href="/authors"' not in client.get("/").text
    if part == "citations":
        assert client.get("/api/flow").status_code == 404


def test_a_model_without_citations_is_shown() -> None:
    model = fit(literature(), model="bursty-hdp-lda", iterations=30)
    client = open_client(model)
    for path in (
        "/",
        "/topics",
        "/topics/0",
        "/authors",
        "/authors/1",
        "/papers/3",
        "/diagnostics",
    ):
        assert client.get(path).status_code == 200, path
    assert "influence" not in client.get("/papers").text.casefold()


def test_a_baseline_is_shown_too(tmp_path) -> None:
    from citeweave.baselines import PMTLM

    PMTLM(topics=3, seed=1).fit(literature()).save(tmp_path / "run")
    client = open_client(tmp_path / "run")
    assert {"/topics/N", "/authors/N", "/papers/N", "/diagnostics"} <= crawl(client, 150)
    assert "No chains to judge" in client.get("/diagnostics").text
    form = {"token": "secret-token", "title": "soil crop harvest"}
    assert "Most similar papers" in client.post("/place", data=form).text


def test_a_name_in_memory_needs_no_folder() -> None:
    client = open_client(fit(literature(), iterations=30))
    client.post("/topics/0/name", data={"token": "secret-token", "name": "In memory"})
    assert "In memory" in client.get("/topics").text
