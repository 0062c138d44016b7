"""From parameters and a corpus to a result: fit, go on, load and save."""

import os
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.storage import corpus_counts
from citeweave.engines.core.capabilities import CPU
from citeweave.engines.registry import AUTO
from citeweave.errors import CorpusError, ParameterError, RunError
from citeweave.files import writing
from citeweave.model.chains import open_chains
from citeweave.model.groups import Tree, build_tree
from citeweave.model.matching import Combination
from citeweave.model.parameters import (
    CHOSEN,
    OLD_RUNS,
    Plan,
    fail,
    make_plan,
    parameters_from_json,
    parameters_to_json,
)
from citeweave.model.results import Result, combine_results, name_estimates, stack_traces
from citeweave.model.runner import Progress, Runner, Timing
from citeweave.model.starts import first_topics
from citeweave.model.traces import new_traces
from citeweave.naming import choice
from citeweave.runs.checkpoint import (
    Checkpoint,
    Identity,
    chain_folder,
    keep_newest,
    read_latest,
    write_checkpoint,
)
from citeweave.runs.folder import RunFolder, check_target

__all__ = ["load_result", "resume_run", "run_model", "save_result"]

Source = Corpus | str | os.PathLike[str]


def run_model(
    plan: Plan,
    parameters: Mapping[str, Any],
    corpus: Source,
    *,
    out: str | os.PathLike[str] | None,
    overwrite: bool,
    progress: Callable[[Progress], object] | None,
    checkpoint_seconds: float | None,
    checkpoint_iterations: int | None,
    stop: threading.Event | None,
    held_out: Mapping[str, np.ndarray] | None = None,
    announce: Callable[[Plan], object] | None = None,
) -> Result:
    """Run all chains of a plan and combine them; see `SCNTM.fit`.

    ``announce`` is told the plan, its engine chosen, before the first iteration.
    """
    timing = make_timing(checkpoint_seconds, checkpoint_iterations)
    if out is not None:
        check_target(Path(out), overwrite=overwrite)
    corpus, source = open_corpus(corpus)
    plan = plan.for_corpus(
        tokens=corpus.n_tokens, documents=corpus.n_documents, words=corpus.vocabulary_size
    )
    tree = build_tree(corpus, plan.spec, eta=plan.eta, unknown=plan.unknown)
    start = first_topics(parameters["start"], plan, corpus, tree.data, load_result)
    opened = open_chains(plan, tree.data)
    plan = opened.plan
    if announce is not None:
        announce(plan)
    runner = partial(
        Runner,
        plan,
        tree.data,
        fingerprint=corpus.fingerprint,
        timing=timing,
        progress=progress,
        stop=stop,
        first=opened.first,
        start=start,
        notes=opened.notes,
    )
    if out is None:
        result = _finish(runner(), tree, parameters, corpus, source, None, resume=False)
        return replace(result, held_out=dict(held_out or {}))
    contents = _contents(parameters, plan, corpus, source)
    with RunFolder.create(out, overwrite=overwrite, contents=contents) as run:
        run.store_corpus(corpus)
        run.store_held_out(held_out or {})
    with run.lock():
        return _finish(
            runner(chains=run.chains), tree, parameters, corpus, source, run, resume=False
        )


