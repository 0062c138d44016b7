"""The commands that show a fitted model: `topics`, `authors`, `papers`, `inspect` and so on."""

# ruff: noqa: PLC0415  heavy imports inside the commands, so that the others start at once
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.options import Run, gathers
from citeweave.errors import NotFoundError, ParameterError

if TYPE_CHECKING:
    from citeweave.explore import Exploration

__all__ = ["Output", "register", "show_page", "write_table"]

SHOWN = 20
MOST_ROWS = 10**9
"""Larger than any table, but a valid row count."""
OUTPUT = "Output"


Json = Annotated[
    bool, typer.Option("--json", help="Write JSON to standard output.", rich_help_panel=OUTPUT)
]


@dataclass(frozen=True)
class Output:
    """Number of rows of a table to show, and the files to write it to."""

    top: Annotated[
        int | None,
        typer.Option(help=f"Number of rows (default: {SHOWN} on screen, all in files and JSON)."),
    ] = None
    csv: Annotated[
        Path | None,
        typer.Option(help="Write the table as CSV; - for standard output.", rich_help_panel=OUTPUT),
    ] = None
    parquet: Annotated[
        Path | None, typer.Option(help="Write the table as Parquet.", rich_help_panel=OUTPUT)
    ] = None
    xlsx: Annotated[
        Path | None,
        typer.Option(help="Write the table as an Excel workbook.", rich_help_panel=OUTPUT),
    ] = None
    as_json: Json = False

    @property
    def files(self) -> tuple[Path, ...]:
        """The files to write."""
        return tuple(path for path in (self.csv, self.parquet, self.xlsx) if path is not None)

    @property
    def on_screen(self) -> bool:
        """Whether the table is printed on screen."""
        return not (self.files or self.as_json)

    @property
    def limit(self) -> int | None:
        """Number of rows to show; None for all."""
        if self.top is not None and self.top < 1:
            raise ParameterError(f"--top must be at least 1. Got {self.top} instead.")
        if self.top is None:
            return SHOWN if self.on_screen else None
        return min(self.top, MOST_ROWS)


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    for command in (topics, authors, papers, citations, categories, inspect):
        app.command(command.__name__)(command)


@guarded
@gathers(output=Output)
def topics(
    *,
    run: Run,
    topic: Annotated[
        int | None, typer.Option(help="Show the details of one topic, given by number.")
    ] = None,
    words: Annotated[int, typer.Option(help="Number of words per topic.")] = 10,
    relevance: Annotated[
        float,
        typer.Option(
            help="Ranking of distinctive words: 1 ranks by probability in the topic, 0 by lift "
            "over the corpus."
        ),
    ] = 0.6,
    rename: Annotated[
        list[str] | None,
        typer.Option(
            help="Rename a topic: 3=Robotics sets a name, 3= removes it. Names are saved in the "
            "run.",
        ),
    ] = None,
    output: Output,
) -> None:
    """Show the topics of a run: words, share, growth and coherence."""
    from citeweave.cli import explore_pages as pages
    from citeweave.cli import explore_show as show

    view = _open(run)
    for text in rename or []:
        _rename(view, text)
    if topic is not None:
        page = view.topic(topic, words=words, relevance=relevance)
        show_page(page, pages.topic_page, as_json=output.as_json, files=output.files)
        return
    frame = view.topics(words=words, relevance=relevance)
    _table(
        view,
        frame if output.top is None else frame.head(output.limit),
        lambda: show.topic_table(view, frame, min(output.top or len(frame), len(frame))),
        output,
        parts=("years", "citations"),
    )


