"""The command `shard`: there and back, by what the files say."""

import dataclasses

import numpy as np
import pytest
from typer.testing import CliRunner

from citeweave.cli.main import app
from citeweave.corpus import Corpus
from citeweave.corpus.sharded import ShardedCorpus
from citeweave.runs.folder import _store_corpus


@pytest.fixture
def corpus():
    return Corpus.from_lists(
        tokens=[["a", "b"], ["b"], ["c"]],
        titles=["One", "Two", None],
        citations=[(2, 0), (1, 0)],
        metadata={"year": [2001, None, 2003]},
    )


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


def test_there_and_back(corpus, tmp_path):
    corpus.save(tmp_path / "whole")
    done = run("shard", tmp_path / "whole", "--out", tmp_path / "shards", "--size", 2)
    assert done.exit_code == 0, done.output
    assert "3 documents in 2 shards" in done.output
    shards = Corpus.load(tmp_path / "shards")
    assert isinstance(shards, ShardedCorpus)
    assert shards.fingerprint == corpus.fingerprint
    done = run("shard", tmp_path / "shards", "--out", tmp_path / "back", "--whole")
    assert done.exit_code == 0, done.output
    assert type(Corpus.load(tmp_path / "back")) is Corpus
    assert Corpus.load(tmp_path / "back").verify() == corpus.fingerprint


def test_info_and_verify_take_shards(corpus, tmp_path):
    corpus.save(tmp_path / "shards", shard=2)
    for command in ("info", "verify"):
        done = run(command, tmp_path / "shards")
        assert done.exit_code == 0, done.output
    path = tmp_path / "shards" / "shards" / "00001" / "documents.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    done = run("verify", tmp_path / "shards")
    assert done.exit_code == 2
    assert "00001/documents.parquet" in done.output


def test_an_existing_folder_is_kept(corpus, tmp_path):
    corpus.save(tmp_path / "whole")
    corpus.save(tmp_path / "taken")
    done = run("shard", tmp_path / "whole", "--out", tmp_path / "taken")
    assert done.exit_code == 2
    assert "already exists" in done.output


def test_tables_and_maps_are_those_of_the_whole(tmp_path):
    rng = np.random.default_rng(2)
    corpus = Corpus.from_lists(
        tokens=[list(rng.choice(list("abcdefgh"), size=6)) for _ in range(30)],
        authors=[[f"Ann {a}" for a in rng.integers(0, 6, size=3)] for _ in range(30)],
        citations=np.unique(rng.integers(0, 30, size=(80, 2)), axis=0),
        titles=[f"Paper {i}" for i in range(30)],
        metadata={
            "year": [1990 + i for i in range(30)],
            "institutions": [["ANU"], ["NUS", "ANU"], None] * 10,
            "countries": [["AU"], ["SG", "AU"], None] * 10,
            "venue": ["JMLR", None, "ICML"] * 10,
        },
    )
    corpus.save(tmp_path / "whole")
    corpus.save(tmp_path / "shard", shard=7)
    for command in (["authors"], ["institutions"], ["venues"], ["graph", "--kind", "co-authors"]):
        outputs = []
        for place in ("whole", "shard"):
            out = ["--out", tmp_path / f"{place}.json"] if command[0] == "graph" else ["--json"]
            done = run(command[0], tmp_path / place, *command[1:], *out)
            assert done.exit_code == 0, done.output
            file = tmp_path / f"{place}.json"
            outputs.append(file.read_text() if command[0] == "graph" else done.output)
        assert outputs[0] == outputs[1], command


def test_a_run_keeps_shards_as_they_are(corpus, tmp_path):
    corpus.save(tmp_path / "shards", shard=2)
    loaded = Corpus.load(tmp_path / "shards")
    _store_corpus(loaded, tmp_path / "copy")
    assert isinstance(Corpus.load(tmp_path / "copy"), ShardedCorpus)
    assert Corpus.load(tmp_path / "copy").verify() == corpus.fingerprint
    fewer = dataclasses.replace(loaded, citations=loaded.citations[:1], _stored_fingerprint=None)
    _store_corpus(fewer, tmp_path / "fewer")
    assert Corpus.load(tmp_path / "fewer").n_citations == 1
