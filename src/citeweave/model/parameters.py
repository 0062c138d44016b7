"""The parameters of `SCNTM`: one table of what each may be, and the plan that follows from them."""

import dataclasses
import hashlib
import json
import math
import numbers
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from citeweave.engines.core.spec import PRESETS, Level, ModelSpec, preset
from citeweave.engines.core.stirling import DISCOUNT_LIMIT
from citeweave.engines.dense.chain import MOST_TOPICS, Settings
from citeweave.errors import ParameterError
from citeweave.model.devices import CPU, CUDA, DEVICES
from citeweave.model.sweeps import AUTO, KINDS, OLD_RUNS, SEQUENTIAL, SNAPSHOT, choose_sweep

__all__ = ["Plan", "fail", "make_plan", "parameters_from_json", "parameters_to_json"]

KEPT_SAMPLES = 50
"""About how many samples are kept where ``thin`` is not given."""


def fail(name: str, wanted: str, value: object) -> ParameterError:
    """Return the error for a wrong value, in the one template of this class."""
    return ParameterError(
        f"The '{name}' parameter of SCNTM must be {wanted}. Got {value!r} instead."
    )


class _Rule(NamedTuple):
    wanted: str
    accepts: Callable[[Any], bool]


def _is_integer(value: object, lowest: int, highest: float = math.inf) -> bool:
    return (
        isinstance(value, numbers.Integral)
        and not isinstance(value, bool)
        and lowest <= int(value) <= highest
    )