@guarded
@gathers(output=Output)
def authors(
    *,
    run: Run,
    author: Annotated[
        str | None,
        typer.Option(help="Show the details of one author, given by number or name."),
    ] = None,
    min_papers: Annotated[int, typer.Option(help="Omit authors with fewer papers than this.")] = 1,
    nearest: Annotated[
        int, typer.Option(help="Number of similar authors to list for each author.")
    ] = 0,
    by_topic: Annotated[
        bool,
        typer.Option("--by-topic", help="Show the influence of each author in each topic instead."),
    ] = False,
    output: Output,
) -> None:
    """Show the authors of a run: topics with intervals, influence, similar authors.

    For a corpus: papers, citations, h-index and growth.
    """
    from citeweave.cli import explore_pages as pages
    from citeweave.cli import explore_show as show
    from citeweave.corpus.storage import is_corpus_folder

    if is_corpus_folder(run):
        from citeweave.cli.contributors import show_corpus_table

        if author is not None or by_topic or nearest:
            raise ParameterError(
                "--author, --by-topic and --nearest need a run; a corpus alone has no topics."
            )
        show_corpus_table("authors", run, min_papers, output)
        return
    view = _open(run)
    if author is not None:
        page = view.author(_find(view, author, "author"))
        show_page(page, pages.author_page, as_json=output.as_json, files=output.files)
        return
    limit = output.limit
    if by_topic:
        frame = view.influence(top=limit, min_papers=min_papers)
        draw: Callable[[], Any] = lambda: show.influence_table(frame)  # noqa: E731
    else:
        frame = view.authors(top=limit, min_papers=min_papers, nearest=nearest)
        draw = lambda: show.author_table(view, frame)  # noqa: E731
    _table(
        view,
        frame,
        draw,
        output,
        parts=("influence", "intervals"),
    )


@guarded
@gathers(output=Output)
def papers(
    *,
    run: Run,
    paper: Annotated[
        str | None,
        typer.Option(
            help="Show the details of one paper, given by number, id or words of its title.",
        ),
    ] = None,
    topic: Annotated[
        int | None, typer.Option(help="Show only papers with this main topic, given by number.")
    ] = None,
    output: Output,
) -> None:
    """Show the papers of a run: topics, influence, and what they are cited for."""
    from citeweave.cli import explore_pages as pages
    from citeweave.cli import explore_show as show

    view = _open(run)
    if paper is not None:
        page = view.paper(_find(view, paper, "paper"))
        show_page(page, pages.paper_page, as_json=output.as_json, files=output.files)
        return
    frame = view.papers(topic=topic, top=output.limit)
    _table(
        view,
        frame,
        lambda: show.paper_table(view, frame, topic),
        output,
        parts=("titles", "years", "influence", "citations"),
    )


@guarded
@gathers(output=Output)
def citations(
    *,
    run: Run,
    paper: Annotated[
        str | None,
        typer.Option(
            help="Show only the citations of one paper, given by number, id or words of its title.",
        ),
    ] = None,
    flow: Annotated[
        bool, typer.Option("--flow", help="Show the flow of citations between topics instead.")
    ] = False,
    by_citing_topic: Annotated[
        bool,
        typer.Option(
            "--by-citing-topic", help="With --flow: also split by the topic of the citation."
        ),
    ] = False,
    output: Output,
) -> None:
    """Show the citations of a run with the topic of each, or the flow between topics."""
    from citeweave.cli import explore_show as show

    view = _open(run)
    limit = output.limit
    if flow:
        whole = view.flow(by_citing_topic=by_citing_topic)
        frame = whole.sort("citations", descending=True, maintain_order=True)
        frame = frame if limit is None else frame.head(limit)
        draw: Callable[[], Any] = lambda: show.flow_table(view, frame)  # noqa: E731
    else:
        place = None if paper is None else _find(view, paper, "paper")
        frame = view.citations(paper=place, top=limit, titles=output.on_screen)
        draw = lambda: show.citation_table(view, frame)  # noqa: E731
    _table(view, frame, draw, output, parts=("titles",))


@guarded
@gathers(output=Output)
def categories(
    *,
    run: Run,
    crosstab: Annotated[
        bool, typer.Option("--crosstab", help="Show a table of categories by topics instead.")
    ] = False,
    output: Output,
) -> None:
    """Show the categories of a run: the topics of each."""
    from citeweave.cli import explore_show as show

    view = _open(run)
    frame = view.crosstab() if crosstab else view.categories()
    limit = output.limit
    if limit is not None and not crosstab:
        frame = frame.head(limit)
    _table(
        view,
        frame,
        lambda: show.crosstab_table(view, frame) if crosstab else show.category_table(view, frame),
        output,
        parts=("intervals",) if view.supervised else (),
    )


