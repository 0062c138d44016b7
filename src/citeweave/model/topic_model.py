"""The interface of a fitted model that evaluation and exploration need."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from citeweave.corpus import Corpus

__all__ = ["PlacingModel", "Source", "TopicModel"]

Source = Corpus | str | os.PathLike[str]


@runtime_checkable
class TopicModel(Protocol):
    """The interface that `citeweave.evaluate.evaluate` requires; `SCNTM` and all baselines have it.

    Attributes
    ----------
    doc_topic_ : ndarray, shape (D, K)
        Shares of topics in each training document; rows sum to 1.
    topic_word_ : ndarray, shape (K, V)
        Probabilities of words in each topic; rows sum to 1.
    topic_samples_ : ndarray of int, shape (K,)
        0 for a topic that is not in use.
    labels_ : ndarray of int, shape (D,)
        Dominant topic of each document.
    corpus_ : Corpus
        The corpus that the model was fitted to.
    held_out_ : mapping of str to ndarray
        Data held out of the corpus before the fit, to be scored afterwards.
    """

    @property
    def doc_topic_(self) -> np.ndarray:
        """Shares of topics in each training document."""
        ...

    @property
    def topic_word_(self) -> np.ndarray:
        """Probabilities of words in each topic."""
        ...

    @property
    def topic_samples_(self) -> np.ndarray:
        """0 for a topic that is not in use."""
        ...

    @property
    def labels_(self) -> np.ndarray:
        """Dominant topic of each document."""
        ...

    @property
    def corpus_(self) -> Corpus:
        """The corpus that the model was fitted to."""
        ...

    @property
    def held_out_(self) -> Mapping[str, np.ndarray]:
        """Data held out of the corpus before the fit."""
        ...

    def fit(self, corpus: Source) -> Self:
        """Fit the model to a corpus."""
        ...

    def transform(self, new: Corpus) -> np.ndarray:
        """Return the topics of new documents, shape (D_new, K)."""
        ...

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Save as a run folder, which `citeweave.load` reads."""
        ...


@runtime_checkable
class PlacingModel(TopicModel, Protocol):
    """A topic model that states what it uses to place new documents, as all baselines do."""

    @property
    def name(self) -> str:
        """Display name of the model."""
        ...

    @property
    def reads(self) -> frozenset[str]:
        """Those of "words", "links" and "labels" from which topics of documents are estimated."""
        ...

    def transform(self, new: Corpus, *, links: Any = None) -> np.ndarray:
        """Return the topics of new documents, given (new, training) pairs of citations."""
        ...
