"""Load runs of any kind: of the model or of a baseline."""

import os
from typing import TYPE_CHECKING

from citeweave.model import SCNTM
from citeweave.model import load as load_scntm
from citeweave.runs.folder import SCNTM_KIND, RunFolder

if TYPE_CHECKING:
    from citeweave.baselines import Baseline

__all__ = ["load"]


def load(folder: str | os.PathLike[str]) -> "SCNTM | Baseline":
    """Load a fitted model of any kind from its run folder; arrays are read on first use.

    An unfinished SCNTM run is loaded from the latest checkpoints of its chains, if they have
    samples; `SCNTM.n_iter_` is the number of iterations so far.

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
    from citeweave.baselines.registry import read_baseline  # noqa: PLC0415 (rarely needed)

    return read_baseline(run)
