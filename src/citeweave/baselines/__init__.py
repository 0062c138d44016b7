"""Models to compare with, all behind one interface.

>>> from citeweave.baselines import Louvain, make_baseline
"""

from citeweave.baselines.base import Baseline, Step, TopicModel
from citeweave.baselines.graph import Louvain, SpectralClustering
from citeweave.baselines.pmtlm import PMTLM
from citeweave.baselines.registry import BASELINES, load, make_baseline
from citeweave.baselines.text import SklearnLDA, TomotopyHDP, TomotopyLDA

__all__ = [
    "BASELINES",
    "PMTLM",
    "Baseline",
    "Louvain",
    "SklearnLDA",
    "SpectralClustering",
    "Step",
    "TomotopyHDP",
    "TomotopyLDA",
    "TopicModel",
    "load",
    "make_baseline",
]
