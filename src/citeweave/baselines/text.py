"""Adapters of other packages' topic models of words: tomotopy's LDA and HDP, scikit-learn's LDA.

Each is fitted by its own package (the extra ``benchmark``). New documents are placed by one method
for all of them, which needs only the contents of a run folder: the topics' words and the Dirichlet
prior of a document's topics.
"""

import warnings
from importlib import import_module
from typing import Any

import numpy as np

from citeweave.baselines._graph_kernels import place_words
from citeweave.baselines.base import Baseline, Outcome, Report, Step, seed_parameter
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError, MissingDependencyError
from citeweave.installing import install_extra
from citeweave.model.unseen import count_words
from citeweave.parameters import declared, integer, number, parameter

__all__ = ["SklearnLDA", "TomotopyHDP", "TomotopyLDA"]

_PLACE_STEPS = 200
_POSITIVE = number(0.0, above=True)
_ROUNDS = 20  # parts into which training is divided, to report progress


def _import(module: str, package: str) -> Any:
    try:
        # not ours to fix; if warnings are errors, tomotopy takes its own as a sign that its
        # compiled part is missing
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(module)
    except ImportError as error:
        absent = getattr(error, "name", None) == module.split(".", maxsplit=1)[0]
        state = "is not installed" if absent else f"cannot be imported ({error})"
        raise MissingDependencyError(
            f"This model is fitted by {package}, which {state}: {install_extra('benchmark')}"
        ) from error


class _WordModel(Baseline):
    """A model of words only."""

    def check_corpus(self, corpus: Corpus) -> None:
        """Refuse a corpus without words."""
        if corpus.n_tokens == 0:
            raise CorpusError(
                f"The corpus has no words, and {type(self).__name__} is a model of words alone."
            )

    def _place(self, new: Corpus, links: np.ndarray) -> np.ndarray:  # noqa: ARG002 (no links here)
        """Estimate topics from the words, with the fitted topics held fixed."""
        counts = count_words(new, self.corpus_)
        prior = np.array(self._fitted.estimates["prior"], dtype=np.float64)
        out = np.empty((new.n_documents, len(prior)))
        place_words(
            counts.indptr.astype(np.int64),
            counts.indices.astype(np.int64),
            counts.data.astype(np.float64),
            np.ascontiguousarray(self.topic_word_.T, dtype=np.float64),
            prior,
            _PLACE_STEPS,
            out,
        )
        return out


class _Tomotopy(_WordModel):
    """Base class of tomotopy's LDA and HDP: pass documents, train in parts, read results."""

    iterations: int

    def _new_model(self, tomotopy: Any, seed: int) -> Any:
        raise NotImplementedError

    def _fit(self, corpus: Corpus, seed: int, report: Report) -> Outcome:
        tomotopy = _import("tomotopy", "tomotopy")
        model = self._new_model(tomotopy, seed)
        names = np.array([str(word) for word in range(corpus.vocabulary_size)])
        filled = np.flatnonzero(corpus.lengths > 0)
        for d in filled.tolist():
            model.add_doc(names[corpus.tokens[corpus.offsets[d] : corpus.offsets[d + 1]]].tolist())
        total = int(self.iterations)
        done = 0
        for number_ in range(1, _ROUNDS + 1):
            step = total * number_ // _ROUNDS - done
            if step:
                # one worker, so that the seed determines the draws
                model.train(step, workers=1, show_progress=False)
                done += step
                report(Step("iteration", done, total))
        live = _live_topics(model)
        topic_word = np.zeros((len(live), corpus.vocabulary_size))
        used = np.array([int(word) for word in model.used_vocabs])
        for row, k in enumerate(live):
            topic_word[row, used] = model.get_topic_word_dist(k)
        shares = np.array([document.get_topic_dist() for document in model.docs])[:, live]
        shares = shares / shares.sum(axis=1, keepdims=True)
        doc_topic = np.tile(shares.mean(axis=0), (corpus.n_documents, 1))
        doc_topic[filled] = shares
        facts = {
            "iterations": total,
            "topics_in_use": len(live),
            "log_likelihood_per_word": float(model.ll_per_word),
            "tomotopy": str(tomotopy.__version__),
        }
        estimates = {
            "doc_topic": doc_topic,
            "topic_word": topic_word / topic_word.sum(axis=1, keepdims=True),
            "prior": self._prior(model, shares),
        }
        return Outcome(estimates, {}, facts)

    def _prior(self, model: Any, shares: np.ndarray) -> np.ndarray:
        raise NotImplementedError


