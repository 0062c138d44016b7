"""Results on disk: save and load runs, and read back the plan that they were made by."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.storage import corpus_counts
from citeweave.engines.registry import AUTO
from citeweave.errors import ParameterError, RunError
from citeweave.files import writing
from citeweave.model.matching import Combination
from citeweave.model.parameters import (
    CHOSEN,
    OLD_RUNS,
    STAGES,
    Plan,
    make_plan,
    parameters_from_json,
    parameters_to_json,
)
from citeweave.model.planting import plant_tree
from citeweave.model.results import Result, combine_results, name_estimates, stack_traces
from citeweave.model.settling import Settlement, judged_from
from citeweave.model.traces import new_traces
from citeweave.runs.checkpoint import (
    Checkpoint,
    Identity,
    chain_folder,
    read_latest,
    write_checkpoint,
)
from citeweave.runs.folder import RunFolder

__all__ = [
    "load_result",
    "plan_contents",
    "run_contents",
    "save_result",
    "stored_choices",
    "stored_plan",
    "stored_settlement",
    "summary_contents",
]


def load_result(folder: str | os.PathLike[str]) -> Result:
    """Read a run, done or not; see `citeweave.load`."""
    run = RunFolder.open(folder)
    run.check_kind()
    parameters, plan = stored_plan(run)
    if not run.done:
        return _load_unfinished(run, plan, parameters)
    if not run.is_complete():
        raise RunError(
            f"Files of the run '{run.path}' are missing or damaged; restore them from its "
            f"chains: citeweave resume {run.path}"
        )
    try:
        stored = run.manifest["result"]
        combination = Combination(**stored["combination"])
        samples, iterations = int(stored["samples"]), int(stored["iterations"])
        agreements = [float(value) for value in stored.get("category_agreements", ())]
        settlement = stored_settlement(run)
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(
            f"The manifest of '{run.path}' is damaged ({type(error).__name__}: {error}); fit again."
        ) from error
    if settlement is not None and not plan.exactly:
        plan = plan.sampling_from(settlement.iteration)
    return Result(
        plan=plan,
        settlement=settlement,
        parameters=dict(parameters),
        estimates=run.estimates(),
        traces=run.traces(),
        combination=combination,
        category_agreements=agreements,
        samples=samples,
        iterations=iterations,
        open_corpus=run.corpus,
        source=run.manifest["corpus"].get("path"),
        folder=run.path,
        notes=tuple(run.manifest.get("notes", ())),
        held_out=run.held_out(),
    )


def save_result(
    result: Result,
    folder: str | os.PathLike[str],
    *,
    overwrite: bool,
) -> Path:
    """Write a result as a run folder that is done; see `SCNTM.save`."""
    if result.iterations < result.plan.iterations:
        raise RunError(
            f"The run '{result.folder}' is unfinished (iteration {result.iterations} of "
            f"{result.plan.iterations}); continue with `citeweave resume {result.folder}`, "
            "then save."
        )
    if result.folder is not None and Path(folder).resolve() == result.folder.resolve():
        raise RunError(f"The model is already saved in '{folder}'.")
    contents = run_contents(result.parameters, result.plan, result.corpus, result.source)
    contents["notes"] = list(result.notes)
    with RunFolder.create(folder, overwrite=overwrite, contents=contents) as run:
        run.store_corpus(result.corpus)
        run.store_held_out(result.held_out)
        run.copy_names(result.folder)
        if result.folder is not None:
            with writing(run.chains, "Free some space or choose another folder."):
                chains = RunFolder.open(result.folder).chains
                shutil.copytree(chains, run.chains, dirs_exist_ok=True)
        for chain, state in enumerate(result.states):
            identity = Identity(result.corpus.fingerprint, result.plan.digest(), chain)
            traces = {name: trace[chain] for name, trace in result.traces.items()}
            found = None if result.settlement is None else result.settlement.as_json()
            checkpoint = Checkpoint(result.iterations, dict(state), None, traces, settlement=found)
            write_checkpoint(chain_folder(run.chains, chain), identity, checkpoint)
        run.finish(
            result.estimates, result.traces, summary_contents(result), plan_contents(result.plan)
        )
    return run.path


def _load_unfinished(run: RunFolder, plan: Plan, parameters: Mapping[str, Any]) -> Result:
    """Make a result from the latest checkpoints, if any chain has kept samples."""
    fingerprint, digest = run.manifest["corpus"]["fingerprint"], plan.digest()
    sums, traces, done, notes = [], [], [], []
    decided: Settlement | None = None
    for number in range(plan.chains):
        folder = chain_folder(run.chains, number)
        checkpoint, refused = read_latest(folder, Identity(fingerprint, digest, number))
        notes += refused
        if checkpoint is None or checkpoint.sums is None:
            continue
        whole = new_traces(plan.level_names, plan.iterations)
        for name, trace in checkpoint.traces.items():
            whole[name][: len(trace)] = trace
        sums.append(checkpoint.sums)
        traces.append(whole)
        done.append(checkpoint.iteration)
        if checkpoint.settlement is not None:
            decided = Settlement.from_json(checkpoint.settlement)
    if not sums:
        raise RunError(
            f"The run '{run.path}' is unfinished and has kept no samples yet: "
            f"run `citeweave resume {run.path}`."
        )
    if decided is not None:
        plan = plan.sampling_from(decided.iteration)
    elif not plan.exactly:  # only interim sums over the latter half so far
        plan = replace(
            plan,
            burn_in=min(judged_from(plan.joined, min(done)), min(done) - 1),
            asked=(plan.iterations, plan.burn_in),
        )
    corpus = run.corpus()
    tree = plant_tree(corpus, plan)
    together = combine_results(plan, sums, traces, corpus)
    samples = int(together.sums.samples[0])
    return Result(
        plan=plan,
        parameters=dict(parameters),
        estimates=name_estimates(plan.spec, together.sums, tree, corpus, together.classes),
        traces=stack_traces(traces),
        combination=together.how,
        category_agreements=together.category_agreements,
        samples=samples,
        iterations=min(done),
        open_corpus=lambda: corpus,
        source=run.manifest["corpus"].get("path"),
        folder=run.path,
        notes=(f"unfinished: iteration {min(done)} of {plan.iterations}", *notes),
        held_out=run.held_out(),
    )


def stored_plan(
    run: RunFolder,
    threads: int | None = None,
    device: str | None = None,
    cluster: Mapping[str, Any] = MappingProxyType({}),
    *,
    longer: bool = False,
) -> tuple[dict[str, Any], Plan]:
    """Read the parameters of a run, or of its extension under way, and plan it."""
    try:
        under_way = run.longer if longer else None
        content = run.manifest["parameters"] if under_way is None else under_way.parameters
        parameters = parameters_from_json(content)
        if threads is not None:
            parameters["threads"] = threads
        if cluster.get("engine") == AUTO:  # without workers from here on
            parameters |= {"workers": None, "address": None}
        parameters |= {name: value for name, value in cluster.items() if value is not None}
        chosen = stored_choices(run)
        if device is not None:
            chosen["device"] = device
        return parameters, make_plan(parameters | chosen | {"seed": run.manifest["seed"]})
    except (KeyError, TypeError, AttributeError) as error:
        raise RunError(
            f"The parameters of the run '{run.path}' cannot be read "
            f"({type(error).__name__}: {error}); fit again."
        ) from error
    except ParameterError as error:
        raise RunError(f"The run '{run.path}' cannot be used: {error}") from error


def stored_choices(run: RunFolder) -> dict[str, Any]:
    """Return the run's choices for its corpus and machine."""
    stored = run.manifest.get("plan", {})
    chosen = {name: stored.get(name, OLD_RUNS[name]) for name in CHOSEN}
    return chosen | {name: stored[name] for name in STAGES if name in stored}


