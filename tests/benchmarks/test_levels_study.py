"""Fits of the study of levels, on a small literature with venues."""

import json

from benchmarks import levels
from web.report.literature import literature


def test_a_line_for_each_fit(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(levels.datasets, "load", lambda _: literature())
    options = ["--datasets", "made-up", "--topics", "4", "--seeds", "2", "--iterations", "12"]
    options += ["--out", str(tmp_path / "fits.jsonl"), "--variants", "neither", "venue"]
    levels.main(options)
    lines = [json.loads(line) for line in (tmp_path / "fits.jsonl").read_text().splitlines()]
    assert [(line["variant"], line["seed"]) for line in lines] == [
        ("neither", 1),
        ("venue", 1),
        ("neither", 2),
        ("venue", 2),
    ]
    assert [line["nodes"] for line in lines[:2]] == [[], [3]]
    # venues tell the area of a paper, which no word of it was needed for
    assert all(venue["unread"] < neither["unread"] for neither, venue in (lines[:2], lines[2:]))
    rows = capsys.readouterr().out.splitlines()[-2:]
    assert [row.split(" | ")[1] for row in rows] == ["neither", "venue"]
