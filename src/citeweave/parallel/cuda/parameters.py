"""Concentrations and propensities of a chain on a GPU: sums there, a few scalars here.

Auxiliary variables and all sums are drawn and added up on the device. What comes back a step is a
pair of numbers a level; its concentration is then drawn on the host from the chain's own generator
(`sampler/concentrations.py` has the algorithm).
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from citeweave.parallel.chain import _next_key
from citeweave.sampler.chain import Chain
from citeweave.sampler.random import standard_gamma, uniform

if TYPE_CHECKING:
    from citeweave.parallel.cuda.chain import CudaChain

__all__ = ["Draws"]

_MOST_STEPS = 16
_SMALLEST = 1e-8
_FIRST = 4
"""First place of the levels' sums in the device's report."""
_SUM_BLOCKS = 512
_SUM_THREADS = 256


class Draws:
    """The draws of a chain's parameters, given its counts on the device."""

    def __init__(self, chain: "CudaChain") -> None:
        self._chain = chain
        self._topic_levels: list[float] = []
        self._word_levels: dict[str, float] = {}

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

    def levels(self) -> tuple[float, ...]:
        """Mean concentration of each level, topic side root first, then the word side."""
        return (*self._topic_levels, *self._word_levels.values())

    def weigh(self, from_level: int | None = None) -> None:
        """Rebuild P, M and E; ``from_level`` is the lowest level that changed since."""
        chain = self._chain
        lowest = chain.citation_level if from_level is None else from_level
        starts = chain.layout.level_start
        for level in range(lowest, 0, -1):
            stand = level == from_level
            if level < chain.citation_level and not stand:
                first, last = (int(chain.node_segment[starts[level + i]]) for i in range(2))
                chain.run("sum_segments", first, last)
            chain.run("weigh_level", level, int(stand))
        threads = chain.device.size(1, 256)[1]
        room = 8 * threads
        if lowest > 0:
            columns = 2 * chain.settings.topics + 2
            parts = chain.groups * chain.citation_level
            chain.run("sum_columns", columns, parts, shared=room, blocks=columns, threads=256)
        chain.run("finish_sums", shared=room, blocks=1, threads=256)

    def add_up(self, begin: int, end: int, place: int) -> None:
        """Add up ``node_value`` into a place of the report."""
        chain = self._chain
        blocks, threads = chain.device.size(_SUM_BLOCKS, _SUM_THREADS)
        size = {"threads": _SUM_THREADS, "shared": 8 * threads}
        chain.run("sum_values", np.int64(begin), np.int64(end), blocks=_SUM_BLOCKS, **size)
        chain.run("sum_blocks", blocks, place, blocks=1, **size)

    def draw_concentrations(self) -> None:
        """Renew all concentrations, topic side root first."""
        chain = self._chain
        spec, arrays, random = chain.spec, chain.arrays, chain.host.random
        starts = [int(x) for x in chain.layout.level_start]
        n_levels = len(spec.topic_side)
        arrays["won"][...] = 0
        for level in range(n_levels):
            name = "gather_level" if level < spec.n_shared else "gather_documents"
            chain.run(name, _next_key(random), level, _FIRST + level)
            self.add_up(starts[level], starts[level + 1], _FIRST + level)
        phi, gamma, burst = (_FIRST + n_levels + i for i in range(3))
        topics = chain.settings.topics
        chain.run("gather_words", _next_key(random), phi, gamma, blocks=topics + 1, threads=256)
        self.add_up(0, topics, phi)
        if "document-topic" in self._word_levels:
            chain.run("gather_bursts", _next_key(random), burst, shared=chain.count_shared)
            self.add_up(0, chain.n_documents, burst)
        log_sums = chain.device.download(arrays["report"])
        won = chain.device.download(arrays["won"])
        shape0, rate0 = chain.settings.concentration_prior
        citation_level = chain.citation_level if chain.network_on else -1
        if chain.network_on:
            self.weigh()
        for level in range(n_levels):
            shape = shape0 + float(won[_FIRST + level])
            rate = rate0 - float(log_sums[_FIRST + level])
            if level > citation_level:
                beta = standard_gamma(random, shape) / rate
                arrays["topic_concentration"][starts[level] : starts[level + 1]] = beta
            else:
                beta = self._slice_draw(level, shape, rate)
            self._topic_levels[level] = beta
        for name, place in (("corpus", gamma), ("topic", phi), ("document-topic", burst)):
            if name not in self._word_levels:
                continue
            shape = shape0 + float(won[place])
            beta = standard_gamma(random, shape) / (rate0 - float(log_sums[place]))
            self._word_levels[name] = beta
            if name == "topic":
                arrays["topic_word_concentration"][...] = beta
            else:
                arrays["word_concentration"][0 if name == "corpus" else 1] = beta

    def _expected(self) -> float:
        """Read the expected number of citations, as last added up on the device."""
        report = self._chain.arrays["report"]
        return float(self._chain.device.download(report[:1])[0])

    def _weigh_beta(self, level: int, beta: float, shape: float, rate: float) -> float:
        """Set a level's concentration and give its log density with the citations' exponential."""
        chain = self._chain
        starts = chain.layout.level_start
        chain.arrays["topic_concentration"][int(starts[level]) : int(starts[level + 1])] = beta
        self.weigh(level)
        return (shape - 1.0) * math.log(beta) - rate * beta - self._expected()

    def _slice_draw(self, level: int, shape: float, rate: float) -> float:
        """Slice-sample Gamma(shape, rate) x exp(-E(beta)), stepping out and shrinking."""
        random = self._chain.host.random
        start = self._topic_levels[level]
        # P, M and E are those of the present concentrations
        height = (shape - 1.0) * math.log(start) - rate * start - self._expected()
        height += math.log(1.0 - uniform(random))
        width = math.sqrt(shape) / rate
        low = start - width * uniform(random)
        high = low + width
        steps_down = int(uniform(random) * _MOST_STEPS)
        for _ in range(steps_down):
            if low <= _SMALLEST or self._weigh_beta(level, low, shape, rate) < height:
                break
            low -= width
        for _ in range(_MOST_STEPS - 1 - steps_down):
            if self._weigh_beta(level, high, shape, rate) < height:
                break
            high += width
        low = max(low, _SMALLEST)
        while True:
            beta = low + uniform(random) * (high - low)
            if self._weigh_beta(level, beta, shape, rate) >= height or beta == start:
                return float(beta)
            if beta < start:
                low = beta
            else:
                high = beta

    def draw_propensities(self) -> None:
        """Draw all lambda+, then lambda-, then lambdaT, and bring P, M and E up to date."""
        chain = self._chain
        random = chain.host.random
        prior = tuple(np.float64(x) for x in chain.settings.propensity_prior)
        self.weigh()
        for of_citing in (1, 0):
            for level in range(chain.citation_level + 1):
                chain.run("rate_level", level, of_citing)
            chain.run("draw_propensities", _next_key(random), of_citing, *prior)
            self.weigh()
        chain.run(
            "count_citations",
            len(chain.layout.citing),
            shared=4 * chain.settings.topics,
            blocks=264,
            threads=256,
        )
        chain.run("draw_topic_scales", _next_key(random), *prior, blocks=1, threads=256)
        self.weigh(0)
