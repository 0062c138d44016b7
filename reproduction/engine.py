"""Run experiments, store their results, and write their pages."""

from __future__ import annotations

import json
import shlex
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from citeweave.errors import MissingDependencyError, ParameterError
from citeweave.files import write_text
from reproduction import provenance
from reproduction.context import DEMO, Context
from reproduction.earlier import read_sections, with_earlier_rows
from reproduction.registry import NAMES, choose_datasets, find_experiment
from reproduction.settings import SETTLED, settings
from reproduction.unfinished import notes_on_missing
from reproduction.writers import (
    FORMAT,
    markdown_page,
    outcome_to_json,
    table_from_json,
    table_to_csv,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reproduction.base import Experiment

__all__ = ["Finished", "join_pages", "read_results", "reproduce", "write_page"]

JOINED = "results.md"

_INTRODUCTION = (
    "This page is written by `python -m reproduction`, section by section. Each section states the "
    "command, the seeds, the date, the machines and how its chains were run. The paper is "
    "Lim and Buntine, *Bibliographic analysis on research publications using authors, categorical "
    "labels and the citation network* (2016); its published figures are shown next to ours. Three "
    "of its "
    "sets (ML, AvS, and M10 with abstracts) are no longer available; ieee-vis and hep-th take "
    "their places, under their own names. docs/understand/categories.md describes the aims beyond "
    "the paper, for clusters and few labels, by how much they are missed, and what was tried.\n"
)


@dataclass(frozen=True)
class Finished:
    """A finished experiment: its JSON, its page, and whether it existed before."""

    name: str
    content: Mapping[str, Any]
    page: Path
    reused: bool


def reproduce(name: str, context: Context, *, fresh: bool = False) -> Finished:
    """Reproduce one of the paper's tables or figures, and write it below ``context.out``.

    Parameters
    ----------
    name : str
        Name of an experiment, see `reproduction.NAMES`.
    context : Context
        Data sets, seeds, folders.
    fresh : bool
        Run it even if a result with the same settings exists. (Fitted models and finished parts
        below ``out`` are still used; choose another folder to start from scratch.)

    Raises
    ------
    ParameterError
        There is no such experiment or data set.
    """
    experiment = find_experiment(name)
    context = replace(context, datasets=choose_datasets(experiment, context), ran={}, missing={})
    asked = _asked(experiment, context)
    path = context.out / f"{name}.json"
    # more may have finished since
    if not fresh and not context.finished:
        content = _read(path)
        if content is not None and _still_holds(content, asked, context):
            context.say(f"{name}: taken from {path.name}, made on {content['date']}")
            return Finished(name, content, write_page(content, context.out), reused=True)
    context.say(f"{name}: {experiment.what}")
    started = time.monotonic()
    outcome = experiment.run(context)
    if context.earlier is not None:
        outcome = with_earlier_rows(outcome, context.earlier)
    said = [
        *outcome.notes,
        *experiment.conclude(context, outcome.tables),
        *notes_on_missing(context, outcome.tables),
    ]
    content = {
        "format": FORMAT,
        "experiment": name,
        "label": experiment.label,
        "what": experiment.what,
        "command": _command(experiment, context),
        "quick": context.quick,
        "asked": asked,
        **outcome_to_json(replace(outcome, notes=said)),
        "corpora": _corpora(context),
        "versions": provenance.versions(),
        "machine": provenance.machine(),
        "ran": {
            place: {"fits": len(found), "seconds": round(sum(found.values()), 1)}
            for place, found in sorted(context.ran.items())
            if place
        },
        "date": provenance.now(),
        "seconds": round(time.monotonic() - started, 2),
    }
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return Finished(name, content, write_page(content, context.out), reused=False)


def write_page(content: Mapping[str, Any], out: Path) -> Path:
    """Write the page of an experiment, its CSV files and, if matplotlib is there, its pictures."""
    page = out / f"{content['experiment']}.md"
    write_text(page, markdown_page(content, _pictures(content, out)))
    return page


def read_results(out: Path) -> list[dict[str, Any]]:
    """Read all results of a folder, in the order of the paper."""
    found = (_read(out / f"{name}.json") for name in NAMES)
    return [content for content in found if content is not None]


def join_pages(out: Path, *, page: Path | None = None) -> Path:
    """Join the results of a folder to one page, with pictures redrawn from their numbers.

    Sections of an existing page for which the folder has no result stay as they are.

    Parameters
    ----------
    out : Path
        Folder of results.
    page : Path or None
        Where to write it; by default ``results.md`` in the folder. Pictures of a page elsewhere
        are put into a folder of the same name next to it.

    Raises
    ------
    ParameterError
        The folder has no results.
    """
    results = read_results(out)
    if not results:
        raise ParameterError(
            f"There are no results in '{out}'. Make them: python -m reproduction all --out {out}"
        )
    target = out / JOINED if page is None else page
    sections = read_sections(target)
    before = ""
    for content in results:
        pictures = _pictures(content, out)
        if page is not None:
            folder = page.with_suffix("")
            pictures = {
                name: [f"{folder.name}/{file}" for file in files]
                for name, files in _pictures(content, folder).items()
            }
        text = markdown_page(content, pictures, level=2)
        sections = _put(sections, content["title"], text, after=before)
        before = content["title"]
    links = [f"- [{title}](#{_anchor(title)})" for title in sections]
    parts = ["# Results: the paper's tables and figures reproduced\n", _INTRODUCTION]
    parts.append("\n".join(links) + "\n")
    write_text(target, "\n".join([*parts, *sections.values()]))
    return target


def _put(sections: Mapping[str, str], title: str, text: str, *, after: str) -> dict[str, str]:
    """Replace a section, or insert it after another (at the beginning if there is none).

    Examples
    --------
    >>> _put({"A": "a", "C": "c"}, "B", "b", after="A")
    {'A': 'a', 'B': 'b', 'C': 'c'}
    >>> _put({"A": "a", "C": "c"}, "C", "new", after="A")
    {'A': 'a', 'C': 'new'}
    """
    if title in sections:
        return {**sections, title: text}
    titles = list(sections)
    place = titles.index(after) + 1 if after in sections else 0
    titles.insert(place, title)
    return {name: text if name == title else sections[name] for name in titles}


def _anchor(title: str) -> str:
    """Return the anchor of a heading, as Markdown viewers do.

    Examples
    --------
    >>> _anchor("Running time (tbl:running_time)")
    'running-time-tblrunning_time'
    """
    kept = (sign for sign in title.lower() if sign.isalnum() or sign in " -_")
    return "".join(kept).replace(" ", "-")


def _asked(experiment: Experiment, context: Context) -> dict[str, Any]:
    """Collect everything that determines a result, to decide whether a stored one is reused."""
    return {
        "datasets": list(context.datasets),
        "runs": context.runs,
        "seed": context.seed,
        "iterations": context.iterations,
        "stages": context.stages,
        **({"finished": True} if context.finished else {}),
        **({"earlier": context.earlier.name} if context.earlier is not None else {}),
        "document": context.document if experiment.name == "counts" else None,
        **({"lengths": dict(context.lengths)} if context.lengths else {}),
        **({"folds": dict(context.folds)} if context.folds else {}),
        **({"models": list(context.models)} if context.models else {}),
        **({"parts": list(context.parts)} if context.parts else {}),
        **({"labels": context.labels} if experiment.name == "labels" else {}),
    }


def _still_holds(content: Mapping[str, Any], asked: Mapping[str, Any], context: Context) -> bool:
    if content["asked"] != asked or content["quick"] != context.quick:
        return False
    own = {
        name: context.corpus(name).fingerprint
        for name in asked["datasets"]
        if name in context.corpora
    }
    return all(
        content["corpora"].get(name, {}).get("fingerprint") == mark for name, mark in own.items()
    )


def _read(path: Path) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # missing, or not JSON: it is made again
    return content if isinstance(content, dict) and content.get("format") == FORMAT else None


def _corpora(context: Context) -> dict[str, Any]:
    """Size and fingerprint of the corpora that an experiment has opened."""
    facts = {}
    for name in context.datasets:
        corpus = context.corpus(name)
        facts[name] = {
            "fingerprint": corpus.fingerprint,
            "documents": corpus.n_documents,
            "words": corpus.n_tokens,
            "citations": corpus.n_citations,
            "stands_for": settings(name).stands_for,
            "made_up": name == DEMO or name.startswith("simulated-"),
        }
    return facts


def _command(experiment: Experiment, context: Context) -> str:
    """Return the command that reproduces this, without the folders of this computer."""
    parts = [
        "python",
        "-m",
        "reproduction",
        experiment.name,
        "--datasets",
        ",".join(context.datasets),
    ]
    parts += ["--runs", str(context.runs), "--seed", str(context.seed)]
    lengths = [f"{name}={length}" for name, length in context.lengths.items()]
    if context.iterations is not None:
        lengths.insert(0, str(context.iterations))
    if lengths:
        parts += ["--iterations", ",".join(lengths)]
    if context.folds:
        some = (
            f"{name}={number}" if name else f"{number}" for name, number in context.folds.items()
        )
        parts += ["--folds", ",".join(some)]
    if context.models:
        parts += ["--models", ",".join(context.models)]
    if context.parts:
        parts += ["--parts", ",".join(context.parts)]
    if experiment.name == "labels":
        parts += ["--labels", str(context.labels)]
    if context.document is not None and experiment.name == "counts":
        parts += ["--document", str(context.document)]
    if context.stages != SETTLED:
        parts += ["--stages", context.stages]
    if context.device != "auto":
        parts += ["--device", context.device]
    if context.finished:
        parts.append("--finished")
    if context.earlier is not None:
        parts += ["--earlier", context.earlier.name]
    if context.quick:
        parts.append("--quick")
    return " ".join(map(shlex.quote, [*parts, "--out", "results"]))


def _pictures(content: Mapping[str, Any], out: Path) -> dict[str, list[str]]:
    """Write the files of all figures of a result; return their names by figure."""
    written: dict[str, list[str]] = {}
    for figure in content["figures"]:
        stem = out / f"{content['experiment']}-{figure['name']}"
        files = []
        try:
            from reproduction.drawings import draw  # noqa: PLC0415 (an extra)

            files += draw(figure["drawing"], figure["data"], stem)
        except MissingDependencyError:
            pass  # the page says how to get the picture; its numbers are in the CSV file
        table = stem.with_suffix(".csv")
        write_text(table, table_to_csv(table_from_json(figure["table"])))
        written[figure["name"]] = [path.name for path in (*files, table)]
    return written
