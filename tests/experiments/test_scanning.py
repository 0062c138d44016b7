"""Scans over numbers of topics: what is measured, what is recommended, and going on."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from citeweave import simulate
from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.experiments import ScanRow, scan
from citeweave.experiments.scanning import _compare, fit_or_go_on, recommend

SHORT = {"iterations": 30, "chains": 1}
ROW = ScanRow(0, 9, 900.0, 0.0, 0.0, 0.9, 0.1, 0.95, True, 400, 9.0)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return simulate(documents=80, vocabulary=80, topics=3, citations=200, seed=1).corpus


def test_a_scan_fits_every_number_and_goes_on_with_what_is_there(
    corpus: Corpus, tmp_path: Path
) -> None:
    calls = []

    def fit(model, train, held_out, folder):  # type: ignore[no-untyped-def]
        calls.append((model.topics, folder.exists()))
        assert train.n_tokens < corpus.n_tokens
        assert len(train.citations) + len(held_out["citations"]) == len(corpus.citations)
        return fit_or_go_on(model, train, held_out, folder)

    first = scan(corpus, [4, 2], out=tmp_path, fit=fit, **SHORT)
    again = scan(corpus, [2, 4, 6], out=tmp_path, fit=fit, **SHORT)
    assert calls == [(2, False), (4, False), (2, True), (4, True), (6, False)]
    assert [row.topics for row in first.rows] == [2, 4]
    pairs = zip(again.rows, first.rows, strict=False)
    same = [
        (new.used, new.perplexity, new.auc) == (old.used, old.perplexity, old.auc)
        for new, old in pairs
    ]
    assert same == [True, True]
    best = min(again.rows, key=lambda row: row.perplexity)
    assert (best.below, best.error) == (0.0, 0.0)
    for row in again.rows:
        assert row.below == pytest.approx(math.log(row.perplexity / best.perplexity), abs=1e-9)
        assert 0.0 < row.auc < 1.0
        assert math.isnan(row.agreement)
    stored = json.loads(again.save(tmp_path / "scan.json").read_text())
    assert stored["recommended"] == again.recommended
    assert stored["rows"][0]["agreement"] is None


def test_the_runs_of_another_scan_are_refused(corpus: Corpus, tmp_path: Path) -> None:
    scan(corpus, [2, 3], out=tmp_path, **SHORT)
    with pytest.raises(ParameterError, match="other parameters; choose another"):
        scan(corpus, [2, 3], out=tmp_path, iterations=31, chains=1)
    with pytest.raises(ParameterError, match="to another corpus"):
        scan(corpus, [2, 3], out=tmp_path, share=0.2, **SHORT)


def test_one_number_is_no_scan(corpus: Corpus) -> None:
    with pytest.raises(ParameterError, match="at least two numbers"):
        scan(corpus, [5, 5], **SHORT)


def test_few_citations_stay_in_the_fits() -> None:
    corpus = simulate(documents=40, vocabulary=60, topics=2, citations=20, seed=2).corpus
    found = scan(corpus, [2, 3], **SHORT)
    assert all(math.isnan(row.auc) for row in found.rows)


@pytest.mark.parametrize(
    ("rows", "topics", "words"),
    [
        ([(10, 0.05, 0.01), (20, 0.0, 0.0)], 20, "no smaller number"),
        ([(10, 0.005, 0.01), (20, 0.0, 0.0)], 10, "as well as 20 do"),
        ([(10, 0.0, 0.0), (20, 0.03, 0.01)], 10, "no smaller number"),
    ],
)
def test_the_fewest_that_foretell_as_well_are_recommended(
    rows: list[tuple[int, float, float]], topics: int, words: str
) -> None:
    made = [ROW._replace(topics=n, below=below, error=error) for n, below, error in rows]
    chosen, reason = recommend(made)
    assert chosen == topics
    assert words in reason


def test_settled_chains_go_first_and_a_cap_that_binds_is_said() -> None:
    small = ROW._replace(topics=10, below=0.001, error=0.01, settled=False)
    large = ROW._replace(topics=20, used=20)
    chosen, reason = recommend([small, large])
    assert chosen == 20
    assert "10 do too, but their chains did not settle" in reason
    assert "may contain more" in reason
    chosen, reason = recommend([small, large._replace(settled=False)])
    assert chosen == 10
    assert "did not settle" in reason


def test_a_standard_error_is_that_of_differences_by_document() -> None:
    """Fits that are equally good on all documents have no error, however documents differ."""
    words = np.full(50, 4.0)
    best = np.linspace(-30.0, -10.0, 50)
    (_, flat), (_, rough) = (
        (ROW, np.stack([best - 1.0, words])),
        (ROW, np.stack([best - np.tile([0.0, 2.0], 25), words])),
    )
    rows = _compare([(ROW, np.stack([best, words])), (ROW, flat), (ROW, rough)])
    assert rows[1].below == rows[2].below == pytest.approx(0.25)
    assert rows[1].error == pytest.approx(0.0, abs=1e-12)
    assert rows[2].error == pytest.approx(np.tile([0.0, 2.0], 25).std(ddof=1) / 50**0.5 / 4)
