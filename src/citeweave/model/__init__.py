"""The model layer: parameters, groups, parallel chains, estimates and run folders."""

from citeweave.model.folded import FoldIn
from citeweave.model.groups import Groups
from citeweave.model.matching import match_topics
from citeweave.model.runner import Progress, RunInterrupted
from citeweave.model.scntm import SCNTM, load, resume

__all__ = [
    "SCNTM",
    "FoldIn",
    "Groups",
    "Progress",
    "RunInterrupted",
    "load",
    "match_topics",
    "resume",
]
