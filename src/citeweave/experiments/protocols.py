"""Protocols: what a task measures once its model is fitted, each with a name and a version.

The version is part of a task's fingerprint. Increase it whenever the numbers of a protocol change,
so that old results are not taken for new ones.
"""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from citeweave import evaluate
from citeweave.corpus import Corpus, Split
from citeweave.errors import CorpusError, ParameterError
from citeweave.evaluate.perplexity import hold_out_words, perplexity
from citeweave.evaluate.words import completion_words
from citeweave.experiments.folds import cut
from citeweave.experiments.likelihood import exponential_terms_near_one, log_likelihood
from citeweave.experiments.models import GPU, TFIDF, ModelChoice
from citeweave.experiments.tasks import Task
from citeweave.model import RunInterrupted

__all__ = ["PROTOCOLS", "Measured", "Protocol", "fold_in_methods", "measure"]


class Measured(NamedTuple):
    """A value, without the fields that its task has already.

    Examples
    --------
    >>> from citeweave.experiments import Measured
    >>> Measured("nmi", "train", 0.5, "dominant topics against categories").value
    0.5
    """

    measure: str
    where: str
    value: float
    protocol: str


class _Fitter(NamedTuple):
    """Fits a task's model to a corpus, and can be stopped."""

    task: Task
    threads: int | None
    device: str | None
    stop: threading.Event

    def __call__(self, corpus: Corpus) -> Any:
        choice = self.task.model
        device = None if self.device is None else choice.device(self.device, corpus.n_tokens)
        model = choice.build(seed=self.task.seed, threads=self.threads, device=device)
        if choice.is_scntm:
            return model.fit(corpus, stop=self.stop)
        return model.fit(corpus, progress=self._look)

    def _look(self, _: object) -> None:
        if self.stop.is_set():
            raise RunInterrupted("Stopped.")


@dataclass(frozen=True)
class Protocol:
    """A measurement protocol.

    Attributes
    ----------
    name : str
    version : int
        Increased with every change of its numbers.
    run : callable
        Returns the values of a task.
    defaults : mapping
        Its options and their default values.

    Examples
    --------
    >>> from citeweave.experiments import PROTOCOLS
    >>> PROTOCOLS["folds"].name, PROTOCOLS["folds"].version > 0
    ('folds', True)
    """

    name: str
    version: int
    run: Callable[[Task, Corpus, _Fitter, Mapping[str, Any]], list[Measured]]
    defaults: Mapping[str, Any]


def measure(
    task: Task,
    corpus: Corpus,
    *,
    threads: int | None = None,
    device: str | None = None,
    stop: threading.Event | None = None,
) -> list[Measured]:
    """Fit the model of a task and measure it.

    Parameters
    ----------
    task : Task
    corpus : Corpus
        The whole corpus that the task names.
    threads : int, optional
        For the chains of one model, and for the fold-in.
    device : {"auto", "cpu", "cuda"}, optional
        Device for chains, see `ModelChoice.device`; by default the model's own choice.
    stop : threading.Event, optional
        Set it to stop.

    Raises
    ------
    ParameterError
        The task's protocol or its options are unknown.
    RunInterrupted
        It was stopped.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.experiments import PROTOCOLS, Task, choose, measure
    >>> corpus = citeweave.example_corpus()
    >>> task = Task(
    ...     dataset="example",
    ...     corpus=corpus.fingerprint,
    ...     model=choose("louvain"),
    ...     protocol="whole",
    ...     version=PROTOCOLS["whole"].version,
    ... )
    >>> sorted({value.measure for value in measure(task, corpus)})
    ['adjusted_mutual_information', 'adjusted_rand', 'nmi', 'purity', 'topics_in_use']
    """
    protocol = PROTOCOLS.get(task.protocol)
    if protocol is None:
        raise ParameterError(
            f"There is no protocol {task.protocol!r}. Did you mean one of: {', '.join(PROTOCOLS)}?"
        )
    if task.version != protocol.version:
        raise ParameterError(
            f"The task '{task}' asks for version {task.version} of the protocol "
            f"'{protocol.name}', which is at version {protocol.version} here."
        )
    unknown = [name for name in task.options if name not in protocol.defaults]
    if unknown:
        raise ParameterError(
            f"The protocol '{protocol.name}' has no option {unknown[0]!r}. "
            f"Did you mean one of: {', '.join(protocol.defaults)}?"
        )
    fitter = _Fitter(task, threads, device, stop or threading.Event())
    return protocol.run(task, corpus, fitter, {**protocol.defaults, **task.options})


