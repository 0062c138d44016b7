"""The background process of the app: runs one task of a project and writes its state to disk.

Run as ``python -m citeweave.cli.work TASK``, by `citeweave.web.projects.tasks.Starter`.
"""

# ruff: noqa: PLC0415  heavy imports after the lock is taken, so that pages see the process at once
import _thread
import contextlib
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citeweave.errors import CiteweaveError, RunError
from citeweave.files import is_full, locked
from citeweave.web.projects.tasks import ProjectTask, State

if TYPE_CHECKING:
    from citeweave.cli.work_display import Reporter, TaskConsole
    from citeweave.corpus import Corpus

__all__ = ["main", "work"]

CHECKPOINT_SECONDS = 20.0
CORPUS, SCANNED, IMPORTED = "corpus", "scan", "import.html"
FIT_LOCK = ".fit.lock"
"""Lock held while a model is fitted in a folder of projects, because one fit uses all cores."""

BUSY = (
    "Another model is being fitted in this folder. Wait until that is done or stop it, then start "
    "this one again."
)
_NO_ROOM = "The disk is full. Free some space, then resume; everything that was saved is intact."
_NO_MEMORY = (
    "There is not enough memory. Close other programs or try fewer topics, then start again."
)
_BUG = (
    "An internal error occurred in citeweave ({kind}: {error}). The details are in the log; please "
    "include them in a bug report."
)


def main(arguments: list[str] | None = None) -> int:
    """Run the task given on the command line."""
    task = ProjectTask(Path((sys.argv[1:] if arguments is None else arguments)[0]))
    with task.working():
        return work(task)


def work(task: ProjectTask) -> int:
    """Run a task and record how it ended, whatever happens."""
    from citeweave.cli.work_display import Reporter

    state: State = "failed"
    message = ""
    reporter = Reporter(task)
    try:
        with reporter, _stopped_on_wish(task):
            _KINDS[task.kind](task, reporter)
        state = "done"
    except KeyboardInterrupt:
        state = "stopped"
    except CiteweaveError as error:
        message = str(error)
    except MemoryError:
        message = _NO_MEMORY
    except OSError as error:
        traceback.print_exc()
        place = f"'{error.filename}': " if error.filename else ""
        message = _NO_ROOM if is_full(error) else f"{place}{error.strerror or error}."
    except Exception as error:  # noqa: BLE001 (users without a terminal must see it, too)
        traceback.print_exc()
        message = _BUG.format(kind=type(error).__name__, error=error)
    if message:
        sys.stderr.write(f"{message}\n")
    with contextlib.suppress(OSError):
        task.write(state, message, reporter.progress)
    return 0 if state == "done" else 1


