"""The command `serve`: it tells where it is, refuses what cannot be served, ends by Ctrl-C."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import threading

import httpx
import pytest

from citeweave.errors import ParameterError, RunError
from citeweave.model import RunInterrupted
from citeweave.web import open_run, server
from reference.patience import PATIENCE
from web.calling import Client
from web.report.literature import literature
from web.serving import Serving


def test_it_serves_and_ends_in_good_order(run) -> None:
    with Serving(run) as serving:
        assert serving.address.startswith("http://127.0.0.1:")
        answer = httpx.get(serving.address, timeout=PATIENCE)
        assert answer.status_code == 200
        assert "Papers by year" in answer.text
        refused = httpx.get(serving.address, headers={"host": "evil.example"}, timeout=PATIENCE)
        assert refused.status_code == 421
        serving.process.send_signal(signal.SIGINT)
        assert serving.process.wait(PATIENCE) == 0
    assert serving.errors() == ""


def serve(*arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "citeweave.cli.main", "serve", "--no-open"]
    return subprocess.run(
        [*command, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_a_port_in_use_is_told_with_a_way_out(run) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = serve(run, "--port", port)
    assert done.returncode == 2
    assert f"Port {port} on 127.0.0.1 is in use" in done.stderr
    assert "--port 0" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("host", "port", "text"),
    [
        ("127.0.0.1", 70000, "0 and 65535"),
        ("192.0.2.1", 0, "not an address of this computer"),
        ("no-such-host.invalid", 0, "not known"),
    ],
)
def test_places_that_cannot_be_listened_on(host: str, port: int, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        server.listen(host, port)


def test_what_is_no_run_is_told(tmp_path) -> None:
    done = serve(tmp_path / "nothing", "--port", 0)
    assert done.returncode == 2
    assert str(tmp_path / "nothing") in done.stderr
    assert "Traceback" not in done.stderr
    with pytest.raises(RunError, match="manifest"):
        open_run(tmp_path)


def test_a_run_of_another_version_is_told(run, tmp_path) -> None:
    other = shutil.copytree(run, tmp_path / "other")
    manifest = json.loads((other / "manifest.json").read_text())
    (other / "manifest.json").write_text(json.dumps(manifest | {"version": 99}))
    with pytest.raises(RunError, match="version 99"):
        open_run(other)


def stop_after(iterations: int, folder) -> None:
    from citeweave import SCNTM

    stop = threading.Event()

    def watch(progress: object) -> None:
        if progress.iteration >= iterations:  # type: ignore[attr-defined]
            stop.set()

    with pytest.raises(RunInterrupted):
        SCNTM(topics=4, iterations=60, burn_in=30, seed=1, chains=1).fit(
            literature(), out=folder, progress=watch, stop=stop
        )


def test_an_unfinished_run_shows_what_it_has(tmp_path) -> None:
    stop_after(40, tmp_path / "run")
    client = Client(open_run(tmp_path / "run"))
    assert f"<h1>{tmp_path.name}</h1>" in client.get("/").text  # as for `citeweave run`
    assert client.get("/topics").status_code == 200
    assert "of 60 iterations" in client.get("/diagnostics").text


def test_a_run_without_samples_says_how_to_go_on(tmp_path) -> None:
    stop_after(5, tmp_path / "run")
    with pytest.raises(RunError, match="citeweave resume"):
        open_run(tmp_path / "run")


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", "http://127.0.0.1:"), ("0.0.0.0", "http://127.0.0.1:")],  # noqa: S104
)
def test_the_address_can_be_opened_here(host: str, address: str) -> None:
    taken = server.listen(host, 0)
    try:
        assert server.address_of(taken, host) == f"{address}{taken.getsockname()[1]}/"
    finally:
        taken.close()


def test_requests_are_logged_where_asked(run, tmp_path) -> None:
    log = tmp_path / "requests.log"
    with Serving(run, "--log", log) as serving:
        httpx.get(f"{serving.address}topics", timeout=PATIENCE)
    assert '"GET /topics HTTP/1.1" 200' in log.read_text()
