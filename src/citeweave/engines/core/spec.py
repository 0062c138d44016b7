"""Models as data: a list of levels on the topic side and one on the word side.

Every model of the paper is the full model with some levels left out, so a new model is a new list,
and the same sampler works for it.
"""

from dataclasses import dataclass, replace
from typing import Self

from citeweave.errors import ParameterError

__all__ = [
    "COLUMN",
    "DISCOUNT_LIMIT",
    "LATENT_CATEGORY",
    "LEFT_OUT",
    "MOST_TOPICS",
    "PAPER",
    "PAPER_LEVELS",
    "PRESETS",
    "SELF_CITATIONS",
    "ZERO",
    "Level",
    "ModelSpec",
    "preset",
]

MOST_TOPICS = 4096
"""Largest possible number of topics; assignments are stored in 16 bits."""

DISCOUNT_LIMIT = 0.999
"""Largest discount for which Stirling ratios have the stated accuracy; above it, almost every
customer has its own table."""

LEFT_OUT = "left-out"
ZERO = "zero"
PAPER = "paper"
SELF_CITATIONS = (LEFT_OUT, ZERO, PAPER)
"""What is known about x_ii, a paper's citations of itself: nothing, that there are none, or that
there is one, as in the paper."""

LATENT_CATEGORY = "latent-category"
"""Nodes of a level of latent categories."""
PAPER_LEVELS = ("venue", "period", "country", "institution", "type")
"""Nodes of levels that divide papers by an attribute (`ModelSpec.with_level`)."""
COLUMN = "column:"
"""Prefix of the name of a metadata column: nodes of a level that divides papers by it."""
TOPIC_NODES = (
    "corpus",
    *PAPER_LEVELS,
    f"{COLUMN}NAME",
    "category",
    "author",
    "group",
    LATENT_CATEGORY,
    "document",
)
WORD_NODES = ("corpus", "topic", "document-topic")
_OF_AUTHORS = ("author", "group")


