"""A corpus on disk: what comes back, what is refused, and that nothing is lost."""

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from citeweave.corpus import Corpus, storage
from citeweave.errors import CorpusError, MissingDependencyError


@pytest.fixture
def corpus():
    return Corpus.from_lists(
        tokens=[["topic", "model", "topic"], [], ["citation", "model"]],
        authors=[["Ann <b>", "Bo"], None, ["Bo"]],
        categories=["x", None, "y"],
        citations=[(0, 2), (2, 0), (2, 2)],
        titles=["First & last", None, "Third"],
        ids=["p1", "p2", "p3"],
        title_lengths=[2, 0, 1],
        metadata={
            "year": [1999, None, 2001],
            "keywords": [["a", "b"], [], None],
            "doi": [None] * 3,
        },
        preparation={"lower": True, "steps": ["tokens"]},
    )


def other():
    return Corpus.from_lists(tokens=[["z"]], ids=["new"])


def assert_same(left, right):
    for name, dtype in storage.ARRAYS.items():
        assert getattr(left, name).dtype == dtype
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
    for name in ("vocabulary", "author_names", "category_names", "ids", "titles", "report"):
        assert getattr(left, name) == getattr(right, name)
    assert dict(left.metadata) == dict(right.metadata)
    assert left.preparation == right.preparation
    assert left.fingerprint == right.fingerprint


@pytest.mark.parametrize("mmap", [True, False])
def test_round_trip(corpus, tmp_path, mmap):
    folder = corpus.save(tmp_path / "deep" / "corpus")
    loaded = Corpus.load(folder, mmap=mmap)
    assert_same(corpus, loaded)
    assert loaded.verify() == corpus.fingerprint
    assert not loaded.tokens.flags.writeable
    assert type(loaded.tokens) is np.ndarray
    assert isinstance(loaded.tokens.base, np.memmap) == mmap