def _is_real(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_eta(value: object) -> bool:
    if isinstance(value, str):
        return value == "inf"
    return _is_real(value) and value >= 0 and (value == math.inf or value == int(value))  # type: ignore[operator, call-overload]


def _is_discount(value: object) -> bool:
    return value is None or (_is_real(value) and 0 <= value <= DISCOUNT_LIMIT)  # type: ignore[operator]


def _is_prior(value: object) -> bool:
    return (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(_is_real(part) and 0 < part < math.inf for part in value)
    )


def _one_of(*names: str) -> _Rule:
    text = " or ".join(f"'{name}'" for name in names)
    return _Rule(text, lambda value: isinstance(value, str) and value in names)


def _integer(lowest: int, highest: int | None = None, *, none: str = "") -> _Rule:
    bounds = f"of at least {lowest}" if highest is None else f"from {lowest} to {highest}"
    text = f"an integer {bounds}" + (f", or None for {none}" if none else "")
    most = math.inf if highest is None else highest
    return _Rule(
        text, lambda value: bool(none and value is None) or _is_integer(value, lowest, most)
    )


_PRIOR = _Rule("a pair of numbers greater than 0 (shape, rate)", _is_prior)
_DISCOUNT = _Rule(f"a number from 0 to {DISCOUNT_LIMIT}, or None for the model's own", _is_discount)

RULES: dict[str, _Rule] = {
    "topics": _integer(1, MOST_TOPICS),
    "eta": _Rule("an integer of at least 0, or infinity (math.inf or 'inf')", _is_eta),
    "iterations": _integer(1),
    "network_from": _integer(0, none="half the iterations"),
    "seed": _integer(0, none="a fresh one"),
    "chains": _integer(1),
    "model": _Rule(
        f"a ModelSpec or one of {', '.join(repr(name) for name in PRESETS)}",
        lambda value: isinstance(value, ModelSpec) or (isinstance(value, str) and value in PRESETS),
    ),
    "burn_in": _integer(0, none="three quarters of the iterations"),
    "thin": _integer(1, none=f"about {KEPT_SAMPLES} samples"),
    "unknown": _one_of("shared", "own"),
    "combine": _one_of("auto", "average", "best", "consensus"),
    "concentration": _Rule(
        "a number greater than 0", lambda value: _is_real(value) and 0 < value < math.inf
    ),
    "concentration_prior": _PRIOR,
    "propensity_prior": _PRIOR,
    "self_citations": _Rule("True or False", lambda value: isinstance(value, bool)),
    "topic_discount": _DISCOUNT,
    "word_discount": _DISCOUNT,
    "sweep": _one_of(*KINDS),
    "rounds": _integer(1, none="a number that the size of the corpus gives"),
    "threads": _integer(1, none="as many as there are cores"),
    "device": _one_of(*DEVICES),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """Checked parameters with every default filled in: what a run does."""

    spec: ModelSpec
    settings: Settings
    eta: float
    unknown: str
    combine: str
    iterations: int
    burn_in: int
    thin: int
    seed: int
    chains: int
    sweep: str
    """"auto" until `for_corpus` has chosen."""
    rounds: int | None
    """Snapshots a sweep; None for sequential sweeps, and until `for_corpus` has chosen."""
    threads: int
    """Cores used in all."""
    device: str
    """"auto" until `citeweave.model.devices` has looked what there is."""

    def for_corpus(self, *, tokens: int, documents: int, words: int) -> Self:
        """Choose what was left open of the sweeps, by the sizes of corpus and model alone.

        ``words`` is the size of the vocabulary.
        """
        wanted = SNAPSHOT if self.sweep == AUTO and self.device == CUDA else self.sweep
        cells = words * self.settings.topics
        sweep, rounds = choose_sweep(
            wanted, self.rounds, tokens=tokens, documents=documents, cells=cells
        )
        device = CPU if sweep == SEQUENTIAL else self.device
        return dataclasses.replace(self, sweep=sweep, rounds=rounds, device=device)

    def on(self, device: str) -> Self:
        """Give the same plan for another device."""
        return dataclasses.replace(self, device=device)

    @property
    def chains_at_a_time(self) -> int:
        """Chains that run side by side: cores go to chains first, a GPU has one at a time."""
        return 1 if self.device == CUDA else min(self.chains, self.threads)

    @property
    def threads_per_chain(self) -> int:
        """Workers of each chain's snapshot sweeps: what chains leave, shared out evenly."""
        if self.sweep == SEQUENTIAL:
            return 1
        return max(1, self.threads // self.chains_at_a_time)

    def keeps(self, iteration: int) -> bool:
        """Whether the state after so many iterations is a kept sample; the last always is."""
        return iteration > self.burn_in and (self.iterations - iteration) % self.thin == 0

    @property
    def kept(self) -> int:
        """Number of samples that a chain keeps."""
        return (self.iterations - self.burn_in - 1) // self.thin + 1

    @property
    def first_kept(self) -> int:
        """Iterations done when the first sample is kept."""
        return self.iterations - (self.kept - 1) * self.thin

    @property
    def level_names(self) -> list[str]:
        """Names of the levels, topic side root first, then the word side."""
        return [level.name for level in (*self.spec.topic_side, *self.spec.word_side)]

    def digest(self) -> str:
        """Hash all that decides what a chain draws, so that no foreign checkpoint is taken."""
        content = {
            "spec": dataclasses.asdict(self.spec),
            "settings": self.settings._asdict(),
            "schedule": [self.iterations, self.burn_in, self.thin],
            "groups": [_number_to_json(self.eta), self.unknown],
            "seed": self.seed,
        }
        if self.sweep != SEQUENTIAL:  # which has the digest of runs before there was a choice
            content["sweep"] = [self.sweep, self.rounds]
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def make_plan(parameters: Mapping[str, Any]) -> Plan:
    """Check the parameters of `SCNTM` against the table, and fill in what was left open."""
    for name, rule in RULES.items():
        if not rule.accepts(parameters[name]):
            raise fail(name, rule.wanted, parameters[name])
    p = dict(parameters)
    spec = p["model"] if isinstance(p["model"], ModelSpec) else preset(p["model"])
    spec = spec.with_discounts(topics=p["topic_discount"], words=p["word_discount"])
    names = [level.name for level in (*spec.topic_side, *spec.word_side)]
    if len(set(names)) < len(names):
        raise fail("model", "a model whose levels have different names", names)
    discounts = [level.discount for level in (*spec.topic_side, *spec.word_side)]
    if max(discounts) > DISCOUNT_LIMIT:
        raise fail("model", f"a model whose discounts are at most {DISCOUNT_LIMIT}", discounts)
    iterations = int(p["iterations"])
    network_from = iterations // 2 if p["network_from"] is None else int(p["network_from"])
    if network_from >= iterations:
        raise fail(
            "network_from",
            f"less than iterations ({iterations}), so that citations count at all",
            network_from,
        )
    lowest = network_from if spec.citations is not None else 0
    burn_in = max(3 * iterations // 4, lowest) if p["burn_in"] is None else int(p["burn_in"])
    if not lowest <= burn_in < iterations:
        raise fail(
            "burn_in",
            f"from {lowest} ({'network_from' if lowest else 'the start'}) to {iterations - 1} "
            "(one less than iterations)",
            burn_in,
        )
    thin = p["thin"]
    if thin is None:
        thin = max(1, (iterations - burn_in) // KEPT_SAMPLES)
    if p["device"] == CUDA and p["sweep"] == SEQUENTIAL:
        raise fail(
            "device",
            f"'{CPU}' or '{AUTO}' where sweep is '{SEQUENTIAL}': a GPU makes snapshot sweeps",
            p["device"],
        )
    if p["rounds"] is not None and p["sweep"] != SNAPSHOT and p["device"] != CUDA:
        raise fail(
            "rounds", f"None unless sweep is '{SNAPSHOT}' (it is '{p['sweep']}')", p["rounds"]
        )
    return Plan(
        spec=spec,
        settings=Settings(
            topics=int(p["topics"]),
            network_from=network_from,
            concentration=float(p["concentration"]),
            concentration_prior=_pair(p["concentration_prior"]),
            propensity_prior=_pair(p["propensity_prior"]),
            self_citation=int(p["self_citations"]),
        ),
        eta=float(p["eta"]),
        unknown=p["unknown"],
        combine=p["combine"],
        iterations=iterations,
        burn_in=burn_in,
        thin=int(thin),
        seed=secrets.randbits(32) if p["seed"] is None else int(p["seed"]),
        chains=int(p["chains"]),
        sweep=p["sweep"],
        rounds=None if p["rounds"] is None else int(p["rounds"]),
        threads=_cores() if p["threads"] is None else int(p["threads"]),
        device=p["device"],
    )


def _pair(value: Any) -> tuple[float, float]:
    first, second = value
    return float(first), float(second)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _number_to_json(value: Any) -> Any:
    """JSON has no infinity, and NumPy's numbers are not known to it."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = float(value)
        if number == math.inf:
            return "inf"
        return int(number) if number == int(number) else number
    return value


def parameters_to_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Write parameters (checked before) so that JSON can hold them."""
    out: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, ModelSpec):
            out[name] = dataclasses.asdict(value)
        elif isinstance(value, tuple | list):
            out[name] = [_number_to_json(part) for part in value]
        else:
            out[name] = _number_to_json(value)
    return out


def parameters_from_json(content: Mapping[str, Any]) -> dict[str, Any]:
    """Read parameters written by `parameters_to_json`, of this release or one before it."""
    out: dict[str, Any] = dict(OLD_RUNS)
    for name, value in content.items():
        if name == "model" and isinstance(value, dict):
            out[name] = spec_from_json(value)
        elif isinstance(value, list):
            out[name] = tuple(value)
        elif name == "eta" and value == "inf":
            out[name] = math.inf
        else:
            out[name] = value
    return out


def spec_from_json(content: Mapping[str, Any]) -> ModelSpec:
    """Build a model from its fields, as `dataclasses.asdict` gives them."""
    sides = {
        side: tuple(Level(**level) for level in content[side])
        for side in ("topic_side", "word_side")
    }
    return ModelSpec(**(dict(content) | sides))
