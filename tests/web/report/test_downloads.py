"""Tables inside the page read back as they were, and are harmless in a spreadsheet."""

import base64
import csv
import io

from citeweave.web.report.downloads import csv_download


def read_back(address):
    head, content = address.split(",", 1)
    assert head == "data:text/csv;charset=utf-8;base64"
    text = base64.b64decode(content).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text)))


def test_a_table_reads_back() -> None:
    rows = [["Soil, “water”\nand ü", 3, None], ["plain", -2.5, "x"]]
    made = csv_download("t.csv", "T", ["title", "value", "note"], rows)
    assert read_back(made.address) == [
        ["title", "value", "note"],
        ["Soil, “water”\nand ü", "3", ""],
        ["plain", "-2.5", "x"],
    ]
    assert made.size == len(base64.b64decode(made.address.split(",", 1)[1]))


def test_formulas_are_made_texts() -> None:
    made = csv_download("t.csv", "T", ["title"], [["=HYPERLINK(1)"], ["@x"], ["+1"], ["-a"]])
    assert [row[0][0] for row in read_back(made.address)[1:]] == ["'"] * 4
