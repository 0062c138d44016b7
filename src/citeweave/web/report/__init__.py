"""The report: a run as one self-contained page to read, print or send by e-mail.

>>> from citeweave.web.report import report_html, write_report
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from citeweave.errors import ParameterError
from citeweave.files import write_atomically, writing
from citeweave.web.report.page import render

if TYPE_CHECKING:
    import os

    from citeweave.evaluate.diagnostics import Verdict
    from citeweave.explore import Exploration
    from citeweave.web.report.contents import Contents

__all__ = [
    "Written",
    "report_html",
    "write_report",
]


class Written(NamedTuple):
    """A written report: its path, size in bytes, verdict, and what could not be shown.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.web.report import write_report
    >>> written = write_report(citeweave.example_model(), "report.html")
    >>> written.path.name
    'report.html'
    """

    path: Path
    size: int
    verdict: Verdict
    missing: dict[str, str]


def report_html(
    run: Any, *, title: str | None = None, max_papers: int = 4000, tables: bool = True
) -> str:
    """Render the report of a run as an HTML page.

    Parameters
    ----------
    run : Exploration, fitted model or path of a run
    title : str, optional
        Title of the page (default: derived from the number of papers).
    max_papers : int
        Maximum number of papers in the embedded table; 0 for no such table.
    tables : bool
        Whether to embed tables (CSV) that a reader can save.

    Raises
    ------
    RunError
        The run cannot be read, or has no samples yet.
    MissingDependencyError
        Jinja2 is not installed; the message gives the install command.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.web.report import report_html
    >>> report_html(citeweave.example_model())[:15]
    '<!doctype html>'
    """
    return render(*_contents(run, title=title, max_papers=max_papers, tables=tables))


def write_report(
    run: Any,
    out: str | os.PathLike[str] = "report.html",
    *,
    title: str | None = None,
    max_papers: int = 4000,
    tables: bool = True,
) -> Written:
    """Write the report of a run to a file, replacing an existing file atomically.

    Parameters
    ----------
    run, title, max_papers, tables
        As for `report_html`.
    out : path
        The file to write. Its folder is created if necessary.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.web.report import write_report
    >>> written = write_report(citeweave.example_model(), "report.html")
    >>> written.path.stat().st_size > 1000
    True
    """
    target = Path(out)
    if target.is_dir():
        raise ParameterError(
            f"'out' must name a file such as report.html. Got the folder '{target}' instead."
        )
    place = target.resolve()  # a symbolic link is kept, and its target is written
    if place.exists() and not place.is_file():
        raise ParameterError(
            f"'{target}' is not a regular file and will not be replaced. Choose another --out."
        )
    contents, view = _contents(run, title=title, max_papers=max_papers, tables=tables)
    content = render(contents, view).encode()
    with writing(target, "Choose another file with --out."):
        place.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(place) as file:
            file.write(content)
    return Written(target, len(content), contents.diagnostics.verdict, contents.missing)


def _contents(
    run: Any, *, title: str | None, max_papers: int, tables: bool
) -> tuple[Contents, Exploration]:
    if not isinstance(max_papers, int) or isinstance(max_papers, bool) or max_papers < 0:
        raise ParameterError(f"'max_papers' must be an integer of at least 0. Got {max_papers!r}.")
    from citeweave.explore import Exploration  # noqa: PLC0415 (loads the compiler)
    from citeweave.web.report.gather import gather  # noqa: PLC0415

    view: Exploration = run if isinstance(run, Exploration) else Exploration(run)
    return gather(view, title=title, max_papers=max_papers, tables=tables), view
