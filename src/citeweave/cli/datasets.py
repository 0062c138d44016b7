"""The commands `datasets`, `datasets get` and `datasets table`."""

# ruff: noqa: PLC0415  heavy imports inside the commands, so that the others start at once
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.options import AsJson

if TYPE_CHECKING:
    from rich.console import Console

    from citeweave.datasets import Dataset, TableRow

__all__ = ["register"]

app = typer.Typer(
    help="List and download data sets, and compare them with the table of the original paper.",
    invoke_without_command=True,
    add_completion=False,
)


def register(parent: typer.Typer) -> None:
    """Add the group of this file."""
    parent.add_typer(app, name="datasets")


@app.callback()
@guarded
def list_datasets(
    context: typer.Context,
    *,
    as_json: AsJson = False,
) -> None:
    """List the data sets that citeweave knows by name."""
    if context.invoked_subcommand is not None:
        return
    from citeweave.datasets import DATASETS, cache_folder, data_folder

    described = [_describe(dataset) for dataset in DATASETS.values()]
    if as_json:
        typer.echo(json.dumps(described, indent=2, ensure_ascii=False))
        return
    from citeweave.cli.show import fact_table, make_console

    console = make_console()
    table = fact_table()
    for entry in described:
        here = f"here, {entry['place']}" if entry["place"] else "not on this computer"
        table.add_row(entry["name"], f"{entry['documents']:,} documents: {entry['what']}")
        table.add_row("", f"{_bytes(entry['bytes'])}; {here}")
        table.add_row("", f"licence: {entry['licence']}")
        fetched = (
            "" if entry["fetched_by_get"] else "; not available for download in exactly this form"
        )
        table.add_row("", f"source: {entry['home']}{fetched}")
        table.add_row("", "")
    console.print(table)
    own = data_folder()
    console.print(f"Looked in {own if own is not None else 'CITEWEAVE_DATA (not set)'}")
    console.print(f"and in {cache_folder() / 'datasets'}.")
    console.print("Get one: citeweave datasets get m10. Fit one: citeweave fit m10 --topics 20")


@app.command("get")
@guarded
def get_datasets(
    *,
    names: Annotated[
        list[str], typer.Argument(help="Name of a data set, such as cora.", metavar="DATASET")
    ],
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write errors only.")] = False,
) -> None:
    """Find data sets on this computer or download them into the cache, and verify them."""
    from citeweave.cli.fetch_progress import fetching
    from citeweave.cli.show import make_console
    from citeweave.datasets import find_dataset, get

    chosen = [
        find_dataset(name) for name in names
    ]  # report a wrong name before downloading anything
    for dataset in chosen:
        with fetching(None if quiet else make_console(stderr=True)) as progress:
            held = get(dataset, progress=progress)
        if not quiet:
            typer.echo(f"{dataset.name}: {', '.join(str(path) for path in held.paths)}")


@app.command("table")
@guarded
def table_of_datasets(
    *,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Data sets to include (default: all on this computer).", metavar="DATASET"
        ),
    ] = None,
    as_json: AsJson = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Write Markdown.")] = False,
) -> None:
    """Recompute the paper's table of data sets from the files, next to the printed figures."""
    from citeweave.cli.show import make_console
    from citeweave.datasets import dataset_table
    from citeweave.datasets.table import markdown_table
    from citeweave.errors import CorpusError

    notes = make_console(stderr=True)
    rows = dataset_table(names or None, started=lambda name: notes.out(f"{name} ..."))
    if not rows:
        raise CorpusError(
            "There are no data sets on this computer. Get one first: citeweave datasets get cora"
        )
    if as_json:
        typer.echo(json.dumps([row.as_dict() for row in rows], indent=2, ensure_ascii=False))
    elif markdown:
        typer.echo(markdown_table(rows), nl=False)
    else:
        _print_table(rows, make_console())


def _describe(dataset: "Dataset") -> dict[str, Any]:
    from citeweave.datasets import find

    held = find(dataset)
    return {
        "name": dataset.name,
        "what": dataset.what,
        "documents": dataset.documents,
        "bytes": dataset.size if held is None else sum(file.size for file in held.files),
        "licence": dataset.licence,
        "home": dataset.home,
        "source": dataset.source,
        "fetched_by_get": dataset.can_be_fetched,
        "addresses": sorted({file.url for file in dataset.holdings[-1] if file.url}),
        "files": [
            {"path": file.path, "bytes": file.size, "sha256": file.sha256}
            for file in (dataset.holdings[-1] if held is None else held.files)
        ],
        "place": None if held is None else str(held.paths[0].parent),
    }


def _bytes(number: float) -> str:
    """Format a size with its unit.

    Examples
    --------
    >>> _bytes(137225), _bytes(24_726_252)
    ('137 kB', '24.7 MB')
    """
    return f"{number / 1e6:.1f} MB" if number >= 1e6 else f"{number / 1e3:.0f} kB"


def _print_table(rows: "list[TableRow]", console: "Console") -> None:
    from citeweave.cli.show import new_table
    from citeweave.datasets.table import COLUMNS, figure

    table = new_table("Data sets, with the paper's figures", expand=False)
    table.add_column("")
    for name in ("documents", "citations", "authors", "vocabulary", "words/doc", "% repeat"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row.name, *(figure(getattr(row, name)) for name in COLUMNS), style="bold")
        if row.paper is not None:
            table.add_row("  paper", *(figure(getattr(row.paper, name)) for name in COLUMNS))
    console.print(table)
    for row in rows:
        if row.remark:
            console.print(f"{row.name}: {row.remark}")
