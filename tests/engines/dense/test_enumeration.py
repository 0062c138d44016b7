"""Long-run frequencies of the sampler against the listed posterior (DESIGN 4)."""

import pytest

from citeweave.engines.core.exponent import rebuild_exponent
from citeweave.engines.core.spec import preset
from citeweave.engines.dense.citations import citation_sweep
from citeweave.engines.dense.words import word_sweep
from reference.posterior import TinyPosterior
from reference.run import frequencies, make_runner, marginal, run_chain, total_variation
from reference.tiny import tiny_chain

RUN = make_runner(word_sweep, citation_sweep, rebuild_exponent)
SWEEPS = 600_000


def distances(chain, runner, sweeps=SWEEPS):
    """Total variation of assignments alone, and of assignments with each side's tables."""
    topic_exact, word_exact = TinyPosterior(chain).distribution()
    topic_rows, word_rows = run_chain(chain, runner, sweeps)
    topic_seen, word_seen = frequencies(topic_rows), frequencies(word_rows)
    width = len(chain.layout.word) + len(chain.state.assignments.path)
    width += len(chain.layout.citing) if chain.spec.citations else 0
    return (
        total_variation(marginal(topic_exact, width), marginal(topic_seen, width)),
        total_variation(topic_exact, topic_seen),
        total_variation(word_exact, word_seen),
    )


CASES = {
    "scntm, two papers of one author": ("scntm", {}),
    "scntm, two authors": ("scntm", {"groups": (0, 1)}),
    "scntm, two citations and an empty paper": (
        "scntm",
        {
            "documents": ((0, 0), (1,), ()),
            "groups": (0, 0, 1),
            "citations": ((0, 1), (2, 0)),
        },
    ),
    "scntm, words that move together": ("scntm", {"documents": ((0, 0), (0, 0)), "scale": 3.0}),
    "cntm-text": ("cntm-text", {}),
    "bursty-hdp-lda": ("bursty-hdp-lda", {}),
    "bursty-hdp-lda, room for new topics": (
        "bursty-hdp-lda",
        {"topics": 4, "documents": ((0, 0), (0, 1))},
    ),
    "np-atm": ("np-atm", {"groups": (0, 0)}),
    "no burstiness, no background": (preset("cntm-text").without("phi'", "gamma"), {}),
}


@pytest.mark.parametrize("case", CASES)
def test_frequencies_match_the_posterior(case):
    spec, corpus = CASES[case]
    assignments, topic_side, word_side = distances(tiny_chain(spec, **corpus), RUN)
    assert assignments < 0.012
    assert topic_side < 0.035
    assert word_side < 0.025