def resume_run(
    folder: str | os.PathLike[str],
    corpus: Source | None,
    *,
    progress: Callable[[Progress], object] | None,
    checkpoint_seconds: float | None,
    checkpoint_iterations: int | None,
    threads: int | None,
    device: str | None,
    stop: threading.Event | None,
) -> Result:
    """Go on with the chains of a run; see `citeweave.resume`."""
    run = RunFolder.open(folder)
    run.check_kind()
    timing = make_timing(checkpoint_seconds, checkpoint_iterations)
    opened = None if corpus is None else open_corpus(corpus)[0]
    if opened is not None:
        run.check_corpus(opened)
    if run.is_complete(thorough=True):
        return load_result(folder)
    parameters, plan = _stored_plan(run, threads, device)
    begun_on = run.manifest.get("plan", {}).get("device", CPU)
    opened = opened or run.corpus(thorough=True)
    with run.lock():
        tree = build_tree(opened, plan.spec, eta=plan.eta, unknown=plan.unknown)
        # where nothing is said, a run goes on without the device that it was begun on too
        wanted = plan.on(AUTO) if device is None and begun_on != CPU else plan
        chains = open_chains(wanted, tree.data, begun_on=begun_on)

        def start(number: int) -> np.ndarray | None:  # asked where a chain has no checkpoint yet
            value = parameters["start"]
            return first_topics(value, chains.plan, opened, tree.data, load_result)(number)

        runner = Runner(
            chains.plan,
            tree.data,
            fingerprint=opened.fingerprint,
            chains=run.chains,
            timing=timing,
            progress=progress,
            stop=stop,
            first=chains.first,
            start=start,
            notes=chains.notes,
        )
        source = run.manifest["corpus"].get("path")
        return _finish(runner, tree, parameters, opened, source, run, resume=True)


def load_result(folder: str | os.PathLike[str]) -> Result:
    """Read a run, done or not; see `citeweave.load`."""
    run = RunFolder.open(folder)
    run.check_kind()
    parameters, plan = _stored_plan(run)
    if not run.done:
        return _load_unfinished(run, plan, parameters)
    if not run.is_complete():
        raise RunError(
            f"Files of the run '{run.path}' are missing or damaged; make them anew from its "
            f"chains: citeweave resume {run.path}"
        )
    try:
        stored = run.manifest["result"]
        combination = Combination(**stored["combination"])
        samples, iterations = int(stored["samples"]), int(stored["iterations"])
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(
            f"The manifest of '{run.path}' is damaged ({type(error).__name__}: {error}); fit again."
        ) from error
    return Result(
        plan=plan,
        parameters=dict(parameters),
        estimates=run.estimates(),
        traces=run.traces(),
        combination=combination,
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
            f"{result.plan.iterations}); go on with `citeweave resume {result.folder}`, then save."
        )
    if result.folder is not None and Path(folder).resolve() == result.folder.resolve():
        raise RunError(f"The model is saved in '{folder}' already.")
    contents = _contents(result.parameters, result.plan, result.corpus, result.source)
    contents["notes"] = list(result.notes)
    with RunFolder.create(folder, overwrite=overwrite, contents=contents) as run:
        run.store_corpus(result.corpus)
        run.store_held_out(result.held_out)
        run.copy_names(result.folder)
        if result.folder is not None:
            with writing(run.chains, "Free some space or choose another folder."):
                shutil.copytree(result.folder / "chains", run.chains, dirs_exist_ok=True)
        for chain, state in enumerate(result.states):
            identity = Identity(result.corpus.fingerprint, result.plan.digest(), chain)
            traces = {name: trace[chain] for name, trace in result.traces.items()}
            checkpoint = Checkpoint(result.iterations, dict(state), None, traces)
            write_checkpoint(chain_folder(run.chains, chain), identity, checkpoint)
        run.finish(result.estimates, result.traces, _summary(result))
    return run.path


def make_timing(seconds: Any, iterations: Any) -> Timing:
    """Check when checkpoints are due."""
    none = choice(", or None", "")
    if seconds is not None and not (isinstance(seconds, int | float) and seconds >= 0):
        raise fail("checkpoint_seconds", f"a number of at least 0{none}", seconds)
    if iterations is not None and not (isinstance(iterations, int) and iterations >= 1):
        raise fail("checkpoint_iterations", f"an integer of at least 1{none}", iterations)
    return Timing(seconds, iterations)


def open_corpus(corpus: Source) -> tuple[Corpus, str | None]:
    """Take a corpus, or load one from the folder given; tell which."""
    if isinstance(corpus, Corpus):
        return corpus, None
    if isinstance(corpus, str | os.PathLike):
        return Corpus.load(corpus), os.fspath(corpus)
    raise CorpusError(
        f"A model is fitted to a Corpus or the folder of one. Got {type(corpus).__name__} instead; "
        "see Corpus.from_lists."
    )


