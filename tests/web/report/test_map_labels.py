"""The map in a real browser: every topic named at every zoom, no name over another, all papers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from citeweave.explore import Exploration
from citeweave.web.report import report_html
from explore.graphs.made_up import make_model
from reference import browser as browser_tools

pytestmark = browser_tools.needs_browser

PLACED = "document.querySelector('[data-map]').placed.map(({topic, x, y, half, tall, lines}) => "
PLACED += "({topic, x, y, half, tall, lines}))"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from browser_tools.launch()


def open_map(browser: Any, folder: Path, topics: int, width: int) -> Any:
    model = make_model(papers=20 * topics, topics=topics, citations=50)
    del model.traces_
    view = Exploration(model)
    for k in range(topics):
        view.name_topic(k, f"neural networks {k}, visual analytics, volume rendering")
    path = folder / "report.html"
    path.write_text(report_html(view, tables=False), encoding="utf-8")
    page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
    page.goto(path.resolve().as_uri())
    page.locator("[data-map][data-ready=true]").wait_for()
    return page


def overlapping(boxes: list[dict[str, float]]) -> list[tuple[float, float]]:
    return [
        (a["topic"], b["topic"])
        for i, a in enumerate(boxes)
        for b in boxes[i + 1 :]
        if abs(a["x"] - b["x"]) < a["half"] + b["half"] - 0.01
        and abs(a["y"] - b["y"]) < a["tall"] + b["tall"] - 0.01
    ]


@pytest.mark.parametrize(("topics", "width"), [(15, 1280), (50, 1280), (150, 1280), (50, 390)])
def test_every_topic_is_named_and_no_name_covers_another(
    browser: Any, tmp_path: Path, topics: int, width: int
) -> None:
    page = open_map(browser, tmp_path, topics, width)
    boxes = page.evaluate(PLACED)
    assert {box["topic"] for box in boxes} == set(range(topics))
    assert overlapping(boxes) == []
    canvas = page.locator("[data-map]")
    canvas.focus()
    for _ in range(10):
        named = sum(box["lines"][0] != str(box["topic"]) for box in page.evaluate(PLACED))
        canvas.press("+")
        closer = page.evaluate(PLACED)
        assert closer
        assert overlapping(closer) == []
    assert named > 0
    # close by, what is in sight has its name
    assert all(box["lines"][0] != str(box["topic"]) for box in closer)
    page.context.close()


def test_the_tooltip_goes_away(browser: Any, tmp_path: Path) -> None:
    page = open_map(browser, tmp_path, 6, 1280)
    canvas = page.locator("[data-map] canvas")
    canvas.scroll_into_view_if_needed()
    place = page.evaluate(
        """() => {
          const frame = document.querySelector("[data-map]");
          const data = JSON.parse(frame.querySelector("script").textContent);
          const span = (v) => [Math.min(...v), Math.max(...v)];
          const [[left, right], [top, bottom]] = [span(data.x), span(data.y)];
          const box = frame.getBoundingClientRect();
          const wide = (frame.clientWidth - 56) / (right - left);
          const scale = Math.min(wide, (frame.clientHeight - 56) / (bottom - top));
          return [box.x + box.width / 2 + scale * (data.x[7] - (left + right) / 2),
                  box.y + box.height / 2 + scale * (data.y[7] - (top + bottom) / 2)];
        }"""
    )
    tip = page.locator("[data-map] .tip")
    for leave in ("zoom", "scroll", "away"):
        page.mouse.move(place[0] + 200, place[1] + 300)
        page.mouse.move(*place)
        tip.wait_for(state="visible")
        if leave == "zoom":
            page.locator("[data-map]").press("+")
            page.locator("[data-map]").press("0")
        elif leave == "scroll":
            page.evaluate("window.dispatchEvent(new Event('scroll'))")
        else:
            page.mouse.move(2, 2)
        tip.wait_for(state="hidden")
    page.context.close()


def test_the_legend_stands_beside_the_map(browser: Any, tmp_path: Path) -> None:
    page = open_map(browser, tmp_path, 15, 1280)
    chart = page.locator("[data-map]").bounding_box()
    legend = page.locator(".map-legend").bounding_box()
    assert legend["x"] >= chart["x"] + chart["width"]
    assert abs(legend["y"] - chart["y"]) < 5
    page.context.close()


@pytest.mark.parametrize("width", [390])
def test_no_table_of_a_phone_scrolls_sideways(browser: Any, tmp_path: Path, width: int) -> None:
    page = open_map(browser, tmp_path, 15, width)
    wide = page.evaluate(
        "[...document.querySelectorAll('.table-wrap')]"
        ".filter((t) => t.scrollWidth > t.clientWidth + 1).map((t) => t.ariaLabel)"
    )
    assert wide == []
    page.context.close()
