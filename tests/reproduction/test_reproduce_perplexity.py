"""The experiments that divide corpora, on a tiny one: perplexity and supervision."""

import dataclasses
import json
import shutil

import pytest
from scipy.stats import ttest_rel

from citeweave.errors import CorpusError, ParameterError, RunError
from citeweave.experiments import Row, Table, choose
from citeweave.experiments.machine import processor
from reproduction import Context, Spread, reproduce
from reproduction.comparing import compare, comparisons_table
from reproduction.measuring import ETAS, METHODS, choice, describe_folds, folds_for, shown
from reproduction.paper_figures import MODELS
from reproduction.perplexity import EXPERIMENT as PERPLEXITY
from reproduction.perplexity import _conclude, _etas, _table, _tests
from reproduction.supervision import EXPERIMENT as SUPERVISION

MODEL_KEYS = ("bursty-hdp-lda", "np-atm", "cntm-text", "scntm")


@pytest.fixture(scope="module")
def context(context_for):
    return context_for("tiny")


def test_perplexity_of_all_models(context):
    outcome = PERPLEXITY.run(context)
    table, *tests, at_etas, by_paper, by_gibbs, chains = outcome.tables
    for compared in tests:
        assert [row[2] for row in compared.rows] == [MODELS[k] for k in MODEL_KEYS[:-1]]
    assert [row[1] for row in at_etas.rows] == [MODELS[k] for k in ETAS]
    for less_none in (by_paper, by_gibbs):
        assert [row[1] for row in less_none.rows] == [MODELS[k] for k in list(ETAS)[1:]]
    titles = [compared.title for compared in (*tests, by_paper, by_gibbs)]
    assert [title.endswith(", Gibbs fold-in") for title in titles] == [False, True] * 2
    fits = {row[1]: row[2] for row in chains.rows}
    # two splits each; words are held out of the models without labels alone
    assert fits == {MODELS[k]: 3 for k in MODEL_KEYS} | {MODELS[k]: 2 for k in list(ETAS)[1:]}
    assert [row[0] for row in table.rows] == [MODELS[key] for key in MODEL_KEYS]
    figures = ["train, in sample", "train, held out", "test", "test, Gibbs"]
    assert list(table.columns) == ["model", *figures]
    for model, *cells in table.rows:
        for cell in cells:
            assert isinstance(cell, Spread)
            assert 1 < cell.mean < 150
        assert cells[-1].sd is not None
        # of the author-topic model both are one: nothing is sampled
        assert (cells[-2] == cells[-1]) == (model == MODELS["np-atm"])
    assert "a random half of its words" in outcome.protocol
    assert "2 random splits" in outcome.protocol


def test_single_models_can_be_asked_for(context):
    table, *_, chains = PERPLEXITY.run(dataclasses.replace(context, models=("np-atm",))).tables
    assert [row[0] for row in table.rows] == [row[1] for row in chains.rows] == [MODELS["np-atm"]]
    with pytest.raises(ParameterError, match="'lda'"):
        PERPLEXITY.run(dataclasses.replace(context, models=("lda",)))


def test_the_page_is_written_and_a_second_run_fits_nothing(context):
    first = reproduce("perplexity", context)
    assert "| SCNTM (eta = 0) |" in first.page.read_text()
    tasks = {path: path.stat().st_mtime_ns for path in (context.out / "tasks").iterdir()}
    again = reproduce("perplexity", context, fresh=True)
    assert again.content["tables"] == first.content["tables"]
    assert {path: path.stat().st_mtime_ns for path in (context.out / "tasks").iterdir()} == tasks


