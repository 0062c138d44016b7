"""The models of an experiment by name: what is built, with which parameters."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from citeweave.baselines import BASELINES, make_baseline
from citeweave.engines.core.capabilities import CPU
from citeweave.engines.core.spec import PRESETS, preset
from citeweave.engines.registry import AUTO, ENGINES
from citeweave.errors import CiteweaveError, ParameterError
from citeweave.model import SCNTM
from citeweave.model.parameters import OLD_RUNS, make_plan, parameters_to_json
from citeweave.parameters.scntm import SOME_LABELS

__all__ = ["GPU", "GPU_FROM", "TFIDF", "ModelChoice", "choose", "is_installed", "model_names"]

TFIDF = "tf-idf"
"""Cosine of tf-idf vectors: nothing is fitted, and only links can be predicted by it."""

GPU = "cuda"
"""The device of the engine that runs on a GPU."""

GPU_FROM = 150_000
"""Words of a corpus from which ``device="auto"`` takes a GPU where there is one. Of smaller ones
chains are run side by side on cores, which is as fast and by the reference sampler."""

_VISITS = 1000.0
"""Of a baseline: the order of magnitude is enough."""

_PACKAGES = {"tomotopy-lda": "tomotopy", "tomotopy-hdp": "tomotopy", "sklearn-lda": "sklearn"}


@dataclass(frozen=True)
class ModelChoice:
    """A model with its parameters, and the name under which tables show it.

    Attributes
    ----------
    name : str
        In tables.
    kind : str
        One of `model_names`.
    parameters : mapping
        Of `SCNTM` or of the baseline; the seed is the task's.

    Examples
    --------
    >>> choice = ModelChoice("CNTM w/o network", "cntm-text", {"topics": 7, "iterations": 100})
    >>> choice.build(seed=1)
    SCNTM(topics=7, iterations=100, exactly=True, seed=1, chains=1, model='cntm-text')
    """

    name: str
    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_scntm(self) -> bool:
        """Whether it is SCNTM or one of the models it is made of."""
        return self.kind in PRESETS

    @property
    def uses_labels(self) -> bool:
        """Whether the categories of training documents are part of the model (eta >= 1)."""
        if self.kind in BASELINES:
            return "labels" in self.build(seed=0).reads
        return self.is_scntm and float(self.parameters.get("eta", 0)) >= 1

    @property
    def effort(self) -> float:
        """Give roughly how often it visits each word, to begin with what takes longest."""
        if not self.is_scntm:
            return _VISITS
        defaults = SCNTM()
        iterations = self.parameters.get("iterations", defaults.iterations)
        return float(iterations * self.parameters.get("chains", 1))

    def device(self, wanted: str, words: int) -> str:
        """Choose where chains run on a corpus of so many words: "cpu" or "cuda".

        Parameters
        ----------
        wanted : {"auto", "cpu", "cuda"}
            ``auto`` is a GPU, where there is one, from `GPU_FROM` words on.
        words : int
            Of the corpus.

        Models that no GPU samples run on the CPU whatever is wanted.

        Examples
        --------
        >>> ModelChoice("ATM", "np-atm").device("cuda", 1_000_000)
        'cpu'
        >>> ModelChoice("SCNTM", "scntm").device("cuda", 1_000)
        'cuda'
        """
        engine = ENGINES[GPU]
        if not self.is_scntm or wanted == CPU or (wanted == AUTO and words < GPU_FROM):
            return CPU
        topics = self.parameters.get("topics", SCNTM().topics)
        drawn = self.parameters.get("categories") or self.parameters.get("labels") == SOME_LABELS
        if drawn or engine.capabilities.refusal(preset(self.kind), topics) is not None:
            return CPU
        if wanted == AUTO:
            try:
                engine.probe()
            except CiteweaveError:  # no GPU, or none that can be used
                return CPU
        return GPU

    def build(self, *, seed: int, threads: int | None = None, device: str | None = None) -> Any:
        """Return the estimator, not fitted yet; a device among its parameters is kept."""
        if self.is_scntm:
            # experiments compare models that did the same work
            fixed: dict[str, Any] = {"exactly": True, "chains": 1}
            if device is not None:
                fixed["device"] = device
            model = SCNTM(
                **fixed | _checked(self.parameters),
                model=self.kind,
                seed=int(seed),
                threads=threads,
            )
            make_plan(model.get_params())  # what is wrong is told before anything runs
            return model
        return _baseline(self.kind, {**self.parameters, "seed": int(seed)})

    def as_json(self) -> dict[str, Any]:
        """Return what decides its numbers: all parameters, those left at their defaults included.

        So a default that changes is not taken for what it was. Left out are parameters that do
        what was done before there were any such, so that results outlive new parameters. Its name
        decides nothing, and where its chains run is for the runner to say, unless it is a
        parameter.
        """
        if self.kind == TFIDF:
            return {"kind": self.kind}
        given = self.build(seed=0).get_params()
        left_out = {"seed", "threads", "model", "device"} - set(self.parameters)
        decisive = {name: given[name] for name in given if name not in left_out}
        if self.is_scntm:
            decisive = {
                name: value
                for name, value in decisive.items()
                if name == "device" or name not in OLD_RUNS or value != OLD_RUNS[name]
            }
        return {"kind": self.kind, "parameters": parameters_to_json(decisive)}


def choose(text: str, **parameters: Any) -> ModelChoice:
    """Make a choice of a text such as ``scntm``, ``pmtlm-dc`` or ``scntm:eta=10``.

    Parameters
    ----------
    text : str
        A kind, with parameters of its own after a colon, parted by commas; several levels are
        joined by +, as in ``scntm:levels=venue+period``.
    **parameters
        Those that hold unless the text says otherwise. Parameters of SCNTM's sampler are left out
        for models that have none.

    Examples
    --------
    >>> choose("scntm:eta=inf", topics=5).parameters
    {'topics': 5, 'eta': inf}
    >>> choose("scntm:levels=venue+period").parameters
    {'levels': ('venue', 'period')}
    """
    kind, _, rest = text.strip().partition(":")
    if kind not in model_names():
        raise ParameterError(
            f"There is no model {kind!r}. Did you mean one of: {', '.join(model_names())}?"
        )
    own: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise ParameterError(
                f"The model {text!r} must be a name, or a name and parameters such as "
                f"scntm:eta=10,chains=2. Got the part {part!r}."
            )
        own[name.strip()] = _value(value.strip())
    if isinstance(own.get("levels"), str):
        own["levels"] = tuple(own["levels"].split("+"))
    if kind not in PRESETS:
        known = {"topics"} & set(_baseline(kind, {}).get_params())
        parameters = {name: value for name, value in parameters.items() if name in known}
    return ModelChoice(text.strip(), kind, parameters | own)


def model_names() -> tuple[str, ...]:
    """Return the kinds there are."""
    return (*PRESETS, *BASELINES)


def is_installed(kind: str) -> bool:
    """Return whether the package that a model is fitted by is on this computer."""
    package = _PACKAGES.get(kind)
    return package is None or find_spec(package) is not None


def _baseline(kind: str, parameters: dict[str, Any]) -> Any:
    return make_baseline(kind, **parameters)


def _checked(parameters: Mapping[str, Any]) -> dict[str, Any]:
    for name in ("seed", "threads", "model"):
        if name in parameters:
            raise ParameterError(
                f"'{name}' cannot be a parameter of a model in an experiment: seeds belong to "
                "tasks, threads to their runner, and the model is the kind."
            )
    unknown = [name for name in parameters if name not in SCNTM().get_params()]
    if unknown:
        raise ParameterError(
            f"SCNTM has no parameter {unknown[0]!r}. "
            f"Did you mean one of: {', '.join(SCNTM().get_params())}?"
        )
    return dict(parameters)


def _value(text: str) -> Any:
    """Read a value as a person writes it: a number, a truth value or a word."""
    words = {"true": True, "false": False, "none": None, "inf": math.inf, "infinity": math.inf}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
