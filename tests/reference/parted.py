"""A model with a level of venues, of a small literature whose venues have topics of their own."""

from pathlib import Path
from typing import Any

from citeweave import SCNTM
from web.report.literature import literature

QUICK: dict[str, Any] = {
    "topics": 4,
    "iterations": 40,
    "burn_in": 20,
    "thin": 2,
    "seed": 1,
    "chains": 1,
    "exactly": True,
    "model": "cntm-text",
}
"""Of a model of text alone, whose kernels other tests compile too."""


def fit_parted(out: Path | None = None) -> SCNTM:
    """Fit sixty papers of three areas, each with a venue; authors write in one of them."""
    return SCNTM(**QUICK, levels=("venue",)).fit(literature(), out=out)
