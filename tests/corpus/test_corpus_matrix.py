"""Corpora from matrices of counts, against the same corpora from lists."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner

from citeweave.cli.main import app
from citeweave.cli.sources import open_sources
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError

COUNTS = np.array([[1, 0, 2], [0, 3, 0], [0, 0, 0], [1, 1, 1]])
WORDS = ["topic", "soil", "model"]
AUTHORS = [["Ann Lee"], ["Bo Chen", "Ann Lee"], None, []]
CATEGORIES = ["text", None, "earth", "text"]
PAIRS = [(1, 0), (3, 1), (3, 3), (1, 0)]
MORE = {"vocabulary": WORDS, "authors": AUTHORS, "categories": CATEGORIES, "citations": PAIRS}


def by_lists(**more):
    """The same corpus, its words written out by plain loops."""
    tokens = [
        [word for word, times in enumerate(row) for _ in range(times)] for row in COUNTS.tolist()
    ]
    return Corpus.from_lists(tokens=tokens, **{**MORE, **more})


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_matrices_of_every_format(form, kind):
    corpus = Corpus.from_matrix(kind(COUNTS).asformat(form), **MORE)
    assert corpus.fingerprint == by_lists().fingerprint
    assert corpus.report == by_lists().report


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "float64", "bool"])
def test_dense_matrices_of_every_type(dtype):
    counts = COUNTS.astype(dtype)
    corpus = Corpus.from_matrix(counts, vocabulary=WORDS)
    assert np.array_equal(np.diff(corpus.offsets), counts.astype(int).sum(axis=1))
    bags = [
        np.bincount(corpus.tokens[a:b], minlength=3)
        for a, b in zip(corpus.offsets, corpus.offsets[1:], strict=False)
    ]
    assert np.array_equal(bags, counts.astype(int))


def test_entries_that_repeat_are_summed_and_the_matrix_is_left_alone():
    counts = sparse.coo_array(([1, 2, 0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    corpus = Corpus.from_matrix(counts)
    assert corpus.words(0) == ["w1"] * 3
    assert corpus.words(1) == []
    assert counts.nnz == 3


def test_citations_as_a_square_matrix():
    square = np.zeros((4, 4), int)
    for citing, cited in PAIRS:
        square[citing, cited] = 1
    pairs = sorted({pair for pair in PAIRS if pair[0] != pair[1]})
    for citations in (square, sparse.csc_array(square)):
        corpus = Corpus.from_matrix(COUNTS, citations=citations)
        assert corpus.citations.tolist() == [list(pair) for pair in pairs]
        assert corpus.report.self_citations == 1
    with pytest.raises(CorpusError, match="4 in total"):
        Corpus.from_matrix(COUNTS, citations=sparse.eye_array(3))


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ([[0.5, 1]], "document 0, word 0 has 0.5.*TF-IDF"),
        ([[1, 2], [3, -1]], "document 1, word 1 has -1"),
        ([[1, float("nan")]], "word 1 has nan"),
        ([[1e300]], "sum to"),
        ([1, 2], "shape"),
        ([["a"]], "numbers"),
        ([[1j]], "numbers"),
        (np.zeros((0, 3)), "at least one document"),
        ([[1, 2], [3]], "matrix"),
        (5, "matrix"),
        (sparse.csr_array([[1j]]), "numbers"),
    ],
)
def test_what_is_no_count_is_refused(counts, told):
    with pytest.raises(CorpusError, match=told):
        Corpus.from_matrix(counts)
    with pytest.raises(CorpusError, match="3 in total"):
        Corpus.from_matrix(COUNTS, vocabulary=["a"])


class Frame:
    """As little of a data frame as is used: index, columns, columns by name."""

    def __init__(self, index, **columns):
        self.index, self.columns, self._columns = index, list(columns), columns

    def __getitem__(self, name):
        return self._columns[name]


def annotated(**more):
    obs = Frame(
        ["c1", "c2", "c3", "c4"],
        kind=["text", float("nan"), "earth", "text"],
        who=["Ann Lee", "Bo Chen; Ann Lee", None, ""],
        year=np.array([2014, 2016, 2016, 2020]),
        score=[1, 0.5, float("nan"), 2],
        title=["A", "B", None, "D"],
    )
    return SimpleNamespace(X=sparse.csr_matrix(COUNTS), obs=obs, var=Frame(WORDS), **more)


def test_objects_like_anndata():
    links = sparse.csr_array((np.ones(4, int), tuple(zip(*PAIRS, strict=True))), shape=(4, 4))
    corpus = Corpus.from_matrix(
        annotated(obsp={"cites": links}), categories="kind", authors="who", citations="cites"
    )
    expected = by_lists(
        ids=["c1", "c2", "c3", "c4"],
        titles=["A", "B", None, "D"],
        metadata={"year": [2014, 2016, 2016, 2020], "score": [1.0, 0.5, None, 2.0]},
    )
    assert corpus.fingerprint == expected.fingerprint
    with pytest.raises(CorpusError, match=r"not a column of obs\. Its columns: kind, who"):
        Corpus.from_matrix(annotated(), categories="cell_type")
    with pytest.raises(CorpusError, match="not a matrix in obsp"):
        Corpus.from_matrix(annotated(obsp={}), citations="knn")


def test_data_frames():
    frame = Frame(["a", "b", "c", "d"], **dict.fromkeys(WORDS))
    frame.to_numpy = lambda: COUNTS
    corpus = Corpus.from_matrix(frame)
    assert corpus.ids == ["a", "b", "c", "d"]
    assert corpus.vocabulary == WORDS


def test_files_of_arrays(tmp_path):
    path = tmp_path / "counts.npz"
    sparse.save_npz(path, sparse.csr_array(COUNTS))
    assert Corpus.from_matrix(path, **MORE).fingerprint == by_lists().fingerprint
    np.savez(
        path,
        counts=COUNTS,
        vocabulary=WORDS,
        authors=["Ann Lee", "Bo Chen; Ann Lee", "", ""],
        citations=np.array(PAIRS),
        year=[2014, 2016, 2016, 2020],
    )
    expected = by_lists(categories=None, metadata={"year": [2014, 2016, 2016, 2020]})
    assert Corpus.from_matrix(str(path)).fingerprint == expected.fingerprint


def test_files_that_are_refused(tmp_path):
    path = tmp_path / "counts.npz"
    np.savez(path, counts=COUNTS, authors=np.array([["a"], None, None, None], dtype=object))
    with pytest.raises(CorpusError, match="never loaded"):
        Corpus.from_matrix(path)
    np.savez(path, other=COUNTS)
    with pytest.raises(CorpusError, match=r"no counts.*other"):
        Corpus.from_matrix(path)
    np.savez(path, counts=COUNTS, year=[1, 2])
    with pytest.raises(CorpusError, match=r"'year'.*4 documents"):
        Corpus.from_matrix(path)
    whole = path.read_bytes()
    for size in (0, 10, 100, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:size])
        with pytest.raises(CorpusError, match=r"counts\.npz"):
            Corpus.from_matrix(path)
    with pytest.raises(CorpusError, match="no such file"):
        Corpus.from_matrix(tmp_path / "missing.npz")
    wrong = {"data": [1], "indices": [99], "indptr": [0, 1], "shape": [1, 2], "format": b"csr"}
    np.savez(path, **wrong)
    with pytest.raises(CorpusError):
        Corpus.from_matrix(path)


def test_the_command_line_takes_a_matrix(tmp_path):
    path, place = tmp_path / "counts.npz", tmp_path / "corpus"
    np.savez(path, counts=COUNTS, vocabulary=WORDS)
    runner = CliRunner()
    result = runner.invoke(app, ["import", str(path), "--out", str(place)])
    assert result.exit_code == 0, result.output
    assert Corpus.load(place).vocabulary == WORDS
    result = runner.invoke(app, ["import", str(path), str(path), "--out", str(tmp_path / "x")])
    assert result.exit_code != 0
    assert "must be the only file" in result.stderr


def test_a_matrix_or_a_data_set_beside_other_sources_is_told(tmp_path):
    path = tmp_path / "counts.npz"
    np.savez(path, counts=COUNTS)
    with pytest.raises(CorpusError, match="must be given alone"):
        open_sources([str(path), str(tmp_path)], None)
    with pytest.raises(CorpusError, match=r"'cora' is a data set.*'60'"):
        open_sources(["cora", "60"], None)
    assert open_sources([str(path)], None).n_documents == 4
