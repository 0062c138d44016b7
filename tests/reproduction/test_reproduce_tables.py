"""Tables, their text, their files; and the paper's figures as they are printed."""

import csv
import io
import json
from dataclasses import replace

import pytest

from citeweave import __version__
from citeweave.errors import MissingDependencyError, ParameterError
from reproduction import paper_figures
from reproduction.base import Context, Figure, Outcome, Spread, Table, difference, spread
from reproduction.drawings import draw
from reproduction.earlier import read_tables, with_earlier_rows
from reproduction.settings import SIZES, settings
from reproduction.unfinished import notes_on_missing
from reproduction.writers import (
    cell_text,
    markdown_table,
    outcome_to_json,
    table_from_json,
    table_to_csv,
    table_to_json,
)


@pytest.fixture
def table():
    return Table(
        title="A | table",
        columns=["set", "ours", "paper", "difference"],
        rows=[["cora", Spread(690.0, 2.5, 5), 688.0, 2.0], ["a|b_c", None, 1531, None]],
        decimals={"ours": 1, "paper": 1, "difference": 1},
        notes=["Lower is better."],
    )


def test_a_table_survives_json(table):
    again = table_from_json(json.loads(json.dumps(table_to_json(table))))
    assert table_to_json(again) == table_to_json(table)
    assert again.rows[0][1] == Spread(690.0, 2.5, 5)


def test_markdown_keeps_cells_apart(table):
    lines = markdown_table(table).splitlines()
    assert lines[0] == r"### A \| table"
    assert lines[3] == "|---|--:|--:|--:|"
    assert lines[4] == "| cora | 690.0 ± 2.5 | 688.0 | +2.0 |"
    assert lines[5] == r"| a\|b\_c | – | 1,531 | – |"
    assert lines[-1] == "- Lower is better."


def test_csv_gives_spreads_two_columns(table):
    rows = list(csv.reader(io.StringIO(table_to_csv(table))))
    assert rows[0] == ["set", "ours", "ours (sd)", "paper", "difference"]
    assert rows[1] == ["cora", "690.0", "2.5", "688.0", "2.0"]
    assert rows[2] == ["a|b_c", "", "", "1531", ""]


@pytest.mark.parametrize(
    ("cell", "signed", "text"),
    [
        (float("nan"), False, "–"),
        (-0.0001, True, "0.00"),
        (-1234.5, False, "−1,234.50"),
        (3.0, True, "+3.00"),
        (Spread(3.0, 1.0), True, "+3.00 ± 1.00"),
        (True, False, "yes"),
    ],
)
def test_cells(cell, signed, text):
    assert cell_text(cell, 2, signed=signed) == text


def test_what_is_no_number_becomes_null():
    outcome = Outcome(title="t", protocol="p", facts={"x": float("inf"), "y": [float("nan"), 1.5]})
    assert outcome_to_json(outcome)["facts"] == {"x": None, "y": [None, 1.5]}


def test_differences_and_spreads():
    assert difference(Spread(2.0), Spread(0.5, 0.1)) == 1.5
    assert difference("text", 1.0) is None
    assert difference(float("nan"), 1.0) is None
    assert spread([4.0]) == Spread(4.0, None, 1)
    assert spread(iter([])) is None


def test_a_ragged_table_is_refused():
    with pytest.raises(ParameterError, match="Row 1 of the table 'x' must have 2 cells"):
        Table(title="x", columns=["a", "b"], rows=[[1, 2], [3]])
    with pytest.raises(ParameterError, match="keyed by columns"):
        Table(title="x", columns=["a"], rows=[], decimals={"b": 1})


def test_a_drawing_that_is_not_there(tmp_path):
    with pytest.raises(ParameterError, match="Did you mean 'traces'"):
        draw("trace", {}, tmp_path / "x")


def test_pictures_without_matplotlib_name_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"\[plot\]"):
        draw("dots", {}, tmp_path / "x")


def test_dots_are_drawn_where_some_figures_are_missing(tmp_path):
    pytest.importorskip("matplotlib")
    groups = [{"label": "a", "values": [26, None]}, {"label": "b", "values": [0.6, 2.4]}]
    data = {"labels": ["x", "<y>"], "values": "minutes", "groups": groups}
    first, _ = draw("dots", data, tmp_path / "one")
    again, _ = draw("dots", data, tmp_path / "two")
    assert first.read_bytes() == again.read_bytes()
    assert "&lt;y&gt;" in first.read_text()


