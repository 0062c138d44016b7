"""The folder that ``citeweave run`` makes: what is in it, and what it is named after."""

import os
from pathlib import Path

__all__ = ["CORPUS", "FITTED", "SCANNED", "SUFFIX", "literature_name"]

CORPUS, FITTED, SCANNED = "corpus", "run", "scan"
"""Folders in it: of the corpus, of the fitted model, of fits that choose the number of topics."""
SUFFIX = "-results"
"""How its name ends, unless another name is given."""


def literature_name(run: str | os.PathLike[str]) -> str:
    """Return what to call the literature of a run: its folder, or the results that it is part of.

    Examples
    --------
    >>> literature_name("soil-run"), literature_name("soil-results/run")
    ('soil-run', 'soil')
    """
    path = Path(run).absolute()
    results = path.parent.name.removesuffix(SUFFIX)
    return results if path.name == FITTED and results else path.name
