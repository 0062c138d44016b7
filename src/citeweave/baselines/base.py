"""The base class of baselines: fit, place new documents, save, and load.

`citeweave.model.topic_model.TopicModel` is the interface that evaluation needs; `Baseline`
implements all of it except the fitting itself. docs/understand/baselines.md describes both.
"""

import os
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.storage import corpus_counts
from citeweave.errors import RunError
from citeweave.model.fitting import open_corpus
from citeweave.model.topic_model import Source
from citeweave.model.unseen import as_links
from citeweave.parameters import Parametrised, integer, parameter
from citeweave.runs.folder import RunFolder, check_target

__all__ = ["Baseline", "Fit", "Step"]


class Step(NamedTuple):
    """Progress of a fit: the unit, such as "restart", the number done, and the total.

    Examples
    --------
    >>> from citeweave.baselines import Step
    >>> Step("restart", 3, 10).done
    3
    """

    what: str
    done: int
    total: int


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted baseline: arrays and figures by name, in memory or read from a run folder."""

    estimates: Mapping[str, np.ndarray]
    """At least doc_topic and topic_word."""
    traces: Mapping[str, np.ndarray]
    """One value per iteration."""
    facts: Mapping[str, Any]
    """Figures that JSON can hold."""
    seed: int
    open_corpus: Callable[[], Corpus]
    source: str | None = None
    folder: Path | None = None
    held_out: Mapping[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def corpus(self) -> Corpus:
        """The corpus that the model was fitted to."""
        return self.open_corpus()


class Outcome(NamedTuple):
    """Result of a subclass's `_fit`."""

    estimates: Mapping[str, np.ndarray]
    traces: Mapping[str, np.ndarray]
    facts: Mapping[str, Any]


Report = Callable[[Step], object]


def seed_parameter() -> Any:
    """Declare the seed, which all baselines have."""
    return parameter(
        None,
        integer(0, none="a fresh one"),
        "Seed; the same seed gives the same result.",
        "The same seed gives the same estimates; `seed_` holds the seed that was used.",
    )


