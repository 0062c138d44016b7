"""How well inferred labels match the true ones: accuracy, F1 of classes, and calibration."""

from typing import Any, NamedTuple

import numpy as np

from citeweave.errors import ParameterError
from citeweave.evaluate._arrays import check_integer, labelled_pair

__all__ = ["ClassScores", "accuracy", "class_scores", "expected_calibration_error", "macro_f1"]


class ClassScores(NamedTuple):
    """Measures of each class, in the order of `names`.

    Attributes
    ----------
    names : ndarray
        Classes that are true or predicted for at least one document.
    precision : ndarray
        Share of the documents predicted to be in a class that are; 0 if none is predicted.
    recall : ndarray
        Share of the documents of a class that are predicted to be in it; 0 if the class is empty.
    f1 : ndarray
        Harmonic mean of precision and recall.
    documents : ndarray of int
        Number of documents in the class.
    confusion : ndarray of int, shape (n, n)
        Documents by true class (row) and predicted class (column).

    Examples
    --------
    >>> from citeweave.evaluate import class_scores
    >>> scores = class_scores(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    >>> scores.names.tolist(), scores.documents.tolist(), scores.confusion.tolist()
    (['a', 'b'], [3, 1], [[2, 1], [0, 1]])
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
    """Mean of the F1 scores of the classes, with equal weights.

    The mean is over the classes that are true or predicted for at least one document.

    Examples
    --------
    >>> round(macro_f1(["a", "b", "b", "a"], ["a", "b", "a", "a"]), 4)
    0.7333
    """
    return float(class_scores(predicted, classes).f1.mean())


def class_scores(predicted: Any, classes: Any) -> ClassScores:
    """Return precision, recall and F1 of each class, and the confusion matrix.

    Parameters
    ----------
    predicted, classes : array-like, shape (D,)
        As in `accuracy`.

    Returns
    -------
    ClassScores

    Examples
    --------
    >>> from citeweave.evaluate import class_scores
    >>> class_scores(["a", "b", "b", "a"], ["a", "b", "a", "a"]).precision.tolist()
    [1.0, 0.5]
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


def expected_calibration_error(probabilities: Any, classes: Any, *, bins: int = 15) -> float:
    """Mean difference between the confidence of predictions and their accuracy.

    Predictions are the most probable classes. They are divided by that probability into bins of
    equal width; in each bin, the share of correct predictions is compared with the mean
    probability. Bins are weighted by their documents (Guo, Pleiss, Sun and Weinberger 2017).

    Parameters
    ----------
    probabilities : array-like, shape (D, C)
        Probabilities of the classes, in rows that sum to 1.
    classes : array-like of int, shape (D,)
        True class of each document; documents with a negative class are left out.
    bins : int

    Examples
    --------
    >>> half = [[0.5, 0.5]] * 4
    >>> expected_calibration_error(half, [0, 0, 1, 1])  # sure by half, and right by half
    0.0
    >>> expected_calibration_error([[1.0, 0.0]] * 4, [0, 0, 1, 1])
    0.5
    """
    table, true = np.asarray(probabilities, dtype=np.float64), np.asarray(classes)
    if table.ndim != 2 or true.shape != table.shape[:1] or true.dtype.kind not in "iu":
        raise ParameterError(
            "'probabilities' must have a row for each document and 'classes' an integer. Got "
            f"shapes {table.shape} and {true.shape}, and classes of type {true.dtype} instead."
        )
    check_integer(bins, "bins", lowest=1)
    known = true >= 0
    if not known.any():
        raise ParameterError(
            "'classes' must give the class of at least one document. Got none instead."
        )
    table, true = table[known], true[known]
    sums = table.sum(axis=1)
    if not (np.isfinite(table).all() and (table >= 0).all() and np.allclose(sums, 1.0, atol=1e-3)):
        raise ParameterError(
            "'probabilities' must be finite and of at least 0, with rows that sum to 1. Got sums "
            f"from {sums.min():.4g} to {sums.max():.4g} instead."
        )
    sure = table.max(axis=1)
    right = table.argmax(axis=1) == true
    place = np.clip(np.ceil(sure * bins).astype(np.int64) - 1, 0, bins - 1)
    gap = np.bincount(place, weights=right - sure, minlength=bins)
    return float(np.abs(gap).sum() / len(true))


def _labels(predicted: Any, classes: Any) -> tuple[np.ndarray, np.ndarray]:
    given, true = labelled_pair(predicted, classes, names=("predicted", "classes"))
    if (given.dtype.kind in "US") != (true.dtype.kind in "US"):
        raise ParameterError(
            "'predicted' and 'classes' must be of one kind, both integers or both strings. "
            f"Got {given.dtype} and {true.dtype} instead."
        )
    return given, true
