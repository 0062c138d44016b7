"""The JSON interface does what its description says."""

import io
import json
import re
from typing import Any

import openpyxl
import pytest

from citeweave.web.app import entries
from citeweave.web.openapi import open_path
from web.calling import Client, open_client
from web.report.literature import NASTY

GOOD = {"x-citeweave": "1"}
TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "number": (int, float),
    "integer": int,
}


def check(value: Any, schema: dict[str, Any], place: str = "$") -> None:
    """Compare a value with the part of JSON Schema that the description uses."""
    if "anyOf" in schema:
        assert any(fits(value, part) for part in schema["anyOf"]), place
    if "enum" in schema:
        assert value in schema["enum"], place
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names:
        right = any(isinstance(value, TYPES[name]) for name in names)
        assert right, f"{place}: {value!r} is no {names}"
        assert not isinstance(value, bool) or "boolean" in names, place
    if isinstance(value, dict):
        assert set(schema.get("required", ())) <= set(value), place
        for name, part in schema.get("properties", {}).items():
            if name in value:
                check(value[name], part, f"{place}.{name}")
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            check(item, schema["items"], f"{place}[{number}]")


def fits(value: Any, schema: dict[str, Any]) -> bool:
    try:
        check(value, schema)
    except AssertionError:
        return False
    return True


@pytest.fixture(scope="module")
def document(client: Client) -> dict[str, Any]:
    return client.get("/api/openapi.json").json()


def test_the_description_has_all_routes_and_no_others(document: dict[str, Any]) -> None:
    described = {
        (method.upper(), path) for path, item in document["paths"].items() for method in item
    }
    assert described == {(e.method, open_path(e.path)) for e in entries() if not e.page}
    names = [op["operationId"] for item in document["paths"].values() for op in item.values()]
    assert len(names) == len(set(names))
    assert document["openapi"].startswith("3.1")


def test_parameters_of_paths_are_described(document: dict[str, Any]) -> None:
    for path, item in document["paths"].items():
        for operation in item.values():
            named = {p["name"] for p in operation.get("parameters", []) if p["in"] == "path"}
            assert named == set(re.findall(r"{(\w+)}", path))


CALLS = [
    ("/api/run", "/api/run"),
    ("/api/search", "/api/search?q=paper&limit=5"),
    ("/api/topics", "/api/topics"),
    ("/api/topics/{topic}", "/api/topics/0"),
    ("/api/flow", "/api/flow"),
    ("/api/authors", "/api/authors?topic=0&sort=name"),
    ("/api/authors/{author}", "/api/authors/0"),
    ("/api/institutions", "/api/institutions?q=university&country=NO"),
    ("/api/institutions/{number}", "/api/institutions/2"),
    ("/api/countries", "/api/countries?sort=h_index"),
    ("/api/countries/{number}", "/api/countries/0"),
    ("/api/venues", "/api/venues?topic=0"),
    ("/api/venues/{number}", "/api/venues/1"),
    ("/api/funders", "/api/funders?limit=1"),
    ("/api/funders/{number}", "/api/funders/0"),
    ("/api/papers", "/api/papers?from=2001&limit=7&page=2"),
    ("/api/papers/{paper}", "/api/papers/10"),
    ("/api/networks/{kind}", "/api/networks/authors"),
    ("/api/map", "/api/map"),
    ("/api/openapi.json", "/api/openapi.json"),
]


@pytest.mark.parametrize(("path", "call"), CALLS)
def test_answers_have_the_form_described(client, document, path: str, call: str) -> None:
    answer = client.get(call)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    schema = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
    check(answer.json(), schema["schema"])


def test_all_calls_that_read_are_tried(document: dict[str, Any]) -> None:
    reading = {path for path, item in document["paths"].items() if "get" in item}
    assert reading == {path for path, _ in CALLS} | {
        "/report.html",
        "/download/{table}.{format}",
        "/picture/{kind}.{format}",
        "/plot/{kind}.{format}",
    }


def test_placing_has_the_form_described(client, document) -> None:
    body = {
        "title": "Soil",
        "abstract": "The crop and the harvest",
        "references": ["Paper 3 on soil"],
    }
    answer = client.post("/api/place", json=body, headers=GOOD)
    assert answer.status_code == 200
    schema = document["paths"]["/api/place"]["post"]["responses"]["200"]["content"]
    check(answer.json(), schema["application/json"]["schema"])
    assert [paper["paper"] for paper in answer.json()["references_found"]] == [3]
    assert answer.json()["words_known"] == 3


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"{", 400),
        (b"{}", 400),
        (json.dumps({"title": 3}).encode(), 400),
        (json.dumps({"title": "soil", "references": "x"}).encode(), 400),
        (json.dumps({"title": "s" * 2000}).encode(), 400),
    ],
)
def test_what_cannot_be_placed_is_explained(client, body: bytes, status: int) -> None:
    answer = client.post("/api/place", content=body, headers=GOOD)
    assert answer.status_code == status
    assert answer.json()["error"]


