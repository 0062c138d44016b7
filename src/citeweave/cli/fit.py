"""The commands `fit` and `resume`."""

# ruff: noqa: PLC0415  heavy imports inside the commands, so that the others start at once
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citeweave.cli.errors import guarded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console

    from citeweave.baselines import Baseline
    from citeweave.corpus import Corpus
    from citeweave.model import SCNTM

__all__ = ["free_folder", "read_eta", "register"]

CHAIN = "Sampling"
MODEL = "Model"
RUN = "Run"
HELD_OUT = "Held out, to be scored afterwards"


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command("fit")(fit)
    app.command("resume")(resume)


@guarded
def fit(
    *,
    context: typer.Context,
    corpus: Annotated[
        list[str],
        typer.Argument(
            help="Corpus folder, name of a data set, or export files to import with defaults.",
            metavar="CORPUS|DATASET|FILES",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the run (default: CORPUS-run, numbered).",
            rich_help_panel=RUN,
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            help="scntm, cntm-text, bursty-hdp-lda, np-atm; or to compare with: pmtlm, pmtlm-dc, "
            "tomotopy-lda, tomotopy-hdp, sklearn-lda, spectral, louvain.",
            rich_help_panel=MODEL,
        ),
    ] = "scntm",
    topics: Annotated[int, typer.Option(help="Most topics there may be.")] = 20,
    eta: Annotated[
        str,
        typer.Option(
            help="Papers an author needs to count as such, else the label does; 0: authors "
            "always, inf: labels always.",
            rich_help_panel=MODEL,
        ),
    ] = "0",
    iterations: Annotated[int, typer.Option(help="Of each chain.")] = 2000,
    network_from: Annotated[
        int | None,
        typer.Option(
            help="Iterations of text alone before citations count (default: half).",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Same seed, same result (default: a new one).", show_default=False),
    ] = None,
    chains: Annotated[int, typer.Option(help="Independent chains, side by side.")] = 1,
    burn_in: Annotated[
        int | None,
        typer.Option(
            help="Iterations before samples are kept (default: three quarters).",
            rich_help_panel=CHAIN,
            show_default=False,
        ),
    ] = None,
    thin: Annotated[
        int | None,
        typer.Option(
            help="Keep every so many iterations (default: about 50 samples).",
            rich_help_panel=CHAIN,
            show_default=False,
        ),
    ] = None,
    combine: Annotated[
        str,
        typer.Option(
            help="Chains to one model: auto, average, best or consensus.", rich_help_panel=CHAIN
        ),
    ] = "auto",
    sweep: Annotated[
        str,
        typer.Option(
            help="sequential, snapshot (cores share a sweep), or auto: by size.",
            rich_help_panel=CHAIN,
        ),
    ] = "auto",
    rounds: Annotated[
        int | None,
        typer.Option(
            help="Snapshots a sweep, with --sweep snapshot (default: by the corpus).",
            rich_help_panel=CHAIN,
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            help="Cores in all, for chains first, then for snapshot sweeps (default: all).",
            rich_help_panel=CHAIN,
            show_default=False,
        ),
    ] = None,
    device: Annotated[
        str,
        typer.Option(
            help="Of snapshot sweeps: cpu, cuda (an NVIDIA GPU), or auto: a GPU if there is one.",
            rich_help_panel=CHAIN,
        ),
    ] = "auto",
    unknown: Annotated[
        str,
        typer.Option(
            help="Papers without author and label: one shared group or each its own.",
            rich_help_panel=MODEL,
        ),
    ] = "shared",
    self_citations: Annotated[
        bool,
        typer.Option(help="Count x_ii = 1 in the rates, as the paper does.", rich_help_panel=MODEL),
    ] = True,
    topic_discount: Annotated[
        float | None,
        typer.Option(
            help="Of all topic levels (default: 0.01).", rich_help_panel=MODEL, show_default=False
        ),
    ] = None,
    word_discount: Annotated[
        float | None,
        typer.Option(
            help="Of all word levels (default: 0.7).", rich_help_panel=MODEL, show_default=False
        ),
    ] = None,
    concentration: Annotated[
        float,
        typer.Option(help="First value of all concentrations.", rich_help_panel=MODEL),
    ] = 0.1,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Any parameter of the model, as NAME=VALUE; may be repeated.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None,
    hold_out_citations: Annotated[
        float | None,
        typer.Option(
            help="Share of citations kept from the model, for evaluate to score.",
            rich_help_panel=HELD_OUT,
            show_default=False,
        ),
    ] = None,
    hold_out_words: Annotated[
        float | None,
        typer.Option(
            help="Share of each paper's words, likewise.",
            rich_help_panel=HELD_OUT,
            show_default=False,
        ),
    ] = None,
    hold_out_documents: Annotated[
        float | None,
        typer.Option(
            help="Share of papers, likewise: evaluate RUN --test CORPUS finds them.",
            rich_help_panel=HELD_OUT,
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a run of that name.", rich_help_panel=RUN)
    ] = False,
    checkpoint_seconds: Annotated[
        float, typer.Option(help="Save each chain so often.", rich_help_panel=RUN)
    ] = 60.0,
    checkpoint_iterations: Annotated[
        int | None,
        typer.Option(
            help="Save each chain after so many iterations too.",
            rich_help_panel=RUN,
            show_default=False,
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Write errors only.", rich_help_panel=RUN)
    ] = False,
) -> None:
    """Fit a model to a corpus and leave a run folder.

    Ctrl-C saves the chains; `citeweave resume RUN` goes on as if nothing had happened.
    """
    from citeweave.baselines import BASELINES, Baseline
    from citeweave.cli.fit_baseline import fit_baseline, make_from_options, read_settings
    from citeweave.cli.running import fit_model
    from citeweave.cli.sources import name_of, open_sources
    from citeweave.model import SCNTM
    from citeweave.model.parameters import make_plan
    from citeweave.model.run_folder import check_target

    further = read_settings(set_ or [])
    model_: SCNTM | Baseline
    if model in BASELINES:
        model_ = make_from_options(model, context.params, _given(context), further)
    else:
        _check_name(model, BASELINES)
        model_ = SCNTM(
            topics=topics,
            eta=read_eta(eta),
            iterations=iterations,
            network_from=network_from,
            seed=seed,
            chains=chains,
            model=model,
            burn_in=burn_in,
            thin=thin,
            unknown=unknown,
            combine=combine,
            concentration=concentration,
            self_citations=self_citations,
            topic_discount=topic_discount,
            word_discount=word_discount,
            sweep=sweep,
            rounds=rounds,
            threads=threads,
            device=device,
        ).set_params(**further)
        make_plan(model_.get_params())
    place = out if out is not None else free_folder(Path(f"{name_of(corpus)}-run"))
    console = _console(quiet=quiet)
    # an import may take long: what is wrong with the rest is told before
    check_target(place.absolute(), overwrite=overwrite)
    opened = open_sources(corpus, console)
    shares = {
        "citations": hold_out_citations,
        "words": hold_out_words,
        "documents": hold_out_documents,
    }
    train, held_out = _hold_out(opened.corpus, shares, seed or 0)
    try:
        if isinstance(model_, Baseline):
            fit_baseline(model_, train, console, out=place, overwrite=overwrite, held_out=held_out)
        else:
            fit_model(
                model_,
                train,
                console,
                out=place,
                overwrite=overwrite,
                checkpoint_seconds=checkpoint_seconds,
                checkpoint_iterations=checkpoint_iterations,
                held_out=held_out,
            )
    finally:
        if opened.report is not None and (place / "corpus").is_dir():
            opened.report.save(place / "corpus")
    if console is not None:
        _report(model_, place, console)
        if hold_out_documents is not None:
            console.print(
                f"Papers held out are scored by: citeweave evaluate {place} --test {corpus[0]}",
                soft_wrap=True,
            )


def _given(context: typer.Context) -> set[str]:
    """Name the options that the user wrote."""
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
        raise ParameterError(f"The 'model' must be one of: {names}. Got {model!r} instead.")


def _hold_out(
    corpus: "Corpus", shares: "Mapping[str, float | None]", seed: int
) -> "tuple[Corpus, dict[str, Any]]":
    """Take out what was asked for; only then is all of the evaluation imported."""
    wanted = {name: share for name, share in shares.items() if share is not None}
    if not wanted:
        return corpus, {}
    from citeweave.errors import ParameterError
    from citeweave.evaluate import hold_out

    for name, share in wanted.items():
        if not 0 < share < 1:
            raise ParameterError(f"--hold-out-{name} takes a share between 0 and 1. Got {share}.")
    return hold_out(corpus, seed=seed, **wanted)


@guarded
def resume(
    *,
    run: Annotated[Path, typer.Argument(help="Run folder.", show_default=False)],
    corpus: Annotated[
        Path | None,
        typer.Option(help="Corpus folder (default: the run's own copy).", show_default=False),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="Cores in all (default: as at its start).", show_default=False),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            help="cpu, cuda or auto (default: as at its start, if that is there).",
            show_default=False,
        ),
    ] = None,
    checkpoint_seconds: Annotated[float, typer.Option(help="Save each chain so often.")] = 60.0,
    checkpoint_iterations: Annotated[
        int | None,
        typer.Option(help="Save each chain after so many iterations too.", show_default=False),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write errors only.")] = False,
) -> None:
    """Go on with a run that was stopped; the result is the same as without the stop."""
    from citeweave.cli.running import resume_model
    from citeweave.cli.sources import open_corpus

    console = _console(quiet=quiet)
    fitted = resume_model(
        run,
        None if corpus is None else open_corpus(corpus),
        console,
        threads=threads,
        device=device,
        checkpoint_seconds=checkpoint_seconds,
        checkpoint_iterations=checkpoint_iterations,
    )
    if console is not None:
        _report(fitted, run, console)


def read_eta(text: str) -> Any:
    """Read eta: a number where it is one, else the text, which the model refuses by name.

    Examples
    --------
    >>> read_eta("3"), read_eta("infinity"), read_eta("x")
    (3, inf, 'x')
    """
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def free_folder(folder: Path) -> Path:
    """Give a folder that is not there yet: the one asked for, or with the next free number."""
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
        f"The run is in {folder}. Look at it again: citeweave info {folder}", soft_wrap=True
    )
