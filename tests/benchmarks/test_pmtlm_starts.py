"""PMTLM from random topics, from clusters and from the true classes, on a planted corpus."""

from benchmarks.pmtlm_starts import CLASSES, CLUSTERS, RANDOM, compare

from citeweave.baselines import PMTLM
from citeweave.evaluate import nmi
from reference.planted import planted_corpus


def test_a_row_for_each_start():
    corpus = planted_corpus(groups=3, size=30, focus=0.4, inside=4.0, seed=2)
    rows = list(compare(corpus, alpha=0.5, corrected=True, restarts=2, iterations=30))
    assert [row.start for row in rows] == [RANDOM, CLUSTERS, CLASSES]
    model = PMTLM(topics=3, restarts=2, iterations=30, start="clusters", seed=0).fit(corpus)
    assert rows[1].search == model.facts_["refined_log_likelihood"]
    assert rows[1].log_likelihood == model.log_likelihoods_.max()
    assert rows[1].nmi == nmi(model.labels_, corpus.categories)
    # planted classes are likely, so the search stays near where it began
    assert rows[2].nmi > 0.8
    assert rows[2].search > rows[0].search - 10
