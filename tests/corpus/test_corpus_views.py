"""Subsets, splits, summaries and how a corpus shows itself."""

import os
from pathlib import Path

import numpy as np
import pytest

from citeweave.corpus import Corpus, CorpusReport
from citeweave.errors import CorpusError, ParameterError


def random_corpus(documents=60, citations=400, seed=3):
    rng = np.random.default_rng(seed)
    return Corpus.from_lists(
        tokens=[rng.integers(0, 30, rng.poisson(4)) for _ in range(documents)],
        vocabulary=[f"v{i}" for i in range(30)],
        authors=[
            [f"A{i}" for i in rng.integers(0, 9, rng.integers(0, 3))] for _ in range(documents)
        ],
        categories=[None if i % 7 == 0 else f"c{i % 3}" for i in range(documents)],
        citations=rng.integers(0, documents, (citations, 2)),
        ids=[f"p{i}" for i in range(documents)],
        titles=[f"title {i}" for i in range(documents)],
        metadata={"year": list(range(documents))},
    )


def test_subset_keeps_documents_whole():
    corpus = random_corpus()
    index = [5, 0, 41]
    part = corpus.subset(index)
    assert part.ids == ["p5", "p0", "p41"]
    assert part.metadata["year"] == index
    assert part.vocabulary is corpus.vocabulary
    for new, old in enumerate(index):
        assert part.words(new) == corpus.words(old)
        assert part.authors(new) == corpus.authors(old)
        assert part.categories[new] == corpus.categories[old]
    old_pairs = set(map(tuple, corpus.citations.tolist()))
    expected = {(a, b) for a in range(3) for b in range(3) if (index[a], index[b]) in old_pairs}
    assert set(map(tuple, part.citations.tolist())) == expected
    assert part.report.outside_citations == corpus.n_citations - len(expected)


def test_a_subset_of_all_is_the_corpus():
    corpus = random_corpus()
    assert corpus.subset(np.arange(60)).fingerprint == corpus.fingerprint
    assert corpus.subset(np.ones(60, dtype=bool)).fingerprint == corpus.fingerprint


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ([], "non-empty"),
        ([60], "Position 60"),
        ([-1], "Position -1"),
        ([1, 2, 1], "Position 1 occurs more than once"),
        ([True, False], "mask with one entry"),
        ([0.5], "document positions"),
    ],
)
def test_bad_subsets_are_refused(index, text):
    with pytest.raises(CorpusError, match=text):
        random_corpus().subset(index)


def test_split_is_a_partition_that_loses_no_citation():
    corpus = random_corpus()
    split = corpus.split(test=0.25, seed=4)
    assert len(split.test_index) == 15
    both = np.concatenate([split.train_index, split.test_index])
    assert sorted(both.tolist()) == list(range(60))
    train, test = split.train_index, split.test_index
    pairs = [
        np.stack([train[split.train.citations[:, 0]], train[split.train.citations[:, 1]]], axis=1),
        np.stack([test[split.test.citations[:, 0]], test[split.test.citations[:, 1]]], axis=1),
        np.stack([test[split.links.citing[:, 0]], train[split.links.citing[:, 1]]], axis=1),
        np.stack([train[split.links.cited[:, 1]], test[split.links.cited[:, 0]]], axis=1),
    ]
    assert min(map(len, pairs)) > 0
    together = sorted(map(tuple, np.concatenate(pairs).tolist()))
    assert together == [tuple(row) for row in corpus.citations.tolist()]
    assert split.train.ids == [f"p{i}" for i in train]
    assert split.train.vocabulary_size == split.test.vocabulary_size == 30


def test_split_depends_on_the_seed_alone():
    corpus = random_corpus()
    assert corpus.split(seed=1).test.fingerprint == corpus.split(seed=1).test.fingerprint
    assert corpus.split(seed=1).test_index.tolist() != corpus.split(seed=2).test_index.tolist()


@pytest.mark.parametrize("test", [0, 1, -0.1, "a", True, float("nan")])
def test_bad_shares_are_refused(test):
    with pytest.raises(ParameterError, match="The 'test' parameter of split must be"):
        random_corpus().split(test=test)


def test_bad_splits_are_refused():
    with pytest.raises(ParameterError, match="The 'seed' parameter of split must be"):
        random_corpus().split(seed=-1)
    with pytest.raises(CorpusError, match="one document cannot be split"):
        Corpus.from_lists(tokens=[["a"]]).split()
    assert Corpus.from_lists(tokens=[["a"], ["b"]]).split().test.n_documents == 1


def test_summary_by_hand():
    corpus = Corpus.from_lists(
        tokens=[["a", "a", "b", "c"], ["d", "d", "d"], []],
        vocabulary=["a", "b", "c", "d", "e"],
        authors=[["X"], [], ["X", "Y"]],
        citations=[(0, 1)],
    )
    summary = corpus.summary()
    assert summary["percent_repeat"] == pytest.approx((100 / 3 + 100) / 2)
    assert summary["words_per_document"] == pytest.approx(7 / 3)
    assert (summary["vocabulary"], summary["vocabulary_used"]) == (5, 4)
    assert (summary["authors"], summary["citations"]) == (2, 1)
    assert summary["documents_without_words"] == 1
    assert summary["documents_without_authors"] == 1
    assert summary["documents_without_category"] == 3
    assert summary["documents_without_citations"] == 1


def test_report_round_trip_and_unknown_entries():
    report = random_corpus().report
    assert CorpusReport.from_dict(report.as_dict()) == report
    with pytest.raises(CorpusError, match="cannot contain 'x'"):
        CorpusReport.from_dict({"x": 1})


@pytest.mark.parametrize("position", [-1, 60])
def test_positions_outside_are_refused(position):
    corpus = random_corpus()
    with pytest.raises(CorpusError, match=f"no document {position}; positions range from 0 to 59"):
        corpus.words(position)
    with pytest.raises(CorpusError, match=f"no document {position}"):
        corpus.authors(position)


def test_html_is_escaped():
    corpus = Corpus.from_lists(tokens=[["a"]], titles=["<script>x</script>"], ids=["<i>"])
    page = corpus._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "&lt;i&gt;" in page
    assert "1 document<" in page


def test_cora_has_its_known_counts():
    folder = os.environ.get("CITEWEAVE_DATA")
    archive = Path(folder or ".") / "linqs" / "cora.tgz"
    if not folder or not archive.exists():
        pytest.skip("CITEWEAVE_DATA does not name a folder with linqs/cora.tgz")
    import tarfile

    with tarfile.open(archive) as tar:
        files = {Path(m.name).suffix: tar.extractfile(m) for m in tar.getmembers() if m.isfile()}
        content = [line.split() for line in files[".content"].read().decode().splitlines()]
        cites = [line.split() for line in files[".cites"].read().decode().splitlines()]
    corpus = Corpus.from_lists(
        tokens=[np.flatnonzero(np.array(row[1:-1]) == "1") for row in content],
        vocabulary=[f"w{i}" for i in range(1433)],
        categories=[row[-1] for row in content],
        ids=[row[0] for row in content],
        citations=[(citing, cited) for cited, citing in cites],
    )
    summary = corpus.summary()
    assert summary["documents"] == 2708
    assert summary["tokens"] == 49216
    assert (summary["vocabulary"], summary["vocabulary_used"]) == (1433, 1432)
    assert summary["categories"] == 7
    assert summary["citations"] == 5429
