"""Every experiment through the command line, on a tiny corpus: files, schema, reuse, errors."""

import json
import math
import re
import shutil
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import reproduction
from citeweave import SCNTM, Corpus
from citeweave.errors import ParameterError
from citeweave.simulate import simulate
from reference.drawn import tiny_literature
from reproduction import NAMES, Context, find_experiment, join_pages
from reproduction.chain_traces import trace_chain
from reproduction.command import app
from reproduction.engine import write_page
from reproduction.registry import choose_datasets
from reproduction.runtime import _company

ROOT = Path(reproduction.__file__).parents[1]
KEYS = {
    *("format", "experiment", "label", "what", "command", "quick", "asked", "title", "protocol"),
    *(
        "tables",
        "figures",
        "notes",
        "seeds",
        "facts",
        "corpora",
        "versions",
        "machine",
        "ran",
        "date",
    ),
    "seconds",
}


def run(*arguments):
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, list(map(str, arguments)))


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("reproduce")
    tiny_literature().save(place / "tiny")
    return place


@pytest.fixture(scope="session")
def options(folder):
    return (
        *("--quick", "--corpus", f"tiny={folder / 'tiny'}", "--datasets", "tiny"),
        *("--iterations", 12, "--runs", 2, "--workers", 1, "--out", folder / "out"),
    )


@pytest.fixture(scope="session")
def everything(folder, options):
    with warnings.catch_warnings():
        # peers that may be installed warn when they are imported, which is none of our business
        warnings.simplefilter("ignore")
        result = run("all", *options)
    assert result.exit_code == 0, result.output
    return folder / "out"


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_leaves_a_page_and_a_result(everything, name):
    content = json.loads((everything / f"{name}.json").read_text())
    assert set(content) == KEYS
    assert content["experiment"] == name
    assert content["label"] == find_experiment(name).label
    assert content["corpora"]["tiny"]["documents"] == 60
    assert set(content["versions"]) >= {"citeweave", "python", "numpy", "numba"}
    assert set(content["machine"]) == {"cores", "processor", "memory_gib", "system"}
    for table in content["tables"]:
        assert {len(row) for row in table["rows"]} <= {len(table["columns"])}
    page = (everything / f"{name}.md").read_text()
    assert page.startswith(f"# {content['title']}\n")
    assert "`--quick`" in page
    assert content["command"] in page
    for table in content["tables"]:
        assert re.sub(r"\W", "", table["title"]) in re.sub(r"\W", "", page)


def test_no_path_of_this_computer_is_written(everything, folder):
    for path in (*everything.glob("*.json"), *everything.glob("*.md")):
        assert str(folder) not in path.read_text(), path.name


def test_the_joined_page_links_to_all_of_them(everything):
    page = (everything / "results.md").read_text()
    links = re.findall(r"^- \[.*\]\(#(.*)\)$", page, re.MULTILINE)
    heads = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert len(links) == len(NAMES) == len(heads)
    for link, head in zip(links, heads, strict=True):
        assert link == head.lower().replace(" ", "-")


def test_pictures_are_drawn_in_both_formats(everything):
    pytest.importorskip("matplotlib")
    for stem in ("convergence-likelihood", "runtime-minutes", "network-tiny"):
        assert (everything / f"{stem}.png").read_bytes()[:4] == b"\x89PNG"
        assert "<svg" in (everything / f"{stem}.svg").read_text()
    lines = (everything / "convergence-likelihood.csv").read_text().splitlines()
    assert lines[0] == "set,likelihood,model,fold,iteration,log likelihood"
    # two likelihoods, two folds, two models, each of the twelve iterations
    assert len(lines) == 1 + 2 * 2 * 2 * 12


def test_chains_are_equal_until_the_network_counts(everything):
    content = json.loads((everything / "convergence.json").read_text())
    for panel in content["figures"][0]["data"]["panels"]:
        with_network, text_alone = (group["lines"] for group in panel["groups"])
        for first, second in zip(with_network, text_alone, strict=True):
            half = panel["network_from"]
            assert first[0] == list(range(1, 13))
            assert first[1][:half] == second[1][:half]
            assert first[1][half:] != second[1][half:]


def test_a_chain_looked_at_on_its_way_is_the_chain_that_is_fitted(folder):
    corpus = Corpus.load(folder / "tiny")
    parameters = {"topics": 3, "iterations": 10, "seed": 4, "chains": 1, "exactly": True}
    model = SCNTM(**parameters, burn_in=9).fit(corpus)
    traces = trace_chain(corpus, marginal_at=[10], **parameters)
    np.testing.assert_array_equal(traces.assigned, model.traces_["log_likelihood"][0])
    assert traces.acceptance == pytest.approx(model.acceptance_)
    assert list(traces.marginal) == [10]
    # its only sample is the last state, whose likelihood is summed here word by word
    theta, phi = np.asarray(model.doc_topic_, float), np.asarray(model.topic_word_, float)
    total = sum(
        math.log(theta[d] @ phi[:, w])
        for d in range(corpus.n_documents)
        for w in corpus.tokens[corpus.offsets[d] : corpus.offsets[d + 1]]
    )
    assert traces.marginal[10] == pytest.approx(total, rel=1e-5)


