"""The option ``--topics`` with the value ``auto``, for which a scan chooses the number."""

# ruff: noqa: PLC0415  heavy imports inside the functions, so that other commands start at once
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citeweave.parameters.rules import Rule
from citeweave.parameters.scntm import PARAMETERS

if TYPE_CHECKING:
    from rich.console import Console

    from citeweave.corpus import Corpus

__all__ = ["AUTO", "TOPICS_OR_AUTO", "choose_topics"]

AUTO = "auto"

_TOPICS = PARAMETERS["topics"]
_SHARED = ("eta", "chains", "model", "threads", "device")
"""Parameters of the command that the fits of a scan use."""


def read_topics(text: str) -> Any:
    """Parse a number of topics; other text is passed on to be checked.

    Examples
    --------
    >>> read_topics("20"), read_topics("auto")
    (20, 'auto')
    """
    try:
        return int(text)
    except ValueError:
        return text


TOPICS_OR_AUTO = _TOPICS.but(
    read=read_topics,
    rule=Rule(
        f"{_TOPICS.rule.wanted}, or '{AUTO}'",
        lambda value: value == AUTO or _TOPICS.rule.accepts(value),
    ),
    summary=f"{_TOPICS.summary.removesuffix('.')}. {AUTO}: use the number recommended by a scan.",
)


def choose_topics(
    corpus: "Corpus", parameters: Mapping[str, Any], folder: Path, console: "Console | None"
) -> int:
    """Return the given number of topics, or the one recommended by a scan."""
    if parameters["topics"] != AUTO:
        return int(parameters["topics"])
    from citeweave.cli.scan import TOPICS, read_numbers, scan_topics

    shared = {name: parameters[name] for name in _SHARED}
    found = scan_topics(
        corpus, read_numbers(TOPICS), folder, console, seed=parameters["seed"] or 0, **shared
    )
    if console is not None:
        console.print(f"{found.recommended} topics: {found.reason}.", soft_wrap=True)
        console.print(f"The scan is in {folder}.", soft_wrap=True)
    return found.recommended
