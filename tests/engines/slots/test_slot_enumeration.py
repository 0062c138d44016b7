"""Sweeps over slots: long-run frequencies against the listed posterior."""

import importlib
from pathlib import Path

import pytest
from sparse_tools import RUN, distances, make_runner, run_snapshots, slot_chain

import citeweave.engines.slots

SWEEPS = 200_000
CITED = {"documents": ((0,), (0,)), "groups": (0, 0), "citations": ((0, 1),), "topics": 5}
CASES = {
    "a repeated word, three topics": (
        "scntm",
        {"documents": ((0, 0, 1),), "groups": (0,), "citations": (), "topics": 3},
    ),
    "two papers of one author and a citation": ("scntm", {}),
    "two authors": ("scntm", {"groups": (0, 1)}),
    "five topics": ("scntm", CITED),
    "citations both ways and an empty paper": (
        "scntm",
        {"documents": ((0, 0), (1,), ()), "groups": (0, 0, 1), "citations": ((0, 1), (2, 0))},
    ),
    "no author": ("bursty-hdp-lda", {"documents": ((0, 0), (0, 1)), "topics": 4}),
}


@pytest.mark.parametrize("most_listed", [0, 64])
@pytest.mark.parametrize("case", CASES)
def test_frequencies_match_the_posterior(case, most_listed):
    """With the topics of authors inside, and outside."""
    spec, corpus = CASES[case]
    if spec == "bursty-hdp-lda" and most_listed == 0:
        pytest.skip("there is no author to list")
    assignments, topic_side, word_side = distances(
        slot_chain(spec, most_listed=most_listed, **corpus), SWEEPS
    )
    assert assignments < 0.035
    assert topic_side < 0.05
    assert word_side < 0.035


@pytest.mark.parametrize(("case", "times"), [("two authors", 1), ("five topics", 4)])
def test_a_snapshot_a_paper_is_exact(case, times):
    """Five topics mix slowly: 0.057, 0.020 and 0.005 from the truth after 0.2, 0.8, 3.2 million."""
    spec, corpus = CASES[case]
    chain = slot_chain(spec, rounds=2, **corpus)
    assignments, topic_side, word_side = distances(chain, times * SWEEPS, run_snapshots)
    assert assignments < 0.035
    assert topic_side < 0.05
    assert word_side < 0.035


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_frequencies_come_ever_nearer(case):
    spec, corpus = CASES[case]
    assignments, topic_side, word_side = distances(slot_chain(spec, **corpus), 4_000_000, RUN)
    assert assignments < 0.007
    assert topic_side < 0.012
    assert word_side < 0.008


def broken_sweep(file, right, wrong, folder, monkeypatch):
    """Give the word sweep with one line of one file replaced."""
    names = {"proposing": f"broken_{file}_proposing", "words": f"broken_{file}_words"}
    for name, other in names.items():
        source = (Path(citeweave.engines.slots.__file__).parent / f"{name}.py").read_text()
        if name == file:
            assert source.count(right) == 1
            source = source.replace(right, wrong)
        source = source.replace("citeweave.engines.slots.proposing", names["proposing"])
        (folder / f"{other}.py").write_text(source)
    monkeypatch.syspath_prepend(folder)
    return importlib.import_module(names["words"]).word_sweep


@pytest.mark.long
def test_taking_every_proposal_is_seen(tmp_path, monkeypatch):
    sweep = broken_sweep(
        "proposing",
        "if uniform(rng) * (before * coming) >= after * leaving:",
        "if uniform(rng) > 2.0:",
        tmp_path,
        monkeypatch,
    )
    spec, corpus = CASES["no author"]
    assert min(distances(slot_chain(spec, **corpus), SWEEPS, make_runner(sweep))) > 0.07


@pytest.mark.long
def test_words_without_the_exponential_are_seen(tmp_path, monkeypatch):
    sweep = broken_sweep(
        "words",
        "if change <= 0.0 or uniform(rng) < np.exp(-change):",
        "if change < np.inf:",
        tmp_path,
        monkeypatch,
    )
    spec, corpus = CASES["two papers of one author and a citation"]
    assert distances(slot_chain(spec, **corpus), SWEEPS, make_runner(sweep))[0] > 0.07
