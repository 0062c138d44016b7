"""Pages and calls of the app: what they do, what they refuse, and that they obey nobody else."""

import shutil
from pathlib import Path

import pytest

from citeweave.corpus import Corpus
from citeweave.web.projects.desk import Desk, project_path
from citeweave.web.projects.shelf import Project
from citeweave.web.security import HEADERS
from web.calling import Client
from web.projects.conftest import INTENT, TOKEN, wait
from web.projects.sample import sample_csv
from web.test_web_security import Seen

FIT = {
    "token": TOKEN,
    "topics": "5",
    "minutes": "20",
    "groups": "author",
    "citations": "on",
    "chains": "1",
    "iterations": "40",
    "exactly": "on",
    "threads": "1",
    "seed": "1",
}


@pytest.fixture
def imported(app: Client, desk: Desk, project: Project) -> Project:
    """A project whose files are imported, as the page does it."""
    answer = app.post(f"/api{project_path(project)}/import", headers=INTENT)
    assert answer.status_code == 202, answer.text
    wait(desk, project.import_task)
    assert desk.look(project.import_task).state == "done"
    return project


def test_an_empty_shelf_welcomes(app: Client) -> None:
    page = app.get("/").text
    assert "never leave this computer" in page
    assert 'href="/new"' in page


def test_from_a_file_to_an_explorer(app: Client, desk: Desk) -> None:
    made = app.post("/api/projects", json={"title": "Böden <b>"}, headers=INTENT).json()
    assert made == {"name": "boden-b", "path": "/projects/boden-b"}
    content = sample_csv()
    for offset in range(0, len(content), 3000):
        piece = content[offset : offset + 3000]
        query = {"name": "../../my papers.csv", "offset": offset, "total": len(content)}
        path = f"/api{made['path']}/files"
        answer = app.post(path, params=query, content=piece, headers=INTENT)
        assert answer.json() == {"bytes": offset + len(piece)}
    app.post(f"/api{made['path']}/import", headers=INTENT)
    project = desk.shelf.project("boden-b")
    assert [path.name for path in project.files] == ["my papers.csv"]
    wait(desk, project.import_task)
    assert "Fit a model" in app.get(made["path"]).text
    report = app.get(f"{made['path']}/report").text
    assert "Available fields" in report
    assert "with abstract" in report
    answer = app.post(f"{made['path']}/fit", data=FIT)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{made['path']}/run")
    run = project.run("run")
    wait(desk, run.task)
    assert desk.look(run.task).state == "done", run.task.log()
    page = app.get(f"{made['path']}/run").text
    assert "40 of 40" in page
    explorer = app.get(f"{made['path']}/run/explore/")
    assert explorer.status_code == 200
    assert "Böden &lt;b&gt;" in explorer.text
    report = app.get(f"{made['path']}/run/explore/report.html")
    assert "attachment" in report.headers["content-disposition"]
    table = app.get(f"{made['path']}/run/explore/download/topics.csv")
    assert table.text.count("\n") > 1
    assert "Ready to explore" in app.get("/").text


def test_settings_of_the_import_are_kept_and_checked(
    app: Client, desk: Desk, imported: Project
) -> None:
    path = f"{project_path(imported)}/report"
    form = {
        "token": TOKEN,
        "language": "none",
        "author_names": "full",
        "category_from": "year",
        "min_word_count": "3",
        "max_document_share": "30",
        "extra_stop_words": "soil, star",
        "keep_words": "",
        "phrases": "on",
        "use_abstract": "on",
        "join_keywords": "on",
        "deduplicate": "on",
        "match_fuzzy": "on",
        "keep_empty": "on",
    }
    wrong = app.post(path, data=form | {"min_word_count": "many"})
    assert wrong.status_code == 400
    assert "Minimum occurrences of a word: the value must be a number" in wrong.text
    assert 'value="many"' in wrong.text, "what was typed is kept"
    assert app.post(path, data=form).status_code == 303
    wait(desk, imported.import_task)
    assert imported.import_task.settings == {
        "language": None,
        "author_names": "full",
        "category_from": "year",
        "min_word_count": 3,
        "max_document_share": 0.3,
        "extra_stop_words": ["soil", "star"],
    }
    corpus = Corpus.load(imported.corpus)
    assert "soil" not in corpus.vocabulary
    assert "2003" in corpus.category_names
    assert 'value="soil, star"' in app.get(path).text, "and shown the next time"


def test_files_are_removed_and_unfinished_ones_are_no_files(app: Client, project: Project) -> None:
    path = f"/api{project_path(project)}/files?name=half.bib&offset=0&total=9"
    assert app.post(path, content=b"@book", headers=INTENT).status_code == 200
    assert [p.name for p in project.files] == ["papers.csv"]
    remove = f"{project_path(project)}/remove"
    wrong = app.post(remove, data={"token": TOKEN, "file": "../project.json"})
    assert wrong.status_code == 400
    assert (project.path / "project.json").is_file()
    app.post(remove, data={"token": TOKEN, "file": "papers.csv"})
    assert project.files == []
    answer = app.post(f"/api{project_path(project)}/import", headers=INTENT)
    assert "no files to import" in answer.json()["error"]


