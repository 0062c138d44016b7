"""The commands in one process: what they write, what they leave, how they refuse."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner, Result

import citeweave
from citeweave.baselines import BASELINES
from citeweave.cli import fit
from citeweave.cli.fit import free_folder
from citeweave.cli.main import app
from citeweave.cli.show import Fitting, pick_words, topic_order
from citeweave.engines.core.spec import PRESETS
from citeweave.explore import Exploration
from citeweave.model import load
from citeweave.parameters.scntm import read_number

SHORT = ["--topics", "4", "--iterations", "40", "--seed", "1", "--chains", "1"]


@pytest.fixture(scope="module")
def run_folder(corpus_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "RUN"
    command = ["fit", str(corpus_folder), *SHORT, "--chains", "2", "--out", str(out)]
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, command)
    assert result.exit_code == 0, result.output
    return out


def refused(result: Result) -> str:
    """Check that a command ended as errors of users do; return its one line."""
    assert result.exit_code == 2, result.output
    lines = result.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("citeweave: error: ")
    return lines[0]


def test_version(runner: CliRunner) -> None:
    result = runner.invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"citeweave {citeweave.__version__}\n")


def test_fit_names_every_model_that_it_can_fit() -> None:
    command: Any = typer.main.get_command(app)
    (option,) = [one for one in command.commands["fit"].params if one.name == "model"]
    named = option.help.removesuffix(".").replace("; or, for comparison:", ",").split(", ")
    assert sorted(named) == sorted([*PRESETS, *BASELINES])


@pytest.mark.parametrize("command", [[], ["fit"], ["resume"], ["demo"], ["info"]])
def test_every_command_explains_itself(runner: CliRunner, command: list[str]) -> None:
    result = runner.invoke(app, [*command, "--help"])
    assert result.exit_code == 0
    assert "Usage" in result.stdout


def test_help_texts_hold_nothing_that_rich_would_swallow() -> None:
    for path in Path(fit.__file__).parent.glob("*.py"):
        for text in re.findall(r'help="([^"]*)"', path.read_text(encoding="utf-8")):
            assert "[" not in text, f"{path.name}: {text}"


def test_fit_does_what_the_library_does(run_folder: Path, corpus_folder: Path) -> None:
    model = citeweave.SCNTM(topics=4, iterations=40, seed=1, chains=2).fit(corpus_folder)
    stored = load(run_folder)
    np.testing.assert_array_equal(stored.doc_topic_, model.doc_topic_)
    np.testing.assert_array_equal(stored.citing_topic_, model.citing_topic_)
    assert stored.get_params() == model.get_params()


def test_fit_reports_progress_topics_and_figures(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "RUN"
    result = runner.invoke(app, ["fit", str(corpus_folder), *SHORT, "--out", str(out)])
    assert result.exit_code == 0, result.stderr
    assert "60 papers" in result.stdout
    assert "chain 0  40/40" in result.stdout
    assert "in use)" in result.stdout
    assert "acceptance" in result.stdout
    assert f"citeweave info {out}" in " ".join(result.stdout.split())
    assert result.stderr == ""


def test_quiet_is_quiet(runner: CliRunner, corpus_folder: Path, tmp_path: Path) -> None:
    command = ["fit", str(corpus_folder), *SHORT, "--quiet", "--out", str(tmp_path / "RUN")]
    result = runner.invoke(app, command)
    assert (result.exit_code, result.output) == (0, "")
    assert load(tmp_path / "RUN").n_iter_ == 40


def test_options_reach_the_model(runner: CliRunner, corpus_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "RUN"
    options = {
        "model": "scntm",
        "eta": "inf",
        "network-from": "10",
        "burst-from": "12",
        "start": "clusters",
        "burn-in": "30",
        "thin": "5",
        "combine": "best",
        "unknown": "own",
        "topic-discount": "0.02",
        "word-discount": "0.6",
        "concentration": "0.5",
        "threads": "1",
        "self-citations": "zero",
    }
    flags = [text for name, value in options.items() for text in (f"--{name}", value)]
    command = ["fit", str(corpus_folder), *SHORT, *flags, "--out", str(out)]
    result = runner.invoke(app, [*command, "--quiet"])
    assert result.exit_code == 0, result.output
    given = load(out).get_params()
    expected = {
        "topics": 4,
        "eta": float("inf"),
        "network_from": 10,
        "burst_from": 12,
        "start": "clusters",
        "burn_in": 30,
        "thin": 5,
        "combine": "best",
        "unknown": "own",
        "topic_discount": 0.02,
        "word_discount": 0.6,
        "concentration": 0.5,
        "threads": 1,
        "self_citations": "zero",
        "seed": 1,
        "chains": 1,
    }
    assert {name: given[name] for name in expected} == expected


def test_without_out_the_run_gets_a_free_name(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        result = runner.invoke(app, ["fit", str(corpus_folder), *SHORT, "--quiet"])
        assert result.exit_code == 0, result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small-run", "small-run-2"]


@pytest.mark.parametrize(
    "options",
    [
        ["--topics", "-3"],
        ["--eta", "x"],
        ["--eta", "1.5"],
        ["--iterations", "0"],
        ["--network-from", "500"],
        ["--burst-from", "500"],
        ["--start", "nowhere"],
        ["--burn-in", "500"],
        ["--thin", "0"],
        ["--chains", "0"],
        ["--seed", "-1"],
        ["--model", "lda"],
        ["--unknown", "none"],
        ["--combine", "mean"],
        ["--word-discount", "1"],
        ["--concentration", "0"],
        ["--checkpoint-seconds", "-1"],
        ["--checkpoint-iterations", "0"],
    ],
)
def test_wrong_parameters_are_named_and_nothing_is_left(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path, options: list[str]
) -> None:
    out = tmp_path / "RUN"
    command = ["fit", str(corpus_folder), *SHORT, *options, "--out", str(out)]
    line = refused(runner.invoke(app, command))
    assert options[0] in line
    assert options[1] in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [["--topics", "many"], ["--no-such-option"]])
def test_usage_errors_exit_with_2(
    runner: CliRunner, corpus_folder: Path, options: list[str]
) -> None:
    result = runner.invoke(app, ["fit", str(corpus_folder), *options])
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_what_is_no_corpus_is_refused(runner: CliRunner, tmp_path: Path) -> None:
    file = tmp_path / "export.bib"
    file.write_text("@article{a}", encoding="utf-8")
    empty = tmp_path / "empty"
    empty.mkdir()
    for source in (tmp_path / "nowhere", file, empty):
        for command in (
            ["fit", str(source), "--out", str(tmp_path / "RUN")],
            ["info", str(source)],
        ):
            assert str(source) in refused(runner.invoke(app, command))
    assert not (tmp_path / "RUN").exists()


def test_a_corpus_of_another_version_is_refused(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old"
    shutil.copytree(corpus_folder, old)
    manifest = json.loads((old / "manifest.json").read_text(encoding="utf-8"))
    manifest["version"] = 99
    (old / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    line = refused(runner.invoke(app, ["fit", str(old), "--out", str(tmp_path / "RUN")]))
    assert "99" in line


def test_an_existing_folder_is_kept_unless_overwrite(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "RUN"
    command = ["fit", str(corpus_folder), *SHORT, "--quiet", "--out", str(out)]
    assert runner.invoke(app, command).exit_code == 0
    before = (out / "manifest.json").read_bytes()
    line = refused(runner.invoke(app, command))
    assert "already contains a run" in line
    assert "pass --overwrite" in line
    assert (out / "manifest.json").read_bytes() == before
    again = runner.invoke(app, [*command, "--overwrite", "--topics", "3"])
    assert again.exit_code == 0, again.output
    assert load(out).topics == 3


def test_a_folder_that_is_no_run_is_never_overwritten(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "chapter.tex").write_text("years of work", encoding="utf-8")
    command = ["fit", str(corpus_folder), *SHORT, "--out", str(out), "--overwrite"]
    assert "thesis" in refused(runner.invoke(app, command))
    assert (out / "chapter.tex").read_text(encoding="utf-8") == "years of work"


def test_a_place_that_cannot_be_written_is_refused(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    command = ["fit", str(corpus_folder), *SHORT, "--out", str(file / "RUN")]
    assert str(file) in refused(runner.invoke(app, command))


def test_resume_of_what_is_no_run_is_refused(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path
) -> None:
    for folder in (tmp_path / "nowhere", corpus_folder):
        for more in ([], ["--quiet"]):
            assert str(folder) in refused(runner.invoke(app, ["resume", str(folder), *more]))


def test_resume_of_a_damaged_manifest_is_refused(
    runner: CliRunner, run_folder: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(run_folder, broken)
    manifest = json.loads((broken / "manifest.json").read_text(encoding="utf-8"))
    manifest["status"] = "running"
    manifest["parameters"] = {"topics": "many"}
    (broken / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert str(broken) in refused(runner.invoke(app, ["resume", str(broken)]))


def test_resume_of_a_run_that_is_done_shows_it(runner: CliRunner, run_folder: Path) -> None:
    result = runner.invoke(app, ["resume", str(run_folder)])
    assert result.exit_code == 0
    assert "already finished" in " ".join(result.stdout.split())


def test_a_run_that_is_done_goes_on(runner: CliRunner, run_folder: Path, tmp_path: Path) -> None:
    """As its verdict says, by a plan that is made once."""
    folder = tmp_path / "run"
    shutil.copytree(run_folder, folder)
    shown = " ".join(runner.invoke(app, ["info", str(folder)]).stdout.split())
    assert "Not settled" in shown
    assert "resume" in shown
    for more, told in (("0", "'+n' for n more"), ("+x", "'+n' for n more")):
        result = runner.invoke(app, ["resume", str(folder), "--iterations", more])
        assert told in refused(result)
    assert "--minutes" in refused(runner.invoke(app, ["resume", str(folder), "--minutes", "0"]))
    result = runner.invoke(app, ["resume", str(folder), "--iterations", "+10"])
    assert result.exit_code == 0, result.stderr
    assert "50/50" in result.stdout
    assert load(folder).n_iter_ == 50
    refused(runner.invoke(app, ["fit", str(folder / "corpus"), "--minutes", "0"]))


def test_info_of_a_run_as_json(runner: CliRunner, run_folder: Path) -> None:
    result = runner.invoke(app, ["info", str(run_folder), "--json"])
    assert result.exit_code == 0
    content = json.loads(result.stdout)
    model = load(run_folder)
    assert (content["kind"], content["status"], content["model"]) == ("run", "done", "scntm")
    assert content["parameters"]["topics"] == 4
    assert content["seed"] == 1
    assert content["corpus"]["fingerprint"] == model.corpus_.fingerprint
    found = content["result"]
    assert found["iterations"] == 40
    assert found["samples"] == model.n_samples_
    assert found["acceptance"] == pytest.approx(model.acceptance_)
    assert [topic["topic"] for topic in found["topics"]] == topic_order(model)
    assert sum(topic["papers"] for topic in found["topics"]) == 60
    shares = {row["topic"]: row["share"] for row in Exploration(model).topics().to_dicts()}
    for topic in found["topics"]:
        assert topic["share"] == pytest.approx(shares[topic["topic"]], abs=1e-6)
        assert topic["mu"] == pytest.approx(model.topic_share_[topic["topic"]], abs=1e-6)
    assert set(found["topics"][0]["words"]) <= set(model.corpus_.vocabulary)


def test_info_of_a_run_for_people_fits_80_columns(runner: CliRunner, run_folder: Path) -> None:
    result = runner.invoke(app, ["info", str(run_folder)])
    assert result.exit_code == 0
    for text in ("done, 40 iterations", "Topics", "Some authors", "Most influential papers"):
        assert text in result.stdout
    assert max(len(line.rstrip()) for line in result.stdout.splitlines()) <= 80


def test_info_of_a_corpus(runner: CliRunner, corpus_folder: Path) -> None:
    content = json.loads(runner.invoke(app, ["info", str(corpus_folder), "--json"]).stdout)
    corpus = citeweave.Corpus.load(corpus_folder)
    assert content["kind"] == "corpus"
    assert content["fingerprint"] == corpus.fingerprint
    assert content | corpus.summary() == content
    people = runner.invoke(app, ["info", str(corpus_folder)]).stdout
    assert "60 papers" in people
    assert "12 authors" in people


@pytest.mark.parametrize("model", ["cntm-text", "bursty-hdp-lda", "np-atm"])
def test_models_without_citations_or_groups_can_be_shown(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path, model: str
) -> None:
    out = tmp_path / "RUN"
    command = ["fit", str(corpus_folder), *SHORT, "--model", model, "--out", str(out)]
    result = runner.invoke(app, command)
    assert result.exit_code == 0, result.stderr
    shown = runner.invoke(app, ["info", str(out)])
    assert shown.exit_code == 0, shown.stderr
    assert "influential" not in shown.stdout
    assert ("Some authors" in shown.stdout) == (model != "bursty-hdp-lda")
    content = json.loads(runner.invoke(app, ["info", str(out), "--json"]).stdout)
    assert content["result"]["acceptance"] is None


def test_a_text_with_brackets_is_shown_as_it_is(runner: CliRunner, tmp_path: Path) -> None:
    titles = ["On [bold]markup[/bold] :smile:", "[/]"]
    corpus = citeweave.Corpus.from_lists(tokens=[["a", "b"], ["b"]], titles=titles)
    shown = runner.invoke(app, ["info", str(corpus.save(tmp_path / "c"))])
    assert all(title in shown.stdout for title in titles)


def test_words_of_topics_occur_and_are_particular(run_folder: Path) -> None:
    model = load(run_folder)
    words = pick_words(model, 5)
    assert [len(row) for row in words] == [5] * 4
    occurring = {model.corpus_.vocabulary[word] for word in model.corpus_.tokens}
    assert {word for row in words for word in row} <= occurring


def test_a_list_is_cut_between_its_parts() -> None:
    console = Console(width=20, record=True, file=None)
    with console.capture() as capture:
        console.print(Fitting(["support vector", "kernel", "margin"], ", "))
    assert capture.get().strip() == "support vector"
    with console.capture() as capture:
        console.print(Fitting(["kernel", "margin", "boundary"], ", "))
    assert capture.get().strip() == "kernel, margin"
    with console.capture() as capture:
        console.print(Fitting(["kernel", "margin", "boundary", "tree"], ", ", lines=2))
    assert capture.get().split("\n") == ["kernel, margin", "boundary, tree", ""]


def test_baselines_get_numbers_too(runner: CliRunner) -> None:
    command = ["fit", "no-such-corpus", "--model", "tomotopy-lda", "--eta"]
    assert "no-such-corpus" in refused(runner.invoke(app, [*command, "0.05"]))
    line = refused(runner.invoke(app, [*command, "-1"]))
    assert "'eta' parameter of TomotopyLDA must be a number greater than 0. Got -1 " in line


def test_eta_is_read_as_a_number_where_it_is_one() -> None:
    assert [read_number(text) for text in ("0", "7", "inf")] == [0, 7, float("inf")]
    assert read_number("x") == "x"


def test_free_folder_counts_on(tmp_path: Path) -> None:
    wanted = tmp_path / "run"
    assert free_folder(wanted) == wanted
    wanted.mkdir()
    (tmp_path / "run-2").symlink_to(tmp_path / "gone")
    assert free_folder(wanted).name == "run-3"


def test_the_package_runs_as_a_module():
    said = subprocess.run(
        [sys.executable, "-m", "citeweave", "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip().endswith(citeweave.__version__)
