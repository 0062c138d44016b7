"""Runs with labels for some papers: labels that chains leave out, and inference of categories.

If there are several chains, each leaves out a different part of the labels and samples the
categories of these papers as if they had none; the result shows how reliable its categories are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.engines.core.data import Data
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.spec import ModelSpec
from citeweave.model.evidence import Evidence, can_tell, make_evidence
from citeweave.model.groups import Tree, known_categories
from citeweave.model.parameters import Plan
from citeweave.model.read_out import ReadOut, first_categories, read_out, topic_evidence
from citeweave.model.results import document_topics

__all__ = ["FewLabels", "plan_labels"]

_STREAM = 2
"""Separates the random stream of parts from those of initial topics and categories."""


class FewLabels(NamedTuple):
    """The labels of a run, divided between its chains."""

    evidence: Evidence
    chains: int

    def part(self, chain: int) -> int | None:
        """Return the part of the labels that a chain leaves out; None if it uses all."""
        return None if self.chains == 1 else chain % len(self.evidence.parts)

    def data(self, data: Data, chain: int) -> Data:
        """Return the data of a chain, which also samples the papers whose labels it leaves out."""
        number = self.part(chain)
        if number is None:
            return data
        drawn = np.flatnonzero(self.evidence.seen(number) < 0)
        return data._replace(unlabelled=drawn.astype(np.int32))

    def first_categories(self, chain: int) -> np.ndarray:
        """Return the initial categories of a chain [D]."""
        return first_categories(self.evidence, self.part(chain))

    def read_out(self, spec: ModelSpec, sums: Sequence[Sums], corpus: Corpus) -> ReadOut:
        """Weigh the evidence of words, citations, authors and chains (one of ``sums`` each)."""
        found: dict[int, list[np.ndarray]] = {}
        for chain, own in enumerate(sums):
            number, samples = self.part(chain), float(own.samples[0])
            if number is not None:
                nu = own.nodes[1 : 1 + self.evidence.n_categories] / samples
                topics = document_topics(spec, own) / samples
                found.setdefault(number, []).append(topic_evidence(topics, nu))
        mean = {number: np.mean(several, axis=0) for number, several in found.items()}
        return read_out(self.evidence, corpus, mean)


def plan_labels(plan: Plan, corpus: Corpus, tree: Tree) -> FewLabels | None:
    """Divide the labels of a run; None if there are none, or too few to leave some out."""
    if not plan.spec.draws_categories:
        return None
    known = known_categories(corpus, plan.labels)
    if not can_tell(known, len(tree.levels[0])):
        return None
    rng = np.random.default_rng([plan.seed, 0, _STREAM])
    return FewLabels(make_evidence(corpus, known, rng), plan.chains)
