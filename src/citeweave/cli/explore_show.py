"""Tables and pages of an exploration for the terminal."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from citeweave.cli.show import Fitting, add_figures, new_table
from citeweave.explore import Exploration, TopicWeight
from citeweave.explore.labels import short_label
from citeweave.wording import NBSP, number, percent

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "author_table",
    "category_table",
    "citation_table",
    "crosstab_table",
    "flow_table",
    "influence_table",
    "level_tables",
    "notes",
    "paper_table",
    "sparkline",
    "topic_table",
    "topics_of",
    "wide_console",
    "with_intervals",
]

WIDEST = 120
_BLOCKS = "▁▂▃▄▅▆▇█"
_TREND = 10
NAME = 34
SHORT = 22


def wide_console() -> Console:
    """Create a console without markup, up to 120 columns wide."""
    width = min(shutil.get_terminal_size((80, 24)).columns, WIDEST)
    return Console(markup=False, highlight=False, emoji=False, width=width)


def notes(view: Exploration, parts: Sequence[str]) -> list[Text]:
    """Explain why columns are empty or missing."""
    lines = [view.missing[part] for part in parts if part in view.missing]
    if view.names.note:
        lines.append(view.names.note)
    return [Text(line, style="dim") for line in lines]


def sparkline(values: Sequence[float | None], width: int = _TREND) -> str:
    """Draw values as a row of blocks, averaging neighbours to fit; years without papers are blank.

    Examples
    --------
    >>> sparkline([0.0, 0.5, None, 1.0])
    '▁▅ █'
    """
    cells: list[float | None] = []
    number = min(width, len(values))
    for cell in range(number):
        part = values[cell * len(values) // number : (cell + 1) * len(values) // number]
        known = [value for value in part if value is not None]
        cells.append(sum(known) / len(known) if known else None)
    highest = max((value for value in cells if value is not None), default=0.0) or 1.0
    return "".join(
        " " if value is None else _BLOCKS[min(int(8 * value / highest), 7)] for value in cells
    )


def mixture(weights: Iterable[TopicWeight | tuple[str, float]], width: int = NAME) -> list[str]:
    parts = []
    for part in weights:
        name, weight = (part.name, part.weight) if isinstance(part, TopicWeight) else part
        parts.append(f"{percent(weight, 0)} {short_label(name, width)}")
    return parts


def topic_table(view: Exploration, frame: "pl.DataFrame", most: int) -> Table:
    """List topics: share, papers, trend and words."""
    table = new_table(f"Topics ({len(frame)} in use)")
    add_figures(table, "topic", "share", "papers")
    if view.has_years:
        years = view.year_range
        table.add_column(f"{years[0]}–{years[-1]}", no_wrap=True, min_width=_TREND, style="cyan")
        add_figures(table, "a year")
    add_figures(table, "NPMI")
    table.add_column("name and words", ratio=1)
    for row in frame.head(most).iter_rows(named=True):
        cells = [str(row["topic"]), percent(row["share"]), f"{row['papers']:,}"]
        if view.has_years:
            cells += [sparkline(row["trend"]), percent(row["growth"], signed=True)]
        cells.append(number(row["coherence"], 2))
        name = Text(row["name"], style="bold", no_wrap=True, overflow="ellipsis")
        table.add_row(*cells, Group(name, Fitting(row["distinctive"], ", ", lines=3)))
    return table


def topics_of(row: Mapping[str, Any]) -> list[TopicWeight]:
    """Read the topics of a table row, with their intervals."""
    names = ("topics", "topic_names", "weights", "lows", "highs")
    return [TopicWeight(*values) for values in zip(*(row[name] for name in names), strict=True)]


def level_tables(frame: "pl.DataFrame", most: int | None) -> list[Table]:
    """List the nodes of each level with their papers and topics."""
    tables = []
    for (level,), part in frame.group_by("level", maintain_order=True):
        table = new_table(f"Topics by {level} ({len(part):,}; 90 % intervals)")
        add_figures(table, "papers")
        table.add_column(f"{level} and topics", ratio=1)
        for row in part.head(most or len(part)).iter_rows(named=True):
            name = Text(row["name"], style="bold", no_wrap=True, overflow="ellipsis")
            topics = Fitting(with_intervals(topics_of(row), SHORT), "; ", lines=2)
            table.add_row(number(row["papers"], 0), Group(name, topics))
        tables.append(table)
    return tables


def author_table(view: Exploration, frame: "pl.DataFrame") -> Table:
    """List authors: papers, influence, topics with intervals."""
    by = "influence" if view.author_influence is not None else "papers"
    table = new_table(f"Authors, by {by}")
    add_figures(table, "author", "papers", "first")
    if view.author_influence is not None:
        add_figures(table, "influence")
    table.add_column("name, topics (90 % interval), words", ratio=1)
    for row in frame.iter_rows(named=True):
        cells = [str(row["author"]), f"{row['papers']:,}", f"{row['first_papers']:,}"]
        if view.author_influence is not None:
            cells.append(number(row["influence"], 1))
        topics = with_intervals(topics_of(row), SHORT)
        if row["topics_from"] == "papers":
            topics = [f"{topics[0]} *", *topics[1:]]
        lines: list[Any] = [
            Text(row["name"], style="bold", no_wrap=True, overflow="ellipsis"),
            Fitting(topics, "; ", lines=2),
            Fitting(row["words"], ", "),
        ]
        if row.get("nearest"):
            lines.append(Fitting([f"near {row['nearest'][0]}", *row["nearest"][1:]], ", "))
        table.add_row(*cells, Group(*lines))
    if "papers" in frame["topics_from"].to_list():
        table.caption = "* not estimated by the model: mean over their papers"
        table.caption_justify = "left"
    return table


def influence_table(frame: "pl.DataFrame") -> Table:
    """List the influence of authors by topic."""
    table = new_table("Influence of authors by topic")
    table.add_column("author", no_wrap=True, overflow="ellipsis", ratio=1)
    add_figures(table, "influence", "topic")
    table.add_column("name", no_wrap=True, overflow="ellipsis", ratio=2)
    before = None
    for row in frame.iter_rows(named=True):
        name = "" if row["author"] == before else row["name"]
        before = row["author"]
        table.add_row(name, number(row["influence"], 2), str(row["topic"]), row["topic_name"])
    return table


def with_intervals(weights: Sequence[TopicWeight], width: int = NAME) -> list[str]:
    """Format topics as "81 % (70–90) soil, crop", without the interval if there is none."""
    parts = []
    for part in weights:
        span = ""
        if part.low is not None and part.high is not None:
            span = f"{NBSP}({100 * part.low:.0f}–{100 * part.high:.0f})"
        name = short_label(part.name, width)
        parts.append(f"{percent(part.weight, 0)}{span} {name}")
    return parts


def paper_table(view: Exploration, frame: "pl.DataFrame", topic: int | None) -> Table:
    """List papers: influence, topic, what they are cited for."""
    influence = view.cited_propensity is not None
    title = "Papers" if topic is None else f"Papers of topic {topic}: {view.topic_name(topic)}"
    # a model with undirected links has one propensity for both directions
    word = "influence (λ⁻)" if view.cite_propensity is not None else "popularity"
    table = new_table(f"{title}, by {word if influence else 'citations'}")
    add_figures(table, "paper")
    if influence:
        add_figures(table, word.partition(" ")[0])
    if view.cite_propensity is not None:
        add_figures(table, "citing (λ⁺)")
    add_figures(table, "cited")
    if view.has_years:
        add_figures(table, "year")
    table.add_column("title, topics, cited for", ratio=1)
    for row in frame.iter_rows(named=True):
        cells: list[Any] = [str(row["paper"])]
        if influence:
            cells.append(number(row["cited_propensity"], 1))
        if view.cite_propensity is not None:
            cells.append(number(row["cite_propensity"], 1))
        cells.append(f"{row['cited']:,}")
        if view.has_years:
            cells.append(str(row["year"] or ""))
        names = [view.topic_name(k) for k in row["topics"]]
        topics = mixture(zip(names, row["weights"], strict=True), SHORT)
        lines: list[Any] = [Text(row["title"], style="bold", no_wrap=True, overflow="ellipsis")]
        lines.append(Fitting(topics, "; ", lines=2))
        if row["cited_for"] is not None and row["cited_for"] != row["topic"]:
            lines.append(Fitting([f"cited for {row['cited_for_name']}"], ""))
        table.add_row(*cells, Group(*lines))
    return table


def citation_table(view: Exploration, frame: "pl.DataFrame") -> Table:
    """List citations with their most probable topics."""
    table = new_table(f"Citations ({len(frame):,} of {view.corpus.n_citations:,})")
    add_figures(table, "citing", "cited")
    table.add_column("citing paper, cited paper, topic", ratio=1)
    columns = [name for name in frame.columns if name.startswith("topic_") and name != "topic_name"]
    for row in frame.iter_rows(named=True):
        parts = sorted(((row[name], int(name[6:])) for name in columns), reverse=True)[:3]
        weights = [(view.topic_name(k), p) for p, k in parts if p >= 0.05]
        lines: list[Any] = [
            Text(row["citing_title"], no_wrap=True, overflow="ellipsis"),
            Text(f"→ {row['cited_title']}", no_wrap=True, overflow="ellipsis"),
            Fitting(mixture(weights, SHORT), "; "),
        ]
        table.add_row(str(row["citing"]), str(row["cited"]), Group(*lines))
    return table


def flow_table(view: Exploration, frame: "pl.DataFrame") -> Table:
    """List the largest flows of citations between topics."""
    table = new_table("Citations from topic to topic")
    add_figures(table, "citations")
    if "lift" in frame.columns:
        add_figures(table, "share", "lift")
    for name in ("from", "to"):
        table.add_column(name, no_wrap=True, overflow="ellipsis", ratio=1)
    if "made_for" in frame.columns:
        table.add_column("topic", no_wrap=True, overflow="ellipsis", ratio=1)
    for row in frame.iter_rows(named=True):
        cells = [number(row["citations"], 0)]
        if "lift" in frame.columns:
            cells += [percent(row["share"], 0), number(row["lift"], 2)]
        ends = [view.topic_name(row[name]) for name in ("citing_topic", "cited_topic")]
        if "made_for" in frame.columns:
            ends.append(row["made_for_name"])
        table.add_row(*cells, *(Text(end, no_wrap=True, overflow="ellipsis") for end in ends))
    return table


def category_table(view: Exploration, frame: "pl.DataFrame") -> Table:
    """List categories with their topics."""
    how = (
        "estimated by the model"
        if view.supervised
        else "means over their papers; not used by the model"
    )
    drawn = "sure" in frame.columns
    if drawn and view.groups is not None:
        how = f"{frame.height} of {len(view.groups)} are in use"
    table = new_table(f"Categories and their topics ({how})")
    table.add_column("category", no_wrap=True, overflow="ellipsis", min_width=14, ratio=1)
    add_figures(table, "papers", *(("labels", "sure") if drawn else ()))
    table.add_column(
        "topics, and words" if drawn else "topics, and words of the main topic", ratio=3
    )
    for row in frame.iter_rows(named=True):
        pairs = zip(row["topic_names"], row["weights"], strict=True)
        lines = Group(Fitting(mixture(pairs, SHORT), "; "), Fitting(row["words"], ", "))
        figures = [f"{row['papers']:,}"]
        if drawn:
            sure = "–" if row["sure"] is None else percent(row["sure"], 0)
            figures += [f"{row['labelled']:,}", sure]
        table.add_row(row["name"], *figures, lines)
    return table


def crosstab_table(view: Exploration, frame: "pl.DataFrame") -> Table:
    """List topics with their shares in each category, the largest categories first."""
    papers: dict[str, int] = {}
    for name, own in zip(frame["name"], frame["papers"], strict=True):
        papers[name] = papers.get(name, 0) + own
    shown = sorted(papers, key=lambda name: -papers[name])[:6]
    table = new_table("Share of each topic in each category")
    table.add_column("topic", no_wrap=True, overflow="ellipsis", ratio=1)
    for name in shown:
        table.add_column(name, justify="right", no_wrap=True, overflow="ellipsis", max_width=12)
    cells = {(row["name"], row["topic"]): row["share"] for row in frame.iter_rows(named=True)}
    for k in view.order:
        table.add_row(
            f"{k} {short_label(view.topic_name(k), 40)}",
            *(percent(cells[name, k], 0) for name in shown),
        )
    return table
