"""`evaluate`, and `fit` with baselines and parts held out, from the command line."""

import json
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import citeweave
from citeweave.cli.evaluate import read_words
from citeweave.cli.fit_baseline import read_settings
from citeweave.cli.main import app
from citeweave.evaluate import evaluate
from citeweave.model import RunInterrupted
from citeweave.naming import for_command_line

HELD = ["--hold-out-citations", "0.2", "--hold-out-words", "0.2", "--hold-out-documents", "0.2"]


def refused(result: Result) -> str:
    """Check that a command ended as errors of users do; return its one line."""
    assert result.exit_code == 2, result.output
    lines = result.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("citeweave: error: ")
    return lines[0]


@pytest.fixture(scope="module")
def held_out_run(corpus_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evaluate") / "RUN"
    options = [
        "--topics",
        "4",
        "--iterations",
        "40",
        "--chains",
        "2",
        "--seed",
        "1",
        "--eta",
        "inf",
    ]
    command = ["fit", str(corpus_folder), *options, *HELD, "--out", str(out)]
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, command)
    assert result.exit_code == 0, result.output
    assert f"citeweave evaluate {out} --test {corpus_folder}" in " ".join(result.stdout.split())
    return out


def test_tables_of_everything(runner: CliRunner, held_out_run: Path, corpus_folder: Path) -> None:
    command = ["evaluate", str(held_out_run), "--test", str(corpus_folder), "--samples", "50"]
    result = runner.invoke(app, command)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    text = " ".join(result.stdout.split())
    for part in (
        "12 papers",
        "(48 training papers left out)",
        "Clusters against categories training test",
        "adjusted mutual information",
        "labels were used in training",
        "Inferred categories",
        "perplexity, held-out words",
        "NPMI coherence",
        "held-out citations",
        "model tf-idf cosine",
        "R-hat bulk ESS tail ESS",
        "concentration of mu",
    ):
        assert part in text, part
    assert max(len(line) for line in result.stdout.splitlines()) <= 80


def test_json_is_what_the_library_gives(
    runner: CliRunner, held_out_run: Path, corpus_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "found.json"
    options = ["--samples", "20", "--words", "0.5", "--at", "5", "--negatives", "2", "--seed", "3"]
    command = ["evaluate", str(held_out_run), "--test", str(corpus_folder), *options]
    result = runner.invoke(app, [*command, "--json", "--out", str(out)])
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    with for_command_line():  # advice names options there
        same = evaluate(
            citeweave.load(held_out_run),
            citeweave.Corpus.load(corpus_folder),
            samples=20,
            words=0.5,
            k=(5,),
            negatives=2,
            seed=3,
        )
    assert found == same.to_dict()
    assert json.loads(out.read_text("utf-8")) == found
    assert found["protocol"]["test"]["words"] == 0.5


def test_a_baseline_from_end_to_end(runner: CliRunner, corpus_folder: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "RUN")
    options = ["--model", "pmtlm", "--topics", "3", "--seed", "1", "--set", "restarts=2"]
    result = runner.invoke(
        app, ["fit", str(corpus_folder), *options, "--iterations", "30", *HELD, "--out", out]
    )
    assert result.exit_code == 0, result.stderr
    assert "3 in use" in result.stdout
    model = citeweave.load(out)
    params = model.get_params()
    assert (params["restarts"], params["iterations"], params["degree_corrected"]) == (2, 30, False)
    result = runner.invoke(app, ["info", out])
    assert result.exit_code == 0, result.stderr
    assert "pmtlm (topics 3)" in result.stdout
    assert "held out" in result.stdout
    described = json.loads(runner.invoke(app, ["info", out, "--json"]).stdout)
    assert described["model"] == "pmtlm"
    assert sum(topic["papers"] for topic in described["result"]["topics"]) == 48
    result = runner.invoke(app, ["evaluate", out, "--test", str(corpus_folder), "--json"])
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)["measures"]
    assert {"AUC", "NMI", "perplexity"} <= {row["name"] for row in rows if row["value"] is not None}
    assert "run of the baseline 'pmtlm'" in refused(runner.invoke(app, ["resume", out]))


