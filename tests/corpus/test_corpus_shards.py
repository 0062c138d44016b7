"""A corpus of shards is the same corpus: arrays, strings, fingerprint, and what is damaged."""

import dataclasses
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from citeweave.corpus import Corpus, storage
from citeweave.corpus.sharded import ShardColumn, ShardedCorpus
from citeweave.errors import CorpusError, ParameterError


def made(documents=23, seed=3):
    rng = np.random.default_rng(seed)
    words = [f"word{i}" for i in range(40)]
    return Corpus.from_lists(
        tokens=[list(rng.choice(words, size=rng.integers(0, 9))) for _ in range(documents)],
        vocabulary=words,
        authors=[
            [f"A{a}" for a in rng.integers(0, 9, size=rng.integers(0, 4))] for _ in range(documents)
        ],
        categories=[["x", "y", None][i % 3] for i in range(documents)],
        citations=np.unique(rng.integers(0, documents, size=(60, 2)), axis=0),
        titles=[None if i % 5 == 1 else f"Title {i}" for i in range(documents)],
        ids=[f"W{i}" for i in range(documents)],
        # the first shards have no year and no keywords at all: the type must not depend on that
        metadata={
            "year": [None] * 12 + list(range(2000, 2000 + documents - 12)),
            "keywords": [None] * 12 + [["a", "b"]] * (documents - 12),
        },
        preparation={"lower": True},
    )


def assert_same(left, right):
    for name, dtype in storage.ARRAYS.items():
        assert getattr(left, name).dtype == dtype
        assert not getattr(left, name).flags.writeable
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
    for name in ("vocabulary", "author_names", "category_names", "ids", "titles", "report"):
        assert getattr(left, name) == getattr(right, name)
    assert {n: list(c) for n, c in left.metadata.items()} == {
        n: list(c) for n, c in right.metadata.items()
    }
    assert left.fingerprint == right.fingerprint
    assert left.preparation == right.preparation


