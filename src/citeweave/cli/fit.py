"""The commands `fit` and `resume`."""

# ruff: noqa: PLC0415  heavy imports inside the commands, so that the others start at once
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.options import MODEL, RUN, Checkpoints, Run, Sources, gathers
from citeweave.cli.topics import AUTO, TOPICS_OR_AUTO, choose_topics
from citeweave.parameters.scntm import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rich.console import Console

    from citeweave.baselines import Baseline
    from citeweave.corpus import Corpus
    from citeweave.model import SCNTM

__all__ = ["free_folder", "register"]

HELD_OUT = "Held-out data"

_MODEL = PARAMETERS["model"]
_FITTED = PARAMETERS | {
    "topics": TOPICS_OR_AUTO,
    "model": _MODEL.but(
        summary=f"{_MODEL.summary.removesuffix('.')}; or, for comparison: pmtlm, pmtlm-dc, "
        "tomotopy-lda, tomotopy-hdp, sklearn-lda, spectral, louvain, agc, k-means, "
        "label-propagation, logistic, sgc."
    ),
}
_RESUMED = (
    PARAMETERS["threads"].but(group="", none="as at the start of the run"),
    PARAMETERS["device"].but(
        default=None, group="", none="as at the start of the run, if available"
    ),
    *(
        PARAMETERS[name].but(default=None, group="", none="as at the start of the run")
        for name in ("engine", "workers", "address")
    ),
)


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command("fit")(fit)
    app.command("resume")(resume)


@guarded
@gathers(parameters=_FITTED.values(), checkpoints=Checkpoints)
def fit(
    *,
    context: typer.Context,
    corpus: Sources,
    parameters: dict[str, Any],
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Set any parameter of the model, as NAME=VALUE; may be repeated.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    hold_out_citations: Annotated[
        float | None,
        typer.Option(
            help="Share of citations to hold out; `evaluate` scores them.",
            rich_help_panel=HELD_OUT,
        ),
    ] = None,
    hold_out_words: Annotated[
        float | None,
        typer.Option(
            help="Share of each paper's words to hold out; `evaluate` scores them.",
            rich_help_panel=HELD_OUT,
        ),
    ] = None,
    hold_out_documents: Annotated[
        float | None,
        typer.Option(
            help="Share of papers to hold out; `evaluate RUN --test CORPUS` scores them.",
            rich_help_panel=HELD_OUT,
        ),
    ] = None,
    keep_labels: Annotated[
        int | None,
        typer.Option(
            help="With --labels some: labels to keep per category; the others are held out.",
            rich_help_panel=HELD_OUT,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the run (default: CORPUS-run, numbered).", rich_help_panel=RUN
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Replace an existing run of that name.", rich_help_panel=RUN
        ),
    ] = False,
    checkpoints: Checkpoints,
) -> None:
    """Fit a model to a corpus until its chains agree, and save it in a run folder.

    Ctrl-C saves the chains; `citeweave resume RUN` continues with the same result.
    """
    from citeweave.baselines import BASELINES, Baseline
    from citeweave.cli.fit_baseline import fit_baseline, make_from_options, read_settings
    from citeweave.cli.running import fit_model
    from citeweave.cli.sources import name_of, open_sources
    from citeweave.model import SCNTM
    from citeweave.model.parameters import make_plan
    from citeweave.runs.folder import check_target

    further = read_settings(set_ or [])
    name = parameters["model"]
    model: SCNTM | Baseline
    fit_to: Callable[..., object]
    scans = False
    intervals: dict[str, Any]
    if name in BASELINES:
        model = make_from_options(name, parameters, _given(context), further)
        fit_to, intervals = partial(fit_baseline, model), {}
    else:
        _check_name(name, BASELINES)
        model = SCNTM(**parameters).set_params(**further)
        # if a scan is to choose the number of topics, check everything else first
        wanted = model.get_params()
        scans = wanted["topics"] == AUTO
        plan = make_plan(wanted | {"topics": 2} if scans else wanted)
        fit_to, intervals = partial(fit_model, model, plan), checkpoints.intervals
    place = out if out is not None else free_folder(Path(f"{name_of(corpus)}-run"))
    console = _console(quiet=checkpoints.quiet)
    # an import may take long, so check everything else first
    check_target(place.absolute(), overwrite=overwrite)
    shares = {
        "citations": hold_out_citations,
        "words": hold_out_words,
        "documents": hold_out_documents,
    }
    opened = open_sources(corpus, console)
    train, held_out = _hold_out(opened, shares, keep_labels, parameters["seed"] or 0)
    if isinstance(model, SCNTM) and scans:
        scanned = place.with_name(f"{place.name}-scan")
        topics = choose_topics(train, model.get_params(), scanned, console)
        fit_to = partial(fit_model, model, make_plan(model.set_params(topics=topics).get_params()))
    fit_to(train, console, out=place, overwrite=overwrite, held_out=held_out, **intervals)
    if console is not None:
        _report(model, place, console)
        if hold_out_documents is not None:
            console.print(
                f"To score the held-out papers: citeweave evaluate {place} --test {corpus[0]}",
                soft_wrap=True,
            )


