"""The page of a paper that was told its label: the reasons are there."""

import numpy as np
from calling import open_client

from citeweave import SCNTM
from citeweave.corpus import Corpus

KIND = np.arange(36) % 3


def test_the_page_of_a_paper_says_why():
    rng = np.random.default_rng(5)
    corpus = Corpus.from_lists(
        tokens=[[f"w{k}-{w}" for w in rng.integers(0, 12, 15)] for k in KIND],
        citations=[(d, (d + 3 * step) % 36) for d in range(36) for step in (1, 4)],
        authors=[[f"author {k}-{d % 4}"] for d, k in enumerate(KIND)],
        categories=[f"kind {KIND[d]}" if d < 15 else None for d in range(36)],
    )
    options = {"iterations": 20, "exactly": True, "seed": 2, "chains": 2}
    client = open_client(SCNTM(topics=6, labels="some", **options).fit(corpus))
    page = client.get("/papers/20")
    assert page.status_code == 200
    assert "Why kind 2" in page.text
    assert "Log odds relative to the average category: words" in page.text
    assert "Words: w2-" in page.text
    assert "Linked papers: <a href=" in page.text
    assert "Other papers by <a href=" in page.text
    told = client.get("/api/papers/20").json()["drawn_categories"][0]
    assert set(told["odds"]) == {"words", "citations", "authors", "topics", "share"}