def test_reasons_are_shown(runner: CliRunner, corpus_folder: Path, tmp_path: Path) -> None:
    plain = citeweave.Corpus.load(corpus_folder)
    bare = citeweave.Corpus.from_lists(
        tokens=[plain.words(d) for d in range(plain.n_documents)], citations=plain.citations
    )
    bare.save(tmp_path / "bare")
    out = str(tmp_path / "RUN")
    command = ["fit", str(tmp_path / "bare"), "--model", "louvain", "--out", out, "--quiet"]
    assert runner.invoke(app, command).exit_code == 0
    result = runner.invoke(app, ["evaluate", out])
    assert result.exit_code == 0, result.stderr
    text = " ".join(result.stdout.split())
    assert "Clusters against categories" not in text
    assert "Not measured purity, NMI, adjusted Rand" in text
    assert "the documents have no categories" in text


def test_unfinished_runs(runner: CliRunner, corpus_folder: Path, tmp_path: Path) -> None:
    stop = threading.Event()
    out = tmp_path / "RUN"
    model = citeweave.SCNTM(topics=4, iterations=40, seed=1, chains=1)
    with pytest.raises(RunInterrupted):
        model.fit(
            corpus_folder,
            out=out,
            stop=stop,
            progress=lambda at: stop.set() if at.iteration >= 3 else None,
        )
    line = refused(runner.invoke(app, ["evaluate", str(out)]))
    assert "unfinished" in line
    assert f"citeweave resume {out}" in line


def test_an_unfinished_run_with_samples_is_measured_and_said_to_be_so(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path
) -> None:
    stop = threading.Event()
    out = tmp_path / "RUN"
    model = citeweave.SCNTM(
        topics=4, iterations=40, network_from=5, burn_in=10, thin=1, seed=1, chains=1
    )
    with pytest.raises(RunInterrupted):
        model.fit(
            corpus_folder,
            out=out,
            stop=stop,
            progress=lambda at: stop.set() if at.iteration >= 20 else None,
        )
    result = runner.invoke(app, ["evaluate", str(out)])
    assert result.exit_code == 0, result.stderr
    assert "unfinished: iteration 20 of 40" in result.stdout
    assert "1 chain of 10 iterations after burn-in" in result.stdout


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--labels", "some"], "--labels must be 'hidden' or 'seen'"),
        (["--test", "no-such-corpus"], "no file, corpus folder or data set 'no-such-corpus'"),
        (["--at", "0"], "--at must be an integer of at least 1"),
        (["--out", "found.xlsx"], "Got 'found.xlsx' instead"),
    ],
)
def test_bad_options(runner: CliRunner, held_out_run: Path, options: list[str], text: str) -> None:
    assert text in refused(runner.invoke(app, ["evaluate", str(held_out_run), *options]))


def test_bad_words(runner: CliRunner, held_out_run: Path, corpus_folder: Path) -> None:
    command = ["evaluate", str(held_out_run), "--test", str(corpus_folder), "--words"]
    assert "'words' must be" in refused(runner.invoke(app, [*command, "some"]))
    assert "not say which words are of titles" in refused(runner.invoke(app, [*command, "title"]))


def test_what_is_no_run(runner: CliRunner, corpus_folder: Path, tmp_path: Path) -> None:
    assert "is not a run" in refused(runner.invoke(app, ["evaluate", str(corpus_folder)]))
    missing = str(tmp_path / "nowhere")
    assert "no run folder" in refused(runner.invoke(app, ["evaluate", missing]))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--model", "lda"], "sgc. Got 'lda' instead"),
        (["--model", "louvain", "--eta", "2"], "--eta does not apply to the model 'louvain'"),
        (["--model", "louvain", "--iterations", "2"], "--iterations does not apply"),
        (["--model", "pmtlm", "--set", "alpha=2"], "'alpha' parameter of PMTLM"),
        (["--model", "pmtlm", "--set", "colour=2"], "no parameter 'colour'"),
        (["--model", "pmtlm", "--set", "alpha"], "--set must be NAME=VALUE"),
        (["--set", "colour=2"], "SCNTM has no parameter 'colour'"),
        (["--hold-out-words", "2"], "--hold-out-words must be a share between 0 and 1. Got 2.0"),
    ],
)
def test_fits_that_are_refused(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path, options: list[str], text: str
) -> None:
    out = tmp_path / "RUN"
    line = refused(runner.invoke(app, ["fit", str(corpus_folder), *options, "--out", str(out)]))
    assert text in line
    assert not out.exists()


def test_settings_are_read_as_values() -> None:
    assert read_settings(["burn-in=3", "prior=[1, 2]", "unknown=own"]) == {
        "burn_in": 3,
        "prior": [1, 2],
        "unknown": "own",
    }
    assert read_words("0.25") == 0.25
    assert read_words("all") == "all"
