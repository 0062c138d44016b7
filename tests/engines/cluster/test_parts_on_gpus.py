"""A chain in parts on the kernels' twin gives the bytes of the whole one on it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from host_device import HostDevice
from part_tools import advance, differences, draw_corpus, request_for, run
from test_part_checkpoints import IDENTITY, all_of, save

from citeweave import SCNTM
from citeweave.engines.cluster.in_process import InProcessChain
from citeweave.engines.core.capabilities import CUDA
from citeweave.engines.core.data import ClusterWorkers
from citeweave.engines.core.estimates import new_sums
from citeweave.engines.core.spec import LEFT_OUT, PAPER, Level
from citeweave.engines.cuda import chain as cuda_chain
from citeweave.engines.cuda.chain import CudaChain
from citeweave.engines.staged import open_chain, state_after
from citeweave.runs.checkpoint import (
    Checkpoint,
    flatten,
    read_latest,
    restore_state,
    write_checkpoint,
)

CASES = {
    "authors": {"rounds": 1},
    "authors, three rounds": {"rounds": 3, "burst_from": 3},
    "a group of half the papers": {"corpus": {"authors": 2}, "rounds": 1},
    "a divided group in three rounds": {"corpus": {"authors": 2}, "rounds": 3},
    "fields above authors": {"fields": 3, "rounds": 1},
    "self-citations as in the paper": {"self_citations": PAPER, "rounds": 1},
    "no authors": {"model": "bursty-hdp-lda", "rounds": 1},
    "text alone": {"model": "cntm-text", "rounds": 2},
    "fixed rates": {"sample_concentrations": False, "sample_propensities": False},
}


STEPS = 5


@pytest.fixture(scope="module", autouse=True)
def twin():
    """Let chains on a GPU run on the kernels' twin."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda_chain, "CudaDevice", HostDevice)
        yield


def in_parts(request, workers):
    return InProcessChain.open(request._replace(workers=ClusterWorkers(workers, device=CUDA)))


def with_fields(request, fields):
    """Put fields above the authors of a request, whose authors lie in all of them."""
    levels = request.spec.topic_side
    spec = replace(request.spec, topic_side=(levels[0], Level("field", "group", 0.02), *levels[1:]))
    authors, *below = request.data.parents
    parents = (np.zeros(fields, np.int64), np.arange(len(authors)) % fields, *below)
    return request._replace(spec=spec, data=request.data._replace(parents=parents))


@pytest.fixture(scope="module", params=CASES)
def case(request):
    options = {"self_citations": LEFT_OUT} | CASES[request.param]
    corpus, fields = options.pop("corpus", {}), options.pop("fields", 0)
    wanted = request_for(draw_corpus(**corpus), **options)
    wanted = with_fields(wanted, fields) if fields else wanted
    return wanted, run(open_chain(CudaChain, wanted))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_parts_give_the_bytes_of_the_whole(case, workers):
    wanted, expected = case
    assert differences(run(in_parts(wanted, workers)), expected) == []


def test_all_parts_have_the_kernels_of_the_whole():
    """A paper too long for packed counts lies in one part."""
    wanted = request_for(draw_corpus(), model="cntm-text", topics=3)
    data = wanted.data
    long = np.sort(np.arange(33_000) % data.n_words).astype(np.int32)
    offsets = np.concatenate([[0], data.offsets[1:] - data.offsets[1] + len(long)])
    data = data._replace(
        tokens=np.concatenate([long, data.tokens[data.offsets[1] :]]), offsets=offsets
    )
    chain = in_parts(wanted._replace(data=data), 3)
    chain.start()
    chain.step()
    packed = [worker.chain._program.defines["PACKED"] for worker in chain._team.workers]
    chain.close()
    assert packed == [0, 0, 0]


