"""Finished work in one file: pages without fitting anything again, and damaged files."""

import json
from dataclasses import replace

import pytest

from citeweave.errors import ParameterError
from reproduction import reproduce
from reproduction.stored import keep_stored, take_stored


@pytest.fixture(scope="module")
def finished(context_for):
    """A folder in which peers and one baseline with labels are finished."""
    context = context_for("tiny")
    clusters = replace(context, models=("k-means", "louvain"))
    labels = replace(context, models=("sgc",))
    tables = [reproduce("clustering", clusters).content["tables"]]
    tables.append(reproduce("labels", labels).content["tables"])
    return clusters, labels, tables


def test_a_page_is_written_elsewhere_from_the_file_alone(finished, tmp_path):
    clusters, labels, tables = finished
    count = keep_stored(clusters.out, tmp_path / "finished.jsonl")
    assert take_stored(tmp_path / "finished.jsonl", tmp_path / "out") == count > 3
    again = [
        reproduce(name, replace(context, out=tmp_path / "out", finished=True)).content
        for name, context in (("clustering", clusters), ("labels", labels))
    ]
    assert [content["tables"] for content in again] == tables
    assert not any("Not finished" in note for content in again for note in content["notes"])


def test_without_it_nothing_is_finished(finished, tmp_path):
    clusters, *_ = finished
    content = reproduce("clustering", replace(clusters, out=tmp_path, finished=True)).content
    assert any("Not finished" in note for note in content["notes"])


def test_the_file_does_not_depend_on_when_work_was_added(finished, tmp_path):
    out = finished[0].out
    keep_stored(out, tmp_path / "whole.jsonl")
    for part, pattern in (("first", "*k-means*"), ("second", "*")):
        for path in (out / "tasks").glob(pattern):
            (tmp_path / part / "tasks").mkdir(parents=True, exist_ok=True)
            (tmp_path / part / "tasks" / path.name).write_bytes(path.read_bytes())
        keep_stored(tmp_path / part, tmp_path / "parts.jsonl")
    keep_stored(out, tmp_path / "parts.jsonl")
    assert (tmp_path / "parts.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_work_of_the_folder_is_not_replaced(finished, tmp_path):
    keep_stored(finished[0].out, tmp_path / "finished.jsonl")
    take_stored(tmp_path / "finished.jsonl", tmp_path / "out")
    own = next((tmp_path / "out" / "tasks").glob("*.json"))
    own.write_text("{}")
    assert take_stored(tmp_path / "finished.jsonl", tmp_path / "out") == 0
    assert own.read_text() == "{}"


def test_an_unfinished_file_is_left_out(finished, tmp_path):
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "half.json").write_text('{"rows": [')
    assert keep_stored(tmp_path, tmp_path / "finished.jsonl") == 0
    assert finished


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["no JSON"], "not a file of finished work"),
        (['{"format": "citeweave-task", "version": 1}'], "has the format 'citeweave-task'"),
        (['{"format": "citeweave-finished-work", "version": 9}'], "version 9"),
        (['{"format": "citeweave-finished-work", "version": 1}', '{"file"'], "line 2, is damaged"),
    ],
)
def test_other_files_are_refused(tmp_path, lines, told):
    (tmp_path / "finished.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(ParameterError, match=told):
        take_stored(tmp_path / "finished.jsonl", tmp_path / "out")


@pytest.mark.parametrize("place", ["../escaped.json", "tasks/../../a.json", "runs/a.json", "a"])
def test_no_file_is_written_elsewhere(tmp_path, place):
    lines = [{"format": "citeweave-finished-work", "version": 1}, {"file": place, "content": {}}]
    text = "\n".join(json.dumps(line) for line in lines)
    (tmp_path / "finished.jsonl").write_text(text)
    with pytest.raises(ParameterError, match="line 2"):
        take_stored(tmp_path / "finished.jsonl", tmp_path / "folder" / "out")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["finished.jsonl"]
