"""The command `run`: from export files to a report in one resumable step."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.options import RUN, Checkpoints, Sources, gathers
from citeweave.cli.topics import TOPICS_OR_AUTO, choose_topics
from citeweave.errors import RunError
from citeweave.parameters.scntm import CHAINS, ITERATIONS, PARAMETERS
from citeweave.runs.results_folder import CORPUS, FITTED, SCANNED, SUFFIX, literature_name

if TYPE_CHECKING:
    from rich.console import Console

    from citeweave.corpus import Corpus
    from citeweave.model import SCNTM

__all__ = ["register"]

JOB = "job.json"
MEASURES, REPORT, IMPORTED = "evaluation.json", "report.html", "import.html"

_LEVELS = ("levels", "period_years")
"""Recorded only if given; jobs of earlier releases lack them."""
_RESULT = ("topics", "eta", *_LEVELS, "iterations", "minutes", "seed", "chains", "model")
"""Parameters that affect the result; threads and device may differ when a job is resumed."""
_NAMES = (*_RESULT[1:], "threads", "device")
_DEFAULTS = {"seed": 0, "iterations": ITERATIONS, "chains": CHAINS}
_PARAMETERS = (
    TOPICS_OR_AUTO,
    *(
        PARAMETERS[name].but(default=_DEFAULTS[name]) if name in _DEFAULTS else PARAMETERS[name]
        for name in _NAMES
    ),
)


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("run")(run)


@guarded
@gathers(parameters=_PARAMETERS, checkpoints=Checkpoints)
def run(
    *,
    corpus: Sources,
    parameters: dict[str, Any],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for everything (default: CORPUS-results).", rich_help_panel=RUN),
    ] = None,
    checkpoints: Checkpoints,
) -> None:
    """Import, fit until the chains agree, evaluate, and write a report, all in one folder.

    If it is interrupted, run the same command again to continue.
    """
    from citeweave.cli.show import make_console
    from citeweave.cli.sources import name_of
    from citeweave.model import SCNTM
    from citeweave.model.parameters import make_plan
    from citeweave.parameters import check_values

    console = None if checkpoints.quiet else make_console()
    place = out if out is not None else Path(f"{name_of(corpus)}{SUFFIX}")
    rules = {"topics": TOPICS_OR_AUTO.rule}
    check_values(rules, parameters, lambda name: f"option --{name}")
    trial = parameters if parameters["topics"] != "auto" else parameters | {"topics": 2}
    make_plan(SCNTM(**trial).get_params())  # report errors before a long import
    if any(Path(source).resolve() == place.resolve() for source in corpus):
        raise RunError(
            f"'{place}' is also the name of the input. Choose another folder with --out."
        )
    _begin(place, corpus, parameters)

    step = _Steps(console)
    found = step("import", lambda: _import(corpus, place, console))
    topics = choose_topics(found, parameters, place / SCANNED, console)
    model = step("fit", lambda: _fit(found, parameters | {"topics": topics}, place, checkpoints))
    step("evaluate", lambda: _evaluate(model, place, console))
    step("report", lambda: _write_report(place))
    if console is not None:
        _tell(console, place, model)


class _Steps:
    """Prints which step is running."""

    def __init__(self, console: "Console | None") -> None:
        self.console = console
        self.number = 0

    def __call__(self, name: str, work: Any) -> Any:
        self.number += 1
        if self.console is not None:
            self.console.rule(f"{self.number} of 4: {name}", align="left", style="dim")
        return work()


def _begin(place: Path, sources: list[str], parameters: dict[str, Any]) -> None:
    """Create the folder, or check that it was made with the same files and parameters."""
    from citeweave.files import write_atomically, writing

    asked: dict[str, Any] = {
        "format": "citeweave-job",
        "version": 1,
        "sources": [_describe(source) for source in sources],
        "parameters": {
            name: _plain(parameters[name])
            for name in _RESULT
            if parameters[name] or name not in _LEVELS
        },
    }
    file = place / JOB
    hint = "Choose another folder with --out."
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        with writing(place, hint):
            place.mkdir(parents=True, exist_ok=True)
            with write_atomically(file) as stream:
                stream.write((json.dumps(asked, indent=2) + "\n").encode())
        return
    try:
        begun = json.loads(file.read_text(encoding="utf-8"))
        differs = [name for name in asked if begun[name] != asked[name]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"'{place}' exists but was not created by this command. {hint}") from error
    if "sources" in differs:
        raise RunError(f"'{place}' was made from other files, or the files have changed. {hint}")
    if differs:
        other = [
            f"{PARAMETERS[name].option} {begun['parameters'].get(name)}"
            for name in _RESULT
            if begun["parameters"].get(name) != asked["parameters"].get(name)
        ]
        raise RunError(
            f"'{place}' was started with {', '.join(other) or 'other parameters'}. Pass the same "
            "parameters, or choose another folder with --out."
        )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, int | str | None) else str(value)


def _describe(source: str) -> list[str]:
    """Identify a source by its path and a hash of its contents, and a data set by its name."""
    path = Path(source)
    if not path.exists():
        return [source, ""]
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if file.is_file():
            digest.update(file.name.encode())
            with file.open("rb") as content:
                digest.update(hashlib.file_digest(content, "sha256").digest())
    return [str(path.resolve()), digest.hexdigest()]


def _import(sources: list[str], place: Path, console: "Console | None") -> "Corpus":
    """Create the corpus, unless it exists."""
    from citeweave.cli.sources import open_sources
    from citeweave.corpus import Corpus
    from citeweave.corpus.storage import is_corpus_folder
    from citeweave.preparing.report import Report

    folder = place / CORPUS
    if is_corpus_folder(folder):
        _say(console, f"{folder} already exists.")
        return Corpus.load(folder)
    made = open_sources(sources, console)
    report = Report.of(made)
    if report is not None:
        report.save(place / IMPORTED)
    made.save(folder)
    return Corpus.load(folder)


def _fit(
    corpus: "Corpus", parameters: dict[str, Any], place: Path, checkpoints: Checkpoints
) -> "SCNTM":
    """Fit the model, continue its run, or load it."""
    from citeweave.cli.running import fit_model, resume_model
    from citeweave.cli.show import make_console
    from citeweave.model import SCNTM
    from citeweave.model.parameters import make_plan
    from citeweave.runs.folder import is_run_folder

    console = None if checkpoints.quiet else make_console()
    folder = place / FITTED
    if is_run_folder(folder):
        machine = {name: parameters[name] for name in ("threads",)}
        return resume_model(folder, None, console, **machine, **checkpoints.intervals)
    model = SCNTM(**parameters)
    plan = make_plan(model.get_params())
    return fit_model(model, plan, corpus, console, out=folder, **checkpoints.intervals)


def _evaluate(model: "SCNTM", place: Path, console: "Console | None") -> None:
    """Evaluate the model, again if the run was extended since."""
    from citeweave.cli.evaluate_show import print_evaluation
    from citeweave.evaluate import evaluate

    file = place / MEASURES
    if _is_newer(file, place / FITTED / "manifest.json"):
        _say(console, f"{file} already exists.")
        return
    found = evaluate(model)
    found.save(file)
    if console is not None:
        print_evaluation(found, str(place / FITTED), console)


def _write_report(place: Path) -> None:
    """Write the report, unless it exists and is newer than the run."""
    from citeweave.web.report import write_report

    file = place / REPORT
    if not _is_newer(file, place / FITTED / "manifest.json"):
        write_report(place / FITTED, file, title=literature_name(place / FITTED))


def _is_newer(file: Path, other: Path) -> bool:
    return file.is_file() and file.stat().st_mtime_ns >= other.stat().st_mtime_ns


def _say(console: "Console | None", text: str) -> None:
    if console is not None:
        console.print(text, soft_wrap=True)


def _tell(console: "Console", place: Path, model: "SCNTM") -> None:
    """Print the topics, where everything is, and what to do next."""
    from citeweave.cli.show import fact_table, pick_words, run_table, topic_table

    console.rule("Done", align="left", style="dim")
    console.print(topic_table(model, pick_words(model, 12)))
    console.print(run_table(model))
    console.print()
    facts = fact_table()
    facts.add_row("report", str(place / REPORT))
    if (place / IMPORTED).is_file():
        facts.add_row("import report", str(place / IMPORTED))
    facts.add_row("measures", str(place / MEASURES))
    facts.add_row("corpus", str(place / CORPUS))
    facts.add_row("run", str(place / FITTED))
    console.print(facts)
    console.print(f"To explore it in the browser: citeweave serve {place / FITTED}", soft_wrap=True)
