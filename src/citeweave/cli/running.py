"""Run chains under a progress display; shared by `fit`, `resume` and `demo`."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from citeweave import model as models
from citeweave.cli.progress import LiveDisplay, PlainDisplay, open_display
from citeweave.cli.show import corpus_line, count, fact_table
from citeweave.corpus import Corpus
from citeweave.model import SCNTM
from citeweave.model.parameters import Plan, make_plan, parameters_from_json
from citeweave.model.run_folder import RunFolder

__all__ = ["fit_model", "resume_model", "stop_on_terminate"]


@contextlib.contextmanager
def stop_on_terminate() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does: batch systems send it before they kill."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def fit_model(
    model: SCNTM, corpus: Corpus, console: Console | None, *, out: Path, **options: Any
) -> SCNTM:
    """Fit a model; a console of None keeps silent. Options are those of `SCNTM.fit`."""
    plan = make_plan(model.get_params())  # wrong parameters are told before anything is drawn
    if console is None:
        with stop_on_terminate():
            return model.fit(corpus, out=out, **options)
    console.print(_introduce(plan, corpus))
    display = _display(console, plan, corpus.n_tokens)
    with stop_on_terminate(), display:
        return model.fit(corpus, out=out, progress=display, **options)


def _introduce(plan: Plan, corpus: Corpus) -> Table:
    """Say what is fitted to what."""
    parts = [
        f"{plan.spec.name}, at most {count(plan.settings.topics, 'topic')}",
        f"{count(plan.chains, 'chain')} of {count(plan.iterations, 'iteration')}",
    ]
    if plan.spec.citations is not None:
        parts.append(f"citations from {plan.settings.network_from:,}")
    facts = fact_table()
    facts.add_row("corpus", corpus_line(corpus))
    facts.add_row("model", ", ".join(parts))
    return facts


def resume_model(
    folder: Path, corpus: Corpus | None, console: Console | None, **options: Any
) -> SCNTM:
    """Go on with a run; options are those of `citeweave.resume`."""
    if console is None:
        with stop_on_terminate():
            return models.resume(folder, corpus, **options)
    run = RunFolder.open(folder)
    if run.is_complete():
        console.print(f"{folder} is done already.")
        return models.load(folder)
    display = _display_of_run(run, console)
    if display is None:
        return models.resume(folder, corpus, **options)  # says what is wrong with the run
    with stop_on_terminate(), display:
        return models.resume(folder, corpus, progress=display, **options)


def _display_of_run(run: RunFolder, console: Console) -> LiveDisplay | PlainDisplay | None:
    """Make the display of a stored run; None if its manifest does not tell what is needed."""
    try:
        parameters = parameters_from_json(run.manifest["parameters"])
        tokens = int(run.manifest["corpus"]["counts"]["tokens"])
        plan = make_plan(parameters | {"seed": run.manifest["seed"]})
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return _display(console, plan, tokens)


def _display(console: Console, plan: Plan, tokens: int) -> LiveDisplay | PlainDisplay:
    return open_display(
        console,
        chains=plan.chains,
        iterations=plan.iterations,
        tokens=tokens,
        network_from=plan.settings.network_from if plan.spec.citations is not None else None,
    )