def _whole(task: Task, corpus: Corpus, fit: _Fitter, _options: Mapping[str, Any]) -> list[Measured]:
    """Cluster all documents of a corpus, by their categories if the model has latent ones."""
    model = fit(corpus)
    how = f"all documents and citations, {_training_labels(task.model)}"
    clusters = model.category_ if task.model.has_categories else model.labels_
    rows = _clustering(clusters, corpus, "whole", how)
    if task.model.is_scntm:
        rows.append(Measured("log_likelihood", "whole", log_likelihood(model), how))
    return rows + _chain(task.model, model, how)


def _folds(task: Task, corpus: Corpus, fit: _Fitter, options: Mapping[str, Any]) -> list[Measured]:
    """Fit to the training documents of a fold, and evaluate both parts."""
    split = cut(corpus, task.fold)
    model = fit(split.train)
    known = _training_labels(task.model)
    rows = _clustering(model.labels_, split.train, "train", known)
    rows += _chain(task.model, model, known)
    if not task.model.is_scntm:
        theta = model.transform(split.test, links=split.links.citing)
        clusters = np.asarray(theta).argmax(axis=1)
        how = f"all words and citations of training documents, {known}"
        rows += _clustering(clusters, split.test, "test", how)
        if task.model.uses_labels:  # its topics are the categories
            rows += _classification(clusters, split.test, how)
        return rows
    inside = perplexity(model)
    rows.append(Measured("perplexity", "train", inside.value, "in sample"))
    for labels in _ways(task.model, split, options):
        for method in fold_in_methods(options["method"]):
            rows += _folded_in(model, split, labels, method, options, fit.threads)
    return rows


def fold_in_methods(method: str | Sequence[str]) -> list[str]:
    """Return the requested methods of fold-in: one by name, or several in a list.

    Examples
    --------
    >>> fold_in_methods("paper"), fold_in_methods(["paper", "gibbs"])
    (['paper'], ['paper', 'gibbs'])
    """
    return [method] if isinstance(method, str) else list(method)


def _folded_in(
    model: Any,
    split: Split,
    labels: str,
    method: str,
    options: Mapping[str, Any],
    threads: int | None,
) -> list[Measured]:
    how = {
        "labels": labels,
        "method": method,
        "samples": options["samples"],
        "seed": 0,
        "threads": threads,
    }
    words = completion_words(split.train) if options["words"] is None else options["words"]
    tail = f"labels of test documents {labels}, {method} fold-in"
    rows = []
    scored = perplexity(model, split.test, words=words, links=split, **how)
    used = "title words" if words == "title" else f"{words:.0%} of each document's words"
    rows.append(
        Measured(
            "perplexity", "test", scored.value, f"estimated from {used}, others scored; {tail}"
        )
    )
    folded = model.fold_in(split.test, words="all", links=split, **how)
    rows += _clustering(folded.labels, split.test, "test", f"all words; {tail}")
    if labels == "hidden":
        rows += _classification(folded.category, split.test, f"all words; {tail}")
    return rows


def _classification(predicted: np.ndarray | None, test: Corpus, how: str) -> list[Measured]:
    """Compare inferred and true labels, for documents whose group implies a label.

    A document that belongs to an author (eta finite) gets no label; `labelled` is the share of
    documents that do.
    """
    if predicted is None:  # no group of the model is a category
        return []
    known = np.asarray(test.categories) >= 0
    both = known & (predicted >= 0)
    if not both.any():
        return []
    given, true = predicted[both], np.asarray(test.categories)[both]
    return [
        Measured("accuracy", "test", evaluate.accuracy(given, true), how),
        Measured("macro_f1", "test", evaluate.macro_f1(given, true), how),
        Measured("labelled", "test", float(both.sum() / known.sum()), how),
    ]


def _held_out_words(
    task: Task, corpus: Corpus, fit: _Fitter, options: Mapping[str, Any]
) -> list[Measured]:
    """Hold out words of training documents, fit, and score them; no word is used twice."""
    share = float(options["share"])
    without, held = hold_out_words(corpus, share=share, seed=0)
    model = fit(without)
    value = perplexity(model, held).value
    how = f"{share:.0%} of each document's words held out before fitting"
    return [Measured("perplexity", "train", value, how), *_chain(task.model, model, how)]