def test_a_chain_is_stopped(folder):
    stop = threading.Event()
    stop.set()
    corpus = Corpus.load(folder / "tiny")
    with pytest.raises(KeyboardInterrupt, match="Stopped after iteration 0"):
        trace_chain(corpus, marginal_at=[], stop=stop, topics=3, iterations=10)


def test_the_counts_of_a_document_add_up(everything):
    content = json.loads((everything / "counts.json").read_text())
    ours = content["tables"][0]["rows"]
    for _, customers, tables, citations, above, above_tables, _ in ours:
        assert above == tables + citations
        assert tables <= customers
        assert above_tables <= above
    facts = content["facts"]["tiny"]
    assert sum(row[1] for row in ours if row[0] != "all") == facts["words"]


def test_a_finished_experiment_is_taken_up_until_it_is_asked_for_otherwise(everything, options):
    path = everything / "datasets.json"
    before = path.read_bytes()
    result = run("datasets", *options)
    assert "taken from datasets.json" in result.output
    assert path.read_bytes() == before
    result = run("datasets", *options, "--seed", 9)
    assert "taken from" not in result.output
    assert json.loads(path.read_text())["asked"]["seed"] == 9
    result = run("datasets", *options, "--seed", 9, "--fresh")
    assert "taken from" not in result.output


def test_parts_of_a_stopped_experiment_are_taken_up(everything, options):
    (everything / "convergence.json").unlink()
    kept = sorted((everything / "parts").glob("convergence-*.json"))
    kept[0].unlink()
    times = [path.stat().st_mtime_ns for path in kept[1:]]
    result = run("convergence", *options)
    assert result.exit_code == 0
    assert len(re.findall("fold [12]/10", result.output)) == 1
    assert [path.stat().st_mtime_ns for path in kept[1:]] == times


def test_a_changed_corpus_is_not_answered_from_the_old_result(everything, folder):
    other = simulate(documents=40, vocabulary=50, topics=3, citations=60, seed=6).corpus
    other.save(folder / "other")
    same = ("--quick", "--runs", 2, "--iterations", 12, "--datasets", "tiny", "--out", everything)
    result = run("datasets", *same, "--corpus", f"tiny={folder / 'other'}")
    assert "taken from" not in result.output
    content = json.loads((everything / "datasets.json").read_text())
    assert content["corpora"]["tiny"]["documents"] == 40


def test_pages_are_written_anew_elsewhere(everything, folder):
    target = folder / "pages" / "results.md"
    result = run("page", "--out", everything, "--page", target, "--quiet")
    assert result.exit_code == 0, result.output
    assert result.output == ""
    text = target.read_text()
    for name in re.findall(r"\]\(([^#)][^)]*)\)", text):
        assert (target.parent / name).is_file(), name


def test_sections_without_a_result_stay_on_a_page(everything, tmp_path):
    page = tmp_path / "results.md"
    old = ("# Old\n", "- [x](#x)\n", "## Topics\n\nold topics\n", "## Notes of mine\n\nkept\n")
    page.write_text("\n".join(old))
    some = tmp_path / "some"
    some.mkdir()
    for name in ("perplexity", "topics"):
        (some / f"{name}.json").write_bytes((everything / f"{name}.json").read_bytes())
    text = join_pages(some, page=page).read_text()
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Perplexity", "Topics", "Notes of mine"]
    assert "old topics" not in text
    assert text.endswith("## Notes of mine\n\nkept\n")
    assert "- [Notes of mine](#notes-of-mine)" in text
    assert join_pages(some, page=page).read_text() == text


