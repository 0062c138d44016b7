"""Display of a model in notebooks: parameters, sizes and topics in small tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from citeweave.errors import MissingDependencyError
from citeweave.html import html_table
from citeweave.model.describing import RELEVANCE, rank_words, topic_order, topic_shares

if TYPE_CHECKING:
    from citeweave.model.scntm import SCNTM

__all__ = ["model_html"]

TOPICS = 12
WORDS = 8


def model_html(model: SCNTM) -> str:
    """Show parameters and, if the model is fitted, its corpus, its run and its topics."""
    rows = [("model", repr(model))]
    if model.__dict__.get("_result") is None:
        return html_table(["", ""], [*rows, ("state", "not fitted; call fit(corpus)")])
    share = topic_shares(model.doc_topic_)
    order = topic_order(share, model.topic_samples_ > 0)
    chains = len(model.combination_["likelihoods"])
    done = f"{model.n_iter_:,} of {model.iterations_:,} iterations"
    how = f"{model.combination_['how']} of {chains} chain{'' if chains == 1 else 's'}"
    rows += [
        ("corpus", repr(model.corpus_)),
        ("topics in use", f"{len(order)} of {len(share)}"),
        ("samples", f"{model.n_samples_} ({how}), {done}"),
    ]
    facts = html_table(["", ""], rows)
    try:
        words = _words(model, share)
    except MissingDependencyError:  # strings need polars; without it only figures are shown
        return facts
    papers = np.bincount(model.labels_, minlength=len(share))
    topics = html_table(
        ["#topic", "#share", "#papers", "words"],
        [
            (k, f"{100 * share[k]:.1f} %", f"{papers[k]:,}", ", ".join(words[k]))
            for k in order[:TOPICS]
        ],
        caption="Topics in use, largest first"
        + (f" ({TOPICS} of {len(order)})" if len(order) > TOPICS else ""),
    )
    return facts + topics


def _words(model: SCNTM, share: np.ndarray) -> list[list[str]]:
    """Choose words that are probable in each topic, and more so than in others."""
    corpus = model.corpus_
    occurs = np.bincount(corpus.tokens, minlength=corpus.vocabulary_size) > 0
    best = rank_words(model.topic_word_, share, occurs, relevance=RELEVANCE, number=WORDS)
    vocabulary = corpus.vocabulary
    return [[vocabulary[word].replace("_", " ") for word in row] for row in best.tolist()]
