"""What each test costs in processor time, and how much of that is compiling.

``CITEWEAVE_TEST_COSTS=20 python -m pytest ...`` lists the twenty costliest files and tests at the
end, for any number of workers, and the kernels that took longest to compile, with the number of
times. Wall-clock times depend on what else the machine does; these hardly do. Time in a fixture is
counted for the first test that uses it.
"""

import resource
import time
from collections import Counter

import pytest

__all__ = ["Costs"]

KEY = "cost"


class Costs:
    """A plugin: workers measure, and the process that was started adds up."""

    def __init__(self, shown: int) -> None:
        self.shown = shown
        self.total: Counter[str] = Counter()
        self.compiling: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()
        self.kernels: Counter[str] = Counter()
        self.times: Counter[str] = Counter()
        self._compiled = _listen_to_the_compiler()
        self._began = (0.0, 0)

    def _now(self) -> tuple[float, int]:
        waited_for = resource.getrusage(resource.RUSAGE_CHILDREN)
        children = waited_for.ru_utime + waited_for.ru_stime
        return time.process_time() + children, len(self._compiled)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        self._began = self._now()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call):
        report = yield
        if call.when == "teardown":
            spent, compiled = self._now()
            began, before = self._began
            report.user_properties.append((KEY, [spent - began, self._compiled[before:compiled]]))
        return report

    def pytest_runtest_logreport(self, report) -> None:
        if report.when == "teardown":
            for key, spent in report.user_properties:
                if key == KEY:
                    name = report.nodeid.partition("::")[0]
                    self.total[name] += spent[0]
                    self.tests[report.nodeid] += spent[0]
                    for kernel, seconds in spent[1]:
                        self.compiling[name] += seconds
                        self.kernels[kernel] += seconds
                        self.times[kernel] += 1

    def pytest_terminal_summary(self, terminalreporter) -> None:
        write = terminalreporter.write_line
        if not self.total:
            return
        every, compiled = self.total.total(), self.compiling.total()
        write(f"\nseconds of processor time: {every:.0f}, compiling {compiled:.0f}; the costliest:")
        for name, seconds in self.total.most_common(self.shown):
            write(f"{seconds:7.1f}  compiling {self.compiling[name]:6.1f}  {name}")
        for name, seconds in self.tests.most_common(self.shown):
            write(f"{seconds:7.1f}  {name}")
        for kernel, seconds in self.kernels.most_common(self.shown):
            write(f"{seconds:7.1f}  compiling {self.times[kernel]:3}  {kernel}")


def _listen_to_the_compiler():
    """Give a list that grows by each kernel that Numba compiles in this process, and its time.

    Kernels that are compiled because another one calls them are part of that one.
    """
    from numba.core import event

    class Listener(event.Listener):
        def __init__(self) -> None:
            self.depth = 0
            self.began = 0.0
            self.found: list[tuple[str, float]] = []

        def on_start(self, event) -> None:  # noqa: ARG002 (Numba's)
            self.began = self.began if self.depth else time.thread_time()
            self.depth += 1

        def on_end(self, event) -> None:
            self.depth -= 1
            if self.depth == 0:
                kernel = event.data["dispatcher"].py_func
                name = f"{kernel.__module__}.{kernel.__qualname__}"
                self.found.append((name, time.thread_time() - self.began))

    heard = Listener()
    event.register("numba:compile", heard)
    return heard.found
