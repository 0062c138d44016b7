"""Pages of one run, updated live during the fit; actions to stop, resume and delete it; logs."""

from typing import Any

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from citeweave.errors import CiteweaveError, ParameterError
from citeweave.model.settling import Settlement
from citeweave.model.verdict import Verdict, settled_verdict
from citeweave.web.projects.desk import Desk, project_path
from citeweave.web.projects.live import fit_view, import_view
from citeweave.web.projects.shelf import ProjectRun
from citeweave.web.routes import Endpoint
from citeweave.wording import count

__all__ = ["ENTRIES"]

MINUTES_MORE = 20.0


class _RunConvertor(Convertor[str]):
    """Names of runs in URLs."""

    regex = "run(?:-[0-9]{1,4})?"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class _TaskConvertor(_RunConvertor):
    """Names of tasks in URLs."""

    regex = f"import|{_RunConvertor.regex}"


register_url_convertor("run", _RunConvertor())
register_url_convertor("task", _TaskConvertor())


def run(desk: Desk, request: Request) -> Response:
    """Show a run: live progress during the fit, its outcome afterwards."""
    found = desk.run_of(request)
    return desk.page(request, "app/run.html", _values(desk, found))


def _values(desk: Desk, found: ProjectRun) -> dict[str, Any]:
    state = desk.look(found.task)
    verdict, apart = _verdict(found)
    return {
        "project": found.project,
        "run": found,
        "state": state,
        "view": fit_view(state),
        "verdict": verdict,
        "apart": apart,
        "more": MINUTES_MORE,
    }


def _verdict(found: ProjectRun) -> tuple[Verdict | None, list[str]]:
    """Return the verdict on a finished run, and the quantities on which its chains disagree."""
    manifest = found.manifest
    if not found.usable or manifest["parameters"].get("exactly"):
        return None, []  # the user asked for all iterations; the explorer judges the chains
    try:
        settlement = Settlement.from_json(manifest["result"]["settlement"])
        done = int(manifest["result"]["iterations"])
    except (KeyError, TypeError, ValueError):
        return None, []
    verdict = settled_verdict(settlement, done=done, asked=done, folder=None)
    if settlement.settled:
        return verdict, []
    apart = [check.text for check in settlement.open]
    return verdict._replace(advice=_UNSETTLED.format(made=count(done, "iteration"))), apart


_UNSETTLED = (
    "You can explore the result. However, after {made} the randomly initialised chains have not "
    "quite reached the same topics: details may change, and another fit may differ. Let it run "
    "longer, or try fewer topics."
)


def live(desk: Desk, request: Request) -> Response:
    """Return the part of a page that changes while a task runs, and whether it is running."""
    task = desk.task_of(request)
    state = desk.look(task)
    if task.name == "import":
        text = desk.part("app/import_live.html", {"view": import_view(state)})
    else:
        text = desk.part("app/fit_live.html", {"view": fit_view(state), "state": state})
    return JSONResponse({"state": state.state, "active": state.active, "html": text})


def log(desk: Desk, request: Request) -> Response:
    """Return the log of a task."""
    text = desk.task_of(request).log() or "The log is empty."
    return Response(text, media_type="text/plain; charset=utf-8")


def stop(desk: Desk, request: Request, body: bytes) -> Response:
    """Ask a process to save its state and stop."""
    desk.read_form(request, body)
    task = desk.task_of(request)
    if desk.look(task).active:
        task.stop()
    place = project_path(desk.project_of(request))
    return RedirectResponse(
        place if task.name == "import" else f"{place}/{task.name}", status_code=303
    )


def resume(desk: Desk, request: Request, body: bytes) -> Response:
    """Continue a fit that was stopped, or extend one that is done."""
    form = desk.read_form(request, body)
    desk.own_project_of(request)
    found = desk.run_of(request)
    settings: dict[str, Any] = {
        name: value for name, value in found.task.settings.items() if name != "further"
    }
    if found.done:
        try:
            minutes = float(form.get("minutes", ""))
        except ValueError:
            minutes = 0.0
        if not 0 < minutes < 100_000:
            raise ParameterError("Enter the number of additional minutes, greater than 0.")
        settings["further"] = {"minutes": minutes}
    desk.begin(found.project, found.task, "fit", settings)
    return RedirectResponse(f"{project_path(found.project)}/{found.name}", status_code=303)


def delete_form(desk: Desk, request: Request) -> Response:
    """Ask for confirmation before deleting a run."""
    found = desk.run_of(request)
    values = {
        "project": found.project,
        "run": found,
        "busy": desk.look(found.task).active,
        "files": [],
        "runs": 0,
    }
    return desk.page(request, "app/delete.html", values)


def delete(desk: Desk, request: Request, body: bytes) -> Response:
    """Delete a run."""
    desk.read_form(request, body)
    found = desk.run_of(request)
    if found.project.alone:
        raise CiteweaveError("This run is a project by itself; delete the project instead.")
    with desk.starting:
        if desk.look(found.task).active:
            raise ParameterError("The fit is running. Stop it first, then delete it.")
        desk.before_removal(found.path)
        desk.shelf.delete_run(found)
    return RedirectResponse(project_path(found.project), status_code=303)


ENTRIES = (
    Endpoint("/projects/{name}/{run:run}", run, "One run.", page=True),
    Endpoint("/projects/{name}/{task:task}/live", live, "Progress.", page=True),
    Endpoint("/projects/{name}/{task:task}/log", log, "The log.", page=True),
    Endpoint("/projects/{name}/{task:task}/stop", stop, "Stop.", method="POST", page=True),
    Endpoint("/projects/{name}/{run:run}/resume", resume, "Resume.", method="POST", page=True),
    Endpoint("/projects/{name}/{run:run}/delete", delete_form, "Confirm deletion.", page=True),
    Endpoint("/projects/{name}/{run:run}/delete", delete, "Delete.", method="POST", page=True),
)
