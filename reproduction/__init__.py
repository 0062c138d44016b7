"""The paper's tables and figures made again, one experiment each, with its figures beside ours."""

from reproduction.base import Context, Experiment, Figure, Outcome, Spread, Table
from reproduction.engine import Finished, join_pages, reproduce
from reproduction.registry import NAMES, find_experiment

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
