"""Models and corpora that lack a part: what can be shown is shown, the rest says why."""

import builtins

import numpy as np
import polars as pl
import pytest
from explore_tools import interrupt

from citeweave import SCNTM
from citeweave.baselines import PMTLM
from citeweave.corpus import Corpus
from citeweave.errors import MissingDependencyError, NotFoundError, ParameterError, RunError
from citeweave.explore import Exploration, flatten_lists, frames, to_csv

QUICK = {"topics": 3, "iterations": 6, "seed": 1}


def test_words_alone(bare):
    view = Exploration(SCNTM(**QUICK, chains=1).fit(bare))
    assert set(view.missing) == {"citations", "authors", "years", "categories", "titles"}
    assert all(text.endswith(".") for text in view.missing.values())
    topics = view.topics()
    assert topics["growth"].null_count() == topics["slope"].null_count() == len(topics)
    assert topics["trend"].to_list() == [[]] * len(topics)
    papers = view.papers()
    assert papers["title"].to_list()[0] == view.corpus.ids[papers["paper"][0]]
    assert papers["year"].null_count() == papers["cited_for"].null_count() == 30
    assert papers["authors"].to_list() == [[]] * 30
    page = view.paper(0)
    assert (page.authors, page.year, page.category, page.cited_for) == ([], None, None, [])
    assert view.topic(view.order[0]).authors == []
    assert view.search("w1", kinds=("topic",))
    for name in ("authors", "citations", "categories", "flow", "crosstab", "influence"):
        with pytest.raises(NotFoundError, match=r"There are no .*\. The corpus"):
            getattr(view, name)()
    with pytest.raises(NotFoundError, match="no authors"):
        view.author(0)


@pytest.mark.parametrize("model", ["cntm-text", "bursty-hdp-lda", "np-atm"])
def test_models_of_text_alone(corpus, model):
    view = Exploration(SCNTM(**QUICK, model=model, chains=1).fit(corpus))
    assert f"'{model}'" in view.missing["citations"]
    assert f"'{model}'" in view.missing["influence"]
    assert view.topics()["citations"].null_count() == len(view.order)
    authors = view.authors()
    assert authors["influence"].null_count() == len(authors)
    assert authors["papers"].is_sorted(descending=True)
    assert view.papers()["cited_propensity"].null_count() == 90
    assert view.flow()["citations"].sum() == pytest.approx(corpus.n_citations, rel=1e-4)
    with pytest.raises(NotFoundError, match="has no citing topics"):
        view.citations()
    with pytest.raises(NotFoundError, match="has no citing topics"):
        view.flow(by_citing_topic=True)
    assert view.author(0).influence is None
    placed = view.place("", " ".join(corpus.words(3)))
    assert placed.likely_cited == []
    assert any("does not predict citations" in note for note in placed.notes)
    if model == "np-atm":  # all authors have a vector there
        assert set(authors["topics_from"]) == {"model"}


def test_a_peer_without_a_sampler(corpus):
    view = Exploration(PMTLM(topics=3, restarts=1, iterations=20, seed=1).fit(corpus))
    assert "intervals" in view.missing
    assert len(view.topics()) == 3
    assert view.topics()["mu_low"].null_count() == 3
    assert len(view.papers()) == 90
    assert set(view.authors()["topics_from"]) == {"papers"}
    assert view.place("", " ".join(corpus.words(3))).similar[0].paper == 3
    with pytest.raises(NotFoundError, match="no counts of customers"):
        view.inspect(0)


def test_one_sample_has_no_interval(corpus):
    view = Exploration(SCNTM(topics=3, iterations=4, burn_in=3, seed=1, chains=1).fit(corpus))
    assert "single sample" in view.missing["intervals"]
    table = view.authors()
    assert table["weight_low"].null_count() == len(table)
    assert view.topics()["mu_low"].null_count() == len(view.order)


def test_an_unfinished_run_shows_what_it_has(corpus, tmp_path):
    folder = tmp_path / "run"
    schedule = {"iterations": 9, "network_from": 2, "burn_in": 3, "thin": 1, "chains": 1}
    interrupt(corpus, folder, after=6, **schedule)
    view = Exploration(folder)
    assert view.model.n_iter_ == 6
    assert len(view.papers()) == 90
    assert view.authors(top=1)["weight_low"][0] is not None


