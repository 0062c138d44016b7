"""When chains have settled: the comparisons, and runs that stop by them."""

import threading

import numpy as np
import pytest

import citeweave
from citeweave import SCNTM, simulate
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.spec import preset
from citeweave.errors import ParameterError, RunError
from citeweave.model import match_topics, runner, settling
from citeweave.model.read_out import LeftOut
from citeweave.model.runner import RunInterrupted
from citeweave.model.settling import Check, Settlement, judge
from citeweave.model.verdict import settled_verdict
from citeweave.naming import for_command_line

RANDOM = np.random.default_rng(4)
TEXT = preset("bursty-hdp-lda")
UNTIL = {"burst_from": 0, "topics": 5, "iterations": 120, "network_from": 8, "seed": 2}


def traces(level=0.0, drift=0.0, draws=200):
    steady = RANDOM.normal(size=draws) + level + drift * np.linspace(0, 1, draws)
    return {"log_posterior": steady, "concentrations": np.exp(RANDOM.normal(size=(draws, 1)))}


def sums(papers, words):
    """Make sums that hold the topics of papers [D, K] and the words of topics [K, V]."""
    fields = dict.fromkeys(Sums._fields, np.zeros(0))
    fields |= {"samples": np.ones(1, np.int64), "documents": papers[None].astype(np.float32)}
    return Sums(**fields | {"topic_word": words.T})


def named(checks):
    return {check.name: check for check in checks}


def compared(one, other, **options):
    found = judge(TEXT, ["mu"], [one, other], [], slice(0, 200), words=10, **options)
    return named(found)["log posterior"]


def test_traces_at_one_level_agree():
    assert compared(traces(), traces()).passes


def test_traces_at_two_levels_or_that_drift_do_not():
    for one, other in [(traces(), traces(level=5.0)), (traces(drift=8.0), traces(drift=8.0))]:
        check = compared(one, other)
        assert not check.passes
        assert check.value > 1.2


def test_what_nobody_reads_does_not_matter():
    """A hundredth of a nat per word, whatever its R-hat."""
    near = [
        traces() | {"log_posterior": level + 1e-4 * RANDOM.normal(size=200)} for level in (0.0, 0.1)
    ]
    assert compared(*near).passes
    far = [{**one, "log_posterior": 20 * one["log_posterior"]} for one in near]
    assert not compared(*far).passes


def test_topics_are_compared_whatever_their_numbers():
    papers = RANDOM.dirichlet(np.full(4, 0.1), size=300)
    words = RANDOM.dirichlet(np.full(50, 0.1), size=4)
    order = [2, 0, 3, 1]
    pair = [sums(papers, words), sums(papers[:, order], words[order])]
    checks = judge(TEXT, [], [traces(), traces()], pair, slice(0, 200), words=10)
    assert [check.value for check in checks[1:]] == pytest.approx([1.0, 1.0, 1.0])
    other = sums(RANDOM.dirichlet(np.full(4, 0.1), size=300), words)
    checks = named(judge(TEXT, [], [traces(), traces()], [pair[0], other], slice(0, 200), words=10))
    assert checks["words of matched topics"].passes
    assert not checks["pairs of papers that share topics"].passes
    other = sums(papers, RANDOM.dirichlet(np.full(50, 0.1), size=4))
    checks = named(judge(TEXT, [], [traces(), traces()], [pair[0], other], slice(0, 200), words=10))
    assert not checks["words of matched topics"].passes


@pytest.fixture
def easily_settled(monkeypatch):
    """Compare chains after blocks of ten iterations, and be content from the third block on."""
    monkeypatch.setattr(settling, "LOOK", 2)
    for module in (settling, runner):
        monkeypatch.setattr(module, "BLOCK", 10)
        monkeypatch.setattr(module, "FIRST", 2)
    monkeypatch.setattr("citeweave.model.under_way.LOOK", 2)

    def content(*_, words, **__):
        assert words > 0
        content.asked += 1
        return (Check("log posterior", 1.0, 1.05, _[-1].stop >= 38, 100.0),)

    content.asked = 0
    monkeypatch.setattr(runner, "judge", content)
    return content


def estimates(model):
    return {name: np.asarray(array).tobytes() for name, array in model._fitted.estimates.items()}


