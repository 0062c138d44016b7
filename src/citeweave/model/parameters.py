"""The plan of a run, which follows from the parameters of `SCNTM`, and parameters as JSON."""

import dataclasses
import hashlib
import json
import math
import numbers
import os
import secrets
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from citeweave import naming
from citeweave.corpus.columns import PERIOD
from citeweave.engines.core.capabilities import SEQUENTIAL, SNAPSHOT
from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.spec import DISCOUNT_LIMIT, PAPER, ZERO, ModelSpec, preset
from citeweave.engines.registry import AUTO, ENGINES, devices, one_chain, sweeps
from citeweave.errors import ParameterError
from citeweave.model.sweeps import choose_sweep
from citeweave.parameters import Parameter, check_values, refusal
from citeweave.parameters.declaring import UNSET
from citeweave.parameters.scntm import (
    ALL_AUTHORS,
    BURST_FROM,
    BURST_SHARE,
    CATEGORY_CHAINS,
    CATEGORY_ITERATIONS,
    CHAINS,
    CHOOSE_WEIGHT,
    DRAW,
    EQUAL_SHARES,
    FIRST_AUTHOR,
    ITERATIONS,
    KEPT_SAMPLES,
    NETWORK_FROM,
    NETWORK_SHARE,
    NO_LABELS,
    PARAMETERS,
    RANDOM,
    TIE,
    TIED,
    SCNTMParameters,
    self_citations_named,
)

__all__ = [
    "CHOSEN",
    "GIVEN",
    "OLD_RUNS",
    "STAGES",
    "Plan",
    "fail",
    "make_plan",
    "parameters_from_json",
    "parameters_to_json",
    "with_lengths",
]


