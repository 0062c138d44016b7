"""The command `shard`: there and back, by what the files say."""

import pytest
from typer.testing import CliRunner

from citeweave.cli.main import app
from citeweave.corpus import Corpus
from citeweave.corpus.sharded import ShardedCorpus


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
    assert "exists already" in done.output
