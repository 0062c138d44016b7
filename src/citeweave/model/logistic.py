"""Multinomial logistic regression with an L2 penalty chosen by cross-validation."""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

__all__ = [
    "PENALTIES",
    "Regression",
    "choose_penalty",
    "draw_folds",
    "fit_regression",
    "to_row_space",
]

PENALTIES = tuple(float(10.0 ** (power / 2)) for power in range(2, -11, -1))
"""10, 3.2, 1, ... 0.00001: the candidates for cross-validation."""

_MOST_STEPS = 1000


class Regression(NamedTuple):
    """Weights [V, C] and intercepts [C] of the classes."""

    weights: np.ndarray
    intercepts: np.ndarray


def fit_regression(
    features: Any,
    classes: np.ndarray,
    n_classes: int,
    *,
    penalty: float,
    start: Regression | None = None,
) -> Regression:
    """Minimise the sum of -log p(class) plus penalty / 2 times the sum of squared weights.

    Parameters
    ----------
    features : ndarray or csr_array, shape (n, V)
    classes : ndarray of int, shape (n,)
    n_classes : int
    penalty : float
        The inverse of scikit-learn's C; intercepts are not penalised.
    start : Regression, optional
        Starting point of L-BFGS.

    Examples
    --------
    >>> found = fit_regression(np.array([[-1.0], [1.0]]), np.array([0, 1]), 2, penalty=1.0)
    >>> bool(found.weights[0, 1] > 0), bool(np.allclose(found.weights.sum(axis=1), 0, atol=1e-5))
    (True, True)
    """
    words = features.shape[1]
    target = np.eye(n_classes)[classes]

    def value(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        table = parameters.reshape(words + 1, n_classes)
        weights = table[:-1]
        logs = log_softmax(np.asarray(features @ weights) + table[-1], axis=1)
        loss = -(target * logs).sum() + 0.5 * penalty * np.einsum("vc,vc->", weights, weights)
        excess = np.exp(logs) - target
        slope = np.empty_like(table)
        slope[:-1] = np.asarray(features.T @ excess) + penalty * weights
        slope[-1] = excess.sum(axis=0)
        return float(loss), slope.ravel()

    begin = np.zeros((words + 1, n_classes))
    if start is not None:
        begin = np.vstack([start.weights, start.intercepts])
    found = minimize(
        value,
        begin.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MOST_STEPS, "maxfun": 2 * _MOST_STEPS, "gtol": 1e-5, "ftol": 1e-10},
    )
    table = found.x.reshape(words + 1, n_classes)
    return Regression(table[:-1], table[-1])


def to_row_space(features: Any) -> tuple[Any, np.ndarray | None]:
    """Rotate features with few rows so that they have no more columns than rows.

    Weights under an L2 penalty lie in the span of the rows, so nothing is lost: those of the
    original columns are ``basis.T @ weights``.

    Returns
    -------
    features : ndarray, shape (n, n), or as given if it has no more columns than rows
    basis : ndarray, shape (n, V), or None
    """
    rows, columns = features.shape
    if rows >= columns:
        return features, None
    dense = features if isinstance(features, np.ndarray) else features.toarray()
    left, values, basis = np.linalg.svd(dense, full_matrices=False)
    return left * values, basis


def choose_penalty(
    features: Any, classes: np.ndarray, n_classes: int, rng: np.random.Generator, *, folds: int
) -> float:
    """Choose the one of `PENALTIES` that predicts left-out labels best, by their mean log loss.

    Folds are random, with each class divided evenly. Of equally good penalties, the largest is
    taken.
    """
    fold = draw_folds(classes, rng, folds)
    losses = np.zeros(len(PENALTIES))
    for number in range(int(fold.max()) + 1):
        out = np.flatnonzero(fold == number)
        kept = np.flatnonzero(fold != number)
        here = None
        for place, penalty in enumerate(PENALTIES):
            here = fit_regression(
                features[kept], classes[kept], n_classes, penalty=penalty, start=here
            )
            scores = np.asarray(features[out] @ here.weights) + here.intercepts
            logs = log_softmax(scores, axis=1)
            losses[place] -= logs[np.arange(len(out)), classes[out]].sum()
    return PENALTIES[int(losses.argmin())]


def draw_folds(classes: np.ndarray, rng: np.random.Generator, folds: int) -> np.ndarray:
    """Deal each class into the folds in random order, continuing where the last class ended."""
    order = rng.permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    fold = np.empty(len(classes), dtype=np.int64)
    fold[order] = np.arange(len(classes)) % min(folds, len(classes))
    return fold
