"""The parameters of `simulate`: defaults and checks."""

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from citeweave.errors import ParameterError

__all__ = ["CONCENTRATIONS", "DISCOUNTS", "DrawParameters", "check"]

DISCOUNTS: dict[str, float] = {
    "mu": 0.01,
    "nu": 0.01,
    "theta_prime": 0.01,
    "theta": 0.01,
    "gamma": 0.7,
    "phi": 0.7,
    "phi_prime": 0.7,
}

# None: the number of topics, or words, so that mu and gamma are neither flat nor sparse.
CONCENTRATIONS: dict[str, float | None] = {
    "mu": None,
    "nu": 1.0,
    "theta_prime": 5.0,
    "theta": 10.0,
    "gamma": None,
    "phi": 20.0,
    "phi_prime": 10.0,
}


@dataclass(frozen=True)
class DrawParameters:
    """Checked parameters of `simulate`, with defaults filled in."""

    documents: int
    vocabulary: int
    topics: int
    authors: int
    categories: int
    words_per_document: float
    citations: int
    eta: float
    discounts: dict[str, float]
    concentrations: dict[str, float]
    topic_share: np.ndarray | None
    topic_word: np.ndarray | None
    years: tuple[int, int] | None
    burstiness: bool

    def pyp(self, level: str) -> tuple[float, float]:
        """Return discount and concentration of a level."""
        return self.discounts[level], self.concentrations[level]


def fail(name: str, wanted: str, value: object = None, *, got: str | None = None) -> ParameterError:
    """Return the error for an invalid value, in the standard form of this package.

    `got` describes a value that is too long to show.
    """
    shown = repr(value) if got is None else got
    return ParameterError(
        f"The '{name}' parameter of simulate must be {wanted}. Got {shown} instead."
    )


def check(
    *,
    documents: Any,
    vocabulary: Any,
    topics: Any,
    authors: Any,
    categories: Any,
    words_per_document: Any,
    citations: Any,
    eta: Any,
    discounts: Any,
    concentrations: Any,
    topic_share: Any,
    topic_word: Any,
    vocabulary_words: Any,
    years: Any,
    burstiness: Any,
    seed: Any,
) -> DrawParameters:
    """Check every parameter of `simulate`; the error names the first invalid one."""
    documents = _integer("documents", documents, lowest=1)
    topics = _integer("topics", topics, lowest=1)
    phi = _rows("topic_word", topic_word, topics, None)
    if phi is not None:
        vocabulary = phi.shape[1]
    elif vocabulary_words is not None:
        vocabulary = len(vocabulary_words)
    vocabulary = _integer("vocabulary", vocabulary, lowest=1)
    if vocabulary_words is not None and len(vocabulary_words) != vocabulary:
        raise fail(
            "vocabulary_words",
            f"a list of {vocabulary} words, one for each column of topic_word",
            got=f"{len(vocabulary_words)} words",
        )
    authors = 0 if authors is None else _integer("authors", authors, lowest=0)
    categories = 0 if categories is None else _integer("categories", categories, lowest=0)
    citations = 0 if citations is None else _integer("citations", citations, lowest=0)
    if citations > documents * (documents - 1) // 4:
        raise fail(
            "citations",
            f"at most a quarter of all pairs of documents, {documents * (documents - 1) // 4} "
            f"for {documents} documents",
            citations,
        )
    if not _is_real(words_per_document) or not 0 < words_per_document < math.inf:
        raise fail("words_per_document", "a number greater than 0", words_per_document)
    if not _is_real(eta) or not eta >= 0:
        raise fail("eta", "a number of at least 0, or math.inf", eta)
    if not isinstance(burstiness, bool | np.bool_):
        raise fail("burstiness", "True or False", burstiness)
    if seed is not None:
        _integer("seed", seed, lowest=0)
    share = _rows("topic_share", topic_share, None, topics)
    return DrawParameters(
        documents=documents,
        vocabulary=vocabulary,
        topics=topics,
        authors=authors,
        categories=categories,
        words_per_document=float(words_per_document),
        citations=citations,
        eta=float(eta),
        discounts=_discounts(discounts),
        concentrations=_concentrations(concentrations, mu=topics, gamma=vocabulary),
        topic_share=share,
        topic_word=phi,
        years=_years(years),
        burstiness=bool(burstiness),
    )


def _is_real(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _integer(name: str, value: Any, *, lowest: int) -> int:
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < lowest:
        raise fail(name, f"an integer of at least {lowest}", value)
    return int(value)


def _levels(name: str, given: Any, known: Mapping[str, object]) -> dict[str, Any]:
    """Check that all keys of a dictionary are names of levels."""
    wanted = f"a dictionary with some of the keys {', '.join(known)}"
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise fail(name, wanted, given)
    unknown = [key for key in given if key not in known]
    if unknown:
        raise fail(name, wanted, unknown[0])
    return dict(given)


def _discounts(given: Any) -> dict[str, float]:
    levels = DISCOUNTS.copy()
    for key, value in _levels("discounts", given, DISCOUNTS).items():
        if not _is_real(value) or not 0 <= value < 1:
            raise fail(f"discounts[{key!r}]", "a number of at least 0 and less than 1", value)
        levels[key] = float(value)
    return levels


def _concentrations(given: Any, *, mu: int, gamma: int) -> dict[str, float]:
    levels = {"mu": float(mu), "gamma": float(gamma)}
    levels |= {key: value for key, value in CONCENTRATIONS.items() if value is not None}
    for key, value in _levels("concentrations", given, CONCENTRATIONS).items():
        if not _is_real(value) or not 0 < value < math.inf:
            raise fail(f"concentrations[{key!r}]", "a number greater than 0", value)
        levels[key] = float(value)
    return levels


def _rows(name: str, values: Any, rows: int | None, columns: int | None) -> np.ndarray | None:
    """Check a probability vector, or a matrix of `rows` of them."""
    if values is None:
        return None
    shape = f"{columns} probabilities" if rows is None else f"{rows} rows of probabilities"
    wanted = f"an array of {shape} that sum to 1"
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise fail(name, wanted, values) from None
    dimensions = 1 if rows is None else 2
    size = columns if rows is None else rows
    if array.ndim != dimensions or len(array) != size or array.size == 0:
        raise fail(name, wanted, got=f"an array of shape {array.shape}")
    sums = np.asarray(array.sum(axis=-1))
    if not np.isfinite(array).all() or array.min() < 0 or not np.allclose(sums, 1.0, atol=1e-6):
        got = (
            f"values from {array.min()} to {array.max()} and sums from {sums.min()} to {sums.max()}"
        )
        raise fail(name, wanted, got=got)
    array /= sums[..., None]
    return array


def _years(years: Any) -> tuple[int, int] | None:
    if years is None:
        return None
    wanted = "a pair (first, last) of years with last > first, or None"
    if not isinstance(years, Sequence) or isinstance(years, str) or len(years) != 2:
        raise fail("years", wanted, years)
    first, last = (_integer("years", year, lowest=0) for year in years)
    if last <= first:
        raise fail("years", wanted, years)
    return first, last
