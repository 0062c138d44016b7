"""The context of experiments: data sets, seeds, workers, and folders of finished parts."""

from __future__ import annotations

import hashlib
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
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

__all__ = ["DEMO", "PARTS", "QUICK_SCALE", "Context", "chosen_models", "cores", "not_finished"]

DEMO = "demo"
"""The simulated corpus of `citeweave demo`, which is always available."""

QUICK_SCALE = 50
"""Factor by which simulated corpora are smaller with ``--quick``."""

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


DEVICES = ("auto", "cpu", "cuda")

PARTS = {
    "whole": "whole corpus",
    "folds": "folds",
    "held-out-words": "held-out words",
    "links": "held-out citations",
}
"""Protocols by which models are measured, and their names on pages."""

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
    """Settings and resources of an experiment.

    Attributes
    ----------
    out : Path
        Folder of results, which also contains fitted models and finished parts.
    datasets : tuple of str
        Names of the data sets to use; empty for those of the experiment.
    runs : int
        Number of seeds, or folds, per figure.
    quick : bool
        Minutes instead of hours: fewer iterations, folds and sets; every page says so.
    seed : int
        First seed; see `seeds`.
    workers : int
        Number of models fitted at the same time.
    corpora : mapping of str to Path
        Corpus folders to use instead of data sets, by name.
    iterations : int or None
        Iterations of a chain, if other than those of the experiment.
    lengths : mapping of str to int
        The same for single sets, by name.
    folds : mapping of str to int
        Number of the ten folds of a LINQS set to run, by name; "" is for all sets.
    models : tuple of str
        Models to run, in experiments that compare several; empty for all of them.
    parts : tuple of str
        Protocols for which models are fitted (`PARTS`); of others, finished work is shown. Empty
        for all of them.
    labels : int
        Number of labelled papers per class, for experiments with few labels.
    document : int or None
        The document to inspect.
    stages : {"settled", "paper"}
        How chains run, see `reproduction.settings.chain_settings`.
    device : {"auto", "cpu", "cuda"}
        Device for models that a GPU can sample; see `citeweave.experiments.ModelChoice`.
    earlier : Path or None
        A joined page whose rows are put, marked, into tables that lack them.
    finished : bool
        Fit nothing, and show what is finished below `out`.
    progress : callable or None
        Called with a line of text at each step.
    stop : threading.Event or None
        If set, experiments stop after the current iteration.
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
    parts: Sequence[str] = ()
    labels: int = 20
    document: int | None = None
    stages: str = SETTLED
    device: str = "auto"
    finished: bool = False
    earlier: Path | None = None
    progress: Callable[[str], object] | None = None
    stop: threading.Event | None = None
    ran: dict[str, dict[str, float]] = field(default_factory=dict, repr=False)
    """Seconds of fits by machine and kind."""
    missing: dict[str, list[int]] = field(default_factory=dict, repr=False)
    """Numbers of unfinished and of all fits, by kind."""
    _opened: dict[str, Corpus] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Check values that users may get wrong."""
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
        for part in self.parts:
            if part not in PARTS:
                raise ParameterError(
                    f"The 'parts' of an experiment must be among {', '.join(PARTS)}. "
                    f"Got {part!r} instead."
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
        """The seeds, one per run, starting from `seed`."""
        return tuple(range(self.seed, self.seed + self.runs))

    def chain_length(
        self, name: str = "", *, full: int = ITERATIONS, quick: int = QUICK_ITERATIONS
    ) -> int:
        """Return the iterations of a chain on a set: those requested, or `full`, or `quick`."""
        if name in self.lengths:
            return self.lengths[name]
        if self.iterations is not None:
            return self.iterations
        return quick if self.quick else full

    def chain(self, name: str) -> dict[str, Any]:
        """Return the parameters of `SCNTM` that say how a chain on a set runs."""
        return chain_settings(self.stages, self.chain_length(name))

    def describe_chains(self) -> str:
        """Describe how chains run on the sets used."""
        own = [
            f"{name} {length:,}" for name, length in self.lengths.items() if name in self.datasets
        ]
        exceptions = f" ({', '.join(own)})" if own else ""
        lengths = f"{self.chain_length():,} iterations{exceptions}"
        return (_PAPER if self.stages == PAPER else _SETTLED).format(lengths=lengths)

    def say(self, text: str) -> None:
        """Report progress."""
        if self.progress is not None:
            self.progress(text)

    def corpus(self, name: str) -> Corpus:
        """Open a data set: the user's folder of that name, a simulated corpus, or a public set.

        Raises
        ------
        ParameterError
            There is no data set of this name.
        CorpusError
            It is not on this computer and cannot be downloaded.
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
        # drawing it each time would take minutes at full size
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

        The run folder is below `out`, named after the corpus and the parameters, and is continued
        if it was stopped. Experiments that need the same model share it.

        Parameters
        ----------
        name : str
            The set.
        seed : int or None
            Seed of the chain; the first of `seeds` if not given.
        **parameters
            Parameters of `SCNTM`; by default, the topics of the data set and those of `chain`.
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
            self.say(f"{name}: model of an earlier run reused")
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
            Name of the part, for its file.
        key : mapping
            Everything that determines the result, JSON-serialisable.
        compute : callable
            Returns a JSON-serialisable value.

        Raises
        ------
        KeyboardInterrupt
            The part does not exist, and `stop` is set.
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
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        self._count(name, key, content)
        write_text(self._part(name, key), json.dumps(content, indent=1, allow_nan=True) + "\n")
        return json.loads(json.dumps(value))

    def remembers(self, name: str, key: Mapping[str, Any]) -> bool:
        """Return whether a part is stored, without computing it."""
        return self._kept(name, key) is not None

    def recall(self, name: str, key: Mapping[str, Any], *, but: Sequence[str]) -> Any:
        """Return the latest stored part that has this key but for some entries; None if none has.

        Parameters
        ----------
        name : str
            Name of the part.
        key : mapping
            As for `remember`.
        but : sequence of str
            Entries that may differ, such as the machine.

        Returns
        -------
        dict or None
            With the ``value``, and the whole ``key``.
        """
        wanted = json.loads(json.dumps({k: v for k, v in key.items() if k not in but}))
        found = []
        for path in sorted((self.out / "parts").glob(f"{name}-*.json")):
            if "-" in path.stem.removeprefix(f"{name}-"):
                continue  # of a part whose name begins with this one
            try:
                kept = json.loads(path.read_text(encoding="utf-8"))
                own = {k: v for k, v in kept["key"].items() if k not in but}
                if own == wanted and "value" in kept:
                    found.append(kept)
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                continue  # incomplete, or of another kind
        if not found:
            return None
        latest = max(found, key=lambda kept: str(kept.get("finished", "")))
        self._count(name, latest["key"], latest)
        return latest

    def _part(self, name: str, key: Mapping[str, Any]) -> Path:
        return self.out / "parts" / f"{name}-{_digest(key)}.json"

    def _kept(self, name: str, key: Mapping[str, Any]) -> Any:
        """Read a part; None if it does not exist or is incomplete."""
        try:
            kept = json.loads(self._part(name, key).read_text(encoding="utf-8"))
            return kept if kept["key"] == json.loads(json.dumps(key)) and "value" in kept else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _count(self, name: str, key: Mapping[str, Any], kept: Mapping[str, Any]) -> None:
        """Record where parts were computed, for the last lines of a page."""
        seconds = self.ran.setdefault(kept.get("machine", ""), {})
        seconds[self._part(name, key).stem] = float(kept.get("seconds", 0.0))

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Apply a function to tasks, `workers` at a time in threads; results in their order.

        The sampler releases Python's lock, so threads use all cores. The first error ends it, and
        tasks not yet begun are not run.
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
    """Return the requested models of an experiment, or all of them.

    Raises
    ------
    ParameterError
        A requested model is unknown.
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
    """Return the error for a result that ``--finished`` should show but does not exist."""
    return RunError(f"{what} is not finished; omit --finished to run it.")


def _digest(key: Mapping[str, Any]) -> str:
    text = json.dumps(key, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
