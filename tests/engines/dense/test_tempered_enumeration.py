"""Words that weigh less than in full: long-run frequencies against the listed posterior."""

from dataclasses import replace

import pytest
from test_enumeration import RUN, distances

from citeweave.engines.core.spec import preset
from reference.tiny import tiny_chain

ALLOWED = (0.012, 0.035, 0.025)
"""Total variation of assignments alone, and of assignments with each side's tables."""

CASES = {
    "two papers of one author": ("scntm", 0.5, {}),
    "words that move together": (
        "scntm",
        0.25,
        {"documents": ((0, 0), (0, 0)), "scale": 3.0},
    ),
    "two citations and an empty paper": (
        "scntm",
        0.125,
        {
            "documents": ((0, 0), (1,), ()),
            "groups": (0, 0, 1),
            "citations": ((0, 1), (2, 0)),
        },
    ),
    "words choose their author": ("np-atm", 0.3, {"groups": (0, 0)}),
}


@pytest.mark.parametrize("case", CASES)
def test_frequencies_match_the_posterior(case):
    model, weight, corpus = CASES[case]
    found = distances(tiny_chain(replace(preset(model), word_weight=weight), **corpus), RUN)
    assert all(one < most for one, most in zip(found, ALLOWED, strict=True)), found