def stop_and_resume(small, tmp_path, after):
    """Compare a run by one thread with one by two, stopped with chains that are not equally far."""
    whole = SCNTM(**UNTIL, burn_in=100, threads=1).fit(small)
    stop = threading.Event()

    def look(progress):
        if progress.iteration >= after:
            stop.set()

    options = {"out": tmp_path / "run", "checkpoint_iterations": 7}
    with pytest.raises(RunInterrupted):
        SCNTM(**UNTIL, burn_in=100, threads=2).fit(small, progress=look, stop=stop, **options)
    resumed = citeweave.resume(tmp_path / "run")
    assert resumed.settlement_ == whole.settlement_
    assert estimates(resumed) == estimates(whole)


@pytest.mark.usefixtures("easily_settled")
def test_a_run_stops_where_its_chains_agree(small, tmp_path):
    model = SCNTM(**UNTIL, burn_in=100).fit(small, out=tmp_path / "run")
    assert model.settlement_[:4] == (True, "settled", 38, 2)
    assert (model.n_iter_, model.iterations_, model.burn_in_) == (58, 58, 38)
    assert model.traces_["log_posterior"].shape == (2, 58)
    loaded = citeweave.load(tmp_path / "run")
    assert loaded.settlement_ == model.settlement_
    assert estimates(loaded) == estimates(model)
    as_exact = SCNTM(**UNTIL | {"iterations": 58}, burn_in=38, exactly=True).fit(small)
    assert estimates(as_exact) == estimates(model)


@pytest.mark.usefixtures("easily_settled")
def test_short_chains_are_judged_by_their_categories(tmp_path):
    """Settled or not, as far as there are several and no labels."""
    found = Settlement(
        False, "iterations", 225, 2, (Check("log posterior", 1.3, 1.05, False, 9.0),)
    )
    given = {"done": 300, "asked": 300, "folder": tmp_path}
    told = settled_verdict(found, **given, categories=[0.97, 0.93])
    assert told.level == "good"
    assert "On average they put 95 % of the papers into the same category" in told.text
    assert f"citeweave.resume('{tmp_path}', iterations='+300')" in told.text
    told = settled_verdict(found, **given, categories=[0.7, 0.6])
    assert (told.level, told.headline) == ("poor", "The chains found different categories")
    told = settled_verdict(found._replace(settled=True), **given, categories=[0.97, 0.93])
    assert told.headline == "Settled: the chains agree on categories and topics"
    assert settled_verdict(found, **given).level == "poor"


def test_a_run_with_few_labels_is_judged_by_those_left_out():
    checks = (Check("log posterior", 1.3, 1.05, False, 9.0),)
    found = Settlement(False, "iterations", 225, 5, checks)
    given = {"done": 300, "asked": 300, "folder": None, "left_out": LeftOut(140, 0.81, 0.8)}
    told = settled_verdict(found, **given)
    assert (told.level, told.headline) == ("fair", "Labels are inferred")
    assert told.advice.startswith("81 % of the 140 labels that were left out")
    assert settled_verdict(found._replace(settled=True), **given).level == "good"


@pytest.mark.parametrize("after", [5, 18, 30, 38, 39, 50])
def test_stopped_anywhere_and_resumed_it_stops_there_too(small, tmp_path, after):
    stop_and_resume(small, tmp_path, after)


@pytest.mark.usefixtures("easily_settled")
def test_a_settled_run_keeps_more_samples(small, tmp_path):
    SCNTM(**UNTIL, burn_in=100).fit(small, out=tmp_path / "run")
    with pytest.raises(RunError, match="agree already"):
        citeweave.resume(tmp_path / "run", minutes=1)
    longer = citeweave.resume(tmp_path / "run", iterations="+20")
    assert (longer.n_iter_, longer.burn_in_) == (78, 38)
    again = SCNTM(**longer.get_params() | {"seed": longer.seed_}).fit(small)
    assert estimates(longer) == estimates(again)


@pytest.mark.usefixtures("easily_settled")
def test_one_that_had_not_settled_goes_on_until_it_does(small, tmp_path):
    SCNTM(**UNTIL | {"iterations": 30}).fit(small, out=tmp_path / "run")
    short = citeweave.load(tmp_path / "run")
    assert short.settlement_[1:3] == ("iterations", 22)
    longer = citeweave.resume(tmp_path / "run", iterations="+200")
    assert longer.settlement_[:3] == (True, "settled", 38)
    again = SCNTM(**longer.get_params() | {"seed": longer.seed_}).fit(small)
    assert estimates(longer) == estimates(again)


@pytest.fixture
def never_settled(easily_settled, monkeypatch):
    """Chains that reach their heights at once, and agree on topics a little more each time."""

    def differ(*_, **__):
        topics = 0.5 + 0.0005 * _[-1].stop
        return Check("log posterior", 1.0, 1.05, True, 100.0), Check("words", topics, 0.9, False)

    monkeypatch.setattr(runner, "judge", differ)
    return easily_settled


