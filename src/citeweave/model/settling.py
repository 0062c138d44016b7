"""Have the chains of a run settled? The stopping rule of a fit, and its outcome.

Chains are compared by statistics that do not depend on the numbering of topics: the joint log
posterior and the concentrations, whose traces must have a split R-hat near 1 and enough effective
draws; the sizes of topics, in order; the words of topics, matched; and how often pairs of papers
share topics. All are computed over the latter half of the iterations since all parts of the
model are on. A single chain is compared with itself, half with half.

Hyperparameters drift slowly, by amounts that affect no reported figure: chains with the same topics
would fail for the third digit of a concentration. Traces are therefore blurred by amounts that do
not matter before they are compared (`POSTERIOR_BLUR`, `CONCENTRATION_BLUR`).
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import ndtri

from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.spec import ModelSpec
from citeweave.model.convergence import FEWEST_DRAWS, effective_sample_size, split_rhat
from citeweave.model.matching import GOOD_MATCH, match_topics
from citeweave.model.results import document_topics

__all__ = [
    "AIM",
    "BLOCK",
    "FIRST",
    "LOOK",
    "Agreement",
    "Check",
    "Settlement",
    "begins_anew",
    "judge",
    "judged_from",
    "out_of_reach",
]

AIM = 1.05
"""Required R-hat. 1.01 is meant for parameters reported to many digits; topics and shares are read
to two."""
ENOUGH = 25.0
"""Required effective draws of a trace, over all chains."""
POSTERIOR_BLUR = 0.05
"""Difference of the log posterior per word that does not matter (standard deviation)."""
CONCENTRATION_BLUR = 0.25
"""Share of a concentration that does not matter (standard deviation)."""
BLOCK = 50
"""Iterations between comparisons of chains."""
LOOK = 10
"""Iterations between samples of the topics, while chains are compared."""
FIRST = 4
"""Blocks before the first comparison; the latter half is two of them."""
ALIKE = 0.9
"""Required overlap of the sizes of topics, and correlation of pairs of papers."""
_HOPE = 2.0
"""Factor by which agreement may grow faster than it has so far."""
HEIGHT = "log posterior"
_PAIRS = 2000
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_SPARSE_DRAWS = 20
"""Traces with fewer draws, from engines that measure occasionally, need no effective draws."""


class Check(NamedTuple):
    """One comparison of the chains."""

    name: str
    value: float
    """R-hat, or agreement from 0 to 1."""
    aim: float
    passes: bool
    draws: float = math.nan
    """Effective draws of a trace."""

    @property
    def of_topics(self) -> bool:
        """Whether topics were compared, rather than traces."""
        return math.isnan(self.draws)

    @property
    def text(self) -> str:
        """The comparison in words.

        Examples
        --------
        >>> Check("log posterior", 1.3, 1.05, False, 12.0).text
        'R-hat of the log posterior is 1.30 (aim 1.05)'
        >>> Check("words of matched topics", 0.7, 0.9, False).text
        'agreement of the words of matched topics is 0.70 (aim 0.90)'
        """
        if self.of_topics:
            return f"agreement of the {self.name} is {self.value:.2f} (aim {self.aim:.2f})"
        if self.value <= self.aim and not self.passes:
            return f"the {self.name} has {self.draws:.0f} effective draws (aim {ENOUGH:.0f})"
        return f"R-hat of the {self.name} is {self.value:.2f} (aim {self.aim:.2f})"


class Settlement(NamedTuple):
    """Whether the chains of a run agree, and why it stopped when it did; stored in its manifest."""

    settled: bool
    stopped: str
    """``settled``, or what ended the run first: ``iterations``, ``minutes``, ``pace`` (chains would
    not agree in time), ``exactly``."""
    iteration: int
    """Iterations after which samples were kept."""
    chains: int
    checks: tuple[Check, ...] = ()

    @property
    def rhat(self) -> float:
        """The largest R-hat; nan if nothing was compared."""
        return max((check.value for check in self.checks if check.draws >= 0), default=math.nan)

    @property
    def open(self) -> tuple[Check, ...]:
        """What does not agree, the farthest first."""
        failed = [check for check in self.checks if not check.passes]
        return tuple(sorted(failed, key=lambda check: abs(check.value - check.aim), reverse=True))

    @property
    def steady(self) -> bool:
        """Whether all traces agree, regardless of the topics."""
        levels = [check.passes for check in self.checks if check.draws >= 0]
        return bool(levels) and all(levels)

    def as_json(self) -> dict[str, Any]:
        """Return the entry of a manifest; infinity, which JSON lacks, becomes None."""
        checks = [
            [_finite(part) if isinstance(part, float) else part for part in check]
            for check in self.checks
        ]
        return self._asdict() | {"checks": checks}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Read the output of `as_json`."""
        checks = (
            Check(name, math.inf if value is None else value, aim, passes, draws=_known(draws))
            for name, value, aim, passes, draws in content["checks"]
        )
        return cls(**(dict(content) | {"checks": tuple(checks)}))


