"""Python on pages without prompts runs as it stands: short chains, and small data where it reads.

A page is run from its first block to its last. Folders and variables that the text around a block
takes for granted (``my-corpus``, a fitted ``model``) are there; `SCNTM` makes a few iterations of
few topics, whatever the page asks for.
"""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_page_examples import blocks

import citeweave
from citeweave import SCNTM, Corpus, simulate

SHORT = {"iterations": 6, "network_from": 2, "burst_from": 3, "chains": 1, "exactly": True}
PAGES = {
    "start/index.md": (),
    "how-to/categories.md": (),
    "how-to/exploration.md": (),
    "how-to/maps.md": (),
    "how-to/number-of-topics.md": (),
    "how-to/pictures.md": ("matplotlib",),
    "how-to/report.md": (),
    "how-to/update.md": (),
    "understand/authors.md": (),
}
"""Pages, and the packages of extras that their code needs."""


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    drawn = simulate(
        documents=60, vocabulary=50, topics=3, authors=9, categories=3, citations=150, seed=3
    ).corpus
    words = [drawn.words(d) for d in range(drawn.n_documents)]
    return Corpus.from_lists(
        tokens=words,
        authors=[drawn.authors(d) for d in range(drawn.n_documents)],
        categories=[f"area {c}" for c in drawn.categories.tolist()],
        citations=drawn.citations.tolist(),
        titles=[f"On {row[0]} and {row[-1]}" for row in words],
        ids=[f"paper {d}" for d in range(drawn.n_documents)],
        metadata={"year": (2000 + np.arange(drawn.n_documents) % 8).tolist()},
    )


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> SCNTM:
    return SCNTM(topics=4, seed=1, **SHORT).fit(corpus)


@pytest.fixture(scope="module")
def shelf(corpus: Corpus, model: SCNTM, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the corpora and runs that pages name."""
    folder = tmp_path_factory.mktemp("pages")
    for name in ("my-corpus", "new-corpus"):
        corpus.save(folder / name)
    for name in ("citeweave-demo", "my-run", "RUN"):
        model.save(folder / name)
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_code_of_a_page_runs(
    page: str,
    corpus: Corpus,
    model: SCNTM,
    shelf: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for package in PAGES[page]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}: pip install '.[plot]'")
    folder = tmp_path / "here"
    shutil.copytree(shelf, folder)
    monkeypatch.chdir(folder)
    whole = SCNTM.fit

    def short(self: SCNTM, data: Any, **options: Any) -> SCNTM:
        self.set_params(**SHORT, topics=min(self.topics, 4), seed=1)
        return whole(self, data, **options)

    monkeypatch.setattr(SCNTM, "fit", short)
    names: dict[str, Any] = {"corpus": corpus, "model": model, "citeweave": citeweave}
    found = blocks(page)
    assert found, page
    for block in found:
        exec(compile(block, page, "exec"), names)  # noqa: S102 (the page's own code)
