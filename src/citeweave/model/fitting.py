"""From parameters and a corpus to a result: fit, resume, load and save."""

import os
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.sharded import ShardedCorpus
from citeweave.corpus.storage import corpus_counts
from citeweave.engines.core.capabilities import CPU
from citeweave.engines.core.data import Data
from citeweave.engines.core.estimates import Sums
from citeweave.engines.protocol import DividedRunningChain
from citeweave.engines.registry import AUTO
from citeweave.errors import CorpusError, ParameterError, RunError
from citeweave.files import writing
from citeweave.model.chains import open_chains
from citeweave.model.few_labels import FewLabels, plan_labels
from citeweave.model.going_on import longer_parameters, more_iterations, starting_points
from citeweave.model.groups import Tree, build_tree
from citeweave.model.matching import Combination
from citeweave.model.parameters import (
    CHOSEN,
    OLD_RUNS,
    STAGES,
    Plan,
    fail,
    make_plan,
    parameters_from_json,
    parameters_to_json,
)
from citeweave.model.results import (
    Result,
    combine_results,
    name_estimates,
    row_means,
    stack_traces,
)
from citeweave.model.runner import Progress, Runner, Timing
from citeweave.model.settling import Settlement, judged_from
from citeweave.model.starts import beginnings
from citeweave.model.strata import notes_on_levels
from citeweave.model.traces import new_traces
from citeweave.model.under_way import Beginning, WriteMeans
from citeweave.model.word_weights import choose_word_weight
from citeweave.naming import choice
from citeweave.runs.checkpoint import (
    Checkpoint,
    Identity,
    chain_folder,
    has_sampling_start,
    keep_newest,
    read_latest,
    write_checkpoint,
)
from citeweave.runs.folder import RunFolder, check_target

__all__ = ["describe_levels", "load_result", "resume_run", "run_model", "save_result"]

Source = Corpus | str | os.PathLike[str]
Announce = Callable[[Plan, Corpus], object]


class Planted(NamedTuple):
    """The topic side of a run's model, and the labels that its chains leave out."""

    tree: Tree
    labels: FewLabels | None


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
    announce: Announce | None = None,
) -> Result:
    """Run all chains of a plan and combine them; see `SCNTM.fit`.

    ``announce`` is called with the plan, once its engine is chosen, and the corpus, before the
    first iteration.
    """
    timing = make_timing(checkpoint_seconds, checkpoint_iterations)
    if out is not None:
        check_target(Path(out), overwrite=overwrite)
    corpus, source = open_corpus(corpus)
    if plan.chooses_weight:
        found = choose_word_weight(plan, corpus, partial(_short_run, stop=stop))
        plan = plan.weighing_words(found.weight, str(found))
    plan = plan.for_corpus(
        tokens=corpus.n_tokens, documents=corpus.n_documents, words=corpus.vocabulary_size
    )
    tree = plant_tree(corpus, plan)
    labels = plan_labels(plan, corpus, tree)
    start = beginnings(parameters["start"], plan, corpus, tree, load_result, labels)
    data_of = _data_of(tree, labels)
    opened = open_chains(plan, data_of(0))
    plan = opened.plan
    if announce is not None:
        announce(plan, corpus)
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
        notes=(*filter(None, [plan.weighing]), *describe_levels(corpus, plan), *opened.notes),
        data_of=data_of,
    )
    planted = Planted(tree, labels)
    if out is None:
        result = _finish(runner(), planted, parameters, corpus, source, None, resume=False)
        return replace(result, held_out=dict(held_out or {}))
    contents = _contents(parameters, plan, corpus, source)
    with RunFolder.create(out, overwrite=overwrite, contents=contents) as run:
        run.store_corpus(corpus)
        run.store_held_out(held_out or {})
    with run.lock():
        return _finish(
            runner(chains=run.chains), planted, parameters, corpus, source, run, resume=False
        )


