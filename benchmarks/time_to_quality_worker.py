"""One system on one corpus, judged as it goes: a process of `benchmarks.time_to_quality`.

Started with one JSON argument; writes a line of JSON for each point to standard output. Time is
processor time. The clock runs while a system makes its first state and iterates, and stops while
the system is judged; reading the corpus and compiling kernels are left out.
"""

# ruff: noqa: PLC0415  tomotopy is an extra
from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from citeweave import SCNTM, simulate
from citeweave.baselines._graph_kernels import place_words
from citeweave.corpus import Corpus
from citeweave.engines.core.data import Request
from citeweave.engines.core.estimates import add_sample, new_sums, take_means
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.dense.words import ONE_BY_ONE
from citeweave.engines.staged import open_chain
from citeweave.evaluate.coherence import npmi_coherence
from citeweave.model.groups import build_tree
from citeweave.model.parameters import make_plan
from citeweave.model.unseen import count_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from citeweave.engines.protocol import RunningChain

__all__ = ["Found", "Held", "judge", "new_system", "run_points"]

BEFORE, AFTER = "citeweave before", "citeweave after"
TOMOTOPY = {"tomotopy LDA": "lda", "tomotopy HDP": "hdp-few"}
COMMON_PRIOR = 0.1
"""Dirichlet parameter of every topic where all systems' documents are placed alike: tomotopy's."""
_COMMON_STEPS = 200


class Held(NamedTuple):
    """Words taken out of some documents: an entry a token."""

    document: np.ndarray
    """int64 [tokens]."""
    word: np.ndarray
    """int64 [tokens]."""

    def save(self, path: Path) -> None:
        """Write the words for the processes of the systems."""
        np.savez(path, document=self.document, word=self.word)

    @classmethod
    def load(cls, path: Path) -> Held:
        """Read what `save` wrote."""
        with np.load(path) as stored:
            return cls(stored["document"], stored["word"])


class Found(NamedTuple):
    """What a system has learned by now: its present sample, no mean over several."""

    topic_word: np.ndarray
    """float64 [topics in use, words]: phi."""
    chance: np.ndarray
    """float64 [held-out tokens]: what the system itself gives each."""
    whole: bool = True
    """Whether all parts of the model have joined."""


class Learner(Protocol):
    """What can be run and judged."""

    def run(self, iterations: int) -> None:
        """Go on so many iterations."""

    def look(self, held: Held) -> Found:
        """Return the present topics, and how likely they make words held out."""


class _TokenByToken(DenseChain):
    """A chain as it was before tokens of one word moved together."""

    def sweep_words(self) -> None:
        """Visit every token, and nothing else."""
        self.walk_words(ONE_BY_ONE)


