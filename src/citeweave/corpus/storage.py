"""Storage of a corpus: a manifest, memory-mappable arrays, and Parquet tables of strings.

    manifest.json          format, version, fingerprint, counts, report, preparation
    arrays/*.npy           everything needed for fitting
    documents.parquet      id, title, and the metadata columns
    vocabulary.parquet, authors.parquet, categories.parquet
    import.json            report of the import, if any

Nothing is ever pickled. A folder is written under a temporary name and then renamed.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from citeweave.checksums import check_file, checksums, sealed
from citeweave.corpus.check import check_arrays
from citeweave.corpus.report import CorpusReport
from citeweave.corpus.text import NAME_COLUMN, TextStore
from citeweave.errors import CorpusError, MissingDependencyError
from citeweave.files import (
    absolute,
    format_of,
    name_beside,
    parquet_errors,
    parquet_reason,
    read_manifest,
    replace_folder,
)
from citeweave.installing import install_package
from citeweave.naming import choice

if TYPE_CHECKING:
    from citeweave.corpus.build import Parts
    from citeweave.corpus.corpus import Corpus

__all__ = [
    "ARRAYS",
    "FORMAT",
    "REPORT_FILE",
    "SHARDED_VERSION",
    "VERSION",
    "StoredReport",
    "StoredText",
    "check_file_of",
    "check_target",
    "check_unchanged",
    "corpus_counts",
    "document_series",
    "has_checksums",
    "is_corpus_folder",
    "making",
    "needs_polars",
    "read",
    "read_array",
    "read_manifest_of",
    "stored_fingerprint",
    "write",
    "write_array_files",
    "write_arrays",
    "write_manifest",
    "write_names",
]

FORMAT = "citeweave-corpus"
VERSION = 1
SHARDED_VERSION = 2
"""Format version of sharded folders, which earlier releases cannot read."""

REPORT_FILE = "import.json"
"""File name of the import report in a corpus folder."""

ARRAYS: dict[str, type] = {
    "tokens": np.int32,
    "offsets": np.int64,
    "title_lengths": np.int32,
    "author_ids": np.int32,
    "author_offsets": np.int64,
    "categories": np.int32,
    "citations": np.int32,
}


def is_corpus_folder(folder: str | os.PathLike[str]) -> bool:
    """Return whether a folder is a corpus, of any format version."""
    return format_of(folder) == FORMAT


def stored_fingerprint(folder: Path) -> str | None:
    """Return the fingerprint of the corpus in a folder; None if it has another version."""
    try:
        found = read_manifest_of(folder).get("fingerprint")
    except CorpusError:
        return None
    return found if isinstance(found, str) else None


def has_checksums(folder: Path) -> bool:
    """Return whether the manifest of a corpus contains checksums of its files."""
    return "files" in read_manifest_of(folder)


def write(corpus: "Corpus", folder: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """Save a corpus atomically: the folder is always either the old one or the complete new one."""
    target = absolute(folder)
    with making(target, overwrite=overwrite) as temporary:
        _write_contents(corpus, temporary, needs_polars("Saving a corpus"))
    return target


@contextmanager
def making(target: Path, *, overwrite: bool) -> Iterator[Path]:
    """Yield a temporary folder to write a corpus to, which is renamed on success."""
    check_target(target, overwrite=overwrite)
    pl = needs_polars("Saving a corpus")
    temporary = name_beside(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        yield temporary
        replace_folder(temporary, target)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise CorpusError(
            f"The corpus cannot be saved to '{target}': {reason}. Nothing was changed there. Free "
            "some disk space or choose a writable folder."
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_target(target: Path, *, overwrite: bool) -> None:
    """Raise an error if the folder exists, unless it is a corpus that may be replaced."""
    if not target.exists() and not target.is_symlink():
        return
    if not overwrite:
        raise CorpusError(
            f"'{target}' already exists. Choose another folder or pass "
            f"{choice('overwrite=True', '--overwrite')}."
        )
    if not target.is_dir() or not (is_corpus_folder(target) or not any(target.iterdir())):
        raise CorpusError(
            f"'{target}' exists and is not a corpus, so it will not be overwritten. Choose another "
            "folder."
        )


def _write_contents(corpus: "Corpus", folder: Path, pl: ModuleType) -> None:
    write_names(corpus.text, folder, pl)
    names = ("id", "title", *corpus.metadata)
    documents = {name: corpus.text.column("documents", name) for name in names}
    frame = pl.DataFrame([document_series(pl, name, list(v)) for name, v in documents.items()])
    frame.write_parquet(folder / "documents.parquet")
    write_arrays(corpus, folder, metadata=list(corpus.metadata))


def write_names(text: TextStore, folder: Path, pl: ModuleType) -> None:
    """Write the tables of words, authors and categories."""
    for table, name in NAME_COLUMN.items():
        values = list(text.column(table, name))
        frame = pl.DataFrame({name: pl.Series(name, values, dtype=pl.String)})
        frame.write_parquet(folder / f"{table}.parquet")


def write_arrays(corpus: "Corpus", folder: Path, *, metadata: Sequence[str] = ()) -> None:
    """Write the arrays and the manifest of a corpus, which suffice for fitting.

    Parameters
    ----------
    corpus : Corpus
    folder : Path
        An existing folder.
    metadata : sequence of str
        Columns of its table of documents.
    """
    write_array_files({name: getattr(corpus, name) for name in ARRAYS}, folder)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "fingerprint": corpus.fingerprint,
        "counts": corpus_counts(corpus),
        "metadata": list(metadata),
        "report": corpus.report.as_dict(),
        "preparation": corpus.preparation,
    }
    write_manifest(folder, manifest, corpus.import_report)


def write_array_files(arrays: Mapping[str, np.ndarray], folder: Path) -> None:
    """Write the arrays of a corpus or a shard to a folder."""
    (folder / "arrays").mkdir()
    for name, dtype in ARRAYS.items():
        array = np.asarray(arrays[name], np.dtype(dtype).newbyteorder("<"))
        np.save(folder / "arrays" / f"{name}.npy", array, allow_pickle=False)


def write_manifest(
    folder: Path, manifest: Mapping[str, Any], report: Mapping[str, Any] | None
) -> None:
    """Write the import report, if any, and finally the manifest with checksums of all files."""
    if report is not None:
        text = json.dumps(dict(report), indent=2, ensure_ascii=False) + "\n"
        _write_json(folder / REPORT_FILE, text)
    _write_json(folder / "manifest.json", sealed({**manifest, "files": checksums(folder)}))


def _write_json(path: Path, text: str) -> None:
    # file names may contain undecodable bytes, which survive a round trip through JSON
    path.write_bytes(text.encode("utf-8", "backslashreplace"))


def corpus_counts(corpus: "Corpus") -> dict[str, int]:
    """Return the sizes of a corpus, as stored in manifests."""
    return {
        "documents": corpus.n_documents,
        "tokens": corpus.n_tokens,
        "vocabulary": corpus.vocabulary_size,
        "authors": corpus.n_authors,
        "author_mentions": len(corpus.author_ids),
        "categories": corpus.n_categories,
        "citations": corpus.n_citations,
    }


def document_series(pl: ModuleType, name: str, values: list[Any]) -> Any:
    """Create a column with the type of its first value that is not None."""
    example = next((value for value in values if value is not None), "")
    types = {
        bool: pl.Boolean,
        int: pl.Int64,
        float: pl.Float64,
        str: pl.String,
        list: pl.List(pl.String),
    }
    return pl.Series(name, values, dtype=types[type(example)])


def read(folder: str | os.PathLike[str], *, mmap: bool) -> tuple["Parts", str]:
    """Read and validate a folder; return the parts of the corpus and its fingerprint."""
    place = Path(folder)
    manifest = read_manifest_of(place)
    try:
        fingerprint = str(manifest["fingerprint"])
        counts = {name: int(value) for name, value in manifest["counts"].items()}
        documents = counts["documents"]
        shapes = array_shapes(counts)
        report = CorpusReport.from_dict(manifest["report"])
        preparation = dict(manifest["preparation"])
        metadata = tuple(str(name) for name in manifest["metadata"])
        sizes = (counts["vocabulary"], counts["authors"], counts["categories"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorpusError(
            f"'{place / 'manifest.json'}' is damaged ({type(error).__name__}: {error}). Create the "
            "corpus again."
        ) from error
    arrays = {
        name: read_array(place, manifest, name, shape, mmap=mmap) for name, shape in shapes.items()
    }
    check_arrays(place, arrays, sizes, documents)
    parts: Parts = {
        "tokens": arrays["tokens"],
        "offsets": arrays["offsets"],
        "vocabulary_size": sizes[0],
        "title_lengths": arrays["title_lengths"],
        "author_ids": arrays["author_ids"],
        "author_offsets": arrays["author_offsets"],
        "n_authors": sizes[1],
        "categories": arrays["categories"],
        "n_categories": sizes[2],
        "citations": arrays["citations"],
        "report": report,
        "preparation": preparation,
        "text": StoredText(place.absolute(), fingerprint, (documents, *sizes), metadata),
    }
    return parts, fingerprint


def array_shapes(counts: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the arrays of a corpus or a shard, from the counts in its manifest."""
    documents = counts["documents"]
    return {
        "tokens": (counts["tokens"],),
        "offsets": (documents + 1,),
        "title_lengths": (documents,),
        "author_ids": (counts["author_mentions"],),
        "author_offsets": (documents + 1,),
        "categories": (documents,),
        "citations": (counts["citations"], 2),
    }