def test_what_is_finished_is_shown_without_the_rest(context, tmp_path):
    whole = reproduce("perplexity", context)
    shutil.copytree(context.out / "tasks", tmp_path / "tasks")
    kept = sorted((tmp_path / "tasks").iterdir())
    lost = [path for path in kept if "ATM" in path.name]
    for path in lost:
        path.unlink()
    some = reproduce("perplexity", dataclasses.replace(context, out=tmp_path, finished=True))
    assert sorted((tmp_path / "tasks").iterdir()) == [path for path in kept if path not in lost]
    note = some.content["notes"][-1]
    assert note.startswith("Not finished, and left out: tiny, Non-parametric ATM, folds (2 of 2); ")
    assert not any("Not finished" in text for text in whole.content["notes"])
    before, after = (one.content["tables"][0]["rows"] for one in (whole, some))
    assert after[1][1:] == [None, None, None, None]
    assert [before[i] for i in (0, 2, 3)] == [after[i] for i in (0, 2, 3)]
    assert "--finished" in some.content["command"]
    with pytest.raises(RunError, match=r"is not finished; omit --finished"):
        reproduce("convergence", dataclasses.replace(context, out=tmp_path, finished=True))


def test_pages_say_where_fits_ran(context):
    content = reproduce("perplexity", context).content
    ((machine, found),) = content["ran"].items()
    assert machine == processor()
    assert found["fits"] == len(list((context.out / "tasks").iterdir()))
    page = (context.out / "perplexity.md").read_text()
    assert f"Fits, with their time in all: {found['fits']} on {machine}" in page


def test_the_papers_figures_stand_beside_ours_under_its_name(context, tiny_corpus):
    named = Context(
        out=context.out,
        datasets=("cora",),
        corpora={"cora": context.corpora["tiny"]},
        runs=1,
        quick=True,
        iterations=8,
    )
    table = PERPLEXITY.run(named).tables[0]
    row = dict(zip(table.columns, table.rows[-1], strict=True))
    assert row["model"] == MODELS["scntm"]
    assert row["paper, test"].mean == 688.0
    assert row["test minus paper"] == pytest.approx(row["test"].mean - 688.0)
    assert row["train minus paper"] == pytest.approx(row["train, in sample"].mean - 621.1)
    assert shown("cora") == "cora"
    assert shown("citeseer") == "citeseer (CS)"
    assert tiny_corpus.n_documents == 60


def test_linqs_sets_have_ten_folds_and_others_splits(tmp_path):
    full = Context(out=tmp_path, datasets=("cora", "ieee-vis"), runs=3)
    assert [fold.name for fold in folds_for(full, "cora")] == [f"{n}/10" for n in range(1, 11)]
    assert [fold.name for fold in folds_for(full, "ieee-vis")] == [
        f"split {n}/3" for n in (1, 2, 3)
    ]
    assert "cora: ten-fold" in describe_folds(full)
    quick = Context(out=tmp_path, datasets=("cora",), quick=True)
    assert len(folds_for(quick, "cora")) == 2


def test_supervision_shows_both_ways(context):
    outcome = SUPERVISION.run(context)
    table, chains = outcome.tables
    assert [row[1] for row in chains.rows] == [MODELS[key] for key in ETAS]
    heads = [(row[0], row[1]) for row in table.rows]
    assert heads == [
        (MODELS["scntm"], "not used"),
        (MODELS["scntm-eta-10"], "hidden"),
        (MODELS["scntm-eta-10"], "seen"),
        (MODELS["scntm-eta-inf"], "hidden"),
        (MODELS["scntm-eta-inf"], "seen"),
    ]
    hidden = dict(zip(table.columns, table.rows[3], strict=True))
    seen = dict(zip(table.columns, table.rows[4], strict=True))
    assert 0 <= hidden["accuracy"].mean <= 1
    assert seen["accuracy"] is None
    assert seen["purity"] is not None
    json.dumps(outcome.facts)


def test_sets_without_labels_are_refused(tmp_path, tiny_corpus):
    bare = tiny_corpus.subset(range(20))
    bare = type(bare).from_arrays(tokens=bare.tokens, offsets=bare.offsets)
    bare.save(tmp_path / "bare")
    context = Context(out=tmp_path, datasets=("bare",), corpora={"bare": tmp_path / "bare"})
    with pytest.raises(CorpusError, match="None of the sets bare has labels"):
        SUPERVISION.run(context)
    assert not choose("scntm").uses_labels


