"""The verdict on a run, in plain words: whether its chains settled, and what to do next."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from citeweave.model.read_out import LeftOut
from citeweave.model.settling import AIM, Settlement
from citeweave.naming import choice
from citeweave.wording import count

__all__ = ["Level", "Verdict", "how_to_go_on", "settled_verdict"]

Level = Literal["good", "fair", "poor", "unknown"]

SAME_CATEGORIES = 0.8
"""Chains agree on latent categories if, on average, this share of papers has the same one."""


LONG = 500
"""Iterations from which a chain with latent categories counts as long."""


class Verdict(NamedTuple):
    """Verdict on a run: a headline, and one or two sentences with the reason and advice.

    Examples
    --------
    >>> from citeweave.evaluate import Verdict
    >>> Verdict("good", "The chains agree", "Nothing needs to be done.").text
    'The chains agree. Nothing needs to be done.'
    """

    level: Level
    headline: str
    advice: str

    @property
    def text(self) -> str:
        """The whole verdict in one line."""
        return f"{self.headline}. {self.advice}"


def how_to_go_on(folder: Path | None, iterations: int) -> str:
    """Describe how to extend a finished run by this many iterations."""
    if folder is None:
        return f"Fit with {choice('out=FOLDER', '--out FOLDER')}, so that the run can be continued."
    line = choice(
        f"citeweave.resume({str(folder)!r}, iterations='+{iterations}')",
        f"citeweave resume {folder} --iterations +{iterations}",
    )
    return f"Continue with: {line}"


def settled_verdict(
    settlement: Settlement,
    *,
    done: int,
    asked: int,
    folder: Path | None,
    categories: Sequence[float] = (),
    left_out: LeftOut | None = None,
) -> Verdict:
    """Return the verdict on a run that was to continue until its chains agree.

    Parameters
    ----------
    settlement : Settlement
    done, asked : int
        Iterations done, and their maximum.
    folder : Path or None
        Folder of the run.
    categories : sequence of float
        Agreement of each chain on latent categories that were inferred without labels
        (`SCNTM.category_agreements_`); then these decide, because such chains are short.
    left_out : LeftOut, optional
        How well labels that were left out are predicted, if some labels are known.

    Examples
    --------
    >>> agreed = Settlement(True, "settled", 400, 2)
    >>> settled_verdict(agreed, done=600, asked=2000, folder=None).headline
    'Settled: the chains agree'
    >>> short = Settlement(False, "iterations", 225, 2)
    >>> of = {"done": 300, "asked": 300, "folder": None, "categories": [0.95, 0.93]}
    >>> settled_verdict(short, **of).headline
    'The chains agree on the categories'
    """
    if categories:
        return _of_categories(settlement, done, asked, folder, sum(categories) / len(categories))
    if left_out is not None:
        return _of_labels(settlement, done, asked, folder, left_out)
    made = count(done, "iteration")
    go_on = how_to_go_on(folder, asked)
    if settlement.settled and settlement.chains == 1:
        return Verdict(
            "fair",
            "Steady, but one chain alone",
            f"The halves of the chain agree after {made} (R-hat at most {settlement.rhat:.2f}). "
            "Whether another start would lead to the same topics is not known: fit with "
            f"{choice('chains=2', '--chains 2')}.",
        )
    if settlement.settled:
        return Verdict(
            "good",
            "Settled: the chains agree",
            f"After {made} the chains have found the same topics, sizes and levels (R-hat at most "
            f"{settlement.rhat:.2f}, aim {AIM}): another start would give about the same result.",
        )
    ended = {
        "minutes": f"The time was up after {made}",
        "iterations": f"All {made} were made",
        "pace": f"After {made}, the chains were not on the way to agree within {asked:,}",
    }.get(settlement.stopped, f"The chains stopped after {made}")
    failed = settlement.open
    if not failed:
        return Verdict(
            "poor",
            "Not settled: too few iterations to compare chains",
            f"{ended}, before chains could be compared. "
            f"Topics and figures may still change. {go_on}",
        )
    what = "; ".join(check.text for check in failed)
    if settlement.steady:
        return Verdict(
            "poor",
            "Not settled: the chains found different topics",
            f"After {made} each chain is steady, but {what}: there is more than one way to divide "
            "this literature, and more iterations may not change that. Look for topics that all "
            f"chains share, or fit with fewer topics. {go_on}",
        )
    return Verdict(
        "poor",
        "Not settled: the chains do not agree yet",
        f"{ended}. What does not agree yet: {what}. Topics and figures may still change, and "
        f"differ from one start to another. {go_on}",
    )


def _of_categories(
    settlement: Settlement, done: int, asked: int, folder: Path | None, agreement: float
) -> Verdict:
    """Return the verdict on a run whose papers were drawn into categories."""
    same = f"they put {100 * agreement:.0f} % of the papers into the same category"
    if agreement < SAME_CATEGORIES:
        return Verdict(
            "poor",
            "The chains found different categories",
            f"On average {same}: there is more than one way to divide this literature. "
            "Rely on papers whose category is probable, or fit with fewer categories or more "
            f"chains ({choice('chains', '--chains')}).",
        )
    if settlement.settled:
        return Verdict(
            "good",
            "Settled: the chains agree on categories and topics",
            f"On average {same}, and R-hat is at most {settlement.rhat:.2f} (aim {AIM}).",
        )
    return Verdict(
        "good",
        "The chains agree on the categories",
        f"On average {same}. {_short(done)} {how_to_go_on(folder, asked)}",
    )


def _of_labels(
    settlement: Settlement, done: int, asked: int, folder: Path | None, left_out: LeftOut
) -> Verdict:
    """Return the verdict on a run that inferred the labels of papers from a few known ones."""
    check = (
        f"{100 * left_out.right:.0f} % of the {count(left_out.labels, 'label')} that were left out "
        f"to check this are predicted correctly, at a mean probability of {left_out.sure:.2f}."
    )
    if settlement.settled:
        return Verdict("good", "Labels are inferred, and topics have settled", check)
    return Verdict(
        "fair", "Labels are inferred", f"{check} {_short(done)} {how_to_go_on(folder, asked)}"
    )


def _short(done: int) -> str:
    unsettled = f"Topics have not settled after {count(done, 'iteration')}"
    if done > LONG:
        return f"{unsettled}."
    return (
        f"{unsettled}: such chains are short, because longer ones find no better categories. If "
        "topics matter more to you, let the chains run on."
    )
