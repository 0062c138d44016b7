"""Author disambiguation: separate people with the same name, and join spellings of one name."""

from __future__ import annotations

__all__: list[str] = []
