"""Fitted attributes, read from a result; absent if the model lacks the part they describe."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.engines.core.spec import ModelSpec
from citeweave.model.author_shares import beta_interval
from citeweave.model.groups import Groups
from citeweave.model.read_out import ReadOut
from citeweave.model.results import TOLD, Result
from citeweave.model.settling import Settlement

__all__ = ["FittedAttributes"]

_ONE_AUTHOR = "uses only first authors (authors='first')"
_NO_CATEGORIES = "has no latent categories (see 'categories')"


class FittedAttributes:
    """Attributes of `SCNTM` after `fit`; its docstring describes each of them."""

    _result: Result | None

    @property
    def _fitted(self) -> Result:
        result: Result | None = self.__dict__.get("_result")
        if result is None:
            raise AttributeError(
                "This SCNTM is not fitted yet; call fit(corpus), or citeweave.load(folder)."
            )
        return result

    def _estimate(self, name: str, lacks: str) -> np.ndarray:
        estimates = self._fitted.estimates
        if name not in estimates:
            raise AttributeError(
                f"The model {self._fitted.spec.name!r} {lacks}, so it has no '{name}_'."
            )
        return estimates[name]

    @property
    def doc_topic_(self) -> np.ndarray:
        """Topics theta' [D, K]."""
        return self._estimate("doc_topic", "has no documents")

    @property
    def doc_word_topic_(self) -> np.ndarray:
        """Topics theta [D, K]."""
        return self._estimate("doc_word_topic", "has only one document level (see 'doc_topic_')")

    @property
    def topic_word_(self) -> np.ndarray:
        """Words of topics phi [K, V]."""
        return self._estimate("topic_word", "has no topics")

    @property
    def background_(self) -> np.ndarray:
        """Words of the corpus gamma [V]."""
        return self._estimate("background", "has no corpus level on its word side")

    @property
    def topic_share_(self) -> np.ndarray:
        """Shares of topics mu [K]."""
        return self._estimate("topic_share", "has no topics")

    @property
    def topic_samples_(self) -> np.ndarray:
        """Number of kept samples in which each topic is in use [K]; 0 if it never is."""
        return self._estimate("topic_samples", "has no topics")

    @property
    def level_topic_(self) -> dict[str, np.ndarray]:
        """Topics of the nodes of every level between the corpus and the documents, by name."""
        levels = self._fitted.levels
        return {
            name: self._fitted.estimates[f"level{number}_topic"]
            for number, name in enumerate(levels, start=1)
        }

    @property
    def level_topic_sd_(self) -> dict[str, np.ndarray]:
        """Standard deviation of `level_topic_` over the kept samples; empty if it was not kept."""
        found = {
            name: self._fitted.estimates.get(f"level{number}_topic_sd")
            for number, name in enumerate(self._fitted.levels, start=1)
        }
        return {name: spread for name, spread in found.items() if spread is not None}

    @property
    def levels_(self) -> dict[str, Groups]:
        """The nodes of every level between the corpus and the documents, by name."""
        return self._fitted.levels

    @property
    def groups_(self) -> Groups:
        """The nodes that documents belong to, the rows of `group_topic_`."""
        levels = self._fitted.levels
        if not levels:
            raise AttributeError(f"The model {self._fitted.spec.name!r} has no groups.")
        return list(levels.values())[-1]

    @property
    def group_topic_(self) -> np.ndarray:
        """Topics of groups nu [B, K]."""
        level = self._fitted.spec.n_shared - 1
        return self._estimate(f"level{level}_topic", "has no groups")

    @property
    def topic_share_sd_(self) -> np.ndarray:
        """Standard deviation of `topic_share_` over the kept samples [K]."""
        return self._estimate("topic_share_sd", "kept no spread over samples in this run")

    @property
    def group_topic_sd_(self) -> np.ndarray:
        """Standard deviation of `group_topic_` over the kept samples [B, K]."""
        level = self._fitted.spec.n_shared - 1
        return self._estimate(f"level{level}_topic_sd", "kept no spread over samples in this run")

    @property
    def citing_topic_(self) -> np.ndarray:
        """Probabilities of y [E, K]."""
        return self._estimate("citing_topic", "has no citations")

    @property
    def cite_propensity_(self) -> np.ndarray:
        """Propensity to cite, lambda+ [D]."""
        return self._estimate("cite_propensity", "has no citations")

    @property
    def cited_propensity_(self) -> np.ndarray:
        """Propensity to be cited, lambda- [D]."""
        return self._estimate("cited_propensity", "has no citations")

    @property
    def topic_scale_(self) -> np.ndarray:
        """Strength of topics in citing, lambdaT [K]."""
        return self._estimate("topic_scale", "has no citations")

    @property
    def author_influence_(self) -> np.ndarray:
        """Sum of lambda- of each author's documents [n_authors]: by shares, or as first author."""
        return self._estimate("author_influence", "has no citations")

    @property
    def contribution_(self) -> np.ndarray:
        """Share of each author in each document [len(corpus.author_ids)]."""
        return self._estimate("contribution", _ONE_AUTHOR)

    @property
    def contribution_interval_(self) -> np.ndarray:
        """Interval that contains each of these shares with probability 0.9 [..., 2].

        The interval of the Beta distribution with the mean and variance of the kept samples.
        """
        mean, sd = self.contribution_, self._estimate("contribution_sd", _ONE_AUTHOR)
        return beta_interval(mean, sd)

    @property
    def labels_(self) -> np.ndarray:
        """Dominant topic of each document [D]; with a consensus of chains, its class."""
        of_documents = self._fitted.estimates.get("consensus", self.doc_topic_)
        return np.asarray(of_documents.argmax(axis=1))

    @property
    def consensus_(self) -> np.ndarray:
        """Probability of each class that the chains agree on [D, K]."""
        lacks = "was not combined by consensus of several chains"
        return self._estimate("consensus", lacks)

    @property
    def category_probability_(self) -> np.ndarray:
        """Probability of each category for each document [D, C], in the order of `groups_`."""
        return self._estimate("category", _NO_CATEGORIES)

    @property
    def category_share_(self) -> np.ndarray:
        """Share of the kept samples in which a document has each category [D, C]."""
        if "category_share" in self._fitted.estimates:
            return self._fitted.estimates["category_share"]
        return self.category_probability_

    @property
    def read_out_(self) -> ReadOut:
        """Evidence for the categories of a run with some labels, and its weights."""
        lacks = "has fewer than two labels of some category and therefore infers none"
        weights = self._estimate(f"{TOLD}weights", lacks)
        fields = (name for name in ReadOut._fields if name not in {"probability", "weights"})
        found = self._fitted.estimates
        parts = {name: found[f"{TOLD}{name}"] for name in fields if f"{TOLD}{name}" in found}
        return ReadOut(probability=self.category_probability_, weights=weights, **parts)

    @property
    def category_(self) -> np.ndarray:
        """Most probable category of each document [D], a row of `groups_`."""
        return np.asarray(self.category_probability_.argmax(axis=1))

    @property
    def category_agreements_(self) -> list[float]:
        """For each chain, the share of papers that have the same category in all chains together.

        Empty for a single chain, and with ``labels="some"``, where chains leave out different
        labels.
        """
        self._estimate("category", _NO_CATEGORIES)
        return list(self._fitted.category_agreements)

    @property
    def traces_(self) -> Mapping[str, np.ndarray]:
        """Traces by name [chains, iterations]."""
        return self._fitted.traces

    @property
    def level_names_(self) -> list[str]:
        """Names of the levels in `traces_["concentrations"]`."""
        return self._fitted.plan.level_names

    @property
    def acceptance_(self) -> float:
        """Mean acceptance of citing topics while citations were used; nan without citations."""
        name = self._fitted.spec.name
        if self._fitted.spec.citations is None:
            raise AttributeError(
                f"The model {name!r} has no citations, so it has no 'acceptance_'."
            )
        values = self.traces_["acceptance"]
        values = values[~np.isnan(values)]
        return float(values.mean()) if len(values) else float("nan")

    @property
    def n_iter_(self) -> int:
        """Iterations done."""
        return self._fitted.iterations

    @property
    def iterations_(self) -> int:
        """Planned iterations; fewer than `iterations` if the chains agreed earlier."""
        return self._fitted.plan.iterations

    @property
    def settlement_(self) -> Settlement | None:
        """Whether the chains agree, and why the run stopped when it did.

        None for an unfinished run, and for runs of early releases, which did not compare chains.
        """
        return self._fitted.settlement

    @property
    def device_(self) -> str:
        """Where the chains ran: "cpu" or "cuda"."""
        return self._fitted.plan.device

    @property
    def burn_in_(self) -> int:
        """Iterations before samples were kept."""
        return self._fitted.plan.burn_in

    @property
    def n_samples_(self) -> int:
        """Number of samples over which the estimates are averaged."""
        return self._fitted.samples

    @property
    def seed_(self) -> int:
        """The seed that was used."""
        return self._fitted.plan.seed

    @property
    def combination_(self) -> dict[str, Any]:
        """How chains were combined: how, best, likelihoods, scores, agreements, orders."""
        return self._fitted.combination._asdict()

    @property
    def corpus_(self) -> Corpus:
        """The corpus that the model was fitted to."""
        return self._fitted.corpus

    @property
    def held_out_(self) -> Mapping[str, np.ndarray]:
        """Data held out of the corpus before the fit, by name; see `SCNTM.fit`."""
        return self._fitted.held_out

    @property
    def spec_(self) -> ModelSpec:
        """The levels of the model, discounts included."""
        return self._fitted.spec

    @property
    def word_weight_(self) -> float:
        """The weight of words, as given or as chosen for the corpus."""
        return self._fitted.spec.word_weight

    @property
    def notes_(self) -> tuple[str, ...]:
        """Notes on the run, such as a checkpoint that was rejected."""
        return self._fitted.notes
