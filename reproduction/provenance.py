"""Provenance of figures: versions and machine, without names of hosts, users or folders."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from citeweave import __version__
from reproduction.context import cores

__all__ = ["machine", "now", "versions"]

_PACKAGES = ("numpy", "scipy", "numba")


def versions() -> dict[str, str]:
    """Versions of this package, of Python and of numerical libraries."""
    found = {"citeweave": __version__, "python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _PACKAGES}


def machine() -> dict[str, Any]:
    """Cores, processor and memory of this computer."""
    from citeweave.experiments.machine import processor  # noqa: PLC0415 (loads the compiler)

    return {
        "cores": cores(),
        "processor": processor(),
        "memory_gib": _memory(),
        "system": platform.system(),
    }


def now() -> str:
    """Return the date and time in UTC, to the minute."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _memory() -> float | None:
    try:
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None  # not available on this system
    return round(pages / 2**30, 1)