class Agreement(NamedTuple):
    """Agreement of chains on topics at a doubling of the iterations (`out_of_reach`)."""

    done: int = 0
    """Iterations since all parts of the model are on; 0 if nothing was compared yet."""
    values: Mapping[str, float] = MappingProxyType({})
    """By the name of the comparison."""

    @classmethod
    def of(cls, done: int, checks: Sequence[Check]) -> Self:
        """Extract the comparisons of topics."""
        return cls(done, {check.name: check.value for check in checks if check.of_topics})


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _known(value: float | None) -> float:
    return math.nan if value is None else float(value)


def begins_anew(since: int) -> bool:
    """Whether sums of samples restart this many iterations after all parts of the model are on.

    They restart at 1, 2, 4, 8, ... blocks, so they cover at least one block and at most the latter
    half.

    Examples
    --------
    >>> [n for n in range(1, 1000) if begins_anew(n)]
    [50, 100, 200, 400, 800]
    """
    blocks, rest = divmod(since, BLOCK)
    return rest == 0 and blocks > 0 and blocks & (blocks - 1) == 0


def judged_from(joined: int, done: int) -> int:
    """Return the first iteration, from 0, of the latter half since all model parts are on."""
    return joined + max(done - joined, 0) // 2


def out_of_reach(before: Agreement, checks: Sequence[Check], *, done: int, most: int) -> bool:
    """Whether chains with stable log posteriors will not agree on topics in time.

    Agreement grows with the logarithm of the iterations, if at all. Twice the gain of the latest
    doubling, for each doubling left, is an upper estimate of what can be reached.

    Parameters
    ----------
    before : Agreement
        At the last doubling; ignored unless it was after half of the iterations.
    checks : sequence of Check
        Present comparisons.
    done, most : int
        Iterations since all parts of the model are on, and their maximum.

    Examples
    --------
    >>> height = Check("log posterior", 1.01, 1.05, True, 90.0)
    >>> now = Check("words of matched topics", 0.72, 0.9, False)
    >>> before = Agreement(200, {"words of matched topics": 0.71})
    >>> out_of_reach(before, [height, now], done=400, most=1600)
    True
    >>> before = Agreement(200, {"words of matched topics": 0.66})
    >>> out_of_reach(before, [height, now], done=400, most=1600)
    False
    """
    if 2 * before.done != done or not all(c.passes for c in checks if c.name == HEIGHT):
        return False
    doublings = math.log2(max(most / done, 1.0))

    def best(check: Check) -> float:
        gain = max(check.value - before.values.get(check.name, 0.0), 0.0)
        return check.value + _HOPE * gain * doublings

    return any(best(c) < c.aim for c in checks if c.of_topics and not c.passes)


