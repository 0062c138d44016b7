"""Measures of fitted models, and PMTLM, the peer they are compared with."""

from citeweave.evaluate.classification import ClassScores, accuracy, class_scores, macro_f1
from citeweave.evaluate.clustering import (
    ClusteringScores,
    adjusted_mutual_information,
    adjusted_rand,
    clustering_scores,
    nmi,
    purity,
)
from citeweave.evaluate.coherence import npmi_coherence, top_words, topic_diversity
from citeweave.evaluate.convergence import (
    Convergence,
    convergence,
    effective_sample_size,
    split_rhat,
    tail_sample_size,
)
from citeweave.evaluate.pmtlm import PMTLM

__all__ = [
    "PMTLM",
    "ClassScores",
    "ClusteringScores",
    "Convergence",
    "accuracy",
    "adjusted_mutual_information",
    "adjusted_rand",
    "class_scores",
    "clustering_scores",
    "convergence",
    "effective_sample_size",
    "macro_f1",
    "nmi",
    "npmi_coherence",
    "purity",
    "split_rhat",
    "tail_sample_size",
    "top_words",
    "topic_diversity",
]
