"""The page in a real browser: quiet, alone, usable by keyboard, sound to axe-core."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from citeweave.web.report import write_report
from reference import browser as browser_tools

axe_module = browser_tools.axe()
pytestmark = browser_tools.needs_browser

NETWORK = "#network .canvas"
SIZES = [(1280, "light"), (390, "dark")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from browser_tools.launch()


@pytest.fixture(scope="module")
def address(run: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    written = write_report(run, tmp_path_factory.mktemp("page") / "report.html")
    return written.path.resolve().as_uri()


def open_page(browser: Any, address: str, width: int = 1280, scheme: str = "light") -> Any:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.heard = []
    page.on("console", lambda message: page.heard.append(message.text))
    page.on("pageerror", lambda error: page.heard.append(str(error)))
    page.on("request", lambda request: page.heard.append(request.url))
    page.goto(address)
    return page


def view_box(page: Any) -> list[float]:
    return [float(x) for x in page.locator(f"{NETWORK} > svg").get_attribute("viewBox").split()]


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_it_is_quiet_loads_nothing_and_fits(browser, address, width, scheme) -> None:
    page = open_page(browser, address, width, scheme)
    assert page.heard == [address]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.context.close()


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_axe_finds_nothing_serious(browser, address, width, scheme) -> None:
    page = open_page(browser, address, width, scheme)
    found = axe_module.Axe().run(page).response["violations"]
    serious = [
        (rule["id"], [node["target"] for node in rule["nodes"]][:3])
        for rule in found
        if rule["impact"] in {"serious", "critical"}
    ]
    assert serious == []
    page.context.close()


def test_the_network_zooms_by_button_and_by_keyboard(browser, address) -> None:
    page = open_page(browser, address)
    whole = view_box(page)
    page.get_by_role("button", name="Zoom in: Network of authors and topics").click()
    closer = view_box(page)
    assert closer[2] == pytest.approx(whole[2] / 1.4, rel=1e-3)
    picture = page.locator(NETWORK)
    picture.focus()
    picture.press("ArrowRight")
    assert view_box(page)[0] > closer[0]
    picture.press("0")
    assert view_box(page) == pytest.approx(whole, abs=0.01)
    page.context.close()


def test_it_is_dragged_once_it_is_zoomed(browser, address) -> None:
    page = open_page(browser, address)
    picture = page.locator(NETWORK)
    picture.scroll_into_view_if_needed()
    picture.focus()
    picture.press("+")
    before = view_box(page)
    box = picture.bounding_box()
    x, y = box["x"] + 8, box["y"] + 8
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 10)
    page.mouse.up()
    after = view_box(page)
    assert after[0] < before[0]
    assert after[1] < before[1]
    page.context.close()


def test_without_scripts_the_picture_is_whole_and_there_are_no_dead_buttons(
    browser, address
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator(f"{NETWORK} > svg").is_visible()
    assert page.locator("button").count() == 0
    context.close()


def test_the_first_tab_skips_to_the_report(browser, address) -> None:
    page = open_page(browser, address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.context.close()


def test_a_table_can_be_saved(browser, address, tmp_path) -> None:
    page = open_page(browser, address)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Papers papers.csv").click()
    waiting.value.save_as(tmp_path / "papers.csv")
    assert waiting.value.suggested_filename == "papers.csv"
    assert len((tmp_path / "papers.csv").read_text(encoding="utf-8").splitlines()) == 61
    page.context.close()


def test_it_prints_on_white_with_nothing_cut_off(browser, address) -> None:
    page = open_page(browser, address, scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav.contents").is_visible()
    page.set_viewport_size({"width": 700, "height": 990})  # A4 less its margins
    cut = page.evaluate(
        "[...document.querySelectorAll('table')]"
        ".filter(t => t.getBoundingClientRect().right > innerWidth + 1).length"
    )
    assert cut == 0
    page.context.close()
