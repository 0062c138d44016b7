"""The estimator, with scikit-learn's conventions for parameters and fitted attributes."""

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from citeweave.corpus import Corpus
from citeweave.model.attributes import FittedAttributes
from citeweave.model.fitting import Announce, resume_run, run_model
from citeweave.model.fold_in import fold_in
from citeweave.model.folded import FoldIn
from citeweave.model.notebook import model_html
from citeweave.model.parameters import Plan, make_plan, with_lengths
from citeweave.model.results import Result
from citeweave.model.runner import Progress
from citeweave.model.stored import load_result, save_result
from citeweave.parameters import declared
from citeweave.parameters.scntm import SCNTMParameters

__all__ = ["SCNTM", "fit_planned", "load", "resume"]

_Model = TypeVar("_Model", bound="SCNTM")


@declared
class SCNTM(SCNTMParameters, FittedAttributes):
    """Supervised citation network topic model, and the simpler models it contains.

    Attributes
    ----------
    doc_topic_ : ndarray, shape (D, K)
        theta', the topics of each document as seen by citations (for a model with one document
        level, that level; for ``np-atm``, the mean nu of the authors chosen by its words).
    doc_word_topic_ : ndarray, shape (D, K)
        theta, the topics of each document as seen by its words.
    topic_word_ : ndarray, shape (K, V)
        phi.
    background_ : ndarray, shape (V,)
        gamma.
    topic_share_ : ndarray, shape (K,)
        mu, over the topics in use.
    group_topic_ : ndarray, shape (B, K)
        nu, one row for each of `groups_`.
    groups_ : Groups
        Kind, name and number of documents of each group.
    citing_topic_ : ndarray, shape (E, K)
        Probability that each topic is the topic of a citation, one row for each of
        ``corpus.citations``.
    cite_propensity_, cited_propensity_ : ndarray, shape (D,)
        lambda+ and lambda-, each with mean 1.
    topic_scale_ : ndarray, shape (K,)
        lambdaT on the corresponding scale.
    author_influence_ : ndarray, shape (n_authors,)
        Sum of lambda- over the documents that an author wrote as first author; with
        ``authors="all"``, over all their documents, weighted by their share in each.
    contribution_ : ndarray, shape (len(corpus.author_ids),)
        With ``authors="all"``, the share of each author in each document.
    contribution_interval_ : ndarray, shape (len(corpus.author_ids), 2)
        Intervals that contain these shares with probability 0.9.
    labels_ : ndarray of int, shape (D,)
        Dominant topic of each document; with ``combine="consensus"`` its class.
    consensus_ : ndarray, shape (D, K)
        With ``combine="consensus"`` and several chains, the probability of each class.
    category_ : ndarray of int, shape (D,)
        With latent categories, the most probable one of each document: a row of `groups_`,
        which has the name of a known label.
    category_probability_ : ndarray, shape (D, C)
        The probability of each category: its share of the kept samples of a single chain, that
        of the classes that several chains agree on or, with ``labels="some"``, the one inferred
        from words, citations, authors and topics (`read_out_`).
    category_share_ : ndarray, shape (D, C)
        With ``labels="some"``, the share of the kept samples.
    category_agreements_ : list of float
        For each of several chains without labels, the share of papers that have the same category
        in all chains together.
    traces_ : dict of ndarray, shape (chains, iterations)
        log_posterior, log_likelihood, acceptance, word_acceptance, topics, blocked,
        blocked_citations, rate, seconds; and concentrations, of shape (chains, iterations,
        levels), see `level_names_`.
    acceptance_ : float
        Mean acceptance rate of citing topics while citations are used.
    n_iter_ : int
        Iterations done.
    device_ : str
        Where the chains ran: "cpu" or "cuda".

    Examples
    --------
    >>> from citeweave import SCNTM, simulate
    >>> corpus = simulate(documents=60, vocabulary=80, topics=3, authors=20, citations=90).corpus
    >>> model = SCNTM(topics=4, iterations=20, seed=1).fit(corpus)
    >>> model.doc_topic_.shape, model.citing_topic_.shape[1]
    ((60, 4), 4)
    """

    def fit(
        self,
        corpus: Corpus | str | os.PathLike[str],
        *,
        out: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        progress: Callable[[Progress], object] | None = None,
        checkpoint_seconds: float | None = 60,
        checkpoint_iterations: int | None = None,
        stop: threading.Event | None = None,
        held_out: Mapping[str, np.ndarray] | None = None,
    ) -> Self:
        """Fit the model to a corpus.

        Parameters
        ----------
        corpus : Corpus or path
            A corpus, or the folder of one.
        out : path, optional
            Folder of the run: checkpoints while it is running, the fitted model at the end.
        overwrite : bool
            Replace an existing run.
        progress : callable, optional
            Called after each iteration with a `Progress`, from the thread of its chain (so from
            several threads at a time if there are several chains).
        checkpoint_seconds, checkpoint_iterations : float and int, optional
            Interval between checkpoints, whichever ends first; None disables a criterion. A
            chain is also saved at its end and when it is stopped.
        stop : threading.Event, optional
            Set it to stop after the current iteration, as Ctrl-C does.
        held_out : mapping of str to ndarray, optional
            Parts of the corpus that were held out (see `citeweave.evaluate.hold_out`). They
            are stored with the model as `held_out_`, for `citeweave.evaluate.evaluate`, and
            not used in the fit.

        Raises
        ------
        ParameterError
            A parameter has a wrong value.
        RunError
            The folder exists or cannot be written.
        RunInterrupted
            Ctrl-C was pressed: the chains are saved, and the message says how to continue. A
            subclass of KeyboardInterrupt.

        Examples
        --------
        >>> import citeweave
        >>> model = citeweave.SCNTM(topics=3, iterations=20, chains=2, seed=1)
        >>> model.fit(citeweave.example_corpus()).doc_topic_.shape
        (80, 3)
        """
        return fit_planned(
            self,
            make_plan(self.get_params()),
            corpus,
            out=out,
            overwrite=overwrite,
            progress=progress,
            checkpoint_seconds=checkpoint_seconds,
            checkpoint_iterations=checkpoint_iterations,
            stop=stop,
            held_out=held_out,
        )

    def fit_transform(self, corpus: Corpus | str | os.PathLike[str], **options: Any) -> np.ndarray:
        """Fit and return `doc_topic_`; options are those of `fit`.

        Examples
        --------
        >>> import citeweave
        >>> model = citeweave.SCNTM(topics=3, iterations=20, chains=2, seed=1)
        >>> model.fit_transform(citeweave.example_corpus()).shape
        (80, 3)
        """
        return self.fit(corpus, **options).doc_topic_

    def fold_in(
        self,
        new: Corpus | str | os.PathLike[str],
        *,
        words: str | float = "all",
        citations: bool | str = True,
        links: Any = None,
        method: str = "paper",
        labels: str = "hidden",
        samples: int = 500,
        burn_in: int = 50,
        seed: int = 0,
        threads: int | None = None,
    ) -> FoldIn:
        """Estimate the topics of new documents; the model does not change.

        Parameters
        ----------
        new : Corpus or path
            May have its own vocabulary, authors and categories, which are matched by name.
        words : "all", "title", "none" or float
            Words from which topics are estimated; a number is a random share of each document's
            words.
        citations : bool or "both"
            Use citations to training documents; "both" also uses those from training documents.
        links : Split, Links, array of int of shape (n, 2) or pairs of ids, optional
            Rows (new document, training document). If not given, the citations of `new` to
            documents that have the id of a training document.
        method : {"paper", "gibbs"}
            The paper's estimate, or a Gibbs sampler of the same hierarchy.
        labels : {"hidden", "seen"}
            "hidden": never read the categories of `new`; groups are inferred unless authors
            determine them. "seen": use the documents' own categories, as the paper does.
        samples, burn_in : int
            Samples per document and, for Gibbs, sweeps before them.
        seed : int
            Document d draws from the stream (seed, d), so the number of threads does not matter.
        threads : int, optional
            All cores by default.

        Examples
        --------
        >>> from citeweave import SCNTM, simulate
        >>> corpus = simulate(documents=80, vocabulary=80, topics=3, citations=90, seed=1).corpus
        >>> parts = corpus.split(test=0.25, seed=0)
        >>> model = SCNTM(topics=4, iterations=20, seed=1).fit(parts.train)
        >>> found = model.fold_in(parts.test, links=parts, words=0.5)
        >>> found.doc_topic.shape, found.matched_citations == len(parts.links.citing)
        ((20, 4), True)
        """
        return fold_in(
            self._fitted,
            new,
            words=words,
            citations=citations,
            links=links,
            method=method,
            labels=labels,
            samples=samples,
            burn_in=burn_in,
            seed=seed,
            threads=threads,
        )

    def transform(self, new: Corpus | str | os.PathLike[str], **options: Any) -> np.ndarray:
        """Return theta' of new documents [D, K]; options are those of `fold_in`.

        Examples
        --------
        >>> import citeweave
        >>> new = citeweave.Corpus.from_lists(tokens=[["soil water", "rice"], ["protein"]])
        >>> citeweave.example_model().transform(new).shape
        (2, 3)
        """
        return self.fold_in(new, **options).doc_topic

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Save the fitted model as a run folder, atomically; return its path.

        Examples
        --------
        >>> import citeweave
        >>> citeweave.example_model().save("saved-run").name
        'saved-run'
        """
        return save_result(self._fitted, folder, overwrite=overwrite)

    def _repr_html_(self) -> str:
        """Show parameters and, if fitted, sizes and topics as small tables."""
        return model_html(self)


def fit_planned(
    model: _Model,
    plan: Plan,
    corpus: Corpus | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Callable[[Progress], object] | None = None,
    checkpoint_seconds: float | None = 60,
    checkpoint_iterations: int | None = None,
    stop: threading.Event | None = None,
    held_out: Mapping[str, np.ndarray] | None = None,
    announce: Announce | None = None,
) -> _Model:
    """Fit a model by the plan made from its parameters; options are those of `SCNTM.fit`.

    ``announce`` is called with the plan, once its engine is chosen, and the corpus, before the
    first iteration.
    """
    model._result = run_model(  # noqa: SLF001
        plan,
        with_lengths(model.get_params()),
        corpus,
        out=out,
        overwrite=overwrite,
        progress=progress,
        checkpoint_seconds=checkpoint_seconds,
        checkpoint_iterations=checkpoint_iterations,
        stop=stop,
        held_out=held_out,
        announce=announce,
    )
    return model


def load(folder: str | os.PathLike[str]) -> SCNTM:
    """Load a fitted model from its run folder; arrays are memory-mapped and read on use.

    An unfinished run is loaded from the latest checkpoints of its chains, if they have samples;
    `SCNTM.n_iter_` is the number of iterations done.
    """
    return _with_result(load_result(folder))


def resume(
    folder: str | os.PathLike[str],
    corpus: Corpus | str | os.PathLike[str] | None = None,
    *,
    progress: Callable[[Progress], object] | None = None,
    checkpoint_seconds: float | None = 60,
    checkpoint_iterations: int | None = None,
    threads: int | None = None,
    device: str | None = None,
    engine: str | None = None,
    workers: int | None = None,
    address: str | None = None,
    stop: threading.Event | None = None,
    iterations: int | str | None = None,
    minutes: float | None = None,
    announce: Announce | None = None,
) -> SCNTM:
    """Continue a run to its end and return the fitted model; a finished run is loaded.

    A finished run is extended if `iterations` or `minutes` is given, with the same result, byte
    for byte, as one long run; it stays loadable until the extension is done.

    Parameters
    ----------
    folder : path
    corpus : Corpus or path, optional
        The corpus the run was started with; by default the run's own copy.
    progress, checkpoint_seconds, checkpoint_iterations, stop
        As in `SCNTM.fit`.
    threads : int, optional
        Total number of cores, as in `SCNTM`; by default as at the start of the run.
    device : {"auto", "cpu", "cuda"}, optional
        As in `SCNTM`. By default the device at the start of the run, or the CPU if that was a
        GPU and there is none now; checkpoints are the same.
    engine, workers, address : optional
        As in `SCNTM`; by default as at the start of the run. A run may continue with another
        number of workers, or without any.
    iterations : int or str, optional
        For a finished run: "+1000" for that many more, or the total number. Chains that did
        not agree are compared further, and stop when they do; for chains that agreed, and for
        runs with ``exactly``, more samples are kept.
    minutes : float, optional
        For a finished run whose chains did not agree: continue until they do, for at most this
        long.
    announce : callable, optional
        Called with the plan and the corpus before the first iteration.

    Examples
    --------
    >>> import citeweave
    >>> folder = citeweave.example_model().save("my-run")
    >>> citeweave.resume("my-run").n_iter_
    40
    """
    result = resume_run(
        folder,
        corpus,
        progress=progress,
        checkpoint_seconds=checkpoint_seconds,
        checkpoint_iterations=checkpoint_iterations,
        threads=threads,
        device=device,
        cluster={"engine": engine, "workers": workers, "address": address},
        stop=stop,
        iterations=iterations,
        minutes=minutes,
        announce=announce,
    )
    return _with_result(result)


def _with_result(result: Result) -> SCNTM:
    model = SCNTM(**result.parameters)
    model._result = result  # noqa: SLF001
    return model
