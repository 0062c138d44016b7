"""The command `query`: select papers from a large dump by keywords and label them by category."""

from pathlib import Path
from typing import Annotated, Any

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.import_options import SET_BY_OPTION, Files, ImportOptions, import_records
from citeweave.cli.options import gathers
from citeweave.errors import ParameterError

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("query")(query_dump)


@guarded
@gathers(options=ImportOptions, settings=SET_BY_OPTION)
def query_dump(
    *,
    dump: Files,
    preset: Annotated[
        str | None, typer.Option(help="Keywords from the original paper: ml, m10 or avs.")
    ] = None,
    query: Annotated[
        Path | None, typer.Option(help="File of your own keywords by category, in TOML or YAML.")
    ] = None,
    options: ImportOptions,
    settings: dict[str, Any],
) -> None:
    """Create a corpus from the papers in a dump that match the keywords of exactly one category.

    Papers that match several categories are dropped, as in the original paper.
    """
    from citeweave.preparing import Query  # noqa: PLC0415 (keeps other commands fast)

    if (preset is None) == (query is None):
        raise ParameterError(
            "query needs keywords: pass either --preset (ml, m10 or avs) or --query FILE."
        )
    chosen = Query.preset(preset) if preset is not None else Query.from_file(query or "")
    import_records(dump, options, settings, lambda records: records.select(chosen))
