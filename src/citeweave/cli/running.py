"""Run chains with a progress display; shared by `fit`, `resume` and `demo`."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console
from rich.table import Table

from citeweave import model as models
from citeweave.cli.progress import LiveDisplay, PlainDisplay, open_display
from citeweave.cli.show import corpus_line, fact_table
from citeweave.corpus import Corpus
from citeweave.engines.registry import place
from citeweave.model import SCNTM
from citeweave.model.parameters import Plan
from citeweave.model.planting import describe_levels
from citeweave.model.scntm import fit_planned
from citeweave.runs.folder import RunFolder
from citeweave.wording import count

__all__ = ["fit_model", "resume_model", "stop_on_signals"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stop_on_signals(stopping: Callable[[], object] | None = None) -> Iterator[threading.Event]:
    """Turn Ctrl-C and SIGTERM (sent by batch systems) into an event that the chains check.

    Before Python 3.13, an exception while waiting for a thread would leave it unclear whether the
    thread still runs, and its last checkpoint would not be written. A second signal raises an
    exception after all, to quit at once.

    Parameters
    ----------
    stopping : callable, optional
        Called on the first signal.
    """
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            signal.default_int_handler(number, frame)
        stop.set()
        if stopping is not None:
            stopping()

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def fit_model(
    model: SCNTM, plan: Plan, corpus: Corpus, console: Console | None, *, out: Path, **options: Any
) -> SCNTM:
    """Fit a model according to its plan; no output if the console is None.

    Options are those of `SCNTM.fit`.
    """
    if console is None:
        with stop_on_signals() as stop:
            return fit_planned(model, plan, corpus, out=out, stop=stop, **options)
    display = open_display(console)

    def announce(chosen: Plan, corpus: Corpus) -> None:
        console.print(_introduce(chosen, corpus))
        _expect(display, chosen, corpus)

    with stop_on_signals(display.stop) as stop, display:
        return fit_planned(
            model,
            plan,
            corpus,
            out=out,
            progress=display,
            stop=stop,
            announce=announce,
            **options,
        )


def _introduce(plan: Plan, corpus: Corpus) -> Table:
    """Print what is being fitted."""
    most = "" if plan.exactly else "at most "
    parts = [
        f"{plan.spec.name}, at most {count(plan.settings.topics, 'topic')}",
        f"{count(plan.chains, 'chain')} of {most}{count(plan.iterations, 'iteration')}",
    ]
    if plan.spec.citations is not None:
        parts.append(f"citations from {plan.settings.network_from:,}")
    if plan.settings.burst_from:
        parts.append(f"burstiness from {plan.settings.burst_from:,}")
    if plan.spec.word_weight != 1.0:
        parts.append(f"word weight {plan.spec.word_weight:g}")
    if plan.rounds is not None:
        threads = f"in {count(plan.threads_per_chain, 'thread')}"
        where = place(plan.device) or threads
        parts.append(f"snapshot sweeps of {count(plan.rounds, 'round')} {where}")
    facts = fact_table()
    facts.add_row("corpus", corpus_line(corpus))
    facts.add_row("model", ", ".join(parts))
    if plan.weighing:
        facts.add_row("words", plan.weighing)
    for note in describe_levels(corpus, plan):
        facts.add_row("note", note)
    if plan.machine:
        facts.add_row("device", plan.machine)
    return facts


def resume_model(
    folder: Path, corpus: Corpus | None, console: Console | None, **options: Any
) -> SCNTM:
    """Continue a run; options are those of `citeweave.resume`."""
    if console is None:
        with stop_on_signals() as stop:
            return models.resume(folder, corpus, stop=stop, **options)
    run = RunFolder.open(folder)
    run.check_kind()
    further = options.get("iterations") is not None or options.get("minutes") is not None
    if run.is_complete() and run.longer is None and not further:
        console.print(f"{folder} is already finished.")
        return models.load(folder)
    display = open_display(console)
    announce = partial(_expect, display)
    with stop_on_signals(display.stop) as stop, display:
        return models.resume(
            folder, corpus, progress=display, stop=stop, announce=announce, **options
        )


def _expect(display: LiveDisplay | PlainDisplay, plan: Plan, corpus: Corpus) -> None:
    """Tell a display what will be fitted."""
    display.plan = plan
    networked = plan.spec.citations is not None
    network_from = plan.settings.network_from if networked else None
    burst_from = plan.settings.burst_from or None
    display.expect(plan.chains, plan.iterations, corpus.n_tokens, network_from, burst_from)