def test_a_file_that_is_no_bibliography_is_told(app: Client, desk: Desk) -> None:
    project = desk.shelf.create("Nonsense")
    (project.path / "files" / "a.bin").write_bytes(b"\x00\x01\x02" * 50)
    app.post(f"/api{project_path(project)}/import", headers=INTENT)
    wait(desk, project.import_task)
    page = app.get(project_path(project)).text
    assert "The import failed" in page
    assert "a.bin" in page
    assert "Traceback" not in page
    assert (
        app.get(f"{project_path(project)}/import/log")
        .headers["content-type"]
        .startswith("text/plain")
    )


WRONG_ANSWERS = [
    ({"topics": "0"}, "Maximum number of topics: the value must be"),
    ({"topics": "x"}, "the value must be a number"),
    ({"topics": ""}, "Maximum number of topics: the value must be"),
    ({"minutes": "-1"}, "Maximum minutes: the value must be"),
    ({"groups": "moon"}, "choose one of the list"),
    ({"chains": "900"}, "Chains: the value must be"),
]


def test_wrong_answers_in_the_form_of_a_fit(app: Client, imported: Project) -> None:
    for change, text in WRONG_ANSWERS:  # one after the other: the import behind them is dear
        answer = app.post(f"{project_path(imported)}/fit", data=FIT | change)
        assert answer.status_code == 400, change
        assert text in answer.text, change
        assert imported.runs == [], change


def test_one_fit_at_a_time(app: Client, desk: Desk, imported: Project, project: Project) -> None:
    run = imported.new_run()
    run.task.prepare("fit", {"parameters": {}})
    with run.task.working():
        answer = app.post(f"{project_path(imported)}/fit", data=FIT)
        assert answer.status_code == 400
        assert "only one fit runs at a time" in answer.text
        assert (
            app.post(f"{project_path(imported)}/report", data={"token": TOKEN}).status_code == 400
        )
        refused = app.post(f"{project_path(imported)}/delete", data={"token": TOKEN})
        assert "Stop that first" in refused.text
        assert "Watch" in app.get("/").text
        assert app.get(f"{project_path(imported)}/run/live").json()["active"]
        app.post(f"{project_path(imported)}/run/stop", data={"token": TOKEN})
        assert run.task.asked_to_stop
    assert desk.shelf.project(project.name)


def test_a_stopped_fit_without_a_run_can_be_resumed_or_deleted(
    app: Client, desk: Desk, imported: Project
) -> None:
    run = imported.new_run()
    run.task.prepare("fit", {"parameters": {"topics": 4, "iterations": 40, "exactly": True}})
    run.task.write("stopped")
    path = f"{project_path(imported)}/run"
    assert "Resume" in app.get(path).text
    assert app.post(f"{path}/resume", data={"token": TOKEN}).status_code == 303
    wait(desk, run.task)
    assert imported.run("run").done
    assert app.get(f"{path}/delete").status_code == 200
    assert app.post(f"{path}/delete", data={"token": TOKEN}).status_code == 303
    assert imported.runs == []


