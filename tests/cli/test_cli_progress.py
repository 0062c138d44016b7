"""The progress displays: what they say, when, and from several threads at once."""

import io
import math
import threading
import time

import pytest
from rich.console import Console

from citeweave.cli.progress import (
    JOINING,
    SILENCE,
    STARTING,
    STOPPING,
    SWITCHING,
    LiveDisplay,
    PlainDisplay,
    open_display,
    short,
    time_left,
)
from citeweave.engines.core.data import Info
from citeweave.model import Progress
from reference.patience import PATIENCE


def news(
    chain: int, iteration: int, iterations: int = 100, *, acceptance: float = math.nan
) -> Progress:
    info = Info(
        iteration=iteration,
        log_likelihood=-800.0,
        log_posterior=-700.0,
        acceptance=acceptance,
        word_acceptance=math.nan,
        blocked=0.1,
        blocked_citations=math.nan,
        topics=7,
        concentrations=(1.0,),
        rate=math.nan,
        seconds=0.5,
        word_seconds=0.4,
        citation_seconds=0.0,
    )
    left = (iterations - iteration) * 0.5
    return Progress(chain, iteration, iterations, info, 2_400_000.0, left)


def console(width: int = 80, *, terminal: bool = False) -> Console:
    return Console(
        file=io.StringIO(), width=width, force_terminal=terminal, color_system=None, markup=False
    )


def written(target: Console) -> list[str]:
    assert isinstance(target.file, io.StringIO)
    return target.file.getvalue().splitlines()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (9.994, "9.99"),
        (9.996, "10.0"),
        (99.96, "100"),
        (999.4, "999"),
        (999.6, "1.00k"),
        (999_600, "1.00M"),
        (2.5e9, "2.50G"),
        (-1234.0, "-1.23k"),
        (math.nan, "–"),
        (math.inf, "–"),
    ],
)
def test_short_has_three_digits(value: float, text: str) -> None:
    assert short(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (59.6, "1:00"), (3599.6, "1:00:00"), (86_400, "24:00:00"), (math.nan, "–")],
)
def test_time_left_carries_over(seconds: float, text: str) -> None:
    assert time_left(seconds) == text


def test_plain_lines_come_at_each_tenth() -> None:
    target = console(120)
    with PlainDisplay(target, chains=1, iterations=100, tokens=100) as display:
        for iteration in range(1, 101):
            display(news(0, iteration))
    lines = written(target)
    assert [line.split()[2] for line in lines] == [f"{i}/100" for i in range(10, 101, 10)]
    assert "log post/word -7.000" in lines[0]
    assert "2.40M tokens/s" in lines[0]
    assert "2.00 it/s" in lines[0]
    assert "0:45 left" in lines[0]
    assert "left" not in lines[-1]
    assert "accepted" not in lines[0]


def test_plain_lines_come_after_the_interval_too() -> None:
    target, clock = console(120), Clock()
    display = PlainDisplay(target, chains=1, iterations=10_000, tokens=100, clock=clock)
    with display:
        display(news(0, 1, 10_000))
        assert written(target) == []
        clock.now = display.interval
        display(news(0, 2, 10_000, acceptance=0.954))
        display(news(0, 3, 10_000))
    assert len(written(target)) == 1
    assert "accepted 0.95" in written(target)[0]
    assert " –" in written(target)[0], "the first iterations, compiling, say nothing of the time"


def test_lines_of_many_threads_are_whole_and_none_is_lost() -> None:
    target = console(120)
    chains, iterations = 8, 200
    with PlainDisplay(target, chains=chains, iterations=iterations, tokens=100) as display:

        def work(chain: int) -> None:
            for iteration in range(1, iterations + 1):
                display(news(chain, iteration, iterations))

        threads = [threading.Thread(target=work, args=(chain,)) for chain in range(chains)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    expected = sorted(
        (f"{chain}", f"{step}/200") for chain in range(chains) for step in range(20, 201, 20)
    )
    assert sorted((line.split()[1], line.split()[2]) for line in written(target)) == expected


def test_silence_is_explained() -> None:
    clock = Clock()
    display = LiveDisplay(
        console(),
        chains=2,
        iterations=100,
        tokens=10,
        network_from=50,
        burst_from=60,
        clock=clock,
    )
    assert display.waiting_for() is None
    clock.now = SILENCE
    assert display.waiting_for() == STARTING
    display(news(0, 1))
    assert display.waiting_for() is None
    clock.now += SILENCE
    assert display.waiting_for() is None, "a slow iteration is no compiling"
    display(news(0, 50))
    clock.now += SILENCE
    assert display.waiting_for() == SWITCHING
    display(news(0, 60))
    clock.now += SILENCE
    assert display.waiting_for() == JOINING
    display(news(0, 100))
    display(news(1, 100))
    clock.now += SILENCE
    waiting = display.waiting_for()
    assert waiting is not None
    assert "saving" in waiting
    display.stop()
    assert display.waiting_for() == STOPPING


def test_plain_display_announces_compiling_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("citeweave.cli.progress.SILENCE", 0.0)
    target = console(120)
    with PlainDisplay(target, chains=1, iterations=10, tokens=10):
        began = time.monotonic()
        while not written(target) and time.monotonic() - began < PATIENCE:
            time.sleep(0.05)
        time.sleep(0.8)
    assert written(target) == [STARTING]


@pytest.mark.parametrize("width", [80, 100, 160])
def test_live_table_shows_every_chain_within_the_width(width: int) -> None:
    target = console(width, terminal=True)
    display = LiveDisplay(target, chains=2, iterations=2000, tokens=100, network_from=1000)
    display(news(1, 1200, 2000, acceptance=0.951))
    target.print(display.render())
    head, *rows = written(target)
    for name in ("chain", "iteration", "it/s", "tokens/s", "log post/word", "accept", "topics"):
        assert name in head
    assert all(len(line.rstrip()) <= width for line in (head, *rows))
    assert "0/2000" in rows[0]
    for text in ("1200/2000", "2.00", "2.40M", "-7.000", "0.95", "7", "6:40"):
        assert text in rows[1]


def test_live_display_leaves_its_last_table() -> None:
    target = console(terminal=True)
    with LiveDisplay(target, chains=1, iterations=10, tokens=10) as display:
        for iteration in range(1, 11):
            display(news(0, iteration, 10))
    assert any("10/10" in line for line in written(target)[-2:])


def test_without_tokens_there_is_no_likelihood_a_word() -> None:
    display = PlainDisplay(console(), chains=1, iterations=10, tokens=0)
    with display:
        display(news(0, 10, 10))
    assert "log post/word –" in display.line(0)


def test_the_console_decides_which_display() -> None:
    assert isinstance(open_display(console(terminal=True)), LiveDisplay)
    assert isinstance(open_display(console()), PlainDisplay)
