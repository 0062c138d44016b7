"""Runs of any kind read back: of the models of this package, and of those to compare with."""

import os
from typing import TYPE_CHECKING

from citeweave.model import SCNTM
from citeweave.model import load as load_scntm
from citeweave.runs.folder import SCNTM_KIND, RunFolder

if TYPE_CHECKING:
    from citeweave.baselines import Baseline

__all__ = ["load"]


def load(folder: str | os.PathLike[str]) -> "SCNTM | Baseline":
    """Load a fitted model from its run folder, whatever it is; arrays are read when they are used.

    An SCNTM's run that is not done is loaded from the latest checkpoints of its chains, if they
    have kept samples; `SCNTM.n_iter_` tells how far it is.

    Parameters
    ----------
    folder : path

    Returns
    -------
    SCNTM or Baseline

    Examples
    --------
    >>> import citeweave
    >>> folder = citeweave.example_model().save("my-run")
    >>> citeweave.load("my-run").doc_topic_.shape
    (80, 3)
    """
    run = RunFolder.open(folder)
    if run.kind == SCNTM_KIND:
        return load_scntm(folder)
    from citeweave.baselines.registry import read_baseline  # noqa: PLC0415 (few runs need them)

    return read_baseline(run)