def test_manifest_says_what_is_inside(corpus, tmp_path):
    folder = corpus.save(tmp_path / "c")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["format"] == "citeweave-corpus"
    assert manifest["version"] == 1
    assert manifest["fingerprint"] == corpus.fingerprint
    assert manifest["counts"]["citations"] == 2
    assert manifest["report"]["self_citations"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c"]


def test_existing_folder_is_kept_unless_overwritten(corpus, tmp_path):
    folder = corpus.save(tmp_path / "c")
    with pytest.raises(CorpusError, match=r"already exists.*overwrite=True"):
        other().save(folder)
    assert Corpus.load(folder).ids == ["p1", "p2", "p3"]
    other().save(folder, overwrite=True)
    assert Corpus.load(folder).ids == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_a_folder_that_is_no_corpus_is_never_overwritten(corpus, tmp_path):
    (tmp_path / "precious.txt").write_text("keep")
    with pytest.raises(CorpusError, match="not a corpus, so it will not be overwritten"):
        corpus.save(tmp_path, overwrite=True)
    file = tmp_path / "precious.txt"
    with pytest.raises(CorpusError, match="not be overwritten"):
        corpus.save(file, overwrite=True)
    assert file.read_text() == "keep"


def test_an_empty_folder_may_be_overwritten(corpus, tmp_path):
    (tmp_path / "c").mkdir()
    corpus.save(tmp_path / "c", overwrite=True)
    assert Corpus.load(tmp_path / "c").verify()


def test_a_loaded_corpus_can_be_saved_over_itself(corpus, tmp_path):
    folder = corpus.save(tmp_path / "c")
    Corpus.load(folder).save(folder, overwrite=True)
    assert_same(corpus, Corpus.load(folder))


def test_a_failed_save_changes_nothing(corpus, tmp_path, monkeypatch):
    folder = corpus.save(tmp_path / "c")

    def full_disk(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full_disk)
    with pytest.raises(CorpusError, match=r"No space left on device\. Nothing was changed there"):
        other().save(folder, overwrite=True)
    assert_same(corpus, Corpus.load(folder))
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_a_failed_rename_brings_the_old_folder_back(corpus, tmp_path, monkeypatch):
    folder = corpus.save(tmp_path / "c")
    rename = Path.rename

    def refuse(self, target):
        if ".new-" in self.name:
            raise PermissionError(13, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(CorpusError, match="Permission denied"):
        other().save(folder, overwrite=True)
    assert_same(corpus, Corpus.load(folder))
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_a_place_that_is_a_file_is_refused(corpus, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(CorpusError, match="cannot be saved"):
        corpus.save(tmp_path / "file" / "c")


def edit_manifest(folder, **changes):
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def without_checksums(folder):
    """Make a folder one of an earlier release, so that checks behind the checksums are met."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["checksum"], manifest["files"]
    path.write_text(json.dumps(manifest))
    return folder


def truncate(folder):
    path = folder / "arrays" / "tokens.npy"
    path.write_bytes(path.read_bytes()[:-4])


def pickled(folder):
    np.save(folder / "arrays" / "tokens.npy", np.array([{}], dtype=object), allow_pickle=True)


DAMAGES = {
    "no corpus folder": shutil.rmtree,
    "has no manifest.json": lambda f: (f / "manifest.json").unlink(),
    "not valid JSON": lambda f: (f / "manifest.json").write_text("{"),
    "has the format 'x'": lambda f: edit_manifest(f, format="x"),
    "has the format None": lambda f: (f / "manifest.json").write_text("[]"),
    "format version 3": lambda f: edit_manifest(f, version=3),
    "manifest.json' is damaged": lambda f: edit_manifest(f, counts={"documents": 3}),
    "is damaged .CorpusError": lambda f: edit_manifest(f, report={"bogus": 1}),
    "citations.npy.* is missing": lambda f: (f / "arrays" / "citations.npy").unlink(),
    "tokens.npy' is damaged or truncated": truncate,
    "tokens.npy' is damaged or truncated.*Python objects": pickled,
    "does not match the manifest.*int32 of shape .5": lambda f: np.save(
        f / "arrays" / "tokens.npy", np.zeros(4, dtype=np.int32)
    ),
    "does not match the manifest.*got int64": lambda f: np.save(
        f / "arrays" / "tokens.npy", np.zeros(5, dtype=np.int64)
    ),
    "damaged: The word id of document 0, position 0.*got 7": lambda f: np.save(
        f / "arrays" / "tokens.npy", np.full(5, 7, dtype=np.int32)
    ),
    "damaged: citations are not sorted": lambda f: np.save(
        f / "arrays" / "citations.npy", np.array([[0, 2], [0, 2]], dtype=np.int32)
    ),
}


@pytest.mark.parametrize("text", list(DAMAGES))
def test_damage_is_refused_in_one_line(corpus, tmp_path, text):
    folder = without_checksums(corpus.save(tmp_path / "c"))
    DAMAGES[text](folder)
    with pytest.raises(CorpusError, match=text) as caught:
        Corpus.load(folder)
    assert "\n" not in str(caught.value)


def test_damaged_strings_are_found_when_read(corpus, tmp_path):
    folder = without_checksums(corpus.save(tmp_path / "c"))
    loaded = Corpus.load(folder)
    (folder / "vocabulary.parquet").write_bytes(b"PAR1")
    with pytest.raises(CorpusError, match=r"'word' of .*vocabulary.parquet' cannot be read"):
        _ = loaded.vocabulary
    (folder / "authors.parquet").unlink()
    with pytest.raises(CorpusError, match=r"'name' of .*authors\.parquet' cannot be read"):
        _ = loaded.author_names
    shutil.copy(folder / "documents.parquet", folder / "categories.parquet")
    with pytest.raises(CorpusError, match=r"'name' of .*categories\.parquet' cannot be read"):
        _ = loaded.category_names


def test_verify_finds_changed_contents(corpus, tmp_path):
    folder = without_checksums(corpus.save(tmp_path / "c"))
    path = folder / "arrays" / "tokens.npy"
    tokens = np.load(path)
    np.save(path, tokens[::-1].copy())
    with pytest.raises(CorpusError, match="files have changed"):
        Corpus.load(folder).verify()


def test_strings_of_a_replaced_folder_are_not_mixed_up(corpus, tmp_path):
    folder = corpus.save(tmp_path / "c")
    loaded = Corpus.load(folder)
    other().save(folder, overwrite=True)
    assert loaded.tokens.tolist() == corpus.tokens.tolist()
    with pytest.raises(CorpusError, match="a different corpus than when it was loaded"):
        _ = loaded.ids


def test_arrays_need_no_polars(corpus, tmp_path):
    folder = corpus.save(tmp_path / "c")
    script = (
        "import sys; sys.modules['polars'] = None\n"
        "from citeweave.corpus import Corpus\n"
        "from citeweave.errors import MissingDependencyError\n"
        f"c = Corpus.load({str(folder)!r})\n"
        "assert c.n_tokens == 5 and c.summary()['documents'] == 3 and len(c.fingerprint) == 64\n"
        "assert list(c.metadata) == ['year', 'keywords', 'doi']\n"
        "assert c.split(test=0.4).train.n_documents == 2\n"
        "try: c.vocabulary\n"
        "except MissingDependencyError as e: assert 'pip install polars' in str(e)\n"
        "else: sys.exit(3)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_saving_without_polars_says_what_to_install(corpus, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingDependencyError, match="pip install polars"):
        corpus.save(tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


def test_a_copy_from_another_process_is_the_same_and_read_only(corpus):
    copy = pickle.loads(pickle.dumps(corpus))  # noqa: S301
    assert_same(corpus, copy)
    assert not copy.tokens.flags.writeable
