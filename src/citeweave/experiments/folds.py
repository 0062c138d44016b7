"""Folds: which documents are held out, determined by a seed alone.

A `Fold` is a recipe of a few numbers, so a task can be written to a file and its documents
recovered. `cut` applies it to a corpus.
"""

import numbers
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from citeweave.corpus import Corpus, Links, Split
from citeweave.corpus.text import MemoryText
from citeweave.errors import CorpusError, ParameterError
from citeweave.naming import option
from citeweave.parameters.rules import integer

__all__ = ["WHOLE", "Fold", "arrays_only", "cut", "k_folds", "random_splits"]

Kind = Literal["fold", "split", "whole"]


@dataclass(frozen=True)
class Fold:
    """One way to divide documents into training and test documents.

    Attributes
    ----------
    kind : {"fold", "split", "whole"}
        One of k folds, one of several random splits, or no division at all.
    number : int
        Its number, from 0.
    of : int
        Total number of folds or splits.
    seed : int
        The partition's seed; all folds of one partition share it.
    share : float
        Share of test documents of a split.

    Examples
    --------
    >>> parts = [Fold("fold", n, 3, seed=1).test_documents(7) for n in range(3)]
    >>> sorted(int(d) for part in parts for d in part)
    [0, 1, 2, 3, 4, 5, 6]
    """

    kind: Kind
    number: int = 0
    of: int = 1
    seed: int = 0
    share: float = 0.0

    @property
    def name(self) -> str:
        """Label in tables: ``3/10``, ``split 2/5`` or ``whole``, counted from 1."""
        if self.kind == "whole":
            return "whole"
        prefix = "" if self.kind == "fold" else "split "
        return f"{prefix}{self.number + 1}/{self.of}"

    def test_documents(self, documents: int) -> np.ndarray:
        """Return the sorted positions of the test documents in a corpus of this size.

        Examples
        --------
        >>> from citeweave.experiments import Fold
        >>> [len(Fold("fold", number, 3, seed=1).test_documents(8)) for number in range(3)]
        [3, 3, 2]
        """
        if self.kind == "whole":
            return np.empty(0, dtype=np.int64)
        if self.kind == "fold":
            if documents < self.of:
                raise CorpusError(
                    f"A corpus of {documents} documents cannot be divided into {self.of} folds; "
                    "use fewer."
                )
            order = np.random.default_rng(self.seed).permutation(documents)
            return np.sort(order[self.number :: self.of])
        if documents < 2:
            raise CorpusError("A corpus of one document cannot be split; it needs at least two.")
        size = min(max(round(self.share * documents), 1), documents - 1)
        order = np.random.default_rng([self.seed, self.number]).permutation(documents)
        return np.sort(order[:size])

    def as_json(self) -> dict[str, Any]:
        """Return everything that determines the documents, for a fingerprint.

        Examples
        --------
        >>> from citeweave.experiments import Fold
        >>> Fold("fold", 0, 3, seed=1).as_json()
        {'kind': 'fold', 'number': 0, 'of': 3, 'seed': 1}
        """
        content: dict[str, Any] = {"kind": self.kind}
        if self.kind != "whole":
            content |= {"number": self.number, "of": self.of, "seed": self.seed}
        if self.kind == "split":
            # a split does not depend on the number of splits
            del content["of"]
            content["share"] = self.share
        return content


MOST_RUNS = 1000
"""Maximum number of folds, splits or seeds; each requires a fit."""

WHOLE = Fold("whole")
"""All documents are training documents."""


def k_folds(folds: int = 10, *, seed: int = 0) -> list[Fold]:
    """Return k folds of one random partition: each document is a test document once.

    Sizes differ by at most one document. Labels are not used.

    Parameters
    ----------
    folds : int
        Number of folds, at least 2.
    seed : int
        Seed of the partition.

    Examples
    --------
    >>> from citeweave.experiments import k_folds
    >>> [fold.name for fold in k_folds(3, seed=1)]
    ['1/3', '2/3', '3/3']
    """
    _check("folds", folds, 2, MOST_RUNS)
    _check("seed", seed, 0)
    return [Fold("fold", number, int(folds), int(seed)) for number in range(folds)]


