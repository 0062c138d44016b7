"""An import that is interrupted goes on where it was, and makes the same corpus."""

import os
import signal
import subprocess
import sys
import time

import pytest
from benchmarks.openalex_snapshot import write_snapshot

from citeweave.corpus import Corpus
from citeweave.errors import CorpusError
from citeweave.preparing.snapshot import import_snapshot, kept

CODE = """
import sys
from citeweave.preparing.snapshot import import_snapshot
if __name__ == "__main__":
    import_snapshot(sys.argv[1], sys.argv[2], piece=40, shard=100, workers=int(sys.argv[3]))
"""


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return write_snapshot(tmp_path_factory.mktemp("snapshot"), 260, part=100)


@pytest.fixture(scope="module")
def expected(snapshot, tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed") / "corpus"
    run(snapshot, out)
    return files_of(out)


def run(snapshot, out, **options):
    return import_snapshot(snapshot, out, **{"piece": 40, "shard": 100, **options})


def files_of(folder):
    """Bytes of all files of a corpus but those that say when it was made."""
    dated = {"import.json", "manifest.json"}
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in dated]
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    return found | {"fingerprint": Corpus.load(folder).fingerprint}


class Killed(BaseException):
    """Nothing catches it, as nothing catches a kill."""


def test_interrupted_at_every_step(snapshot, expected, tmp_path, monkeypatch):
    """Each step is interrupted when its work is done and its result not yet kept."""
    out = tmp_path / "corpus"
    met = []
    write = kept.write_bytes

    def interrupt(path, content):
        met.append(path.name)
        if met.count(path.name) == 1:
            raise Killed
        write(path, content)

    monkeypatch.setattr(kept, "write_bytes", interrupt)
    for _ in range(40):
        try:
            run(snapshot, out)
            break
        except Killed:
            assert not out.exists()
    monkeypatch.undo()
    shards = [f"shard-{number:05d}.pickle" for number in range(3)]
    steps = {"words", "hyphens", "word-counts", "phrases", "term-counts", "plan", "authors"}
    steps |= {"names-0", "people", "categories"}
    assert set(met) == {f"{name}.pickle" for name in steps} | set(shards)
    assert {met.count(name) for name in met} == {2}, "a step that was kept was done again"
    assert files_of(out) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_interrupted_when_the_corpus_is_in_place(snapshot, expected, tmp_path, monkeypatch):
    out = tmp_path / "corpus"
    module = sys.modules["citeweave.preparing.snapshot.run"]
    real = module.replace_folder

    def interrupt(new, target):
        real(new, target)
        raise Killed

    monkeypatch.setattr(module, "replace_folder", interrupt)
    with pytest.raises(Killed):
        run(snapshot, out)
    monkeypatch.undo()
    corpus, report = run(snapshot, out)
    assert report.documents == corpus.n_documents == 260
    assert files_of(out) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]
    with pytest.raises(CorpusError, match="already exists"):
        run(snapshot, out)


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX systems")
def test_killed_and_started_again(snapshot, expected, tmp_path):
    """Killed with its workers while it reads, while it plans words and while it writes shards."""
    out = tmp_path / "corpus"
    work = tmp_path / ".corpus.import"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    killed = 0
    for wanted, workers in (("parts/*.json", 2), ("steps/hyphens.*", 1), ("steps/shard-*", 1)):
        command = [sys.executable, "-c", CODE, str(snapshot), str(out), str(workers)]
        process = subprocess.Popen(command, env=environment)
        while process.poll() is None:
            if any(work.glob(wanted)):
                process.send_signal(signal.SIGKILL)
                killed += 1
                break
            time.sleep(0.002)
        process.wait()
    assert killed, "the import was over before it could be killed"
    if not out.exists():
        marks = list(work.glob("parts/*.json"))
        assert marks
        with pytest.raises(CorpusError, match="interrupted import that differs in where"):
            run(snapshot, out, where="year > 1990")
        steps = []
        run(snapshot, out, progress=lambda *news: steps.append(news))
        assert steps[0] == ("parts", len(marks), 3)
    assert files_of(out) == expected
    assert not work.exists()