def test_a_run_that_is_done_goes_on_for_some_minutes(
    app: Client, desk: Desk, project: Project, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(run, project.path / "run")
    monkeypatch.setattr(desk.starter, "start", lambda _: None)
    path = f"{project_path(project)}/run/resume"
    for minutes in ("", "-1", "nan", "inf", "soon"):
        assert app.post(path, data={"token": TOKEN, "minutes": minutes}).status_code == 400
    assert app.post(path, data={"token": TOKEN, "minutes": "2.5"}).status_code == 303
    assert project.run("run").task.settings == {"further": {"minutes": 2.5}}


def test_deleting_is_asked_for_and_takes_the_project(app: Client, project: Project) -> None:
    path = f"{project_path(project)}/delete"
    assert "Delete permanently" in app.get(path).text
    assert project.path.is_dir()
    assert app.post(path, data={"token": TOKEN}).headers["location"] == "/"
    assert not project.path.exists()
    assert app.get(project_path(project)).status_code == 404


CHANGING = [
    "/demo",
    "/projects/three-subjects/report",
    "/projects/three-subjects/fit",
    "/projects/three-subjects/delete",
    "/projects/three-subjects/remove",
    "/projects/three-subjects/import/stop",
    "/corpora",
]
CALLS = [
    "/api/projects",
    "/api/projects/three-subjects/files?name=a&offset=0&total=1",
    "/api/projects/three-subjects/import",
]


@pytest.mark.parametrize("path", [*CHANGING, *CALLS])
def test_nothing_is_changed_for_other_sites(app: Client, project: Project, path: str) -> None:
    own = {"data": {"token": TOKEN}} if path in CHANGING else {"json": {"title": "x"}}
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert app.post(path, headers=INTENT | headers, **own).status_code == 403
    missing = app.post(path, data={"token": "guess"}) if path in CHANGING else app.post(path)
    assert missing.status_code == 403, "without the token or the header"
    assert app.get(path.partition("?")[0]).status_code in {200, 404, 405}
    assert project.path.is_dir()
    assert [p.name for p in project.files] == ["papers.csv"]
    assert not project.import_task.path.exists()


def test_other_names_of_this_computer_are_refused(app: Client) -> None:
    foreign = Client(app.app, base="http://evil.example")
    assert foreign.get("/").status_code == 421


@pytest.mark.parametrize(
    "path",
    [
        "/projects/..%2f..%2fetc/report",
        "/projects/%2e%2e/run",
        "/projects/three-subjects/..%2f..%2f/log",
        "/projects/three-subjects/run/log",
        "/projects/three-subjects/run/explore/..%2f..%2fmanifest.json",
        "/projects/three-subjects/files/papers.csv",
        "/projects/three-subjects/project.json",
        "/static/../desk.py",
        "/static/..%2f..%2fprojects%2fdesk.py",
    ],
)
def test_no_address_reads_files(app: Client, project: Project, path: str) -> None:
    assert (project.path / "project.json").is_file()
    answer = app.get(path)
    assert answer.status_code == 404
    assert "citeweave-project" not in answer.text


def test_a_piece_that_is_too_large_is_refused(app: Client, project: Project) -> None:
    path = f"/api{project_path(project)}/files?name=big.bib&offset=0&total=9000000"
    assert app.post(path, content=b"x" * 9_000_000, headers=INTENT).status_code == 413
    assert [p.name for p in project.files] == ["papers.csv"]


@pytest.mark.parametrize("query", ["", "name=a&offset=x&total=1", "name=a&offset=0&total=-1"])
def test_pieces_without_their_place_are_refused(app: Client, project: Project, query: str) -> None:
    answer = app.post(f"/api{project_path(project)}/files?{query}", content=b"1", headers=INTENT)
    assert answer.status_code == 400
    assert "needs the parameters name" in answer.json()["error"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"title": 3}', b'{"title": " "}', b"[" * 9999]
)
def test_projects_without_a_name_are_refused(app: Client, desk: Desk, body: bytes) -> None:
    assert app.post("/api/projects", content=body, headers=INTENT).status_code == 400
    assert desk.shelf.projects() == []


def test_every_page_tells_browsers_what_is_allowed(app: Client, desk: Desk) -> None:
    nasty = desk.shelf.create("<script>alert(1)</script>")
    (nasty.path / "files" / "<img src=x>.bib").write_bytes(b"@book{a, title={Soils}}")
    for path in ("/", "/new", project_path(nasty), f"{project_path(nasty)}/delete", "/nothing"):
        answer = app.get(path)
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        page = Seen(answer.text)
        for tag, attributes in page.tags:
            assert tag not in {"img", "style"}
            assert "style" not in attributes
            assert tag != "script" or (attributes["src"] or "").startswith("/static/")


def test_a_run_of_the_command_line_is_explored(app: Client, desk: Desk, run: Path) -> None:
    (desk.shelf.path / "my old run").symlink_to(run, target_is_directory=True)
    assert "run from the command line" in app.get("/").text
    page = app.get("/projects/my%20old%20run").text
    assert "/projects/my%20old%20run/run/explore/" in page
    shown = app.get("/projects/my%20old%20run/run/explore/topics")
    assert 'href="/projects/my%20old%20run/run/explore/topics" aria-current="page"' in shown.text
    for path in ("run/resume", "fit", "report"):
        refused = app.post(f"/projects/my%20old%20run/{path}", data=FIT)
        assert refused.status_code == 400
        assert "created on the command line" in refused.text
    call = "/api/projects/my%20old%20run/files?name=a&offset=0&total=1"
    assert app.post(call, content=b"1", headers=INTENT).status_code == 400
    assert not (run / "tasks").exists()
    assert not (run / "files").exists()


def test_a_corpus_of_the_command_line_becomes_a_project(app: Client, desk: Desk, run: Path) -> None:
    shutil.copytree(run / "corpus", desk.shelf.path / "soils-corpus")
    assert "Create a project from soils-corpus" in app.get("/").text
    answer = app.post("/corpora", data={"token": TOKEN, "corpus": "soils-corpus"})
    assert answer.headers["location"] == "/projects/soils"
    assert "Fit a model" in app.get("/projects/soils").text
    for name in ("..", "../shelf/soils-corpus", "soils", ""):
        wrong = app.post("/corpora", data={"token": TOKEN, "corpus": name})
        assert wrong.status_code == 404