def random_splits(splits: int = 5, *, test: float = 0.1, seed: int = 0) -> list[Fold]:
    """Return independent random splits.

    Parameters
    ----------
    splits : int
        How many.
    test : float
        Share of test documents, between 0 and 1.
    seed : int
        The same seed gives the same splits.

    Examples
    --------
    >>> from citeweave.experiments import random_splits
    >>> splits = random_splits(2, test=0.25)
    >>> [len(split.test_documents(80)) for split in splits]
    [20, 20]
    """
    _check("splits", splits, 1, MOST_RUNS)
    _check("seed", seed, 0)
    if not isinstance(test, numbers.Real) or isinstance(test, bool) or not 0 < test < 1:
        raise ParameterError(
            f"{option('test')} must be a number between 0 and 1, the share of test documents. "
            f"Got {test!r} instead."
        )
    return [Fold("split", number, int(splits), int(seed), float(test)) for number in range(splits)]


def cut(corpus: Corpus, fold: Fold) -> Split:
    """Divide a corpus; ``Split.links`` holds the citations between the two parts.

    Raises
    ------
    ParameterError
        The fold is the whole corpus, which is not divided.
    CorpusError
        The corpus has too few documents.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.experiments import cut, k_folds
    >>> parts = cut(citeweave.example_corpus(), k_folds(4)[0])
    >>> parts.train.n_documents, parts.test.n_documents
    (60, 20)
    """
    if fold.kind == "whole":
        raise ParameterError("The whole corpus has no test documents; give a fold or a split.")
    documents = corpus.n_documents
    in_test = np.zeros(documents, dtype=bool)
    in_test[fold.test_documents(documents)] = True
    position = np.where(in_test, np.cumsum(in_test), np.cumsum(~in_test)) - 1
    citing, cited = corpus.citations[:, 0], corpus.citations[:, 1]
    outward = in_test[citing] & ~in_test[cited]
    inward = ~in_test[citing] & in_test[cited]
    return Split(
        train=corpus.subset(~in_test),
        test=corpus.subset(in_test),
        train_index=np.flatnonzero(~in_test),
        test_index=np.flatnonzero(in_test),
        links=Links(
            citing=_pairs(position[citing[outward]], position[cited[outward]]),
            cited=_pairs(position[cited[inward]], position[citing[inward]]),
        ),
    )


def arrays_only(corpus: Corpus) -> Corpus:
    """Return the corpus with numbers instead of names, so that no table is read.

    Fitting and measuring need only numbers. Words, authors and categories are named by their ids
    and documents by their positions; titles and metadata are dropped. A machine without polars can
    then make subsets of a corpus that was loaded from a folder.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.experiments import arrays_only
    >>> corpus = arrays_only(citeweave.example_corpus())
    >>> corpus.vocabulary[0], corpus.n_tokens
    ('w0', 2508)
    """
    columns: dict[tuple[str, str], list[Any]] = {
        ("vocabulary", "word"): [f"w{i}" for i in range(corpus.vocabulary_size)],
        ("authors", "name"): [f"author {i}" for i in range(corpus.n_authors)],
        ("categories", "name"): [f"category {i}" for i in range(corpus.n_categories)],
        ("documents", "id"): [str(i) for i in range(corpus.n_documents)],
        ("documents", "title"): [None] * corpus.n_documents,
    }
    arrays = {name: getattr(corpus, name) for name in _FIELDS}
    return Corpus(**arrays, text=MemoryText(columns))


_FIELDS = (
    *("tokens", "offsets", "vocabulary_size", "title_lengths", "author_ids", "author_offsets"),
    *("n_authors", "categories", "n_categories", "citations", "report", "preparation"),
)


def _pairs(test: np.ndarray, train: np.ndarray) -> np.ndarray:
    order = np.lexsort((train, test))
    return np.stack([test[order], train[order]], axis=1).astype(np.int32)


def _check(name: str, value: Any, lowest: int, highest: int | None = None) -> None:
    rule = integer(lowest, highest)
    if not rule.accepts(value):
        raise ParameterError(f"{option(name)} must be {rule.wanted}. Got {value!r} instead.")
