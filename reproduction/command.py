"""The command `python -m reproduction`, which reproduces the paper's tables and figures."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that --help answers at once
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citeweave.cli.errors import USER_ERROR, complain, guarded
from citeweave.errors import CiteweaveError, ParameterError

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from reproduction import Context, Finished, Table

__all__ = ["app", "main"]

ALL = "all"
PAGE = "page"
NARROW = 18
"""Minimum width of columns of text."""
WIDE = 220
STOPPED = "Finished work is kept; the same command continues where it stopped."


app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command; usage errors and errors of users exit with 2, Ctrl-C with 130."""
    app(prog_name="python -m reproduction")


@app.command()
@guarded
def reproduce(
    *,
    what: Annotated[
        list[str],
        typer.Argument(
            help="datasets, perplexity, clustering, supervision, labels, links, topics, authors, "
            "network, convergence, counts, runtime, people; all; or page, to rewrite the pages "
            "of finished experiments.",
            metavar="EXPERIMENT...",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for results.")] = Path("results"),
    datasets: Annotated[
        str,
        typer.Option(
            help="Data sets, separated by commas: cora, citeseer, pubmed, m10, ieee-vis, "
            "hep-th, demo, ... (default: those of each experiment).",
            show_default=False,
        ),
    ] = "",
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            help="Use a corpus folder as the data set of that name; may be repeated.",
            metavar="NAME=FOLDER",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[int, typer.Option(help="Number of seeds, or folds, per figure.")] = 5,
    seed: Annotated[int, typer.Option(help="First seed.")] = 1,
    iterations: Annotated[
        str,
        typer.Option(
            help="Maximum number of iterations per chain (default: 2000, as in the paper; 100 with "
            "--quick); for single data sets, append them: 600,pubmed=300.",
            metavar="N[,SET=N...]",
            show_default=False,
        ),
    ] = "",
    folds: Annotated[
        str,
        typer.Option(
            help="Number of the ten folds of cora, citeseer and pubmed to run (default: all); also "
            "by data set: pubmed=2.",
            metavar="N[,SET=N...]",
            show_default=False,
        ),
    ] = "",
    models: Annotated[
        str,
        typer.Option(
            help="For perplexity, clustering, labels and links: only these models, such as "
            "agc,k-means.",
            show_default=False,
        ),
    ] = "",
    parts: Annotated[
        str,
        typer.Option(
            help="Fit models only for these parts: whole (corpora), folds, held-out-words, links "
            "(held-out citations); of the others, show what is finished.",
            show_default=False,
        ),
    ] = "",
    labels: Annotated[int, typer.Option(help="For labels: labelled papers per class.")] = 20,
    document: Annotated[
        int | None,
        typer.Option(
            help="For counts: the document, from 0 (default: the one nearest to the paper's "
            "example in words and citations).",
            show_default=False,
        ),
    ] = None,
    stages: Annotated[
        str,
        typer.Option(
            help="How chains run: settled (the defaults of fit, until they are steady) or paper "
            "(the paper's settings, with a fixed number of iterations).",
        ),
    ] = "settled",
    device: Annotated[
        str,
        typer.Option(
            help="Device for models that the GPU supports: cpu, cuda, or auto (data sets of "
            "150,000 words or more on a GPU, if there is one).",
        ),
    ] = "auto",
    quick: Annotated[
        bool, typer.Option("--quick", help="Quick trial: fewer iterations, folds and seeds.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(help="Models fitted in parallel (default: one per core).", show_default=False),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Repeat finished work.")] = False,
    finished: Annotated[
        bool,
        typer.Option(
            "--finished", help="Fit nothing; show finished work and list what is missing."
        ),
    ] = False,
    earlier: Annotated[
        Path | None,
        typer.Option(
            help="Add rows of this joined page to tables that lack them, marked as earlier.",
            show_default=False,
        ),
    ] = None,
    stored: Annotated[
        Path | None,
        typer.Option(
            help="File of finished work: OUT takes what it lacks from there, and what OUT has is "
            "added at the end (created if it does not exist).",
            show_default=False,
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            help="Write the joined page here instead of OUT/results.md, with its pictures.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Reproduce the paper's tables and figures, with its published figures next to ours.

    Each experiment writes a page (Markdown), a JSON file and its pictures. An experiment that has
    finished in the folder with the same options is not repeated; one that was stopped continues.
    """
    from citeweave.cli.running import stop_on_signals
    from reproduction import Context, join_pages
    from reproduction.context import cores
    from reproduction.registry import check_datasets
    from reproduction.stored import keep_stored, take_stored

    chosen = _choose(what)
    own = _read_corpora(corpus or [])
    names = _read_names(datasets)
    check_datasets(names, own)
    lengths = _read_numbers("--iterations", iterations)
    tell = None if quiet else _teller()
    if stored is not None:
        copied = take_stored(stored, out)
        if tell is not None:
            tell(f"{stored.name}: {copied} finished tasks and parts taken")
    with stop_on_signals() as stop:
        context = Context(
            out=out,
            datasets=names,
            runs=runs,
            quick=quick,
            seed=seed,
            workers=cores() if workers is None else workers,
            corpora=own,
            iterations=lengths.pop("", None),
            lengths=lengths,
            folds=_read_numbers("--folds", folds),
            models=_read_names(models),
            parts=_read_names(parts),
            labels=labels,
            document=document,
            stages=stages,
            device=device,
            finished=finished,
            earlier=earlier,
            progress=tell,
            stop=stop,
        )
        try:
            done, failed = _run(chosen, context, fresh=fresh)
        finally:  # what was finished before an interruption is finished
            if stored is not None:
                keep_stored(out, stored)
    if as_json:
        json.dump({item.name: item.content for item in done}, sys.stdout, ensure_ascii=False)
        sys.stdout.write("\n")
    elif not quiet:
        _show(done)
    if done or set(what) & {ALL, PAGE}:
        joined = join_pages(out, page=page)
        if tell is not None:
            tell(f"all results: {joined}")
    if failed:
        raise typer.Exit(USER_ERROR)


def _choose(what: Sequence[str]) -> list[str]:
    """Parse the names of experiments; ``page`` is not an experiment and runs nothing."""
    from reproduction import NAMES
    from reproduction.registry import unknown_experiment

    for name in what:
        if name not in {ALL, PAGE, *NAMES}:
            raise unknown_experiment(name, (*NAMES, ALL, PAGE))
    if ALL in what:
        return list(NAMES)
    return [name for name in dict.fromkeys(what) if name != PAGE]


def _read_names(text: str) -> list[str]:
    """Parse names that are separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _read_numbers(option: str, text: str) -> dict[str, int]:
    """Parse N[,SET=N...]: a number for all sets, under the name "", and those of single sets."""
    found: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (side.strip() for side in part.rpartition("="))
        if not number.isdecimal() or name in found:
            raise ParameterError(
                f"The option {option} must be a number, then SET=NUMBER for single sets, such as "
                f"600,pubmed=300. Got {text!r} instead."
            )
        found[name] = int(number)
    return found


def _read_corpora(given: Sequence[str]) -> dict[str, Path]:
    """Read NAME=FOLDER options."""
    from citeweave.corpus.storage import is_corpus_folder

    found: dict[str, Path] = {}
    for text in given:
        name, equals, folder = text.partition("=")
        if not equals or not name.strip() or not folder.strip():
            raise ParameterError(
                "The option --corpus must be NAME=FOLDER, such as cora=corpora/cora. "
                f"Got {text!r} instead."
            )
        place = Path(folder.strip()).expanduser()
        if not is_corpus_folder(place):
            raise ParameterError(
                f"'{place}', given by --corpus for {name.strip()!r}, is not a corpus folder. "
                f"Make one: citeweave import FILES --out {place}"
            )
        found[name.strip()] = place
    return found


def _run(
    names: Sequence[str], context: "Context", *, fresh: bool
) -> "tuple[list[Finished], list[str]]":
    """Run experiments one after another; a usage error in one does not stop the others."""
    from reproduction import reproduce as make

    done, failed = [], []
    for name in names:
        try:
            done.append(make(name, context, fresh=fresh))
        except CiteweaveError as error:
            if len(names) == 1:
                raise
            complain("error", f"{name}: {error}")
            failed.append(name)
        except KeyboardInterrupt as error:
            raise KeyboardInterrupt(STOPPED) from error
    return done, failed


def _teller() -> Callable[[str], None]:
    """Make a function that writes a line of progress, with the time since the start."""
    started = time.monotonic()

    def tell(text: str) -> None:
        minutes, seconds = divmod(int(time.monotonic() - started), 60)
        sys.stderr.write(f"{minutes:3d}:{seconds:02d}  {' '.join(text.split())}\n")
        sys.stderr.flush()

    return tell


def _show(done: "Sequence[Finished]") -> None:
    """Print the tables of finished experiments; one that is too wide is only on its page."""
    from rich.console import Console
    from rich.measure import Measurement

    from citeweave.cli.show import make_console
    from reproduction.writers import table_from_json

    console = make_console()
    if not console.is_terminal:  # a file may be as wide as needed
        console = Console(markup=False, highlight=False, emoji=False, width=WIDE)
    for item in done:
        for content in item.content["tables"]:
            table = table_from_json(content)
            console.print(f"{item.content['title']}: {table.title}", style="bold", soft_wrap=True)
            shown = _terminal_table(table)
            if Measurement.get(console, console.options, shown).minimum > console.width:
                console.print(f"(too wide for this terminal: see {item.page})\n", soft_wrap=True)
            else:
                console.print(shown)
        console.print(f"{item.content['title']}: {item.page}\n", soft_wrap=True)


def _terminal_table(table: "Table") -> "RichTable":
    """Create a table for the terminal, in which words may wrap but numbers do not."""
    from citeweave.cli.show import new_table
    from reproduction.writers import cell_text, is_numeric

    shown = new_table("", expand=False)
    shown.title = None
    cells = [
        [
            cell_text(cell, table.decimals.get(column, 3), signed=column in table.signed)
            for column, cell in zip(table.columns, row, strict=True)
        ]
        for row in table.rows
    ]
    for place, column in enumerate(table.columns):
        numeric = is_numeric(table, place)
        longest = max([len(column), *(len(row[place]) for row in cells)])
        shown.add_column(
            column,
            justify="right" if numeric else "left",
            no_wrap=numeric,
            min_width=longest if numeric else min(longest, NARROW),
        )
    for row in cells:
        shown.add_row(*row)
    return shown
