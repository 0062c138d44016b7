"""Measures of fitted models: single functions, and `evaluate` for all of them.

>>> from citeweave.evaluate import evaluate, nmi
"""

from citeweave._moved import renamed
from citeweave.evaluate.classification import (
    ClassScores,
    accuracy,
    class_scores,
    expected_calibration_error,
    macro_f1,
)
from citeweave.evaluate.clustering import (
    ClusteringScores,
    adjusted_mutual_information,
    adjusted_rand,
    clustering_scores,
    nmi,
    purity,
)
from citeweave.evaluate.coherence import npmi_coherence, top_words, topic_diversity
from citeweave.evaluate.diagnostics import (
    Diagnostics,
    TraceCheck,
    Verdict,
    judge_chains,
    judge_traces,
)
from citeweave.evaluate.evaluation import evaluate
from citeweave.evaluate.holding_out import hold_out
from citeweave.evaluate.link_scores import (
    LinkScores,
    model_scores,
    pmtlm_scores,
    scntm_scores,
    tfidf_scores,
    topic_scores,
)
from citeweave.evaluate.links import (
    HeldOut,
    LinkPrediction,
    RankingScores,
    auc,
    hold_out_citations,
    link_prediction,
    negative_pairs,
    new_negative_pairs,
    ranking_scores,
)
from citeweave.evaluate.new_documents import NewDocuments, find_new_documents
from citeweave.evaluate.perplexity import HeldOutWords, Perplexity, hold_out_words, perplexity
from citeweave.evaluate.report import Evaluation, Measure
from citeweave.model.convergence import (
    Convergence,
    convergence,
    effective_sample_size,
    split_rhat,
    tail_sample_size,
)

__all__ = [
    "ClassScores",
    "ClusteringScores",
    "Convergence",
    "Diagnostics",
    "Evaluation",
    "HeldOut",
    "HeldOutWords",
    "LinkPrediction",
    "LinkScores",
    "Measure",
    "NewDocuments",
    "Perplexity",
    "RankingScores",
    "TraceCheck",
    "Verdict",
    "accuracy",
    "adjusted_mutual_information",
    "adjusted_rand",
    "auc",
    "class_scores",
    "clustering_scores",
    "convergence",
    "effective_sample_size",
    "evaluate",
    "expected_calibration_error",
    "find_new_documents",
    "hold_out",
    "hold_out_citations",
    "hold_out_words",
    "judge_chains",
    "judge_traces",
    "link_prediction",
    "macro_f1",
    "model_scores",
    "negative_pairs",
    "new_negative_pairs",
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
    "topic_scores",
]

__getattr__ = renamed(__name__, {"PMTLM": "citeweave.baselines.PMTLM"})
