"""Checkpoints: whole or not there, verified, and the previous one when the newest is bad."""

import errno
import shutil
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from model_tools import QUICK, assert_same_bytes, files_under, run_contents

import citeweave
from citeweave import SCNTM
from citeweave.engines.core.compact_rows import CompactRows, new_compact_rows
from citeweave.engines.core.row_files import Rows, read_header, read_rows
from citeweave.errors import RunError
from citeweave.model.runner import RunInterrupted
from citeweave.runs import checkpoint as checkpoints
from citeweave.runs.checkpoint import Checkpoint, Identity, read_latest, write_checkpoint

IDENTITY = Identity("corpus", "plan", 0)


def small_checkpoint(iteration, value=0.0):
    return Checkpoint(
        iteration=iteration,
        state={"random": np.arange(4, dtype=np.uint64), "x": np.full((3, 2), value)},
        sums=None,
        traces={"log_likelihood": np.zeros(iteration)},
    )


@pytest.fixture
def stored(tmp_path):
    folder = tmp_path / "run" / "chains" / "chain-0"
    folder.parent.mkdir(parents=True)
    for iteration in (3, 7, 9):
        write_checkpoint(folder, IDENTITY, small_checkpoint(iteration, float(iteration)))
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_newest_two_are_kept(stored):
    assert names(stored) == ["checkpoint-00000007.npz", "checkpoint-00000009.npz"]
    found, refused = read_latest(stored, IDENTITY)
    assert found.iteration == 9
    assert refused == []
    np.testing.assert_array_equal(found.state["x"], 9.0)
    assert len(found.traces["log_likelihood"]) == 9


def test_none_at_all(tmp_path):
    assert read_latest(tmp_path, IDENTITY) == (None, [])


@pytest.mark.parametrize("keep", [0, 1, 100, 0.5, 0.9, -1])
def test_truncated_files_are_refused(stored, keep):
    newest = stored / "checkpoint-00000009.npz"
    content = newest.read_bytes()
    newest.write_bytes(content[: int(keep * len(content)) if isinstance(keep, float) else keep])
    found, refused = read_latest(stored, IDENTITY)
    assert found.iteration == 7
    assert len(refused) == 1
    assert "truncated or damaged" in refused[0]
    assert str(newest) in refused[0]


def test_every_flipped_byte_is_seen(stored):
    newest = stored / "checkpoint-00000009.npz"
    content = bytearray(newest.read_bytes())
    whole, _ = read_latest(stored, IDENTITY)
    for place in range(0, len(content), 23):
        changed = bytearray(content)
        changed[place] ^= 0x55
        newest.write_bytes(bytes(changed))
        found, _ = read_latest(stored, IDENTITY)
        # either refused, or a byte that carries no content (a date in the archive)
        if found.iteration == 9:
            for name, array in whole.state.items():
                np.testing.assert_array_equal(found.state[name], array)
        else:
            assert found.iteration == 7


@pytest.mark.parametrize(
    ("identity", "text"),
    [
        (Identity("other", "plan", 0), "another corpus"),
        (Identity("corpus", "other", 0), "other parameters"),
        (Identity("corpus", "plan", 1), "another chain"),
    ],
)
def test_foreign_checkpoints_are_refused(stored, identity, text):
    write_checkpoint(stored, identity, small_checkpoint(11))
    found, refused = read_latest(stored, IDENTITY)
    assert found.iteration == 9
    assert text in refused[0]


def test_other_versions_and_other_files_are_refused(stored, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "VERSION", 4)
        write_checkpoint(stored, IDENTITY, small_checkpoint(10))
    np.savez(stored / "checkpoint-00000011.npz", x=np.zeros(3))
    shutil.copy(stored / "checkpoint-00000009.npz", stored / "kept")
    (stored / "checkpoint-00000012.npz").write_text("no archive")
    found, refused = read_latest(stored, IDENTITY)
    assert found.iteration == 9
    assert "truncated or damaged" in refused[0]
    assert "not a checkpoint of citeweave" in refused[1]
    assert "format version 4 but this release reads 1 to 3" in refused[2]


def listed_state():
    """Counts of three nodes and six topics, as lists and as arrays, under the names of a state."""
    rows = new_compact_rows(np.array([6, 2, 0]), 6)
    for node, topic, customers, tables in [(0, 5, 7, 1), (0, 1, 2, 1), (1, 4, 3, 2), (1, 0, 1, 1)]:
        rows[0][node, topic], rows[1][node, topic] = customers, tables
    lists = {"topics.customers": rows[0], "topics.tables": rows[1], "clock": np.zeros(2, np.int64)}
    return lists, {name: np.asarray(part) for name, part in lists.items()}


