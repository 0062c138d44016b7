"""Union-find over texts: which tags stand for one thing."""

from __future__ import annotations

__all__ = ["Roots"]


class Roots:
    """Sets of texts that are joined as they are seen together.

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
        """Return the tag that stands for the set of this one."""
        parent = self._parent
        parent.setdefault(tag, tag)
        while parent[tag] != tag:
            parent[tag] = parent[parent[tag]]
            tag = parent[tag]
        return tag

    def join(self, tags: list[str]) -> str:
        """Make one set of those of all tags."""
        root = self.find(tags[0])
        for tag in tags[1:]:
            self._parent[self.find(tag)] = root
        return root
