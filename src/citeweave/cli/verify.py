"""The command `verify`: check that the files of a run or a corpus are intact."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
from pathlib import Path
from typing import Annotated, Any

import typer

from citeweave.cli.errors import USER_ERROR, complain, guarded

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("verify")(verify)


@guarded
def verify(
    *,
    folder: Annotated[Path, typer.Argument(help="Run or corpus folder.", metavar="RUN|CORPUS")],
) -> None:
    """Check every file of a run or a corpus against its checksum.

    Exits with status 0 if all files are intact, otherwise with 2 and one line per damaged file.
    """
    from citeweave.corpus.storage import is_corpus_folder

    checked, wrong = _check_corpus(folder) if is_corpus_folder(folder) else _check_run(folder)
    for path, reason in wrong:
        complain("error", f"'{path}': {reason}.")
    if wrong:
        raise typer.Exit(USER_ERROR)
    typer.echo(f"{folder}: {checked} files checked, all intact.")


Wrong = list[tuple[Path, str]]


def _check_run(folder: Path) -> tuple[int, Wrong]:
    from citeweave.corpus.people import PEOPLE_FILE, read_people
    from citeweave.errors import CiteweaveError
    from citeweave.explore.labels import NAMES_FILE, TopicNames
    from citeweave.runs.folder import RunFolder

    run = RunFolder.open(folder)
    checked, wrong = _check_files(run.path, run.manifest)
    for path in sorted(run.path.glob("chains*/*/**/*.npz")):  # parts of workers are deeper
        checked += 1
        reason = _damage_of_archive(path)
        if reason:
            wrong.append((path, reason))
    if (run.path / NAMES_FILE).is_file():
        checked += 1
        try:
            TopicNames(run.path)
        except CiteweaveError as error:
            wrong.append((run.path / NAMES_FILE, str(error).rstrip(".")))
    if (run.path / PEOPLE_FILE).is_file():
        checked += 1
        try:
            read_people(run.path / PEOPLE_FILE)
        except CiteweaveError as error:
            wrong.append((run.path / PEOPLE_FILE, str(error).rstrip(".")))
    try:
        more, damaged = _check_corpus(run.path / "corpus")
        run.corpus()
    except CiteweaveError as error:
        more, damaged = 1, [(run.path / "corpus", str(error).rstrip("."))]
    return checked + more, wrong + damaged


def _check_corpus(folder: Path) -> tuple[int, Wrong]:
    from citeweave.corpus import Corpus
    from citeweave.corpus.storage import read_manifest_of
    from citeweave.errors import CiteweaveError

    checked, wrong = _check_files(folder, read_manifest_of(folder))
    if not wrong:
        try:
            Corpus.load(folder).verify()  # checks bounds, and the fingerprint of arrays and strings
        except CiteweaveError as error:
            wrong.append((folder, str(error).rstrip(".")))
    return checked, wrong


def _check_files(folder: Path, manifest: dict[str, Any]) -> tuple[int, Wrong]:
    """Check the files listed in a manifest, and count them and the manifest itself."""
    from citeweave.checksums import damaged_files

    if "files" not in manifest:
        complain("note", f"'{folder}' has no checksums: it was written by an earlier release.")
    wrong = [(folder / name, reason) for name, reason in damaged_files(folder, manifest).items()]
    return 1 + len(manifest.get("files", ())), wrong


def _damage_of_archive(path: Path) -> str:
    """Return what is wrong with a checkpoint, by the checksums of its members; "" if intact."""
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(path) as archive:
            bad = archive.testzip()
    except (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        return f"it cannot be read ({error})"
    return f"its member {bad!r} does not match its checksum" if bad else ""
