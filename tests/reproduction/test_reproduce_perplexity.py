"""The experiments that divide corpora, on a tiny one: perplexity and supervision."""

import json

import pytest

from citeweave.errors import CorpusError
from citeweave.experiments import Row, Table, choose
from reproduction import Context, Spread, reproduce
from reproduction.measuring import describe_folds, folds_for, shown
from reproduction.paper_figures import MODELS
from reproduction.perplexity import EXPERIMENT as PERPLEXITY
from reproduction.perplexity import _paired
from reproduction.supervision import EXPERIMENT as SUPERVISION


@pytest.fixture(scope="module")
def context(context_for):
    return context_for("tiny")


def test_perplexity_of_all_models(context):
    outcome = PERPLEXITY.run(context)
    (table,) = outcome.tables
    names = [MODELS[key] for key in ("bursty-hdp-lda", "np-atm", "cntm-text", "scntm")]
    assert [row[0] for row in table.rows] == names
    assert list(table.columns) == ["model", "train, in sample", "train, held out", "test"]
    for _, inside, held, test in table.rows:
        for cell in (inside, held, test):
            assert isinstance(cell, Spread)
            assert 1 < cell.mean < 150
        assert test.sd is not None
    assert "a random half of its words" in outcome.protocol
    assert "2 random splits" in outcome.protocol


def test_the_page_is_written_and_a_second_run_fits_nothing(context):
    first = reproduce("perplexity", context)
    assert "| SCNTM (eta = 0) |" in first.page.read_text()
    tasks = {path: path.stat().st_mtime_ns for path in (context.out / "tasks").iterdir()}
    again = reproduce("perplexity", context, fresh=True)
    assert again.content["tables"] == first.content["tables"]
    assert {path: path.stat().st_mtime_ns for path in (context.out / "tasks").iterdir()} == tasks


def test_the_papers_figures_stand_beside_ours_under_its_name(context, tiny_corpus):
    named = Context(
        out=context.out,
        datasets=("cora",),
        corpora={"cora": context.corpora["tiny"]},
        runs=1,
        quick=True,
        iterations=8,
    )
    (table,) = PERPLEXITY.run(named).tables
    row = dict(zip(table.columns, table.rows[-1], strict=True))
    assert row["model"] == MODELS["scntm"]
    assert row["paper, test"].mean == 688.0
    assert row["test, less paper"] == pytest.approx(row["test"].mean - 688.0)
    assert row["train, less paper"] == pytest.approx(row["train, in sample"].mean - 621.1)
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
    (table,) = outcome.tables
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


def test_models_are_compared_fold_by_fold():
    def row(key, fold, value, where="test"):
        return Row("cora", MODELS[key], fold, 1, "perplexity", where, value, "")

    rows = [row("scntm", "1/2", 600.0), row("scntm", "2/2", 660.0)]
    rows += [row("cntm-text", "1/2", 630.0), row("cntm-text", "2/2", 650.0)]
    rows += [row("bursty-hdp-lda", "1/2", 640.0), row("scntm", "1/2", 1.0, where="train")]
    text = _paired("cora", Table(rows))
    assert text == [
        "cora, test, fold by fold: SCNTM less Bursty HDP-LDA -40.0; lower in 1 of 1.",
        "cora, test, fold by fold: SCNTM less CNTM w/o network -10.0 ± 28.3; lower in 1 of 2.",
    ]