def _short_run(plan: Plan, corpus: Corpus, stop: threading.Event | None) -> Result:
    """Run the chains of a plan on behalf of another run, without storing anything on disk."""
    return run_model(
        plan,
        {"start": plan.start},
        corpus,
        out=None,
        overwrite=False,
        progress=None,
        checkpoint_seconds=None,
        checkpoint_iterations=None,
        stop=stop,
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
    cluster: Mapping[str, Any] = MappingProxyType({}),
    stop: threading.Event | None,
    iterations: int | str | None = None,
    minutes: float | None = None,
    announce: Announce | None = None,
) -> Result:
    """Continue the chains of a run; see `citeweave.resume`.

    ``cluster`` has the engine, workers and address to continue with, None for those at the start of
    the run; ``announce`` is called with the plan and the corpus before the first iteration.
    """
    run = RunFolder.open(folder)
    run.check_kind()
    timing = make_timing(checkpoint_seconds, checkpoint_iterations)
    opened = None if corpus is None else open_corpus(corpus)[0]
    if opened is not None:
        run.check_corpus(opened)
    further = iterations is not None or minutes is not None
    complete = run.is_complete(thorough=True)
    if complete and run.longer is None and not further:
        return load_result(folder)
    if further:
        _check_further(run, complete=complete)
    opened = opened or run.corpus(thorough=True)
    with run.lock():
        if further:
            _begin_longer(run, iterations, minutes)
        chains_folder = run.chains if run.longer is None else run.longer_chains()
        parameters, plan = _stored_plan(run, threads, device, cluster, longer=True)
        begin, note = _starting_points(run, plan)
        begun_on = run.manifest.get("plan", {}).get("device", CPU)
        tree = plant_tree(opened, plan)
        # by default, a run continues even without the device on which it began
        wanted = plan.on(AUTO) if device is None and begun_on != CPU else plan
        labels = plan_labels(plan, opened, tree)
        data_of = _data_of(tree, labels)
        chains = open_chains(wanted, data_of(0), begun_on=begun_on)

        def start(number: int) -> Beginning:  # called if a chain has no checkpoint yet
            value = parameters["start"]
            return beginnings(value, chains.plan, opened, tree, load_result, labels)(number)

        if announce is not None:
            announce(chains.plan, opened)
        runner = Runner(
            chains.plan,
            tree.data,
            fingerprint=opened.fingerprint,
            chains=chains_folder,
            timing=timing,
            progress=progress,
            stop=stop,
            first=chains.first,
            start=start,
            notes=(*chains.notes, *filter(None, [note])),
            begin=begin,
            data_of=data_of,
        )
        source = run.manifest["corpus"].get("path")
        planted = Planted(tree, labels)
        return _finish(runner, planted, parameters, opened, source, run, resume=True)


def _check_further(run: RunFolder, *, complete: bool) -> None:
    """Refuse to extend a run that is unfinished or already being extended."""
    if not complete:
        raise RunError(
            f"The run '{run.path}' is unfinished; finish it first: citeweave resume {run.path}"
        )
    if run.longer is not None:
        raise RunError(
            f"A longer run is under way in '{run.path}' already, to at most "
            f"{run.longer.parameters['iterations']} iterations; finish it first: "
            f"citeweave resume {run.path}"
        )


def _begin_longer(run: RunFolder, iterations: int | str | None, minutes: float | None) -> None:
    parameters, plan = _stored_plan(run)
    more = more_iterations(iterations, plan.iterations)
    folders = [chain_folder(run.chains, number) for number in range(plan.chains)]
    longer = longer_parameters(
        parameters,
        plan,
        _settlement(run),
        more=more,
        minutes=minutes,
        start_stored=all(has_sampling_start(folder) for folder in folders),
    )
    made = make_plan(longer | _chosen(run) | {"seed": run.manifest["seed"]})
    run.begin_longer(parameters_to_json(longer), _plan_contents(made))


def _starting_points(run: RunFolder, plan: Plan) -> tuple[dict[int, Checkpoint], str]:
    """Find where an extension begins; nothing for a run that is not being extended."""
    if run.longer is None:
        return {}, ""
    fingerprint = run.manifest["corpus"]["fingerprint"]
    shorter = _stored_plan(run)[1]
    return starting_points(run.chains, fingerprint, shorter, plan, _settlement(run))


def _settlement(run: RunFolder) -> Settlement | None:
    """Read the settlement of a run; None for runs of earlier releases."""
    stored = run.manifest.get("result", {}).get("settlement")
    return None if stored is None else Settlement.from_json(stored)


def load_result(folder: str | os.PathLike[str]) -> Result:
    """Read a run, done or not; see `citeweave.load`."""
    run = RunFolder.open(folder)
    run.check_kind()
    parameters, plan = _stored_plan(run)
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
        settlement = _settlement(run)
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
    contents = _contents(result.parameters, result.plan, result.corpus, result.source)
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
        run.finish(result.estimates, result.traces, _summary(result), _plan_contents(result.plan))
    return run.path


def plant_tree(corpus: Corpus, plan: Plan) -> Tree:
    """Lay out the topic side of a plan's model for a corpus."""
    return build_tree(
        corpus,
        plan.spec,
        eta=plan.eta,
        unknown=plan.unknown,
        categories=plan.categories,
        labels=plan.labels,
        period_years=plan.period_years,
        contributions=plan.contributions,
    )


def describe_levels(corpus: Corpus, plan: Plan) -> list[str]:
    """Describe how the levels of a plan's model divide papers; empty if none do."""
    own, years = plan.unknown == "own", plan.period_years
    return notes_on_levels(corpus, plan.spec.paper_levels, own=own, years=years)