def _finish(
    runner: Runner,
    tree: Tree,
    parameters: Mapping[str, Any],
    corpus: Corpus,
    source: str | None,
    run: RunFolder | None,
    *,
    resume: bool,
) -> Result:
    """Run the chains, combine them and write what came out."""
    plan = runner.plan
    chains = runner.run(resume=resume)
    sums, combination, classes = combine_results(
        plan, [chain.sums for chain in chains], [chain.traces for chain in chains], corpus
    )
    samples = int(sums.samples[0])
    notes = tuple(runner.notes)
    if run is not None:
        notes = (*run.manifest.get("notes", ()), *notes)
        run.manifest["notes"] = list(notes)
    result = Result(
        plan=plan,
        parameters=dict(parameters),
        estimates=name_estimates(plan.spec, sums, tree.levels, corpus, classes),
        traces=stack_traces([chain.traces for chain in chains]),
        combination=combination,
        samples=samples,
        iterations=plan.iterations,
        open_corpus=lambda: corpus,
        source=source,
        folder=None if run is None else run.path,
        states=[chain.state for chain in chains] if run is None else (),
        notes=notes,
        held_out={} if run is None else run.held_out(),
    )
    if run is not None:
        run.finish(result.estimates, result.traces, _summary(result))
        for chain in range(plan.chains):
            keep_newest(chain_folder(run.chains, chain))
    return result


def _load_unfinished(run: RunFolder, plan: Plan, parameters: Mapping[str, Any]) -> Result:
    """Make a result of the latest checkpoints, if any chain has kept a sample."""
    fingerprint, digest = run.manifest["corpus"]["fingerprint"], plan.digest()
    sums, traces, done, notes = [], [], [], []
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
    if not sums:
        raise RunError(
            f"The run '{run.path}' is unfinished and has kept no samples yet: "
            f"run `citeweave resume {run.path}`."
        )
    corpus = run.corpus()
    tree = build_tree(corpus, plan.spec, eta=plan.eta, unknown=plan.unknown)
    combined, combination, classes = combine_results(plan, sums, traces, corpus)
    samples = int(combined.samples[0])
    return Result(
        plan=plan,
        parameters=dict(parameters),
        estimates=name_estimates(plan.spec, combined, tree.levels, corpus, classes),
        traces=stack_traces(traces),
        combination=combination,
        samples=samples,
        iterations=min(done),
        open_corpus=lambda: corpus,
        source=run.manifest["corpus"].get("path"),
        folder=run.path,
        notes=(f"unfinished: iteration {min(done)} of {plan.iterations}", *notes),
        held_out=run.held_out(),
    )


def _stored_plan(
    run: RunFolder, threads: int | None = None, device: str | None = None
) -> tuple[dict[str, Any], Plan]:
    try:
        parameters = parameters_from_json(run.manifest["parameters"])
        if threads is not None:
            parameters["threads"] = threads
        stored = run.manifest.get("plan", {})
        chosen = {name: stored.get(name, OLD_RUNS[name]) for name in CHOSEN}
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


def _contents(
    parameters: Mapping[str, Any], plan: Plan, corpus: Corpus, source: str | None
) -> dict[str, Any]:
    return {
        "parameters": parameters_to_json(parameters),
        "seed": plan.seed,
        "plan": {
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
        },
        "spec": asdict(plan.spec),
        "corpus": {
            "fingerprint": corpus.fingerprint,
            "path": source,
            "counts": corpus_counts(corpus),
        },
    }


def _summary(result: Result) -> dict[str, Any]:
    estimates = result.estimates
    return {
        "iterations": result.iterations,
        "samples": result.samples,
        "topics_in_use": int(np.count_nonzero(estimates["topic_samples"])),
        "log_likelihood": result.combination.likelihoods[result.combination.best],
        "combination": result.combination._asdict(),
    }
