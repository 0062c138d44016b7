"""From parameters and a corpus to a result: fit and resume."""

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.sharded import ShardedCorpus
from citeweave.engines.core.capabilities import CPU
from citeweave.engines.core.estimates import Sums
from citeweave.engines.protocol import DividedRunningChain
from citeweave.engines.registry import AUTO
from citeweave.errors import CorpusError, RunError
from citeweave.model.chains import open_chains
from citeweave.model.few_labels import plan_labels
from citeweave.model.going_on import longer_parameters, more_iterations, starting_points
from citeweave.model.parameters import (
    Plan,
    fail,
    make_plan,
    parameters_to_json,
)
from citeweave.model.planting import Planted, data_of_chains, describe_levels, plant_tree
from citeweave.model.results import (
    Result,
    combine_results,
    name_estimates,
    row_means,
    stack_traces,
)
from citeweave.model.runner import Progress, Runner, Timing
from citeweave.model.starts import beginnings
from citeweave.model.stored import (
    load_result,
    plan_contents,
    run_contents,
    stored_choices,
    stored_plan,
    stored_settlement,
    summary_contents,
)
from citeweave.model.under_way import Beginning, WriteMeans
from citeweave.model.word_weights import choose_word_weight
from citeweave.naming import choice
from citeweave.runs.checkpoint import (
    Checkpoint,
    chain_folder,
    has_sampling_start,
    keep_newest,
)
from citeweave.runs.folder import RunFolder, check_target

__all__ = ["make_timing", "open_corpus", "resume_run", "run_model"]

Source = Corpus | str | os.PathLike[str]
Announce = Callable[[Plan, Corpus], object]


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
    data_of = data_of_chains(tree, labels)
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
    contents = run_contents(parameters, plan, corpus, source)
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
        parameters, plan = stored_plan(run, threads, device, cluster, longer=True)
        begin, note = _starting_points(run, plan)
        begun_on = run.manifest.get("plan", {}).get("device", CPU)
        tree = plant_tree(opened, plan)
        # by default, a run continues even without the device on which it began
        wanted = plan.on(AUTO) if device is None and begun_on != CPU else plan
        labels = plan_labels(plan, opened, tree)
        data_of = data_of_chains(tree, labels)
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
    parameters, plan = stored_plan(run)
    more = more_iterations(iterations, plan.iterations)
    folders = [chain_folder(run.chains, number) for number in range(plan.chains)]
    longer = longer_parameters(
        parameters,
        plan,
        stored_settlement(run),
        more=more,
        minutes=minutes,
        start_stored=all(has_sampling_start(folder) for folder in folders),
    )
    made = make_plan(longer | stored_choices(run) | {"seed": run.manifest["seed"]})
    run.begin_longer(parameters_to_json(longer), plan_contents(made))


def _starting_points(run: RunFolder, plan: Plan) -> tuple[dict[int, Checkpoint], str]:
    """Find where an extension begins; nothing for a run that is not being extended."""
    if run.longer is None:
        return {}, ""
    fingerprint = run.manifest["corpus"]["fingerprint"]
    shorter = stored_plan(run)[1]
    return starting_points(run.chains, fingerprint, shorter, plan, stored_settlement(run))


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
    together = combine_results(plan, kept, [chain.traces for chain in chains], corpus)
    sums, classes = together.sums, together.classes
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
        combination=together.how,
        category_agreements=together.category_agreements,
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
        contents = plan_contents(result.plan)
        run.finish(result.estimates, result.traces, summary_contents(result), contents, files)
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
