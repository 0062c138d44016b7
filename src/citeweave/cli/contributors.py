"""The commands `institutions`, `countries`, `venues` and `funders`."""

# ruff: noqa: PLC0415  heavy imports inside the commands, so that the others start at once
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.explore import Output, show_page, write_table
from citeweave.cli.options import gathers
from citeweave.errors import ParameterError

if TYPE_CHECKING:
    from citeweave.explore import Exploration, Literature

__all__ = ["register", "show_corpus_table"]

_ONE = {
    "institutions": "institution",
    "countries": "country",
    "venues": "venue",
    "funders": "funder",
}
_SHOWN = {
    "institutions": "Show the institutions of a run or corpus: papers, h-index, growth, topics.",
    "countries": "Show the countries of a run or corpus: papers, h-index, growth, topics.",
    "venues": "Show the venues of a run or corpus: papers, h-index, growth, topics.",
    "funders": "Show the funders of a run or corpus: papers, h-index, growth, topics.",
}


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    for kind, text in _SHOWN.items():
        app.command(kind, help=text)(_command(kind))


def _command(kind: str) -> Callable[..., None]:
    given = "number, name or code" if kind == "countries" else "number or name"

    @guarded
    @gathers(output=Output)
    def command(
        *,
        source: Annotated[Path, typer.Argument(help="Run or corpus folder.", metavar="RUN|CORPUS")],
        show: Annotated[
            str | None,
            typer.Option(
                help=f"Show the details of one {_ONE[kind]}, given by {given} (needs a run)."
            ),
        ] = None,
        min_papers: Annotated[
            int, typer.Option(help=f"Omit {kind} with fewer papers than this.")
        ] = 1,
        sort: Annotated[
            str,
            typer.Option(
                help="Column to sort by: papers, citations, h_index, cited_by, growth, influence "
                "or name."
            ),
        ] = "papers",
        network: Annotated[
            bool,
            typer.Option(
                "--network",
                help=f"Show pairs of {kind} that share papers instead, with their weights.",
            ),
        ] = False,
        counting: Annotated[
            str,
            typer.Option(
                help="With --network: full, or fractional (each pair of the n on a paper counts "
                "1/(n - 1))."
            ),
        ] = "full",
        output: Output,
    ) -> None:
        view, literature = _open(source)
        if show is not None:
            _show_one(view, kind, show, output)
        elif network:
            _show_network(literature, kind, min_papers, counting, output)
        else:
            _show_table(view, literature, kind, min_papers, sort, output)

    return command


def _open(source: Path) -> "tuple[Exploration | None, Literature]":
    from citeweave.corpus import Corpus
    from citeweave.corpus.storage import is_corpus_folder
    from citeweave.explore import Exploration, Literature

    if is_corpus_folder(source):
        return None, Literature(Corpus.load(source))
    view = Exploration(source)
    return view, view.literature


def show_corpus_table(kind: str, source: Path, min_papers: int, output: Output) -> None:
    """Show the contributors of a corpus without a model."""
    _, literature = _open(source)
    _show_table(None, literature, kind, min_papers, "papers", output)


def _show_one(view: "Exploration | None", kind: str, text: str, output: Output) -> None:
    from citeweave.cli.contributors_show import contributor_page

    if view is None:
        raise ParameterError("--show needs the folder of a run: a corpus alone has no topics.")
    number = view.literature.contributors(kind).find(text)
    page = view.contributor(kind, number)
    show_page(page, contributor_page, as_json=output.as_json, files=output.files)


def _show_table(
    view: "Exploration | None",
    literature: "Literature",
    kind: str,
    min_papers: int,
    sort: str,
    output: Output,
) -> None:
    from citeweave.cli.contributors_show import contributor_table
    from citeweave.cli.explore_show import wide_console

    top = output.limit
    make: Any = literature.table if view is None else view.contributors
    frame = make(kind, top=top, min_papers=min_papers, sort=sort)
    missing = literature.missing if view is None else view.missing | literature.missing

    def draw() -> list[Any]:
        width = wide_console().width
        return [contributor_table(literature, kind, frame, sort=sort, width=width)]

    write_table(frame, draw, output, missing=missing)


def _show_network(
    literature: "Literature", kind: str, min_papers: int, counting: str, output: Output
) -> None:
    from citeweave.cli.contributors_show import pair_table

    frame = literature.collaborations(
        kind, top=output.limit, min_papers=min_papers, counting=counting
    )
    note = literature.collaboration_note(kind)
    missing = {"papers": note} if note else {}
    write_table(frame, lambda: pair_table(kind, frame, note), output, missing=missing)
    if note and output.files:
        typer.echo(note, err=True)