def test_lists_are_stored_as_lists_in_a_version_of_their_own(tmp_path):
    lists, arrays = listed_state()
    stored = {}
    for name, state in (("lists", lists), ("arrays", arrays)):
        (tmp_path / name).mkdir()
        checkpoint = Checkpoint(1, state, None, {})
        path = write_checkpoint(tmp_path / name / "chain-0", IDENTITY, checkpoint)
        found, _ = read_latest(path.parent, IDENTITY)
        stored[name] = found.state
        assert read_header(path)["version"] == (3 if name == "lists" else 1)
        with np.load(path) as file:
            lists_there = [member for member in file.files if ".lists." in member]
        assert len(lists_there) == (4 if name == "lists" else 0)
    assert isinstance(stored["lists"]["topics.customers"], CompactRows)
    for name, array in arrays.items():
        for state in stored.values():
            np.testing.assert_array_equal(state[name], array)
            assert state[name].dtype == array.dtype
    for like in (lists, arrays):  # either kind fits a chain of either kind
        shaped = Counts(like["topics.customers"], like["topics.tables"])
        for state in stored.values():
            again = checkpoints.unflatten(shaped, state, "topics.")
            np.testing.assert_array_equal(again.tables, arrays["topics.tables"])


class Counts(NamedTuple):
    """Of which `TopicCounts` has some."""

    customers: object
    tables: object


def test_workers_read_the_lists_of_their_nodes(tmp_path):
    lists, arrays = listed_state()
    path = write_checkpoint(tmp_path / "chain-0", IDENTITY, Checkpoint(1, lists, None, {}))
    nothing = np.zeros(0, np.int64)
    some = Rows(nothing, np.array([2, 1]), nothing, nothing, nothing)
    found = read_rows(path, some)
    assert len(found["state.topics.customers"].topic) == np.count_nonzero(
        arrays["topics.customers"][[2, 1]]
    )
    for name in ("topics.customers", "topics.tables"):
        assert isinstance(found[f"state.{name}"], CompactRows)
        np.testing.assert_array_equal(found[f"state.{name}"], arrays[name][[2, 1]])
        np.testing.assert_array_equal(read_rows(path)[f"state.{name}"], arrays[name])


def test_lists_that_do_not_belong_together_are_refused(tmp_path, monkeypatch):
    lists, _ = listed_state()
    made = checkpoints.pack_counts

    def shortened(arrays):
        packed = made(arrays)
        packed["state.topics.lists.topic"] = packed["state.topics.lists.topic"][:-1]
        return packed

    monkeypatch.setattr(checkpoints, "pack_counts", shortened)
    write_checkpoint(tmp_path / "chain-0", IDENTITY, Checkpoint(1, lists, None, {}))
    with pytest.raises(RunError, match=r"is refused: lists of topics are not as long"):
        read_latest(tmp_path / "chain-0", IDENTITY)


def test_pickles_are_never_loaded(stored):
    np.savez(stored / "checkpoint-00000012.npz", header=np.array([{"a": 1}], dtype=object))
    found, refused = read_latest(stored, IDENTITY)
    assert found.iteration == 9
    assert len(refused) == 1


def test_no_good_one_left(stored):
    for path in stored.iterdir():
        path.write_bytes(b"")
    with pytest.raises(RunError, match=r"No checkpoint in .* can be used: .* restart the chain"):
        read_latest(stored, IDENTITY)


class FullDisk:
    """A file that takes so many bytes and no more."""

    def __init__(self, file, room):
        self.file = file
        self.room = room

    def write(self, data):
        self.room -= len(data)
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize("room", [0, 200, 1000])
def test_a_full_disk_leaves_what_was_there(stored, monkeypatch, room):
    before = files_under(stored)
    save = np.savez
    monkeypatch.setattr(np, "savez", lambda file, **arrays: save(FullDisk(file, room), **arrays))
    with pytest.raises(RunError) as caught:
        write_checkpoint(stored, IDENTITY, small_checkpoint(11))
    text = str(caught.value)
    assert "No space left on device" in text
    assert str(stored / "checkpoint-00000011.npz") in text
    assert f"citeweave resume {stored.parent.parent}" in text
    assert files_under(stored) == before


LIMITED = """
import resource, sys, citeweave
folder, limit = sys.argv[1:]
# kernels first, which may have to be compiled and stored
model = citeweave.SCNTM(topics=4, iterations=30, seed=5, network_from=8, burn_in=15, thin=3)
model.set_params(chains=1).fit(folder + "/corpus")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
try:
    citeweave.resume(folder, checkpoint_iterations=1)
except citeweave.errors.RunError as error:
    print(error)
"""


