"""Fits of the study of categories, on a planted corpus."""

import json

from benchmarks import categories
from reference.planted import planted_corpus


def test_a_line_for_each_fit(tmp_path, monkeypatch):
    corpus = planted_corpus(groups=3, size=12, focus=0.4, inside=4.0, seed=2)
    monkeypatch.setattr(categories.datasets, "load", lambda _: corpus)
    options = ["--datasets", "planted", "--topics", "6", "--seeds", "1", "--iterations", "8"]
    options += ["--hold-out", "0.2", "--out", str(tmp_path / "fits.jsonl")]
    categories.main([*options, "--variants", "topics", "categories", "clusters"])
    plain, tied, alone = map(json.loads, (tmp_path / "fits.jsonl").read_text().splitlines())
    assert (plain["topics"], tied["topics"]) == (3, 6)
    assert plain["start_nmi"] == tied["start_nmi"]
    assert 0 <= alone["start_nmi"] <= 1
    assert "nmi" not in alone
    assert 0 <= tied["nmi"] <= 1
    assert 0 < tied["auc"] <= 1
    assert "sure" in tied
    assert "sure" not in plain
