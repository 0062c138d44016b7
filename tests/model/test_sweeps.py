"""Which sweeps a run makes, and that threads never show in what comes out."""

import json
import threading
from pathlib import Path

import pytest
from model_tools import QUICK, assert_same_bytes, edit_manifest, run_contents
from typer.testing import CliRunner

import citeweave
from citeweave import SCNTM
from citeweave.cli.main import app
from citeweave.engines.threads import SnapshotChain
from citeweave.errors import ParameterError, RunError
from citeweave.model import sweeps
from citeweave.model.chains import new_chain
from citeweave.model.parameters import make_plan
from citeweave.model.runner import RunInterrupted
from citeweave.model.sweeps import SMALL_CORPUS, choose_sweep
from citeweave.parameters.scntm import PARAMETERS

DOCS = Path(__file__).parents[2] / "docs"
SNAPSHOT = QUICK | {"sweep": "snapshot", "rounds": 3}
LARGE = {"tokens": SMALL_CORPUS + 1, "documents": 1000, "words": 5000}


@pytest.fixture(scope="module")
def reference(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweeps") / "run"
    SCNTM(**SNAPSHOT, threads=1, chains=1).fit(small, out=folder)
    return folder


def stop_at(corpus, folder, iteration, **parameters):
    event = threading.Event()

    def look(progress):
        if progress.iteration >= iteration:
            event.set()

    with pytest.raises(RunInterrupted):
        SCNTM(**parameters, chains=1).fit(corpus, out=folder, progress=look, stop=event)


def plan(**changes):
    return make_plan(SCNTM(**{"chains": 1, "exactly": True} | changes).get_params())


def test_threads_do_not_show(small, reference, tmp_path):
    SCNTM(**SNAPSHOT, threads=2, chains=1).fit(small, out=tmp_path / "run")
    assert_same_bytes(run_contents(reference), run_contents(tmp_path / "run"))


def test_rounds_do(small, reference):
    other = SCNTM(**SNAPSHOT | {"rounds": 4}, threads=1, chains=1).fit(small)
    assert (other.doc_topic_ != citeweave.load(reference).doc_topic_).any()


@pytest.mark.parametrize("iteration", [4, 20])
def test_resumed_with_other_threads(small, reference, tmp_path, iteration):
    folder = tmp_path / "run"
    stop_at(small, folder, iteration, **SNAPSHOT, threads=2)
    citeweave.resume(folder, threads=1)
    assert_same_bytes(run_contents(reference), run_contents(folder))


def test_no_thread_is_left_behind(small):
    before = set(threading.enumerate())  # other tests may have chains of their own open still
    SCNTM(**SNAPSHOT | {"iterations": 20}, threads=3, chains=1).fit(small)
    begun = set(threading.enumerate()) - before
    assert not [t.name for t in begun if t.name.startswith("citeweave")]


def forget_sweeps(folder):
    """Make a manifest what it was before there was a choice of sweeps."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for part in ("parameters", "plan"):
        for name in ("sweep", "rounds"):
            del manifest[part][name]
    edit_manifest(folder, **manifest)


def test_old_runs_go_on_as_sequential(small, tmp_path):
    SCNTM(**QUICK, sweep="sequential", chains=1).fit(small, out=tmp_path / "whole")
    stop_at(small, tmp_path / "old", 20, **QUICK)
    forget_sweeps(tmp_path / "old")
    assert citeweave.load(tmp_path / "old").n_iter_ == 20
    model = citeweave.resume(tmp_path / "old")
    assert model.sweep == "sequential"
    assert_same_bytes(run_contents(tmp_path / "whole"), run_contents(tmp_path / "old"))


def test_digests_of_sequential_plans_are_those_of_old_runs():
    known = "fbf9af24274cad872cd044b96e83f8102da21437718e707c7a1f4c96cc4ba7c7"
    then = {"network_from": QUICK["iterations"] // 2, "burst_from": 0, "self_citations": "paper"}
    old = then | QUICK
    assert plan(**old, sweep="sequential").digest() == known
    assert plan(**old).for_corpus(tokens=900, documents=70, words=50).digest() == known
    assert plan(**SNAPSHOT).digest() != known
    assert plan(**SNAPSHOT).digest() != plan(**SNAPSHOT | {"rounds": 4}).digest()
    assert plan(**SNAPSHOT, threads=7).digest() == plan(**SNAPSHOT, threads=1).digest()


def test_a_run_keeps_what_was_chosen_at_its_start(small, reference, monkeypatch):
    """Another release may choose otherwise for new runs."""
    manifest = json.loads((reference / "manifest.json").read_text())
    assert (manifest["plan"]["sweep"], manifest["plan"]["rounds"]) == ("snapshot", 3)
    monkeypatch.setattr("citeweave.model.sweeps.SMALL_CORPUS", 0)
    assert citeweave.load(reference)._result.plan.rounds == 3
    model = SCNTM(**QUICK | {"iterations": 20}, chains=1).fit(small)
    assert model._result.plan.sweep == "snapshot"


@pytest.mark.parametrize("chosen", [{"sweep": "fast"}, {"sweep": "snapshot", "rounds": -1}])
def test_a_manifest_of_nonsense_is_refused(small, tmp_path, chosen):
    SCNTM(**QUICK, chains=1).fit(small, out=tmp_path / "run")
    plan = json.loads((tmp_path / "run" / "manifest.json").read_text())["plan"]
    edit_manifest(tmp_path / "run", plan=plan | chosen)
    with pytest.raises(RunError, match="cannot be used"):
        citeweave.load(tmp_path / "run")


def test_auto_looks_at_the_corpus_alone():
    assert (
        choose_sweep("auto", None, tokens=SMALL_CORPUS, documents=10**6, cells=9)[0] == "sequential"
    )
    for threads in (1, 2, 64):
        for chains in (1, 8):
            made = plan(threads=threads, chains=chains, seed=1)
            assert made.for_corpus(**LARGE).sweep == "snapshot"
            assert made.for_corpus(tokens=9, documents=2, words=3).sweep == "sequential"


@pytest.mark.parametrize(
    ("chains", "threads", "side_by_side", "each"),
    [(1, 1, 1, 1), (1, 8, 1, 8), (3, 8, 3, 2), (8, 8, 8, 1), (8, 3, 3, 1)],
)
def test_cores_go_to_chains_first(chains, threads, side_by_side, each):
    made = plan(sweep="snapshot", chains=chains, threads=threads)
    assert (made.chains_at_a_time, made.threads_per_chain) == (side_by_side, each)
    assert plan(chains=chains, threads=threads, sweep="sequential").threads_per_chain == 1


def test_the_chain_is_the_one_asked_for(small):
    tree = citeweave.model.groups.build_tree(small, plan().spec, eta=0, unknown="shared")
    size = {"tokens": small.n_tokens, "documents": small.n_documents, "words": 50}
    asked = plan(sweep="snapshot", rounds=99, threads=2, burst_from=0).for_corpus(**size)
    chain = new_chain(asked, tree.data, 0)
    assert isinstance(chain, SnapshotChain)
    assert (chain.rounds, chain.threads) == (small.n_documents, 2)
    other = plan(burst_from=0).for_corpus(**size)
    assert not isinstance(new_chain(other, tree.data, 0), SnapshotChain)


@pytest.mark.parametrize("sweep", ["auto", "sequential"])
def test_rounds_without_snapshots_are_refused(sweep):
    with pytest.raises(ParameterError, match=r"'rounds' .* None unless 'sweep' is 'snapshot'"):
        plan(sweep=sweep, rounds=2)


def test_from_the_command_line(small, reference, tmp_path):
    small.save(tmp_path / "corpus")
    values = SNAPSHOT | {"threads": 2, "chains": 1}
    flags = [text for name, v in values.items() for text in (f"--{name.replace('_', '-')}", str(v))]
    command = ["fit", str(tmp_path / "corpus"), "--out", str(tmp_path / "run"), *flags]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "snapshot sweeps of 3 rounds in 2 threads" in " ".join(result.output.split())
    assert_same_bytes(run_contents(reference), run_contents(tmp_path / "run"))
    shown = CliRunner().invoke(app, ["info", str(tmp_path / "run")])
    assert "snapshot sweeps, rounds 3" in " ".join(shown.output.split())
    wrong = CliRunner().invoke(app, [*command, "--overwrite", "--sweep", "none"])
    assert wrong.exit_code != 0
    assert "--sweep must be" in wrong.output


def test_the_page_states_the_rules_as_they_are():
    text = (DOCS / "understand" / "parallel.md").read_text(encoding="utf-8")
    assert f"sequential up to {SMALL_CORPUS:,} tokens" in text
    stated = f"{sweeps.ENOUGH_TOKENS} times the words of the vocabulary times topics / tokens"
    assert stated in text
    assert f"from 1 to {sweeps.MANY_ROUNDS}" in text
    assert [sweeps.default_rounds(n, 1000) for n in (1875, 2000, 30_000)] == [16, 15, 1]
    assert [sweeps.default_rounds(29_999, n) for n in (999, 1000, 2000)] == [1, 2, 3]


def test_rounds_fall_with_the_size_of_the_corpus():
    rounds = [sweeps.default_rounds(tokens, 50_000) for tokens in range(0, 3_000_001, 20_000)]
    assert rounds == sorted(rounds, reverse=True)
    assert (rounds[0], rounds[-1]) == (16, 1)


def test_the_page_lists_every_parameter():
    text = (DOCS / "reference" / "model.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    named = {name.strip(" `") for row in rows for name in row.split(",")}
    assert set(PARAMETERS) <= named