@pytest.fixture
def interrupted(small, tmp_path):
    folder = tmp_path / "run"

    def at(progress):
        if progress.iteration == 12:
            raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        SCNTM(**QUICK, chains=1).fit(small, out=folder, checkpoint_iterations=5, progress=at)
    assert names(folder / "chains" / "chain-0") == [
        "checkpoint-00000005.npz",
        "checkpoint-00000010.npz",
    ]
    return folder


@pytest.fixture(scope="module")
def whole(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    SCNTM(**QUICK, chains=1).fit(small, out=folder)
    return run_contents(folder)


def test_a_limit_on_file_size(interrupted, whole):
    before = files_under(interrupted / "chains")
    command = [sys.executable, "-c", LIMITED, str(interrupted), "9000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "cannot be written: File too large. Earlier checkpoints are intact" in done.stdout
    assert files_under(interrupted / "chains") == before
    citeweave.resume(interrupted)
    assert_same_bytes(whole, run_contents(interrupted))


def test_a_damaged_checkpoint_costs_some_iterations_only(interrupted, whole):
    newest = interrupted / "chains" / "chain-0" / "checkpoint-00000010.npz"
    newest.write_bytes(newest.read_bytes()[:-100])
    with pytest.warns(RuntimeWarning, match="is refused: .* The one of iteration 5 is used"):
        model = citeweave.resume(interrupted)
    assert_same_bytes(whole, run_contents(interrupted))
    assert "refused" in model.notes_[0]
    assert citeweave.load(interrupted).notes_ == model.notes_


def test_a_checkpoint_of_another_run_is_not_taken(interrupted, small, tmp_path, whole):
    other = tmp_path / "other"
    SCNTM(**QUICK | {"topics": 5}, chains=1).fit(small, out=other)
    foreign = other / "chains" / "chain-0" / "checkpoint-00000030.npz"
    shutil.copy(foreign, interrupted / "chains" / "chain-0")
    with pytest.warns(RuntimeWarning, match="made with other parameters"):
        citeweave.resume(interrupted)
    assert_same_bytes(whole, run_contents(interrupted))


def test_a_run_without_checkpoints_starts_anew(interrupted, whole):
    shutil.rmtree(interrupted / "chains" / "chain-0")
    citeweave.resume(interrupted)
    assert_same_bytes(whole, run_contents(interrupted))


def test_leftovers_of_a_killed_process_go(interrupted):
    part = interrupted / "chains" / "chain-0" / "checkpoint-00000012.npz.part"
    part.write_bytes(b"half")
    citeweave.resume(interrupted)
    assert not part.exists()


def test_a_state_of_other_shape_is_refused(interrupted):
    folder = interrupted / "chains" / "chain-0"
    header, _ = checkpoints._read(folder / "checkpoint-00000010.npz")
    identity = Identity(header["fingerprint"], header["plan"], 0)
    good, _ = read_latest(folder, identity)
    bad = good._replace(state=good.state | {"random": np.zeros(3, np.uint64)})
    write_checkpoint(folder, identity, bad)
    with pytest.raises(RunError, match=r"'random' is uint64 of shape .3,., but that of the chain"):
        citeweave.resume(interrupted)


def test_a_disk_that_fills_up_while_two_chains_run(small, tmp_path, monkeypatch, whole):
    folder = tmp_path / "run"
    save = np.savez
    calls = []

    def sometimes(file, **arrays):
        calls.append(None)
        save(FullDisk(file, 500) if len(calls) > 5 else file, **arrays)

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", sometimes)
        with pytest.raises(RunError, match="No space left"):
            SCNTM(**QUICK, chains=2).fit(small, out=folder, checkpoint_iterations=2)
    assert not list(folder.rglob("*.part"))
    try:
        citeweave.resume(folder)
    except RunInterrupted:  # pragma: no cover
        pytest.fail("nobody asked to stop")
    mine = run_contents(folder)
    shared = [name for name in whole if name.startswith("chain0.")]
    assert_same_bytes({n: whole[n] for n in shared}, {n: mine[n] for n in shared})


def test_sums_of_a_release_that_kept_no_squares_are_read(tmp_path, small):
    run = tmp_path / "run"
    SCNTM(**QUICK, chains=1).fit(small, out=run)
    path = next((run / "chains" / "chain-0").glob("*.npz"))
    with np.load(path) as stored:
        sums = {
            name.removeprefix("sums."): stored[name]
            for name in stored.files
            if name.startswith("sums.") and name != "sums.nodes_squared"
        }
    found = checkpoints._sums({f"sums.{name}": array for name, array in sums.items()})
    assert np.isnan(found.nodes_squared).all()
    assert found.nodes_squared.shape == found.nodes.shape
    np.testing.assert_array_equal(found.nodes, sums["nodes"])
