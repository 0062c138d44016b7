"""Listen, tell where, and serve until Ctrl-C."""

import errno
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from citeweave.errors import ParameterError

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

__all__ = ["address_of", "listen", "make_server", "open_browser", "run_server", "wants_browser"]

_LARGEST_PORT = 65535
PATIENCE = 30.0
"""Seconds in which a request must have arrived; who says nothing is not waited for."""


def listen(host: str, port: int) -> socket.socket:
    """Take a port, before anything slow is done; 0 takes a free one.

    Raises
    ------
    ParameterError
        The port is in use or not ours to take, or the host is not an address of this computer.
    """
    if not 0 <= port <= _LARGEST_PORT:
        raise ParameterError(f"The port must be from 0 to {_LARGEST_PORT}. Got {port} instead.")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ParameterError(
            f"The host {host!r} is not known ({error.strerror or error}). For this computer alone "
            "use 127.0.0.1."
        ) from error
    family, kind, protocol, _, place = found[0]
    taken = socket.socket(family, kind, protocol)
    try:
        if os.name != "nt":  # there the option would let two servers share a port
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(place)
        taken.listen(128)
    except OSError as error:
        taken.close()
        raise ParameterError(_explain(error, host, port)) from error
    taken.set_inheritable(True)
    return taken


def _explain(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} of {host} is in use, maybe by another `citeweave serve`. Stop that one, "
            f"choose another (--port {port + 1 if port < _LARGEST_PORT else 8000}), or let the "
            "system choose a free one: --port 0."
        )
    if error.errno in {errno.EACCES, errno.EPERM}:
        return f"Port {port} may not be used by you; ports from 1024 on may (--port 8765)."
    if error.errno == errno.EADDRNOTAVAIL:
        return (
            f"{host} is not an address of this computer. Use 127.0.0.1 for this computer alone, "
            "0.0.0.0 for the network around it."
        )
    return f"Cannot listen on port {port} of {host}: {error.strerror or error}."


def address_of(taken: socket.socket, host: str) -> str:
    """Give the address to open in a browser on this computer."""
    port = taken.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}.get(host, host)  # noqa: S104
    if ":" in name and not name.startswith("["):
        name = f"[{name}]"
    return f"http://{name}:{port}/"


def wants_browser() -> bool:
    """Whether somebody sits before this process with a desktop on which a page could open."""
    if not sys.stdout.isatty():
        return False
    if sys.platform in {"darwin", "win32"}:
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def run_server(
    app: "ASGIApp",
    taken: socket.socket,
    *,
    when_ready: Callable[[], object] | None = None,
    log_file: Path | None = None,
) -> None:
    """Serve until the process is told to stop; Ctrl-C ends it in good order.

    Parameters
    ----------
    app
        What answers.
    taken
        The socket that `listen` gave; it is closed at the end.
    when_ready
        Called once, from another thread, when requests are answered.
    log_file
        Append a line for each request to this file.
    """
    try:
        if log_file is not None:
            _check_log(log_file)
        server = make_server(app, log_file=log_file)
        if when_ready is not None:
            threading.Thread(target=_tell, args=(server, when_ready), daemon=True).start()
        server.run(sockets=[taken])
    except KeyboardInterrupt:
        pass  # uvicorn has shut down by then and says it once more
    finally:
        taken.close()


def make_server(
    app: "ASGIApp",
    *,
    log_file: Path | None = None,
    patience: float = PATIENCE,
    lifespan: Literal["on", "off"] = "on",
) -> "uvicorn.Server":
    """Make the server; `patience` is how many seconds a request may take to arrive whole."""
    import uvicorn  # noqa: PLC0415 (slow to import)

    from citeweave.web.patience import patient_protocol  # noqa: PLC0415 (imports uvicorn)

    config = uvicorn.Config(
        app,
        log_config=None if log_file is None else _log_config(log_file),
        log_level="warning" if log_file is None else "info",
        access_log=log_file is not None,
        server_header=False,
        lifespan=lifespan,
        ws="none",
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=64 * 1024,
        http=patient_protocol(patience),
    )
    return uvicorn.Server(config)


def _check_log(path: Path) -> None:
    try:
        with path.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise ParameterError(
            f"The log '{path}' cannot be written ({error.strerror or error}). Choose another "
            "place with --log."
        ) from error


def _tell(server: "object", when_ready: Callable[[], object]) -> None:
    pause = threading.Event()
    while not getattr(server, "started", False):
        if getattr(server, "should_exit", False):
            return
        pause.wait(0.02)
    when_ready()


def open_browser(address: str) -> None:
    """Open a page in the user's browser, if there is one."""
    webbrowser.open(address)


def _log_config(path: Path) -> dict[str, object]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"plain": {"format": "%(asctime)s %(message)s"}},
        "handlers": {
            "file": {"class": "logging.FileHandler", "filename": str(path), "formatter": "plain"}
        },
        "loggers": {
            "uvicorn.access": {"handlers": ["file"], "level": "INFO", "propagate": False},
            "uvicorn.error": {"handlers": ["file"], "level": "WARNING", "propagate": False},
        },
    }