def test_the_paper_s_figures_are_those_that_it_prints():
    cora = paper_figures.PERPLEXITY["Cora"]["scntm"]
    assert (cora.train, cora.test) == (Spread(621.1, 6.7, 5), Spread(688.0, 15.7, 5))
    assert paper_figures.PERPLEXITY["CS"]["scntm"].test.mean == 1530.8
    assert paper_figures.PERPLEXITY["PubMed"]["bursty-hdp-lda"].train.mean == 299.9
    assert paper_figures.CLUSTERING["M10"]["scntm-eta-10"].purity == Spread(0.73, 0.02, 5)
    assert paper_figures.CLUSTERING["Cora"]["bursty-hdp-lda"].nmi.mean == 0.58
    assert paper_figures.RUNNING_TIME["ML"].minutes == 16444
    assert paper_figures.DATASETS["AvS"].authors == 11898
    assert paper_figures.TOPICS["M10"][4].words[2] == "quantum mechanics"
    assert len(paper_figures.AUTHORS) == 8


def test_the_paper_s_figures_agree_with_one_another():
    # the network improves test perplexity everywhere but on PubMed, as the text says
    for name, models in paper_figures.PERPLEXITY.items():
        better = models["scntm"].test.mean < models["cntm-text"].test.mean
        assert better == (name != "PubMed")
    example = paper_figures.COUNTS
    assert sum(example.word_customers) == example.words
    assert sum(example.citation_counts) == example.citations
    for tables, citations, customers in zip(
        example.word_tables, example.citation_counts, example.customers, strict=True
    ):
        assert tables + citations == customers
    for name, row in paper_figures.RUNNING_TIME.items():
        size = paper_figures.DATASETS[name]
        assert row.citations == size.citations
        assert row.words == pytest.approx(size.documents * size.words_per_document, rel=0.003)
    classes = {name: len(names) for name, names in paper_figures.CATEGORIES.items()}
    assert classes == {"ML": 1, "M10": 10, "AvS": 5, "CS": 6, "Cora": 7, "PubMed": 3}


def test_settings_follow_the_paper():
    for name in ("cora", "citeseer", "pubmed", "m10"):
        paper_name = settings(name).paper_name
        assert settings(name).topics == paper_figures.RUNNING_TIME[paper_name].topics
    for name, paper_name in (("simulated-ml", "ML"), ("simulated-avs", "AvS")):
        row = paper_figures.DATASETS[paper_name]._asdict()
        assert all(SIZES[name][part] == row[part] for part in SIZES[name] if part in row)


def test_the_registry_of_data_sets_has_the_same_row():
    from citeweave.datasets import DATASETS

    for name in ("cora", "citeseer", "pubmed", "m10"):
        row = paper_figures.DATASETS[settings(name).paper_name]
        assert row._asdict() == {part: getattr(DATASETS[name].paper, part) for part in row._fields}


def test_figures_keep_their_numbers(table):
    figure = Figure(name="f", caption="c", drawing="dots", data={"labels": []}, table=table)
    outcome = Outcome(title="t", protocol="p", figures=[figure])
    (kept,) = outcome_to_json(outcome)["figures"]
    assert kept["data"] == {"labels": []}
    assert kept["table"]["rows"][0][1] == {"mean": 690.0, "sd": 2.5, "n": 5}


def test_a_table_of_a_page_is_read_as_it_was_written(table):
    found = read_tables(f"## Section\n\n{markdown_table(table)}\n- a note\n")
    assert list(found) == ["A | table"]
    assert found["A | table"].columns == list(table.columns)
    assert found["A | table"].rows == [
        ["cora", Spread(690.0, 2.5), 688.0, 2.0],
        ["a|b_c", None, 1531, None],
    ]


def test_rows_that_are_lacking_are_taken_from_an_earlier_page(table, tmp_path):
    page = tmp_path / "results.md"
    small = "<sub>Made by `old` on some day.</sub>"
    page.write_text(
        f"# All\n\n## Sizes\n\n{markdown_table(table)}\n- n\n\n{small}\n\n## Other\n\nx\n"
    )
    new = Table(
        title=table.title,
        columns=table.columns,
        rows=[["cora", 1.0, 2.0, 3.0], ["a|b_c", "elsewhere", 1.0, 2.0]],
    )
    other = Table(title="Another", columns=["a"], rows=[["b"]])
    outcome = Outcome(title="Sizes", protocol="p", tables=[new, other], notes=["n"])
    merged = with_earlier_rows(outcome, page)
    assert merged.tables[0].rows == [
        new.rows[0],
        ["a|b_c (earlier)", None, 1531, None],  # behind the row that it followed
        new.rows[1],
    ]
    assert merged.tables[0].notes == [f"Earlier: {note}" for note in table.notes]
    assert merged.tables[1] is other
    assert merged.notes == [
        "n",
        (
            "Rows marked (earlier) come from earlier runs with these settings: "
            "Made by `old` on some day."
        ),
    ]
    # put on a page and merged again they are marked once, and their origin is not lost
    notes = "\n".join(f"- {note}" for note in merged.notes)
    page.write_text(
        f"# All\n\n## Sizes\n\n{markdown_table(merged.tables[0])}\n{notes}\n\n"
        "<sub>Made by `new`.</sub>\n"
    )
    again = with_earlier_rows(outcome, page)
    assert [row[0] for row in again.tables[0].rows] == ["cora", "a|b_c (earlier)", "a|b_c"]
    assert again.tables[0].notes == merged.tables[0].notes
    assert again.notes[-1].endswith(
        "Made by `new`. Marked there already: Made by `old` on some day."
    )