def judge(
    spec: ModelSpec,
    level_names: Sequence[str],
    traces: Sequence[Mapping[str, np.ndarray]],
    sums: Sequence[Sums],
    window: slice,
    *,
    words: int,
) -> tuple[Check, ...]:
    """Compare the chains of a run.

    Parameters
    ----------
    spec : ModelSpec
    level_names : sequence of str
        Names of the concentrations in traces.
    traces : sequence of mapping
        Those of each chain.
    sums : sequence of Sums
        Sums of the latest samples of each chain; topics are not compared without them.
    window : slice
        Iterations to compare.
    words : int
        Number of tokens.
    """
    posterior = np.array([one["log_posterior"][window] for one in traces], np.float64)
    checks = [_compare(HEIGHT, posterior / max(words, 1), POSTERIOR_BLUR)]
    for i, name in enumerate(level_names):
        rows = np.log([one["concentrations"][window, i] for one in traces])
        checks.append(_compare(f"concentration of {name}", rows, CONCENTRATION_BLUR))
    known = [check for check in checks if check is not None]
    if len(sums) > 1 and all(int(one.samples[0]) for one in sums):
        known += _compare_topics(spec, sums)
    return tuple(known)


def _compare(name: str, rows: np.ndarray, blur: float) -> Check | None:
    """Compare one trace; None if it is too short."""
    rows = rows[:, np.isfinite(rows).all(axis=0)]
    if rows.shape[1] < FEWEST_DRAWS:
        return None
    rows = rows + blur * _noise(rows.shape)
    rhat = split_rhat(rows)
    draws = effective_sample_size(rows)
    enough = draws >= ENOUGH or rows.shape[1] < _SPARSE_DRAWS
    return Check(name, rhat, AIM, bool(rhat <= AIM and enough), draws)


def _noise(shape: tuple[int, ...]) -> np.ndarray:
    """Return values spread like a normal sample, the same on every machine."""
    places = np.arange(1, math.prod(shape) + 1) * _GOLDEN
    return np.asarray(ndtri(places % 1.0)).reshape(shape)


def _compare_topics(spec: ModelSpec, sums: Sequence[Sums]) -> list[Check]:
    """Compare every chain with the first: sizes and words of topics, and pairs of papers."""
    papers = [_rows_to_one(document_topics(spec, one)) for one in sums]
    sizes = [np.sort(paper.mean(axis=0))[::-1] for paper in papers]
    pairs = _sample_pairs(len(papers[0]))
    together = [(paper[pairs[0]] * paper[pairs[1]]).sum(axis=1) for paper in papers]
    share = papers[0].mean(axis=0)
    names = ("sizes of topics", "words of matched topics", "pairs of papers that share topics")
    worst = [1.0, 1.0, 1.0]
    for i in range(1, len(sums)):
        agreed = (
            1.0 - 0.5 * float(np.abs(sizes[i] - sizes[0]).sum()),
            match_topics(sums[0].topic_word.T, sums[i].topic_word.T, weights=share)[2],
            _correlation(together[0], together[i]),
        )
        worst = [min(old, new) for old, new in zip(worst, agreed, strict=True)]
    aims = (ALIKE, GOOD_MATCH, ALIKE)
    return [
        Check(name, value, aim, value >= aim)
        for name, value, aim in zip(names, worst, aims, strict=True)
    ]


def _rows_to_one(rows: np.ndarray) -> np.ndarray:
    values = np.asarray(rows, np.float64)
    return np.asarray(values / np.maximum(values.sum(axis=1, keepdims=True), 1e-300))


def _sample_pairs(papers: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw pairs of different papers, the same ones every time."""
    random = np.random.default_rng(0)
    first = random.integers(papers, size=_PAIRS)
    second = random.integers(max(papers - 1, 1), size=_PAIRS)
    return first, (second + (second >= first)) % papers


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Compute the correlation of two vectors; 1 if neither varies."""
    if np.ptp(one) == 0.0 or np.ptp(other) == 0.0:
        return float(np.allclose(one, other))
    return float(np.corrcoef(one, other)[0, 1])
