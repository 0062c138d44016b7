"""How `fit` fits a baseline, and parses options shared by all models."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from citeweave.baselines import BASELINES, Baseline, Step, make_baseline
from citeweave.cli.show import (
    corpus_line,
    fact_table,
    make_console,
    pick_words,
    topic_table,
)
from citeweave.corpus import Corpus
from citeweave.errors import ParameterError

__all__ = ["baseline_facts", "fit_baseline", "make_from_options", "print_baseline", "read_settings"]

_SHARED = {"corpus", "out", "model", "overwrite", "quiet", "set_"}
_HOLD_OUT = {"hold_out_citations", "hold_out_words", "hold_out_documents", "keep_labels"}
_WORDS = 12


def read_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Parse ``NAME=VALUE`` options; values are JSON if possible, otherwise plain text.

    Examples
    --------
    >>> read_settings(["alpha=0.3", "degree_corrected=false", "unknown=own"])
    {'alpha': 0.3, 'degree_corrected': False, 'unknown': 'own'}
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ParameterError(
                f"--set must be NAME=VALUE, such as --set alpha=0.3. Got {text!r} instead."
            )
        try:
            found[name.strip().replace("-", "_")] = json.loads(value)
        except ValueError:
            found[name.strip().replace("-", "_")] = value.strip()
    return found


def make_from_options(
    name: str, options: Mapping[str, Any], given: set[str], settings: Mapping[str, Any]
) -> Baseline:
    """Create a baseline from the options of the command.

    Parameters
    ----------
    name : str
        Name of the baseline.
    options : mapping
        Options of the command, by name.
    given : set of str
        Options given by the user; the others are defaults of SCNTM.
    settings : mapping
        Parameters given with ``--set``.
    """
    known = make_baseline(name).get_params()
    foreign = sorted(given - set(known) - _SHARED - _HOLD_OUT)
    if foreign:
        own = ", ".join(key for key in known if key not in BASELINES[name].fixed)
        raise ParameterError(
            f"--{foreign[0].replace('_', '-')} does not apply to the model {name!r}. Its "
            f"parameters are {own} (set them with --set NAME=VALUE)."
        )
    chosen = {key: options[key] for key in (given | {"topics", "seed"}) & set(known)}
    model = make_baseline(name, **(chosen | dict(settings)))
    model.check_params()
    return model


def fit_baseline(
    model: Baseline, corpus: Corpus, console: Console | None, *, out: Path, **options: Any
) -> Baseline:
    """Fit a baseline with a progress bar; no output if the console is None."""
    if console is None:
        return model.fit(corpus, out=out, **options)
    facts = fact_table()
    facts.add_row("corpus", corpus_line(corpus))
    facts.add_row("model", f"{model.name}, {model!r}")
    console.print(facts)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=make_console(stderr=True), transient=True) as bar:
        task = bar.add_task(model.name, total=None)

        def show(step: Step) -> None:
            bar.update(task, description=step.what, completed=step.done, total=step.total)

        return model.fit(corpus, out=out, progress=show, **options)


def baseline_facts(model: Baseline) -> list[tuple[str, str]]:
    """Return the names and values of the figures of a fit."""
    rows = []
    for name, value in model.facts_.items():
        if isinstance(value, bool):
            text = "yes" if value else "no"
        elif isinstance(value, float):
            text = f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.1f}"
        else:
            text = f"{value:,}" if isinstance(value, int) else str(value)
        rows.append((name.replace("_", " "), text))
    return [*rows, ("seed", str(model.seed_))]


def print_baseline(model: Baseline, console: Console) -> None:
    """Print topics and figures."""
    console.print(topic_table(model, pick_words(model, _WORDS)))
    facts = fact_table()
    for name, value in baseline_facts(model):
        facts.add_row(name, value)
    console.print(facts)
