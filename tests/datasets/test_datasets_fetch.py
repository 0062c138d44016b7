"""Fetching: what comes is checked, and nothing half or wrong is ever kept."""

import hashlib
import io
import zipfile
from pathlib import Path

import pytest

from citeweave.datasets import DATASETS, DataFile, Dataset, find, get
from citeweave.datasets import fetch as fetching
from citeweave.errors import CorpusError, ParameterError

CONTENT = b"a\t1\t0\tA\nb\t0\t1\tB\n"
CITES = b"a\tb\n"


def entry(path: str, content: bytes, url: str | None = None, member: str | None = None) -> DataFile:
    digest = hashlib.sha256(content).hexdigest()
    return DataFile(path=path, size=len(content), sha256=digest, url=url, member=member)


def dataset(*files: DataFile, before: tuple[tuple[DataFile, ...], ...] = ()) -> Dataset:
    return Dataset(
        name="tiny",
        what="a test",
        documents=2,
        licence="none",
        home="https://example.org/tiny",
        source="made for a test",
        holdings=(*before, files),
    )


def everything_below(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return buffer.getvalue()


def test_a_file_is_fetched_once_and_found_then(server, cache):
    server.files["/docs.txt"] = CONTENT
    tiny = dataset(entry("tiny/docs.txt", CONTENT, server.address("/docs.txt")))
    seen = []
    held = get(tiny, progress=lambda *news: seen.append(news))
    assert held.paths[0].read_bytes() == CONTENT
    assert held.paths[0] == cache / "datasets" / "tiny" / "docs.txt"
    assert seen[-1] == (server.address("/docs.txt"), len(CONTENT), len(CONTENT))
    assert get(tiny).paths == held.paths
    assert server.asked == ["/docs.txt"]


def test_members_of_an_archive_are_fetched_together_and_checked_each(server, cache):
    server.files["/tiny.zip"] = zipped(tiny__tiny_content=CONTENT, tiny__tiny_cites=CITES)
    address = server.address("/tiny.zip")
    tiny = dataset(
        entry("tiny/tiny.content", CONTENT, address, "tiny.content"),
        entry("tiny/tiny.cites", CITES, address, "tiny.cites"),
    )
    held = get(tiny)
    assert [path.read_bytes() for path in held.paths] == [CONTENT, CITES]
    assert server.asked == ["/tiny.zip"]
    assert everything_below(cache) == ["datasets/tiny/tiny.cites", "datasets/tiny/tiny.content"]


@pytest.mark.usefixtures("cache")
def test_the_folder_of_the_user_goes_before_the_cache(server, tmp_path, monkeypatch):
    own = tmp_path / "own"
    (own / "tiny").mkdir(parents=True)
    (own / "tiny" / "docs.txt").write_bytes(CONTENT)
    monkeypatch.setenv("CITEWEAVE_DATA", str(own))
    tiny = dataset(entry("tiny/docs.txt", CONTENT, server.address("/docs.txt")))
    assert get(tiny).folder == own
    assert server.asked == []


def test_any_of_the_holdings_will_do(cache):
    packed = entry("linqs/tiny.tgz", b"packed")
    place = cache / "datasets" / "linqs" / "tiny.tgz"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"packed")
    tiny = dataset(entry("tiny/docs.txt", CONTENT), before=((packed,),))
    held = find(tiny)
    assert held is not None
    assert held.files == (packed,)


def test_a_wrong_checksum_keeps_nothing(server, cache):
    server.files["/docs.txt"] = CONTENT.replace(b"A", b"X")
    file = entry("tiny/docs.txt", CONTENT, server.address("/docs.txt"))
    with pytest.raises(CorpusError, match="instead of") as error:
        get(dataset(file))
    assert file.sha256 in str(error.value)
    assert str(cache / "datasets" / "tiny" / "docs.txt") in str(error.value)
    assert everything_below(cache) == []


def test_a_wrong_member_keeps_nothing(server, cache):
    server.files["/tiny.zip"] = zipped(tiny_content=b"x" * len(CONTENT))
    file = entry("tiny/tiny.content", CONTENT, server.address("/tiny.zip"), "tiny.content")
    with pytest.raises(CorpusError, match=f"instead of {file.sha256}"):
        get(dataset(file))
    server.files["/tiny.zip"] = zipped(other=CONTENT)
    with pytest.raises(CorpusError, match=r"no longer contains 'tiny.content'"):
        get(dataset(file))
    server.files["/tiny.zip"] = b"no archive at all"
    with pytest.raises(CorpusError, match=r"no longer contains 'tiny.content'"):
        get(dataset(file))
    assert everything_below(cache) == []


