"""Tables over seeds: what is compared with what, and which marks a difference gets."""

import doctest
import json

import numpy as np
import pytest
from benchmarks.parallel_quality_tables import CONTROL, SEQUENTIAL, Difference, Results, certain
from scipy import stats

from benchmarks import parallel_drift, parallel_quality, parallel_quality_tables
from citeweave.errors import ParameterError

ONE = "threads, 1 per sweep"


def line(backend, seed, *, iterations=10, corpus="cora", **measures):
    return {
        "corpus": corpus,
        "backend": backend,
        "seed": seed,
        "topics": 3,
        "iterations": iterations,
        "measures": measures,
        "seconds": 1.0,
        "processor seconds": 1.0,
        "load": 0.0,
        "tokens": 100,
        "citations": 10,
    }


def make_lines(rng, shift):
    base = {seed: rng.normal(600, 5) for seed in range(5)}
    return [
        line(backend, seed, **{"test perplexity": base[seed] + add + rng.normal(0, 0.5)})
        for backend, add in ((SEQUENTIAL, 0), (CONTROL, 0), (ONE, shift))
        for seed in range(5)
    ]


def test_seeds_are_paired_and_p_is_that_of_the_paired_t_test():
    results = Results(make_lines(np.random.default_rng(1), 3.0))
    (difference,) = results.compare(ONE, SEQUENTIAL)
    values = {
        backend: [results.values["cora", backend, "test perplexity"][s] for s in range(5)]
        for backend in (ONE, SEQUENTIAL)
    }
    expected = stats.ttest_rel(values[ONE], values[SEQUENTIAL])
    assert difference.p == pytest.approx(expected.pvalue)
    assert difference.spread == pytest.approx(np.std(values[SEQUENTIAL], ddof=1))
    assert difference.worse


def test_a_difference_may_be_certain_and_yet_within_the_spread_of_seeds():
    lines = make_lines(np.random.default_rng(2), 3.0)
    (difference,) = Results(lines).compare(ONE, SEQUENTIAL)
    assert certain([difference]) == {difference}
    assert not difference.beyond  # seeds alone move perplexity by 5
    text = "\n".join(parallel_quality_tables.tables(Results(lines)))
    assert r"\*\*" in next(row for row in text.splitlines() if row.startswith(f"| {ONE} | +"))


def test_holm_drops_what_many_comparisons_explain():
    def with_t(size):
        return Difference("c", "b", "AUC", tuple(size * 0.01 + x for x in (-1, 0, 1)), 1.0)

    strong, weak = with_t(10_000), with_t(300)
    assert strong.p < weak.p < 0.05
    assert certain([strong, weak]) == {strong, weak}
    none = [with_t(0) for _ in range(8)]
    assert certain([*none, strong, weak]) == {strong}


def test_equal_values_are_no_difference():
    lines = [line(b, s, acceptance=0.5) for b in (SEQUENTIAL, ONE) for s in range(3)]
    (difference,) = Results(lines).compare(ONE, SEQUENTIAL)
    assert difference.p == 1.0
    assert not difference.beyond


def test_chains_of_different_lengths_are_not_mixed():
    lines = [line(SEQUENTIAL, 0, AUC=0.5), line(ONE, 0, iterations=20, AUC=0.5)]
    with pytest.raises(ParameterError, match="cannot be compared"):
        Results(lines)


def test_a_line_cut_off_is_left_out_and_the_last_of_a_task_counts(tmp_path, capsys):
    path = tmp_path / "r.jsonl"
    texts = [json.dumps(line(SEQUENTIAL, 0, AUC=value)) for value in (0.1, 0.2)]
    path.write_text("\n".join([*texts, texts[0][:40]]), encoding="utf-8")
    (found,) = parallel_quality.read_lines([path])
    assert found["measures"]["AUC"] == 0.2
    assert "line 3 is left out" in capsys.readouterr().err


def test_drift_is_compared_seed_by_seed_and_repairs_are_means():
    lines = [
        {
            "corpus": "cora",
            "seed": seed,
            "text": False,
            "after": 6,
            "backend": backend,
            "measures": {
                "log likelihood per word": -3.0 + seed + gap * (1 + 0.1 * seed),
                "repaired topics, %": 100 * gap,
                "repaired words, %": 0.0,
            },
        }
        for backend, gap in ((SEQUENTIAL, 0.0), (CONTROL, 0.0), (ONE, -0.01))
        for seed in range(3)
    ]
    text = "\n".join(parallel_drift.drift_tables(lines))
    assert "-0.0110 ± 0.0010" in text
    assert "| repaired topics, % | 0.00 | -1.00 |" in text


@pytest.mark.parametrize("module", [parallel_quality_tables])
def test_examples_hold(module):
    assert doctest.testmod(module).failed == 0