def test_rows_of_the_same_release_are_not_marked(tmp_path):
    page = tmp_path / "results.md"
    old = Table(title="Words", columns=["model", "test"], rows=[["A (earlier)", 1.5], ["B", 2.5]])
    made = f"Made by `x`. Versions: citeweave {__version__}, python 3.11."
    earlier = "Rows marked (earlier) come from earlier runs with these settings: Long ago."
    page.write_text(
        f"# All\n\n## Words\n\n{markdown_table(old)}\n- {earlier}\n\n<sub>{made}</sub>\n"
    )
    new = Table(title="Words", columns=["model", "test"], rows=[["C", 1.0]])
    outcome = Outcome(title="Words", protocol="p", tables=[new], notes=["of the page"])
    merged = with_earlier_rows(outcome, page)
    assert merged.tables[0].rows == [["A (earlier)", 1.5], ["B", 2.5], ["C", 1.0]]
    origin = "Rows that were not finished here come from an earlier run of the same release: "
    assert list(merged.notes) == ["of the page", f"{origin}{made}", earlier]
    again = Table(title="Words", columns=["model", "test"], rows=[["A", 1.25]])
    merged = with_earlier_rows(replace(outcome, tables=[again]), page)
    assert merged.tables[0].rows == [["A", 1.25], ["B", 2.5]]
    assert list(merged.notes) == ["of the page", f"{origin}{made}"]  # no row is marked any more


def test_tables_that_are_lacking_are_taken_from_an_earlier_page(tmp_path):
    page = tmp_path / "results.md"
    first = Table(title="First", columns=["model", "%"], rows=[["A", 1.5]], decimals={"%": 1})
    second = Table(
        title="Second",
        columns=["model", "%", "change"],
        rows=[["A", Spread(1.5, 0.2), -2.25], ["B", None, 0.5]],
        decimals={"%": 1, "change": 2},
        signed=("change",),
    )
    third = Table(title="Third", columns=["model", "n"], rows=[["A", 7]])
    written = "\n".join(map(markdown_table, (first, second, third)))
    page.write_text(f"# All\n\n## Words\n\n{written}\n<sub>Old.</sub>\n")
    outcome = Outcome(title="Words", protocol="p", tables=[first, third])
    merged = with_earlier_rows(outcome, page)
    assert [table.title for table in merged.tables] == ["First", "Second", "Third"]
    marked = markdown_table(second).replace("| A |", "| A (earlier) |")
    assert markdown_table(merged.tables[1]) == marked.replace("| B |", "| B (earlier) |")
    assert merged.notes == [
        "Rows marked (earlier) come from earlier runs with these settings: Old."
    ]


def test_notes_of_a_page_are_not_taken_for_those_of_its_last_table(tmp_path):
    page = tmp_path / "results.md"
    old = Table(title="Words", columns=["model", "test"], rows=[["A", 1.5], ["B", 2.5]])
    page.write_text(
        f"# All\n\n## Words\n\n{markdown_table(old)}\n- of the page\n- too\n\n<sub>Old.</sub>\n"
    )
    new = Table(title="Words", columns=["model", "test"], rows=[["A", 1.0]])
    outcome = Outcome(title="Words", protocol="p", tables=[new], notes=["of the page"])
    merged = with_earlier_rows(outcome, page)
    assert merged.tables[0].rows == [["A", 1.0], ["B (earlier)", 2.5]]
    assert list(merged.tables[0].notes) == []


