"""The explorer in a real browser, end to end: what a person does, and that it harms nobody."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reference import browser as browser_tools
from web.serving import Serving

axe = browser_tools.axe()
pytestmark = browser_tools.needs_browser

PAGES = ["", "topics", "topics/0", "authors", "authors/1", "papers", "papers/20", "network"]
PAGES += ["network?kind=flow", "map", "place", "diagnostics", "about", "api", "search?q=soil"]
PAGES += ["institutions", "institutions/2", "countries", "countries/0", "venues/0", "funders/0"]
PAGES += ["bibliometrics", "bibliometrics?kind=historiograph", "bibliometrics?kind=thematic"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from browser_tools.launch()


@pytest.fixture(scope="module")
def served(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    own = shutil.copytree(run, tmp_path_factory.mktemp("served") / "run")
    with Serving(own) as serving:
        yield serving.address


@pytest.fixture
def page(browser: Any, served: str) -> Iterator[Any]:
    """A page that notes every complaint and every request, and has none to regret at its end."""
    yield from watched(browser, served)


def watched(browser: Any, address: str, **options: Any) -> Iterator[Any]:
    settings = {"viewport": {"width": 1280, "height": 900}, "base_url": address} | options
    context = browser.new_context(**settings)
    page = context.new_page()
    complaints: list[str] = []
    foreign: list[str] = []
    page.on(
        "console",
        lambda m: complaints.append(m.text) if m.type in {"error", "warning"} else None,
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda r: None if r.url.startswith((address, "data:")) else foreign.append(r.url),
    )
    page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
    yield page
    context.close()
    assert complaints == []
    assert foreign == []


def serious(page: Any) -> list[tuple[str, list[Any]]]:
    found = axe.Axe().run(page).response["violations"]
    return [
        (rule["id"], [(node["target"], node["html"][:120]) for node in rule["nodes"]][:3])
        for rule in found
        if rule["impact"] in {"serious", "critical"}
    ]


NAMES_OUTSIDE = """svg => {
  const edge = svg.getBoundingClientRect();
  return [...svg.querySelectorAll(".cw-dot:not(.unnamed) text")]
    .filter(text => {
      const box = text.getBoundingClientRect();
      return box.left < edge.left - 1 || box.right > edge.right + 1;
    })
    .map(text => text.textContent);
}"""


def test_search_by_typing_and_arrows(page: Any) -> None:
    page.goto("/")
    page.keyboard.press("/")
    box = page.get_by_role("combobox", name="Search papers, authors and topics")
    assert box.evaluate("e => e === document.activeElement")
    page.keyboard.type("paper 17")
    options = page.get_by_role("option")
    options.first.wait_for()
    assert "Paper 17 on" in options.first.inner_text()
    assert box.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    assert box.get_attribute("aria-activedescendant") == options.first.get_attribute("id")
    page.keyboard.press("Enter")
    page.wait_for_url("**/papers/17")
    assert "Paper 17 on" in page.get_by_role("heading", level=1).inner_text()


def test_search_closes_and_says_when_nothing_is_found(page: Any) -> None:
    page.goto("/")
    box = page.get_by_role("combobox")
    box.fill("paper")
    page.get_by_role("option").first.wait_for()
    box.press("Escape")
    assert box.get_attribute("aria-expanded") == "false"
    assert page.get_by_role("option").count() == 0
    box.fill("zebra")
    page.get_by_text("Nothing found for “zebra”.").wait_for()
    box.press("Enter")
    page.get_by_role("heading", name="Results for “zebra”").wait_for()


def test_nasty_titles_stay_text_in_the_list_of_found(page: Any) -> None:
    page.goto("/")
    page.get_by_role("combobox").fill("script alert")
    found = page.get_by_role("option").first
    found.wait_for()
    assert "<script>alert('title')</script>" in found.inner_text()
    found.click()
    page.wait_for_url("**/papers/0")


def test_from_topic_to_author_to_paper(page: Any) -> None:
    page.goto("/")
    page.locator(".topic-card a").first.click()
    page.wait_for_url(re.compile(r"/topics/\d+$"))
    page.locator("section[aria-labelledby=authors] a.title").first.click()
    page.wait_for_url(re.compile(r"/authors/\d+$"))
    title = page.locator("section[aria-labelledby=papers] a.title").first
    name = title.inner_text()
    title.click()
    page.wait_for_url(re.compile(r"/papers/\d+$"))
    assert page.get_by_role("heading", level=1).inner_text() == name


def view_box(page: Any) -> list[float]:
    return [float(x) for x in page.locator("svg.graph").get_attribute("viewBox").split()]


def test_the_network_zooms_moves_and_opens(page: Any) -> None:
    page.goto("/network")
    whole = view_box(page)
    page.get_by_role("button", name="Zoom in").click()
    assert view_box(page)[2] == pytest.approx(whole[2] / 1.4, rel=1e-3)
    page.get_by_role("button", name="Show all").click()
    assert view_box(page) == pytest.approx(whole, abs=0.01)
    frame = page.locator(".canvas").bounding_box()
    page.mouse.move(frame["x"] + 20, frame["y"] + 20)
    page.mouse.wheel(0, -200)
    page.wait_for_function(
        "w => document.querySelector('svg.graph').viewBox.baseVal.width < w", arg=whole[2]
    )
    before = view_box(page)
    page.mouse.down()
    page.mouse.move(frame["x"] + 120, frame["y"] + 50, steps=4)
    page.mouse.up()
    assert view_box(page)[0] < before[0]
    page.get_by_role("button", name="Show all").click()
    page.locator(".cw-node.cw-topic a").first.click()
    page.wait_for_url(re.compile(r"/topics/\d+$"))


def test_a_topic_leads_to_its_place_in_the_network(page: Any) -> None:
    page.goto("/network?kind=flow")
    whole = view_box(page)
    page.goto("/topics/1")
    page.get_by_role("link", name="Citation flow").click()
    page.wait_for_url("**/network?kind=flow#topic-1")
    page.locator("#topic-1.lit").wait_for()
    assert view_box(page)[2] == pytest.approx(whole[2] / 2, rel=0.01)


def test_a_node_is_dragged_with_its_lines_and_opens_nothing(page: Any) -> None:
    page.goto("/network")
    node = page.locator(".cw-node.cw-author").last  # drawn last, so that none lies above it
    node.scroll_into_view_if_needed()
    name = node.get_attribute("id")
    line = page.locator(
        f".cw-edge[data-source='{name}'] path, .cw-edge[data-target='{name}'] path"
    ).first
    before = (node.get_attribute("transform"), line.get_attribute("d"))
    box = node.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 50, steps=5)
    page.mouse.up()
    assert node.get_attribute("transform") != before[0]
    assert line.get_attribute("d") != before[1]
    assert page.url.endswith("/network")


def test_names_of_dots_stay_readable_and_more_appear_nearer(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto("/bibliometrics?kind=co-citation&top=60")
    sizes = """() => {
      const scale = document.querySelector(".canvas svg").getScreenCTM().a;
      const texts = [...document.querySelectorAll(".cw-dot text")];
      return texts.map((text) => scale * Number(text.getAttribute("font-size")));
    }"""
    page.wait_for_function("document.querySelector('.unnamed') !== null")
    assert min(page.evaluate(sizes)) > 10.5
    hidden = page.locator(".unnamed").count()
    for _ in range(6):
        page.get_by_role("button", name="Zoom in").click()
    assert page.locator(".unnamed").count() < hidden
    assert min(page.evaluate(sizes)) > 10.5


def test_names_of_dots_stay_inside_the_picture(page: Any) -> None:
    """At the edge a name moves inwards instead of being cut off."""
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for path in ("/bibliometrics?kind=co-citation&top=60", "/bibliometrics?kind=co-author"):
            page.goto(path)
            page.wait_for_function("document.querySelector('.tools') !== null")
            outside = page.locator("[data-picture] svg").evaluate(NAMES_OUTSIDE)
            assert outside == []


def test_a_dot_of_the_historiograph_is_dragged_with_its_arrows(page: Any) -> None:
    page.goto("/bibliometrics?kind=historiograph")
    edge = page.locator(".cw-edge:has(polygon)").first
    node = page.locator(f"#{edge.get_attribute('data-source')}")
    head = edge.locator("polygon")
    before = head.get_attribute("points")
    dot = node.locator("circle").bounding_box()
    x, y = dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y + 25, steps=4)
    page.mouse.up()
    assert head.get_attribute("points") != before
    assert "kind=historiograph" in page.url


def test_the_map_opens_a_paper(page: Any) -> None:
    page.goto("/map")
    page.locator("[data-map][data-ready=true]").wait_for()
    place = page.evaluate(
        """async () => {
          const map = await (await fetch("/api/map")).json();
          const span = (v) => [Math.min(...v), Math.max(...v)];
          const [[left, right], [top, bottom]] = [span(map.x), span(map.y)];
          const box = document.querySelector("canvas").getBoundingClientRect();
          const wide = (box.width - 56) / (right - left);
          const scale = Math.min(wide, (box.height - 56) / (bottom - top));
          return [box.x + box.width / 2 + scale * (map.x[7] - (left + right) / 2),
                  box.y + box.height / 2 + scale * (map.y[7] - (top + bottom) / 2)];
        }"""
    )
    page.mouse.move(*place)
    page.locator(".tip").wait_for(state="visible")
    assert page.locator(".tip").inner_text().startswith("Paper 7 on")
    page.mouse.click(*place)
    page.wait_for_url("**/papers/7")


def test_a_name_is_kept_after_a_restart(browser: Any, own_run: Path) -> None:
    for again in (False, True):
        with Serving(own_run) as serving:
            for page in watched(browser, serving.address):
                page.goto("/topics/1")
                if not again:
                    page.get_by_text("Rename this topic").click()
                    page.get_by_label("New name").fill("Under <the> sky")
                    page.get_by_role("button", name="Save name").click()
                    page.wait_for_url("**/topics/1")
                page.get_by_role("heading", level=1, name="Under <the> sky").wait_for()
                page.goto("/")
                assert page.get_by_role("link", name="Under <the> sky").count() == 1


def test_a_new_paper_is_placed(page: Any) -> None:
    page.goto("/place")
    page.get_by_label("Title", exact=True).fill("Soil and harvest")
    page.get_by_label("Abstract").fill("We study the crop, the seed and the soil of a harvest.")
    page.get_by_label("References").fill("Paper 3 on soil")
    page.get_by_role("button", name="Place it").click()
    page.get_by_role("heading", name="Where it belongs").wait_for()
    for name in ("Topics", "Most similar papers", "Authors who know the field"):
        assert page.get_by_role("heading", name=name).is_visible()
    first = page.locator("section[aria-labelledby=similar] a.title").first
    assert "soil" in first.inner_text()
    assert page.get_by_label("Title", exact=True).input_value() == "Soil and harvest"


def test_a_table_is_downloaded(page: Any, tmp_path: Path) -> None:
    page.goto("/papers")
    page.get_by_label("Category").select_option("Sky")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**category=Sky**")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="CSV").first.click()
    waiting.value.save_as(tmp_path / "papers.csv")
    assert waiting.value.suggested_filename == "papers.csv"
    assert len((tmp_path / "papers.csv").read_text(encoding="utf-8-sig").splitlines()) == 21


def test_by_keyboard_alone(page: Any) -> None:
    page.goto("/network")
    page.keyboard.press("Tab")
    focused = "document.activeElement.textContent.trim()"
    assert page.evaluate(focused) == "Skip to content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")  # the choice of networks
    for _ in range(10):
        if page.evaluate("document.activeElement.classList.contains('canvas')"):
            break
        page.keyboard.press("Tab")
    whole = view_box(page)
    page.keyboard.press("+")
    assert view_box(page)[2] < whole[2]
    page.keyboard.press("ArrowRight")
    assert view_box(page)[0] > whole[0]
    page.keyboard.press("0")
    assert view_box(page) == pytest.approx(whole, abs=0.01)
    page.keyboard.press("Tab")
    where = page.evaluate("document.activeElement.closest('.cw-node').id")
    page.keyboard.press("Enter")
    kind, number = where.split("-")
    page.wait_for_url(f"**/{kind}s/{number}")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_page_is_sound_and_fits(browser: Any, served: str, width: int, scheme: str) -> None:
    size = {"width": width, "height": 844}
    for page in watched(browser, served, viewport=size, color_scheme=scheme):
        for path in PAGES:
            page.goto(f"/{path}")
            assert serious(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_the_menu_of_a_narrow_screen(browser: Any, served: str) -> None:
    for page in watched(browser, served, viewport={"width": 390, "height": 844}):
        page.goto("/")
        button = page.get_by_role("button", name="Menu")
        assert not page.get_by_role("link", name="Diagnostics").is_visible()
        button.click()
        assert button.get_attribute("aria-expanded") == "true"
        page.get_by_role("link", name="Diagnostics").click()
        page.wait_for_url("**/diagnostics")


def test_without_scripts_pages_and_forms_work(browser: Any, served: str) -> None:
    for page in watched(browser, served, java_script_enabled=False):
        page.goto("/")
        page.get_by_role("combobox").fill("paper 9")
        page.get_by_role("combobox").press("Enter")
        page.get_by_role("link", name="Paper 9 on").first.click()
        page.wait_for_url("**/papers/9")
        page.goto("/network")
        page.locator(".cw-node.cw-topic a").first.click()
        page.wait_for_url(re.compile(r"/topics/\d+$"))
