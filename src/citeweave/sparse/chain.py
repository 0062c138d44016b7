"""Chains whose sweeps go over slots, one document after the other."""

from collections.abc import Mapping

import numpy as np

from citeweave.parallel.crew import Crew
from citeweave.parallel.world import new_changes
from citeweave.sampler.chain import Chain, Data, Settings
from citeweave.sampler.refreshing import is_refreshed
from citeweave.sampler.spec import ModelSpec
from citeweave.sampler.words import SWEEP
from citeweave.sparse.exponent import new_pending
from citeweave.sparse.guesses import (
    MOST_LISTED,
    choose_listed,
    export_guesses,
    make_citation_guesses,
    make_guesses,
    new_guesses,
    restore_guesses,
)
from citeweave.sparse.presence import mark_topics, new_presence
from citeweave.sparse.rates import gather_rates, new_rates
from citeweave.sparse.slots import new_slots
from citeweave.sparse.words import Sharing, word_sweep

__all__ = ["SparseChain"]


class SparseChain(Chain):
    """A sequential chain for many topics."""

    def __init__(
        self, spec: ModelSpec, data: Data, settings: Settings, *, seed: int, stream: int = 0
    ) -> None:
        super().__init__(spec, data, settings, seed=seed, stream=stream)
        topics, n_levels = settings.topics, len(spec.topic_side)
        n_words = data.n_words
        self.presence = new_presence(len(self.layout.parent), topics)
        self.word_presence = new_presence(n_words, topics)
        self.guesses = new_guesses(self.layout, spec.n_shared, n_words, topics)
        self.rates = new_rates(topics)
        self._slots = new_slots(topics, n_levels)
        self._pending = new_pending(n_levels, spec.n_shared)
        nobody = type(new_changes(1, 1, 1, 1))(*(a[0] for a in new_changes(1, 1, 1, 1)))
        self._sharing = Sharing((), nobody, new_presence(1, 1), new_presence(1, 1))
        longest = int(np.diff(self.layout.document_start).max(initial=1))
        self._before = np.zeros(longest, np.int16)
        self._made = False

    def _sweep_words(self, mode):
        if mode != SWEEP:
            tally = super()._sweep_words(mode)
            mark_topics(self.state.topics, self.presence, 0, len(self.layout.parent))
            return tally
        if not self._made or is_refreshed(self.iteration):
            self.refresh()
        mark_topics(self.state.topics, self.presence, 0, len(self.layout.parent))
        mark_topics(self.state.words, self.word_presence, 0, len(self.word_presence))
        if self.network_on:
            gather_rates(
                self.state.topics, self.state.parameters, self._exponent, self.rates
            )
        tally = np.zeros(7, np.int64)
        word_sweep(
            self.shape,
            self.layout,
            self.tables,
            self.state,
            self._cache,
            self._slots,
            self._pending,
            self.presence,
            self.word_presence,
            self.guesses,
            self.rates,
            self._exponent,
            self._sharing,
            self._before,
            np.uint64(0),
            np.array([0, self.n_documents, 1]),
            tally,
        )
        self.tally = tally
        if self.network_on:
            self._rebuild_exponent()
        return tally

    def refresh(self, most_listed=MOST_LISTED):
        choose_listed(self.layout, self.state.topics, self.spec.n_shared, self.guesses, most_listed)
        make_guesses(self.shape, self.state, self._cache, self.guesses)
        self._made = True