@contextlib.contextmanager
def _stopped_on_wish(task: ProjectTask) -> Iterator[None]:
    """Interrupt the main thread, as Ctrl-C would, when the user asks to stop.

    A script that starts the app with ``&`` lets its processes ignore Ctrl-C; this one must not.
    """

    def watch(ended: threading.Event) -> None:
        while not ended.wait(0.3):
            if task.asked_to_stop:
                _interrupt()
                return

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with _beside(watch, wait=True):  # do not interrupt after the work is done
            yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _beside(watch: Callable[[threading.Event], None], *, wait: bool = False) -> Iterator[None]:
    """Run a function in a thread during a block; an event tells it when the block ends."""
    ended = threading.Event()
    thread = threading.Thread(target=watch, args=(ended,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        if wait:
            thread.join()


def _interrupt() -> None:
    """Interrupt like Ctrl-C: wake a waiting main thread, if the system supports that."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _project(task: ProjectTask) -> Path:
    return task.path.parent.parent


def import_files(task: ProjectTask, reporter: "Reporter") -> None:
    """Create the corpus of a project from its files."""
    from citeweave.cli.work_display import TaskImport
    from citeweave.preparing import Settings, read
    from citeweave.web.projects.shelf import Project

    project = _project(task)
    names = Project(project).files
    if not names:
        raise RunError("There are no files to import. Add some first.")
    settings = Settings.from_dict(task.settings)
    display = TaskImport(reporter)
    display("records", 0, None)
    corpus, report = read(*map(str, names)).prepare(settings, progress=display)
    display("saving", 0, None)
    corpus.save(project / CORPUS, overwrite=True)
    report.save(project / IMPORTED)


def make_demo(task: ProjectTask, reporter: "Reporter") -> None:
    """Create the corpus of the demo."""
    from citeweave.simulate import demo_corpus

    reporter.tell(stage="demo")
    demo_corpus().corpus.save(_project(task) / CORPUS, overwrite=True)


def fit(task: ProjectTask, reporter: "Reporter") -> None:
    """Fit a model, or continue an existing run."""
    from citeweave.cli.running import fit_model, resume_model
    from citeweave.cli.work_display import TaskConsole
    from citeweave.corpus import Corpus
    from citeweave.model import SCNTM
    from citeweave.model.parameters import make_plan
    from citeweave.runs.folder import is_run_folder

    project = _project(task)
    folder = project / task.name
    console = TaskConsole(reporter)
    intervals: dict[str, Any] = {"checkpoint_seconds": CHECKPOINT_SECONDS}
    with _only_fit(project.parent), _topics_told(folder, reporter):
        if is_run_folder(folder):
            resume_model(folder, None, console, **task.settings.get("further", {}), **intervals)
            return
        corpus = Corpus.load(project / CORPUS)
        parameters = dict(task.settings["parameters"])
        parameters["topics"] = _number_of_topics(task, corpus, parameters, console)
        model = SCNTM(**parameters)
        plan = make_plan(model.get_params())
        fit_model(model, plan, corpus, console, out=folder, **intervals)


def _number_of_topics(
    task: ProjectTask, corpus: "Corpus", parameters: dict[str, Any], console: "TaskConsole"
) -> int:
    """Return the given number of topics, or the one chosen by a scan."""
    from citeweave.cli.topics import AUTO, choose_topics
    from citeweave.model import SCNTM

    if parameters["topics"] != AUTO:
        return int(parameters["topics"])
    console.scanning = True
    console.reporter.tell(stage="scan")
    known = SCNTM().get_params() | parameters
    found = choose_topics(corpus, known, task.path / SCANNED, console)
    console.scanning = False
    console.reporter.tell(stage="fit", traces=[], chains=[], chosen_topics=found)
    task.change(parameters=parameters | {"topics": found})
    return found


@contextlib.contextmanager
def _only_fit(shelf: Path) -> Iterator[None]:
    """Take the lock of the only fit, or fail with a clear message."""
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locked(shelf / FIT_LOCK, wait=False))
        except BlockingIOError:
            raise RunError(BUSY) from None
        yield


@contextlib.contextmanager
def _topics_told(folder: Path, reporter: "Reporter") -> Iterator[None]:
    """Report the topics of the latest checkpoints, as long as that is cheap."""
    from citeweave.cli.work_topics import latest_topics

    def watch(ended: threading.Event) -> None:
        seen = 0
        pause = CHECKPOINT_SECONDS / 4
        while not ended.wait(pause):
            newest = _newest(folder)
            if newest == seen:
                continue
            seen, begun = newest, time.monotonic()
            found = latest_topics(folder)
            if found:
                reporter.tell(topics=found)
            pause = max(CHECKPOINT_SECONDS / 4, 50 * (time.monotonic() - begun))

    with _beside(watch):
        yield


def _newest(folder: Path) -> int:
    """Return a value that changes with each new checkpoint."""
    with contextlib.suppress(OSError):
        return max((f.stat().st_mtime_ns for f in folder.glob("chains*/*/*.npz")), default=0)
    return 0


_KINDS = {"import": import_files, "demo": make_demo, "fit": fit}


if __name__ == "__main__":
    sys.exit(main())