@declared
class TomotopyLDA(_Tomotopy):
    """Latent Dirichlet allocation of tomotopy, by collapsed Gibbs sampling.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.baselines import TomotopyLDA
    >>> model = TomotopyLDA(topics=3, iterations=20, seed=1).fit(citeweave.example_corpus())
    >>> model.topic_word_.shape
    (3, 150)
    """

    kind = "tomotopy-lda"

    topics: int = parameter(20, integer(1), "Number of topics.")
    iterations: int = parameter(1000, integer(1), "Gibbs iterations.")
    alpha: float = parameter(
        0.1,
        _POSITIVE,
        "Initial Dirichlet prior of documents' topics, which tomotopy then fits.",
    )
    eta: float = parameter(0.01, _POSITIVE, "Dirichlet prior of topics' words.")
    seed: int | None = seed_parameter()

    def _new_model(self, tomotopy: Any, seed: int) -> Any:
        return tomotopy.LDAModel(k=self.topics, alpha=self.alpha, eta=self.eta, seed=seed)

    def _prior(self, model: Any, shares: np.ndarray) -> np.ndarray:  # noqa: ARG002 (HDP's needs it)
        return np.array(model.alpha, dtype=np.float64)


@declared
class TomotopyHDP(_Tomotopy):
    """Hierarchical Dirichlet process of tomotopy, which infers the number of topics.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.baselines import TomotopyHDP
    >>> model = TomotopyHDP(topics=3, iterations=20, seed=1).fit(citeweave.example_corpus())
    >>> model.doc_topic_.shape[0]
    80
    """

    kind = "tomotopy-hdp"

    topics: int = parameter(
        20, integer(2), "Initial number of topics; more or fewer may be in use at the end."
    )
    iterations: int = parameter(1000, integer(1), "Gibbs iterations.")
    alpha: float = parameter(0.1, _POSITIVE, "Concentration of documents.")
    eta: float = parameter(0.01, _POSITIVE, "Dirichlet prior of topics' words.")
    gamma: float = parameter(0.1, _POSITIVE, "Concentration of the corpus.")
    seed: int | None = seed_parameter()

    def _new_model(self, tomotopy: Any, seed: int) -> Any:
        return tomotopy.HDPModel(
            initial_k=self.topics, alpha=self.alpha, eta=self.eta, gamma=self.gamma, seed=seed
        )

    def _prior(self, model: Any, shares: np.ndarray) -> np.ndarray:
        return np.asarray(float(model.alpha) * shares.mean(axis=0))


@declared
class SklearnLDA(_WordModel):
    """Latent Dirichlet allocation of scikit-learn, by variational Bayes on the whole corpus.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.baselines import SklearnLDA
    >>> model = SklearnLDA(topics=3, iterations=5, seed=1).fit(citeweave.example_corpus())
    >>> model.topic_word_.shape
    (3, 150)
    """

    kind = "sklearn-lda"

    topics: int = parameter(20, integer(1), "Number of topics.")
    iterations: int = parameter(100, integer(1), "Passes over the corpus.")
    seed: int | None = seed_parameter()

    def _fit(self, corpus: Corpus, seed: int, report: Report) -> Outcome:
        decomposition = _import("sklearn.decomposition", "scikit-learn")
        model = decomposition.LatentDirichletAllocation(
            n_components=self.topics,
            max_iter=int(self.iterations),
            learning_method="batch",
            random_state=seed,
        )
        shares = model.fit_transform(count_words(corpus))
        report(Step("iteration", int(self.iterations), int(self.iterations)))
        weights = model.components_
        estimates = {
            "doc_topic": np.asarray(shares),
            "topic_word": weights / weights.sum(axis=1, keepdims=True),
            "prior": np.full(len(weights), float(model.doc_topic_prior_)),
        }
        facts = {
            "iterations": int(model.n_iter_),
            "scikit-learn": str(_import("sklearn", "scikit-learn").__version__),
        }
        return Outcome(estimates, {}, facts)


def _live_topics(model: Any) -> list[int]:
    """Return the topics that have any words; in LDA, all of them."""
    if not hasattr(model, "is_live_topic"):
        return list(range(model.k))
    return [k for k in range(model.k) if model.is_live_topic(k)]
