"""The command `report`: write a run as one self-contained page."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
import json
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.options import Run

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("report")(report)


@guarded
def report(
    *,
    run: Run,
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("report.html"),
    title: Annotated[
        str | None, typer.Option(help="Title of the page.", show_default=False)
    ] = None,
    max_papers: Annotated[
        int, typer.Option(help="Maximum number of papers in the embedded table; 0 for none.")
    ] = 4000,
    tables: Annotated[
        bool, typer.Option("--tables/--no-tables", help="Embed tables as CSV in the page.")
    ] = True,
    xlsx: Annotated[
        Path | None,
        typer.Option(
            help="Also write all tables of the run to an Excel workbook.",
            show_default=False,
        ),
    ] = None,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Write the path and size of the page to standard output as JSON."
        ),
    ] = False,
) -> None:
    """Write one self-contained page about a run: topics, authors, papers, trends, reliability."""
    from citeweave.cli.show import make_console
    from citeweave.web.report import write_report
    from citeweave.wording import size_text

    written = write_report(run, out, title=title, max_papers=max_papers, tables=tables)
    if xlsx is not None:
        _write_workbook(run, xlsx)
    if as_json:
        facts = {
            "file": str(written.path),
            "bytes": written.size,
            "verdict": written.verdict.headline,
            "level": written.verdict.level,
            "missing": written.missing,
            "workbook": None if xlsx is None else str(xlsx),
        }
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        console = make_console()
        console.print(
            f"The report is in {written.path} ({size_text(written.size)}).", soft_wrap=True
        )
        if xlsx is not None:
            console.print(f"All tables are in {xlsx}.", soft_wrap=True)
        console.print(f"{written.verdict.headline}. {written.verdict.advice}")
        for text in dict.fromkeys(written.missing.values()):
            console.print(f"Not shown: {text}")
    if open_page:
        webbrowser.open(written.path.resolve().as_uri())


def _write_workbook(run: Path, path: Path) -> None:
    from citeweave.explore import Exploration, to_xlsx
    from citeweave.files import write_bytes
    from citeweave.web.tables import all_tables

    write_bytes(path, to_xlsx(all_tables(Exploration(run))))
