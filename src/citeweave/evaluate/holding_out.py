"""Data held out before a model is fitted, so that it can be evaluated without bias."""

import dataclasses

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.evaluate._arrays import check_integer
from citeweave.evaluate.links import hold_out_citations
from citeweave.evaluate.perplexity import hold_out_words

__all__ = ["hold_out"]


def hold_out(
    corpus: Corpus,
    *,
    documents: float | None = None,
    citations: float | None = None,
    words: float | None = None,
    labels: int | None = None,
    seed: int = 0,
) -> tuple[Corpus, dict[str, np.ndarray]]:
    """Hold out documents, citations, words or labels of a corpus, for `evaluate`.

    Parameters
    ----------
    corpus : Corpus
    documents : float, optional
        Share of whole documents to leave out. They are not returned: pass the whole corpus to
        ``evaluate(model, corpus)``, which finds them.
    citations : float, optional
        Share of the (remaining) pairs of linked documents.
    words : float, optional
        Share of each (remaining) document's words.
    labels : int, optional
        Number of labels of each category to keep, for models that infer the others
        (``labels="some"``); half of them if a category has fewer than twice as many.
    seed : int
        Seed of all draws.

    Returns
    -------
    train : Corpus
        The corpus to which a model is to be fitted.
    held_out : dict of ndarray
        For ``fit(train, held_out=...)``: ``citations``, rows (citing, cited), ``words``, rows
        (document, word), and ``labels``, rows (document, category), as requested.

    Examples
    --------
    >>> from citeweave import SCNTM, simulate
    >>> corpus = simulate(documents=80, vocabulary=80, topics=3, citations=200, seed=1).corpus
    >>> train, held_out = hold_out(corpus, documents=0.1, citations=0.2, words=0.2)
    >>> train.n_documents, sorted(held_out)
    (72, ['citations', 'words'])
    >>> model = SCNTM(topics=4, iterations=20, seed=1).fit(train, held_out=held_out)
    >>> sorted(model.held_out_)
    ['citations', 'words']
    """
    if documents is None and citations is None and words is None and labels is None:
        raise ParameterError(
            "Nothing to hold out: give the share of 'documents', 'citations' or 'words', or the "
            "number of 'labels' that stay."
        )
    train = corpus
    held: dict[str, np.ndarray] = {}
    if documents is not None:
        train = train.split(test=documents, seed=seed).train
    if citations is not None:
        train, pairs = hold_out_citations(train, share=citations, seed=seed)
        held["citations"] = np.asarray(pairs, dtype=np.int32)
    if words is not None:
        train, tokens = hold_out_words(train, share=words, seed=seed)
        held["words"] = np.stack([tokens.document, tokens.word], axis=1)
    if labels is not None:
        train, held["labels"] = _hold_out_labels(train, labels, seed)
    return train, held


def _hold_out_labels(corpus: Corpus, each: int, seed: int) -> tuple[Corpus, np.ndarray]:
    """Remove all but a few labels of each category; return those removed, (document, category)."""
    check_integer(each, "labels", lowest=1)
    label = np.asarray(corpus.categories)
    if not (label >= 0).any():
        raise ParameterError("'labels' cannot be held out: no document has a category.")
    rng = np.random.default_rng(seed)
    kept = np.full(len(label), -1, label.dtype)
    for c in np.unique(label[label >= 0]):
        mine = np.flatnonzero(label == c)
        kept[rng.choice(mine, min(each, max(len(mine) // 2, 1)), replace=False)] = c
    kept.flags.writeable = False
    taken = np.flatnonzero((label >= 0) & (kept < 0))
    train = dataclasses.replace(corpus, categories=kept, _stored_fingerprint=None)
    return train, np.stack([taken, label[taken]], axis=1).astype(np.int32)