def test_models_are_compared_fold_by_fold(tmp_path):
    def row(key, fold, value, where="test", labels="hidden", method="paper"):
        how = _way(labels, method)
        return Row("cora", MODELS[key], fold, 1, "perplexity", where, value, how)

    rows = [row("scntm", "1/2", 600.0), row("scntm", "2/2", 660.0)]
    rows += [row("cntm-text", "1/2", 630.0), row("cntm-text", "2/2", 650.0)]
    rows += [row("bursty-hdp-lda", "1/2", 640.0), row("scntm", "1/2", 1.0, where="train")]
    rows.append(row("scntm", "1/2", 1.0, labels="seen"))
    rows += [row("scntm", fold, 570.0, method="gibbs") for fold in ("1/2", "2/2")]
    context = Context(out=tmp_path, datasets=("cora", "m10"))
    table, by_gibbs = (_tests(context, Table(rows), method) for method in METHODS)
    assert not by_gibbs.rows  # no other model was folded in so
    one, two = (dict(zip(table.columns, cells, strict=True)) for cells in table.rows)
    assert (one["minus"], one["difference"], one["lower in"]) == (
        MODELS["bursty-hdp-lda"],
        Spread(-40.0, None, 1),
        1,
    )
    assert one["p"] is None
    assert one["at 5 %"] is None
    assert two["difference"].mean == -10.0
    assert two["p"] == f"{ttest_rel([600.0, 660.0], [630.0, 650.0]).pvalue:.4f}"
    assert float(two["p, corrected"]) > float(two["p"])
    assert two["at 5 %"] == "no difference"
    models = [choice(key, topics=2) for key in ("bursty-hdp-lda", "cntm-text", "scntm")]
    shown_table = _table("cora", models, Table(rows), Table([]))
    (aims,) = _conclude(context, [shown_table])
    assert aims.partition(": ")[2].split("; ") == [
        (
            "by the paper's fold-in missed by 6.0 (624, its own before), "
            f"reached by 10.0 ({MODELS['bursty-hdp-lda']}, the lowest of the others)"
        ),
        "by Gibbs reached by 54.0 (624, its own before, by the paper's fold-in).",
    ]
    assert not _conclude(dataclasses.replace(context, quick=True), [shown_table])


def _way(labels, method="paper"):
    return f"half of the words; labels of test documents {labels}, {method} fold-in"


def test_other_etas_are_shown_with_labels_hidden_and_seen(tmp_path):
    rows = [
        Row("cora", MODELS[key], "1/2", 1, "perplexity", "test", value, _way(labels, method))
        for key, value, labels, method in (
            ("scntm", 620.0, "hidden", "paper"),
            ("scntm-eta-inf", 580.0, "hidden", "paper"),
            ("scntm-eta-inf", 590.0, "seen", "paper"),
            ("scntm-eta-inf", 560.0, "hidden", "gibbs"),
        )
    ]
    models = {"cora": [choice("scntm-eta-inf", topics=2)]}
    context = Context(out=tmp_path, datasets=("cora",))
    figures, compared = _etas(context, models, Table(rows))  # none is to be compared by Gibbs
    assert [list(row[2:]) for row in figures.rows] == [
        [Spread(620.0), None, None, None],
        [Spread(580.0), Spread(590.0), Spread(560.0), None],
    ]
    assert compared.rows[0][compared.columns.index("difference")] == Spread(-40.0)


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [
        ([-10.0, -11.0, -9.0], "lower"),
        ([10.0, 11.0, 9.0], "higher"),
        ([-5.0, -10.0, -16.0, -5.0], "lower by the plain test alone"),
        ([-5.0, 7.0, -3.0], "no difference"),
    ],
)
def test_a_difference_is_judged_by_the_stricter_test(gaps, verdict):
    def table(values):
        return Table(
            Row("x", "m", str(n), 1, "perplexity", "test", value, "")
            for n, value in enumerate(values)
        )

    found = compare(table(gaps), table([0.0] * len(gaps)))
    shown_table = comparisons_table("t", [("x", "a", "b", found)])
    assert shown_table.rows[0][-1] == verdict