class Baseline(Parametrised, ABC):
    """A model that citeweave is compared with; subclasses implement the fit.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.baselines import Baseline, Louvain
    >>> model = Louvain(topics=3, seed=1).fit(citeweave.example_corpus())
    >>> isinstance(model, Baseline), model.labels_.shape
    (True, (80,))
    """

    kind: ClassVar[str]
    """Name on the command line and in run folders."""

    seed: int | None
    reads: frozenset[str] = frozenset({"words"})
    """Data from which topics of documents are estimated: any of "words", "links" and "labels"."""
    _state: Fit | None = None

    @property
    def name(self) -> str:
        """The model's name in `citeweave fit --model`."""
        return self.kind

    @abstractmethod
    def _fit(self, corpus: Corpus, seed: int, report: Report) -> Outcome:
        """Fit to a corpus with checked parameters."""

    @abstractmethod
    def _place(self, new: Corpus, links: np.ndarray) -> np.ndarray:
        """Return topics of new documents, given (new, training) pairs of citations."""

    def check_corpus(self, corpus: Corpus) -> None:
        """Refuse a corpus that lacks the data the model needs.

        Examples
        --------
        >>> from citeweave import Corpus
        >>> from citeweave.baselines import Louvain
        >>> Louvain().check_corpus(Corpus.from_lists(tokens=[["soil"], ["seed"]]))
        Traceback (most recent call last):
        citeweave.errors.CorpusError: Louvain clusters documents by their citations, ...
        """

    def fit(
        self,
        corpus: Source,
        *,
        out: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        progress: Report | None = None,
        held_out: Mapping[str, np.ndarray] | None = None,
    ) -> Self:
        """Fit the model to a corpus, or to the corpus in a folder.

        Parameters
        ----------
        corpus : Corpus or path
        out : path, optional
            Folder for the run, written when the fit is done.
        overwrite : bool
            Replace an existing run.
        progress : callable, optional
            Called with a `Step` at intervals.
        held_out : mapping of str to ndarray, optional
            Data held out of the corpus before the fit; stored with the model as `held_out_`.

        Raises
        ------
        ParameterError
            A parameter has a wrong value.
        CorpusError
            The corpus lacks the data the model needs.
        RunError
            The folder exists or cannot be written.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.baselines import Louvain
        >>> Louvain(topics=3, seed=1).fit(citeweave.example_corpus()).doc_topic_.shape
        (80, 3)
        """
        self.check_params()
        if out is not None:
            check_target(Path(out), overwrite=overwrite)
        given, source = open_corpus(corpus)
        self.check_corpus(given)
        seed = secrets.randbits(31) if self.seed is None else int(self.seed)
        begin = time.perf_counter()
        found = self._fit(given, seed, progress or (lambda _: None))
        self._state = Fit(
            estimates=dict(found.estimates),
            traces=dict(found.traces),
            facts=dict(found.facts) | {"seconds": round(time.perf_counter() - begin, 3)},
            seed=seed,
            open_corpus=lambda: given,
            source=source,
            held_out=dict(held_out or {}),
        )
        if out is not None:
            self.save(out, overwrite=overwrite)
        return self

    def fit_transform(self, corpus: Source, **options: Any) -> np.ndarray:
        """Fit and return `doc_topic_`; options are those of `fit`.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.baselines import Louvain
        >>> Louvain(topics=3, seed=1).fit_transform(citeweave.example_corpus()).shape
        (80, 3)
        """
        return self.fit(corpus, **options).doc_topic_

    def transform(self, new: Corpus, *, links: Any = None) -> np.ndarray:
        """Return the topics of new documents, with the fitted model held fixed.

        Parameters
        ----------
        new : Corpus
            Its words are matched by spelling; unknown ones are ignored.
        links : array-like of int, shape (n, 2), optional
            Citations as rows (new document, training document), for models that use links.

        Returns
        -------
        ndarray, shape (D_new, K)

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.baselines import PMTLM
        >>> corpus = citeweave.example_corpus()
        >>> model = PMTLM(topics=3, restarts=1, iterations=50, seed=1).fit(corpus)
        >>> model.transform(corpus.subset(range(5))).shape
        (5, 3)
        """
        return self._place(new, as_links(links, new, self.corpus_))

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Save the fitted model as a run folder, atomically; return its path.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.baselines import Louvain
        >>> folder = Louvain(topics=3, seed=1).fit(citeweave.example_corpus()).save("communities")
        >>> citeweave.load(folder).name
        'louvain'
        """
        state = self._fitted
        contents = {
            "kind": self.name,
            "parameters": self.get_params(),
            "seed": state.seed,
            "spec": {"name": self.name},
            "corpus": {
                "fingerprint": state.corpus.fingerprint,
                "path": state.source,
                "counts": corpus_counts(state.corpus),
            },
        }
        with RunFolder.create(folder, overwrite=overwrite, contents=contents) as run:
            run.store_corpus(state.corpus)
            run.store_held_out(state.held_out)
            run.copy_names(state.folder)
            run.finish(state.estimates, state.traces, state.facts)
        return run.path

    @classmethod
    def from_run(cls, run: RunFolder) -> Self:
        """Read a saved model; use `citeweave.load`, which finds the class.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.baselines import Louvain
        >>> model = Louvain(topics=3, seed=1).fit(citeweave.example_corpus(), out="louvain")
        >>> citeweave.load("louvain")
        Louvain(topics=3, seed=1)
        """
        if not run.is_complete():
            raise RunError(f"Files of the run '{run.path}' are missing or damaged; fit again.")
        model = cls(**run.manifest["parameters"])
        model._state = Fit(
            estimates=run.estimates(),
            traces=run.traces(),
            facts=run.manifest["result"],
            seed=int(run.manifest["seed"]),
            open_corpus=run.corpus,
            source=run.manifest["corpus"].get("path"),
            folder=run.path,
            held_out=run.held_out(),
        )
        return model

    @property
    def _fitted(self) -> Fit:
        if self._state is None:
            raise AttributeError(
                f"This {type(self).__name__} is not fitted yet; call fit(corpus), or "
                "citeweave.load(folder)."
            )
        return self._state

    @property
    def doc_topic_(self) -> np.ndarray:
        """Shares of topics in each document [D, K]."""
        return self._fitted.estimates["doc_topic"]

    @property
    def topic_word_(self) -> np.ndarray:
        """Words of topics [K, V]."""
        return self._fitted.estimates["topic_word"]

    @property
    def topic_share_(self) -> np.ndarray:
        """Mean share of each topic, documents weighted by their words [K]."""
        lengths = self.corpus_.lengths
        weights = lengths if lengths.any() else np.ones(len(lengths))
        share: np.ndarray = weights @ self.doc_topic_ / weights.sum()
        return share

    @property
    def topic_samples_(self) -> np.ndarray:
        """1 for each topic in which some document has a share, else 0 [K]."""
        used: np.ndarray = np.asarray(self.doc_topic_).max(axis=0) > 0
        return used.astype(np.int64)

    @property
    def labels_(self) -> np.ndarray:
        """Dominant topic of each document [D]."""
        labels: np.ndarray = self.doc_topic_.argmax(axis=1)
        return labels

    @property
    def corpus_(self) -> Corpus:
        """The corpus that the model was fitted to."""
        return self._fitted.corpus

    @property
    def seed_(self) -> int:
        """The seed that was used."""
        return self._fitted.seed

    @property
    def facts_(self) -> Mapping[str, Any]:
        """Figures of the fit by name, as the run's manifest holds them."""
        return self._fitted.facts

    @property
    def held_out_(self) -> Mapping[str, np.ndarray]:
        """Data held out of the corpus before the fit, by name."""
        return self._fitted.held_out
