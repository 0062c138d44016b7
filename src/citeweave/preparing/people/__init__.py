"""Telling people of one name apart, and joining the spellings of one person's name."""

from __future__ import annotations

__all__: list[str] = []