def _links(task: Task, corpus: Corpus, fit: _Fitter, options: Mapping[str, Any]) -> list[Measured]:
    """Hold out citations, fit, and test whether they score above other pairs.

    Negative pairs have the degrees of positive ones, so a document's propensities are only noise
    there: AUC is computed from topics, and separately from whole rates. When all papers are ranked
    for a citing one they differ in degree, and whole rates rank them. A model without citation
    rates is scored by the similarity of topics (`model_scores`).
    """
    seed = task.seed
    train, pairs = evaluate.hold_out_citations(corpus, share=float(options["share"]), seed=seed)
    negatives = evaluate.negative_pairs(corpus, pairs, each=int(options["negatives"]), seed=seed)
    how = (
        f"{options['share']:.0%} of citations held out, {options['negatives']} degree-matched "
        "negatives each"
    )
    chain: list[Measured] = []
    if task.model.kind == TFIDF:
        scores = topical = evaluate.tfidf_scores(train)
    else:
        model = fit(train)
        scores, _ = evaluate.model_scores(model)
        topical, _ = evaluate.model_scores(model, propensities=False)
        chain = _chain(task.model, model, how)
    found = evaluate.link_prediction(scores, train, pairs, negatives, k=tuple(options["k"]))
    matched = evaluate.auc(topical.pairs(pairs), topical.pairs(negatives))
    rows = [Measured("auc", "test", matched, how), Measured("auc_rates", "test", found.auc, how)]
    for name, values in (("precision", found.precision), ("recall", found.recall)):
        rows += [Measured(f"{name}@{k}", "test", v, how) for k, v in values.items()]
    return rows + chain


def _clustering(clusters: Any, corpus: Corpus, where: str, how: str) -> list[Measured]:
    """Compare with the categories, if there are any."""
    if not (np.asarray(corpus.categories) >= 0).any():
        return []
    scores = evaluate.clustering_scores(clusters, corpus.categories)
    names = ("purity", "nmi", "adjusted_rand", "adjusted_mutual_information")
    return [Measured(name, where, float(getattr(scores, name)), how) for name in names]


def _chain(choice: ModelChoice, model: Any, how: str) -> list[Measured]:
    """Return diagnostics of the chain, and where it ran."""
    found = {"topics_in_use": float(np.count_nonzero(model.topic_samples_))}
    if choice.is_scntm:
        verdict = model.settlement_
        found |= {
            "settled": float(verdict.settled),
            "rhat": float(verdict.rhat),
            "iterations": float(model.traces_["seconds"].shape[1]),
            "gpu": float(model.device_ == GPU),
        }
        if model.spec_.citations is not None:
            found["acceptance"] = float(model.acceptance_)
            found["near_one"] = exponential_terms_near_one(model)
    # chains of a few iterations have no R-hat yet
    return [
        Measured(name, "train", value, how) for name, value in found.items() if np.isfinite(value)
    ]


def _training_labels(choice: ModelChoice) -> str:
    if choice.uses_labels:
        return "labels of training documents used"
    return "labels never seen"


def _ways(choice: ModelChoice, split: Split, options: Mapping[str, Any]) -> Sequence[str]:
    """Return how labels of test documents are used: only models that use labels see them."""
    if not choice.uses_labels:
        return ("hidden",)
    if split.train.n_categories == 0:
        if split.train.n_authors and math.isfinite(float(choice.parameters.get("eta", 0))):
            return ("hidden",)  # eta then selects authors only
        raise CorpusError(
            f"The model {choice.name!r} takes labels (eta >= 1), and the corpus has none; use "
            "eta=0."
        )
    return tuple(options["labels"])


_FOLD_IN: dict[str, Any] = {
    "words": None,
    "labels": ["hidden", "seen"],
    "method": "paper",
    "samples": 500,
}

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        Protocol("whole", 3, _whole, {}),
        Protocol("folds", 2, _folds, _FOLD_IN),
        Protocol("held-out-words", 2, _held_out_words, {"share": 0.1}),
        Protocol("links", 3, _links, {"share": 0.1, "negatives": 5, "k": [10, 50]}),
    )
}
"""Protocols by name, each with its options and defaults."""
