"""The paper's tables and figures made again, one experiment each, with its figures beside ours."""

from citeweave.reproduce.base import Context, Experiment, Figure, Outcome, Spread, Table
from citeweave.reproduce.engine import Finished, join_pages, reproduce
from citeweave.reproduce.registry import NAMES, find_experiment

__all__ = [
    "NAMES",
    "Context",
    "Experiment",
    "Figure",
    "Finished",
    "Outcome",
    "Spread",
    "Table",
    "find_experiment",
    "join_pages",
    "reproduce",
]
