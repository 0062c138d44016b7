"""What is set aside before a model is fitted, so that it can be scored honestly afterwards."""

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.evaluate.links import hold_out_citations
from citeweave.evaluate.perplexity import hold_out_words

__all__ = ["hold_out"]


def hold_out(
    corpus: Corpus,
    *,
    documents: float | None = None,
    citations: float | None = None,
    words: float | None = None,
    seed: int = 0,
) -> tuple[Corpus, dict[str, np.ndarray]]:
    """Take documents, citations or words out of a corpus, to be scored by `evaluate`.

    Parameters
    ----------
    corpus : Corpus
    documents : float, optional
        Share of whole documents to leave out. They are not in what is returned: give
        ``evaluate(model, corpus)`` the whole corpus, and it finds them.
    citations : float, optional
        Share of the (remaining) pairs of linked documents.
    words : float, optional
        Share of each (remaining) document's words.
    seed : int
        Of all draws.

    Returns
    -------
    train : Corpus
        To fit a model to.
    held_out : dict of ndarray
        For ``fit(train, held_out=...)``: ``citations``, rows (citing, cited), and ``words``, rows
        (document, word), where asked for.

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
    if documents is None and citations is None and words is None:
        raise ParameterError(
            "Nothing to hold out: give the share of 'documents', 'citations' or 'words'."
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
    return train, held
