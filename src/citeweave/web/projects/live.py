"""Running tasks as a page shows them: the stage, the chains, their traces and the time left."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from citeweave.web.chains import SIZES
from citeweave.web.charts import Series, for_all_screens, lines
from citeweave.web.projects.tasks import TaskState
from citeweave.wording import count

__all__ = ["FitView", "ImportView", "fit_view", "import_view", "spoken_time"]

_CLIMB = 10
"""First points of a trace to clip: their steep climb would flatten the rest of the curve."""

_STEPS = (
    ("records", "Reading the files"),
    ("text", "Finding words and phrases"),
    ("citations", "Matching citations"),
    ("authors", "Identifying authors"),
    ("saving", "Saving the corpus"),
)


_JOINING = {"citations": "Citations", "bursts": "Word bursts"}


class ImportStep(NamedTuple):
    """A step of an import."""

    name: str
    state: str
    """``done``, ``now`` or ``later``."""
    number: str


class ImportView(NamedTuple):
    """A running import."""

    steps: Sequence[ImportStep]


class ChainView(NamedTuple):
    """One chain of a running fit."""

    number: int
    iteration: int
    share: float
    topics: int
    speed: float | None


class FitView(NamedTuple):
    """A running fit, or the last state of one that ended."""

    stage: str
    explanation: str
    share: float
    chains: Sequence[ChainView]
    iterations: int
    left: str
    chart: Markup
    agreement: str
    topics: Sequence[Mapping[str, Any]]


def import_view(found: TaskState) -> ImportView:
    """Describe the progress of an import."""
    progress = found.progress
    seen = progress.get("steps", {})
    current = str(progress.get("step", ""))
    names = [name for name, _ in _STEPS]
    at = names.index(current) if current in names else -1
    steps = []
    for place, (name, words) in enumerate(_STEPS):
        state = "now" if name == current else "done" if place < at or name in seen else "later"
        steps.append(ImportStep(words, state, str(seen.get(name, {}).get("count", ""))))
    return ImportView(steps)


def spoken_time(seconds: float) -> str:
    """Format a duration in words.

    Examples
    --------
    >>> spoken_time(4), spoken_time(95), spoken_time(3600 * 2.6)
    ('a few seconds', 'about 2 minutes', 'about 3 hours')
    """
    if seconds < 10:
        return "a few seconds"
    if seconds < 60:
        return f"about {10 * round(seconds / 10)} seconds"
    if seconds < 5400:
        return f"about {count(max(round(seconds / 60), 1), 'minute')}"
    return f"about {count(round(seconds / 3600), 'hour')}"


def fit_view(found: TaskState) -> FitView:
    """Describe the progress of a fit."""
    progress = found.progress
    planned: Mapping[str, Any] = progress.get("planned", {})
    most = int(progress.get("iterations") or planned.get("iterations") or 0)
    chains = [
        ChainView(
            number=number + 1,
            iteration=int(chain["iteration"]),
            share=min(chain["iteration"] / most, 1.0) if most else 0.0,
            topics=int(chain["topics"]),
            speed=chain["speed"],
        )
        for number, chain in enumerate(progress.get("chains", []))
    ]
    stage, explanation = _stage(found, chains, most)
    return FitView(
        stage=stage,
        explanation=explanation,
        share=sum(chain.share for chain in chains) / len(chains) if chains else 0.0,
        chains=chains,
        iterations=most,
        left=_left(progress, planned) if found.active else "",
        chart=_chart(progress.get("traces", []), planned, most),
        agreement=_agreement(progress),
        topics=progress.get("topics", []),
    )


def _stage(found: TaskState, chains: Sequence[ChainView], most: int) -> tuple[str, str]:
    progress, planned = found.progress, found.progress.get("planned", {})
    done = min((chain.iteration for chain in chains), default=0)
    if found.state == "starting":
        return "Starting", "Starting a background process."
    if found.state == "stopping":
        return "Stopping", "Finishing the current step and saving everything."
    if progress.get("stage") == "scan":
        tried = planned.get("topics")
        text = f"Now trying at most {tried} topics." if tried else "Preparing."
        return (
            "Choosing the number of topics",
            f"{text} Several numbers are compared in short fits.",
        )
    waiting = progress.get("waiting")
    if not chains or not done or waiting == "start":
        return (
            "Preparing",
            (
                "Laying out the corpus. The first fit on a computer also compiles code, which "
                "takes a minute or two."
            ),
        )
    if done >= most:
        return "Writing the results", "Averaging the samples and saving them."
    if waiting in _JOINING:
        return f"{_JOINING[waiting]} join", "Compiling code, once per computer."
    network, burn_in = planned.get("network_from"), planned.get("burn_in", most)
    if network is not None and done < network:
        return "Finding first topics", "From words only; citations are added later."
    settled = str(progress.get("agreement", "")).endswith("the chains agree")
    if settled or done >= burn_in:
        return (
            "Keeping samples",
            "The topics have formed; from now on, samples are collected and averaged.",
        )
    return (
        "Refining topics",
        "The chains are compared every 50 iterations; the fit moves on when they agree.",
    )


def _left(progress: Mapping[str, Any], planned: Mapping[str, Any]) -> str:
    """Estimate the maximum time left, if possible."""
    times = [chain["seconds_left"] for chain in progress.get("chains", [])]
    if progress.get("stage") == "scan" or not times or any(time is None for time in times):
        return ""
    left = max(times) * len(times) / max(int(planned.get("at_a_time") or len(times)), 1)
    minutes = planned.get("minutes")
    if minutes and not planned.get("exactly"):
        left = min(left, max(60.0 * minutes - float(progress.get("seconds", 0.0)), 0.0))
    said = spoken_time(left)
    return said if planned.get("exactly") else f"at most {said}"


def _agreement(progress: Mapping[str, Any]) -> str:
    rhat, aim = progress.get("rhat"), progress.get("aim")
    if rhat is None:
        return ""
    if str(progress.get("agreement", "")).endswith("the chains agree"):
        return f"Yes: R-hat is {rhat:.2f}, the target is {aim}."
    why = str(progress.get("agreement", "")).partition("; ")[2]
    return f"Not yet: R-hat is {rhat:.2f}, the target is {aim}" + (f"; {why}." if why else ".")


def _chart(
    traces: Sequence[Sequence[Sequence[float]]], planned: Mapping[str, Any], most: int
) -> Markup:
    """Draw the log posterior of all chains so far."""
    series = [
        Series(f"chain {number + 1}", [(float(x), float(y)) for x, y in trace])
        for number, trace in enumerate(traces)
    ]
    later = [y for one in series for _, y in one.points[_CLIMB:]]
    last = max((one.points[-1][0] for one in series if one.points), default=0.0)
    marks = []
    network = planned.get("network_from")
    if network and network < min(last, most):
        marks.append((float(network) + 1, "citations from here"))
    wide, narrow = (
        lines(
            series,
            label="Log posterior per word by iteration, one line per chain",
            marks=marks,
            width=width,
            height=height,
            lowest=min(later) if later else None,
        )
        for width, height in SIZES
    )
    return for_all_screens(wide, narrow) if wide else Markup("")
