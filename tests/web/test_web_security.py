"""The explorer shows what bibliographies hold and obeys nobody but its own user."""

import json
from html.parser import HTMLParser
from typing import Any

import pytest

from citeweave.web.security import HEADERS, allowed_hosts
from web.calling import Client, open_client
from web.report.literature import NASTY, NASTY_AUTHOR

PAGES = [
    "/",
    "/topics",
    "/topics/0",
    "/authors",
    "/authors/0",
    "/papers",
    "/papers/0",
    "/network",
    "/network?kind=flow",
    "/map",
    "/place",
    "/diagnostics",
    "/about",
    "/api",
    "/search?q=script",
]


class Seen(HTMLParser):
    """Elements and attributes of a page, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("path", PAGES)
def test_titles_and_names_never_become_elements(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    page = Seen(answer.text)
    for tag, attributes in page.tags:
        assert tag != "b", "the venues' <b> came through"
        assert tag != "img", "an author's <img> came through"
        if tag == "script":
            assert (attributes["src"] or "").startswith("/static/")
        assert "style" not in attributes, "the policy forbids style attributes"
        assert not any(name.startswith("on") for name in attributes)
    assert not any(tag == "style" for tag, _ in page.tags)


def test_nasty_titles_are_shown_as_they_are(client: Client) -> None:
    assert NASTY in "".join(Seen(client.get("/papers/0").text).texts)
    assert NASTY_AUTHOR in "".join(Seen(client.get("/authors/0").text).texts)


def test_what_is_searched_for_is_escaped(client: Client) -> None:
    page = Seen(client.get("/search", params={"q": '"><script>x</script>'}).text)
    assert all("src" in attributes for tag, attributes in page.tags if tag == "script")


@pytest.mark.parametrize("path", [*PAGES, "/nothing", "/api/run", "/static/site.js"])
def test_every_answer_tells_browsers_what_is_allowed(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert "server" not in headers


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "10.0.0.7", "", "127.0.0.2"])
def test_other_names_are_refused(client: Client, host: str) -> None:
    answer = client.get("/api/run", headers={"host": host})
    assert answer.status_code == 421
    assert "A literature" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:99", "LOCALHOST", "[::1]:8765"])
def test_names_of_this_computer_are_answered(client: Client, host: str) -> None:
    assert client.get("/api/run", headers={"host": host}).status_code == 200


def test_a_wider_host_allows_addresses_and_names_given() -> None:
    wide = allowed_hosts("::", ["Lab.example"])
    for name in ("192.168.0.4", "fe80::1", "lab.example", "localhost"):
        assert name in wide, name
    assert "evil.example" not in wide
    assert "192.168.0.4" not in allowed_hosts("127.0.0.1")


def rename(client: Client, **options: Any) -> Any:
    data = {"token": "secret-token", "name": "A name"}
    return client.post("/topics/0/name", **({"data": data} | options))


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://127.0.0.1:8765"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_origins_change_nothing(own_run, headers: dict[str, str]) -> None:
    client = open_client(own_run)
    assert rename(client, headers=headers).status_code == 403
    good = {"x-citeweave": "1"}
    answer = client.post("/api/topics/0/name", json={"name": "A name"}, headers=headers | good)
    assert answer.status_code == 403
    assert not (own_run / "names.json").exists()


@pytest.mark.parametrize("token", ["", "wrong", "secret-token "])
def test_a_form_without_our_token_changes_nothing(own_run, token: str) -> None:
    client = open_client(own_run)
    assert rename(client, data={"token": token, "name": "A name"}).status_code == 403
    assert rename(client, data={"name": "A name"}).status_code == 403
    assert not (own_run / "names.json").exists()


def test_a_form_must_be_a_form(own_run) -> None:
    client = open_client(own_run)
    content = json.dumps({"token": "secret-token", "name": "A name"})
    answer = rename(client, data=None, content=content, headers={"content-type": "text/plain"})
    assert answer.status_code == 415


@pytest.mark.parametrize("path", ["/api/topics/0/name", "/api/place"])
def test_a_call_without_the_header_is_refused(client: Client, path: str) -> None:
    answer = client.post(path, json={"name": "x", "title": "soil"})
    assert answer.status_code == 403
    assert "x-citeweave: 1" in answer.json()["error"]


def test_our_own_form_is_taken(own_run) -> None:
    client = open_client(own_run)
    answer = rename(client, headers={"origin": client.base, "sec-fetch-site": "same-origin"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/topics/0")
    assert json.loads((own_run / "names.json").read_text())


def test_a_body_that_tells_its_size_is_refused_unread(run) -> None:
    client = open_client(run, max_body=1000)
    headers = {"x-citeweave": "1"}
    answer = client.post("/api/place", json={"title": "soil " * 300}, headers=headers)
    assert answer.status_code == 413


def test_a_body_of_untold_size_is_read_to_the_limit_only(run) -> None:
    client = open_client(run, max_body=1000)
    read = []

    async def parts() -> Any:
        for number in range(100):
            read.append(number)
            yield b"x" * 100

    answer = client.post("/api/place", content=parts(), headers={"x-citeweave": "1"})
    assert answer.status_code == 413
    assert "error" in answer.json()


def test_a_made_up_length_is_refused(client: Client) -> None:
    answer = client.post("/api/place", content=b"{}", headers={"content-length": "-1"})
    assert answer.status_code in {400, 413}


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"],
)
def test_static_files_end_at_their_folder(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_other_methods_are_refused(client: Client) -> None:
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        answer = client.request(method, "/api/run")
        assert answer.status_code == 405
        assert "access-control-allow-origin" not in answer.headers


def test_a_title_is_no_formula_in_a_spreadsheet() -> None:
    pl = pytest.importorskip("polars")
    from citeweave.web import downloads

    table = pl.DataFrame({"title": ["=HYPERLINK(1)", "plain"], "n": [-1, 2]})
    content = downloads._write(table, "csv", "papers").decode("utf-8-sig")
    assert content == "title,n\n'=HYPERLINK(1),-1\nplain,2\n"
