"""What `benchmarks.sampler` measures: shapes of corpora, systems, and what each system lacks."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Self

from citeweave.simulate import simulate

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FULL", "LACKS", "M10", "ML", "QUICK", "Effort", "Shape", "Task", "save_corpus"]


@dataclass(frozen=True)
class Shape:
    """Size of a simulated corpus; the two below are those of the paper's tbl:datasets."""

    name: str
    documents: int
    words: int
    vocabulary: int
    citations: int
    authors: int

    def scaled(self, factor: float) -> Self:
        """Fewer documents, authors and citations; the same words and vocabulary."""
        if factor == 1.0:
            return self
        return replace(
            self,
            name=f"{self.name} x {factor:.3g}",
            documents=max(int(self.documents * factor), 20),
            citations=max(int(self.citations * factor), 20),
            authors=max(int(self.authors * factor), 5),
        )


M10 = Shape("M10", 10_310, 58, 3_000, 77_222, 6_423)
ML = Shape("ML", 139_227, 59, 8_322, 1_105_462, 43_643)


@dataclass(frozen=True)
class Effort:
    """How much of everything is done."""

    scale: float
    """Of both shapes."""
    repeats: int
    """Rounds in which every system takes its turn."""
    burn_in: dict[str, int]
    """Iterations before anything is measured, by shape."""
    turn: dict[str, int]
    """Iterations of one turn, by shape."""
    topics: tuple[int, ...]
    """Numbers of topics on the M10 shape, side by side with the other systems."""
    growth: tuple[int, ...]
    """Numbers of topics for the growth of citeweave's cost with K."""
    parts: tuple[float, ...]
    """Parts of ML for the slope."""


FULL = Effort(
    scale=1.0,
    repeats=5,
    burn_in={"M10": 60, "ML": 20},
    turn={"M10": 8, "ML": 2},
    topics=(20, 50, 200),
    growth=(20, 50, 100, 200, 400, 800),
    parts=(0.1, 1 / 3, 1.0),
)
QUICK = Effort(
    scale=0.02,
    repeats=3,
    burn_in={"M10": 10, "ML": 5},
    turn={"M10": 5, "ML": 2},
    topics=(20, 50),
    growth=(20, 50, 100),
    parts=(0.1, 1 / 3, 1.0),
)


@dataclass(frozen=True)
class Task:
    """One system at work on one corpus."""

    label: str
    system: str
    model: str
    topics: int
    threads: int
    corpus: Path
    network_from: int = 0

    def as_job(self) -> dict[str, object]:
        """Return it as JSON takes it."""
        return asdict(self) | {"corpus": str(self.corpus)}


LACKS = {
    "citeweave scntm": "nothing: it is the whole model, with citations "
    "(topics: mu, nu, theta', theta; words: gamma, phi, phi')",
    "citeweave cntm-text": "citations; it has the same seven levels of text",
    "tomotopy HDP": "authors, citations, burstiness, a word background, Pitman-Yor processes "
    "(it estimates its two topic concentrations; its word prior is fixed)",
    "tomotopy HDP-few": "the same as tomotopy HDP; its word prior (eta = 0.5) keeps it near "
    "K topics",
    "tomotopy LDA": "all of the above, and a hierarchy over topics: K is fixed",
    "hca": "authors and citations (it has burstiness and Pitman-Yor processes on both sides)",
}


def save_corpus(shape: Shape, topics: int, folder: Path) -> Path:
    """Draw a corpus of this shape and number of topics, and save it; return its folder."""
    place = folder / f"{shape.name}-{topics}".replace(" ", "")
    if not place.exists():
        drawn = simulate(
            documents=shape.documents,
            vocabulary=shape.vocabulary,
            topics=topics,
            authors=shape.authors,
            words_per_document=shape.words,
            citations=shape.citations,
            seed=7,
        )
        drawn.corpus.save(place)
    return place
