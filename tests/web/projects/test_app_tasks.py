"""Work in a process of its own: what is on disk tells where it stands, whoever looks."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from citeweave.cli import work as worker
from citeweave.cli.work_display import Reporter, TaskConsole, TaskImport
from citeweave.model import Progress
from citeweave.web.projects.live import fit_view, import_view
from citeweave.web.projects.tasks import KILLED, ProjectTask, TaskState
from cli.test_cli_progress import news


@pytest.fixture
def task(tmp_path: Path) -> ProjectTask:
    task = ProjectTask(tmp_path / "shelf" / "mine" / "tasks" / "run")
    task.prepare("fit", {"parameters": {"topics": 3}})
    return task


def test_a_task_that_nobody_asked_for_is_none(tmp_path: Path) -> None:
    found = ProjectTask(tmp_path / "nothing").look()
    assert (found.state, found.active) == ("none", False)


def test_who_holds_the_lock_is_at_work(task: ProjectTask) -> None:
    assert task.look().state == "starting"
    with task.working():
        task.write("running", progress={"stage": "fit"})
        assert task.held
        assert task.look().state == "running"
        task.stop()
        assert task.look().state == "stopping"
    assert not task.held


def test_a_process_that_was_killed_is_told_in_plain_words(task: ProjectTask) -> None:
    code = (
        "import sys, time; from pathlib import Path\n"
        "from citeweave.web.projects.tasks import ProjectTask\n"
        "task = ProjectTask(Path(sys.argv[1]))\n"
        "with task.working():\n"
        "    task.write('running', progress={'stage': 'fit'})\n"
        "    print('held', flush=True); time.sleep(600)\n"
    )
    command = [sys.executable, "-c", code, str(task.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert task.look().state == "running"
        process.kill()
    found = task.look()
    assert (found.state, found.message) == ("failed", KILLED)
    assert found.progress == {"stage": "fit"}, "what it had said is still shown"


def test_a_process_that_never_began_is_told(task: ProjectTask) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
        assert task.look(process).state == "failed"


def test_damaged_files_are_no_reason_to_fail(task: ProjectTask) -> None:
    (task.path / "state.json").write_text("{")
    (task.path / "task.json").write_text("[]")
    assert (task.look().state, task.kind, task.settings) == ("none", "", {})


def test_every_end_is_written_down(
    task: ProjectTask, monkeypatch: pytest.MonkeyPatch, capfd
) -> None:
    def end_with(error: BaseException) -> TaskState:
        def fail(*_: object) -> None:
            raise error

        monkeypatch.setitem(worker._KINDS, "fit", fail)
        with task.working():
            worker.work(task)
        return task.look()

    full = OSError(28, "No space left on device")
    assert end_with(full).message == worker._NO_ROOM
    assert end_with(MemoryError()).message == worker._NO_MEMORY
    assert end_with(KeyboardInterrupt()).state == "stopped"
    found = end_with(ZeroDivisionError("division by zero"))
    assert found.state == "failed"
    assert "ZeroDivisionError" in found.message
    assert "Traceback" in capfd.readouterr().err, "the log has the details"


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN])
def _ctrl_c(request: pytest.FixtureRequest) -> Iterator[None]:
    """What Ctrl-C does to a process: nothing if a script started it with ``&``."""
    before = signal.signal(signal.SIGINT, request.param)
    yield
    assert signal.signal(signal.SIGINT, before) == request.param


@pytest.mark.usefixtures("_ctrl_c")
def test_a_wish_to_stop_interrupts_the_work(
    task: ProjectTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def slow(*_: object) -> None:
        begun.set()
        threading.Event().wait(20)

    monkeypatch.setitem(worker._KINDS, "fit", slow)
    threading.Thread(target=lambda: (begun.wait(), task.stop()), daemon=True).start()
    with task.working():
        assert worker.work(task) == 1
    assert task.look().state == "stopped"


def test_a_second_fit_is_refused_by_the_process_itself(task: ProjectTask) -> None:
    shelf = task.path.parent.parent.parent
    with worker._only_fit(shelf), task.working():
        worker.work(task)
    assert task.look().message == worker.BUSY


def watched(task: ProjectTask, chains: int = 2) -> tuple[Reporter, object]:
    reporter = Reporter(task)
    display = TaskConsole(reporter).open_display()
    display.expect(chains, 100, 70, 10)
    return reporter, display


def test_progress_becomes_a_page(task: ProjectTask) -> None:
    reporter, display = watched(task)
    for iteration in range(1, 21):
        for chain in range(2):
            display(news(chain, iteration))
    progress = reporter.progress
    json.dumps(progress)
    assert progress["traces"][0][-1] == [20, -10.0]
    view = fit_view(TaskState("running", progress=progress))
    assert [chain.iteration for chain in view.chains] == [20, 20]
    assert view.stage == "Refining topics"
    assert view.left == "at most about 40 seconds"
    assert "<svg" in view.chart


def test_traces_stay_short_and_begin_anew_after_a_kill(task: ProjectTask) -> None:
    reporter, display = watched(task, 1)
    for iteration in range(1, 2001):
        display(news(0, iteration, 5000))
    trace = reporter.progress["traces"][0]
    assert 100 < len(trace) <= 400
    assert trace[-1][0] > 1900
    display(news(0, 1000, 5000))
    assert reporter.progress["traces"][0][-1][0] <= 1000


def test_a_run_that_goes_on_keeps_its_way(task: ProjectTask) -> None:
    reporter, display = watched(task)
    display(news(0, 5))
    task.write("stopped", progress=reporter.progress)
    later, again = watched(task)
    again(news(0, 6))
    assert later.progress["chains"][0]["seconds_left"] is None, "the first steps may compile"
    assert [point[0] for point in again._traces[0]] == [5, 6]


@pytest.mark.parametrize(
    ("state", "progress", "stage"),
    [
        ("starting", {}, "Starting"),
        ("running", {}, "Preparing"),
        ("stopping", {}, "Stopping"),
        ("running", {"stage": "scan", "planned": {"topics": 40}}, "Choosing the number of topics"),
    ],
)
def test_stages_have_words(state, progress, stage: str) -> None:
    assert fit_view(TaskState(state, progress=progress)).stage == stage


def test_steps_of_an_import(task: ProjectTask) -> None:
    reporter = Reporter(task)
    display = TaskImport(reporter)
    display("records", 48, 48)
    display("text", 3, 48)
    steps = import_view(TaskState("running", progress=reporter.progress)).steps
    assert [(step.state, step.number) for step in steps[:3]] == [
        ("done", "48 records"),
        ("now", "3 documents"),
        ("later", ""),
    ]


def test_news_are_those_of_the_terminal() -> None:
    assert isinstance(news(0, 1), Progress)
