"""Checks of what the measures are given: labels, pairs of documents, whole numbers."""

import numbers
from typing import Any

import numpy as np

from citeweave.errors import ParameterError
from citeweave.naming import option

__all__ = ["as_labels", "as_pairs", "check_integer", "labelled_pair"]


def as_labels(values: Any, name: str) -> np.ndarray:
    """Return one label per document as an array of integers or strings."""
    array = np.asarray(values)
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iubUS":
        raise ParameterError(
            f"'{name}' must be a non-empty list of labels, integers or strings, one per document. "
            f"Got an array of shape {array.shape} and type {array.dtype} instead."
        )
    return array


def labelled_pair(
    first: Any, classes: Any, *, names: tuple[str, str]
) -> tuple[np.ndarray, np.ndarray]:
    """Check that two lists of labels match and leave out documents without a class.

    A negative integer stands for a missing class, as in `Corpus.categories`.
    """
    given, true = as_labels(first, names[0]), as_labels(classes, names[1])
    if len(given) != len(true):
        raise ParameterError(
            f"'{names[0]}' and '{names[1]}' must have one entry for each document. "
            f"Got {len(given)} and {len(true)} entries instead."
        )
    if given.dtype.kind == "i" and given.min() < 0:
        place = int(np.flatnonzero(given < 0)[0])
        raise ParameterError(
            f"'{names[0]}' must not be negative: every document has one. "
            f"Got {given[place]} for document {place} instead."
        )
    if true.dtype.kind == "i":
        known = true >= 0
        given, true = given[known], true[known]
        if len(true) == 0:
            raise ParameterError(
                f"'{names[1]}' must hold the class of at least one document. "
                "Got negative values (missing) only."
            )
    return given, true


def as_pairs(values: Any, documents: int, name: str, *, cited: int | None = None) -> np.ndarray:
    """Return pairs (citing, cited) of document positions as int64, shape (n, 2).

    Both belong to one corpus, unless cited documents belong to another (`cited`).
    """
    array = np.asarray(values)
    if array.ndim != 2 or array.shape[1:] != (2,) or array.dtype.kind not in "iu":
        raise ParameterError(
            f"'{name}' must be an integer array of shape (n, 2), rows (citing, cited). "
            f"Got shape {array.shape} and type {array.dtype} instead."
        )
    sizes = np.array([documents, documents if cited is None else cited])
    wrong = ((array < 0) | (array >= sizes)).any(axis=1)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        bounds = f"{documents - 1}" if cited is None else f"{documents - 1} and to {cited - 1}"
        raise ParameterError(
            f"'{name}' must hold positions from 0 to {bounds}. "
            f"Got {array[row].tolist()} in row {row} instead."
        )
    return array.astype(np.int64)


def check_integer(value: Any, name: str, *, lowest: int) -> int:
    """Return an integer of at least `lowest`."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < lowest:
        raise ParameterError(
            f"{option(name)} must be an integer of at least {lowest}. Got {value!r} instead."
        )
    return int(value)
