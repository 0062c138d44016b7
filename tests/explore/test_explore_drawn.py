"""Pages and tables of papers that are drawn into categories."""

import numpy as np
import pytest

from citeweave import SCNTM
from citeweave.corpus import Corpus
from citeweave.explore import Exploration

KIND = np.arange(36) % 3


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(5)
    words = [[f"w{k}-{w}" for w in rng.integers(0, 12, 15)] for k in KIND]
    pairs = [(d, (d + 3 * step) % 36) for d in range(36) for step in (1, 4)]
    corpus = Corpus.from_lists(tokens=words, citations=pairs)
    options = {"iterations": 60, "exactly": True, "seed": 2, "chains": 1}
    return Exploration(SCNTM(topics=6, categories=3, **options).fit(corpus))


def test_a_paper_has_its_categories_with_reasons(drawn):
    page = drawn.paper(4)
    likeliest = page.drawn_categories[0]
    assert likeliest.category == drawn.model.category_[4]
    assert likeliest.name == f"category {likeliest.category}"
    assert likeliest.probability == pytest.approx(drawn.model.category_probability_[4].max())
    assert likeliest.linked == 4  # two that it cites and two that cite it, all of its kind
    assert likeliest.topics
    k = likeliest.topics[0].topic
    assert drawn.group_topic[likeliest.category, k] > drawn.model.topic_share_[k]


def test_the_table_of_papers_has_them(drawn):
    table = drawn.papers()
    assert set(table["drawn_category"]) <= set(drawn.groups.names)
    assert min(table["drawn_probability"]) > 1 / 3


def test_other_models_have_none(supervised):
    assert supervised.paper(0).drawn_categories == []
    assert "drawn_category" not in supervised.papers().columns
