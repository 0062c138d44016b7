"""A run of a divided chain on shards: workers write the estimates, and everybody reads them."""

import shutil

import numpy as np
import pytest
from part_tools import draw_corpus

import citeweave
from citeweave import SCNTM, Corpus
from citeweave.engines.cluster.in_process import InProcessChain
from citeweave.engines.registry import ENGINES
from citeweave.errors import RunError

OPTIONS = {"topics": 5, "iterations": 6, "burn_in": 3, "network_from": 1, "burst_from": 2}
OPTIONS |= {"seed": 1, "chains": 1, "exactly": True, "rounds": 2, "thin": 1}


@pytest.fixture(scope="module")
def expected():
    return SCNTM(**OPTIONS, sweep="snapshot", device="cpu").fit(draw_corpus())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Fit shards of 17 documents by three workers, which are threads of this process."""
    folder = tmp_path_factory.mktemp("sharded")
    draw_corpus().save(folder / "shards", shard=17)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ENGINES, "ray", InProcessChain)
        SCNTM(**OPTIONS, engine="ray", workers=3, threads=3).fit(
            folder / "shards", out=folder / "run"
        )
    return folder / "run"


def differing(model, expected):
    found, other = model._fitted.estimates, expected._fitted.estimates
    assert set(found) == set(other)
    return [name for name in other if found[name].tobytes() != other[name].tobytes()]


def test_estimates_are_those_of_threads_in_files_of_shards(run, expected):
    assert differing(citeweave.load(run), expected) == []
    files = sorted(path.name for path in (run / "estimates" / "doc_topic").iterdir())
    assert files == ["00000.npy", "00001.npy", "00002.npy", "00003.npy"]  # 60 documents
    rows = np.load(run / "estimates" / "doc_topic" / "00003.npy")
    assert rows.tobytes() == expected.doc_topic_[51:].tobytes()
    assert not (run / "estimates" / "doc_topic.npy").exists()


def test_a_saved_copy_is_a_run_in_one_piece(run, expected, tmp_path):
    citeweave.load(run).save(tmp_path / "copy")
    assert differing(citeweave.load(tmp_path / "copy"), expected) == []


@pytest.mark.parametrize("harm", ["lost", "changed"])
def test_a_range_that_is_lost_or_changed_is_told_and_made_anew(run, expected, tmp_path, harm):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    path = copy / "estimates" / "doc_topic" / "00001.npy"
    if harm == "lost":
        path.unlink()
    else:
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    with pytest.raises(RunError, match=r"citeweave resume"):
        citeweave.load(copy).doc_topic_.sum()
    model = citeweave.resume(copy, engine="auto")
    assert differing(model, expected) == []


def test_several_chains_are_combined_as_in_threads(tmp_path, monkeypatch):
    monkeypatch.setitem(ENGINES, "ray", InProcessChain)
    corpus = Corpus.load(draw_corpus().save(tmp_path / "shards", shard=17))
    options = OPTIONS | {"chains": 2}
    expected = SCNTM(**options, sweep="snapshot", device="cpu").fit(corpus)
    model = SCNTM(**options, engine="ray", workers=2, threads=2).fit(corpus, out=tmp_path / "run")
    assert differing(model, expected) == []