def test_figures_that_a_row_lacks_are_taken_from_an_earlier_page(tmp_path):
    page = tmp_path / "results.md"
    old = Table(
        title="Perplexity",
        columns=["model", "train", "paper, test", "test"],
        rows=[["A", 1.5, 9.25, 2.5], ["B", 3.5, 9.25, 4.5], ["C", 5.5, None, 6.5]],
        decimals={"train": 1, "paper, test": 2, "test": 1},
    )
    page.write_text(f"# All\n\n## Words\n\n{markdown_table(old)}\n<sub>Old.</sub>\n")
    new = Table(
        title="Perplexity",
        columns=["model", "train", "paper, test", "test", "test, Gibbs"],
        rows=[
            ["A", None, 9.25, 2.625, Spread(2.0, 0.1, 3)],  # held-out words were not run again
            ["B", None, 9.25, None, None],  # nothing was
            ["C", 5.0, None, 6.0, 5.5],  # everything was
        ],
        decimals={"train": 1, "paper, test": 2, "test": 1},
    )
    merged = with_earlier_rows(Outcome(title="Words", protocol="p", tables=[new]), page)
    assert [list(row) for row in merged.tables[0].rows] == [
        ["A", 1.5, 9.25, 2.625, Spread(2.0, 0.1, 3)],
        ["B (earlier)", 3.5, 9.25, 4.5, None],
        ["C", 5.0, None, 6.0, 5.5],
    ]
    assert merged.tables[0].notes == ["From earlier runs: A (train)."]
    assert merged.notes == [
        "Rows marked (earlier) come from earlier runs with these settings: Old."
    ]


def test_nothing_is_taken_from_a_table_of_other_columns(table, tmp_path):
    page = tmp_path / "results.md"
    page.write_text(f"# All\n\n## Sizes\n\n{markdown_table(table)}\n")
    new = Table(title=table.title, columns=["set"], rows=[["cora"]])
    outcome = Outcome(title="Sizes", protocol="p", tables=[new])
    assert with_earlier_rows(outcome, page) is outcome
    assert with_earlier_rows(outcome, tmp_path / "none.md") is outcome


def test_sets_of_which_nothing_is_finished_are_told_in_one(tmp_path):
    missing = {
        "cora, A, with b, folds": [10, 10],
        "cora, B, folds": [3, 10],
        "pubmed, A, with b, folds": [10, 10],
        "pubmed, B, folds": [10, 10],
        "m10, A, with b, folds": [0, 5],
        "cora, text alone": [2, 5],
    }
    (note,) = notes_on_missing(Context(out=tmp_path, missing=missing), [])
    assert note == (
        "Not finished, and left out: cora, A, with b, folds (10 of 10); cora, B, folds (3 of 10); "
        "pubmed, all models, folds (20 of 20); cora, text alone (2 of 5)."
    )
    assert not notes_on_missing(Context(out=tmp_path, missing={"m10, A, folds": [0, 5]}), [])


def test_what_an_earlier_page_of_this_release_had_is_not_missing(tmp_path):
    missing = {
        "citeseer, A, with b, whole corpus": [5, 5],
        "citeseer, A, with b, folds": [10, 10],
        "citeseer, B, folds": [10, 10],
        "citeseer, B, held-out words": [5, 5],
        "citeseer, C, folds": [10, 10],
        "citeseer, D, folds": [4, 10],
        "citeseer, E, folds": [10, 10],
        "citeseer, F, whole corpus": [5, 5],
        "citeseer, G, folds": [10, 10],
    }
    columns = ["model", "train, held out", "test", "paper, test"]
    rows = [
        ["A, with b", 1.0, 2.0, 3.0],
        ["B", None, 2.0, 3.0],
        ["C (earlier)", 1.0, 2.0, 3.0],
        ["D", 1.0, 2.0, 3.0],
        ["G", None, None, 3.0],
    ]
    tables = [
        Table(title="Perplexity of citeseer (CS)", columns=columns, rows=rows),
        Table(title="At other eta", columns=["set", "model", "x"], rows=[["citeseer", "E", 1.0]]),
        Table(title="Chains", columns=["set", "model"], rows=[["citeseer", "A, with b"]]),
        Table(
            title="Whole corpus, citeseer (CS), 6 classes",
            columns=["model", "figures from", "NMI"],
            rows=[["A, with b", "as published", 0.4], ["F", "here", 0.4]],
        ),
    ]
    context = Context(out=tmp_path, missing=missing, earlier=tmp_path / "page.md")
    (note,) = notes_on_missing(context, tables)
    assert note == (
        "Not finished, and taken from earlier releases or left out: citeseer, A, with b, whole "
        "corpus (5 of 5); citeseer, B, held-out words (5 of 5); citeseer, C, folds (10 of 10); "
        "citeseer, D, folds (4 of 10); citeseer, G, folds (10 of 10)."
    )
