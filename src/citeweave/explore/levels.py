"""Levels that divide papers (venue, period, ...): the topics of each node in the model."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citeweave.corpus.columns import PERIOD, paper_column
from citeweave.errors import NotFoundError
from citeweave.explore.contributors import KINDS, singular_of
from citeweave.explore.frames import Columns
from citeweave.explore.parts import join_parts
from citeweave.explore.topics import mixture_columns
from citeweave.model import Groups

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citeweave.explore.exploration import Exploration

__all__ = [
    "LevelTopics",
    "contributor_estimates",
    "contributor_nodes",
    "level_columns",
    "level_topics",
    "paper_levels",
]

_VALUE = 4  # place in model.groups.KINDS


class LevelTopics(NamedTuple):
    """The nodes of one level, in display order."""

    name: str
    groups: Groups
    rows: np.ndarray
    """int64 [nodes]: periods by time, others by number of papers, unknown ones last."""
    topics: np.ndarray
    """float [B, K]: by row of the groups."""
    spread: np.ndarray | None
    """Standard deviation of the topics over samples, if the run kept it."""

    @property
    def timed(self) -> bool:
        """Whether its nodes are successive periods of all papers."""
        return self.groups.column == PERIOD and self.groups.above is None


def paper_levels(view: "Exploration") -> list[str]:
    """Return the names of the levels of a model that divide papers, upper levels first."""
    levels: Mapping[str, Groups] = getattr(view.model, "levels_", {})
    return [name for name, groups in levels.items() if groups.column]


def level_topics(view: "Exploration", name: str) -> LevelTopics:
    """Return the nodes of one level.

    Raises
    ------
    NotFoundError
        The model has no such level; the message says how to fit one.
    """
    if name not in paper_levels(view):
        raise NotFoundError(
            f"The model '{view.model_name}' has no level '{name}'. Fit one that has: "
            f"citeweave fit CORPUS --level {name}"
        )
    groups: Groups = view.model.levels_[name]
    topics = np.asarray(view.model.level_topic_[name])
    spread = view.model.level_topic_sd_.get(name)
    order = groups.label if groups.column == PERIOD else -groups.documents
    rows = np.lexsort((np.arange(len(groups)), order, groups.parent, groups.kind != _VALUE))
    return LevelTopics(name, groups, rows, topics, spread)


def level_columns(view: "Exploration", names: list[str]) -> Columns:
    """Return the columns of the table of levels: one row per node, with topics and intervals."""
    found = [level_topics(view, name) for name in names]
    rows = [(level, row) for level in found for row in level.rows.tolist()]
    mixtures = [
        view.mixture(
            level.topics[row], None if level.spread is None else np.asarray(level.spread[row])
        )
        for level, row in rows
    ]
    main = [parts[0] if parts else None for parts in mixtures]
    columns: dict[str, tuple[str, Any]] = {
        "level": ("text", [level.name for level, _ in rows]),
        "node": ("int", [row for _, row in rows]),
        "name": ("text", [level.groups.names[row] for level, row in rows]),
        "papers": ("int", [int(level.groups.documents[row]) for level, row in rows]),
        "topic": ("int", [None if part is None else part.topic for part in main]),
        "topic_name": ("text", [None if part is None else part.name for part in main]),
        "weight": ("float", [None if part is None else part.weight for part in main]),
        "weight_low": ("float", [None if part is None else part.low for part in main]),
        "weight_high": ("float", [None if part is None else part.high for part in main]),
        **mixture_columns(mixtures),
    }
    return columns


def contributor_estimates(
    view: "Exploration", kind: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None] | None:
    """Find topics of venues, countries or institutions for which the model has a level.

    Returns
    -------
    numbers : ndarray of int64, shape (n,)
        Contributors that have a node.
    topics : ndarray, shape (n, K)
    spread : ndarray, shape (n, K), or None
        All None for a model without such a level.
    """
    name = singular_of(kind)
    if name not in paper_levels(view):
        return None
    level = level_topics(view, name)
    groups, topics, spread = join_parts(level.groups, level.topics, level.spread)
    found = _numbers(view, kind, groups)
    rows = np.array(list(found), np.int64)
    numbers = np.array(list(found.values()), np.int64)
    return numbers, topics[rows], None if spread is None else np.asarray(spread)[rows]


def contributor_nodes(view: "Exploration", level: LevelTopics) -> dict[int, str]:
    """Return the address of the page of each node of a level, by row, if there is one."""
    kind = next((kind for kind in KINDS if singular_of(kind) == level.groups.column), None)
    if kind is None or kind in view.literature.missing:
        return {}
    return {row: f"/{kind}/{i}" for row, i in _numbers(view, kind, level.groups).items()}


def _numbers(view: "Exploration", kind: str, groups: Groups) -> dict[int, int]:
    """Find the contributor that each node stands for, by row."""
    found = view.literature.contributors(kind)
    number = {text.casefold(): i for i, text in reversed(list(enumerate(found.names)))}
    number |= {code.casefold(): i for i, code in enumerate(found.codes) if code}
    values = paper_column(view.corpus, groups.column, years=groups.years).values
    whose = {
        row: number.get(values[groups.label[row]].casefold(), -1)
        for row in np.flatnonzero(groups.kind == _VALUE).tolist()
    }
    return {row: i for row, i in whose.items() if i >= 0}
