"""What experiments are given: data sets, seeds, workers, and folders that keep finished parts."""

from __future__ import annotations

import hashlib
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from citeweave.corpus import Corpus
from citeweave.errors import CorpusError, MissingDependencyError, ParameterError, RunError
from citeweave.files import write_text
from reproduction.settings import (
    ITERATIONS,
    PAPER,
    QUICK_ITERATIONS,
    SETTLED,
    SIZES,
    STAGES,
    chain_settings,
    settings,
)

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from citeweave.model import SCNTM

__all__ = ["DEMO", "QUICK_SCALE", "Context", "chosen_models", "cores", "not_finished"]

DEMO = "demo"
"""The made-up corpus that `citeweave demo` fits: always there, never fetched."""

QUICK_SCALE = 50
"""Simulated corpora are so many times smaller with ``--quick``."""

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


DEVICES = ("auto", "cpu", "cuda")

_SETTLED = (
    "single chains with the defaults of `fit` (citations join after 30 iterations, burstiness "
    "after 60), each run until it is steady (its halves agree: R-hat at most 1.05 and 25 effective "
    "draws of the log posterior and of every concentration) and then for its samples, {lengths} at "
    "most"
)
_PAPER = (
    "single chains of exactly {lengths} with the paper's settings (burstiness from the first "
    "iteration on, the network switched on at the half, x_ii = 1)"
)