@pytest.mark.parametrize("workers", [1, 3])
def test_given_topics_are_those_of_one_gpu_too(workers):
    wanted = request_for(draw_corpus(), network_from=1)
    topics = np.random.default_rng(1).integers(5, size=len(wanted.data.tokens))
    whole, parts = CudaChain.open(wanted), in_parts(wanted, workers)
    for chain in (whole, parts):
        chain.start(topics)
        for _ in range(2):
            chain.step()
    assert differences(flatten(parts.state), flatten(whole.state)) == []
    for chain in (whole, parts):
        chain.close()


@pytest.fixture(scope="module")
def wanted():
    """Ask for a chain whose citations join after one iteration and whose phi' after two."""
    return request_for(draw_corpus(), network_from=1, burst_from=2)


@pytest.fixture(scope="module")
def expected(wanted):
    chain = open_chain(CudaChain, wanted)
    sums = new_sums(chain)
    chain.start()
    advance(chain, sums, STEPS)
    return all_of(chain, sums)


def go_on(request, folder, workers):
    stored, _ = read_latest(folder, IDENTITY, by_workers=True)
    chain = in_parts(request, workers)
    sums = chain.empty_sums()
    chain.restore_from(stored.path, sums if stored.samples else None)
    advance(chain, sums, STEPS)
    return all_of(chain, sums)


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_other_numbers_of_workers_and_one_gpu_go_on_in_the_same_bytes(
    wanted, expected, folder, steps
):
    chain = in_parts(wanted, 2)
    sums = chain.empty_sums()
    chain.lodge(folder.parent)
    chain.start()
    advance(chain, sums, steps)
    save(chain, folder)
    advance(chain, sums, STEPS)
    assert differences(all_of(chain, sums), expected) == []
    for others in (1, 2, 3):
        assert differences(go_on(wanted, folder, others), expected) == []
    stored, _ = read_latest(folder, IDENTITY)
    alone = open_chain(CudaChain, wanted)
    alone.restore(restore_state(stored, state_after(alone, stored.iteration)))
    sums = stored.sums if stored.sums is not None else new_sums(alone)
    advance(alone, sums, STEPS)
    assert differences(all_of(alone, sums), expected) == []


def test_parts_go_on_from_a_chain_in_one_piece(wanted, expected, folder):
    chain = open_chain(CudaChain, wanted)
    sums = new_sums(chain)
    chain.start()
    advance(chain, sums, 4)
    chain.collect_samples(sums)
    write_checkpoint(folder, IDENTITY, Checkpoint(4, flatten(chain.state), sums, {}))
    chain.close()
    assert differences(go_on(wanted, folder, 2), expected) == []


def test_parts_that_were_stopped_in_a_step_go_on_in_the_same_bytes(wanted, expected, folder):
    """What the step has left on the device is forgotten."""
    chain = in_parts(wanted, 2)
    sums = chain.empty_sums()
    chain.lodge(folder.parent)
    chain.start()
    advance(chain, sums, 4)
    path = save(chain, folder)
    parts = [worker.chain for worker in chain._team.workers]
    merge = parts[1]._merge_words

    def fail():
        raise ZeroDivisionError

    parts[1]._merge_words = fail
    with pytest.raises(ZeroDivisionError):
        chain.step()
    assert parts[1].arrays["change_customers"].any()
    parts[1]._merge_words = merge
    again = chain.empty_sums()
    chain.restore_from(path, again)
    advance(chain, again, STEPS)
    assert differences(all_of(chain, again), expected) == []


def test_a_fit_is_that_of_one_gpu(tmp_path):
    corpus = draw_corpus()
    options = {"topics": 4, "iterations": 8, "burn_in": 5, "network_from": 2, "burst_from": 3}
    options |= {"seed": 1, "chains": 1, "exactly": True, "rounds": 2, "thin": 1, "device": "cuda"}
    expected = SCNTM(**options).fit(corpus)
    found = SCNTM(**options, engine="ray", workers=3).fit(corpus, out=tmp_path / "run")
    assert found.doc_topic_.tobytes() == expected.doc_topic_.tobytes()
    assert found.citing_topic_.tobytes() == expected.citing_topic_.tobytes()
    plan = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))["plan"]
    assert (plan["device"], plan["engine"]) == ("cuda", "ray")
