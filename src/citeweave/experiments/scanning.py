"""How many topics does a literature have? Fits with different maxima, scored on held-out data."""

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError, RunError
from citeweave.evaluate import evaluate, hold_out
from citeweave.files import write_atomically, writing
from citeweave.model import SCNTM, resume
from citeweave.model.parameters import parameters_to_json, with_lengths
from citeweave.naming import option
from citeweave.runs.folder import RunFolder, is_run_folder

__all__ = ["TOPICS", "Scan", "ScanRow", "recommend", "scan"]

TOPICS = (10, 20, 40, 80, 160)
"""Default candidates for the maximum number of topics."""

ITERATIONS = 600
"""Default maximum number of iterations: fits are compared, not kept."""

FEWEST_CITATIONS = 100
"""Minimum number of citations for holding some out: otherwise too few would be left and scored."""

Fit = Callable[[SCNTM, Corpus, Mapping[str, np.ndarray], Path | None], SCNTM]
"""Fits a model to a corpus, given the held-out data and the folder of its run."""


class ScanRow(NamedTuple):
    """Result of a fit with one maximum number of topics.

    Examples
    --------
    >>> from citeweave.experiments import ScanRow
    >>> row = ScanRow(20, 18, 900.0, 0.0, 0.01, 0.9, 0.1, 0.95, True, 400, 9.0)
    >>> row.used <= row.topics
    True
    """

    topics: int
    """Maximum number of topics."""
    used: int
    """Topics in use in the kept samples."""
    perplexity: float
    """Perplexity of held-out words."""
    below: float
    """Mean log probability of a held-out word below that of the best maximum."""
    error: float
    """Standard error of this difference, over documents."""
    auc: float
    """Area under the curve of held-out citations; nan if there are too few."""
    coherence: float
    """Mean NPMI of the topics' ten most probable words."""
    agreement: float
    """Lowest agreement of a chain's topics with those of the best chain; nan for one chain."""
    settled: bool
    iterations: int
    seconds: float
    """Time of the iterations of one chain."""


class Scan(NamedTuple):
    """Fits with different maxima, and the recommended one.

    Examples
    --------
    >>> from citeweave.experiments import Scan, ScanRow
    >>> row = ScanRow(20, 18, 900.0, 0.0, 0.01, 0.9, 0.1, 0.95, True, 400, 9.0)
    >>> found = Scan((row,), recommended=20, reason="the only one")
    >>> found.save("scan.json").name, found.to_dict()["recommended"]
    ('scan.json', 20)
    """

    rows: tuple[ScanRow, ...]
    recommended: int
    """Recommended maximum number of topics."""
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for JSON; unknown values are None.

        Examples
        --------
        >>> from citeweave.experiments import Scan, ScanRow
        >>> row = ScanRow(20, 18, 900.0, 0.0, 0.01, float("nan"), 0.1, 0.95, True, 400, 9.0)
        >>> found = Scan((row,), recommended=20, reason="the only one").to_dict()
        >>> found["recommended"], found["rows"][0]["auc"]
        (20, None)
        """
        rows = [
            {
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in row._asdict().items()
            }
            for row in self.rows
        ]
        return {"rows": rows, "recommended": self.recommended, "reason": self.reason}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the scan as JSON.

        Examples
        --------
        >>> from citeweave.experiments import Scan, ScanRow
        >>> row = ScanRow(20, 18, 900.0, 0.0, 0.01, 0.9, 0.1, 0.95, True, 400, 9.0)
        >>> Scan((row,), recommended=20, reason="the only one").save("scan.json").is_file()
        True
        """
        target = Path(path)
        with writing(target, "Choose another place."), write_atomically(target) as file:
            file.write((json.dumps(self.to_dict(), indent=2) + "\n").encode())
        return target


def scan(
    corpus: Corpus,
    topics: Sequence[int] = TOPICS,
    *,
    out: str | os.PathLike[str] | None = None,
    share: float = 0.1,
    seed: int = 0,
    fit: Fit | None = None,
    **parameters: Any,
) -> Scan:
    """Fit a corpus with several maximum numbers of topics, and recommend one.

    A tenth of the words of each document, and of the citations if there are enough, is held out of
    all fits and scored afterwards. See `recommend` for the rule.

    Parameters
    ----------
    corpus : Corpus
    topics : sequence of int
        Candidates for the maximum number of topics.
    out : path, optional
        Folder for the runs, one per candidate: finished fits are not repeated, and interrupted ones
        continue.
    share : float
        Share of words and citations to hold out.
    seed : int
        Seed of the held-out data and of the fits.
    fit : callable, optional
        Called for each fit instead of `SCNTM.fit`, for example to show progress.
    **parameters
        Further parameters of `SCNTM`.

    Returns
    -------
    Scan

    Examples
    --------
    >>> from citeweave import simulate
    >>> corpus = simulate(documents=80, vocabulary=80, topics=3, citations=200, seed=1).corpus
    >>> found = scan(corpus, [2, 4], iterations=20, chains=1)
    >>> [row.topics for row in found.rows], found.recommended in (2, 4)
    ([2, 4], True)
    """
    caps = _check_topics(topics)
    cited = share if len(corpus.citations) >= FEWEST_CITATIONS else None
    train, held_out = hold_out(corpus, words=share, citations=cited, seed=seed)
    settings = {"iterations": ITERATIONS, "seed": seed} | parameters
    measured: list[tuple[ScanRow, np.ndarray]] = []
    for cap in caps:
        folder = None if out is None else Path(out) / f"topics-{cap}"
        model = SCNTM(**settings | {"topics": cap})
        if folder is not None and is_run_folder(folder):
            _check_same(folder, model, train)
        fitted = (fit or fit_or_go_on)(model, train, held_out, folder)
        measured.append(_measure(fitted, cap))
    rows = _compare(measured)
    return Scan(rows, *recommend(rows))


