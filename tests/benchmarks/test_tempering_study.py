"""The study of word weights: a fit is measured, and lines become a table."""

import json

from benchmarks.tempering import Fit, fit_once, main

from citeweave import simulate


def test_a_fit_is_measured():
    sizes = {"documents": 40, "vocabulary": 50, "categories": 2, "authors": 8, "citations": 80}
    corpus = simulate(**sizes, topics=3, words_per_document=12, seed=1).corpus
    found = fit_once(corpus, Fit("made up", 0, 1, 0.5, 12))
    assert (found["topics"], found["weight"]) == (2, 0.5)
    assert 0 <= found["nmi"] <= 1
    assert 0 < found["auc"] <= 1
    assert 1 < found["perplexity"] < 100
    assert found["link_score"] < 0


def test_lines_become_a_table(tmp_path, capsys):
    lines = [
        {"dataset": "cora", "topics": 7, "weight": weight, "seed": seed, "auc": weight + seed / 10}
        for weight in (0.5, 1.0)
        for seed in (1, 3)
    ]
    (tmp_path / "lines").write_text("\n".join(map(json.dumps, lines)))
    main(["--table", str(tmp_path / "lines")])
    rows = capsys.readouterr().out.splitlines()
    assert rows[2].startswith("| cora | 7 | 1 | 2 |  | 1.200 ± 0.100 |")
    assert rows[3].startswith("| cora | 7 | 0.5 | 2 |  | 0.700 ± 0.100 |")
