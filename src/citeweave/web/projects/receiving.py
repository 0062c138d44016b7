"""Calls made by the upload page: create a project, receive files, start the import."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from citeweave.errors import ParameterError
from citeweave.web.projects.desk import Desk, project_path
from citeweave.web.projects.uploads import Uploads
from citeweave.web.routes import Endpoint

__all__ = ["ENTRIES"]


def create(desk: Desk, request: Request, body: bytes) -> Response:
    """Create an empty project."""
    desk.check_intent(request)
    try:
        asked: Any = json.loads(body)
        title = asked["title"]
    except (ValueError, TypeError, KeyError, RecursionError):
        title = None
    if not isinstance(title, str):
        raise ParameterError("The name of the project is missing.")
    made = desk.shelf.create(title)
    return JSONResponse({"name": made.name, "path": project_path(made)}, status_code=201)


def add_file(desk: Desk, request: Request, body: bytes) -> Response:
    """Receive a piece of a file."""
    desk.check_intent(request)
    found = desk.own_project_of(request)
    if desk.busy(found):
        raise ParameterError("Files cannot be added while this project is being worked on.")
    query = request.query_params
    name = query.get("name", "")
    offset, total = _number(query.get("offset", "")), _number(query.get("total", ""))
    if not name or offset is None or total is None:
        raise ParameterError("A piece of a file needs the parameters name, offset and total.")
    Uploads(found).add(name, body, offset=offset, total=total)
    return JSONResponse({"bytes": offset + len(body)})


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and text.isascii() and len(text) <= 14 else None


def begin_import(desk: Desk, request: Request, _: bytes) -> Response:
    """Import the files of a project with the settings used last, or the defaults."""
    desk.check_intent(request)
    found = desk.own_project_of(request)
    if not found.files:
        raise ParameterError("There are no files to import.")
    desk.begin(found, found.import_task, "import", found.import_task.settings)
    return JSONResponse({"path": project_path(found)}, status_code=202)


ENTRIES = (
    Endpoint("/api/projects", create, "A new project.", method="POST", page=True),
    Endpoint("/api/projects/{name}/files", add_file, "A file.", method="POST", page=True),
    Endpoint("/api/projects/{name}/import", begin_import, "Import.", method="POST", page=True),
)
