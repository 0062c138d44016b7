"""What careful attackers tried: malformed names, endless numbers, connections that never speak."""

import asyncio
from typing import Any

import pytest

from citeweave.errors import ParameterError
from citeweave.explore import Exploration
from citeweave.explore.frames import defuse
from citeweave.web import downloads
from citeweave.web.app import create_app
from citeweave.web.report import report_html, write_report
from citeweave.web.security import host_name
from citeweave.web.server import listen, make_server, run_server
from explore.graphs.made_up import make_model
from reference.patience import PATIENCE
from web.calling import Client, make_site, open_client

MALFORMED = [
    "[::1]evil.com",
    "[::1]:evil",
    "[::1",
    "localhost:evil.com",
    "localhost:80:80",
    "localhost:",
    "localhost:123456",
    "evil.com:127.0.0.1",
    "127.0.0.1:80@evil.com",
    "local host",
    "",
]


@pytest.fixture(scope="module")
def client() -> Client:
    return open_client(make_model())


@pytest.mark.parametrize("host", MALFORMED)
def test_malformed_hosts_are_refused(client: Client, host: str) -> None:
    assert host_name(host) == ""
    assert client.get("/api/run", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["[::1]", "[::1]:8765", "LOCALHOST", "127.0.0.1:1"])
def test_well_formed_hosts_are_answered(client: Client, host: str) -> None:
    assert client.get("/api/run", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("path", ["/topics/{}", "/papers/{}", "/api/papers/{}", "/authors/{}"])
@pytest.mark.parametrize("digits", [20, 5000])
def test_endless_numbers_are_not_found(client: Client, path: str, digits: int) -> None:
    assert client.get(path.format("9" * digits)).status_code == 404


@pytest.mark.parametrize("query", ["topic", "from", "to", "page", "limit"])
def test_endless_numbers_of_a_query_filter_nothing_or_all(client: Client, query: str) -> None:
    assert client.get(f"/api/papers?{query}={'9' * 5000}").status_code == 200


def test_deep_json_is_a_bad_request(client: Client) -> None:
    body = b'{"name": ' + b"[" * 50_000 + b"]" * 50_000 + b"}"
    answer = client.post("/api/topics/0/name", content=body, headers={"x-citeweave": "1"})
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "text",
    ["=1+1", " =1+1", "\u00a0=1", "\u3000+1", "＝1+1", " ＠x", "\ufeff=1", "\u200b-1", "\x00=1"],
)
def test_formulas_are_defused_whatever_stands_before_them(text: str) -> None:
    assert defuse(text).startswith("'")


@pytest.mark.parametrize("text", ["One = two", "“=1”", "1+1", ""])
def test_plain_titles_stay_as_they_are(text: str) -> None:
    assert defuse(text) == text


def unsampled() -> Any:
    """Make a model that brings no traces, which a report of chains would need a plan for."""
    model = make_model()
    del model.traces_
    return model


def odd_view() -> Exploration:
    model = unsampled()
    model.corpus_.titles[0] = "Nul\x00 and\x1b[31m bell\x07"
    return Exploration(model)


def test_control_characters_of_titles_reach_no_page_and_no_table() -> None:
    view = odd_view()
    page = report_html(view)
    site = open_client(view.model)
    texts = [page, site.get("/papers/0").text, site.get("/download/papers.csv").text]
    texts += [site.get("/api/map").text, site.get("/api/papers").text]
    for text in texts:
        assert not any(mark in text for mark in ("\x00", "\x1b", "\x07", "\\u0000"))
    assert "Nul and[31m bell" in page


def test_the_same_table_is_made_once_and_what_is_kept_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = make_site(make_model())
    made: list[str] = []
    real = downloads.FRAMES["topics"]
    monkeypatch.setitem(
        downloads.FRAMES, "topics", lambda view: (made.append("topics"), real(view))[1]
    )
    own = Client(create_app(site))
    first = own.get("/download/topics.csv").content
    assert own.get("/download/topics.csv").content == first
    assert made == ["topics"]
    site.rename(site.view.order[0], "Another name")
    assert b"Another name" in own.get("/download/topics.csv").content
    for number in range(40):
        own.get(f"/download/papers.json?q={number}")
    assert site.files.size <= site.files.most


def test_filtered_downloads_share_one_table_of_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    site = make_site(make_model())
    made: list[str] = []
    real = site.view.papers
    monkeypatch.setattr(site.view, "papers", lambda: (made.append("papers"), real())[1])
    own = Client(create_app(site))
    for number in range(5):
        assert own.get(f"/download/papers.json?from={2000 + number}").status_code == 200
    assert made == ["papers"]
    topic = site.view.order[0]
    site.rename(topic, "Another name")
    assert b"Another name" in own.get(f"/download/papers.csv?topic={topic}").content
    assert made == ["papers"] * 2


def test_kept_files_never_outgrow_their_limit() -> None:
    kept = downloads.KeptFiles(most=100)
    for number in range(10):
        kept.put(str(number), bytes(30))
    assert kept.size <= 100
    assert kept.get("9") == bytes(30)
    assert kept.get("0") is None
    kept.put("large", bytes(101))
    assert kept.get("large") is None


def test_a_report_is_written_through_a_link(tmp_path: Any) -> None:
    place = tmp_path / "real.html"
    place.write_text("old")
    link = tmp_path / "report.html"
    link.symlink_to(place)
    write_report(unsampled(), link)
    assert link.is_symlink()
    assert "<!doctype html>" in place.read_text(encoding="utf-8")


def test_a_report_replaces_no_device() -> None:
    with pytest.raises(ParameterError, match="is not a regular file"):
        write_report(make_model(), "/dev/null")


def test_a_log_that_cannot_be_written_is_told_before_serving(tmp_path: Any) -> None:
    with pytest.raises(ParameterError, match="log"):
        run_server(open_client(make_model()).app, listen("127.0.0.1", 0), log_file=tmp_path / "a/b")


def test_connections_that_never_speak_are_closed() -> None:
    async def silent(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})

    async def attack() -> None:
        taken = listen("127.0.0.1", 0)
        server = make_server(silent, patience=0.3, lifespan="off")
        running = asyncio.create_task(server.serve(sockets=[taken]))
        while not server.started:  # noqa: ASYNC110 (uvicorn has no event for it)
            await asyncio.sleep(0.02)
        port = taken.getsockname()[1]
        for opening in (
            b"",
            b"GET / HTTP/1.1\r\nHost: x\r\n",
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc",
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(opening)
            await writer.drain()
            await asyncio.wait_for(reader.read(), timeout=PATIENCE)
            writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in await asyncio.wait_for(reader.readline(), timeout=PATIENCE)
        writer.close()
        server.should_exit = True
        await running

    asyncio.run(attack())