def test_naming_by_the_interface(own_run) -> None:
    client = open_client(own_run)
    answer = client.post("/api/topics/0/name", json={"name": "Sky"}, headers=GOOD)
    assert answer.json()["name"] == "Sky"
    assert answer.json()["renamed"]
    answer = client.post("/api/topics/0/name", json={"name": None}, headers=GOOD)
    assert answer.json()["name"] == answer.json()["label"]
    assert client.post("/api/topics/99/name", json={"name": "x"}, headers=GOOD).status_code == 404
    assert client.post("/api/topics/0/name", json={"name": 3}, headers=GOOD).status_code == 400


def test_search_finds_by_beginnings_and_links_to_pages(client: Client) -> None:
    found = client.get("/api/search?q=pap 17").json()["results"]
    assert found[0]["url"] == "/papers/17"
    kinds = [one["kind"] for one in client.get("/api/search?q=reader").json()["results"]]
    assert kinds[0] == "paper"
    assert "author" in kinds
    assert client.get("/api/search").json()["results"] == []
    for result in client.get("/api/search?q=a").json()["results"]:
        assert client.get(result["url"]).status_code == 200


@pytest.mark.parametrize(
    "path", ["/api/nothing", "/api/topics/99", "/api/papers/-1", "/api/networks/x"]
)
def test_errors_are_json(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]


def test_tables_are_the_same_in_every_format(client: Client) -> None:
    pl = pytest.importorskip("polars")
    for table in ("topics", "authors", "papers", "citations", "categories", "flow"):
        files = {
            f: client.get(f"/download/{table}.{f}") for f in ("csv", "json", "parquet", "xlsx")
        }
        for form, answer in files.items():
            assert answer.status_code == 200
            assert f'filename="{table}.{form}"' in answer.headers["content-disposition"]
        parquet = pl.read_parquet(io.BytesIO(files["parquet"].content))
        csv = pl.read_csv(io.BytesIO(files["csv"].content), infer_schema_length=None)
        assert files["csv"].content.startswith(b"\xef\xbb\xbf")
        assert csv.columns == parquet.columns == list(files["json"].json()[0])
        assert len(csv) == len(parquet) == len(files["json"].json()) > 0
        book = openpyxl.load_workbook(io.BytesIO(files["xlsx"].content))
        rows = list(book[table].iter_rows(values_only=True))
        assert list(rows[0]) == csv.columns
        assert len(rows) == len(csv) + 1


def test_one_workbook_of_all_tables(client: Client) -> None:
    answer = client.get("/download/all-tables.xlsx")
    assert answer.status_code == 200
    book = openpyxl.load_workbook(io.BytesIO(answer.content))
    assert {"topics", "authors", "papers", "citations", "categories", "flow"} <= set(
        book.sheetnames
    )
    papers = client.get("/download/papers.json").json()
    assert book["papers"].max_row == len(papers) + 1
    assert all("download/all-tables.xlsx" in client.get(path).text for path in ("/", "/topics"))


def test_a_download_of_papers_takes_the_filters(client: Client) -> None:
    rows = client.get("/download/papers.json?category=Sky&sort=oldest").json()
    assert [row["paper"] for row in rows] == list(range(1, 60, 3))
    assert client.get("/download/papers.json").json()[0]["cited_propensity"] is not None


def test_downloads_that_are_not_there(client: Client) -> None:
    for path in (
        "/download/topics.xls",
        "/download/all-tables.csv",
        "/download/x.csv",
        "/picture/map.bmp",
        "/picture/x.svg",
    ):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize("kind", ["authors", "flow", "map"])
@pytest.mark.parametrize("form", ["svg", "graphml", "gexf"])
def test_pictures_are_well_formed(client: Client, kind: str, form: str) -> None:
    from xml.etree import ElementTree as ET

    answer = client.get(f"/picture/{kind}.{form}")
    assert answer.status_code == 200
    root = ET.fromstring(answer.text)  # noqa: S314 (our own)
    assert root.tag.endswith(form)
    assert not [e for e in root.iter() if e.tag.endswith("script")]


def test_the_report_is_saved_not_shown(client: Client) -> None:
    answer = client.get("/report.html")
    assert answer.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert answer.text.startswith("<!doctype html>")
    assert "A literature" in answer.text
    assert "<script>alert" not in answer.text


def test_pictures_for_print(client: Client) -> None:
    pytest.importorskip("matplotlib")
    begins = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
    wanted = ["picture/authors.png", "plot/convergence.png", "plot/time.pdf", "plot/similarity.svg"]
    for path in wanted:
        answer = client.get(f"/{path}")
        assert answer.status_code == 200, path
        assert answer.content.startswith(begins[path.rpartition(".")[2]]), path
    assert client.get("/plot/x.png").status_code == 404


def test_the_map_has_every_paper(client: Client) -> None:
    columns = client.get("/api/map").json()
    assert len(columns["x"]) == len(columns["y"]) == len(columns["title"]) == 60
    assert columns["title"][0].startswith(NASTY[:60])
