"""Papers drawn into categories: long-run frequencies against the listed posterior."""

import numpy as np
import pytest

from citeweave.engines.core.exponent import rebuild_exponent
from citeweave.engines.core.spec import preset
from citeweave.engines.dense.categories import category_sweep
from citeweave.engines.dense.citations import citation_sweep
from citeweave.engines.dense.words import word_sweep
from reference.categories import CategoryPosterior, make_category_runner, run_categories
from reference.mutants import mutant
from reference.run import frequencies, total_variation
from reference.tiny import tiny_chain

RUN = make_category_runner(word_sweep, citation_sweep, rebuild_exponent, category_sweep)
SWEEPS = 400_000
ALLOWED = (0.01, 0.03)
"""Total variation of categories alone, and of the whole topic side."""

TWO = {"documents": ((0, 0), (1,)), "groups": (0, 1), "unlabelled": (0, 1)}
LABELLED = {
    "documents": ((0,), (1,), (0,)),
    "groups": (0, 1, 0),
    "citations": ((0, 1), (2, 1)),
    "unlabelled": (1, 2),
}
CASES = {
    "a citation": ("scntm", TWO | {"scale": 4.0}),
    "a label is known, citations": ("scntm", LABELLED | {"scale": 3.0}),
    "text alone": ("cntm-text", TWO | {"documents": ((0, 0), (1, 1))}),
}


def distances(chain, runner, sweeps):
    """Total variation of categories, and of assignments, categories and tables."""
    exact = CategoryPosterior(chain).distribution()
    seen = frequencies(run_categories(chain, runner, sweeps))
    first = len(chain.layout.word)
    first += len(chain.layout.citing) if chain.spec.citations else 0
    papers = slice(first, first + chain.n_documents)
    return (
        total_variation(_of_papers(exact, papers), _of_papers(seen, papers)),
        total_variation(exact, seen),
    )


def _of_papers(distribution, papers):
    out = {}
    for key, weight in distribution.items():
        out[key[papers]] = out.get(key[papers], 0.0) + weight
    return out


def new_chain(case, **more):
    model, corpus = CASES[case]
    return tiny_chain(preset(model).with_categories(), **corpus, **more)


@pytest.mark.parametrize("case", CASES)
def test_frequencies_match_the_posterior(case):
    found = distances(new_chain(case), RUN, SWEEPS)
    assert np.all(np.array(found) < ALLOWED), found


@pytest.fixture(scope="module")
def copied():
    with mutant(None) as copy:
        return make_category_runner(
            copy["words"].word_sweep,
            copy["citations"].citation_sweep,
            copy["exponent"].rebuild_exponent,
            copy["categories"].category_sweep,
        )


def far(mistake, copied):
    """Give how far the copy is from the posterior, in what the sampler itself is allowed."""
    with mutant(mistake) as copy:
        found = distances(new_chain("a citation", modules=copy), copied, 100_000)
    return np.max(np.array(found) / ALLOWED)


@pytest.mark.long
def test_the_copy_is_right_where_no_mistake_is_made(copied):
    assert far(None, copied) < 2.0


@pytest.mark.long
@pytest.mark.parametrize(
    "mistake",
    [
        "categories without Metropolis-Hastings",
        "categories without the chance of their proposal",
        "categories without their prior",
        "categories without the exponential",
    ],
)
def test_enumeration_catches(mistake, copied):
    assert far(mistake, copied) > 2.5
