"""Baselines by name, and loading their runs."""

from typing import Any, NamedTuple

from citeweave.baselines.base import Baseline
from citeweave.baselines.features import AGC, KMeans
from citeweave.baselines.graph import Louvain, SpectralClustering
from citeweave.baselines.labelled import SGC, LabelPropagation, LogisticRegression
from citeweave.baselines.pmtlm import PMTLM
from citeweave.baselines.text import SklearnLDA, TomotopyHDP, TomotopyLDA
from citeweave.errors import ParameterError, RunError
from citeweave.runs.folder import RunFolder

__all__ = ["BASELINES", "BaselineEntry", "make_baseline", "read_baseline"]


class BaselineEntry(NamedTuple):
    """A name on the command line: its class, the parameters it implies, and a description."""

    model: type[Baseline]
    fixed: dict[str, Any]
    text: str


BASELINES: dict[str, BaselineEntry] = {
    "pmtlm-dc": BaselineEntry(PMTLM, {"degree_corrected": True}, "words and links, popularities"),
    "pmtlm": BaselineEntry(PMTLM, {"degree_corrected": False}, "words and links"),
    "tomotopy-lda": BaselineEntry(TomotopyLDA, {}, "words (tomotopy)"),
    "tomotopy-hdp": BaselineEntry(TomotopyHDP, {}, "words (tomotopy)"),
    "sklearn-lda": BaselineEntry(SklearnLDA, {}, "words (scikit-learn)"),
    "spectral": BaselineEntry(SpectralClustering, {}, "links"),
    "louvain": BaselineEntry(Louvain, {}, "links"),
    "agc": BaselineEntry(AGC, {}, "words, smoothed over links"),
    "k-means": BaselineEntry(KMeans, {}, "words"),
    "label-propagation": BaselineEntry(LabelPropagation, {}, "links and labels"),
    "logistic": BaselineEntry(LogisticRegression, {}, "words and labels"),
    "sgc": BaselineEntry(SGC, {}, "words, smoothed over links, and labels"),
}


def make_baseline(name: str, **parameters: Any) -> Baseline:
    """Create an unfitted baseline from its name on the command line.

    Examples
    --------
    >>> make_baseline("pmtlm", topics=7)
    PMTLM(topics=7, degree_corrected=False)
    """
    if name not in BASELINES:
        raise ParameterError(
            f"There is no baseline {name!r}. Did you mean one of: {', '.join(BASELINES)}?"
        )
    entry = BASELINES[name]
    wrong = [key for key in parameters if key in entry.fixed]
    if wrong:
        raise ParameterError(f"The name {name!r} already determines {wrong[0]!r}; omit it.")
    return entry.model().set_params(**entry.fixed, **parameters)


def read_baseline(run: RunFolder) -> Baseline:
    """Read the fitted model of a baseline's run; `citeweave.load` reads runs of any kind."""
    if run.kind not in BASELINES:
        raise RunError(
            f"'{run.path}' is a run of the model {run.kind!r}, which this release does not know. "
            f"It knows scntm, {', '.join(BASELINES)}."
        )
    try:
        return BASELINES[run.kind].model.from_run(run)
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(
            f"The manifest of '{run.path}' is damaged ({type(error).__name__}: {error}); fit again."
        ) from error
