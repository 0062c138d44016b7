"""The command as a process: exit codes, Ctrl-C and going on, speed of its start, the demo."""

import json
import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from citeweave import SCNTM
from citeweave.cli.recovery import compare
from citeweave.model import load
from citeweave.simulate import demo_corpus
from reference.patience import PATIENCE

COMMAND = [sys.executable, "-m", "citeweave.cli.main"]
ENVIRONMENT = os.environ | {"COLUMNS": "80", "NO_COLOR": "1"}


def run(*arguments: object, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=ENVIRONMENT,
        cwd=cwd,
    )


def test_errors_of_users_exit_with_2_and_one_line(corpus_folder: Path, tmp_path: Path) -> None:
    result = run("fit", corpus_folder, "--topics", -1, "--out", tmp_path / "RUN")
    assert result.returncode == 2
    assert result.stdout == ""
    assert re.fullmatch(r"citeweave: error: .*--topics.*-1.*\n", result.stderr)


def test_usage_errors_exit_with_2() -> None:
    for arguments in (["fit"], ["no-such-command"], ["info", "x", "--topics", "3"]):
        result = run(*arguments)
        assert result.returncode == 2, arguments
        assert "Traceback" not in result.stderr


def test_help_does_not_wait_for_the_compiler() -> None:
    code = (
        "import sys, citeweave.cli.main\n"
        "heavy = {'numba', 'numpy', 'scipy', 'polars', 'rich.live'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_reader_that_leaves_early_is_no_error(corpus_folder: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "info", str(corpus_folder), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    message = process.stderr.read().decode()
    process.stderr.close()
    process.wait(timeout=PATIENCE)
    assert "Traceback" not in message


def interrupt(folder: Path, out: Path, sent: signal.Signals, *options: str) -> tuple[int, str]:
    """Start a run, send a signal once chains report, and give exit code and message."""
    arguments = ["fit", str(folder), "--topics", "4", "--seed", "3", "--iterations", "1000"]
    arguments += ["--exactly", "--chains", "1"]
    for _ in range(10):
        process = subprocess.Popen(
            [*COMMAND, *arguments, "--out", str(out), "--overwrite", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("chain"):
                break
        process.send_signal(sent)
        _, message = process.communicate(timeout=PATIENCE)
        if process.returncode:  # else it was done before the signal came
            break
    return process.returncode, message


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_saves_and_says_how_to_go_on(
    corpus_folder: Path, tmp_path: Path, sent: signal.Signals
) -> None:
    out = tmp_path / "RUN"
    code, message = interrupt(corpus_folder, out, sent, "--chains", "2")
    assert code == 130
    assert message.startswith("citeweave: stopped: Stopped after iteration ")
    assert message.endswith(f"citeweave resume {out}\n")
    assert message.count("\n") == 1
    told = int(message.split("iteration ")[1].split(",")[0])
    stored = max((out / "chains" / "chain-0").glob("*.npz"))
    assert int(stored.stem.split("-")[-1]) == told, "what is said to be saved is saved"
    if sent == signal.SIGINT:  # one of them is enough: the folders are alike
        goes_on(out, corpus_folder)


def goes_on(out: Path, corpus_folder: Path) -> None:
    """Resume a run that was stopped; it ends as one that was not."""
    shown = run("info", out)
    assert shown.returncode == 0
    assert "unfinished" in shown.stdout
    content = json.loads(run("info", out, "--json").stdout)
    assert (content["status"], content["result"]) == ("running", None)

    resumed = run("resume", out)
    assert resumed.returncode == 0, resumed.stderr
    assert "chain 0  1000/1000" in resumed.stdout
    whole = SCNTM(topics=4, iterations=1000, seed=3, chains=2, exactly=True).fit(corpus_folder)
    np.testing.assert_array_equal(load(out).doc_topic_, whole.doc_topic_)


def test_a_damaged_checkpoint_is_noted_and_the_one_before_is_used(
    corpus_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "RUN"
    interrupt(corpus_folder, out, signal.SIGINT, "--checkpoint-iterations", "20")
    newest = max((out / "chains" / "chain-0").glob("*.npz"))
    newest.write_bytes(newest.read_bytes()[:1000])
    resumed = run("resume", out, "--quiet")
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stderr.startswith("citeweave: note: ")
    assert resumed.stderr.count("\n") == 1
    assert load(out).n_iter_ == 1000


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of POSIX")
def test_a_terminal_gets_the_live_table(corpus_folder: Path, tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [
            *COMMAND,
            "fit",
            str(corpus_folder),
            "--iterations",
            "300",
            "--exactly",
            "--out",
            str(tmp_path / "R"),
        ],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=ENVIRONMENT | {"TERM": "xterm"},
    )
    os.close(theirs)
    shown = b""
    while process.poll() is None or select.select([ours], [], [], 0.2)[0]:
        try:
            shown += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    assert process.wait(timeout=PATIENCE) == 0
    text = shown.decode()
    assert "log post/word" in text
    assert "300/300" in text
    assert "\x1b[" in text, "drawn anew in place"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Run `citeweave demo` as a user does; give its output and its folder."""
    folder = tmp_path_factory.mktemp("demo")
    result = run("demo", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout, folder / "citeweave-demo"


def test_demo_recovers_its_truth(demo: tuple[str, Path]) -> None:
    recovery = compare(load(demo[1]), demo_corpus())
    assert recovery.mean_cosine > 0.9
    assert recovery.documents.found > 0.8
    assert recovery.authors.found > 0.8
    assert recovery.citations.found > 0.85
    assert recovery.citations.found > recovery.citations.guessed + 0.3


def test_demo_shows_what_it_found_within_80_columns(demo: tuple[str, Path]) -> None:
    output = demo[0]
    for text in (
        "1,500 papers",
        "Topics (",
        "Archaeology",
        "Some authors",
        "Most influential papers",
        "Recovery of the truth",
        "acceptance",
        "citeweave info citeweave-demo",
    ):
        assert text in output
    tables = output[output.index("Topics (") :]
    assert max(len(line.rstrip()) for line in tables.splitlines()) <= 80
    assert "\x1b" not in output


def test_comparison_with_the_truth_counts_right(demo: tuple[str, Path]) -> None:
    model, simulation = load(demo[1]), demo_corpus()
    recovery = compare(model, simulation)
    matched = recovery.true_topic[recovery.true_topic >= 0]
    assert sorted(matched.tolist()) == list(range(10)), "each true topic has one match"
    hits = sum(
        int(recovery.true_topic[model.labels_[d]] == simulation.truth.doc_topic[d].argmax())
        for d in range(simulation.corpus.n_documents)
    )
    assert recovery.documents.found == pytest.approx(hits / 1500)
    assert recovery.citations.compared == simulation.corpus.n_citations
