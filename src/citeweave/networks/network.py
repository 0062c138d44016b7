"""A weighted network of papers, authors, words or anything else that has a name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from citeweave.errors import ParameterError

__all__ = ["WeightedNetwork", "several"]


@dataclass(frozen=True, eq=False)
class WeightedNetwork:
    """Nodes with names and sizes, links with counts and weights.

    Attributes
    ----------
    kind : str
        What the links stand for: ``co-citation``, ``coupling``, ``co-authors``, ...
    of : str
        What the nodes are: ``paper``, ``author``, ``word``, ``country``, ...
    names : tuple of str, length n
    labels : tuple of str, length n
        Short names for pictures; empty if the names are short enough.
    keys : ndarray of int, shape (n,)
        Number of each node in the corpus: document d, author id.
    sizes : ndarray, shape (n,)
        Size of each node.
    size_name : str
        What the sizes count: ``papers``, ``citations``.
    links : ndarray of int, shape (m, 2)
        Indices of two nodes in `names`; (citing, cited) in a directed network, otherwise the
        smaller first.
    counts : ndarray, shape (m,)
        How often the two occur together, by full or fractional counting.
    weights : ndarray, shape (m,)
        The counts as a similarity; equal to `counts` if none was requested.
    years : ndarray, shape (n,)
        Mean year of each node, nan if unknown.
    papers : csr_array, shape (papers of the corpus, n), optional
        Papers that each node stands for: itself, those of an author, those with a word.
    groups : ndarray of int, shape (n,), optional
        Cluster of each node, numbered from 0, the largest first.
    main : ndarray of bool, shape (m,), optional
        Links on the main path, in a network of citations.
    directed : bool
    title : str
    notes : tuple of str
        What was selected or left out, in sentences.

    Examples
    --------
    >>> edges = [("Peru", "Chile", 3), ("Chile", "Cuba", 1)]
    >>> trade = WeightedNetwork.from_edges(edges, of="country")
    >>> trade
    WeightedNetwork('co-country', 3 nodes, 2 links)
    >>> trade.names, trade.links.tolist(), trade.weights.tolist()
    (('Peru', 'Chile', 'Cuba'), [[0, 1], [1, 2]], [3.0, 1.0])
    """

    kind: str
    of: str
    names: tuple[str, ...]
    keys: np.ndarray
    sizes: np.ndarray
    size_name: str
    links: np.ndarray
    counts: np.ndarray
    weights: np.ndarray
    years: np.ndarray
    labels: tuple[str, ...] = ()
    papers: Any = None
    groups: np.ndarray | None = None
    main: np.ndarray | None = None
    directed: bool = False
    title: str = ""
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[str, str, float]],
        *,
        of: str,
        kind: str | None = None,
        title: str = "",
        sizes: Mapping[str, float] | None = None,
        size_name: str = "links",
        years: Mapping[str, float] | None = None,
        groups: Mapping[str, int] | None = None,
    ) -> Self:
        """Build an undirected network from any weighted list of edges.

        Parameters
        ----------
        edges : iterable of (name, name, weight)
            The weights of repeated pairs are added; loops are left out.
        of : str
            What the names stand for: ``country``, ``institution``, ...
        kind, title : str
            ``co-country`` and so on if not given.
        sizes, years, groups : mapping from names, optional
            If no sizes are given, the size of a node is the sum of the weights of its links.
        size_name : str
            What the sizes count.

        Examples
        --------
        >>> from citeweave.networks import WeightedNetwork
        >>> edges = [("Peru", "Chile", 3), ("Peru", "Chile", 1)]
        >>> trade = WeightedNetwork.from_edges(edges, of="country")
        >>> trade.weights.tolist(), trade.sizes.tolist()
        ([4.0], [4.0, 4.0])
        """
        places: dict[str, int] = {}
        sums: dict[tuple[int, int], float] = {}
        for first, second, weight in edges:
            if not np.isfinite(weight) or weight < 0:
                raise ParameterError(
                    f"The weight of a link must be a number that is not negative. Got {weight!r} "
                    f"between {first!r} and {second!r}."
                )
            a, b = (places.setdefault(name, len(places)) for name in (first, second))
            if a != b and weight > 0:
                pair = (min(a, b), max(a, b))
                sums[pair] = sums.get(pair, 0.0) + float(weight)
        names = tuple(places)
        links = np.array(sorted(sums), np.int64).reshape(-1, 2)
        counts = np.array([sums[a, b] for a, b in links.tolist()])
        strength = np.bincount(links.ravel(), np.repeat(counts, 2), len(names))
        known = None if groups is None else np.array([groups[name] for name in names], np.int64)
        return cls(
            kind=kind or f"co-{of}",
            of=of,
            names=names,
            keys=np.arange(len(names)),
            sizes=strength if sizes is None else _values(names, sizes, 0.0),
            size_name=size_name,
            links=links,
            counts=counts,
            weights=counts,
            years=_values(names, years or {}, np.nan),
            groups=known,
            title=title or f"Network of {several(of)}",
        )

    @property
    def strength(self) -> np.ndarray:
        """Sum of the counts of each node's links, its total link strength, shape (n,)."""
        return np.bincount(self.links.ravel(), np.repeat(self.counts, 2), len(self.names))

    def chosen(self, places: np.ndarray) -> Self:
        """Return the network of some of its nodes, given by their positions in ascending order.

        Examples
        --------
        >>> import numpy as np
        >>> from citeweave.networks import WeightedNetwork
        >>> edges = [("Peru", "Chile", 3), ("Chile", "Cuba", 1)]
        >>> trade = WeightedNetwork.from_edges(edges, of="country")
        >>> trade.chosen(np.array([0, 1])).names
        ('Peru', 'Chile')
        """
        number = np.full(len(self.names), -1)
        number[places] = np.arange(len(places))
        links = number[self.links]
        inside = (links >= 0).all(axis=1)
        return replace(
            self,
            names=tuple(self.names[place] for place in places.tolist()),
            labels=tuple(self.labels[place] for place in places.tolist() if self.labels),
            keys=self.keys[places],
            sizes=self.sizes[places],
            years=self.years[places],
            papers=None if self.papers is None else self.papers[:, places],
            groups=None if self.groups is None else self.groups[places],
            links=links[inside],
            counts=self.counts[inside],
            weights=self.weights[inside],
            main=None if self.main is None else self.main[inside],
        )

    def linked(self) -> Self:
        """Return the network without isolated nodes; a note says how many there were.

        Examples
        --------
        >>> import numpy as np
        >>> from citeweave.networks import WeightedNetwork
        >>> edges = [("Peru", "Chile", 3), ("Cuba", "Haiti", 1)]
        >>> trade = WeightedNetwork.from_edges(edges, of="country")
        >>> trade.chosen(np.array([0, 1, 2])).linked().names
        ('Peru', 'Chile')
        """
        degrees = np.bincount(self.links.ravel(), minlength=len(self.names))
        places = np.flatnonzero(degrees)
        alone = len(self.names) - len(places)
        if not alone:
            return self
        note = f"{alone:,} of {len(self.names):,} {several(self.of)} without a link are left out."
        return replace(self.chosen(places), notes=(*self.notes, note))

    def to_rows(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return nodes and links as rows for data frames.

        Examples
        --------
        >>> from citeweave.networks import WeightedNetwork
        >>> trade = WeightedNetwork.from_edges([("Peru", "Chile", 3)], of="country")
        >>> nodes, links = trade.to_rows()
        >>> nodes[0]["name"], len(links)
        ('Peru', 1)
        """
        groups = self.groups
        nodes = [
            {
                "key": int(self.keys[place]),
                "name": name,
                self.size_name: float(self.sizes[place]),
                "strength": float(strength),
                "year": None if np.isnan(self.years[place]) else float(self.years[place]),
                "cluster": None if groups is None else int(groups[place]),
            }
            for place, (name, strength) in enumerate(zip(self.names, self.strength, strict=True))
        ]
        links = [
            {
                "source": self.names[a],
                "target": self.names[b],
                "count": float(self.counts[place]),
                "weight": float(self.weights[place]),
            }
            for place, (a, b) in enumerate(self.links.tolist())
        ]
        return nodes, links

    def __repr__(self) -> str:
        """Show the sizes."""
        nodes, links = len(self.names), len(self.links)
        return (
            f"WeightedNetwork({self.kind!r}, {nodes:,} node{'s' * (nodes != 1)}, "
            f"{links:,} link{'s' * (links != 1)})"
        )


def several(noun: str) -> str:
    """Return the plural of a noun for nodes.

    Examples
    --------
    >>> several("paper"), several("country")
    ('papers', 'countries')
    """
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def _values(names: Sequence[str], given: Mapping[str, float], other: float) -> np.ndarray:
    return np.array([float(given.get(name, other)) for name in names])
