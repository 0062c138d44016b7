"""The explorer below a path of another application: every address that it gives leads into it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from citeweave.explore import Exploration
from citeweave.web.app import create_app
from citeweave.web.site import Site, WayBack
from web.calling import Client
from web.test_web_browser import PAGES
from web.test_web_security import Seen

BASE = "/projects/mine/run/explore"


@pytest.fixture(scope="module")
def mounted(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Client:
    own = shutil.copytree(run, tmp_path_factory.mktemp("mounted") / "run")
    site = Site(
        Exploration(own),
        title="A literature",
        token="secret-token",  # noqa: S106
        base=BASE,
        home=WayBack("Projects", "/"),
    )
    return Client(Starlette(routes=[Mount(BASE, create_app(site))]))


def addresses(text: str) -> Iterator[str]:
    for _, attributes in Seen(text).tags:
        for name in ("href", "src", "action", "data-map", "data-papers"):
            value = attributes.get(name)
            if value is not None and value.startswith("/"):
                yield value


def test_all_addresses_stand_below_the_path(mounted: Client) -> None:
    seen: set[str] = set()
    for page in PAGES:
        answer = mounted.get(f"{BASE}/{page}")
        assert answer.status_code == 200, page
        seen.update(addresses(answer.text))
    outside = {address for address in seen if not address.startswith(f"{BASE}/")}
    assert outside == {"/"}, "only the way back leads out"
    for address in sorted(seen - outside):
        if "/name" in address or "/join" in address or "/separate" in address:
            continue  # forms, which are posted
        if any(part in address for part in ("/picture/", "/plot/", "/download/", "papers/?")):
            continue  # slow, and made by name
        assert mounted.get(address.partition("#")[0]).status_code in {200, 307}, address


def test_forms_searches_and_descriptions_know_the_path(mounted: Client) -> None:
    found = mounted.get(f"{BASE}/api/search?q=paper").json()["results"]
    assert all(one["url"].startswith(f"{BASE}/") for one in found)
    answer = mounted.post(f"{BASE}/topics/0/name", data={"token": "secret-token", "name": "Soils"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{BASE}/topics/0")
    mounted.post(f"{BASE}/topics/0/name", data={"token": "secret-token", "name": ""})
    described = mounted.get(f"{BASE}/api/openapi.json").json()
    assert described["servers"] == [{"url": f"{BASE}/"}]


def test_errors_are_pages_or_json_below_the_path_too(mounted: Client) -> None:
    assert mounted.get(f"{BASE}/api/topics/999").json()["error"]
    assert "<h1>" in mounted.get(f"{BASE}/topics/999").text
    page = mounted.get(f"{BASE}/topics").text
    assert f'<a href="{BASE}/topics" aria-current="page">' in page