class Citeweave:
    """One chain of the whole SCNTM with the stages that `fit` would give it.

    Parameters
    ----------
    corpus : Corpus
    topics, seed : int
    iterations : int
        Length of the run; old runs let citations join at its half.
    old : bool
        Stages and moves of earlier releases: burstiness at once, citations at the half, every token
        alone.
    """

    def __init__(
        self, corpus: Corpus, *, topics: int, seed: int, iterations: int, old: bool
    ) -> None:
        stages = {"network_from": iterations // 2, "burst_from": 0} if old else {}
        model = SCNTM(
            topics=topics, iterations=iterations, exactly=True, chains=1, seed=seed, **stages
        )
        plan = make_plan(model.get_params())
        data = build_tree(corpus, plan.spec, eta=plan.eta, unknown=plan.unknown).data
        self._request = Request(plan.spec, data, plan.settings, plan.seed)
        self._kind = _TokenByToken if old else DenseChain
        self._chain: RunningChain | None = None

    @property
    def chain(self) -> RunningChain:
        """The chain; made, and its first topics drawn, when it is first asked for."""
        if self._chain is None:
            self._chain = open_chain(self._kind, self._request)
            self._chain.start()
        return self._chain

    def run(self, iterations: int) -> None:
        """Step the chain."""
        for _ in range(iterations):
            self.chain.step()

    def look(self, held: Held) -> Found:
        """Score words by theta and phi', which holds the document's own words, once it is in."""
        # topics of citations are not needed, and would be the most of the work
        sums = new_sums(self.chain)
        sums = sums._replace(citing=np.zeros((0, sums.topic_word.shape[1]), np.float32))
        add_sample(self.chain, sums)
        means = take_means(sums)
        theta = means.documents[-1].astype(np.float64)
        used = means.topic_samples > 0
        topic_word = means.topic_word.T
        bursting = len(self.chain.state.assignments.burst_table) > 0
        if bursting:
            chance = _bursty_chance(self.chain, theta, topic_word, held)
        else:
            chance = _plain_chance(theta, topic_word, held)
        return Found(topic_word[used], chance, bursting and self.chain.network_on)


def _plain_chance(theta: np.ndarray, topic_word: np.ndarray, held: Held) -> np.ndarray:
    """Return sum_k theta_dk phi_kw of each token held out."""
    return np.einsum("nk,kn->n", theta[held.document], topic_word[:, held.word])


def _bursty_chance(
    chain: RunningChain, theta: np.ndarray, topic_word: np.ndarray, held: Held
) -> np.ndarray:
    """Return sum_k theta_dk phi'_dkw of each token held out (eq:recover_vector at phi').

    phi'_dkw = (c_dkw - alpha t_dkw + (beta + alpha T_dk) phi_kw) / (beta + C_dk): each token of the
    document adds its part to the first two, whatever its place.
    """
    layout, state = chain.layout, chain.state
    n_documents, n_topics = theta.shape
    alpha = state.parameters.word_discount[2]
    beta = state.parameters.word_concentration[1]
    document = np.repeat(np.arange(n_documents), np.diff(layout.document_start))
    opened = state.assignments.burst_table.astype(np.float64)
    cell = document * n_topics + state.assignments.topic
    customers, tables = (
        np.bincount(cell, weights, n_documents * n_topics).reshape(theta.shape)
        for weights in (None, opened)
    )
    scaled = theta / (beta + customers)
    fresh = _plain_chance(scaled * (beta + alpha * tables), topic_word, held)
    # bits of one word at one topic of a document count by their sum alone, so tokens may be added
    own = (1.0 - alpha * opened) * scaled.ravel()[cell]
    n_words = topic_word.shape[1]
    seen, place = np.unique(document * n_words + layout.word, return_inverse=True)
    mass = np.bincount(place, own, len(seen))
    wanted = held.document * n_words + held.word
    found = np.minimum(np.searchsorted(seen, wanted), len(seen) - 1)
    return fresh + np.where(seen[found] == wanted, mass[found], 0.0)


class Tomotopy:
    """LDA or HDP of tomotopy, loaded and trained as `benchmarks.sampler` does it."""

    def __init__(self, path: Path, *, model: str, topics: int, seed: int) -> None:
        from benchmarks.sampler_worker import Tomotopy as Timed

        self._timed = Timed()
        job = {"corpus": path, "model": model, "topics": topics, "seed": seed, "threads": 1}
        self._timed.load(job)
        self._lengths = Corpus.load(path).lengths
        self._n_words = Corpus.load(path).vocabulary_size

    def run(self, iterations: int) -> None:
        """Train."""
        self._timed.run(iterations)

    def look(self, held: Held) -> Found:
        """Score words by theta and phi of tomotopy.

        HDP's own document distributions are bare counts, in which a topic that a document lacks
        has no chance: alpha of the corpus' shares is added, as its model has it.
        """
        model: Any = self._timed.model
        hierarchical = hasattr(model, "is_live_topic")
        live = [k for k in range(model.k) if not hierarchical or model.is_live_topic(k)]
        topic_word = np.zeros((len(live), self._n_words))
        used = [int(name[1:]) for name in model.used_vocabs]
        for row, k in enumerate(live):
            topic_word[row, used] = model.get_topic_word_dist(k)
        theta = np.array([document.get_topic_dist() for document in model.docs])[:, live]
        if hierarchical:
            counts = theta * self._lengths[:, None]
            counts += float(model.alpha) * counts.sum(axis=0) / counts.sum()
            theta = counts
        theta = theta / theta.sum(axis=1, keepdims=True)
        return Found(topic_word, _plain_chance(theta, topic_word, held))


def new_system(name: str, path: Path, *, topics: int, seed: int, iterations: int) -> Learner:
    """Make a system by its name, on a saved corpus."""
    if name in TOMOTOPY:
        return Tomotopy(path, model=TOMOTOPY[name], topics=topics, seed=seed)
    corpus = Corpus.load(path)
    old = name == BEFORE
    return Citeweave(corpus, topics=topics, seed=seed, iterations=iterations, old=old)


def judge(found: Found, corpus: Corpus, held: Held) -> dict[str, Any]:
    """Measure topics and predictions of a system, by the same functions for all.

    Parameters
    ----------
    found : Found
    corpus : Corpus
        The training corpus, on which words are counted and documents are placed.
    held : Held
    """
    documents, place = np.unique(held.document, return_inverse=True)
    counts = count_words(corpus.subset(documents))
    prior = np.full(len(found.topic_word), COMMON_PRIOR)
    theta = np.empty((len(documents), len(prior)))
    place_words(
        counts.indptr.astype(np.int64),
        counts.indices.astype(np.int64),
        counts.data.astype(np.float64),
        np.ascontiguousarray(found.topic_word.T),
        prior,
        _COMMON_STEPS,
        theta,
    )
    common = _plain_chance(theta, found.topic_word, Held(place, held.word))
    return {
        "whole": found.whole,
        "topics": len(found.topic_word),
        "coherence": round(float(npmi_coherence(found.topic_word, corpus).mean()), 4),
        "perplexity": round(_perplexity(found.chance), 2),
        "perplexity by phi": round(_perplexity(common), 2),
    }


def _perplexity(chance: np.ndarray) -> float:
    return float(np.exp(-np.log(chance).mean()))


def run_points(
    system: Learner, corpus: Corpus, held: Held, points: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Run a system on, and judge it with the clock stopped after each number of iterations."""
    seconds, done = 0.0, 0
    for point in points:
        began = time.process_time()
        system.run(point - done)
        seconds += time.process_time() - began
        done = point
        row = {"iteration": point, "seconds": round(seconds, 3)}
        yield row | judge(system.look(held), corpus, held)


def warm_up() -> None:
    """Compile, or load, every kernel that a chain and its judgement need."""
    corpus = simulate(documents=30, vocabulary=50, topics=3, citations=60, seed=1).corpus
    held = Held(np.zeros(1, np.int64), corpus.tokens[:1].astype(np.int64))
    for old in (True, False):
        system = Citeweave(corpus, topics=3, seed=1, iterations=16, old=old)
        list(run_points(system, corpus, held, (1, 16)))


def main() -> None:
    """Run one system and write its points."""
    job = json.loads(sys.argv[1])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    path, points = Path(job["corpus"]), job["points"]
    warm_up()
    system = new_system(
        job["system"], path, topics=job["topics"], seed=job["seed"], iterations=points[-1]
    )
    corpus, held = Corpus.load(path), Held.load(Path(job["held"]))
    for row in run_points(system, corpus, held, points):
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
