"""A real browser for tests of pages: the system's Chromium, where there is one."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from reference.patience import PATIENCE

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next(filter(None, map(shutil.which, BROWSERS)), None)

needs_browser = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium on this machine")


def axe() -> Any:
    """The checker of accessibility; a module that asks for it skips where it is not installed."""
    return pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )


def launch() -> Iterator[Any]:
    """Start the browser, for a fixture to yield from."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        # a container has no user namespaces for the browser's sandbox; the pages are our own
        started = driver.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        make = started.new_context

        def new_context(**settings: Any) -> Any:
            context = make(**settings)
            context.set_default_timeout(1000 * PATIENCE)
            return context

        started.new_context = new_context
        yield started
        started.close()
