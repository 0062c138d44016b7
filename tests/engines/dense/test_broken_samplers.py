"""The enumeration catches what it is there to catch: each classic mistake fails it."""

import pytest
from test_enumeration import distances

from reference.mutants import load_mutant
from reference.run import make_runner
from reference.tiny import tiny_chain

SWEEPS = 100_000


@pytest.mark.parametrize(
    ("mistake", "spec"),
    [
        ("indicator binomial left out", "bursty-hdp-lda"),
        ("blocked removal ignored", "bursty-hdp-lda"),
        ("customers leave only with their table", "bursty-hdp-lda"),
        ("citations without Metropolis-Hastings", "scntm"),
        ("words without the exponential", "scntm"),
    ],
)
def test_enumeration_catches(mistake, spec, tmp_path):
    broken = load_mutant(mistake, tmp_path)
    chain = tiny_chain(spec, modules=broken)
    runner = make_runner(
        broken["words"].word_sweep,
        broken["citations"].citation_sweep,
        broken["exponent"].rebuild_exponent,
    )
    assignments, topic_side, _ = distances(chain, runner, SWEEPS)
    # twice what the real sampler is allowed with fewer sweeps still
    assert max(assignments / 0.012, topic_side / 0.035) > 2.0