@guarded
def inspect(
    *,
    run: Run,
    document: Annotated[
        str,
        typer.Option(help="Number of the document, from 0, or its id."),
    ],
    chain: Annotated[
        int | None,
        typer.Option(
            help="Chain to inspect (default: the one that defines the topic numbers).",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the counts behind the topics of one document, as in the paper's worked example.

    The counts come from the last checkpoint of a chain: customers c and tables t at each document
    level, and the citations of each topic.
    """
    from citeweave.cli import explore_pages as pages

    view = _open(run)
    found = view.inspect(_find(view, document, "paper"), chain=chain)
    show_page(found, pages.inspection, as_json=as_json, files=())


def _open(run: Path) -> "Exploration":
    from citeweave.explore import Exploration

    return Exploration(run)


def _rename(view: "Exploration", text: str) -> None:
    number, equals, name = text.partition("=")
    if not equals or not number.strip().isdecimal():
        raise ParameterError(
            f"--rename must be a topic number and a name, such as 3=Robotics. Got {text!r} instead."
        )
    view.name_topic(int(number), name)


def _find(view: "Exploration", text: str, kind: str) -> int:
    """Find a paper or author by number, id or words."""
    if text.strip().isdecimal():
        ids = view.corpus.ids if kind == "paper" else []
        # a number is a position, unless it is out of range and an id in the corpus
        if int(text) < len(ids) or text not in ids:
            return int(text)
    if kind == "paper" and text in view.corpus.ids:
        return view.corpus.ids.index(text)
    hits = view.search(text, kinds=(kind,), limit=2)
    if not hits:
        raise NotFoundError(
            f"No {kind} matches {text!r}. Give a number, "
            + ("an id or words of the title." if kind == "paper" else "or words of the name.")
        )
    return hits[0].id


def show_page(
    page: Any, draw: Callable[[Any], Any], *, as_json: bool, files: Sequence[Path]
) -> None:
    """Print the details of one item, or write them as JSON."""
    from citeweave.cli.explore_show import wide_console

    if files:
        raise ParameterError(
            "--csv, --parquet and --xlsx write tables; use --json for the details of one item."
        )
    if as_json:
        typer.echo(json.dumps(page.to_dict(), indent=2, ensure_ascii=False, default=str))
        return
    console = wide_console()
    for part in draw(page):
        console.print(part)


def _table(
    view: "Exploration",
    frame: Any,
    draw: Callable[[], Any],
    output: Output,
    *,
    parts: Sequence[str],
) -> None:
    """Write a table to the requested files, or print it."""
    from citeweave.cli.explore_show import notes

    def draw_all() -> list[Any]:
        return [draw(), *notes(view, parts)]

    write_table(frame, draw_all, output, missing=view.missing)


def write_table(
    frame: Any, draw: Callable[[], Sequence[Any]], output: Output, *, missing: Mapping[str, str]
) -> None:
    """Write a table as JSON, CSV, Parquet or Excel, or print it on screen."""
    from citeweave.cli.explore_show import wide_console
    from citeweave.explore import to_csv, to_xlsx
    from citeweave.files import write_bytes

    if output.as_json:
        content = {"rows": frame.to_dicts(), "missing": dict(missing)}
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    if output.csv is not None:
        text = to_csv(frame)
        if str(output.csv) == "-":
            typer.echo(text, nl=False)
        else:
            write_bytes(output.csv, text.encode())
    if output.parquet is not None:
        out = io.BytesIO()
        frame.write_parquet(out)
        write_bytes(output.parquet, out.getvalue())
    if output.xlsx is not None:
        write_bytes(output.xlsx, to_xlsx({"table": frame}))
    written = [str(path) for path in output.files if str(path) != "-"]
    if written:
        typer.echo(f"{len(frame):,} rows written to {' and '.join(written)}", err=True)
    if not output.on_screen:
        return
    console = wide_console()
    for part in draw():
        console.print(part)
