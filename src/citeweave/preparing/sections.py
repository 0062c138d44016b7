"""The import report as sections of small tables, used by the terminal and the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from citeweave.naming import option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.preparing.report import Report

__all__ = ["Cell", "Section", "sections"]

#: Numbers are right-aligned with separators, text is left-aligned, None is empty.
Cell: TypeAlias = str | int | float | None

FATES = {
    "id": "matched by id",
    "doi": "matched by DOI",
    "title": "matched by title",
    "fuzzy": "matched by similar title",
    "string": "matched by author, year and journal",
    "outside": "to works outside the corpus",
    "ambiguous": "ambiguous, dropped",
    "self": "self-citations, dropped",
    "duplicate": "repeated, counted once",
}
MATCHED = ("id", "doi", "title", "fuzzy", "string")

_FIELDS = ("title", "abstract", "keywords", "authors", "year", "category")


@dataclass(frozen=True, kw_only=True)
class Section:
    """One table of the report.

    Attributes
    ----------
    key : str
        Name for links and tests.
    title : str
        Heading.
    columns : tuple of str
        Column headings; empty strings if none is needed.
    rows : list of tuple
        Cells.
    total_rows : int
        Total number of rows, including those not listed.
    note : str
        A sentence below the table.
    emphasis : frozenset of int
        Rows with totals.
    brief : int
        Maximum number of rows if space is limited.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    total_rows: int = 0
    note: str = ""
    emphasis: frozenset[int] = frozenset()
    brief: int = 20

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether the cells of each column are numbers or percentages."""
        return tuple(all(_is_figure(row[i]) for row in self.rows) for i in range(len(self.columns)))


def sections(report: Report) -> list[Section]:
    """Return the sections of a report, omitting empty ones."""
    values = report.as_dict()
    made = [
        _warnings(values),
        _documents(values),
        _contents(values),
        _query(values),
        _authors(values),
        _places(values),
        _citations(values),
        _vocabulary(values),
        _phrases(values),
        _merged_records(values),
        _merged(values),
        _split(values),
        _people(values),
        _excluded(values),
        _files(values),
        _sources(values),
        _outside(values),
        _problems(values),
    ]
    return [section for section in made if section is not None and section.rows]


def _short_names(values: dict[str, Any]) -> dict[str, str]:
    """Omit the folders shared by all files; the JSON report has the full names."""
    names = [file["file"] for file in values["files"]]
    parts = [name.replace("\\", "/").split("/") for name in names]
    shared = 0
    while parts and all(len(p) > shared + 1 and p[shared] == parts[0][shared] for p in parts):
        shared += 1
    return {name: "/".join(p[shared:]) for name, p in zip(names, parts, strict=True)}


def _is_figure(cell: Cell) -> bool:
    return not isinstance(cell, str) or cell.endswith(" %")


def _share(part: int, whole: int) -> str | None:
    return f"{100 * part / whole:.1f} %" if whole else None


def _summed_up(key: str, title: str, rows: list[tuple[Cell, ...]]) -> Section:
    """Create a table of numbers and shares whose last row is the remainder."""
    return Section(
        key=key,
        title=title,
        columns=("", "number", "share"),
        rows=rows,
        emphasis=frozenset({len(rows) - 1}),
    )


def _warnings(values: dict[str, Any]) -> Section:
    rows: list[tuple[Cell, ...]] = [(str(warning),) for warning in values["warnings"]]
    number = values["problems_total"]
    if number:
        rows.append((f"There were {number:,} problem{'' if number == 1 else 's'} while reading.",))
    return Section(key="warnings", title="Please check", columns=("",), rows=rows)


def _documents(values: dict[str, Any]) -> Section:
    unreadable = values["records_unreadable"]
    found = values["records_read"] + unreadable
    rows: list[tuple[Cell, ...]] = []
    if unreadable:
        rows.append(("records found", found, None))
    rows.append(("records read", values["records_read"], _share(values["records_read"], found)))
    for reason, number in values["skipped_by_reason"].items():
        languages = ", ".join(f"{k} {n}" for k, n in values["languages_dropped"].items())
        shown = f"{reason} ({languages})" if reason == "language" and languages else reason
        rows.append((f"skipped: {shown}", -number, _share(number, found)))
    rows.append(("documents", values["documents"], _share(values["documents"], found)))
    return _summed_up("documents", "Documents", rows)


def _contents(values: dict[str, Any]) -> Section:
    whole, read = values["documents"], values["as_read"]
    rows: list[tuple[Cell, ...]] = []
    for name in _FIELDS:
        number = values[f"with_{name}"]
        # labels may come from another field, so there is no count for records as read
        before = read.get(f"with_{name}")
        rows.append((f"with {name}", before, number, _share(number, whole)))
    return Section(
        key="contents",
        title="Available fields",
        columns=("", "records", "documents", "share"),
        rows=rows,
    )


def _query(values: dict[str, Any]) -> Section | None:
    query = values.get("query")
    if not query:
        return None
    rows: list[tuple[Cell, ...]] = [*query["by_category"].items()]
    return Section(key="query", title="Selected by the query", columns=("category", "records"),
                   rows=rows)  # fmt: skip


def _authors(values: dict[str, Any]) -> Section | None:
    if not values["author_mentions"] and not values["authors_excluded_mentions"]:
        return None
    rows: list[tuple[Cell, ...]] = [
        ("names in author lists", values["author_mentions"]),
        ("names that are not people", values["authors_excluded_mentions"]),
        ("authors", values["authors"]),
        ("identified by an id or ORCID", values["authors_identified"]),
        ("joined from several spellings", values["merged_names_total"]),
        ("joined from different first names", values["merged_first_names_total"]),
    ]
    return Section(
        key="authors",
        title="Authors",
        columns=("", "number"),
        rows=[row for row in rows if row[1]],
        emphasis=frozenset({[row[0] for row in rows if row[1]].index("authors")})
        if values["authors"]
        else frozenset(),
    )


def _places(values: dict[str, Any]) -> Section | None:
    rows: list[tuple[Cell, ...]] = [
        ("documents with an affiliation", values["with_affiliation"]),
        ("institutions", values["institutions"]),
        ("with an identifier", values["institutions_identified"]),
        ("countries", values["countries"]),
    ]
    return Section(
        key="places",
        title="Institutions and countries",
        columns=("", "number"),
        rows=[row for row in rows if row[1]],
    )


def _citations(values: dict[str, Any]) -> Section | None:
    references, fates = values["references"], values["citations_by_fate"]
    if not references:
        return None
    rows: list[tuple[Cell, ...]] = [("references", references, None)]
    rows += [
        (name, fates[fate], _share(fates[fate], references))
        for fate, name in FATES.items()
        if fates.get(fate)
    ]
    matched = values["citations_matched"]
    rows.append(("citations within the corpus", matched, _share(matched, references)))
    return _summed_up("citations", "Citations", rows)


def _vocabulary(values: dict[str, Any]) -> Section:
    dropped = values["most_common_dropped"]
    rows: list[tuple[Cell, ...]] = []
    if values["words"]:
        rows.append(("words of text without stop words", values["words"]))
    rows.append(("distinct words and phrases before filtering", values["vocabulary_before"]))
    if values["words_common"]:
        most = f"in more than {values['max_documents']:,.0f} documents"
        rows.append((f"too common, {most}", -values["words_common"]))
    if values["words_rare"]:
        rows.append(
            (f"too rare, fewer than {values['min_word_count']} times", -values["words_rare"])
        )
    rows.append(("vocabulary", values["vocabulary"]))
    emphasis = frozenset({len(rows) - 1})
    if values["phrases"]:
        rows.append(("phrases in it", values["phrases"]))
    rows.append(("total words left", values["tokens"]))
    if values["documents"]:
        rows.append(("words per document", round(values["tokens"] / values["documents"], 1)))
    notes = []
    if dropped:
        words = ", ".join(f"{word} ({number:,})" for word, number in dropped[:20])
        notes.append(f"Too common: {words}.")
    if values["tfidf"]:
        tfidf = values["tfidf"]
        notes.append(
            f"Counts recovered from TF-IDF by the {tfidf['method']}, assuming "
            f"{tfidf['n_documents']:,} documents; largest rounding error "
            f"{tfidf['largest_error']:.2g}."
        )
    return Section(
        key="vocabulary",
        title="Vocabulary",
        columns=("", "number"),
        rows=rows,
        emphasis=emphasis,
        note=" ".join(notes),
    )


def _phrases(values: dict[str, Any]) -> Section:
    return Section(
        key="phrases",
        title="Longest phrases",
        columns=("phrase", "times"),
        rows=[(phrase, number) for phrase, number in values["longest_phrases"]],
        total_rows=values["phrases"],
    )


def _merged(values: dict[str, Any]) -> Section:
    return Section(
        key="merged",
        title="Names joined",
        columns=("author", "joined from", "papers"),
        rows=[
            (merged["author"], "; ".join(merged["names"]), merged["mentions"])
            for merged in values["merged_names"]
        ],
        total_rows=values["merged_names_total"],
        brief=5,
    )


def _split(values: dict[str, Any]) -> Section:
    rows = values.get("split_names", [])  # reports of earlier releases have none
    return Section(
        key="split",
        title="Names shared by several authors",
        columns=("name", "authors", "number", "papers"),
        rows=[
            (
                row["name"],
                "; ".join(row["authors"])
                + ("; …" if row["n_authors"] > len(row["authors"]) else ""),
                row["n_authors"],
                row["mentions"],
            )
            for row in rows
        ],
        total_rows=values.get("split_names_total", 0),
        note=_PEOPLE.format(option("people")) if rows else "",
        brief=5,
    )


def _people(values: dict[str, Any]) -> Section:
    rows = values.get("people_unmatched", [])
    return Section(
        key="people",
        title="Corrections that match nobody",
        columns=("line", "person", "name", "paper", "why"),
        rows=[
            tuple(row[key] for key in ("line", "person", "name", "paper", "why")) for row in rows
        ],
        total_rows=len(rows),
        brief=5,
    )


_PEOPLE = "To join and split names, pass a file to {} (docs/how-to/people.md)."
_CORRECTED = "Use {} for records that must not be merged, and {} for records of the same work."


def _merged_records(values: dict[str, Any]) -> Section:
    rows = values.get("merged_records", [])  # reports of earlier releases have none
    return Section(
        key="merged-records",
        title="Records merged",
        columns=("kept", "merged into it", "reason", "title"),
        rows=[(row["kept"], row["merged"], row["reason"], row["title"]) for row in rows],
        total_rows=sum(
            number
            for reason, number in values["skipped_by_reason"].items()
            if reason.startswith("duplicate")
        ),
        note=_CORRECTED.format(option("keep_apart"), option("join")) if rows else "",
        brief=5,
    )


def _excluded(values: dict[str, Any]) -> Section:
    excluded = values["authors_excluded"]
    return Section(
        key="excluded",
        title="Not people",
        columns=("name", "times"),
        rows=[*excluded.items()],
        total_rows=len(excluded),
        brief=5,
    )


def _files(values: dict[str, Any]) -> Section:
    rows: list[tuple[Cell, ...]] = []
    names = _short_names(values)
    for file in values["files"]:
        nameless = file.get("nameless_authors", 0)  # reports of earlier releases lack it
        notes: Sequence[str] = [
            *([f"rejected: {file['refused']}"] if file["refused"] else []),
            *([f"{file['links']:,} citation lines"] if file["links"] else []),
            *([f"{file['recoded_lines']:,} lines not UTF-8"] if file["recoded_lines"] else []),
            *([f"{nameless:,} authors without a name"] if nameless else []),
        ]
        rows.append(
            (
                names[file["file"]],
                file["format"] or "",
                file["read"],
                file["skipped"],
                file["problems"],
                "; ".join(notes),
            )
        )
    return Section(
        key="files",
        title="Files",
        columns=("file", "format", "read", "skipped", "problems", "remark"),
        rows=rows,
        total_rows=len(rows),
        brief=12,
    )


def _sources(values: dict[str, Any]) -> Section | None:
    sources = values["citations_by_source"]
    if len(sources) < 2:
        return None  # already in the table of citations
    rows: list[tuple[Cell, ...]] = []
    names = _short_names(values)
    for name, fates in sources.items():
        matched = sum(fates.get(fate, 0) for fate in MATCHED)
        others = tuple(fates.get(f, 0) for f in ("outside", "ambiguous", "self", "duplicate"))
        rows.append((names.get(name, name), fates["references"], matched, *others))
    return Section(
        key="sources",
        title="References by file",
        columns=("file", "references", "matched", "outside", "ambiguous", "self", "twice"),
        rows=rows,
        total_rows=len(rows),
        brief=12,
    )


def _outside(values: dict[str, Any]) -> Section | None:
    works = values.get("outside_works", ())  # reports of earlier releases lack it
    if not works:
        return None
    return Section(
        key="outside",
        title="Cited most outside the corpus",
        columns=("work", "papers"),
        rows=[(entry["work"], entry["papers"]) for entry in works],
        total_rows=values["outside_works_total"],
        note="Works cited by papers in the corpus but not in it themselves, by number of citing "
        "papers.",
        brief=5,
    )


def _problems(values: dict[str, Any]) -> Section:
    rows: list[tuple[Cell, ...]] = []
    names = _short_names(values)
    for problem in values["problems"]:
        line = "" if problem["line"] is None else f":{problem['line']}"
        field = f"{problem['field']}: " if problem["field"] else ""
        lost = " (record lost)" if problem["skipped"] else ""
        rows.append(
            (
                f"{names.get(problem['file'], problem['file'])}{line}",
                f"{field}{problem['message']}{lost}",
            )
        )
    return Section(
        key="problems",
        title="Problems while reading",
        columns=("where", "what"),
        rows=rows,
        total_rows=values["problems_total"],
        brief=8,
    )
