"""The command `shard`: divide a corpus into shards, or merge shards into one piece."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
from pathlib import Path
from typing import Annotated

import typer

from citeweave.cli.errors import guarded
from citeweave.wording import count

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("shard")(shard)


@guarded
def shard(
    *,
    folder: Annotated[Path, typer.Argument(help="Corpus folder.", metavar="CORPUS")],
    out: Annotated[Path, typer.Option(help="Folder for the new corpus.", show_default=False)],
    size: Annotated[int, typer.Option(help="Documents per shard.", min=1)] = 100_000,
    whole: Annotated[
        bool, typer.Option("--whole", help="Write the corpus in one piece instead.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing corpus of that name.")
    ] = False,
) -> None:
    """Divide a corpus into shards or, with --whole, merge its shards.

    The content and its fingerprint stay the same; every command accepts either form.
    """
    from citeweave.cli.sources import open_corpus

    corpus = open_corpus(folder)
    corpus.save(out, overwrite=overwrite, shard=None if whole else size)
    shards = "one piece" if whole else count(-(-corpus.n_documents // size), "shard")
    typer.echo(f"{count(corpus.n_documents, 'document')} in {shards}: {out}")
