"""Clusters against classes, and held-out citations, on a tiny corpus."""

import dataclasses
import json

import pytest

from citeweave.errors import CorpusError, ParameterError
from reproduction import Context, Spread
from reproduction import clustering as clustering_file
from reproduction.clustering import EXPERIMENT as CLUSTERING
from reproduction.links import EXPERIMENT as LINKS
from reproduction.paper_figures import MODELS
from reproduction.settings import chain_settings


@pytest.fixture(scope="module")
def context(context_for):
    return context_for("cora")


@pytest.fixture
def own_peers(monkeypatch):
    """Leave out peers that others have made: they need not be installed, and take their time."""
    monkeypatch.setattr(
        clustering_file, "is_installed", lambda kind: kind in {"pmtlm", "louvain", "spectral"}
    )


@pytest.mark.usefixtures("own_peers")
def test_whole_corpora_and_test_papers(context):
    outcome = CLUSTERING.run(context)
    whole, tested, chains, of_folds = outcome.tables
    assert [row[2] for row in chains.rows] == [2] * len(chains.rows)
    assert len(of_folds.rows) == len(tested.rows)
    ours = [row for row in whole.rows if row[1] == "here"]
    names = [row[0] for row in ours]
    single = MODELS["scntm"]
    for name in (
        *(single, f"{single}, likeliest of 2 chains", f"{single}, consensus of 2 chains"),
        *("PMTLM", "Louvain (citations only)", MODELS["cntm-text"]),
    ):
        assert name in names
    for row in ours:
        assert all(isinstance(cell, Spread) and cell.mean <= 1 for cell in row[2:])
    published = {row[1]: row for row in whole.rows if row[1] != "here"}
    assert published["Lim's thesis, table 7.5"][3].mean == 0.185
    assert [row[3] for row in whole.rows[-2:]] == [0.514, 0.537]
    assert MODELS["scntm"] in [row[0] for row in tested.rows]
    heads = list(tested.columns)
    assert "paper, NMI (artefact)" in heads
    assert "purity minus paper" in heads
    assert not any("NMI, less paper" in head for head in heads)
    assert any("Not installed, so not run: PMTLM-DC" in note for note in outcome.notes)
    json.dumps(outcome.facts)


@pytest.mark.usefixtures("own_peers")
def test_single_chains_are_what_the_seeds_give(context):
    outcome = CLUSTERING.run(context)
    assert list(outcome.seeds) == [1, 2]
    row = next(r for r in outcome.tables[0].rows if r[0] == MODELS["scntm"])
    corpus = context.corpus("cora")
    from citeweave import SCNTM, evaluate

    parameters = {"topics": corpus.n_categories, "chains": 1, **chain_settings("settled", 8)}
    found = [
        evaluate.nmi(SCNTM(**parameters, seed=seed).fit(corpus).labels_, corpus.categories)
        for seed in (1, 2)
    ]
    assert row[3].mean == pytest.approx(sum(found) / 2)


def test_the_variant_of_a_chain_goes_with_its_stages(context):
    names = {}
    for stages in ("settled", "paper"):
        models = clustering_file._whole_models(dataclasses.replace(context, stages=stages), "cora")
        names[stages] = [model.name for model in models if model.is_scntm]
    single = MODELS["scntm"]
    assert f"{single}, started from clusters" in names["settled"]
    assert f"{single}, network from the start" in names["paper"]
    assert len(names["paper"]) == len(names["settled"])


def test_single_models_can_be_asked_for(context, tmp_path):
    some = dataclasses.replace(context, out=tmp_path, models=("k-means", "agc"))
    whole, chains = CLUSTERING.run(some).tables
    assert chains.rows == []
    here = [row for row in whole.rows if row[1] == "here"]
    assert [row[0][:3] for row in here] == ["AGC", "k-m"]
    assert [row[3].n for row in here] == [2, 2]  # with every seed
    assert whole.notes == []
    with pytest.raises(ParameterError, match="has no model 'kmeans'"):
        CLUSTERING.run(dataclasses.replace(some, models=("kmeans",)))


def test_ways_of_fitting_scntm_can_be_asked_for(context):
    def chosen(*names: str) -> list[str]:
        some = dataclasses.replace(context, models=names)
        return [model.name for model in clustering_file._whole_models(some, "cora")]

    every = chosen("scntm")
    ways = ("single", "started", "consensus", "categories", "categories-consensus")
    assert [chosen(way) for way in ways] == [[name] for name in every]
    assert chosen("categories", "agc")[1:] == chosen("agc")
    folded = dataclasses.replace(context, models=("categories",))
    assert clustering_file._folded_models(folded, "cora") == []


def test_single_parts_can_be_asked_for(context, tmp_path):
    given = {"out": tmp_path, "models": ("cntm-text",), "missing": {}}
    some = dataclasses.replace(context, **given, parts=("whole",))
    whole, tested, chains, of_folds = CLUSTERING.run(some).tables
    text = MODELS["cntm-text"]
    assert next(row[3].n for row in whole.rows if row[0] == text) == 2
    assert [row[1] for row in chains.rows] == [text]
    assert of_folds.rows == []
    assert tested.rows[0][:3] == [text, None, None]
    assert some.missing == {f"cora, {text}, folds": [2, 2]}
    with pytest.raises(ParameterError, match="'parts' of an experiment must be among whole, folds"):
        dataclasses.replace(context, parts=("corpora",))


def test_sets_without_classes_are_refused(context, tmp_path):
    corpus = context.corpus("cora")
    bare = type(corpus).from_arrays(tokens=corpus.tokens, offsets=corpus.offsets)
    bare.save(tmp_path / "bare")
    other = Context(out=tmp_path, datasets=("bare",), corpora={"bare": tmp_path / "bare"})
    with pytest.raises(CorpusError, match="None of the sets bare has classes"):
        CLUSTERING.run(other)


def test_links_beside_text(context):
    outcome = LINKS.run(context)
    table, chains = outcome.tables
    assert [row[1] for row in chains.rows] == [MODELS["scntm"]]
    assert [row[0] for row in table.rows] == [MODELS["scntm"], "PMTLM", "PMTLM-DC", "tf-idf cosine"]
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    text = rows["tf-idf cosine"]
    assert text["AUC above tf-idf"] is None
    model = rows[MODELS["scntm"]]
    assert model["AUC above tf-idf"] == pytest.approx(model["AUC"].mean - text["AUC"].mean)
    assert 0 <= model["recall@10"].mean <= model["recall@50"].mean <= 1


def test_single_models_of_links_can_be_asked_for(context):
    some = dataclasses.replace(context, models=("pmtlm", "tf-idf"))
    table, chains = LINKS.run(some).tables
    assert chains.rows == []
    assert [row[0] for row in table.rows] == ["PMTLM", "tf-idf cosine"]
    alone, _ = LINKS.run(dataclasses.replace(context, models=("pmtlm",))).tables
    (row,) = alone.rows
    assert row[1] == table.rows[0][1]
    assert row[2] is None  # nothing to be above of