@dataclass(frozen=True, kw_only=True)
class Context:
    """What an experiment works with.

    Attributes
    ----------
    out : Path
        Folder of results; fitted models and finished parts lie below it.
    datasets : tuple of str
        Sets to use, by name; empty for those of the experiment itself.
    runs : int
        How many seeds, or folds, each figure is the mean of.
    quick : bool
        Minutes instead of hours: fewer iterations, folds and sets; named in every page.
    seed : int
        First seed; see `seeds`.
    workers : int
        Models fitted at a time.
    corpora : mapping of str to Path
        Corpus folders by the name of the set they are used for, in place of the data set.
    iterations : int or None
        Of a chain, where the user asks for another number than the experiment's own.
    lengths : mapping of str to int
        The same for single sets, by name.
    folds : mapping of str to int
        How many of the ten folds of a LINQS set are done, by name; "" is for all sets.
    models : tuple of str
        Models to run, of experiments that compare several; empty for all of them.
    labels : int
        Labelled papers of each class, for experiments with few labels.
    document : int or None
        Which document to inspect.
    stages : {"settled", "paper"}
        How chains run, see `reproduction.settings.chain_settings`.
    device : {"auto", "cpu", "cuda"}
        Where they run, for models that a GPU samples; see `citeweave.experiments.ModelChoice`.
    earlier : Path or None
        A joined page whose rows are put, marked, into tables that lack them.
    finished : bool
        Fit nothing, and show what is finished below `out`.
    progress : callable or None
        Called with a line of text at each step.
    stop : threading.Event or None
        Set from outside to stop after the present iteration.
    """

    out: Path
    datasets: Sequence[str] = ()
    runs: int = 5
    quick: bool = False
    seed: int = 1
    workers: int = field(default_factory=cores)
    corpora: Mapping[str, Path] = field(default_factory=dict)
    iterations: int | None = None
    lengths: Mapping[str, int] = field(default_factory=dict)
    folds: Mapping[str, int] = field(default_factory=dict)
    models: Sequence[str] = ()
    labels: int = 20
    document: int | None = None
    stages: str = SETTLED
    device: str = "auto"
    finished: bool = False
    earlier: Path | None = None
    progress: Callable[[str], object] | None = None
    stop: threading.Event | None = None
    ran: dict[str, dict[str, float]] = field(default_factory=dict, repr=False)
    """By machine: seconds of the fits that ran there, by what they are."""
    missing: dict[str, list[int]] = field(default_factory=dict, repr=False)
    """By what they are: how many fits are not finished, and of how many."""
    _opened: dict[str, Corpus] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Check what a user may have got wrong."""
        for name, lowest in (("runs", 1), ("seed", 0), ("workers", 1), ("labels", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
                raise ParameterError(
                    f"The '{name}' of an experiment must be an integer of at least {lowest}. "
                    f"Got {value!r} instead."
                )
        for name, words in (("stages", STAGES), ("device", DEVICES)):
            value = getattr(self, name)
            if value not in words:
                raise ParameterError(
                    f"The '{name}' of an experiment must be one of {', '.join(words)}. "
                    f"Got {value!r} instead."
                )
        for length in (self.iterations, *self.lengths.values()):
            if length is not None and length < 4:
                raise ParameterError(
                    "The 'iterations' of an experiment must be at least 4, so that there is a half "
                    f"with the network and samples after it. Got {length} instead."
                )
        for number in self.folds.values():
            if number < 1:
                raise ParameterError(
                    f"The 'folds' of an experiment must be at least 1. Got {number} instead."
                )

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds: as many as runs, counting up from `seed`."""
        return tuple(range(self.seed, self.seed + self.runs))

    def chain_length(
        self, name: str = "", *, full: int = ITERATIONS, quick: int = QUICK_ITERATIONS
    ) -> int:
        """Return a chain's iterations on a set: as asked, else `full`, or `quick` if quick."""
        if name in self.lengths:
            return self.lengths[name]
        if self.iterations is not None:
            return self.iterations
        return quick if self.quick else full

    def chain(self, name: str) -> dict[str, Any]:
        """Return the parameters of `SCNTM` that say how a chain on a set runs."""
        return chain_settings(self.stages, self.chain_length(name))

    def describe_chains(self) -> str:
        """Say in words how chains run, on the sets that are used."""
        own = [
            f"{name} {length:,}" for name, length in self.lengths.items() if name in self.datasets
        ]
        exceptions = f" ({', '.join(own)})" if own else ""
        lengths = f"{self.chain_length():,} iterations{exceptions}"
        return (_PAPER if self.stages == PAPER else _SETTLED).format(lengths=lengths)

    def say(self, text: str) -> None:
        """Tell what is being done."""
        if self.progress is not None:
            self.progress(text)

    def corpus(self, name: str) -> Corpus:
        """Open a set: the user's folder of that name, a simulated corpus, or a public data set.

        Raises
        ------
        ParameterError
            There is no set of this name.
        CorpusError
            It is not on this computer and cannot be fetched.
        """
        if name not in self._opened:
            self._opened[name] = self._open(name)
        return self._opened[name]

    def _open(self, name: str) -> Corpus:
        if name in self.corpora:
            return Corpus.load(self.corpora[name])
        if name == DEMO:
            from citeweave.simulate import demo_corpus  # noqa: PLC0415 (compiles kernels)

            return demo_corpus().corpus
        if name in SIZES:
            return self._simulated(name)
        from citeweave.datasets import load  # noqa: PLC0415 (readers are not needed before)

        self.say(f"{name}: opened")
        return load(name)

    def _simulated(self, name: str) -> Corpus:
        from citeweave.simulate import simulate  # noqa: PLC0415 (compiles kernels)

        size: dict[str, Any] = dict(SIZES[name])
        if self.quick:
            for part in ("documents", "authors", "citations"):
                size[part] = size[part] // QUICK_SCALE
        # drawn anew each time would cost minutes at full size
        place = self.out / "corpora" / (f"{name}-quick" if self.quick else name)
        if place.is_dir():
            try:
                return Corpus.load(place)
            except CorpusError:
                pass  # a damaged copy is replaced
        self.say(f"{name}: drawn from the model")
        corpus = simulate(**size, topics=settings(name).topics, seed=self.seed).corpus
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(MissingDependencyError):  # without a table library it is drawn each time
            corpus.save(place, overwrite=True)
        return corpus

    def fitted(self, name: str, *, seed: int | None = None, **parameters: Any) -> SCNTM:
        """Fit a model to a set, or load the same one that was fitted before.

        The run folder lies below `out`, named by the corpus and the parameters, and is gone on
        with if it was stopped; so experiments that ask for the same model share it.

        Parameters
        ----------
        name : str
            The set.
        seed : int or None
            Of the chain; the first of `seeds` if not given.
        **parameters
            Of `SCNTM`; topics are by default those of the set, and the chain is that of `chain`.
        """
        from citeweave.experiments import ModelChoice  # noqa: PLC0415 (loads the compiler)
        from citeweave.model import resume  # noqa: PLC0415
        from citeweave.runs.folder import is_run_folder  # noqa: PLC0415

        corpus = self.corpus(name)
        given = {"topics": settings(name).topics, **self.chain(name), **parameters}
        choice = ModelChoice(name, given.pop("model", "scntm"), given)
        device = choice.device(self.device, corpus.n_tokens)
        seed = self.seed if seed is None else seed
        model = choice.build(seed=seed, device=device)
        key = {"corpus": corpus.fingerprint, "model": choice.as_json(), "seed": seed}
        folder = self.out / "runs" / f"{name}-{_digest(key)}"
        if self.finished and not is_run_folder(folder):
            raise not_finished(f"The model of {name}")
        if is_run_folder(folder):
            self.say(f"{name}: model of an earlier run taken up")
            fitted = resume(folder, stop=self.stop)
        else:
            self.say(f"{name}: {model!r}")
            folder.parent.mkdir(parents=True, exist_ok=True)
            fitted = model.fit(corpus, out=folder, stop=self.stop)
        return fitted

    def remember(self, name: str, key: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        """Compute a part, or read it if it was computed before with the same key.

        Parameters
        ----------
        name : str
            Of the part, for its file.
        key : mapping
            All that decides the result, as JSON can hold it.
        compute : callable
            Gives a value that JSON can hold.

        Raises
        ------
        KeyboardInterrupt
            The part is not there, and `stop` is set.
        """
        kept = self._kept(name, key)
        if kept is not None:
            self._count(name, key, kept)
            return kept["value"]
        if self.finished:
            raise not_finished(f"The part {name!r}")
        if self.stop is not None and self.stop.is_set():
            raise KeyboardInterrupt
        started = time.monotonic()
        value = compute()
        content = {
            "key": key,
            "value": value,
            "seconds": round(time.monotonic() - started, 3),
            "machine": _processor(),
        }
        self._count(name, key, content)
        write_text(self._part(name, key), json.dumps(content, indent=1, allow_nan=True) + "\n")
        return json.loads(json.dumps(value))

    def remembers(self, name: str, key: Mapping[str, Any]) -> bool:
        """Return whether `remember` would find a part, and compute nothing."""
        return self._kept(name, key) is not None

    def _part(self, name: str, key: Mapping[str, Any]) -> Path:
        return self.out / "parts" / f"{name}-{_digest(key)}.json"

    def _kept(self, name: str, key: Mapping[str, Any]) -> Any:
        """Read a part; None where it is not there, or was cut off while it was written."""
        try:
            kept = json.loads(self._part(name, key).read_text(encoding="utf-8"))
            return kept if kept["key"] == json.loads(json.dumps(key)) and "value" in kept else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _count(self, name: str, key: Mapping[str, Any], kept: Mapping[str, Any]) -> None:
        """Keep count of where parts were computed, for the last lines of a page."""
        seconds = self.ran.setdefault(kept.get("machine", ""), {})
        seconds[self._part(name, key).stem] = float(kept.get("seconds", 0.0))

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Apply a function to tasks, `workers` at a time in threads; results in their order.

        The sampler releases Python's lock, so threads use all cores. The first error ends it: tasks
        not yet begun are left out.
        """
        if self.workers == 1 or len(tasks) < 2:
            return [function(task) for task in tasks]
        with ThreadPoolExecutor(max_workers=min(self.workers, len(tasks))) as pool:
            futures = [pool.submit(function, task) for task in tasks]
            try:
                for future in as_completed(futures):
                    future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            return [future.result() for future in futures]


def chosen_models(context: Context, known: Iterable[str]) -> list[str]:
    """Choose, of the models that an experiment knows, those asked for, or all of them.

    Raises
    ------
    ParameterError
        One that was asked for is unknown.
    """
    names = list(known)
    unknown = [name for name in context.models if name not in names]
    if unknown:
        raise ParameterError(
            f"This experiment has no model {unknown[0]!r}. Did you mean one of: {', '.join(names)}?"
        )
    return [name for name in names if name in context.models] if context.models else names


def _processor() -> str:
    from citeweave.experiments.machine import processor  # noqa: PLC0415 (loads the compiler)

    return processor()


def not_finished(what: str) -> RunError:
    """Make the error for what ``--finished`` was to show and is not there."""
    return RunError(f"{what} is not finished; leave --finished out to make it.")


def _digest(key: Mapping[str, Any]) -> str:
    text = json.dumps(key, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