def _given(context: typer.Context) -> set[str]:
    """Return the names of the options given by the user."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {
        name
        for name, source in sources.items()
        if source is not None and source.name in {"COMMANDLINE", "ENVIRONMENT"}
    }


def _check_name(model: str, baselines: "Iterable[str]") -> None:
    from citeweave.engines.core.spec import PRESETS
    from citeweave.errors import ParameterError

    if model not in PRESETS:
        names = ", ".join([*PRESETS, *baselines])
        raise ParameterError(f"--model must be one of: {names}. Got {model!r} instead.")


def _hold_out(
    corpus: "Corpus", shares: "Mapping[str, float | None]", labels: int | None, seed: int
) -> "tuple[Corpus, dict[str, Any]]":
    """Hold out what was requested; only then import the evaluation package."""
    wanted = {name: share for name, share in shares.items() if share is not None}
    if not wanted and labels is None:
        return corpus, {}
    from citeweave.errors import ParameterError
    from citeweave.evaluate import hold_out

    for name, share in wanted.items():
        if not 0 < share < 1:
            raise ParameterError(
                f"--hold-out-{name} must be a share between 0 and 1. Got {share} instead."
            )
    if labels is not None and labels < 1:
        raise ParameterError(f"--keep-labels must be at least 1. Got {labels} instead.")
    return hold_out(corpus, seed=seed, labels=labels, **wanted)


@guarded
@gathers(parameters=_RESUMED, checkpoints=Checkpoints)
def resume(
    *,
    run: Run,
    corpus: Annotated[
        Path | None, typer.Option(help="Corpus folder (default: the run's own copy).")
    ] = None,
    iterations: Annotated[
        str | None,
        typer.Option(help="Extend a finished run: +1000 adds at most 1,000 iterations."),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            help="Extend a finished run until its chains agree, for at most this many minutes."
        ),
    ] = None,
    parameters: dict[str, Any],
    checkpoints: Checkpoints,
) -> None:
    """Continue a run that was stopped, or extend one that is finished.

    The result is the same as that of one uninterrupted run.
    """
    from citeweave.cli.running import resume_model
    from citeweave.cli.sources import open_corpus

    console = _console(quiet=checkpoints.quiet)
    fitted = resume_model(
        run,
        None if corpus is None else open_corpus(corpus),
        console,
        iterations=iterations,
        minutes=minutes,
        **parameters,
        **checkpoints.intervals,
    )
    if console is not None:
        _report(fitted, run, console)


def free_folder(folder: Path) -> Path:
    """Return a folder that does not exist yet: the given name, or the next free number."""
    place, number = folder, 1
    while place.exists() or place.is_symlink():
        number += 1
        place = folder.with_name(f"{folder.name}-{number}")
    return place


def _console(*, quiet: bool) -> "Console | None":
    from citeweave.cli.show import make_console

    return None if quiet else make_console()


def _report(model: "SCNTM | Baseline", folder: Path, console: "Console") -> None:
    from citeweave.cli.fit_baseline import print_baseline
    from citeweave.cli.show import pick_words, run_table, topic_table
    from citeweave.model import SCNTM

    console.print()
    if isinstance(model, SCNTM):
        console.print(topic_table(model, pick_words(model, 12)))
        console.print(run_table(model))
    else:
        print_baseline(model, console)
    console.print()
    console.print(
        f"The run is in {folder}. To show it again: citeweave info {folder}", soft_wrap=True
    )