@pytest.mark.parametrize("size", [1, 5, 23, 100])
def test_shards_are_the_same_corpus(tmp_path, size):
    corpus = made()
    loaded = Corpus.load(corpus.save(tmp_path / "shards", shard=size))
    assert isinstance(loaded, ShardedCorpus)
    assert len(loaded.shards) == -(-23 // size)
    assert (loaded.n_documents, loaded.n_tokens, loaded.n_citations) == (
        corpus.n_documents,
        corpus.n_tokens,
        corpus.n_citations,
    )
    assert "tokens" not in loaded.__dict__, "sizes need no array"
    assert loaded.summary() == pytest.approx(corpus.summary())
    assert "tokens" not in loaded.__dict__, "figures go through shards one by one"
    assert loaded.verify() == corpus.fingerprint
    assert_same(loaded, corpus)


def test_there_and_back(tmp_path):
    corpus = made()
    loaded = Corpus.load(corpus.save(tmp_path / "shards", shard=4))
    whole = Corpus.load(loaded.save(tmp_path / "whole"))
    assert type(whole) is Corpus
    assert_same(whole, corpus)
    again = Corpus.load(whole.save(tmp_path / "again", shard=9))
    assert_same(again, corpus)


def test_the_fingerprint_of_files_is_that_of_the_contents(tmp_path):
    corpus = made()
    folder = corpus.save(tmp_path / "shards", shard=4)
    loaded = Corpus.load(folder)
    assert loaded._compute_fingerprint() == corpus._compute_fingerprint()


def test_one_shard_at_a_time_is_in_memory(tmp_path):
    corpus = made()
    shards = Corpus.load(corpus.save(tmp_path / "shards", shard=4)).shards
    for name in ("tokens", "offsets"):
        found = []
        for block in shards.blocks(name, keep=False):
            assert sum(bool(shards.arrays(n)._read) for n in range(len(shards))) <= 1
            found.append(block)
        assert np.array_equal(np.concatenate(found), getattr(corpus, name))
        assert not any(shards.arrays(n)._read for n in range(len(shards)))


def test_columns_are_read_shard_by_shard(tmp_path, monkeypatch):
    corpus = made()
    loaded = Corpus.load(corpus.save(tmp_path / "shards", shard=5))
    read = []
    plain = type(loaded.text).read
    monkeypatch.setattr(
        type(loaded.text), "read", lambda self, n, name: read.append(n) or plain(self, n, name)
    )
    titles = loaded.titles
    assert isinstance(titles, ShardColumn)
    assert titles[22] == "Title 22"
    assert titles[-1] == "Title 22"
    assert titles[20:23] == ["Title 20", None, "Title 22"]
    assert read == [4]
    assert titles.index("Title 7") == 7
    assert "Title 22" in titles
    assert loaded.subset([21, 3, 20]).titles == [None, "Title 3", "Title 20"]
    with pytest.raises(IndexError, match="no document 23"):
        titles[23]


def test_parts_and_copies(tmp_path):
    corpus = made()
    loaded = Corpus.load(corpus.save(tmp_path / "shards", shard=5))
    assert_same(loaded.subset([3, 17, 4]), corpus.subset([3, 17, 4]))
    split, plain = loaded.split(seed=1), corpus.split(seed=1)
    assert_same(split.train, plain.train)
    fewer = dataclasses.replace(loaded, citations=loaded.citations[:3], _stored_fingerprint=None)
    assert fewer.n_citations == 3
    assert fewer.fingerprint != loaded.fingerprint
    assert_same(pickle.loads(pickle.dumps(Corpus.load(tmp_path / "shards"))), corpus)  # noqa: S301


def test_earlier_releases_are_told(tmp_path):
    folder = made().save(tmp_path / "shards", shard=5)
    assert json.loads((folder / "manifest.json").read_text())["version"] == 2
    whole = made().save(tmp_path / "whole")
    assert json.loads((whole / "manifest.json").read_text())["version"] == 1


def change_first_byte(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("file", ["arrays/tokens.npy", "arrays/citations.npy"])
def test_damaged_arrays_are_found(tmp_path, file):
    folder = made().save(tmp_path / "shards", shard=5)
    change_first_byte(folder / "shards" / "00001" / file)
    loaded = Corpus.load(folder)
    assert loaded.shards.arrays(0)[Path(file).stem].ndim >= 1
    assert loaded.offsets[-1] == loaded.n_tokens  # what is not asked for is not read
    with pytest.raises(CorpusError, match=r"00001.*is damaged"):
        getattr(loaded, Path(file).stem)


def test_damaged_and_missing_tables_are_found(tmp_path):
    folder = made().save(tmp_path / "shards", shard=5)
    loaded = Corpus.load(folder)
    change_first_byte(folder / "shards" / "00002" / "documents.parquet")
    assert loaded.titles[0] == "Title 0"
    with pytest.raises(CorpusError, match=r"00002.*is damaged"):
        list(loaded.titles)
    (folder / "shards" / "00003" / "documents.parquet").unlink()
    with pytest.raises(CorpusError, match="is missing"):
        loaded.titles[17]


def test_ids_out_of_range_are_found_without_checksums(tmp_path):
    folder = made().save(tmp_path / "shards", shard=5)
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["files"], manifest["checksum"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    path = folder / "shards" / "00001" / "arrays" / "tokens.npy"
    tokens = np.load(path)
    np.save(path, np.full_like(tokens, 40))
    with pytest.raises(CorpusError, match="00001' are damaged: The word id"):
        _ = Corpus.load(folder).tokens


def test_a_damaged_manifest_is_told(tmp_path):
    folder = made().save(tmp_path / "shards", shard=5)
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["checksum"]
    manifest["shards"][0]["tokens"] += 1
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CorpusError, match="shards do not sum to tokens"):
        Corpus.load(folder)


@pytest.mark.parametrize("size", [0, -1, 2.5, True])
def test_wrong_sizes(tmp_path, size):
    with pytest.raises(ParameterError, match="number of documents of at least 1"):
        made().save(tmp_path / "shards", shard=size)


def test_fitting_needs_no_polars(tmp_path):
    folder = made().save(tmp_path / "shards", shard=5)
    code = (
        "import sys; sys.modules['polars'] = None\n"
        "from citeweave.corpus import Corpus\n"
        f"print(Corpus.load({str(folder)!r}).tokens.sum())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == made().tokens.sum()
