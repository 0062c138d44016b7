"""Union-find over strings that mean the same thing."""

from __future__ import annotations

__all__ = ["Roots"]


class Roots:
    """Disjoint sets of strings.

    Examples
    --------
    >>> roots = Roots()
    >>> _ = roots.join(["id A1", "orcid 1"]), roots.join(["id A2", "orcid 1"])
    >>> roots.find("id A1") == roots.find("id A2")
    True
    """

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def find(self, tag: str) -> str:
        """Return the representative of the set that contains a string."""
        parent = self._parent
        parent.setdefault(tag, tag)
        while parent[tag] != tag:
            parent[tag] = parent[parent[tag]]
            tag = parent[tag]
        return tag

    def join(self, tags: list[str]) -> str:
        """Merge the sets of all given strings."""
        root = self.find(tags[0])
        for tag in tags[1:]:
            self._parent[self.find(tag)] = root
        return root
