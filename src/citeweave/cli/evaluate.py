"""The command `evaluate`: compute all measures that apply to a run."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
from pathlib import Path
from typing import Annotated

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.options import AsJson

__all__ = ["read_words", "register"]

TEST = "Test papers"
LINKS = "Links"


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("evaluate")(evaluate)


@guarded
def evaluate(
    *,
    run: Annotated[Path, typer.Argument(help="Run folder, of any model.", metavar="RUN")],
    test: Annotated[
        str | None,
        typer.Option(
            help="Papers not used for training: a corpus folder or data set. Training papers in it "
            "are ignored, so the whole corpus can be given.",
            metavar="CORPUS",
            rich_help_panel=TEST,
        ),
    ] = None,
    categories: Annotated[
        bool, typer.Option(help="Compare clusters with the categories of papers, if there are any.")
    ] = True,
    labels: Annotated[
        str,
        typer.Option(
            help="hidden: categories of test papers are inferred. seen: they are given, as in the "
            "paper.",
            rich_help_panel=TEST,
        ),
    ] = "hidden",
    words: Annotated[
        str | None,
        typer.Option(
            help="Words from which the topics of test papers are estimated: all, title, none or a "
            "share such as 0.5 (default: all; for perplexity the title, or half of the words "
            "without titles).",
            rich_help_panel=TEST,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(help="Fold-in of test papers: paper or gibbs.", rich_help_panel=TEST),
    ] = "paper",
    samples: Annotated[
        int, typer.Option(help="Samples per test paper.", rich_help_panel=TEST)
    ] = 500,
    threads: Annotated[
        int | None,
        typer.Option(help="Threads for fold-in (default: all cores).", rich_help_panel=TEST),
    ] = None,
    at: Annotated[
        list[int] | None,
        typer.Option(
            help="Ranks at which precision and recall of links are measured; may be repeated "
            "(default: 10 and 50).",
            rich_help_panel=LINKS,
        ),
    ] = None,
    negatives: Annotated[
        int,
        typer.Option(
            help="Number of pairs without a citation that are drawn per citation, for comparison.",
            rich_help_panel=LINKS,
        ),
    ] = 10,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    as_json: AsJson = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Also write to this file (.json, .csv or .md).",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Evaluate a fitted model: clusters, labels, words, topics, links and chains.

    Held-out words and citations are scored if the run was fitted with --hold-out-words or
    --hold-out-citations. Measures that do not apply are listed with the reason.
    """
    import json

    from citeweave.cli.evaluate_show import print_evaluation
    from citeweave.cli.show import make_console
    from citeweave.cli.sources import open_sources
    from citeweave.evaluate import evaluate as evaluate_model
    from citeweave.evaluate.report import check_file
    from citeweave.loading import load

    if out is not None:
        check_file(out)
    model = load(run)
    found = evaluate_model(
        model,
        None if test is None else open_sources([test], None),
        categories=categories,
        labels=labels,
        words=None if words is None else read_words(words),
        method=method,
        samples=samples,
        k=tuple(at) if at else (10, 50),
        negatives=negatives,
        seed=seed,
        threads=threads,
    )
    if out is not None:
        found.save(out)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        return
    console = make_console()
    print_evaluation(found, str(run), console)
    if out is not None:
        console.print(f"Written to {out}.")


def read_words(text: str) -> str | float:
    """Parse the words to estimate from: a share if it is a number, otherwise the text.

    Examples
    --------
    >>> read_words("0.5"), read_words("title")
    (0.5, 'title')
    """
    try:
        return float(text)
    except ValueError:
        return text
