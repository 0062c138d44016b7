"""Pages of the app: all projects, new project, one project, import report, and the fit form."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from citeweave.corpus import Corpus
from citeweave.errors import CiteweaveError, NotFoundError, ParameterError
from citeweave.model import SCNTM
from citeweave.model.parameters import make_plan
from citeweave.preparing import Settings
from citeweave.preparing.page import MOST_ROWS, NARROW, cell_text
from citeweave.preparing.report import Report
from citeweave.preparing.sections import sections
from citeweave.web.projects.desk import Desk, project_path
from citeweave.web.projects.forms import (
    AUTO,
    IMPORT_FIELDS,
    Field,
    fit_fields,
    fit_parameters,
    read_fields,
)
from citeweave.web.projects.live import import_view
from citeweave.web.projects.shelf import Project
from citeweave.web.projects.uploads import MOST_BYTES, MOST_FILES, PIECE, Uploads, gigabytes
from citeweave.web.routes import Endpoint
from citeweave.wording import number

__all__ = ["ENTRIES"]

DEMO = "Demo"


def home(desk: Desk, request: Request) -> Response:
    """List all projects."""
    rows = [_row(desk, project) for project in desk.shelf.projects()]
    values = {"projects": rows, "corpora": [path.name for path in desk.shelf.corpora()]}
    return desk.page(request, "app/home.html", values)


def _row(desk: Desk, project: Project) -> dict[str, Any]:
    """Summarise a project in one row: its state and the next step."""
    runs = [(run, desk.look(run.task)) for run in project.runs]
    importing = desk.look(project.import_task)
    finished = [run for run, _ in runs if run.done]
    active = next((run for run, state in runs if state.active and not project.alone), None)
    open_runs = [run for run, _ in runs if not run.done]
    if active is not None:
        status = ("Fitting", "now")
    elif importing.active:
        status = ("Importing", "now")
    elif finished:
        status = ("Ready to explore", "good")
    elif open_runs:
        status = ("Fit not finished", "warn")
    elif project.has_corpus:
        status = ("Imported", "")
    else:
        status = ("Import failed", "bad") if importing.state == "failed" else ("Not imported", "")
    return {
        "project": project,
        "status": status,
        "active": active,
        "explore": finished[-1] if finished else None,
        "resume": open_runs[-1] if open_runs and active is None else None,
        "runs": len(runs),
        "changed": project.changed,
    }


def new(desk: Desk, request: Request) -> Response:
    """Show the page for choosing files."""
    values = {
        "piece": PIECE,
        "most_files": MOST_FILES,
        "most": gigabytes(MOST_BYTES),
        "folder": str(desk.shelf.path),
    }
    return desk.page(request, "app/new.html", values)


def demo(desk: Desk, request: Request, body: bytes) -> Response:
    """Create the demo project of simulated papers."""
    desk.read_form(request, body)
    project = desk.shelf.create(DEMO, demo=True)
    desk.begin(project, project.import_task, "demo", {})
    return RedirectResponse(project_path(project), status_code=303)


def adopt(desk: Desk, request: Request, body: bytes) -> Response:
    """Create a project from a corpus that was created on the command line."""
    form = desk.read_form(request, body)
    made = desk.shelf.adopt(form.get("corpus", ""))
    return RedirectResponse(project_path(made), status_code=303)


def project(desk: Desk, request: Request) -> Response:
    """Show one project: its corpus and its runs."""
    return _show(desk, request, desk.project_of(request))


def _show(desk: Desk, request: Request, found: Project, *, error: str = "") -> Response:
    state = desk.look(found.import_task)
    corpus = _corpus(found)
    report = None if corpus is None else _report(corpus)
    values = {
        "project": found,
        "import_state": state,
        "view": import_view(state),
        "figures": [] if corpus is None else _figures(corpus),
        "warnings": [] if report is None else report.warnings,
        "has_report": report is not None,
        "error": error,
        "runs": [(run, desk.look(run.task)) for run in found.runs],
        "busy": desk.busy(found),
        "form": None if corpus is not None else _import_form(found),
    }
    return desk.page(request, "app/project.html", values, status=400 if error else 200)


def _corpus(found: Project) -> Corpus | None:
    if not found.has_corpus:
        return None
    try:
        return Corpus.load(found.corpus)
    except CiteweaveError:
        return None


def _report(corpus: Corpus) -> Report | None:
    try:
        return Report.of(corpus)
    except CiteweaveError:
        return None


def _figures(corpus: Corpus) -> list[tuple[str, str]]:
    rows = [
        ("Papers", corpus.n_documents),
        ("Authors", corpus.n_authors),
        ("Citations between papers", corpus.n_citations),
        ("Labels", corpus.n_categories),
        ("Words and phrases", corpus.vocabulary_size),
    ]
    return [(name, number(value)) for name, value in rows if value]


def _import_form(found: Project, typed: Mapping[str, str] | None = None) -> list[tuple[Field, str]]:
    """Fill the import form with the submitted values, or with those used last."""
    used = Settings().as_dict() | found.import_task.settings
    return _filled(IMPORT_FIELDS, used, typed)


def _filled(
    fields: Sequence[Field], values: Mapping[str, Any], typed: Mapping[str, str] | None
) -> list[tuple[Field, str]]:
    if typed is None:
        return [(field, _shown(field, values.get(field.name, field.default))) for field in fields]
    return [(field, typed.get(field.name, "")) for field in fields]


def _shown(field: Field, value: Any) -> str:
    if field.kind == "switch":
        return "on" if value else ""
    return field.show(value)


def import_report(desk: Desk, request: Request) -> Response:
    """Show what the import matched, changed and dropped."""
    return _show_report(desk, request, desk.project_of(request))


def _show_report(
    desk: Desk,
    request: Request,
    found: Project,
    *,
    error: str = "",
    typed: Mapping[str, str] | None = None,
) -> Response:
    corpus = _corpus(found)
    report = None if corpus is None else _report(corpus)
    if report is None and not found.files:
        raise NotFoundError(
            "This project has no import report, because it was not created from files."
        )
    made = [] if report is None else sections(report)
    values = {
        "project": found,
        "figures": [] if corpus is None else _figures(corpus),
        "warnings": [row[0] for part in made if part.key == "warnings" for row in part.rows],
        "sections": [part for part in made if part.key != "warnings"],
        "cell": cell_text,
        "most_rows": MOST_ROWS,
        "narrow": NARROW,
        "error": error,
        "form": _import_form(found, typed),
        "files": [(path.name, path.stat().st_size) for path in found.files],
        "piece": PIECE,
        "most_files": MOST_FILES,
        "most": gigabytes(MOST_BYTES),
        "busy": desk.busy(found),
        "import_state": desk.look(found.import_task),
    }
    return desk.page(request, "app/report.html", values, status=400 if error else 200)


def import_again(desk: Desk, request: Request, body: bytes) -> Response:
    """Import the files of a project with the submitted settings."""
    form = desk.read_form(request, body)
    found = desk.own_project_of(request)
    try:
        changed = _changed_settings(form)
        desk.begin(found, found.import_task, "import", changed)
    except ParameterError as error:
        return _show_report(desk, request, found, error=str(error), typed=form)
    return RedirectResponse(project_path(found), status_code=303)


def _changed_settings(form: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings that differ from the defaults, in JSON-serialisable form."""
    usual = Settings()
    chosen = Settings.from_dict(read_fields(IMPORT_FIELDS, form))
    before, now = usual.as_dict(), chosen.as_dict()
    return {name: value for name, value in now.items() if value != before[name]}


