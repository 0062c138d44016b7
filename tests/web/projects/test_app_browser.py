"""The app in a real browser, end to end: from a file to the explorer, with a tab closed midway."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from citeweave.web.projects.tasks import ProjectTask
from reference import browser as browser_tools
from reference.patience import PATIENCE
from web.projects.sample import sample_csv
from web.test_web_browser import serious

browser_tools.axe()
pytestmark = browser_tools.needs_browser

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 800}


class App:
    """`citeweave app` as a process of its own, as a user starts it."""

    def __init__(self, shelf: Path) -> None:
        command = [sys.executable, "-m", "citeweave.cli.main", "app", str(shelf), "--port", "0"]
        self.process = subprocess.Popen([*command, "--no-open"], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert " at http" in line, line
        self.address = line.split(" at ")[1].split()[0]

    def end(self) -> str:
        """End it, as Ctrl-C does, and give its last words."""
        self.process.send_signal(signal.SIGINT)
        said, _ = self.process.communicate(timeout=PATIENCE)
        return said


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from browser_tools.launch()


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Path]:
    """A folder of projects; whatever happens, no fit goes on when the test has ended."""
    folder = tmp_path / "shelf"
    yield folder
    for task in folder.glob("*/tasks/*"):
        ProjectTask(task).stop()


@pytest.fixture
def app(shelf: Path) -> Iterator[App]:
    started = App(shelf)
    yield started
    if started.process.poll() is None:
        started.end()


class Tabs:
    """Opens tabs that note every complaint."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser = browser
        self.address = address
        self.complaints: list[str] = []

    def open(self, path: str = "/", **settings: Any) -> Any:
        context = self.browser.new_context(
            **({"viewport": WIDE, "base_url": self.address} | settings)
        )
        page = context.new_page()
        page.on(
            "console",
            lambda m: self.complaints.append(m.text) if m.type in {"error", "warning"} else None,
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on(
            "request",
            lambda r: (
                None
                if r.url.startswith((self.address, "data:", "blob:"))
                else self.complaints.append(r.url)
            ),
        )
        page.goto(path)
        return page

    def check(self, page: Any) -> None:
        """Look for what a screen reader or a telephone would stumble over."""
        assert serious(page) == [], page.url
        narrow = self.open(page.url, viewport=NARROW, color_scheme="dark")
        wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert narrow.evaluate(wider) <= 0, page.url
        assert serious(narrow) == [], f"{page.url}, dark"
        narrow.context.close()


def iteration(page: Any) -> int:
    """How far the first chain is, by the page."""
    text = page.locator(".chains .number").first.inner_text()
    return int(text.split(" of ")[0].replace(",", ""))


def further_than(page: Any, before: int) -> None:
    """Wait until the page, which renews itself, tells of more iterations."""
    number = "Number(found.textContent.split(' of ')[0].replaceAll(',', ''))"
    page.wait_for_function(
        "before => { const found = document.querySelector('.live .chains .number');"
        f" return found && {number} > before }}",
        arg=before,
    )


def test_from_upload_to_explorer(
    browser: Any, app: App, shelf: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    tabs = Tabs(browser, app.address)
    export = tmp_path / "my papers.csv"
    export.write_bytes(sample_csv())

    page = tabs.open()
    tabs.check(page)
    page.get_by_role("link", name="Choose files").click()
    tabs.check(page)
    page.locator("#files").set_input_files([export])
    page.get_by_text("my papers.csv").wait_for()
    page.get_by_label("Name of the project").fill("Three subjects")
    page.get_by_role("button", name="Import").click()
    page.get_by_role("link", name="Fit a model").wait_for()
    assert page.get_by_role("heading", level=1).inner_text() == "Three subjects"
    tabs.check(page)
    page.get_by_role("link", name="See what was imported").click()
    page.get_by_role("heading", name="Vocabulary").wait_for()
    tabs.check(page)

    # a fit that would take for ever: watched, left, found again by another server, stopped, resumed
    page.get_by_role("link", name="Fit a model").click()
    tabs.check(page)
    page.get_by_text("More settings").click()
    page.get_by_label("Maximum number of topics").fill("5")
    page.get_by_label("Maximum iterations").fill("900000")
    page.get_by_label("Run all iterations").check()
    page.get_by_label("Cores").fill("1")
    page.get_by_role("button", name="Start").click()
    page.locator(".live svg.chart").first.wait_for(state="attached")
    tabs.check(page)
    place = page.url.removeprefix(app.address)
    page.context.close()
    assert "The fit of 'Three subjects' continues in the background" in app.end()

    app = App(shelf)
    request.addfinalizer(app.end)
    tabs.address = app.address
    page = tabs.open()
    page.get_by_role("link", name="Watch").click()
    assert page.url.endswith(place)
    further_than(page, iteration(page))
    page.goto("/projects/three-subjects/fit")
    page.get_by_text("Only one fit runs at a time").wait_for()
    page.goto(place)
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("heading", name="Stopped").wait_for()
    tabs.check(page)
    stopped_at = iteration(page)
    page.get_by_role("button", name="Resume").click()
    further_than(page, stopped_at)
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("heading", name="Stopped").wait_for()
    page.get_by_role("link", name="Delete this model").click()
    page.get_by_role("button", name="Delete permanently").click()

    # and one that comes to its end
    page.get_by_role("link", name="Fit a model").click()
    page.get_by_text("More settings").click()
    page.get_by_label("Maximum number of topics").fill("5")
    page.get_by_label("Maximum iterations").fill("60")
    page.get_by_label("Chains").fill("1")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("link", name="Explore", exact=True).wait_for()
    tabs.check(page)
    page.get_by_role("link", name="Explore", exact=True).click()
    page.get_by_role("heading", name="Topics", exact=True).wait_for()
    page.locator(".topic-card a").first.click()
    page.get_by_role("heading", name="Distinctive words").wait_for()
    page.get_by_role("combobox").fill("soil")
    page.get_by_role("option").first.click()
    assert "/projects/three-subjects/run/explore/" in page.url
    page.get_by_role("link", name="Projects").click()
    page.wait_for_url("**/projects/three-subjects")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Open").click()
        page.get_by_role("link", name="topics.csv").click()
    assert saved.value.suggested_filename == "topics.csv"
    page.goto("/")
    tabs.check(page)
    page.get_by_role("link", name="Delete Three subjects").click()
    tabs.check(page)
    page.get_by_role("button", name="Delete permanently").click()
    page.get_by_role("link", name="Choose files").wait_for()
    page.context.close()
    assert tabs.complaints == []


def test_files_are_dropped_removed_and_refused(browser: Any, app: App) -> None:
    tabs = Tabs(browser, app.address)
    page = tabs.open("/new")
    page.evaluate(
        """() => {
        const data = new DataTransfer();
        data.items.add(new File(["nothing of use"], "notes.bin"));
        data.items.add(new File(["@book{a, title={Soils}}"], "a.bib"));
        const drop = document.querySelector("#drop");
        const how = { dataTransfer: data, bubbles: true, cancelable: true };
        drop.dispatchEvent(new DragEvent("drop", how));
        }"""
    )
    page.get_by_text("notes.bin").wait_for()
    page.get_by_role("button", name="Remove a.bib").click()
    assert page.locator("#chosen li").count() == 1
    page.get_by_role("button", name="Import").click()
    page.get_by_role("heading", name="The import failed").wait_for()
    tabs.check(page)
    page.get_by_role("link", name="Try again with other settings").click()
    tabs.check(page)
    page.get_by_text("add or remove").click()
    page.get_by_role("button", name="Remove notes.bin from the project").wait_for()
    export = {"name": "more.csv", "mimeType": "text/csv", "buffer": sample_csv()}
    page.locator("#files").set_input_files([export])
    page.get_by_role("button", name="Add and import again").click()
    page.get_by_role("link", name="Fit a model").wait_for()
    page.get_by_role("link", name="See what was imported").click()
    page.get_by_text("add or remove").click()
    page.get_by_role("button", name="Remove notes.bin from the project").click()
    page.get_by_text("add or remove").click()
    tabs.check(page)
    assert page.get_by_role("button", name="from the project").count() == 1
    page.context.close()
    assert tabs.complaints == []
