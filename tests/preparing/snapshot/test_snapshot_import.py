"""A snapshot imported out of core is the corpus that the importer in memory makes of it."""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.openalex_snapshot import Snapshot, write_snapshot

import citeweave
from citeweave.corpus import Corpus, storage
from citeweave.errors import CorpusError, ParameterError
from citeweave.preparing import Report, Settings
from citeweave.preparing.snapshot import import_snapshot

WORKS = 260
PLACES = {
    *("institutions", "institution_ids", "institution_countries", "author_institutions"),
    "countries",
}
"""Columns that are meant to differ: addresses without an identifier are not looked at."""


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    folder = tmp_path_factory.mktemp("snapshots")
    return {
        layout: write_snapshot(folder / layout, WORKS, layout=layout, part=100)
        for layout in ("jsonl", "parquet", "older")
    }


@pytest.fixture(scope="module")
def in_memory(snapshots):
    parts = sorted(snapshots["jsonl"].glob("data/jsonl/works/*/*.gz"))
    return citeweave.read(*parts).prepare(Settings(author_names="full"))


def run(snapshot, out, **options):
    return import_snapshot(snapshot, out, **{"piece": 40, "shard": 100, **options})


def assert_same(made, expected, *, but=()):
    for name in storage.ARRAYS:
        np.testing.assert_array_equal(getattr(made, name), getattr(expected, name), err_msg=name)
    for name in ("vocabulary", "author_names", "category_names", "ids", "titles", "report"):
        assert getattr(made, name) == getattr(expected, name), name
    assert set(made.metadata) == set(expected.metadata)
    for name in set(made.metadata) - set(but):
        assert list(made.metadata[name]) == list(expected.metadata[name]), name


@pytest.mark.parametrize("layout", ["jsonl", "parquet", "older"])
def test_the_same_corpus_as_in_memory(snapshots, in_memory, tmp_path, layout):
    corpus, report = run(snapshots[layout], tmp_path / "corpus")
    expected, told = in_memory
    assert_same(corpus, expected, but=PLACES)
    assert len(corpus.shards) == 3
    assert corpus.verify() == corpus.fingerprint
    mine, theirs = report.as_dict(), told.as_dict()
    meant = {"created", "files", "citations_by_source", "settings_changed"}
    meant |= {"institutions", "institutions_identified", "countries", "with_affiliation"}
    assert {k: v for k, v in mine.items() if k not in meant} == {
        k: v for k, v in theirs.items() if k not in meant
    }
    assert report.citations_matched > 500
    assert report.phrases > 0
    assert Report.of(corpus) == report


def test_institutions_with_an_identifier_agree(snapshots, in_memory, tmp_path):
    corpus, _ = run(snapshots["jsonl"], tmp_path / "corpus")
    expected, _ = in_memory
    some = 0
    for mine, theirs, ids in zip(
        corpus.metadata["institutions"],
        expected.metadata["institutions"],
        expected.metadata["institution_ids"],
        strict=True,
    ):
        known = [name for name, one in zip(theirs or [], ids or [], strict=True) if one]
        assert (mine or []) == known
        some += len(known)
    assert some > WORKS


def test_pieces_and_workers_do_not_matter(snapshots, tmp_path):
    one, _ = run(snapshots["jsonl"], tmp_path / "one")
    two, _ = run(snapshots["jsonl"], tmp_path / "two", workers=2, piece=1000, shard=1000)
    assert one.fingerprint == two.fingerprint
    assert (len(one.shards), len(two.shards)) == (3, 1)


def test_conditions_choose_works(snapshots, in_memory, tmp_path):
    where = "type = article, year >= 2010, is_xpac = false"
    for layout in ("jsonl", "parquet"):
        corpus, report = run(snapshots[layout], tmp_path / layout, where=where)
        assert corpus.n_documents == report.documents < WORKS
        assert min(corpus.metadata["year"]) == 2010
        assert set(corpus.metadata["document_type"]) == {"article"}
        assert report.records_read == WORKS
        assert report.records_read == report.documents + report.records_skipped
    assert in_memory[0].n_documents == WORKS
    assert Corpus.load(tmp_path / "jsonl").fingerprint == corpus.fingerprint


def test_works_that_are_there_twice(tmp_path):
    """Of a work in two parts, as of a folder that was synchronised twice, the newer one counts."""
    folder = tmp_path / "twice"
    lines = list(Snapshot(60).works(0, 60))
    newer = json.loads(lines[5]) | {"updated_date": "2026-07-01", "title": "The newer title"}
    older = json.loads(lines[7]) | {"updated_date": "2020-07-01", "title": "The older title"}
    for date, content in (
        ("2026-06-24", lines),
        ("2026-07-01", [json.dumps(newer), json.dumps(older)]),
    ):
        part = folder / "data" / "works" / f"updated_date={date}" / "part_000.gz"
        part.parent.mkdir(parents=True)
        part.write_bytes(gzip.compress("\n".join(content).encode()))
    corpus, report = run(folder, tmp_path / "corpus")
    assert corpus.n_documents == 60
    assert report.skipped_by_reason == {"duplicate of same id": 2}
    place = {name: i for i, name in enumerate(corpus.ids)}
    assert corpus.titles[place["W1000000005"]] == "The newer title"
    assert corpus.titles[place["W1000000007"]] == json.loads(lines[7])["title"]