def _data_of(tree: Tree, labels: FewLabels | None) -> Callable[[int], Data]:
    """Return a function that returns the data of a chain by its number."""
    return lambda number: tree.data if labels is None else labels.data(tree.data, number)


def make_timing(seconds: Any, iterations: Any) -> Timing:
    """Check when checkpoints are due."""
    none = choice(", or None", "")
    if seconds is not None and not (isinstance(seconds, int | float) and seconds >= 0):
        raise fail("checkpoint_seconds", f"a number of at least 0{none}", seconds)
    if iterations is not None and not (isinstance(iterations, int) and iterations >= 1):
        raise fail("checkpoint_iterations", f"an integer of at least 1{none}", iterations)
    return Timing(seconds, iterations)


def open_corpus(corpus: Source) -> tuple[Corpus, str | None]:
    """Return a corpus, loaded if a folder is given, and its path."""
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
    planted: Planted,
    parameters: Mapping[str, Any],
    corpus: Corpus,
    source: str | None,
    run: RunFolder | None,
    *,
    resume: bool,
) -> Result:
    """Run the chains, combine them and write the result."""
    if run is not None:
        runner.write_means = _by_workers(runner.plan, planted, corpus, run)
    chains = runner.run(resume=resume)
    plan, settlement = runner.plan, runner.settlement
    if settlement is not None and not plan.exactly:
        plan = plan.sampling_from(settlement.iteration)
    tree, labels = planted
    kept = [chain.sums for chain in chains]
    told = None if labels is None else labels.read_out(plan.spec, kept, corpus)
    sums, combination, classes = combine_results(
        plan, kept, [chain.traces for chain in chains], corpus
    )
    samples = int(sums.samples[0])
    files = chains[0].written
    written = None if run is None or not files else run.estimates_in_making()
    notes = tuple(runner.notes)
    if run is not None:
        notes = (*run.manifest.get("notes", ()), *notes)
        run.manifest["notes"] = list(notes)
    result = Result(
        plan=plan,
        settlement=settlement,
        parameters=dict(parameters),
        estimates=name_estimates(plan.spec, sums, tree, corpus, classes, told, written),
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
        contents = _plan_contents(result.plan)
        run.finish(result.estimates, result.traces, _summary(result), contents, files)
        for chain in range(plan.chains):
            keep_newest(chain_folder(run.chains, chain))
        if files:
            return replace(result, estimates=run.estimates())
    return result


def _by_workers(plan: Plan, planted: Planted, corpus: Corpus, run: RunFolder) -> WriteMeans | None:
    """Have workers write estimates with rows of documents, if there are shards and one chain.

    Several chains must first be combined.
    """
    if not plan.divided or plan.chains > 1 or planted.labels is not None:
        return None
    if not isinstance(corpus, ShardedCorpus):
        return None
    rows = max(shard.counts["documents"] for shard in corpus.shards.all)

    def write(chain: DividedRunningChain) -> tuple[dict[str, str], Sums]:
        wanted = row_means(plan.spec, planted.tree, rows)
        return chain.write_means(run.make_estimates(), wanted)

    return write


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
    combined, combination, classes = combine_results(plan, sums, traces, corpus)
    samples = int(combined.samples[0])
    return Result(
        plan=plan,
        parameters=dict(parameters),
        estimates=name_estimates(plan.spec, combined, tree, corpus, classes),
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
        chosen = _chosen(run)
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


def _chosen(run: RunFolder) -> dict[str, Any]:
    """Return the run's choices for its corpus and machine."""
    stored = run.manifest.get("plan", {})
    chosen = {name: stored.get(name, OLD_RUNS[name]) for name in CHOSEN}
    return chosen | {name: stored[name] for name in STAGES if name in stored}


def _contents(
    parameters: Mapping[str, Any], plan: Plan, corpus: Corpus, source: str | None
) -> dict[str, Any]:
    return {
        "parameters": parameters_to_json(parameters),
        "seed": plan.seed,
        "plan": _plan_contents(plan),
        "spec": asdict(plan.spec),
        "corpus": {
            "fingerprint": corpus.fingerprint,
            "path": source,
            "counts": corpus_counts(corpus),
        },
    }


def _plan_contents(plan: Plan) -> dict[str, Any]:
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


def _summary(result: Result) -> dict[str, Any]:
    estimates = result.estimates
    return {
        "iterations": result.iterations,
        "samples": result.samples,
        "topics_in_use": int(np.count_nonzero(estimates["topic_samples"])),
        "log_likelihood": result.combination.likelihoods[result.combination.best],
        "combination": result.combination._asdict(),
        "settlement": None if result.settlement is None else result.settlement.as_json(),
    }
