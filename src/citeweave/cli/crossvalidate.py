"""The command `crossvalidate`: compare models on folds of a corpus, resumable."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.evaluate import read_words
from citeweave.cli.options import MODEL, RUN, Sources, gathers
from citeweave.parameters.scntm import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from citeweave.experiments import SummaryRow, TaskProgress

__all__ = ["register"]

MEASURE = "Measuring"

_SHARED = [PARAMETERS[name].but(group=MODEL) for name in ("topics", "eta", "network_from")]
_SHARED += [
    PARAMETERS["iterations"].but(group=MODEL, summary="Iterations per chain."),
    PARAMETERS["chains"].but(group=MODEL, default=1, summary="Independent chains."),
]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("crossvalidate")(crossvalidate)


@guarded
@gathers(parameters=_SHARED)
def crossvalidate(
    *,
    corpus: Sources,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Model, with its parameters after a colon (scntm:eta=10); may be repeated to "
            "compare several (default: scntm).",
            rich_help_panel=MODEL,
        ),
    ] = None,
    parameters: dict[str, Any],
    folds: Annotated[int, typer.Option(help="Number of folds.")] = 10,
    splits: Annotated[
        int | None,
        typer.Option(help="Number of independent random splits, to be used instead of folds."),
    ] = None,
    test: Annotated[float, typer.Option(help="Share of test papers in each split.")] = 0.1,
    seeds: Annotated[int, typer.Option(help="Runs of each model per fold.")] = 1,
    fold_seed: Annotated[int, typer.Option(help="Random seed of the partition into folds.")] = 0,
    words: Annotated[
        str,
        typer.Option(
            help="Words from which a test paper's topics are estimated while its other words are "
            "scored: title, a share such as 0.5, or auto (the title if there are further words).",
            rich_help_panel=MEASURE,
        ),
    ] = "auto",
    labels: Annotated[
        str,
        typer.Option(
            help="Labels of test papers, for models that learn from labels: hidden, seen (the "
            "paper's protocol) or both.",
            rich_help_panel=MEASURE,
        ),
    ] = "both",
    method: Annotated[
        str,
        typer.Option(
            help="Fold-in of test papers: paper, gibbs, or paper,gibbs for both after one fit.",
            rich_help_panel=MEASURE,
        ),
    ] = "paper",
    samples: Annotated[
        int, typer.Option(help="Samples per test paper.", rich_help_panel=MEASURE)
    ] = 500,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for results; existing results are not computed again (default: "
            "CORPUS-crossvalidation).",
            rich_help_panel=RUN,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Models fitted in parallel (default: one per core).",
            rich_help_panel=RUN,
        ),
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Compute existing results again.", rich_help_panel=RUN),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Write the summary to standard output as JSON.", rich_help_panel=RUN
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show no progress.", rich_help_panel=RUN)
    ] = False,
) -> None:
    """Fit models to parts of a corpus and evaluate them on the held-out papers.

    Each result is saved immediately. After Ctrl-C, run the same command again to continue.
    """
    from citeweave.cli.running import stop_on_signals
    from citeweave.cli.show import make_console
    from citeweave.cli.sources import name_of, open_sources
    from citeweave.experiments import choose, cross_validate, k_folds, random_splits

    notes = None if quiet else make_console(stderr=True)
    shared = {name: value for name, value in parameters.items() if value is not None}
    chosen = [choose(text, **shared) for text in model or ["scntm"]]
    parts = (
        k_folds(folds, seed=fold_seed)
        if splits is None
        else random_splits(splits, test=test, seed=fold_seed)
    )
    opened = open_sources(corpus, notes)
    name = name_of(corpus)
    place = Path(f"{name}-crossvalidation") if out is None else out
    with stop_on_signals() as stop:
        table = cross_validate(
            {name: opened},
            chosen,
            folds=parts,
            seeds=seeds,
            words=None if words == "auto" else read_words(words),
            labels=["hidden", "seen"] if labels == "both" else [labels],
            method=method.split(",") if "," in method else method,
            samples=samples,
            out=place,
            workers=workers,
            fresh=fresh,
            progress=None if notes is None else _teller(notes),
            stop=stop,
        )
    summary = table.summary()
    if as_json:
        typer.echo(json.dumps([_record(row) for row in summary], indent=2, ensure_ascii=False))
        return
    console = make_console()
    _print(console, summary)
    console.print(f"All values: {place / 'results.csv'}", soft_wrap=True)


def _teller(console: "Console") -> "Callable[[TaskProgress], None]":
    def tell(progress: "TaskProgress") -> None:
        if progress.state == "started":
            return
        end = {
            "kept": "already done",
            "done": f"{progress.seconds:.1f} s",
            "failed": f"failed: {progress.error}",
        }[progress.state]
        place = f"{progress.finished}/{progress.total}"
        console.print(f"{place:>9}  {progress.task}: {end}", soft_wrap=True)

    return tell


def _record(row: "SummaryRow") -> dict[str, Any]:
    """Convert a row to JSON-serialisable values."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in row._asdict().items()
    }


def _print(console: "Console", summary: "list[SummaryRow]") -> None:
    """Print means and standard deviations, one table per protocol."""
    from citeweave.cli.show import add_figures, new_table

    protocols = dict.fromkeys((row.where, row.protocol) for row in summary)
    for where, protocol in protocols:
        rows = [row for row in summary if (row.where, row.protocol) == (where, protocol)]
        models = list(dict.fromkeys(row.model for row in rows))
        # as a table title it would be wrapped to the width of the table
        console.print(f"{where}: {protocol}", style="bold")
        table = new_table("", expand=False)
        table.title = None
        table.add_column("measure")
        add_figures(table, *models)
        for measure in dict.fromkeys(row.measure for row in rows):
            cells = {row.model: _cell(row) for row in rows if row.measure == measure}
            table.add_row(measure.replace("_", " "), *(cells.get(name, "–") for name in models))
        console.print(table)
    runs = max(row.n for row in summary)
    if runs > 1:
        console.print(f"Mean ± standard deviation over {runs} runs.")


def _cell(row: "SummaryRow") -> str:
    """Format a mean and its standard deviation with a suitable number of digits.

    Examples
    --------
    >>> from citeweave.experiments import SummaryRow
    >>> _cell(SummaryRow("cora", "scntm", "perplexity", "test", "", 688.04, 15.73, 10))
    '688.0 ± 15.7'
    >>> _cell(SummaryRow("cora", "scntm", "nmi", "test", "", 0.45678, float("nan"), 1))
    '0.457'
    """
    if row.n == 0:
        return "–"
    digits = 1 if abs(row.mean) >= 10 else 3
    text = f"{row.mean:.{digits}f}"
    return text if math.isnan(row.sd) else f"{text} ± {row.sd:.{digits}f}"