def test_bad_lines_are_told_and_passed_over(tmp_path):
    folder = tmp_path / "bad"
    lines = list(Snapshot(20).works(0, 20))
    lines[3] = lines[3][:500]
    lines[9] = "[1, 2]"
    lines[11] = '{"title": "No id at all", "type": "article"}'
    part = folder / "data" / "works" / "updated_date=2026-06-24" / "part_000.gz"
    part.parent.mkdir(parents=True)
    part.write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    corpus, report = run(folder, tmp_path / "corpus")
    assert corpus.n_documents == 17
    assert report.skipped_by_reason == {"could not be read": 2, "no OpenAlex id": 1}
    assert report.records_read + report.records_unreadable == 17 + report.records_skipped
    assert [problem["line"] for problem in report.problems] == [4, 10, 12]


def test_a_damaged_part_is_named_and_the_others_are_kept(tmp_path):
    folder = tmp_path / "damaged"
    write_snapshot(folder, 60, part=20)
    part = sorted(folder.glob("data/jsonl/works/*/*"))[1]
    whole = part.read_bytes()
    part.write_bytes(whole[:-400])
    with pytest.raises(CorpusError, match=r"part_0001.gz' is damaged after line \d+ .*fetch it"):
        run(folder, tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


def test_parts_of_several_members_and_plain_ones(tmp_path):
    """Files put together with cat, filled up with zeros, empty ones and unpacked ones are read."""
    lines = [(line + "\n").encode() for line in Snapshot(60).works(0, 60)]
    works = tmp_path / "pieced" / "data" / "works" / "updated_date=2026-06-24"
    works.mkdir(parents=True)
    members = [gzip.compress(b"".join(lines[:25])), gzip.compress(b"".join(lines[25:40])[:-1])]
    (works / "part_000.gz").write_bytes(b"".join(members) + bytes(1000))
    (works / "part_001.gz").write_bytes(b"")
    (works / "part_002.jsonl").write_bytes(b"".join(lines[40:]))
    corpus, report = run(tmp_path / "pieced", tmp_path / "corpus")
    assert corpus.ids == [json.loads(line)["id"].rpartition("/")[2] for line in lines]
    assert report.problems_total == 0


def test_missing_parts_are_noticed(tmp_path):
    folder = write_snapshot(tmp_path / "snapshot", 60, part=20)
    sorted(folder.glob("data/jsonl/works/*/*"))[1].unlink()
    with pytest.raises(CorpusError, match="names 3 parts of works, of which 1 are not there"):
        run(folder, tmp_path / "corpus")


def test_nothing_left(snapshots, tmp_path):
    with pytest.raises(CorpusError, match=r"No work is left of 260 \(outside the conditions"):
        run(snapshots["jsonl"], tmp_path / "corpus", where="year > 2100")


def test_what_is_refused(snapshots, tmp_path):
    with pytest.raises(CorpusError, match="is not an OpenAlex snapshot"):
        run(tmp_path, tmp_path / "corpus")
    with pytest.raises(ParameterError, match="'keep_empty' cannot be used with a snapshot"):
        run(snapshots["jsonl"], tmp_path / "c", settings=Settings(keep_empty=False))
    with pytest.raises(ParameterError, match="at least 1"):
        run(snapshots["jsonl"], tmp_path / "c", workers=0)
    (tmp_path / "taken").mkdir()
    with pytest.raises(CorpusError, match="already exists"):
        run(snapshots["jsonl"], tmp_path / "taken")


def test_the_order_of_files_is_that_of_names(snapshots):
    parts = citeweave.reading.openalex_snapshot.find_parts(Path(snapshots["jsonl"]))
    assert [part.name for part in parts] == sorted(part.name for part in parts)


def test_with_and_without_msgspec(tmp_path, monkeypatch):
    """The faster decoder, where it is installed, changes nothing: not for odd lines either."""
    folder = tmp_path / "odd"
    lines = list(Snapshot(20).works(0, 20))
    lines[2] = lines[2].replace('"title":"', '"title":"A raw\ttab ')
    lines[3] = lines[3].replace('"cited_by_count":3', '"cited_by_count":NaN')
    part = folder / "data" / "works" / "updated_date=2026-06-24" / "part_000.gz"
    part.parent.mkdir(parents=True)
    part.write_bytes(gzip.compress("\n".join(lines).encode()))
    first, _ = run(folder, tmp_path / "first")
    monkeypatch.setitem(sys.modules, "msgspec", None)
    second, report = run(folder, tmp_path / "second")
    assert first.fingerprint == second.fingerprint
    assert second.titles[2].startswith("A raw tab")
    assert report.problems_total == 0
