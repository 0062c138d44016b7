"""Documents that a model has not seen, and their citations of those it has seen."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from citeweave.corpus import Corpus, Split
from citeweave.errors import CorpusError, ParameterError
from citeweave.model.unseen import as_links, count_words
from citeweave.naming import option

__all__ = ["NewDocuments", "find_new_documents"]


@dataclass(frozen=True)
class NewDocuments:
    """Documents with which to test a model.

    Attributes
    ----------
    corpus : Corpus
    links : ndarray of int, shape (n, 2)
        Their citations of training documents, as rows (new document, training document).
    known : int
        Number of given documents that were left out because they are training documents.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.evaluate import find_new_documents
    >>> corpus = citeweave.example_corpus()
    >>> found = find_new_documents(corpus, corpus.subset(range(60)))
    >>> found.corpus.n_documents, found.known
    (20, 60)
    """

    corpus: Corpus
    links: np.ndarray
    known: int


def find_new_documents(
    test: Corpus | Split | str | os.PathLike[str], train: Corpus, *, links: Any = None
) -> NewDocuments:
    """Find the test documents in a corpus or split.

    Parameters
    ----------
    test : Corpus, Split or path
        A corpus of test documents; or the whole corpus that contains the training documents, which
        are recognised by their ids and words and left out, while citations of them become the
        links; or a `Split` of such a corpus.
    train : Corpus
        The corpus to which the model was fitted.
    links : array-like of int, shape (n, 2), optional
        Citations as rows (test document, training document), if `test` is a corpus of test
        documents only.

    Returns
    -------
    NewDocuments

    Raises
    ------
    CorpusError
        All documents given are training documents.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.evaluate import find_new_documents
    >>> parts = citeweave.example_corpus().split(test=0.25, seed=0)
    >>> find_new_documents(parts, parts.train).corpus.n_documents
    20
    """
    if isinstance(test, Split):
        if test.train.n_documents != train.n_documents:
            raise ParameterError(
                f"{option('test')} must be the split that the training documents come from. "
                f"Got one with {test.train.n_documents} of them, not {train.n_documents}."
            )
        pairs = as_links(test.links.citing if links is None else links, test.test, train)
        return NewDocuments(test.test, pairs, 0)
    given = test if isinstance(test, Corpus) else Corpus.load(test)
    if links is not None:
        return NewDocuments(given, as_links(links, given, train), 0)
    place = _places_in_training(given, train)
    old = place >= 0
    if not old.any():
        return NewDocuments(given, np.empty((0, 2), dtype=np.int64), 0)
    if old.all():
        raise CorpusError(
            f"All {given.n_documents} documents of the test corpus are training documents; give "
            "documents that the model has not seen, or the whole corpus that holds both."
        )
    new = np.flatnonzero(~old)
    position = np.full(given.n_documents, -1, dtype=np.int64)
    position[new] = np.arange(len(new))
    citing, cited = given.citations[:, 0], given.citations[:, 1]
    across = ~old[citing] & old[cited]
    pairs = np.stack([position[citing[across]], place[cited[across]]], axis=1)
    return NewDocuments(given.subset(new), pairs, int(old.sum()))


def _places_in_training(given: Corpus, train: Corpus) -> np.ndarray:
    """Return the training position of each document with the same id and words, or -1.

    Generated ids ("0", "1", ...) also occur in other corpora. The words must therefore agree as
    well, except for words that were held out.
    """
    by_id = {name: place for place, name in enumerate(train.ids)}
    place = np.array([by_id.get(name, -1) for name in given.ids], dtype=np.int64)
    rows = np.flatnonzero(place >= 0)
    if len(rows):
        counts = count_words(given, train)[rows]
        missing: Any = (count_words(train)[place[rows]] - counts).tocsr()
        missing.data = np.maximum(missing.data, 0.0)
        differs = np.asarray(missing.sum(axis=1)).ravel() > 0
        place[rows[differs]] = -1
    return place