def read_manifest_of(folder: Path) -> dict[str, Any]:
    """Read the manifest of a corpus; errors say what is wrong with it."""
    return read_manifest(
        folder,
        kind="corpus",
        format=FORMAT,
        version=(VERSION, SHARDED_VERSION),
        again="Create the corpus again",
        error=CorpusError,
    )


def check_file_of(folder: Path, manifest: dict[str, Any], name: str) -> None:
    """Raise an error if a file of a corpus is damaged."""
    check_file(folder, manifest, name, again="Create the corpus again.", error=CorpusError)


def read_array(
    folder: Path,
    manifest: dict[str, Any],
    name: str,
    shape: tuple[int, ...],
    *,
    mmap: bool,
    below: str = "",
) -> np.ndarray:
    """Read one array of a corpus, or of the shard `below`, and check its type and shape."""
    path = folder / below / "arrays" / f"{name}.npy"
    mapped = mmap and 0 not in shape  # an empty array cannot be memory-mapped
    try:
        check_file_of(folder, manifest, f"{below}arrays/{name}.npy")
        array = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except FileNotFoundError:
        raise CorpusError(
            f"The file '{path}' of the corpus is missing. Create the corpus again."
        ) from None
    except CorpusError:
        raise
    except Exception as error:  # NumPy may raise any of these for a damaged header
        raise CorpusError(
            f"'{path}' is damaged or truncated ({error}). Create the corpus again."
        ) from error
    dtype = np.dtype(ARRAYS[name])
    if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != dtype:
        raise CorpusError(
            f"'{path}' does not match the manifest: it should contain {dtype} of shape {shape}; "
            f"got {getattr(array, 'dtype', type(array))} of shape {getattr(array, 'shape', None)}."
        )
    plain = np.asarray(array)  # a plain view, because compiled code does not know the memmap class
    plain.flags.writeable = False
    return plain


