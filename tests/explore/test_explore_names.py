"""Names that people give to topics: kept in the run, whole, and read back."""

import json
import threading

import pytest

from citeweave import load
from citeweave.baselines import SpectralClustering
from citeweave.errors import NotFoundError, ParameterError, RunError
from citeweave.explore import Exploration
from citeweave.explore.labels import NAMES_FILE, TopicNames


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def test_a_name_is_kept_and_read_back(run):
    view = Exploration(run)
    k = view.order[0]
    label = view.topic_name(k)
    view.name_topic(k, "  Robots &\n<b>crops</b> ")
    try:
        assert Exploration(run).topic_name(k) == "Robots & <b>crops</b>"
        assert Exploration(view.model).topic_name(k) == "Robots & <b>crops</b>"  # by its folder
        page = Exploration(run).topic(k)
        assert (page.renamed, page.label) == (True, label)
        assert [hit.id for hit in view.search("robo", kinds=("topic",))] == [k]
        view.name_topic(k, "")
        assert Exploration(run).topic_name(k) == label
    finally:
        (run / NAMES_FILE).unlink(missing_ok=True)


def test_a_saved_copy_keeps_the_names(view, run, tmp_path):
    k = view.order[0]
    view.name_topic(k, "Robots")
    try:
        copy = load(run).save(tmp_path / "copy")
    finally:
        (run / NAMES_FILE).unlink(missing_ok=True)
    assert Exploration(copy).topic_name(k) == "Robots"
    bare = load(run).save(tmp_path / "bare")
    assert not (bare / NAMES_FILE).exists()


def test_a_saved_baseline_keeps_the_names(corpus, tmp_path):
    first = SpectralClustering(topics=2, seed=0).fit(corpus).save(tmp_path / "first")
    Exploration(first).name_topic(1, "Half of it")
    copy = load(first).save(tmp_path / "copy")
    assert Exploration(copy).topic_name(1) == "Half of it"


def test_no_such_topic_gets_no_name(view):
    with pytest.raises(NotFoundError, match="no topic 77"):
        view.name_topic(77, "x")


def test_without_a_folder_names_stay_in_memory(supervised):
    k = supervised.order[0]
    label = supervised.topic_name(k)
    supervised.name_topic(k, "Mine")
    assert supervised.topic_name(k) == "Mine"
    supervised.name_topic(k, None)
    assert supervised.topic_name(k) == label


def test_two_processes_keep_each_others_names(folder):
    one, two = TopicNames(folder), TopicNames(folder)
    one.set(1, "first")
    two.set(2, "second")
    assert TopicNames(folder).as_dict() == {1: "first", 2: "second"}


def test_threads_lose_no_name(folder):
    names = TopicNames(folder)
    threads = [threading.Thread(target=names.set, args=(k, f"topic {k}")) for k in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert TopicNames(folder).as_dict() == {k: f"topic {k}" for k in range(12)}


@pytest.mark.parametrize("name", ["x" * 81, "a\x00b", "a\u202eb"])
def test_names_that_are_refused(folder, name):
    names = TopicNames(folder)
    with pytest.raises(ParameterError, match="printable"):
        names.set(0, name)
    assert not (folder / NAMES_FILE).exists()


def test_names_of_another_chain_are_not_used(folder):
    TopicNames(folder, chain=0).set(3, "theirs")
    other = TopicNames(folder, chain=1)
    assert other.as_dict() == {}
    assert "chain 0" in other.note


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"format": "other"}',
        '{"format": "citeweave-names", "chain": 0, "topics": {"a": 1}}',
    ],
)
def test_a_damaged_file_is_an_error_that_names_it(folder, content):
    (folder / NAMES_FILE).write_text(content, encoding="utf-8")
    with pytest.raises(RunError, match=NAMES_FILE):
        TopicNames(folder)


def test_the_file_says_what_it_is(folder):
    TopicNames(folder, chain=2).set(4, "Läufer")
    stored = json.loads((folder / NAMES_FILE).read_text(encoding="utf-8"))
    assert stored.pop("checksum").startswith("crc32-")
    assert stored == {
        "format": "citeweave-names",
        "version": 1,
        "chain": 2,
        "topics": {"4": "Läufer"},
    }
