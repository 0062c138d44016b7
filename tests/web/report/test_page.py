"""The page: complete in itself, escaped, and honest about what is missing."""

import base64
import csv
import hashlib
import io
import itertools
import json
import re
from html.parser import HTMLParser

import pytest

from citeweave.errors import ParameterError, RunError
from citeweave.explore import Exploration
from citeweave.web.report import report_html, write_report
from web.report.literature import NASTY, NASTY_AUTHOR, fit, literature

VOID = {"meta", "br", "img", "input", "link", "hr"}


class Reader(HTMLParser):
    """Collects elements, ids and text, and checks that tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in {"script", "style"}:
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def page(run):
    return report_html(run)


@pytest.fixture(scope="module")
def reader(page):
    return read(page)


def test_the_page_loads_nothing(page: str, reader: Reader) -> None:
    policy = next(meta["content"] for meta in reader.all("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none'")
    for _, attributes in reader.elements:
        for name in ("src", "href", "action", "data", "srcset", "xlink:href"):
            value = attributes.get(name) or ""
            assert not value or value.startswith(("#", "data:text/csv;"))
    assert "@import" not in page
    assert not re.search(r"url\(", page)


def test_the_policy_names_the_one_script(page: str) -> None:
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}&#39;" in page


def test_what_comes_from_the_bibliography_is_escaped(page: str, reader: Reader) -> None:
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "Journal of <b>" not in page
    assert "Journal of &lt;b&gt;" in page
    assert NASTY in "".join(reader.text)
    assert NASTY_AUTHOR in "".join(reader.text)


def test_ids_are_unique_and_links_lead_somewhere(reader: Reader) -> None:
    ids = [attributes["id"] for _, attributes in reader.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    targets = {link["href"][1:] for link in reader.all("a") if link["href"].startswith("#")}
    assert targets <= set(ids)
    assert len(targets) >= 12


def test_headings_do_not_skip_a_level(reader: Reader) -> None:
    levels = [int(name[1]) for name, _ in reader.elements if re.fullmatch(r"h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below - above <= 1 for above, below in itertools.pairwise(levels))


def test_every_table_has_a_caption_and_every_drawing_a_name(reader: Reader) -> None:
    assert len(reader.all("caption")) == len(reader.all("table")) >= 6
    for drawing in reader.all("svg"):
        assert drawing.get("aria-label") or drawing.get("aria-hidden") == "true"


def test_the_figures_are_those_of_the_model(run, reader: Reader) -> None:
    view = Exploration(run)
    corpus = view.corpus
    for number in (corpus.n_documents, corpus.n_citations, corpus.n_authors):
        assert f"{number:,}" in reader.words
    for k in view.order:
        assert view.topic_name(k) in reader.words
    best = view.papers(top=1)
    assert best["title"][0] in reader.words
    share = view.topics()["share"][0]
    assert f"{100 * share:.1f}\u00a0%" in "".join(reader.text)


def test_the_map_has_a_dot_for_each_paper_in_the_colour_of_its_topic(run, page: str) -> None:
    view = Exploration(run)
    found = re.search(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    drawn = json.loads(found[1])
    assert drawn["topic"] == view.dominant.tolist()
    assert len(drawn["x"]) == len(drawn["y"]) == view.corpus.n_documents
    assert drawn["colours"] == [view.colours[k] for k in range(view.n_topics)]
    assert drawn["title"][0].startswith(NASTY)


def test_topics_have_the_colours_of_the_explorer(run, page: str) -> None:
    view = Exploration(run)
    cards = re.findall(r'id="t-(\d+)">\s*<h3><span class="swatch (topic-\d+)"', page)
    assert len(cards) >= 3
    for k, tone in cards:
        assert tone == f"topic-{view.colours.slot(int(k))}"
        assert f".{tone} {{ --topic: {view.colours[int(k)]}; }}" in page


def test_tables_inside_the_page_hold_all_rows(run, reader: Reader) -> None:
    view = Exploration(run)
    rows = {
        link["download"]: list(
            csv.reader(io.StringIO(base64.b64decode(link["href"].split(",", 1)[1]).decode()))
        )
        for link in reader.all("a")
        if "download" in link
    }
    assert set(rows) == {"topics.csv", "authors.csv", "papers.csv", "trends.csv", "flow.csv"}
    assert len(rows["topics.csv"]) == len(view.order) + 1
    assert len(rows["papers.csv"]) == view.corpus.n_documents + 1
    assert len(rows["authors.csv"]) == view.corpus.n_authors + 1
    flow = sum(float(cell) for row in rows["flow.csv"][1:] for cell in row[1:])
    assert flow == pytest.approx(view.corpus.n_citations, rel=0.02)
    for row in rows["trends.csv"][1:]:
        assert sum(float(cell) for cell in row[1:]) == pytest.approx(1.0, abs=0.02)


def test_few_papers_and_no_tables_make_it_smaller_and_say_so(run, page: str) -> None:
    few = report_html(run, max_papers=5)
    assert "The table of papers contains the 5 most influential of 60" in few
    none = report_html(run, tables=False)
    assert "data:text/csv" not in none
    assert len(none) < len(few) < len(page)


def test_a_new_name_of_a_topic_is_used() -> None:
    view = Exploration(fit(literature(), iterations=30))
    view.name_topic(view.order[0], "Earth & water")
    assert "Earth &amp; water" in report_html(view)


def test_one_chain_says_that_agreement_cannot_be_judged() -> None:
    words = read(report_html(fit(literature()))).words
    assert "one chain alone" in words or "Not settled" in words, words
    assert "The chains agree" not in words


def test_without_years_there_are_no_trends_and_a_reason() -> None:
    words = read(report_html(fit(literature(years=False)))).words
    assert "The corpus has no years" in words
    assert "Fastest growing" not in words


def test_without_authors_the_reason_is_given() -> None:
    made = read(report_html(fit(literature(authors=False))))
    assert "The corpus names no authors" in made.words
    assert not any("people" in (table.get("class") or "") for table in made.all("table"))


def test_without_citations_papers_are_ranked_by_topic() -> None:
    model = fit(literature(citations=False), model="cntm-text")
    made = read(report_html(model))
    assert "The papers with the largest share of each topic" in made.words
    assert "The corpus has no citations" in made.words
    assert "Influential papers" not in made.words


def test_without_titles_papers_are_named_by_their_ids() -> None:
    assert "papers are named by their ids" in report_html(fit(literature(titles=False)))


def test_an_unfinished_run_is_shown_as_far_as_it_is(unfinished, tmp_path) -> None:
    written = write_report(unfinished, tmp_path / "new" / "report.html")
    assert "of 120 iterations" in written.verdict.headline
    assert written.path.stat().st_size == written.size
    assert "This run is not finished" in written.path.read_text(encoding="utf-8")


def test_pmtlm_shows_topics_and_papers_and_says_what_it_lacks() -> None:
    from citeweave.baselines import PMTLM

    model = PMTLM(topics=3, restarts=2, iterations=30, seed=1).fit(literature())
    made = read(report_html(model))
    assert "Poisson mixed-topic link model" in made.words
    assert "No chains to judge" in made.words
    assert "soil" in made.words


def test_a_file_that_cannot_be_written_is_a_clear_error(run, tmp_path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(RunError, match="cannot be written"):
        write_report(run, tmp_path / "file" / "report.html")
    with pytest.raises(ParameterError, match="must name a file"):
        write_report(run, tmp_path)
    with pytest.raises(ParameterError, match="max_papers"):
        report_html(run, max_papers=-1)