def test_a_page_without_matplotlib_says_how_to_get_its_pictures(everything, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    content = json.loads((everything / "runtime.json").read_text())
    text = write_page(content, tmp_path).read_text()
    assert "pip install '.[plot]'" in text
    assert "[CSV](runtime-minutes.csv)" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runtime-minutes.csv", "runtime.md"]


@pytest.mark.usefixtures("everything")
def test_results_as_json(options):
    result = run("runtime", *options, "--json", "--quiet")
    content = json.loads(result.stdout)
    assert list(content) == ["runtime"]
    minutes, authors = content["runtime"]["tables"]
    assert minutes["columns"][0] == "set"
    assert minutes["rows"][0][minutes["columns"].index("GPU")] is None  # too small for one
    assert [row[0] for row in authors["rows"]] == [2, 20, 80]
    assert all(seconds > 0 for row in authors["rows"] for seconds in row[-2:])


def test_times_taken_beside_other_work_say_so():
    (note,) = _company({"a": 1.0, "b": 7.6, "c": None}, 16)
    assert note.endswith("load of the 16 cores at the end of each timing: b 8.")
    assert not _company({"a": 1.0, "c": None}, 16)


def test_times_of_another_machine_are_shown_as_its_own(everything, options, tmp_path):
    """The latest ones, with the machine; what it has not timed is left out."""
    (tmp_path / "parts").mkdir()
    for path in (everything / "parts").glob("runtime-*.json"):
        kept = json.loads(path.read_text())
        for year, processor in ((2025, "An old one"), (2026, "A fast one")):
            kept["key"]["machine"] |= {"processor": processor, "cores": 96}
            kept["finished"] = f"{year}-01-01"
            (tmp_path / "parts" / f"{path.stem}{year}.json").write_text(json.dumps(kept))
        if "authors" not in path.stem:  # its time on a GPU, which has the same key
            later = kept | {"value": 0.25, "finished": "2027-01-01"}
            there = path.name.replace("tiny-", "tiny-gpu-")
            (tmp_path / "parts" / there).write_text(json.dumps(later))
    result = run("runtime", *options, "--out", tmp_path, "--finished", "--json", "--quiet")
    content = json.loads(result.stdout)["runtime"]
    minutes, authors = content["tables"]
    own = json.loads((everything / "runtime.json").read_text())["tables"]
    place = minutes["columns"].index("GPU")
    (row,), (own_row,) = minutes["rows"], own[0]["rows"]
    assert row[place] == 0.25
    assert [*row[:place], *row[place + 1 :]] == [*own_row[:place], *own_row[place + 1 :]]
    assert authors["rows"] == own[1]["rows"]
    assert any(note.startswith("Measured on 96 cores, A fast one") for note in minutes["notes"])
    for path in (tmp_path / "parts").glob("runtime-authors*"):
        path.unlink()
    result = run("runtime", *options, "--out", tmp_path, "--finished", "--json", "--quiet")
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)["runtime"]
    assert content["tables"][1]["rows"] == []
    assert any("20 authors" in note for note in content["notes"])


def test_a_set_without_finished_chains_is_not_drawn(everything, options, tmp_path):
    shutil.copytree(everything / "parts", tmp_path / "parts")
    sets = ("--datasets", "tiny,demo")
    result = run(
        "convergence", *options, *sets, "--out", tmp_path, "--finished", "--json", "--quiet"
    )
    (figure,) = json.loads(result.stdout)["convergence"]["figures"]
    assert len(figure["data"]["panels"]) == 2


def test_chains_that_are_not_finished_are_left_out(everything, options, tmp_path):
    shutil.copytree(everything / "parts", tmp_path / "parts")
    min((tmp_path / "parts").glob("convergence-*")).unlink()
    result = run("convergence", *options, "--out", tmp_path, "--finished", "--json", "--quiet")
    content = json.loads(result.stdout)["convergence"]
    assert sorted(row[2] for row in content["tables"][0]["rows"]) == [1, 2]
    assert any("(1 of 2)" in note for note in content["notes"])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["clusterin"], "There is no experiment 'clusterin'. Did you mean 'clustering'?"),
        (["datasets", "--datasets", "corra"], "There is no data set 'corra'. Did you mean 'cora'?"),
        (["datasets", "--corpus", "cora"], "must be NAME=FOLDER"),
        (["datasets", "--corpus", "cora=/nowhere"], "is not a corpus folder"),
        (["datasets", "--runs", "0"], "must be an integer of at least 1. Got 0"),
        (["datasets", "--iterations", "2"], "must be at least 4"),
        (["datasets", "--device", "tpu"], "must be one of auto, cpu, cuda. Got 'tpu'"),
        (["page", "--out", "nothing-here"], "There are no results in 'nothing-here'"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert text in result.output
    assert result.output.strip().count("\n") == 0


def test_a_document_that_is_not_there(options):
    result = run("counts", *options, "--document", 60)
    assert result.exit_code == 2
    assert "must be from 0 to 59" in result.output


def test_one_that_fails_does_not_keep_the_others(options):
    result = run("counts", "runtime", *options, "--document", 60)
    assert result.exit_code == 2
    assert "counts: The document" in result.output
    assert "Running time" in result.output


def test_quick_fetches_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("CITEWEAVE_DATA", str(tmp_path))
    monkeypatch.setenv("CITEWEAVE_CACHE", str(tmp_path / "cache"))
    context = Context(out=tmp_path, quick=True)
    assert choose_datasets(find_experiment("topics"), context) == ("demo",)
    assert choose_datasets(find_experiment("topics"), Context(out=tmp_path)) == (
        *("ieee-vis", "hep-th", "m10"),
    )


def test_results_are_read_without_polars(everything):
    # a bare server has no table library
    code = (
        "import sys; sys.modules['polars'] = None\n"
        "from pathlib import Path\n"
        "from reproduction import Context, reproduce\n"
        "from reproduction.engine import read_results\n"
        f"out = Path({str(everything)!r})\n"
        "print(len(read_results(out)))\n"
        "context = Context(out=out / 'bare', datasets=['tiny'], quick=True, iterations=12, runs=1,"
        f" workers=1, corpora={{'tiny': Path({str(everything.parent / 'tiny')!r})}})\n"
        "for name in ('datasets', 'convergence', 'runtime'):\n"
        "    print(reproduce(name, context).name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(len(NAMES)), "datasets", "convergence", "runtime"]


def test_an_empty_folder_has_no_page(tmp_path):
    with pytest.raises(ParameterError, match="python -m reproduction all"):
        join_pages(tmp_path)
