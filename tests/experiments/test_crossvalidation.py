"""Cross-validation: what is measured, on which documents, and by which models."""

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from citeweave import Corpus, evaluate
from citeweave.cli.main import app
from citeweave.errors import CorpusError, ParameterError, RunError
from citeweave.evaluate.perplexity import perplexity
from citeweave.evaluate.words import completion_words
from citeweave.experiments import (
    ModelChoice,
    choose,
    cross_validate,
    cut,
    k_folds,
    model_names,
    random_splits,
)

SHORT = {"topics": 3, "iterations": 8}


@pytest.fixture(scope="module")
def table(small, tmp_path_factory):
    models = [
        ModelChoice("network", "scntm", SHORT),
        ModelChoice("labels", "scntm", SHORT | {"eta": math.inf}),
        ModelChoice("links", "louvain"),
    ]
    folder = tmp_path_factory.mktemp("cv")
    return cross_validate({"small": small}, models, folds=2, samples=20, out=folder), folder


def test_every_model_is_measured_on_every_fold(table):
    rows, folder = table
    assert {row.dataset for row in rows} == {"small"}
    for name in ("network", "labels", "links"):
        for fold in ("1/2", "2/2"):
            found = rows.select(model=name, fold=fold, where="test", measure="nmi")
            # with labels there are two ways, and they are told apart
            assert len(found) == (2 if name == "labels" else 1)
            assert len({row.protocol for row in found}) == len(found)
    assert len(list((folder / "tasks").iterdir())) == 6
    assert len(json.loads((folder / "results.json").read_text())) == len(rows)


def test_what_is_measured(table):
    rows, _ = table
    test = {row.measure for row in rows.select(model="network", where="test")}
    clustering = {"purity", "nmi", "adjusted_rand", "adjusted_mutual_information"}
    assert test == clustering | {"perplexity"}
    supervised = {row.measure for row in rows.select(model="labels", where="test")}
    assert supervised == test | {"accuracy", "macro_f1", "labelled"}
    inside = rows.select(model="network", measure="perplexity", where="train")
    assert {row.protocol for row in inside} == {"in sample"}
    for row in rows.select(measure="perplexity"):
        assert 1 < row.value < 60 * 3
    # accuracy is of hidden labels alone: seen ones would be given back
    assert all("hidden" in row.protocol for row in rows.select(measure="accuracy"))
    assert rows.values(measure="labelled").tolist() == [1.0, 1.0]


def test_values_are_those_of_the_measures_themselves(small, table):
    rows, _ = table
    fold = k_folds(2)[0]
    split = cut(small, fold)
    model = ModelChoice("network", "scntm", SHORT).build(seed=1).fit(split.train)
    folded = model.fold_in(split.test, words="all", links=split, samples=20)
    mine = {"model": "network", "fold": "1/2", "where": "test"}
    assert rows.values(**mine, measure="nmi")[0] == pytest.approx(
        evaluate.nmi(folded.labels, split.test.categories)
    )
    scored = perplexity(model, split.test, words=0.5, links=split, samples=20)
    assert rows.values(**mine, measure="perplexity")[0] == pytest.approx(scored.value)
    purity = evaluate.purity(model.labels_, split.train.categories)
    trained = {"model": "network", "fold": "1/2", "where": "train"}
    assert rows.values(**trained, measure="purity")[0] == pytest.approx(purity)


def test_two_ways_of_fold_in_share_a_fit(small, table, tmp_path):
    alone, _ = table
    fold = k_folds(2)[0]
    network = ModelChoice("network", "scntm", SHORT)
    rows = cross_validate(
        small, [network], folds=[fold], method=["paper", "gibbs"], samples=20, out=tmp_path
    )
    assert len(list((tmp_path / "tasks").iterdir())) == 1
    test = rows.select(where="test", measure="perplexity")
    assert [row.protocol.rpartition(", ")[2] for row in test] == ["paper fold-in", "gibbs fold-in"]
    mine = {"model": "network", "fold": "1/2", "where": "test", "measure": "perplexity"}
    assert test.rows[0].value == pytest.approx(alone.values(**mine)[0])
    split = cut(small, fold)
    scored = perplexity(
        network.build(seed=1).fit(split.train),
        split.test,
        words=0.5,
        links=split,
        samples=20,
        method="gibbs",
    )
    assert test.rows[1].value == pytest.approx(scored.value)


def test_eta_chooses_among_authors_where_there_are_no_labels(small):
    bare = Corpus.from_arrays(
        tokens=small.tokens,
        offsets=small.offsets,
        author_ids=small.author_ids,
        author_offsets=small.author_offsets,
        citations=small.citations,
    )
    some = ModelChoice("some", "scntm", SHORT | {"authors": "all", "eta": 3})
    fold = k_folds(2)[:1]
    rows = cross_validate(bare, [some], folds=fold, samples=20)
    (row,) = rows.select(where="test", measure="perplexity")
    assert 1 < row.value < 60 * 3
    labels = ModelChoice("labels", "scntm", SHORT | {"eta": math.inf})
    with pytest.raises(RunError, match="takes labels"):
        cross_validate(bare, [labels], folds=fold, samples=20)


