"""Chains over slots: valid counts, bits and sums, the same bytes again."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from citation_tools import SPECS, cited_data

from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.exponent import rebuild_exponent
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.dense.words import ONE_BY_ONE
from citeweave.engines.slots import SparseChain, SparseSnapshotChain
from citeweave.engines.slots import snapshot as snapshot_module
from citeweave.engines.slots.change_lists import entries_needed
from citeweave.engines.slots.presence import mark_topics, new_presence
from citeweave.engines.slots.rates import gather_rates, new_rates
from citeweave.errors import ParameterError

KINDS = {"one by one": SparseChain, "snapshots": SparseSnapshotChain}


def make(topics, *, kind="one by one", model="authors", seed=1, documents=60, **options):
    """Make a chain of a small corpus, every count checked after each step."""
    settings = ChainSettings(topics=topics, debug=True, network_from=2)
    data = cited_data(SPECS[model], documents=documents)
    return KINDS[kind](SPECS[model], data, settings, seed=seed, **options)


def expect_bits(chain):
    """Compare the bits that sweeps have kept with the counts."""
    for bits, counts in (
        (chain.proposals.nodes, chain.state.topics),
        (chain.proposals.words, chain.state.words),
    ):
        made = new_presence(len(bits), chain.settings.topics)
        mark_topics(counts, made, 0, len(made))
        np.testing.assert_array_equal(bits, made)


def expect_same(one, other):
    for mine, theirs in zip(all_arrays(one.state), all_arrays(other.state), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("topics", [1, 2, 70, 4096])
def test_every_number_of_topics_keeps_counts_and_bits_valid(topics, kind):
    chain = make(topics, kind=kind)
    chain.start()
    for iteration in range(1, 6):
        info = chain.step()
        assert info.iteration == iteration
        expect_bits(chain)
    assert 1 <= info.topics <= topics
    assert info.rate == pytest.approx(200, rel=0.5)


@pytest.mark.parametrize(
    "model", ["authors", pytest.param("fields above authors", marks=pytest.mark.long)]
)
def test_sums_that_the_word_sweep_leaves_are_those_of_the_counts(model):
    """P, M, what mu needs, and weights of nodes, with authors listed and not."""
    chain = make(30, model=model)
    chain.start()
    for _ in range(3):
        chain.step()
    for most_listed in (0, 8, 64):
        chain.proposals.refresh(most_listed)
        chain.rebuild_exponent()
        before = chain.state.assignments.topic.copy()
        chain.sweep_words()
        assert (chain.state.assignments.topic != before).any()
        kept = [array.copy() for array in (*chain.proposals.rates, *chain.exponent[2:4])]
        rebuild_exponent(
            chain.layout,
            chain.state.topics,
            chain.state.parameters,
            chain.citation_level,
            chain.exponent,
        )
        rates = new_rates(30)
        gather_rates(chain.state.topics, chain.state.parameters, chain.exponent, rates)
        for mine, made in zip(kept, (*rates, *chain.exponent[2:4]), strict=True):
            np.testing.assert_allclose(mine, made, rtol=1e-8, atol=1e-9)


class TokenByToken(DenseChain):
    """Dense sweeps of the moves that slots make: joint moves go further in as many steps."""

    def sweep_words(self):
        self.walk_words(ONE_BY_ONE)


def test_both_kinds_of_sweeps_settle_at_the_same_height():
    """Six chains each gave -1456.4 and -1456.5, with a spread of 0.2 and 0.1."""
    spec = SPECS["authors"]
    data = cited_data(spec, citations=180)
    options = {"network_from": 5, "concentration": 1.0, "sample_concentrations": False}
    heights = []
    for kind in (TokenByToken, SparseChain):
        found = []
        for seed in range(2):
            chain = kind(spec, data, ChainSettings(topics=30, **options), seed=seed)
            chain.start()
            found += [chain.step().log_likelihood for _ in range(2000)][500:]
        heights.append(np.mean(found))
    assert heights[0] == pytest.approx(heights[1], abs=1.5)


def test_threads_leave_no_trace():
    chains = [make(40, kind="snapshots", documents=600, threads=n, rounds=3) for n in (1, 2, 3)]
    for chain in chains:
        chain.start()
        for _ in range(4):
            chain.step()
        chain.close()
    for chain in chains[1:]:
        expect_same(chains[0], chain)


def test_lists_of_changes_leave_no_trace(monkeypatch):
    """Rows of all nodes above documents, or of mu alone with lists of the others' changes."""
    chains = []
    for threads in (1, 3):
        chain = make(40, kind="snapshots", documents=600, threads=threads, rounds=3)
        if threads == 3:
            lists = (1, entries_needed(chain.layout, 2, 40, 3, 3))
            monkeypatch.setattr(snapshot_module, "rows_kept", lambda *_, lists=lists: lists)
        chain.start()
        for _ in range(4):
            chain.step()
        chain.close()
        chains.append(chain)
    rows, listed = (chain._buffers for chain in chains)
    assert [len(one.changes.node_customers[0]) for one in (rows, listed)] == [7, 1]
    assert all(len(one.entry) == 0 for one in rows.lists)
    assert all(one.entry.any() for one in listed.lists)
    expect_same(*chains)
    np.testing.assert_array_equal(chains[0].repaired, chains[1].repaired)
    expect_bits(chains[1])


def test_bits_are_those_of_a_state_that_another_engine_made():
    spec = SPECS["authors"]
    dense = DenseChain(spec, cited_data(spec), ChainSettings(topics=40, network_from=2), seed=1)
    dense.start()
    dense.step()
    chain = make(40)
    chain.restore(dense.state)
    expect_bits(chain)


def test_tables_of_another_chain_are_refused():
    chain = make(40)
    chain.start()
    assert chain.extra_state() == {}
    chain.step()
    tables = chain.extra_state()
    with pytest.raises(ParameterError, match=r"1240 numbers in 'guess'.*Got 900"):
        make(40).restore(chain.state, tables | {"guess": tables["guess"][:900]})
    with pytest.raises(ParameterError, match="none"):
        make(40).restore(chain.state, {"guess": tables["guess"]})


SCRIPT = """
import hashlib, sys
sys.path[:0] = sys.argv[1:]
from test_slot_chain import make, all_arrays
digest = hashlib.sha256()
for kind in ("one by one", "snapshots"):
    chain = make(70, kind=kind, documents=8)
    chain.start()
    for _ in range(4):
        chain.step()
    for array in all_arrays(chain.state):
        if array.dtype.kind in "iu":
            digest.update(array.tobytes())
print(digest.hexdigest())
"""


def test_kernels_are_plain_python_too():
    """NUMBA_DISABLE_JIT=1 gives the very same integers: rounding aside, it is the same program."""
    here = Path(__file__).parent

    def digest(**environment):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(here), str(here.parents[1])],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    assert digest(NUMBA_DISABLE_JIT="1") == digest()