def old_values(table: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the behaviour of runs made before some of the parameters existed."""
    return {name: one.before for name, one in table.items() if one.before is not UNSET}


OLD_RUNS = old_values(PARAMETERS)
"""Values of parameters for runs made before the parameter existed."""

SAMPLED = 200
"""Maximum number of iterations in which samples are kept, by default, when chains run until they
agree."""

CHOSEN = ("sweep", "rounds", "device", "word_weight")
"""Parameters that a run chooses for its corpus and machine; the manifest stores the choice."""
STAGES = ("network_from", "burst_from")
"""Parameters whose defaults follow a rule of the release; the manifest stores their values."""


GIVEN = "given-"
"""Prefix of the name of given topics in manifests; their checksum follows."""


def fail(name: str, wanted: str, value: object) -> ParameterError:
    """Return the error for a wrong value of a parameter of `SCNTM`."""
    return refusal(_in_words(name), wanted, value)


def _in_words(name: str) -> str:
    return naming.parameter(name, "SCNTM")


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run: checked parameters with all defaults filled in."""

    spec: ModelSpec
    settings: ChainSettings
    eta: float
    unknown: str
    combine: str
    iterations: int
    burn_in: int
    thin: int
    start: str
    """Name of the start, or of its source."""
    seed: int
    chains: int
    sweep: str
    """"auto" until `for_corpus` has chosen."""
    rounds: int | None
    """Snapshots per sweep; None for sequential sweeps, and until `for_corpus` has chosen."""
    threads: int
    """Total number of cores."""
    device: str
    """"auto" until `citeweave.model.chains` has chosen; that of each worker, if there are any."""
    categories: int | None = None
    """Minimum number of latent categories; None if labels determine it, or without any."""
    labels: str = NO_LABELS
    """Whether papers keep their labels, with latent categories."""
    period_years: int | None = None
    """Width of periods; None to choose it by the years of the corpus."""
    contributions: str = EQUAL_SHARES
    """Prior of authors' shares in papers, if all authors count."""
    chooses_weight: bool = False
    """Whether the weight of words, 1 so far, has yet to be chosen for the corpus."""
    weighing: str = ""
    """Description of how the weight of words was chosen, if it was."""
    exactly: bool = True
    """Whether ``iterations`` is an exact number rather than a maximum."""
    minutes: float | None = None
    give_up: bool = False
    asked: tuple[int, int] | None = None
    """Planned iterations and burn-in, if the run has found its own."""
    engine: str = ""
    """Name of the engine; empty until it is chosen with the device."""
    machine: str = ""
    """The device in words; empty for this process."""
    workers: int = 1
    """Processes that share a chain, if the engine divides it."""
    address: str | None = None
    """Address of the cluster of these workers; None for this computer."""

    def for_corpus(self, *, tokens: int, documents: int, words: int) -> Self:
        """Choose the sweeps, if not given, from the sizes of corpus and model alone.

        ``words`` is the size of the vocabulary.
        """
        wanted, possible = self.sweep, sweeps(self.device)
        sequential = self.spec.draws_categories or self.spec.word_weight != 1.0
        if wanted == AUTO and sequential and SEQUENTIAL in possible:
            wanted = SEQUENTIAL  # the only one that samples categories and weighs words
        if wanted == AUTO and len(possible) == 1:  # the device leaves no choice
            wanted = next(iter(possible))
        cells = words * self.settings.topics
        sweep, rounds = choose_sweep(
            wanted, self.rounds, tokens=tokens, documents=documents, cells=cells
        )
        return dataclasses.replace(self, sweep=sweep, rounds=rounds)

    def weighing_words(self, weight: float, how: str = "") -> Self:
        """Return the plan with a chosen weight of words."""
        spec = dataclasses.replace(self.spec, word_weight=weight)
        return dataclasses.replace(self, spec=spec, chooses_weight=False, weighing=how)

    def on(self, device: str) -> Self:
        """Return the plan for another device."""
        return dataclasses.replace(self, device=device)

    @property
    def chains_at_a_time(self) -> int:
        """Number of chains that run in parallel; a GPU runs one at a time."""
        return 1 if one_chain(self.device, self.engine) else min(self.chains, self.threads)

    @property
    def threads_per_chain(self) -> int:
        """Workers of each chain's snapshot sweeps: the remaining cores, divided evenly."""
        if self.sweep == SEQUENTIAL:
            return 1
        return max(1, self.threads // self.chains_at_a_time)

    @property
    def divided(self) -> bool:
        """Whether chains are divided between workers, which write and read checkpoints."""
        return bool(self.engine) and ENGINES[self.engine].capabilities.divided

    @property
    def joined(self) -> int:
        """Iterations after which all parts of the model are on."""
        network_from = self.settings.network_from if self.spec.citations is not None else 0
        return max(network_from, self.settings.burst_from)

    def sampling_from(self, iteration: int) -> Self:
        """Return the schedule of a run that keeps samples from the given iteration on.

        Samples are kept for as many iterations as planned.
        """
        asked = self.asked or (self.iterations, self.burn_in)
        length = asked[0] - asked[1]
        return dataclasses.replace(
            self, iterations=iteration + length, burn_in=iteration, asked=asked
        )

    def keeps(self, iteration: int) -> bool:
        """Whether the state after this many iterations is a kept sample; the last always is."""
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
        """Hash everything that determines a chain's draws, to reject foreign checkpoints."""
        settings = self.settings._asdict()
        # unchanged defaults are left out, as in runs before the choice existed
        if not self.settings.burst_from:
            del settings["burst_from"]
        if not self.spec.draws_categories:
            del settings["category_prior"], settings["paper_concentration"]
        chosen = settings.pop("self_citations")  # x_ii was a number in those runs
        settings["self_citation"] = {PAPER: 1, ZERO: 0}.get(chosen, chosen)
        spec = dataclasses.asdict(self.spec)
        if self.spec.word_weight == 1.0:
            del spec["word_weight"]
        if not self.spec.tables_choose_author:
            del spec["tables_choose_author"]
        content = {
            "spec": spec,
            "settings": settings,
            "schedule": [*(self.asked or (self.iterations, self.burn_in)), self.thin],
            "groups": [_number_to_json(self.eta), self.unknown],
            "seed": self.seed,
        }
        if self.spec.tables_choose_author:
            content["contributions"] = self.contributions
        if self.spec.draws_categories:
            content["categories"] = [self.categories, self.labels]
        if self.spec.paper_levels:
            content["period_years"] = self.period_years
        if self.start != RANDOM:
            content["start"] = self.start
        if self.sweep != SEQUENTIAL:  # same digest as runs before the choice existed
            content["sweep"] = [self.sweep, self.rounds]
        if not self.exactly:
            content["until"] = "settled or out of reach" if self.give_up else "settled"
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def with_lengths(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in the number and length of chains, whose defaults depend on the model.

    Runs and experiments store these numbers, so that they stay the same if the defaults change.

    Examples
    --------
    >>> from citeweave import SCNTM
    >>> found = [with_lengths(SCNTM(categories=c).get_params()) for c in (None, 4)]
    >>> [(one["chains"], one["iterations"]) for one in found]
    [(2, 2000), (5, 300)]
    """
    drawn = parameters["categories"] is not None or parameters["labels"] != NO_LABELS
    usual = {
        "iterations": CATEGORY_ITERATIONS if drawn else ITERATIONS,
        "chains": CATEGORY_CHAINS if drawn else CHAINS,
    }
    left_open = {name: value for name, value in usual.items() if parameters[name] is None}
    return dict(parameters) | left_open


def make_plan(parameters: Mapping[str, Any]) -> Plan:
    """Check the parameters of `SCNTM` against the table, and fill in defaults."""
    check_values(SCNTMParameters.rules, parameters, _in_words)
    p = with_lengths(parameters)
    spec = p["model"] if isinstance(p["model"], ModelSpec) else preset(p["model"])
    spec = _with_levels(spec, p)
    spec = spec.with_discounts(topics=p["topic_discount"], words=p["word_discount"])
    spec = _with_categories(spec, p)
    spec = _with_authors(spec, p)
    spec, chooses_weight = _with_weight(spec, p["word_weight"])
    names = [level.name for level in (*spec.topic_side, *spec.word_side)]
    if len(set(names)) < len(names):
        raise fail("model", "a model whose levels have different names", names)
    discounts = [level.discount for level in (*spec.topic_side, *spec.word_side)]
    if max(discounts) > DISCOUNT_LIMIT:
        raise fail("model", f"a model whose discounts are at most {DISCOUNT_LIMIT}", discounts)
    iterations = int(p["iterations"])
    network_from = _stage(p, "network_from", NETWORK_FROM, NETWORK_SHARE)
    if network_from >= iterations:
        raise fail(
            "network_from",
            f"less than {naming.option('iterations')} ({iterations}), so that citations are used",
            network_from,
        )
    burst_from = _stage(p, "burst_from", BURST_FROM, BURST_SHARE)
    if spec.word_level("document-topic") is None:
        burst_from = 0
    if burst_from >= iterations:
        raise fail(
            "burst_from",
            f"less than {naming.option('iterations')} ({iterations}), so that burstiness is used",
            burst_from,
        )
    joins = {"network_from": network_from if spec.citations is not None else 0}
    joins["burst_from"] = burst_from
    last = max(joins, key=lambda name: joins[name])
    lowest = joins[last]
    burn_in = max(3 * iterations // 4, lowest)
    if not p["exactly"]:
        burn_in = max(burn_in, iterations - SAMPLED)
    if p["burn_in"] is not None:
        burn_in = int(p["burn_in"])
    if not lowest <= burn_in < iterations:
        raise fail(
            "burn_in",
            f"from {lowest} ({naming.option(last) if lowest else 'the start'}) to "
            f"{iterations - 1} (one less than {naming.option('iterations')})",
            burn_in,
        )
    thin = p["thin"]
    if thin is None:
        thin = max(1, (iterations - burn_in) // KEPT_SAMPLES)
    divided = _divided(p)
    possible = sweeps(p["device"]) if not divided else {SNAPSHOT}
    if p["sweep"] not in {AUTO, *possible}:
        able = [repr(name) for name in (AUTO, *devices()) if p["sweep"] in sweeps(name)]
        raise fail(
            "device",
            f"{' or '.join(able)} where {naming.option('sweep')} is '{p['sweep']}': "
            f"'{p['device']}' makes {' and '.join(sorted(possible))} sweeps",
            p["device"],
        )
    if p["rounds"] is not None and p["sweep"] != SNAPSHOT and possible != {SNAPSHOT}:
        raise fail(
            "rounds",
            f"{naming.choice('None', 'left out')} unless {naming.option('sweep')} is '{SNAPSHOT}' "
            f"(it is '{p['sweep']}')",
            p["rounds"],
        )
    if p["exactly"] and p["minutes"] is not None:
        raise fail("minutes", "None with a fixed number of iterations (exactly=True)", p["minutes"])
    return Plan(
        spec=spec,
        settings=ChainSettings(
            topics=int(p["topics"]),
            network_from=network_from,
            burst_from=burst_from,
            concentration=float(p["concentration"]),
            concentration_prior=_pair(p["concentration_prior"]),
            propensity_prior=_pair(p["propensity_prior"]),
            self_citations=_named_choice(p["self_citations"]),
            category_prior=float(p["category_prior"]),
            paper_concentration=_paper_concentration(p),
        ),
        eta=float(p["eta"]),
        unknown=p["unknown"],
        combine=p["combine"],
        iterations=iterations,
        burn_in=burn_in,
        thin=int(thin),
        start=_start_name(p["start"]),
        seed=secrets.randbits(32) if p["seed"] is None else int(p["seed"]),
        chains=int(p["chains"]),
        sweep=SNAPSHOT if divided else p["sweep"],
        rounds=None if p["rounds"] is None else int(p["rounds"]),
        threads=_cores() if p["threads"] is None else int(p["threads"]),
        device=p["device"],
        engine=p["engine"] if divided else "",
        workers=int(p["workers"] or 1),
        address=p["address"],
        categories=None if p["categories"] is None else int(p["categories"]),
        labels=p["labels"],
        period_years=None if p["period_years"] is None else int(p["period_years"]),
        contributions=p["contributions"],
        chooses_weight=chooses_weight,
        exactly=bool(p["exactly"]),
        minutes=None if p["minutes"] is None else float(p["minutes"]),
        give_up=bool(p["give_up"]),
    )


def _divided(p: Mapping[str, Any]) -> bool:
    """Return whether the engine divides chains between workers; reject what it cannot do."""
    divided = bool(p["engine"] != AUTO)
    none = naming.choice("None", "left out")
    for name in ("workers", "address"):
        if p[name] is not None and not divided:
            raise fail(name, f"{none} unless {naming.option('engine')} is 'ray'", p[name])
    if divided and p["sweep"] not in {AUTO, SNAPSHOT}:
        raise fail(
            "sweep", f"'{AUTO}' or '{SNAPSHOT}' where the engine is {p['engine']!r}", p["sweep"]
        )
    return divided


def _with_levels(spec: ModelSpec, p: Mapping[str, Any]) -> ModelSpec:
    """Add the levels that divide papers, if requested."""
    for name in p["levels"]:
        spec = spec.with_level(name)
    periods = any(level.nodes == PERIOD for level in spec.paper_levels)
    if p["period_years"] is not None and not periods:
        wanted = naming.choice("None", "left out")
        raise fail(
            "period_years", f"{wanted} for a model without a level 'period'", p["period_years"]
        )
    return spec


def _with_categories(spec: ModelSpec, p: Mapping[str, Any]) -> ModelSpec:
    """Put latent categories above papers, if requested."""
    if p["categories"] is None and p["labels"] == NO_LABELS:
        if spec.draws_categories:
            raise fail("categories", f"a number for the model {spec.name!r}", None)
        return spec
    if float(p["eta"]) not in {0.0, math.inf}:
        raise fail("eta", "0 or infinity for a model with latent categories", p["eta"])
    return spec if spec.draws_categories else spec.with_categories()


def _with_authors(spec: ModelSpec, p: Mapping[str, Any]) -> ModelSpec:
    """Use all authors of a paper, if requested."""
    if p["authors"] != ALL_AUTHORS or spec.tables_choose_author:
        return spec
    if spec.draws_categories:
        wanted = f"'{FIRST_AUTHOR}' for a model with latent categories"
        raise fail("authors", wanted, p["authors"])
    try:
        return spec.with_all_authors()
    except ParameterError as error:
        wanted = f"'{FIRST_AUTHOR}' for the model {spec.name!r}"
        raise fail("authors", wanted, p["authors"]) from error


def _with_weight(spec: ModelSpec, weight: Any) -> tuple[ModelSpec, bool]:
    """Set the weight of words; return whether it has yet to be chosen."""
    if weight != CHOOSE_WEIGHT:
        weighed = dataclasses.replace(spec, word_weight=float(weight))
        return spec if weighed.word_weight == 1.0 else weighed, False
    if spec.citations is None:
        wanted = f"a number for the model {spec.name!r}, which has no citations to choose it by"
        raise fail("word_weight", wanted, weight)
    return spec, True


def _stage(p: Mapping[str, Any], name: str, usual: int, share: int) -> int:
    """Return the iterations before a part of the model joins: as given, or early in the run."""
    if p[name] is not None:
        return int(p[name])
    bounds = [usual, int(p["iterations"]) // share]
    return min(bounds if p["burn_in"] is None else [*bounds, int(p["burn_in"])])


def _paper_concentration(p: Mapping[str, Any]) -> float | None:
    """Return the fixed concentration of papers about their category; None if it is sampled."""
    chosen = p["paper_concentration"]
    if chosen == TIE:
        return TIED if p["labels"] == NO_LABELS and p["categories"] is not None else None
    return None if chosen is None or chosen == DRAW else float(chosen)


def _named_choice(value: Any) -> str:
    """Return the name of a choice of ``self_citations``, with a warning for old values."""
    name: str = self_citations_named(value)
    if name != value:
        warnings.warn(
            f"self_citations={value!r} is now self_citations={name!r}; True and False will be "
            "refused in the next release.",
            DeprecationWarning,
            stacklevel=4,
        )
    return name


def _pair(value: Any) -> tuple[float, float]:
    first, second = value
    return float(first), float(second)


def _start_name(start: Any) -> str:
    """Name a start: its own name, the folder of a run, or a checksum of topics."""
    if hasattr(start, "fit") and not hasattr(start, "_fitted"):
        raise fail("start", "a fitted model", start)
    if hasattr(start, "_fitted"):
        result = start._fitted  # noqa: SLF001 (of this package)
        if result.folder is not None:
            return str(result.folder)
        start = [state["assignments.topic"] for state in result.states]
    if isinstance(start, str | os.PathLike):
        return str(os.fspath(start))
    digest = hashlib.sha256(repr(np.shape(start)).encode())
    digest.update(np.ascontiguousarray(start).astype(np.int64, casting="unsafe").tobytes())
    return f"{GIVEN}{digest.hexdigest()[:16]}"


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _number_to_json(value: Any) -> Any:
    """Convert values that JSON does not know: infinity and NumPy's numbers."""
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
        if name == "start":
            out[name] = _start_name(value)
        elif isinstance(value, ModelSpec):
            out[name] = dataclasses.asdict(value)
        elif isinstance(value, tuple | list):
            out[name] = [_number_to_json(part) for part in value]
        else:
            out[name] = _number_to_json(value)
    return out


def parameters_from_json(content: Mapping[str, Any]) -> dict[str, Any]:
    """Read parameters written by `parameters_to_json`, of this release or one before it."""
    found = OLD_RUNS | {
        name: PARAMETERS[name].from_json(value) if name in PARAMETERS else value
        for name, value in content.items()
    }
    known = isinstance(found.get("iterations"), int)  # may be absent in a damaged manifest
    if known and "burst_from" not in content and found.get("network_from") is None:
        found["network_from"] = int(found["iterations"]) // 2  # the default at that time
    return found
