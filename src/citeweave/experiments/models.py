"""The models of an experiment by name, with their parameters."""

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
from citeweave.model.parameters import OLD_RUNS, make_plan, parameters_to_json, with_lengths
from citeweave.parameters.scntm import SOME_LABELS

__all__ = ["GPU", "GPU_FROM", "TFIDF", "ModelChoice", "choose", "is_installed", "model_names"]

TFIDF = "tf-idf"
"""Cosine of tf-idf vectors: nothing is fitted, and only links can be predicted."""

GPU = "cuda"
"""The device of the engine that runs on a GPU."""

GPU_FROM = 150_000
"""Number of words from which ``device="auto"`` uses a GPU if there is one. For smaller corpora,
chains run in parallel on cores, which is as fast and uses the reference sampler."""

_VISITS = 1000.0
"""For baselines; the order of magnitude is enough."""

_PACKAGES = {"tomotopy-lda": "tomotopy", "tomotopy-hdp": "tomotopy", "sklearn-lda": "sklearn"}


@dataclass(frozen=True)
class ModelChoice:
    """A model with its parameters, and the name under which tables show it.

    Attributes
    ----------
    name : str
        Name in tables.
    kind : str
        One of `model_names`.
    parameters : mapping
        Parameters of `SCNTM` or of the baseline; the task has the seed.

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
        """Whether it is SCNTM or one of its submodels."""
        return self.kind in PRESETS

    @property
    def uses_labels(self) -> bool:
        """Whether the categories of training documents are part of the model (eta >= 1)."""
        if self.kind in BASELINES:
            return "labels" in self.build(seed=0).reads
        return self.is_scntm and float(self.parameters.get("eta", 0)) >= 1

    @property
    def has_categories(self) -> bool:
        """Whether it samples the categories of papers (``categories`` or ``labels="some"``)."""
        drawn = self.parameters.get("categories") or self.parameters.get("labels") == SOME_LABELS
        return self.is_scntm and bool(drawn)

    @property
    def effort(self) -> float:
        """Estimate how often it visits each word, to start with the longest tasks."""
        if not self.is_scntm:
            return _VISITS
        given = with_lengths(SCNTM().get_params() | {"chains": 1} | dict(self.parameters))
        return float(given["iterations"] * given["chains"])

    def device(self, wanted: str, words: int) -> str:
        """Choose the device for a corpus with this many words: "cpu" or "cuda".

        Parameters
        ----------
        wanted : {"auto", "cpu", "cuda"}
            ``auto`` is a GPU, if there is one, from `GPU_FROM` words on.
        words : int
            Of the corpus.

        Models that the GPU does not support always run on the CPU.

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
        refused = engine.capabilities.refusal(preset(self.kind), topics) is not None
        if self.has_categories or refused:
            return CPU
        if wanted == AUTO:
            try:
                engine.probe()
            except CiteweaveError:  # no GPU, or none that can be used
                return CPU
        return GPU

    def build(self, *, seed: int, threads: int | None = None, device: str | None = None) -> Any:
        """Return the estimator, not fitted yet; a device among its parameters is kept.

        Examples
        --------
        >>> from citeweave.experiments import choose
        >>> choose("louvain:topics=7").build(seed=2)
        Louvain(topics=7, seed=2)
        """
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
            make_plan(model.get_params())  # errors are reported before anything runs
            return model
        return _baseline(self.kind, {**self.parameters, "seed": int(seed)})

    def as_json(self) -> dict[str, Any]:
        """Return everything that determines its numbers: all parameters, including defaults.

        A changed default is therefore noticed. Parameters whose value means the behaviour before
        they existed are left out, so that results survive new parameters. The name is not included,
        nor the device, which the runner chooses unless it is a parameter.

        Examples
        --------
        >>> from citeweave.experiments import choose
        >>> choose("louvain:topics=7").as_json()["kind"]
        'louvain'
        """
        if self.kind == TFIDF:
            return {"kind": self.kind}
        given = self.build(seed=0).get_params()
        if self.is_scntm:
            given = with_lengths(given)
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
    """Parse a text such as ``scntm``, ``pmtlm-dc`` or ``scntm:eta=10``.

    Parameters
    ----------
    text : str
        A kind, optionally followed by a colon and parameters separated by commas; several levels
        are joined by +, as in ``scntm:levels=venue+period``.
    **parameters
        Defaults, which the text may override. Parameters of SCNTM's sampler are ignored for models
        without one.

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
    """Return the available kinds.

    Examples
    --------
    >>> from citeweave.experiments import model_names
    >>> "scntm" in model_names(), "k-means" in model_names()
    (True, True)
    """
    return (*PRESETS, *BASELINES)


def is_installed(kind: str) -> bool:
    """Return whether the package that fits a model is installed.

    Examples
    --------
    >>> from citeweave.experiments import is_installed
    >>> is_installed("scntm")
    True
    """
    package = _PACKAGES.get(kind)
    return package is None or find_spec(package) is not None


def _baseline(kind: str, parameters: dict[str, Any]) -> Any:
    return make_baseline(kind, **parameters)


def _checked(parameters: Mapping[str, Any]) -> dict[str, Any]:
    for name in ("seed", "threads", "model"):
        if name in parameters:
            raise ParameterError(
                f"'{name}' cannot be a parameter of a model in an experiment, which sets seeds "
                "and threads itself and takes the name of the model first."
            )
    unknown = [name for name in parameters if name not in SCNTM().get_params()]
    if unknown:
        raise ParameterError(
            f"SCNTM has no parameter {unknown[0]!r}. "
            f"Did you mean one of: {', '.join(SCNTM().get_params())}?"
        )
    return dict(parameters)


def _value(text: str) -> Any:
    """Read a value as typed: a number, true or false, or a word."""
    words = {"true": True, "false": False, "none": None, "inf": math.inf, "infinity": math.inf}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
