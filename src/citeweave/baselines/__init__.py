"""Baseline models, all behind one interface.

>>> from citeweave.baselines import Louvain, make_baseline
"""

from citeweave._moved import renamed
from citeweave.baselines.base import Baseline, Step
from citeweave.baselines.features import AGC, KMeans
from citeweave.baselines.graph import Louvain, SpectralClustering
from citeweave.baselines.labelled import SGC, LabelPropagation, LogisticRegression
from citeweave.baselines.pmtlm import PMTLM
from citeweave.baselines.registry import BASELINES, make_baseline
from citeweave.baselines.text import SklearnLDA, TomotopyHDP, TomotopyLDA

__all__ = [
    "AGC",
    "BASELINES",
    "PMTLM",
    "SGC",
    "Baseline",
    "KMeans",
    "LabelPropagation",
    "LogisticRegression",
    "Louvain",
    "SklearnLDA",
    "SpectralClustering",
    "Step",
    "TomotopyHDP",
    "TomotopyLDA",
    "make_baseline",
]

__getattr__ = renamed(
    __name__,
    {"TopicModel": "citeweave.model.topic_model.TopicModel", "load": "citeweave.loading.load"},
)
