"""LINQS, TriDNR, citation lists and archives: files that belong together."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile

import pytest
from reader_excerpts import (
    FILES,
    GENERIC_ROWS,
    LINQS_CITES,
    LINQS_CONTENT,
    LINQS_DIRECTED,
    LINQS_NODES,
    json_lines,
)
from reader_helpers import read_bytes

from citeweave.reading import read


def cited(records):
    return {record.id: [r.id for r in record.references] for record in records}


@pytest.fixture
def linqs(tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "tiny.content").write_text(LINQS_CONTENT)
    (folder / "tiny.cites").write_text(LINQS_CITES)
    return folder


LINQS_LINKS = {"31336": ["7"], "abc99": ["31336", "abc99"], "7": []}


def test_linqs_by_folder_by_pair_and_by_content_alone(linqs):
    for sources in (
        [linqs],
        [linqs / "tiny.cites", linqs / "tiny.content"],
        [linqs / "tiny.content"],
    ):
        reading = read(*sources)
        records = list(reading)
        assert cited(records) == LINQS_LINKS
        assert records[0].words == (("w1", 1.0), ("w3", 1.0))
        assert [record.category for record in records] == ["Theory", "Agents", "Theory"]
        assert {record.words_kind for record in records} == {"count"}
        assert records[2].words == ()
        counts = {name.rsplit(".")[-1]: item for name, item in reading.counts.items()}
        assert (counts["cites"].links, counts["content"].vocabulary) == (4, 4)
        # The link by a document that is not there is reported.
        assert ["1 citations" in problem.message for problem in reading.problems] == [True]


def test_linqs_without_citations_says_so(linqs):
    (linqs / "tiny.cites").unlink()
    reading = read(linqs)
    assert cited(reading) == {"31336": [], "abc99": [], "7": []}
    assert "no citation file" in reading.problems[0].message


def test_linqs_bad_lines():
    bad = LINQS_CONTENT + "8\t0\t1\n9\t0\tx\t0\t1\tTheory\n10\t0\t0\t0\t1\tAgents\n"
    records, reading = read_bytes(bad)
    assert [record.id for record in records] == ["31336", "abc99", "7", "10"]
    assert [problem.line for problem in reading.problems if problem.skipped] == [4, 5]


def test_linqs_pubmed(tmp_path):
    (tmp_path / "Tiny.NODE.paper.tab").write_text(LINQS_NODES)
    (tmp_path / "Tiny.DIRECTED.cites.tab").write_text(LINQS_DIRECTED)
    records = list(read(tmp_path))
    assert cited(records) == {"12187484": ["2344352"], "2344352": [], "3": ["12187484"]}
    assert records[0].words == (("w-rat", 0.0939), ("w-mouse", 0.0107))
    assert [record.category for record in records] == ["1", "3", "2"]
    assert {record.words_kind for record in records} == {"tfidf"}


def pack(kind, target, members):
    if kind == "zip":
        with zipfile.ZipFile(target, "w") as archive:
            for name, data in members:
                archive.writestr(name, data)
        return
    with tarfile.open(target, "w:gz") as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


@pytest.mark.parametrize("kind", ["tgz", "zip"])
def test_archives_are_read_as_folders(kind, tmp_path):
    target = tmp_path / f"data.{kind}"
    members = [
        ("tiny/README", b"About."),
        ("tiny/tiny.cites", LINQS_CITES.encode()),
        ("tiny/tiny.content", LINQS_CONTENT.encode()),
        ("other/papers.ris", FILES["ris"][1]),
        ("other/._papers.ris", b"\0\1"),
    ]
    pack(kind, target, members)
    reading = read(target)
    records = list(reading)
    assert len(records) == 6
    assert {k: v for k, v in cited(records).items() if k in LINQS_LINKS} == LINQS_LINKS
    assert records[0].source.file == f"{target}!other/papers.ris"
    assert [problem.field for problem in reading.problems] == ["references"]


@pytest.mark.parametrize("kind", ["tgz", "zip"])
def test_members_that_point_outside_are_left_out(kind, tmp_path):
    target = tmp_path / "in" / f"evil.{kind}"
    target.parent.mkdir()
    members = [
        ("../outside.ris", FILES["ris"][1]),
        ("/tmp/absolute.ris", FILES["ris"][1]),  # noqa: S108
        ("good.ris", FILES["ris"][1]),
    ]
    pack(kind, target, members)
    reading = read(target)
    assert len(list(reading)) == 3
    assert sum("points outside" in problem.message for problem in reading.problems) == 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == [f"evil.{kind}", "in"]


def test_links_and_bombs_in_archives(tmp_path, monkeypatch):
    target = tmp_path / "links.tgz"
    with tarfile.open(target, "w:gz") as archive:
        link = tarfile.TarInfo("link.ris")
        link.type = tarfile.SYMTYPE
        link.linkname = "/etc/passwd"
        archive.addfile(link)
        for name in ("a.ris", "b.ris"):
            info = tarfile.TarInfo(name)
            info.size = len(FILES["ris"][1])
            archive.addfile(info, io.BytesIO(FILES["ris"][1]))
    assert len(list(read(target))) == 6
    monkeypatch.setattr("citeweave.reading.archives.MOST_BYTES", len(FILES["ris"][1]) + 10)
    reading = read(target)
    assert len(list(reading)) == 3
    link, bomb = (problem.message for problem in reading.problems)
    assert "'link.ris' is a link to '/etc/passwd'" in link
    assert "more than" in bomb


def test_truncated_archive_gives_its_whole_members(tmp_path):
    target = tmp_path / "cut.tgz"
    filler = b"".join(b"@misc{k%d, title={T%d}}\n" % (i, i * 7919 % 10007) for i in range(20_000))
    pack("tgz", target, [("a.ris", FILES["ris"][1]), ("b.bib", filler)])
    target.write_bytes(target.read_bytes()[:-20_000])
    reading = read(target)
    records = list(reading)
    assert [record.id for record in records[:3]] == ["r1", "r2", "r3"]
    assert "damaged" in reading.problems[0].message


def test_tridnr_folder(tmp_path):
    (tmp_path / "docs.txt").write_bytes(FILES["tridnr"][1])
    (tmp_path / "labels.txt").write_text("11 0\n22 3\n")
    (tmp_path / "adjedges.txt").write_text("11 22 99\n22 \n33 11\n")
    reading = read(tmp_path)
    records = list(reading)
    assert cited(records) == {"11": ["22", "99"], "22": [], "33": ["11"]}
    assert [(r.title, r.category) for r in records] == [
        ("First paper", "0"),
        ("Second paper", "3"),
        ("Third paper", None),
    ]
    assert reading.counts[str(tmp_path / "adjedges.txt")].links == 3


def test_citations_apart(tmp_path):
    papers = tmp_path / "papers.jsonl.gz"
    papers.write_bytes(gzip.compress(json_lines(GENERIC_ROWS)))
    lists = {
        "tabs.tsv": "citing\tcited\ng2\tg1\ng3\tg1\ng3\tg2\nzz\tg1\n",
        "commas.csv": "# a comment\ntarget,source\ng1,g2\ng1,g3\ng2,g3\ng1,zz\n",
        "spaces.txt": "g2 g1\ng3 g1\ng3 g2\nbad\nzz g1\n",
    }
    for name, text in lists.items():
        (tmp_path / name).write_text(text)
        reading = read(papers, citations=tmp_path / name)
        links = cited(reading)
        assert links == {"g1": ["g2", "10.1234/other"], "g2": ["g1"], "g3": ["g1", "g2"]}
        messages = [problem.message for problem in reading.problems]
        assert "1 citations by 1 documents that were not read were skipped" in messages[-1]
        assert (len(messages) == 2) == (name == "spaces.txt")


def test_citation_list_beside_the_only_file_of_a_folder_is_its_own(tmp_path):
    (tmp_path / "papers.jsonl").write_bytes(json_lines(GENERIC_ROWS))
    (tmp_path / "cites.tsv").write_text("citing\tcited\ng2\tg1\n")
    for sources in ([tmp_path], [tmp_path / "papers.jsonl", tmp_path / "cites.tsv"]):
        reading = read(*sources)
        assert cited(reading)["g2"] == ["g1"]
        assert reading.problems == []


def test_citation_list_alone_is_refused():
    records, reading = read_bytes("citing,cited\n1,2\n3,4\n")
    assert records == []
    assert "citations=" in reading.problems[0].message


def test_citation_list_that_cannot_be_read_is_reported(tmp_path):
    papers = tmp_path / "papers.jsonl"
    papers.write_bytes(json_lines(GENERIC_ROWS))
    reading = read(papers, citations=tmp_path)
    assert len(list(reading)) == 3
    assert "cannot be opened" in reading.problems[0].message