class StoredText:
    """The Parquet tables of a corpus folder, read one column at a time on first use."""

    def __init__(
        self,
        folder: Path,
        fingerprint: str | None,
        sizes: tuple[int, int, int, int],
        metadata: tuple[str, ...],
    ) -> None:
        self.folder = folder
        self._fingerprint = fingerprint
        tables = ("documents", "vocabulary", "authors", "categories")
        self._sizes = dict(zip(tables, sizes, strict=True))
        self._metadata = metadata
        self._columns: dict[tuple[str, str], list[Any]] = {}
        self._checked: set[str] = set()

    @property
    def metadata_names(self) -> tuple[str, ...]:
        """Names of the further columns of the table of documents."""
        return self._metadata

    def column(self, table: str, name: str) -> list[Any]:
        """Return one column; raise an error if the folder has changed since it was loaded."""
        if (table, name) not in self._columns:
            self._columns[table, name] = self._read(table, name)
        return self._columns[table, name]

    def _read(self, table: str, name: str) -> list[Any]:
        path = self.folder / f"{table}.parquet"
        pl = needs_polars(f"Reading '{path.name}' of a corpus")
        made = self._fingerprint is not None
        manifest = check_unchanged(self.folder, self._fingerprint) if made else {}
        try:
            if table not in self._checked:
                check_file_of(self.folder, manifest, path.name)
                self._checked.add(table)
            values: list[Any] = pl.read_parquet(path, columns=[name])[name].to_list()
        except parquet_errors(pl) as error:
            raise CorpusError(
                f"The column '{name}' of '{path}' cannot be read ({parquet_reason(error)}). Create "
                "the corpus again."
            ) from error
        if len(values) != self._sizes[table]:
            raise CorpusError(
                f"'{path}' does not match the manifest: it has {len(values)} rows instead of "
                f"{self._sizes[table]}. Create the corpus again."
            )
        return values


class StoredReport(Mapping[str, Any]):
    """The import report in a corpus folder, read on first use."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self._folder = folder
        self._fingerprint = fingerprint

    @classmethod
    def find(cls, folder: str | os.PathLike[str], fingerprint: str) -> Self | None:
        """Return the report of a folder, or None if it has none."""
        place = Path(folder).absolute()
        return cls(place, fingerprint) if (place / REPORT_FILE).is_file() else None

    @cached_property
    def _values(self) -> dict[str, Any]:
        path = self._folder / REPORT_FILE
        manifest = check_unchanged(self._folder, self._fingerprint)
        check_file_of(self._folder, manifest, REPORT_FILE)
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(values, dict):
                raise TypeError("not a JSON object")  # noqa: TRY301
        except (OSError, ValueError, TypeError) as error:
            raise CorpusError(
                f"The import report '{path}' cannot be read ({error}). Create the corpus again."
            ) from error
        return values

    def __getitem__(self, key: str) -> Any:
        """Return one value."""
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the values."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self._values)


def check_unchanged(folder: Path, fingerprint: str | None) -> dict[str, Any]:
    """Return the manifest of a folder, which must still contain the loaded corpus."""
    manifest = read_manifest_of(folder)
    if manifest.get("fingerprint") != fingerprint:
        raise CorpusError(
            f"'{folder}' contains a different corpus than when it was loaded. Load it again."
        )
    return manifest


def needs_polars(purpose: str) -> ModuleType:
    """Import polars, or raise an error that says why it is needed and how to install it."""
    try:
        import polars  # noqa: ICN001, PLC0415 (not needed for fitting)
    except ImportError as error:
        raise MissingDependencyError(
            f"{purpose} needs polars, which is not installed: {install_package('polars')}"
        ) from error
    return polars
