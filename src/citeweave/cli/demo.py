"""The command `demo`: fit a simulated corpus whose true topics are known."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.fit import free_folder
from citeweave.cli.options import gathers
from citeweave.parameters.scntm import PARAMETERS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from citeweave.cli.recovery import Recovery
    from citeweave.model import SCNTM

__all__ = ["register"]

FOLDER = Path("citeweave-demo")
TOPICS = 15  # more than the ten areas: in practice the number is not known in advance

_PARAMETERS = (
    PARAMETERS["iterations"].but(default=400, summary="Iterations per chain."),
    PARAMETERS["chains"].but(default=2),
    PARAMETERS["seed"].but(
        default=1, summary="Seed of the sampler; the corpus is always the same."
    ),
)


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("demo")(demo)


@guarded
@gathers(parameters=_PARAMETERS)
def demo(
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the run (default: citeweave-demo, numbered)."),
    ] = None,
    parameters: dict[str, Any],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing run of that name.")
    ] = False,
) -> None:
    """Fit 1,500 simulated papers in ten research areas and compare the result with the truth."""
    from citeweave.cli import show
    from citeweave.cli.recovery import compare
    from citeweave.cli.running import fit_model
    from citeweave.model import SCNTM
    from citeweave.model.parameters import make_plan
    from citeweave.simulate import demo_corpus

    console = show.make_console()
    place = out if out is not None else free_folder(FOLDER)
    simulation = demo_corpus()
    model = SCNTM(topics=TOPICS, exactly=True, **parameters)
    console.print("Simulated papers in ten research areas, drawn from the model itself.")
    plan = make_plan(model.get_params())
    fit_model(model, plan, simulation.corpus, console, out=place, overwrite=overwrite)
    recovery = compare(model, simulation)
    _print_model(console, model, recovery)
    console.print(_recovery_table(recovery))
    console.print(show.run_table(model))
    console.print()
    for line in (
        f"The run is in {place}. Try next:",
        f"  citeweave info {place}",
        f"  citeweave fit {place / 'corpus'} --topics {TOPICS} --eta inf --out labels-run",
        f'  python -c "import citeweave; print(citeweave.load({str(place)!r}).labels_)"',
    ):
        console.print(
            line, soft_wrap=True
        )  # a command must stay on one line so that it can be copied


def _print_model(console: "Console", model: "SCNTM", recovery: "Recovery") -> None:
    from citeweave.cli import show

    areas = model.corpus_.category_names
    found = [areas[true] if true >= 0 else "–" for true in recovery.true_topic.tolist()]
    names = [f"{k} {area}" if area != "–" else str(k) for k, area in enumerate(found)]
    words = show.pick_words(model, 12)
    console.print()
    console.print(show.topic_table(model, words, areas=found))
    for table in (show.author_table(model, names), show.paper_table(model, names)):
        if table is not None:
            console.print(table)


def _recovery_table(recovery: "Recovery") -> "Table":
    from citeweave.cli.show import new_table

    table = new_table("Recovery of the truth", expand=False)
    table.add_column("")
    table.add_column("found", justify="right", style="bold green")
    table.add_column("by chance", justify="right")
    table.add_column("", overflow="fold")
    table.add_row(
        "topics",
        f"{recovery.mean_cosine:.3f}",
        "–",
        "mean cosine similarity of true and matched topics",
    )
    for name, score, what in (
        ("papers", recovery.documents, "papers' main topics"),
        ("authors", recovery.authors, "authors' main topics (3 papers or more)"),
        ("citations", recovery.citations, "topics of citations"),
    ):
        shares = (f"{100 * value:.0f} %" for value in (score.found, score.guessed))
        table.add_row(name, *shares, f"of {score.compared:,} {what}")
    return table