@dataclass(frozen=True, slots=True)
class Level:
    """One level of Pitman-Yor processes.

    Parameters
    ----------
    name : str
        Name in traces and tables.
    nodes : str
        What the nodes of this level stand for. Topic side: ``corpus`` (the root),
        ``venue``, ``period``, ``country``, ``institution``, ``type`` and ``column:NAME`` (which
        divide papers by their metadata), ``category``, ``author``, ``group`` (author or category,
        by eta), ``latent-category`` (the category of papers without a label is sampled),
        ``document``. Word side: ``corpus``, ``topic``, ``document-topic``.
    discount : float
        alpha, in [0, 1).
    shared_concentration : bool
        One concentration for all nodes of the level (default), or one per node.

    Examples
    --------
    >>> from citeweave import Level
    >>> Level("venue", "venue", discount=0.2).divides_papers
    True
    """

    name: str
    nodes: str
    discount: float
    shared_concentration: bool = True

    @property
    def divides_papers(self) -> bool:
        """Whether nodes are values of a column of the corpus, one per paper."""
        return self.nodes in PAPER_LEVELS or self.nodes.startswith(COLUMN)

    @property
    def column(self) -> str:
        """The attribute behind its nodes: ``venue``, ..., or the name of a metadata column."""
        return self.nodes.removeprefix(COLUMN)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as a list of levels.

    Parameters
    ----------
    name : str
    topic_side : tuple of Level
        Root first. The first level is the corpus, levels that divide papers follow, and document
        levels come last.
    word_side : tuple of Level
        An optional corpus level, the topics, an optional document-topic level (burstiness).
    citations : str or None
        Name of the document level whose topics citations see; None for a model of text alone.
    words_choose_author : bool
        Each word chooses one of the document's authors (the author-topic model); the last level of
        the topic side is then that of authors.
    tables_choose_author : bool
        Each table of a document's upper level is served by one of its authors, or by a category
        that replaces authors with few papers; the level above must be theirs.
    word_weight : float
        zeta, in (0, 1]: the power to which the density of the word side is raised, relative to
        topics and citations (docs/understand/tempering.md). 1 is the paper's model.

    Examples
    --------
    A variant without burstiness is the same list, one level shorter:

    >>> plain = preset("cntm-text").without("phi'")
    >>> [level.name for level in plain.word_side]
    ['gamma', 'phi']
    """

    name: str
    topic_side: tuple[Level, ...]
    word_side: tuple[Level, ...]
    citations: str | None = None
    words_choose_author: bool = False
    word_weight: float = 1.0
    tables_choose_author: bool = False

    def __post_init__(self) -> None:
        """Reject lists of levels that do not form a model."""
        if not 0.0 < self.word_weight <= 1.0:
            raise ParameterError(
                f"The weight of words of model {self.name!r} must be in (0, 1]. "
                f"Got {self.word_weight!r} instead."
            )
        kinds = [level.nodes for level in self.topic_side]
        for level, allowed, side in [
            *((level, TOPIC_NODES, "topic") for level in self.topic_side),
            *((level, WORD_NODES, "word") for level in self.word_side),
        ]:
            if level.nodes not in allowed and not (side == "topic" and level.divides_papers):
                raise ParameterError(
                    f"Level {level.name!r} on the {side} side must have nodes that are one of "
                    f"{', '.join(allowed)}. Got {level.nodes!r} instead."
                )
            if not 0.0 <= level.discount < 1.0:
                raise ParameterError(
                    f"The discount of level {level.name!r} must be in [0, 1). "
                    f"Got {level.discount!r} instead."
                )
        if len(kinds) < 2 or kinds[0] != "corpus" or "corpus" in kinds[1:]:
            raise ParameterError(
                f"The topic side of model {self.name!r} must begin with its one corpus level and "
                f"have a level below it. Got {kinds} instead."
            )
        if "document" in kinds and kinds[kinds.index("document") :] != ["document"] * kinds.count(
            "document"
        ):
            raise ParameterError(
                f"Document levels of model {self.name!r} must come last on the topic side. "
                f"Got {kinds} instead."
            )
        dividing = [level.divides_papers for level in self.topic_side[1:]]
        if dividing != sorted(dividing, reverse=True):
            raise ParameterError(
                f"Levels of model {self.name!r} that divide papers must be directly below its "
                f"corpus level. Got {kinds} instead."
            )
        if LATENT_CATEGORY in kinds and kinds[1:3] != [LATENT_CATEGORY, "document"]:
            raise ParameterError(
                f"Latent categories of model {self.name!r} must be its only level between the "
                f"corpus and the documents. Got {kinds} instead."
            )
        words = [level.nodes for level in self.word_side]
        if [kind for kind in WORD_NODES if kind in words] != words or "topic" not in words:
            raise ParameterError(
                f"The word side of model {self.name!r} must be topics, with at most a corpus level "
                f"above and a document-topic level below. Got {words} instead."
            )
        if self.words_choose_author and (kinds[-1] != "author" or "document-topic" in words):
            raise ParameterError(
                f"In model {self.name!r} words choose their author: its topic side must end with "
                "the authors and its word side must have no document-topic level."
            )
        if not self.words_choose_author and kinds[-1] != "document":
            raise ParameterError(
                f"The topic side of model {self.name!r} must end with a document level. "
                f"Got {kinds} instead."
            )
        if self.tables_choose_author and (
            "document" not in kinds or kinds[kinds.index("document") - 1] not in _OF_AUTHORS
        ):
            raise ParameterError(
                f"In model {self.name!r} all authors of a document count: the level above its "
                f"documents must be of {' or '.join(_OF_AUTHORS)} nodes. Got {kinds} instead."
            )
        if self.tables_choose_author and self.paper_levels:
            names = ", ".join(level.name for level in self.paper_levels)
            raise ParameterError(
                f"In model {self.name!r} all authors of a document count, so no level may divide "
                f"papers. Leave {names} out, or use first authors only."
            )
        documents = [level.name for level in self.topic_side if level.nodes == "document"]
        if self.citations is not None and self.citations not in documents:
            raise ParameterError(
                f"Citations of model {self.name!r} must see one of its document levels "
                f"({', '.join(documents) or 'it has none'}). Got {self.citations!r} instead."
            )
        if self.tables_choose_author and self.citations not in {None, documents[0]}:
            raise ParameterError(
                f"In model {self.name!r} all authors of a document count: citations must see its "
                f"upper document level ({documents[0]}). Got {self.citations!r} instead."
            )

    @property
    def n_shared(self) -> int:
        """Number of topic-side levels above documents."""
        return sum(level.nodes != "document" for level in self.topic_side)

    @property
    def paper_levels(self) -> tuple[Level, ...]:
        """The levels that divide papers, upper first."""
        return tuple(level for level in self.topic_side if level.divides_papers)

    @property
    def n_document(self) -> int:
        """Number of document levels."""
        return len(self.topic_side) - self.n_shared

    @property
    def below_citations(self) -> int:
        """Number of document levels below the one that citations see."""
        if self.citations is None:
            return 0
        names = [level.name for level in self.topic_side]
        return len(names) - 1 - names.index(self.citations)

    @property
    def draws_categories(self) -> bool:
        """Whether papers have latent categories."""
        return self.topic_side[1].nodes == LATENT_CATEGORY

    def word_level(self, nodes: str) -> Level | None:
        """Find a word-side level by its kind of nodes.

        Examples
        --------
        >>> from citeweave import preset
        >>> preset("scntm").word_level("topic").name
        'phi'
        """
        return next((level for level in self.word_side if level.nodes == nodes), None)

    def without(self, *names: str) -> Self:
        """Copy the model with some levels left out.

        Examples
        --------
        >>> from citeweave import preset
        >>> [level.name for level in preset("scntm").without("phi'").word_side]
        ['gamma', 'phi']
        """
        known = {level.name for level in (*self.topic_side, *self.word_side)}
        if unknown := set(names) - known:
            raise ParameterError(
                f"Model {self.name!r} has no level {sorted(unknown)}. "
                f"Did you mean one of: {', '.join(sorted(known))}?"
            )
        return replace(
            self,
            topic_side=tuple(level for level in self.topic_side if level.name not in names),
            word_side=tuple(level for level in self.word_side if level.name not in names),
            citations=None if self.citations in names else self.citations,
        )

    def with_level(self, name: str) -> Self:
        """Copy the model with a level that divides papers by their metadata.

        The level is placed below the corpus and previously added levels, and above all others,
        whose nodes are nested within its nodes: an author who publishes in two venues has two
        nodes. A paper's topics therefore vary about those of the author in its venue, and these
        about those of the venue.

        Parameters
        ----------
        name : str
            ``venue``, ``period`` (bins of years), ``country``, ``institution`` (for both, the first
            that a paper names), ``type`` (of document), or a metadata column of the corpus.

        Examples
        --------
        >>> spec = preset("scntm").with_level("venue")
        >>> [level.name for level in spec.topic_side]
        ['mu', 'venue', 'nu', "theta'", 'theta']

        Venues alone, in place of authors:

        >>> [level.nodes for level in spec.without("nu").topic_side]
        ['corpus', 'venue', 'document', 'document']
        """
        nodes = name if name in PAPER_LEVELS else f"{COLUMN}{name}"
        if any(name == level.name for level in (*self.topic_side, *self.word_side)):
            raise ParameterError(f"Model {self.name!r} already has a level {name!r}.")
        if self.draws_categories:
            raise ParameterError(
                f"Model {self.name!r} has latent categories and accepts no level {name!r} above "
                "them. Omit one of the two."
            )
        place = 1 + len(self.paper_levels)
        level = Level(name, nodes, self.topic_side[0].discount)
        sides = (*self.topic_side[:place], level, *self.topic_side[place:])
        return replace(self, name=f"{self.name}+{name}", topic_side=sides)

    def with_categories(self) -> Self:
        """Copy the model with latent categories in place of its groups.

        Examples
        --------
        >>> [level.nodes for level in preset("scntm").with_categories().topic_side]
        ['corpus', 'latent-category', 'document', 'document']
        """
        kinds = [level.nodes for level in self.topic_side]
        if self.n_shared != 2 or self.words_choose_author:
            raise ParameterError(
                f"Latent categories need a model with one level between the corpus and the "
                f"documents. Model {self.name!r} has {kinds}."
            )
        top, groups, *documents = self.topic_side
        latent = replace(groups, nodes=LATENT_CATEGORY)
        return replace(self, topic_side=(top, latent, *documents))

    def with_all_authors(self) -> Self:
        """Copy the model so that all authors of a paper count, not only the first.

        Examples
        --------
        >>> preset("scntm").with_all_authors().tables_choose_author
        True
        """
        return replace(self, tables_choose_author=True)

    def with_discounts(self, *, topics: float | None = None, words: float | None = None) -> Self:
        """Copy the model with other discounts, the same on all levels of a side.

        Examples
        --------
        >>> from citeweave import preset
        >>> model = preset("scntm").with_discounts(words=0.5)
        >>> model.word_level("topic").discount
        0.5
        """
        return replace(
            self,
            topic_side=tuple(
                replace(level, discount=level.discount if topics is None else topics)
                for level in self.topic_side
            ),
            word_side=tuple(
                replace(level, discount=level.discount if words is None else words)
                for level in self.word_side
            ),
        )


TOPIC_DISCOUNT = 0.01
WORD_DISCOUNT = 0.7

_MU = Level("mu", "corpus", TOPIC_DISCOUNT)
_NU = Level("nu", "group", TOPIC_DISCOUNT)
_AUTHORS = Level("nu", "author", TOPIC_DISCOUNT)
_THETA_PRIME = Level("theta'", "document", TOPIC_DISCOUNT)
_THETA = Level("theta", "document", TOPIC_DISCOUNT)
_GAMMA = Level("gamma", "corpus", WORD_DISCOUNT)
_PHI = Level("phi", "topic", WORD_DISCOUNT)
_PHI_PRIME = Level("phi'", "document-topic", WORD_DISCOUNT)

PRESETS: dict[str, ModelSpec] = {
    spec.name: spec
    for spec in (
        ModelSpec(
            "scntm",
            topic_side=(_MU, _NU, _THETA_PRIME, _THETA),
            word_side=(_GAMMA, _PHI, _PHI_PRIME),
            citations="theta'",
        ),
        ModelSpec(
            "cntm-text",
            topic_side=(_MU, _NU, _THETA_PRIME, _THETA),
            word_side=(_GAMMA, _PHI, _PHI_PRIME),
        ),
        ModelSpec(
            "bursty-hdp-lda",
            topic_side=(_MU, _THETA),
            word_side=(_GAMMA, _PHI, _PHI_PRIME),
        ),
        ModelSpec(
            "np-atm",
            topic_side=(_MU, _AUTHORS),
            word_side=(_GAMMA, _PHI),
            words_choose_author=True,
        ),
    )
}


def preset(name: str) -> ModelSpec:
    """Look up a model by name.

    Examples
    --------
    >>> from citeweave import preset
    >>> [level.name for level in preset("scntm").word_side]
    ['gamma', 'phi', "phi'"]
    """
    try:
        return PRESETS[name]
    except KeyError:
        raise ParameterError(
            f"There is no model {name!r}. Did you mean one of: {', '.join(PRESETS)}?"
        ) from None