def test_a_run_without_samples_yet_says_so(corpus, tmp_path):
    folder = tmp_path / "run"
    interrupt(corpus, folder, after=2, iterations=9, chains=1)
    with pytest.raises(RunError, match="kept no samples yet: run `citeweave resume"):
        Exploration(folder)


def test_what_is_no_run(tmp_path):
    with pytest.raises(RunError, match="not a run"):
        Exploration(tmp_path)
    with pytest.raises(RunError, match="no run folder"):
        Exploration(tmp_path / "nothing")


def test_what_is_no_fitted_model():
    with pytest.raises(ParameterError, match="Only a fitted model"):
        Exploration(SCNTM())
    with pytest.raises(ParameterError, match="Only a fitted model"):
        Exploration(3)


class Bare:
    """A model of somebody else's, which keeps no corpus."""

    def __init__(self, corpus):
        rng = np.random.default_rng(0)
        self.doc_topic_ = rng.dirichlet([1, 1], corpus.n_documents)
        self.topic_word_ = rng.dirichlet(np.ones(corpus.vocabulary_size), 2)


def test_somebody_elses_model_needs_the_corpus(corpus, bare):
    model = Bare(corpus)
    with pytest.raises(ParameterError, match="as corpus="):
        Exploration(model)
    with pytest.raises(ParameterError, match="Got a corpus of 30 documents"):
        Exploration(model, corpus=bare)
    view = Exploration(model, corpus=corpus)
    assert len(view.topics()) == 2
    with pytest.raises(NotFoundError, match="cannot place"):
        view.place("", " ".join(corpus.words(0)))


def test_years_of_all_kinds():
    corpus = Corpus.from_lists(
        tokens=[["a", "b"]] * 5,
        metadata={"year": ["2001", "2003-05-01", None, "n.d.", "2001"]},
    )
    view = Exploration(Bare(corpus), corpus=corpus)
    assert view.years.tolist() == [2001, 2003, 0, 0, 2001]
    assert list(view.year_range) == [2001, 2002, 2003]
    assert view.papers_by_year.tolist() == [2, 0, 1]
    assert np.isnan(view.share_by_year[1]).all()
    row = flatten_lists(view.topics())["trend"][0]
    assert row.split("; ")[1] == ""  # the empty year keeps its place


def test_pandas_on_request(view):
    pytest.importorskip("pandas")
    table = view.topics(pandas=True)
    assert type(table).__module__.startswith("pandas")
    assert table["topic"].tolist() == view.order
    assert table["words"][0] == view.topics()["words"][0].to_list()
    assert view.authors(pandas=True)["weight_low"].isna().any()


def test_without_pandas_the_install_line_is_told(view, monkeypatch):
    def refuse(name):
        raise ImportError(name=name)

    monkeypatch.setattr(frames, "import_module", refuse)
    with pytest.raises(MissingDependencyError, match="pip install pandas"):
        view.topics(pandas=True)


def test_tables_without_polars_say_what_to_install(view, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name == "polars":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingDependencyError, match="pip install polars"):
        view.topics()
    assert view.author_topics[0].shape[1] == view.n_topics  # arrays need no tables


def test_flat_tables_have_no_lists(view):
    flat = flatten_lists(view.authors(top=3))
    assert "; " in flat["words"][0]
    assert flat.write_csv().count("\n") == 4


def test_no_text_is_a_formula_in_a_spreadsheet():
    table = pl.DataFrame(
        {
            "title": ["=HYPERLINK(1)", "+1", "plain", None],
            "authors": [["@sum", "b"], ["a"], [], None],
            "slope": [-1.0, 2.0, 3.0, None],
            "trend": [[-0.5, 0.5], [], [1.0], None],
        }
    )
    assert to_csv(table).splitlines() == [
        "title,authors,slope,trend",
        "'=HYPERLINK(1),'@sum; b,-1.0,-0.5; 0.5",
        '\'+1,a,2.0,""',
        'plain,"",3.0,1.0',
        ",,,",
    ]


def test_a_peer_in_a_run_folder(corpus, tmp_path):
    folder = PMTLM(topics=3, restarts=1, iterations=10, seed=1).fit(corpus).save(tmp_path / "run")
    view = Exploration(folder)
    view.name_topic(0, "Mine")
    assert Exploration(folder).topic_name(0) == "Mine"
    assert len(view.papers(topic=view.order[0])) > 0