@pytest.mark.usefixtures("never_settled")
def test_chains_that_would_not_agree_in_time_end_sooner(small, tmp_path):
    model = SCNTM(**UNTIL, burn_in=100).fit(small, out=tmp_path / "run")
    assert model.settlement_[:3] == (False, "pace", 48)
    assert model.n_iter_ == 68
    patient = SCNTM(**UNTIL, burn_in=100, give_up=False).fit(small)
    assert patient.settlement_[1:3] == ("iterations", 100)
    longer = citeweave.resume(tmp_path / "run", iterations="+20")
    assert longer.settlement_[1:3] == ("iterations", 120)
    again = SCNTM(**longer.get_params() | {"seed": longer.seed_}).fit(small)
    assert estimates(longer) == estimates(again)


@pytest.mark.usefixtures("never_settled")
@pytest.mark.parametrize("after", [28, 31, 47, 48, 50])
def test_stopped_and_resumed_they_end_there_too(small, tmp_path, after):
    stop_and_resume(small, tmp_path, after)


@pytest.mark.usefixtures("easily_settled")
def test_when_the_time_is_up_samples_are_kept(small):
    model = SCNTM(**UNTIL, burn_in=100, minutes=1e-9).fit(small)
    assert model.settlement_[1:3] == ("minutes", 18)
    assert model.n_iter_ == 38


def test_one_chain_is_judged_by_its_halves():
    checks = judge(TEXT, ["mu"], [traces()], [], slice(0, 200), words=10)
    found = Settlement(True, "settled", 100, 1, checks)
    assert all(check.passes for check in checks)
    told = settled_verdict(found, done=300, asked=2000, folder=None)
    assert told.headline == "Steady, but one chain alone"
    drifting = judge(TEXT, ["mu"], [traces(drift=8.0)], [], slice(0, 200), words=10)
    assert not named(drifting)["log posterior"].passes


def test_the_verdict_says_what_does_not_agree_and_how_to_go_on(tmp_path):
    checks = (
        Check("log posterior", 1.31, 1.05, False, 9.0),
        Check("sizes of topics", 0.7, 0.9, False),
    )
    found = Settlement(False, "iterations", 1800, 2, checks)
    told = settled_verdict(found, done=2000, asked=2000, folder=tmp_path).text
    assert (
        "R-hat of the log posterior is 1.31 (aim 1.05); agreement of the sizes of topics is 0.70 "
        "(aim 0.90)" in told
    )
    assert "All 2,000 iterations were made. What does not agree yet: R-hat of the log" in told
    assert f"citeweave.resume('{tmp_path}', iterations='+2000')" in told
    with for_command_line():
        told = settled_verdict(found, done=2000, asked=2000, folder=tmp_path).text
    assert f"citeweave resume {tmp_path} --iterations +2000" in told
    told = settled_verdict(found._replace(stopped="pace"), done=600, asked=2000, folder=None).text
    assert "After 600 iterations, the chains were not on the way to agree within 2,000. " in told
    steady = (checks[0]._replace(value=1.01, passes=True), checks[1])
    told = settled_verdict(found._replace(checks=steady), done=2000, asked=2000, folder=None)
    assert told.headline == "Not settled: the chains found different topics"
    assert "agreement of the sizes of topics is 0.70 (aim 0.90)" in told.advice


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"minutes": 0}, "'minutes' parameter of SCNTM must be a number greater than 0"),
        ({"minutes": 5, "exactly": True}, "'minutes' .* a fixed number of iterations"),
        ({"exactly": 1}, "'exactly'"),
    ],
)
def test_bad_input_is_refused(small, changes, told):
    with pytest.raises(ParameterError, match=told):
        SCNTM(**changes).fit(small)


@pytest.mark.long
def test_settled_fits_have_found_the_truth():
    """Of twenty corpora of even topics most fits settle, and one in twenty may miss a topic."""
    even = {"topics": 4, "topic_share": np.full(4, 0.25), "authors": 80, "citations": 1200}
    settled, wrong = 0, 0
    for seed in range(20):
        drawn = simulate(documents=400, words_per_document=120, vocabulary=600, **even, seed=seed)
        model = SCNTM(topics=4, seed=seed).fit(drawn.corpus)
        if model.settlement_.settled:
            settled += 1
            used = model.topic_samples_ > 0
            _, cosines, _ = match_topics(drawn.truth.topic_word, model.topic_word_[used])
            wrong += bool(cosines.min() < 0.9)
    assert settled >= 10
    assert wrong <= 0.05 * settled
