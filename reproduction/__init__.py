"""The paper's tables and figures reproduced, one experiment each, next to the published ones."""

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