def test_titles_are_used_where_there_is_more_than_titles(small):
    assert completion_words(small) in {"title", 0.5}
    words = [["a", "b", "c"], ["b", "c"], ["c"]]
    assert completion_words(Corpus.from_lists(tokens=words, title_lengths=[1, 1, 1])) == "title"
    assert completion_words(Corpus.from_lists(tokens=words, title_lengths=[3, 2, 1])) == 0.5
    assert completion_words(Corpus.from_lists(tokens=words)) == 0.5


def test_splits_instead_of_folds(small):
    folds = random_splits(2, test=0.25)
    rows = cross_validate(small, [choose("louvain")], folds=folds, seeds=[4])
    assert {(row.dataset, row.fold, row.seed) for row in rows} == {
        ("corpus", "split 1/2", 4),
        ("corpus", "split 2/2", 4),
    }


def test_held_out_words_and_links(small):
    from citeweave.experiments import PROTOCOLS, make_tasks, run_tasks

    choices = {
        "held-out-words": [ModelChoice("text", "cntm-text", SHORT)],
        "links": [
            ModelChoice("network", "scntm", SHORT),
            ModelChoice("peer", "pmtlm-dc", {"topics": 3, "restarts": 1}),
            ModelChoice("words", "cntm-text", SHORT),  # neither has a rate of citations
            ModelChoice("spectral", "spectral", {"topics": 3}),
            ModelChoice("text", "tf-idf"),
        ],
    }
    for protocol, models in choices.items():
        version = PROTOCOLS[protocol].version
        corpora = {"small": small.fingerprint}
        tasks = make_tasks(corpora, models, protocol=protocol, version=version)
        rows = run_tasks(tasks, {small.fingerprint: small})
        assert [row.model for row in rows.select(measure=["perplexity", "auc"])] == [
            model.name for model in models
        ]
        assert np.isfinite([row.value for row in rows]).all()
        for row in rows.select(measure="auc"):
            assert 0 <= row.value <= 1


def test_choosing():
    choice = choose("scntm:eta=10,chains=2", topics=4, iterations=50)
    assert choice.parameters == {"topics": 4, "iterations": 50, "eta": 10, "chains": 2}
    assert choice.uses_labels
    assert not choose("cntm-text").uses_labels
    assert choose("pmtlm", topics=4, iterations=50, eta=0).parameters == {"topics": 4}
    assert {"scntm", "np-atm", "pmtlm", "louvain"} <= set(model_names())


@pytest.mark.parametrize(
    ("models", "options", "text"),
    [
        (["scntn"], {}, "no model 'scntn'"),
        (["scntm:eta"], {}, "Got the part 'eta'"),
        (["scntm:eta=x"], {}, "'eta' parameter of SCNTM must be"),
        ([], {}, "at least one model"),
        (["scntm", "scntm"], {}, "different names"),
        (["scntm"], {"folds": 1}, "'folds' must be"),
        (["scntm"], {"seeds": 0}, "'seeds' must be"),
        (["scntm"], {"seeds": [1, 1]}, "'seeds' must be"),
        (["scntm"], {"words": 1.0}, "'words' must be"),
        (["scntm"], {"labels": "hidden"}, "'labels' must be a list"),
        (["scntm"], {"method": "em"}, "'method' must be"),
        (["scntm"], {"method": []}, "'method' must be"),
        (["scntm"], {"method": ["gibbs", "gibbs"]}, "'method' must be"),
    ],
)
def test_wrong_input_is_refused_before_anything_runs(small, models, options, text):
    with pytest.raises(ParameterError, match=text):
        cross_validate(small, models, **options)


def test_too_few_documents():
    corpus = Corpus.from_lists(tokens=[["a"], ["b"]])
    with pytest.raises(CorpusError, match="cannot be divided into 10 folds"):
        cross_validate(corpus, ["cntm-text"])


def test_command_line(small, tmp_path):
    small.save(tmp_path / "corpus")
    out = tmp_path / "out"
    command = ["crossvalidate", str(tmp_path / "corpus"), "--model", "louvain", "--folds", "2"]
    first = CliRunner().invoke(app, [*command, "--out", str(out), "--workers", "1"])
    assert first.exit_code == 0, first.output
    assert "adjusted rand" in first.output
    assert "2/2  corpus, louvain, 2/2, seed 1" in first.output
    second = CliRunner().invoke(app, [*command, "--out", str(out), "--json", "--quiet"])
    assert second.exit_code == 0, second.output
    summary = json.loads(second.output)
    assert {row["n"] for row in summary} == {2}
    assert {"dataset", "model", "measure", "where", "protocol", "mean", "sd", "n"} == set(
        summary[0]
    )
    wrong = CliRunner().invoke(app, [*command, "--words", "half"])
    assert wrong.exit_code == 2
    assert "--words must be" in wrong.output