def remove_file(desk: Desk, request: Request, body: bytes) -> Response:
    """Remove a file from a project; the corpus does not change until the next import."""
    form = desk.read_form(request, body)
    found = desk.own_project_of(request)
    if desk.busy(found):
        raise ParameterError(
            "This project is being worked on. Wait until that is done, or stop it."
        )
    Uploads(found).remove(form.get("file", ""))
    return RedirectResponse(f"{project_path(found)}/report", status_code=303)


def import_page(desk: Desk, request: Request) -> Response:
    """Return the import report as the page that `citeweave import` writes."""
    corpus = _corpus(desk.project_of(request))
    report = None if corpus is None else _report(corpus)
    if report is None:
        raise NotFoundError("This project has no import report.")
    headers = {"content-disposition": 'attachment; filename="import.html"'}
    return Response(report.to_html(), media_type="text/html", headers=headers)


def fit_form(desk: Desk, request: Request) -> Response:
    """Show the fit form."""
    return _show_fit(desk, request, desk.own_project_of(request))


def _show_fit(
    desk: Desk,
    request: Request,
    found: Project,
    *,
    error: str = "",
    typed: Mapping[str, str] | None = None,
) -> Response:
    corpus = _need_corpus(found)
    values = {
        "project": found,
        "form": _filled(fit_fields(corpus), {}, typed),
        "figures": _figures(corpus),
        "error": error,
        "others": desk.under_way(),
    }
    return desk.page(request, "app/fit.html", values, status=400 if error else 200)


