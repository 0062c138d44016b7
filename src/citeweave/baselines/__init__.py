"""Models to compare with, all behind one interface."""

from citeweave.baselines.base import Baseline, Step, TopicModel
from citeweave.baselines.pmtlm import PMTLM

__all__ = ["PMTLM", "Baseline", "Step", "TopicModel"]
