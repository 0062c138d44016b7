"""Papers that several authors share: long-run frequencies against the listed posterior."""

import numpy as np
import pytest

from citeweave.engines.core.authors import author_sweep
from citeweave.engines.core.exponent import rebuild_exponent
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.spec import preset
from citeweave.engines.dense.citations import citation_sweep
from citeweave.engines.dense.words import word_sweep
from reference.authors import AuthorPosterior, make_author_runner, run_authors
from reference.mutants import mutant
from reference.run import frequencies, total_variation
from reference.tiny import tiny_chain

RUN = make_author_runner(word_sweep, citation_sweep, rebuild_exponent, author_sweep)
SWEEPS = 200_000
ALLOWED = (0.025, 0.035)
"""Total variation of who serves, and of the whole topic side."""

CASES = {
    "two authors, one of them alone on another paper": (
        "scntm",
        {
            "documents": ((0, 0), (1,)),
            "groups": (0, 1),
            "servers": ((0, 1), ()),
            "scale": 4.0,
        },
    ),
    "two papers share an author": (
        "scntm",
        {"documents": ((0,), (1,)), "groups": (0, 1), "servers": ((0, 1), (1, 2)), "scale": 3.0},
    ),
    "three authors, text alone": (
        "cntm-text",
        {"documents": ((0, 0, 1),), "groups": (0,), "servers": ((0, 1, 2),), "citations": ()},
    ),
}


def new_chain(case, **more):
    model, corpus = CASES[case]
    return tiny_chain(preset(model).with_all_authors(), **corpus, **more)


def distances(chain, runner, sweeps):
    """Total variation of tables served and servers, and of the whole topic side."""
    exact = AuthorPosterior(chain).distribution()
    seen = frequencies(run_authors(chain, runner, sweeps))
    width = chain.state.assignments.served.size + chain.n_documents
    return (
        total_variation(_last(exact, width), _last(seen, width)),
        total_variation(exact, seen),
    )


def _last(distribution, width):
    out = {}
    for key, weight in distribution.items():
        out[key[-width:]] = out.get(key[-width:], 0.0) + weight
    return out


@pytest.mark.parametrize("case", CASES)
def test_frequencies_match_the_posterior(case):
    chain = new_chain(case)
    found = distances(chain, RUN, SWEEPS)
    check_state(chain.spec, chain.layout, chain.state)
    assert np.all(np.array(found) < ALLOWED), found


@pytest.fixture(scope="module")
def copied():
    with mutant(None) as copy:
        return make_author_runner(
            copy["words"].word_sweep,
            copy["citations"].citation_sweep,
            copy["exponent"].rebuild_exponent,
            copy["authors"].author_sweep,
        )


def far(mistake, copied):
    """Give how far the copy is from the posterior, in what the sampler itself is allowed."""
    with mutant(mistake) as copy:
        found = distances(new_chain("two papers share an author", modules=copy), copied, 100_000)
    return np.max(np.array(found) / ALLOWED)


@pytest.mark.long
def test_the_copy_is_right_where_no_mistake_is_made(copied):
    assert far(None, copied) < 2.5


@pytest.mark.long
@pytest.mark.parametrize(
    "mistake",
    [
        "held tables block others",
        "a new table without its author's contribution",
        "authors are drawn without their contributions",
        "authors without the exponential",
        "servers without the exponential",
    ],
)
def test_enumeration_catches(mistake, copied):
    assert far(mistake, copied) > 2.0
