"""How well inferred labels match the true ones: accuracy, F1 of each class and their mean."""

from typing import Any, NamedTuple

import numpy as np

from citeweave.errors import ParameterError
from citeweave.evaluate._arrays import labelled_pair

__all__ = ["ClassScores", "accuracy", "class_scores", "macro_f1"]


class ClassScores(NamedTuple):
    """Measures of each class, in the order of `names`.

    Attributes
    ----------
    names : ndarray
        Classes that are true or predicted for at least one document.
    precision : ndarray
        Share of the documents predicted to be of a class that are; 0 where none is predicted.
    recall : ndarray
        Share of the documents of a class that are predicted to be; 0 where the class has none.
    f1 : ndarray
        Harmonic mean of the two.
    documents : ndarray of int
        How many documents are of the class.
    confusion : ndarray of int, shape (n, n)
        Documents by true class (row) and predicted class (column).
    """

    names: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray
    documents: np.ndarray
    confusion: np.ndarray


def accuracy(predicted: Any, classes: Any) -> float:
    """Share of documents whose predicted class is the true one.

    Parameters
    ----------
    predicted, classes : array-like, shape (D,)
        Predicted and true class of each document. Where the true class is missing (a negative
        integer) a document is left out.

    Examples
    --------
    >>> accuracy(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    0.75
    """
    given, true = _labels(predicted, classes)
    return float(np.mean(given == true))


def macro_f1(predicted: Any, classes: Any) -> float:
    """Mean of the classes' F1, each class counting alike.

    The mean is over the classes that are true or predicted for at least one document.

    Examples
    --------
    >>> round(macro_f1(["a", "b", "b", "a"], ["a", "b", "a", "a"]), 4)
    0.7333
    """
    return float(class_scores(predicted, classes).f1.mean())


def class_scores(predicted: Any, classes: Any) -> ClassScores:
    """Return precision, recall and F1 of each class, and the table of confusions.

    Parameters
    ----------
    predicted, classes : array-like, shape (D,)
        As those of `accuracy`.
    """
    given, true = _labels(predicted, classes)
    names, places = np.unique(np.concatenate((given, true)), return_inverse=True)
    n = len(names)
    column, row = places[: len(given)], places[len(given) :]
    confusion = np.bincount(row * n + column, minlength=n * n).reshape(n, n)
    hits = np.diag(confusion).astype(np.float64)
    as_predicted, as_true = confusion.sum(axis=0), confusion.sum(axis=1)
    return ClassScores(
        names=names,
        precision=hits / np.maximum(as_predicted, 1),
        recall=hits / np.maximum(as_true, 1),
        f1=2.0 * hits / (as_predicted + as_true),  # every class has one document or more in these
        documents=as_true,
        confusion=confusion,
    )


def _labels(predicted: Any, classes: Any) -> tuple[np.ndarray, np.ndarray]:
    given, true = labelled_pair(predicted, classes, names=("predicted", "classes"))
    if (given.dtype.kind in "US") != (true.dtype.kind in "US"):
        raise ParameterError(
            "'predicted' and 'classes' must be of one kind, both integers or both strings. "
            f"Got {given.dtype} and {true.dtype} instead."
        )
    return given, true
