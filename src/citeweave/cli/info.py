"""The command `info`: describe a run or a corpus."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.options import AsJson

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from citeweave.baselines import Baseline
    from citeweave.corpus import Corpus
    from citeweave.model import SCNTM

__all__ = ["describe_corpus", "describe_run", "register"]

WORDS = 12


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("info")(info)


@guarded
def info(
    *,
    folder: Annotated[Path, typer.Argument(help="Run or corpus folder.", metavar="RUN|CORPUS")],
    as_json: AsJson = False,
) -> None:
    """Describe a run or a corpus."""
    from citeweave.cli.show import make_console
    from citeweave.runs.folder import is_run_folder

    console = make_console()
    if is_run_folder(folder):
        _info_run(folder, console, as_json=as_json)
        return
    from citeweave.cli.sources import open_corpus
    from citeweave.preparing import Report

    corpus = open_corpus(folder)
    report = Report.of(corpus)
    if as_json:
        _write_json(
            describe_corpus(corpus) | {"import": None if report is None else report.as_dict()}
        )
        return
    _print_corpus(corpus, folder, console)
    if report is not None:
        from citeweave.cli.import_show import print_report

        console.print()
        print_report(console, report)


def describe_corpus(corpus: "Corpus") -> dict[str, Any]:
    """Return all figures of a corpus as JSON-serialisable values."""
    return {
        "kind": "corpus",
        "fingerprint": corpus.fingerprint,
        **corpus.summary(),
        "removed": {
            name: value
            for name, value in corpus.report.as_dict().items()
            if not name.startswith(("documents_without", "empty"))
        },
        "metadata": list(corpus.metadata),
        "preparation": corpus.preparation,
    }


def describe_run(manifest: dict[str, Any], model: "SCNTM | None") -> dict[str, Any]:
    """Return the settings of a run and, if it has samples, its results."""
    out = {"kind": "run"} | {
        name: manifest.get(name)
        for name in ("status", "started", "finished", "parameters", "plan", "seed")
    }
    out |= {
        "model": manifest.get("spec", {}).get("name"),
        "corpus": manifest.get("corpus"),
        "versions": manifest.get("versions"),
        "notes": manifest.get("notes", []),
    }
    if model is None:
        return out | {"result": None}
    from citeweave.cli.show import posterior_level, topic_order
    from citeweave.evaluate.diagnostics import judge_chains

    combination = model.combination_
    tokens = model.corpus_.n_tokens
    networked = model.spec_.citations is not None
    what, height = posterior_level(model)
    level = _finite(height) if what == "log posterior" else None
    out["result"] = {
        "iterations": model.n_iter_,
        "samples": model.n_samples_,
        "topics_in_use": len(topic_order(model)),
        "log_posterior": level,
        "log_posterior_per_word": level / tokens if level is not None and tokens else None,
        "log_likelihood": combination["likelihoods"][combination["best"]],
        "log_likelihood_per_word": _finite(
            combination["likelihoods"][combination["best"]] / tokens if tokens else math.nan
        ),
        "acceptance": _finite(model.acceptance_) if networked else None,
        "combination": combination["how"],
        "agreements": combination["agreements"],
        "verdict": judge_chains(model).verdict._asdict(),
        "settlement": None if model.settlement_ is None else model.settlement_.as_json(),
        "topics": _topics(model, mu=True),
    }
    return out


def _topics(model: "SCNTM | Baseline", *, mu: bool) -> list[dict[str, Any]]:
    """List topics in use with their share of the papers; `mu` if the model has it."""
    from citeweave.cli.show import pick_words, topic_order
    from citeweave.model.describing import topic_shares

    words = pick_words(model, WORDS)
    share = topic_shares(model.doc_topic_)
    return [
        {
            "topic": k,
            "share": round(float(share[k]), 6),
            **({"mu": round(float(model.topic_share_[k]), 6)} if mu else {}),
            "papers": int((model.labels_ == k).sum()),
            "words": words[k],
        }
        for k in topic_order(model)
    ]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _write_json(content: dict[str, Any]) -> None:
    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))


def _info_run(folder: Path, console: "Console", *, as_json: bool) -> None:
    from citeweave.errors import RunError
    from citeweave.model import load
    from citeweave.runs.folder import SCNTM_KIND, RunFolder

    run = RunFolder.open(folder)
    if run.kind != SCNTM_KIND:
        _info_baseline(run.manifest, folder, console, as_json=as_json)
        return
    unusable = ""
    model = None
    try:
        model = load(folder)
    except RunError as error:
        if run.done:
            raise
        unusable = str(error)  # an unfinished run can still be described
    if as_json:
        _write_json(describe_run(run.manifest, model))
        return
    _print_run(run.manifest, model, folder, console)
    if unusable:
        console.print(unusable)


def _info_baseline(
    manifest: dict[str, Any], folder: Path, console: "Console", *, as_json: bool
) -> None:
    from citeweave.baselines import Baseline
    from citeweave.cli.fit_baseline import print_baseline
    from citeweave.loading import load

    model = load(folder)
    assert isinstance(model, Baseline)  # noqa: S101 (the kind of the run says so)
    if not as_json:
        console.print(_head(manifest, folder, f"done, {model!r}"))
        console.print()
        print_baseline(model, console)
        return
    topics = _topics(model, mu=False)
    content = describe_run(manifest, None)
    content["result"] = dict(model.facts_) | {"topics_in_use": len(topics), "topics": topics}
    _write_json(content)


def _print_run(
    manifest: dict[str, Any], model: "SCNTM | None", folder: Path, console: "Console"
) -> None:
    from citeweave.cli import show

    iterations = manifest["parameters"].get("iterations")
    done = iterations if model is None else model.n_iter_
    if manifest["status"] == "done":
        status = f"done, {done} iterations"
        if manifest.get("longer"):
            most = manifest["longer"]["parameters"]["iterations"]
            status += (
                f"; it is being extended to at most {most}, continue with: citeweave resume "
                f"{folder}"
            )
    elif model is None:
        status = f"unfinished; continue with: citeweave resume {folder}"
    else:
        status = (
            f"unfinished, {done} of {iterations} iterations; "
            f"continue with: citeweave resume {folder}"
        )
    console.print(_head(manifest, folder, status))
    if model is None:
        return
    words = show.pick_words(model, WORDS)
    names = show.topic_names(model, words)
    console.print()
    console.print(show.topic_table(model, words))
    for table in (show.author_table(model, names), show.paper_table(model, names)):
        if table is not None:
            console.print(table)
    console.print(show.run_table(model))


def _head(manifest: dict[str, Any], folder: Path, status: str) -> "Table":
    """List the facts in the manifest of a run."""
    from citeweave.cli import show

    facts = show.fact_table()
    facts.add_row("run", str(folder))
    facts.add_row("status", status)
    for name in ("started", "finished"):
        if manifest.get(name):
            facts.add_row(name, str(manifest[name]).replace("T", " "))
    facts.add_row("model", _model_line(manifest))
    facts.add_row("corpus", _counts_line(manifest["corpus"]))
    versions = manifest.get("versions") or {}
    facts.add_row("made with", ", ".join(f"{name} {value}" for name, value in versions.items()))
    held = manifest.get("held_out") or {}
    if held:
        shown = ", ".join(f"{shape[0]:,} {name}" for name, shape in held.items())
        facts.add_row("held out", f"{shown}; to score them: citeweave evaluate {folder}")
    for note in manifest.get("notes", []):
        facts.add_row("note", str(note))
    return facts


def _model_line(manifest: dict[str, Any]) -> str:
    from citeweave.engines.registry import place

    parameters = manifest["parameters"]
    name = manifest.get("spec", {}).get("name", "?")
    shown = [f"{key} {parameters[key]}" for key in ("topics", "eta", "chains") if key in parameters]
    plan = manifest.get("plan") or {}
    shown += [
        f"{key.replace('_', ' ')} {plan[key]}"
        for key in ("network_from", "burst_from", "burn_in", "thin")
        if key in plan
    ]
    if plan.get("rounds"):
        where = ("snapshot sweeps", place(plan.get("device", "")))
        shown.append(f"{' '.join(filter(None, where))}, rounds {plan['rounds']}")
    return f"{name} ({', '.join(shown)})"


def _counts_line(corpus: dict[str, Any]) -> str:
    counts = corpus.get("counts") or {}
    names = ("documents", "tokens", "vocabulary", "authors", "categories", "citations")
    shown = ", ".join(f"{counts[name]:,} {name}" for name in names if counts.get(name))
    return f"{shown} (fingerprint {str(corpus.get('fingerprint', ''))[:12]})"


def _print_corpus(corpus: "Corpus", folder: Path, console: "Console") -> None:
    from citeweave.cli import show

    summary = corpus.summary()
    facts = show.fact_table()
    facts.add_row("corpus", f"{folder} (fingerprint {corpus.fingerprint[:12]})")
    facts.add_row("", show.corpus_line(corpus))
    for key in ("words_per_document", "percent_repeat"):
        facts.add_row(key.replace("_", " "), f"{summary[key]:.1f}")
    for key, value in summary.items():
        if key.startswith("documents_without") and value:
            facts.add_row(key.replace("documents_without_", "papers without "), f"{value:,}")
    for key, value in corpus.report.as_dict().items():
        if value and not key.startswith(("documents_without", "empty")):
            facts.add_row(f"removed: {key.replace('_', ' ')}", f"{value:,}")
    if corpus.metadata:
        facts.add_row("further columns", ", ".join(corpus.metadata))
    console.print(facts)
    titles = [title for title in corpus.titles[:5] if title]
    if titles:
        table = show.new_table("First titles")
        table.add_column("", no_wrap=True, overflow="ellipsis")
        table.show_header = False
        for title in titles:
            table.add_row(title)
        console.print(table)