def test_a_truncated_answer_keeps_nothing(server, cache):
    server.files["/docs.txt"] = CONTENT[:5]
    file = entry("tiny/docs.txt", CONTENT, server.address("/docs.txt"))
    with pytest.raises(CorpusError, match=f"5 bytes instead of {len(CONTENT)}"):
        get(dataset(file))
    server.claimed["/docs.txt"] = len(CONTENT)
    with pytest.raises(CorpusError, match=r"Try again|could not be downloaded"):
        get(dataset(file))
    assert everything_below(cache) == []


def test_too_much_is_not_read_to_its_end(server, cache, monkeypatch):
    server.files["/docs.txt"] = CONTENT * 100_000
    file = entry("tiny/docs.txt", CONTENT, server.address("/docs.txt"))
    seen = []
    with pytest.raises(CorpusError, match="more than the"):
        get(dataset(file), progress=lambda _a, done, _t: seen.append(done))
    assert max(seen) < len(CONTENT) * 1000
    monkeypatch.setattr(fetching, "MOST_ARCHIVE", 10)
    server.files["/tiny.zip"] = zipped(tiny_content=CONTENT)
    packed = entry("tiny/tiny.content", CONTENT, server.address("/tiny.zip"), "tiny.content")
    with pytest.raises(CorpusError, match="more than the expected 10 bytes"):
        get(dataset(packed))
    assert everything_below(cache) == []


def test_no_network_says_where_to_put_the_file(server, cache):
    address = server.address("/docs.txt")
    file = entry("tiny/docs.txt", CONTENT, address)
    with pytest.raises(CorpusError, match="404") as error:
        get(dataset(file))
    assert address in str(error.value)
    server.close()
    with pytest.raises(CorpusError, match="could not be downloaded") as error:
        get(dataset(file), timeout=2)
    text = str(error.value)
    assert address in text
    assert str(cache / "datasets" / "tiny" / "docs.txt") in text
    assert "CITEWEAVE_DATA" in text
    place = cache / "datasets" / "tiny" / "docs.txt"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(CONTENT)
    assert get(dataset(file)).paths == [place]


@pytest.mark.usefixtures("cache")
def test_other_kinds_of_address_are_not_opened(tmp_path):
    (tmp_path / "docs.txt").write_bytes(CONTENT)
    local = (tmp_path / "docs.txt").as_uri()
    with pytest.raises(CorpusError, match="neither https nor http"):
        get(dataset(entry("tiny/docs.txt", CONTENT, local)))


def test_a_set_without_address_says_so(cache):
    file = entry("tiny/docs.txt", CONTENT)
    with pytest.raises(CorpusError, match="cannot be downloaded") as error:
        get(dataset(file))
    assert str(cache / "datasets" / "tiny" / "docs.txt") in str(error.value)
    assert file.sha256 in str(error.value)


def test_a_changed_file_of_the_right_size_is_refused(cache):
    place = cache / "datasets" / "tiny" / "docs.txt"
    place.parent.mkdir(parents=True)
    place.write_bytes(CONTENT.swapcase())
    with pytest.raises(CorpusError, match="is not the file of the data set 'tiny'"):
        get(dataset(entry("tiny/docs.txt", CONTENT)))


def test_a_cache_that_cannot_be_made_is_told(server, tmp_path, monkeypatch):
    monkeypatch.delenv("CITEWEAVE_DATA", raising=False)
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    monkeypatch.setenv("CITEWEAVE_CACHE", str(blocked))
    server.files["/docs.txt"] = CONTENT
    file = entry("tiny/docs.txt", CONTENT, server.address("/docs.txt"))
    with pytest.raises(CorpusError, match="CITEWEAVE_CACHE"):
        get(dataset(file))


def test_an_unknown_name_is_told_with_the_nearest():
    with pytest.raises(ParameterError, match="Did you mean 'citeseer'"):
        get("citseer")


@pytest.mark.parametrize("name", DATASETS)
def test_every_entry_is_whole(name):
    known = DATASETS[name]
    files = [file for holding in known.holdings for file in holding]
    assert all(len(file.sha256) == 64 and int(file.sha256, 16) for file in files)
    assert all(file.size > 0 and not file.path.startswith("/") for file in files)
    assert all(file.url is None or file.url.startswith("https://") for file in files)
    assert known.home.startswith("https://")
    assert known.licence
    assert known.what
    assert all(other in DATASETS for other in known.needs)
    # an archive that gives one member gives them all
    assert len({file.member is None for file in known.holdings[-1]}) == 1
