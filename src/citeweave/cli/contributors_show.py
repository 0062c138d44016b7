"""Institutions, countries, venues and funders for the terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from citeweave.cli.explore_pages import paper_list
from citeweave.cli.explore_show import SHORT, sparkline, topics_of, with_intervals
from citeweave.cli.show import Fitting, add_figures, fact_table, new_table
from citeweave.explore import ContributorLink, ContributorPage, Literature
from citeweave.explore.contributors import singular_of
from citeweave.wording import number, percent

if TYPE_CHECKING:
    import polars as pl

__all__ = ["contributor_page", "contributor_table", "pair_table"]

_TREND = 10
_WIDE = 100
"""Terminal width from which all columns are shown."""


def contributor_table(
    literature: Literature,
    kind: str,
    frame: "pl.DataFrame",
    *,
    sort: str,
    width: int,
) -> Table:
    """List contributors: papers, citations, h-index, growth, and topics if there is a model."""
    total = len(literature.contributors(kind).names)
    word = "h-index" if sort == "h_index" else sort.replace("_", " ")
    table = new_table(f"{kind.capitalize()} ({total:,}), by {word}")
    years = literature.year_range
    wide = width >= _WIDE
    figures = {
        "no.": True,
        "papers": True,
        "cited": bool(literature.corpus.n_citations),
        "h": bool(literature.corpus.n_citations),
        "world": literature.cited_by is not None and (wide or sort == "cited_by"),
        "influence": "influence" in frame.columns and frame["influence"].null_count() < len(frame),
    }
    shown = [name for name, there in figures.items() if there]
    add_figures(table, *shown)
    if years:
        table.add_column(f"{years[0]}–{years[-1]}", no_wrap=True, min_width=_TREND, style="cyan")
    growth = bool(years) and (wide or sort == "growth")
    if growth:
        add_figures(table, "a year")
    topics = "topic_names" in frame.columns
    table.add_column("name and topics" if topics else "name", ratio=1)
    for row in frame.iter_rows(named=True):
        values = {
            "no.": str(row[singular_of(kind)]),
            "papers": number(row["papers"], 0),
            "cited": number(row["citations"], 0),
            "h": number(row["h_index"], 0),
            "world": number(row["cited_by"], 0),
            "influence": number(row.get("influence"), 1),
        }
        cells = [values[name] for name in shown]
        if years:
            cells.append(sparkline(row["by_year"]))
        if growth:
            cells.append(percent(row["growth"], 0, signed=True))
        name = row["name"]
        if row.get("country"):
            name = f"{name}, {row['country']}"
        lines: list[Any] = [Text(name, style="bold", no_wrap=True, overflow="ellipsis")]
        if topics:
            wanted = (
                2 if row["topics_from"] == "model" else 1
            )  # intervals would take too much space
            lines.append(Fitting(with_intervals(topics_of(row), SHORT), "; ", lines=wanted))
        table.add_row(*cells, Group(*lines))
    return table


def pair_table(kind: str, frame: "pl.DataFrame", note: str) -> list[Any]:
    """List pairs of contributors by the number of papers they share."""
    table = new_table(f"{kind.capitalize()} that share papers")
    add_figures(table, "weight")
    for name in ("one", "other"):
        table.add_column(name, no_wrap=True, overflow="ellipsis", ratio=1)
    for row in frame.iter_rows(named=True):
        table.add_row(number(row["weight"], 1), row["source_name"], row["target_name"])
    return [table, Text(note, style="dim")] if note else [table]


def contributor_page(page: ContributorPage) -> list[Any]:
    """Show the details of a contributor."""
    facts = fact_table()
    facts.add_row(singular_of(page.kind), f"{page.number}: {page.name}")
    for name, value in (("id", page.code), ("country", page.country)):
        if value:
            facts.add_row(name, value)
    shared = f", {percent(page.joint, 0)} with other {page.kind}" if page.joint else ""
    facts.add_row("papers", f"{page.papers:,}{shared}")
    if page.years:
        growth = (
            f", {percent(page.growth, 0, signed=True)} a year" if page.growth is not None else ""
        )
        span = f"{page.years[0]} {sparkline(page.by_year, 40)} {page.years[-1]}"
        facts.add_row("by year", f"{span}{growth}")
    world = "" if page.cited_by is None else f"; {page.cited_by:,} worldwide"
    facts.add_row(
        "citations", f"{page.citations:,} in the corpus (h-index {page.h_index:,}){world}"
    )
    if page.influence is not None:
        facts.add_row("influence", number(page.influence, 1))
    source = "estimated by the model" if page.topics_from == "model" else "mean over its papers"
    facts.add_row("topics", f"{'; '.join(with_intervals(page.topics))} ({source})")
    for name, links in (("works with", page.partners), *_by_kind(page.contributors)):
        if links:
            facts.add_row(name, ", ".join(f"{one.name} ({one.score:.0f})" for one in links))
    if page.authors:
        facts.add_row("authors", ", ".join(f"{one.name} ({one.score:.0f})" for one in page.authors))
    return [facts, paper_list("Influential papers", page.influential)]


def _by_kind(links: Sequence[ContributorLink]) -> list[tuple[str, list[ContributorLink]]]:
    kinds = dict.fromkeys(link.kind for link in links)
    return [(kind, [link for link in links if link.kind == kind]) for kind in kinds]
