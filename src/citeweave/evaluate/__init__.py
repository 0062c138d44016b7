"""Measures of fitted models, and PMTLM, the peer they are compared with."""

from citeweave.baselines import PMTLM
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
from citeweave.evaluate.link_scores import LinkScores, pmtlm_scores, scntm_scores, tfidf_scores
from citeweave.evaluate.links import (
    HeldOut,
    LinkPrediction,
    RankingScores,
    auc,
    hold_out_citations,
    link_prediction,
    negative_pairs,
    ranking_scores,
)
from citeweave.evaluate.perplexity import HeldOutWords, Perplexity, hold_out_words, perplexity

__all__ = [
    "PMTLM",
    "ClassScores",
    "ClusteringScores",
    "Convergence",
    "HeldOut",
    "HeldOutWords",
    "LinkPrediction",
    "LinkScores",
    "Perplexity",
    "RankingScores",
    "accuracy",
    "adjusted_mutual_information",
    "adjusted_rand",
    "auc",
    "class_scores",
    "clustering_scores",
    "convergence",
    "effective_sample_size",
    "hold_out_citations",
    "hold_out_words",
    "link_prediction",
    "macro_f1",
    "negative_pairs",
    "nmi",
    "npmi_coherence",
    "perplexity",
    "pmtlm_scores",
    "purity",
    "ranking_scores",
    "scntm_scores",
    "split_rhat",
    "tail_sample_size",
    "tfidf_scores",
    "top_words",
    "topic_diversity",
]