def run_contents(
    parameters: Mapping[str, Any], plan: Plan, corpus: Corpus, source: str | None
) -> dict[str, Any]:
    """Return what the manifest of a run says about its model and corpus."""
    return {
        "parameters": parameters_to_json(parameters),
        "seed": plan.seed,
        "plan": plan_contents(plan),
        "spec": asdict(plan.spec),
        "corpus": {
            "fingerprint": corpus.fingerprint,
            "path": source,
            "counts": corpus_counts(corpus),
        },
    }


def plan_contents(plan: Plan) -> dict[str, Any]:
    """Return what the manifest of a run says about how its chains run."""
    return {
        "network_from": plan.settings.network_from,
        "burst_from": plan.settings.burst_from,
        "start": plan.start,
        "burn_in": plan.burn_in,
        "thin": plan.thin,
        "samples_per_chain": plan.kept,
        "sweep": plan.sweep,
        "rounds": plan.rounds,
        "device": plan.device,
        "engine": plan.engine,
        "word_weight": plan.spec.word_weight,
    }


def summary_contents(result: Result) -> dict[str, Any]:
    """Return what the manifest of a finished run says about its result."""
    estimates = result.estimates
    agreements = {"category_agreements": list(result.category_agreements)}
    return {
        **(agreements if result.category_agreements else {}),
        "iterations": result.iterations,
        "samples": result.samples,
        "topics_in_use": int(np.count_nonzero(estimates["topic_samples"])),
        "log_likelihood": result.combination.likelihoods[result.combination.best],
        "combination": result.combination._asdict(),
        "settlement": None if result.settlement is None else result.settlement.as_json(),
    }


def stored_settlement(run: RunFolder) -> Settlement | None:
    """Read the settlement of a run; None for runs of earlier releases."""
    stored = run.manifest.get("result", {}).get("settlement")
    return None if stored is None else Settlement.from_json(stored)