def _need_corpus(found: Project) -> Corpus:
    corpus = _corpus(found)
    if corpus is None:
        raise NotFoundError("This project has no corpus yet. Import its files first.")
    return corpus


def fit(desk: Desk, request: Request, body: bytes) -> Response:
    """Start a fit."""
    form = desk.read_form(request, body)
    found = desk.own_project_of(request)
    corpus = _need_corpus(found)
    try:
        values = read_fields(fit_fields(corpus), form)
        parameters = fit_parameters(values, corpus)
        tried = parameters if parameters["topics"] != AUTO else parameters | {"topics": 2}
        make_plan(SCNTM(**tried).get_params())  # report conflicting parameters at once
        run = found.new_run()
        desk.begin(found, run.task, "fit", {"parameters": parameters})
    except ParameterError as error:
        return _show_fit(desk, request, found, error=str(error), typed=form)
    return RedirectResponse(f"{project_path(found)}/{run.name}", status_code=303)


def delete_form(desk: Desk, request: Request) -> Response:
    """Ask for confirmation before deleting a project."""
    found = desk.project_of(request)
    values = {
        "project": found,
        "run": None,
        "busy": desk.busy(found),
        "files": [path.name for path in found.files],
        "runs": len(found.runs),
    }
    return desk.page(request, "app/delete.html", values)


def delete(desk: Desk, request: Request, body: bytes) -> Response:
    """Delete a project."""
    desk.read_form(request, body)
    found = desk.project_of(request)
    with desk.starting:
        if desk.busy(found):
            raise ParameterError(
                "This project is being worked on. Stop that first, then delete the project."
            )
        desk.before_removal(found.path)
        desk.shelf.delete(found)
    return RedirectResponse("/", status_code=303)


ENTRIES = (
    Endpoint("/", home, "All projects.", page=True),
    Endpoint("/new", new, "A new project.", page=True),
    Endpoint("/demo", demo, "Create the demo project.", method="POST", page=True),
    Endpoint("/corpora", adopt, "Create a project from a corpus.", method="POST", page=True),
    Endpoint("/projects/{name}", project, "One project.", page=True),
    Endpoint("/projects/{name}/report", import_report, "The import report.", page=True),
    Endpoint("/projects/{name}/import.html", import_page, "The report as a file.", page=True),
    Endpoint("/projects/{name}/report", import_again, "Import.", method="POST", page=True),
    Endpoint("/projects/{name}/remove", remove_file, "Remove a file.", method="POST", page=True),
    Endpoint("/projects/{name}/fit", fit_form, "The fit form.", page=True),
    Endpoint("/projects/{name}/fit", fit, "Start a fit.", method="POST", page=True),
    Endpoint("/projects/{name}/delete", delete_form, "Confirm deletion.", page=True),
    Endpoint("/projects/{name}/delete", delete, "Delete.", method="POST", page=True),
)
