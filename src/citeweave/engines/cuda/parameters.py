"""Concentrations and propensities of a chain on a GPU: sums there, a few scalars here.

Auxiliary variables and all sums are drawn and added up on the device. Each step returns a pair of
numbers per level; its concentration is then drawn on the host from the chain's own generator
(`engines/core/concentrations.py` has the algorithm).
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from citeweave.engines.core.chain import Chain
from citeweave.engines.core.slice_sampling import MOST_STEPS, SLICE_WIDTH, SMALLEST
from citeweave.engines.cuda.memory import EXACT_LIMBS
from citeweave.engines.cuda.program import WARP, weigh_parts
from citeweave.engines.cuda.proposals import MARKED_BLOCKS
from citeweave.engines.cuda.scalars import peek_uniforms, standard_gamma, uniform
from citeweave.engines.threads.streams import next_key

if TYPE_CHECKING:
    from citeweave.engines.cuda.chain import CudaChain

__all__ = ["TRIALS", "DeviceDraws", "exact_total"]

_WIDTH = 32.0
"""Width of a slice's first interval, in standard deviations without citations: both its ends will
mostly lie outside the slice, so that the points to shrink to are known beforehand."""
TRIALS = 16
"""Values of a concentration that are tried at a time; they and their places as in the kernels."""
_TRIAL_PLACE = 48
_SUM_BLOCKS = 132
_SUM_THREADS = 256
_TRIAL_BLOCKS = 264


class DeviceDraws:
    """The draws of a chain's parameters, given its counts on the device."""

    def __init__(self, chain: "CudaChain") -> None:
        self._chain = chain
        self._topic_levels: list[float] = []
        self._word_levels: dict[str, float] = {}
        self._weighed = False
        self.units_due = True
        """Whether propensities have moved since the units of sums were chosen."""

    def read_levels(self) -> None:
        """Take the mean concentrations of levels from the host's state."""
        chain = self._chain
        values = Chain.concentrations(chain)
        n = len(chain.spec.topic_side)
        self._topic_levels = list(values[:n])
        starts = chain.layout.level_start
        for level in range(n):  # where all are the same, the value itself and not their mean
            shared = chain.host.parameters.topic_concentration[starts[level] : starts[level + 1]]
            if np.all(shared == shared[0]):
                self._topic_levels[level] = float(shared[0])
        names = (level.nodes for level in chain.spec.word_side)
        self._word_levels = dict(zip(names, values[n:], strict=True))
        self._weighed, self.units_due = False, True

    def levels(self) -> tuple[float, ...]:
        """Mean concentration of each level, topic side root first, then the word side."""
        return (*self._topic_levels, *self._word_levels.values())

    def weigh(self, *, topics_alone: bool = False) -> None:
        """Rebuild P, M and E; ``topics_alone`` where only lambdaT changed since."""
        chain = self._chain
        threads = chain.device.size(1, 256)[1]
        room = 8 * threads
        if not topics_alone and chain.proposals.marks_citations:
            self._weigh_marked()
        elif not topics_alone:
            self._begin_sums()
            chunks = -(-chain.settings.topics // min(threads, WARP))
            parts = chain.device.size(weigh_parts(chain.settings.topics), 256)[0]
            size = {"shared": room, "blocks": parts * chunks, "threads": 256}
            for level in range(chain.citation_level, 0, -1):
                if level < chain.citation_level:
                    self._inherit(level)
                chain.run("weigh_level", level, parts, **size)
            self._place_sums(chain.citation_level)
        chain.run("finish_sums", shared=room, blocks=1, threads=256)

    def _begin_sums(self) -> None:
        """Choose the units of the sums over nodes, by the largest propensities of all parts."""
        chain = self._chain
        chain.device.clear(chain.arrays["inherited"])
        if not self.units_due:
            return
        threads = chain.device.size(1, 1024)[1]
        chain.run("set_units", shared=8 * threads, blocks=1, threads=1024)
        if chain.exchange.size > 1:
            units = chain.exchange.gather(chain.device.download(chain.arrays["unit"]))
            chain.device.upload(chain.arrays["unit"], np.min(units, axis=0))
        self.units_due = False

    def _inherit(self, level: int) -> None:
        """Add up what children pass on to the nodes of a level."""
        chain = self._chain
        starts = chain.layout.level_start
        first, last = (int(chain.node_segment[starts[level + i]]) for i in range(2))
        chain.run("sum_segments", first, last)
        chain.complete_weights(level)

    def _place_sums(self, lowest: int) -> None:
        """Add up the sums of all parts, and put those of levels up to ``lowest`` into place."""
        self._chain.add_parts("whole_sum")
        self._chain.run("place_sums", lowest, blocks=16, threads=256)

    def _weigh_marked(self, lowest: int | None = None) -> None:
        """Weigh levels below mu, from ``lowest`` up, by the topics that nodes have."""
        chain = self._chain
        lowest = chain.citation_level if lowest is None else lowest
        chain.proposals.mark()
        self._begin_sums()
        room = 8 * (2 * chain.settings.topics + 2)
        for level in range(lowest, 0, -1):
            if level < chain.citation_level:
                self._inherit(level)
            chain.run("weigh_marked", level, shared=room, blocks=MARKED_BLOCKS, threads=256)
        self._place_sums(lowest)

    def weigh_again(self) -> None:
        """Rebuild P, M and E at the begin of a step, unless the last step left them right."""
        if not self._weighed:
            self.weigh()
        self._weighed = False

    def add_up(self, first: int, last: int) -> None:
        """Add up ranges of ``node_value``."""
        chain = self._chain
        blocks, threads = chain.device.size(_SUM_BLOCKS, _SUM_THREADS)
        size = {"threads": _SUM_THREADS, "shared": 8 * threads}
        blocks = max(blocks // (last - first), 1)  # of a range
        chain.run("sum_ranges", first, last, blocks, blocks=blocks * (last - first), **size)

    def take_totals(
        self, counted: str, *, ranges_alike: Sequence[int] = (), counts_alike: Sequence[int] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Take the exact sums of all ranges, and what kernels counted, both zero afterwards.

        Parameters
        ----------
        counted : str
            The array of counts.
        ranges_alike, counts_alike : sequence of int
            Places of what all parts of the chain have alike; the rest is added up.

        Returns
        -------
        totals : ndarray of float64 [ranges]
        counts : ndarray of int64
        """
        chain = self._chain
        names = ("exact", counted)
        limbs, counts = (chain.device.download(chain.arrays[name]).view(np.int64) for name in names)
        for name in names:
            chain.device.clear(chain.arrays[name])
        limbs = limbs.reshape(-1, EXACT_LIMBS)
        if chain.exchange.rank > 0:  # counted once
            limbs[list(ranges_alike)] = 0
            counts[list(counts_alike)] = 0
        both = chain.exchange.sum(np.concatenate([limbs.reshape(-1), counts]))
        limbs, counts = both[: limbs.size].reshape(limbs.shape), both[limbs.size :]
        return np.array([exact_total(row) for row in limbs]), counts

    def draw_concentrations(self) -> None:
        """Update all concentrations, topic side root first."""
        chain = self._chain
        random = chain.host.random
        n_levels = len(chain.spec.topic_side)
        key = next_key(random)  # every node has its own stream of it
        chain.run("gather_shared", key)
        chain.run("gather_documents", key)
        chain.run("gather_words", next_key(random), blocks=chain.settings.topics + 1, threads=256)
        if "document-topic" in self._word_levels:
            chain.run("gather_bursts", next_key(random), shared=chain.burst_shared)
        if chain.network_on:
            self.weigh()
        self.add_up(0, n_levels + 3)
        # mu and the word side are those of all parts
        alike = (0, n_levels, n_levels + 1)
        totals, won = self.take_totals("won", ranges_alike=alike, counts_alike=alike)
        shape0, rate0 = chain.settings.concentration_prior
        shapes = [shape0 + float(number) for number in won[: n_levels + 3]]
        rates = [rate0 - float(total) for total in totals[: n_levels + 3]]
        citation_level = chain.citation_level if chain.network_on else -1
        for level in range(n_levels):
            shape, rate = shapes[level], rates[level]
            if level > citation_level:
                beta = max(standard_gamma(random, shape) / rate, SMALLEST)
            else:
                beta = self._slice_draw(level, shape, rate)
            chain.run("set_level", level, np.float64(beta))
            if level < citation_level and not chain.proposals.marks_citations:
                chain.run("set_means", level)
            self._topic_levels[level] = beta
        for place, name in ((1, "corpus"), (0, "topic"), (2, "document-topic")):
            if name in self._word_levels:
                shape, rate = shapes[n_levels + place], rates[n_levels + place]
                self._word_levels[name] = max(standard_gamma(random, shape) / rate, SMALLEST)
        names = ("corpus", "topic", "document-topic")
        values = (np.float64(self._word_levels.get(name, 0.0)) for name in names)
        chain.run("set_words", *values, blocks=1, threads=256)

    def _densities(self, level: int, betas: list[float], shape: float, rate: float) -> list[float]:
        """Log densities of up to `TRIALS` concentrations, the citations' exponential included.

        P, M and the means of the level's parents must be those of all other concentrations.
        """
        chain = self._chain
        if chain.proposals.marks_citations:
            return [self._density_marked(level, beta, shape, rate) for beta in betas]
        tried = [np.float64(beta) for beta in betas]
        tried += [tried[-1]] * (TRIALS - len(tried))
        chunks = -(-chain.settings.topics // chain.device.size(1, 32)[1])
        parts, threads = chain.device.size(max(_TRIAL_BLOCKS // chunks, 1), 256)
        size = {"threads": 256, "shared": 8 * threads}
        if level > 0:
            chain.device.clear(chain.arrays["trial_sum"])
            chain.run("try_level", level, parts, *tried, blocks=parts * chunks, **size)
            chain.add_parts("trial_sum")
        chain.run("finish_trials", level, *tried, blocks=TRIALS, **size)
        report = chain.device.download(chain.arrays["report"])
        return [
            (shape - 1.0) * math.log(beta) - rate * beta - float(report[_TRIAL_PLACE + i])
            for i, beta in enumerate(betas)
        ]

    def _density_marked(self, level: int, beta: float, shape: float, rate: float) -> float:
        """Do the same for one concentration, which is set, by the topics that nodes have."""
        chain = self._chain
        chain.run("set_level", level, np.float64(beta))
        self._weigh_marked(level)
        chain.run("finish_sums", shared=8 * chain.device.size(1, 256)[1], blocks=1, threads=256)
        expected = float(chain.device.download(chain.arrays["report"])[0])
        return (shape - 1.0) * math.log(beta) - rate * beta - expected

    def _slice_draw(self, level: int, shape: float, rate: float) -> float:
        """Slice-sample Gamma(shape, rate) x exp(-E(beta)), stepping out and shrinking.

        Points are evaluated several at a time, before it is known whether they will be asked for;
        those that are not leave no trace, the generator's state included.
        """
        random = self._chain.host.random
        start = self._topic_levels[level]
        if not math.isfinite(rate):  # the check after the step reports it
            return start
        above = math.log(1.0 - uniform(random))
        one_by_one = self._chain.proposals.marks_citations
        at_once, wide = (1, SLICE_WIDTH) if one_by_one else (TRIALS, _WIDTH)
        width = wide * math.sqrt(shape) / rate
        low = start - width * uniform(random)
        high = low + width
        steps_down = int(uniform(random) * MOST_STEPS)
        downs = [low - i * width for i in range(steps_down + 1)]
        ups = [high + i * width for i in range(MOST_STEPS - steps_down)]
        known: dict[float, float] = {}

        def density(beta: float, ahead: list[float]) -> float:
            """Return a density, and compute those of points likely to be needed next."""
            if beta not in known:
                betas = [beta, *(x for x in ahead if x > SMALLEST and x not in known)][:at_once]
                known.update(zip(betas, self._densities(level, betas, shape, rate), strict=True))
            return known[beta]

        ends = [beta for beta in (low, high) if beta > SMALLEST]
        shrunk = _shrink(start, max(low, SMALLEST), high, random)
        height = density(start, [*ends, *shrunk]) + above
        down = up = 0
        while (
            down < steps_down
            and downs[down] > SMALLEST
            and density(downs[down], downs[down + 1 :]) >= height
        ):
            down += 1
        while up < len(ups) - 1 and density(ups[up], ups[up + 1 :]) >= height:
            up += 1
        low, high = max(downs[down], SMALLEST), ups[up]
        while True:
            beta = low + uniform(random) * (high - low)
            lower, upper = (beta, high) if beta < start else (low, beta)
            ahead = [] if beta in known else _shrink(start, lower, upper, random)
            if density(beta, ahead) >= height or beta == start:
                return float(beta)
            low, high = lower, upper

    def draw_propensities(self) -> None:
        """Draw all lambda+, then lambda-, then lambdaT, and bring P, M and E up to date."""
        chain = self._chain
        random = chain.host.random
        prior = tuple(np.float64(x) for x in chain.settings.propensity_prior)
        self.weigh()
        for of_citing in (1, 0):
            for level in range(chain.citation_level + 1):
                marked = level > 0 and chain.proposals.marks_citations
                chain.run("rate_marked" if marked else "rate_level", level, of_citing)
            chain.run("draw_propensities", next_key(random), of_citing, *prior)
            self.units_due = True
            self.weigh()
        chain.run(
            "count_citations",
            chain.part.n_citations,
            shared=4 * chain.settings.topics,
            blocks=264,
            threads=256,
        )
        chain.add_parts("topic_citations")
        chain.run("draw_topic_scales", next_key(random), *prior, blocks=1, threads=256)
        self.weigh(topics_alone=True)
        self._weighed = True


def exact_total(limbs: np.ndarray) -> float:
    """Return an exact sum (int64 [4]: whole, 2^-30ths, 2^-60ths, terms that are no numbers).

    Examples
    --------
    >>> exact_total(np.array([-3, -(1 << 29), 0, 0]))
    -3.5
    """
    whole, high, low, faulty = (int(limb) for limb in limbs)
    return math.nan if faulty else ((whole << 60) + (high << 30) + low) / (1 << 60)


def _shrink(start: float, low: float, high: float, random: np.ndarray) -> list[float]:
    """List the points that a slice's interval will shrink to for as long as none is taken."""
    points = []
    for share in peek_uniforms(random, TRIALS):
        beta = low + share * (high - low)
        points.append(beta)
        low, high = (beta, high) if beta < start else (low, beta)
    return points
