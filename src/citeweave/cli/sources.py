"""What a command accepts as a corpus."""

from pathlib import Path

from citeweave.corpus import Corpus
from citeweave.corpus.storage import is_corpus_folder
from citeweave.errors import CorpusError
from citeweave.model.run_folder import is_run_folder

__all__ = ["open_corpus"]


def open_corpus(source: Path) -> Corpus:
    """Open a corpus folder, or the copy of its corpus that a run folder holds."""
    if is_run_folder(source):
        return Corpus.load(source / "corpus")
    if source.is_file():
        raise CorpusError(f"'{source}' is a file; give the folder of a corpus instead.")
    if source.is_dir() and not is_corpus_folder(source) and (source / "corpus").is_dir():
        raise CorpusError(f"'{source}' is no corpus. Did you mean '{source / 'corpus'}'?")
    return Corpus.load(source)
