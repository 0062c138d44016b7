"""The command `scan`: choose the number of topics by held-out prediction."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.options import RUN, Sources, gathers
from citeweave.errors import ParameterError
from citeweave.parameters.scntm import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from rich.console import Console
    from rich.table import Table

    from citeweave.corpus import Corpus
    from citeweave.experiments import Scan
    from citeweave.model import SCNTM

__all__ = ["register", "scan_topics"]

TOPICS = "10,20,40,80,160"

_PARAMETERS = (
    PARAMETERS["iterations"].but(
        default=600, summary="Maximum number of iterations per chain in each fit.", page=""
    ),
    *(PARAMETERS[name] for name in ("model", "eta", "chains", "threads", "device")),
)


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("scan")(scan)


@guarded
@gathers(parameters=_PARAMETERS)
def scan(
    *,
    corpus: Sources,
    topics: Annotated[str, typer.Option(help="Numbers to try, separated by commas.")] = TOPICS,
    parameters: dict[str, Any],
    seed: Annotated[int, typer.Option(help="Random seed for the held-out parts and the fits.")] = 0,
    plot: Annotated[
        Path | None,
        typer.Option(help="Plot the measures to this file (.png, .pdf or .svg)."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the fits and scan.json; existing fits are not repeated (default: "
            "CORPUS-scan).",
            rich_help_panel=RUN,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON to standard output.", rich_help_panel=RUN)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show no progress.", rich_help_panel=RUN)
    ] = False,
) -> None:
    """Try several numbers of topics and recommend one.

    A tenth of the words and citations is held out from each fit and then predicted. After Ctrl-C,
    run the same command again to continue.
    """
    from citeweave.cli.show import make_console
    from citeweave.cli.sources import name_of, open_sources
    from citeweave.explore.plots.scanning import plot_scan
    from citeweave.explore.plots.write import check_plot_file, write_figure

    numbers = read_numbers(topics)
    if plot is not None:
        check_plot_file(plot)
    place = out if out is not None else Path(f"{name_of(corpus)}-scan")
    console = make_console()
    notes = None if quiet or as_json else console
    found = scan_topics(open_sources(corpus, notes), numbers, place, notes, seed=seed, **parameters)
    if plot is not None:
        write_figure(lambda: plot_scan(found.rows, found.recommended), plot)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
        return
    console.print()
    console.print(_table(found))
    console.print(f"{found.recommended} topics: {found.reason}.")
    console.print()
    if plot is not None:
        console.print(f"The plot is in {plot}.", soft_wrap=True)
    line = f"citeweave fit {' '.join(corpus)} --topics {found.recommended}"
    console.print(f"Continue with: {line}", soft_wrap=True)


def read_numbers(text: str) -> list[int]:
    """Parse numbers of topics.

    Examples
    --------
    >>> read_numbers("10, 20,40")
    [10, 20, 40]
    """
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    rule = PARAMETERS["topics"].rule
    if not numbers or not all(rule.accepts(number) for number in numbers):
        raise ParameterError(
            f"--topics must be numbers separated by commas, such as 10,20,40, each {rule.wanted}. "
            f"Got {text!r} instead."
        )
    return numbers


def scan_topics(
    corpus: "Corpus",
    numbers: list[int],
    folder: Path,
    console: "Console | None",
    **parameters: Any,
) -> "Scan":
    """Scan a corpus with a progress display, and write scan.json to the folder."""
    from citeweave.cli.running import fit_model, resume_model
    from citeweave.experiments import scan as scan_corpus
    from citeweave.files import writing
    from citeweave.model.parameters import make_plan
    from citeweave.runs.folder import is_run_folder

    def fit(
        model: "SCNTM", train: "Corpus", held_out: "Mapping[str, np.ndarray]", place: Path | None
    ) -> "SCNTM":
        run = place or folder
        if console is not None:
            console.print(f"At most {model.topics} topics")
        if is_run_folder(run):
            return resume_model(run, None, console)
        plan = make_plan(model.get_params())
        return fit_model(model, plan, train, console, out=run, held_out=held_out)

    with writing(folder, "Choose another folder with --out."):
        folder.mkdir(parents=True, exist_ok=True)
    found = scan_corpus(corpus, numbers, out=folder, fit=fit, **parameters)
    found.save(folder / "scan.json")
    return found


def _table(found: "Scan") -> "Table":
    from citeweave.cli.show import new_table

    table = new_table("Numbers of topics", expand=False)
    for title in ("at most", "in use", "perplexity", "AUC", "coherence", "agreement"):
        table.add_column(title, justify="right")
    table.add_column("settled")
    table.add_column("minutes", justify="right")
    for row in found.rows:
        mark = "bold green" if row.topics == found.recommended else ""
        table.add_row(
            str(row.topics),
            str(row.used),
            f"{row.perplexity:,.1f}",
            _shown(row.auc),
            _shown(row.coherence),
            _shown(row.agreement),
            "yes" if row.settled else f"not in {row.iterations}",
            f"{row.seconds / 60:.1f}",
            style=mark,
        )
    return table


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
