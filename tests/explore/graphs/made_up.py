"""A fitted model written by hand: what pictures must show is known, and nothing is sampled."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.engines.core.spec import preset
from citeweave.model import Groups
from citeweave.model.groups import build_tree

NASTY = "<script>alert(\"x\") & 'y'</script> $a_b$ \\N"


def make_model(
    *,
    papers: int = 60,
    topics: int = 4,
    authors: int = 12,
    citations: int = 150,
    years: bool = True,
    network: bool = True,
    nodes: bool = True,
    chains: int = 2,
    iterations: int = 40,
    seed: int = 0,
) -> Any:
    """Make a model with the attributes of a fitted SCNTM; topic k has the words "k0", "k1", ..."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(topics, 0.3), size=papers)
    words = [f"t{k}word{i}" for k in range(topics) for i in range(6)]
    words[0] = "soil_water"
    phi = np.full((topics, len(words)), 0.2 / len(words))
    for k in range(topics):
        phi[k, 6 * k : 6 * k + 6] += 0.8 * np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    dominant = theta.argmax(axis=1)
    names = [f"Author {chr(65 + a)}. Surname{a}" for a in range(authors)]
    if names:
        names[0] = NASTY
    pairs = {(int(i), int(j)) for i, j in rng.integers(0, papers, size=(citations, 2)) if i != j}
    first = rng.integers(0, max(authors, 1), size=papers)
    if authors:
        first[:authors] = np.arange(authors)
    corpus = Corpus.from_lists(
        tokens=[[words[6 * k + int(i)] for i in range(6)] for k in dominant] if papers else [],
        vocabulary=words,
        authors=[[names[int(a)]] for a in first] if authors else None,
        citations=sorted(pairs),
        titles=[NASTY if d == 0 else f"Paper {d}" for d in range(papers)],
        metadata=({"year": [2000 + d % 5 for d in range(papers)]} if years else {})
        | {
            "institutions": [["Oslo", NASTY][: 1 + d % 2] for d in range(papers)],
            "countries": [["NO", "AU"][: 1 + d % 2] for d in range(papers)],
            "outside_references": [
                [f"Elder {d % 7}, 1990, J OLD", f"Younger {d % 5}, 1995, J NEW"]
                for d in range(papers)
            ],
        },
    )
    steps = np.arange(iterations)
    model = SimpleNamespace(
        doc_topic_=theta,
        topic_word_=phi,
        topic_share_=theta.mean(axis=0),
        topic_samples_=np.full(topics, 5),
        corpus_=corpus,
        level_names_=["mu", "theta'"],
        traces_={
            "log_likelihood": -100.0 + rng.normal(size=(chains, iterations)),
            "acceptance": np.where(steps < iterations // 2, np.nan, 0.9) * np.ones((chains, 1)),
            "word_acceptance": np.where(steps < iterations // 2, np.nan, 0.8)
            * np.ones((chains, 1)),
            "topics": np.full((chains, iterations), float(topics)),
            "concentrations": rng.gamma(2.0, size=(chains, iterations, 2)),
        },
    )
    if network:
        model.cited_propensity_ = rng.gamma(1.0, size=papers)
        model.cite_propensity_ = np.ones(papers)
        model.topic_scale_ = np.ones(topics)
        model.citing_topic_ = np.full((corpus.n_citations, topics), 1.0 / topics)
    if nodes and authors:
        count = np.bincount(corpus.first_authors, minlength=corpus.n_authors)
        model.groups_ = Groups(
            level="nu",
            kind=np.zeros(corpus.n_authors, np.int8),
            label=np.arange(corpus.n_authors, dtype=np.int32),
            documents=count.astype(np.int32),
            of_document=np.asarray(corpus.first_authors),
            parent=np.zeros(corpus.n_authors, np.int32),
            corpus=corpus,
        )
        model.group_topic_ = rng.dirichlet(np.full(topics, 0.3), size=corpus.n_authors)
    if years and papers:
        spec = preset("scntm").with_level("period")
        period = build_tree(corpus, spec, eta=0, unknown="shared").levels[0]
        model.levels_ = {"period": period}
        model.level_topic_ = {"period": rng.dirichlet(np.full(topics, 3.0), size=len(period))}
        model.level_topic_sd_ = {"period": np.full((len(period), topics), 0.01)}
    return model