def fit_or_go_on(
    model: SCNTM,
    corpus: Corpus,
    held_out: Mapping[str, np.ndarray],
    folder: Path | None,
    **options: Any,
) -> SCNTM:
    """Fit a model, or continue its existing run."""
    if folder is not None and is_run_folder(folder):
        return resume(folder, **options)
    return model.fit(corpus, held_out=held_out, out=folder, **options)


def _check_topics(topics: Sequence[int]) -> list[int]:
    caps = sorted(set(topics))
    if len(caps) < 2:
        raise ParameterError(
            f"{option('topics')} must contain at least two numbers to compare. Got "
            f"{list(topics)} instead."
        )
    return caps


def _check_same(folder: Path, model: SCNTM, corpus: Corpus) -> None:
    """Refuse the run of another scan."""
    manifest = RunFolder.open(folder).manifest
    try:
        same = manifest["corpus"]["fingerprint"] == corpus.fingerprint
        asked = parameters_to_json(with_lengths(model.get_params()))
        same = same and all(manifest["parameters"].get(name) == asked[name] for name in asked)
    except (KeyError, TypeError, AttributeError) as error:
        raise RunError(f"The manifest of '{folder}' is damaged; remove that folder.") from error
    if not same:
        raise ParameterError(
            f"'{folder}' belongs to another corpus or was made with other parameters; choose "
            f"another folder with {option('out')}."
        )


def _measure(model: SCNTM, cap: int) -> tuple[ScanRow, np.ndarray]:
    """Measure a fit; also return the log probability of held-out words by document."""
    found = evaluate(model, categories=False)
    document, word = np.asarray(model.held_out_["words"]).T
    theta = np.asarray(model.doc_topic_, np.float64)
    logs = np.log(np.einsum("nk,nk->n", theta[document], model.topic_word_[:, word].T))
    by_document = np.bincount(document, weights=logs, minlength=model.corpus_.n_documents)
    settlement = model.settlement_
    agreements = model.combination_["agreements"]
    row = ScanRow(
        topics=cap,
        used=int(np.count_nonzero(np.asarray(model.topic_samples_))),
        perplexity=float(np.exp(-logs.mean())),
        below=math.nan,
        error=math.nan,
        auc=_known(found, "links", "AUC"),
        coherence=_known(found, "topics", "NPMI coherence"),
        agreement=min(agreements) if len(agreements) > 1 else math.nan,
        settled=settlement is not None and settlement.settled,
        iterations=model.n_iter_,
        seconds=float(np.nansum(model.traces_["seconds"], axis=1).mean()),
    )
    return row, np.stack([by_document, np.bincount(document, minlength=len(by_document))])


def _known(found: Any, part: str, name: str) -> float:
    values = [one.value for one in found if one.part == part and one.name == name]
    return math.nan if not values or values[0] is None else float(values[0])


def _compare(measured: Sequence[tuple[ScanRow, np.ndarray]]) -> tuple[ScanRow, ...]:
    """Fill in the difference of each to the best, document by document."""
    best = max(measured, key=lambda one: one[1][0].sum())[1]
    rows = []
    for row, scored in measured:
        words = scored[1].sum()
        lost = best[0] - scored[0]
        error = lost.std(ddof=1) * math.sqrt(len(lost)) / words if len(lost) > 1 else 0.0
        rows.append(row._replace(below=float(lost.sum() / words), error=float(error)))
    return tuple(rows)


def recommend(rows: Sequence[ScanRow]) -> tuple[int, str]:
    """Choose the smallest maximum that predicts held-out words as well as any.

    "As well" means within one standard error of the best, document by document: more topics divide
    the literature further without predicting more. Among these, fits whose chains settled take
    precedence.

    Returns
    -------
    topics : int
    reason : str

    Examples
    --------
    >>> blank = ScanRow(0, 9, 900.0, 0.0, 0.0, 0.9, 0.1, 0.95, True, 400, 9.0)
    >>> rows = [
    ...     blank._replace(topics=10, used=10, below=0.05, error=0.01),
    ...     blank._replace(topics=20, used=18, below=0.004, error=0.005),
    ...     blank._replace(topics=40, used=33),
    ... ]
    >>> print(*recommend(rows), sep=": ")
    20: the fewest that predict held-out words as well as 40 do, within one standard error
    """
    best = min(rows, key=lambda row: row.below)
    equal = [row for row in rows if row.below <= row.error or row is best]
    chosen = min((row for row in equal if row.settled), key=lambda row: row.topics, default=None)
    smallest = min(equal, key=lambda row: row.topics)
    if chosen is None:
        chosen = smallest
    if chosen is best:
        reason = "no smaller number predicts held-out words as well"
    else:
        reason = (
            f"the fewest that predict held-out words as well as {best.topics} do, within one "
            "standard error"
        )
    if chosen is not smallest:
        reason += f"; {smallest.topics} do too, but their chains did not settle"
    elif not chosen.settled:
        reason += "; its chains did not settle, so run more iterations before you rely on it"
    if chosen.topics == max(row.topics for row in rows) and chosen.used >= chosen.topics:
        reason += "; all of them are in use, so the literature may contain more: try larger numbers"
    return chosen.topics, reason
