"""Listen on a port and serve until Ctrl-C."""

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
"""Seconds within which a complete request must arrive before the connection is closed."""


def listen(host: str, port: int) -> socket.socket:
    """Bind a port before doing anything slow; 0 picks a free one.

    Raises
    ------
    ParameterError
        The port is in use or not permitted, or the host is not an address of this computer.
    """
    if not 0 <= port <= _LARGEST_PORT:
        raise ParameterError(f"The port must be between 0 and {_LARGEST_PORT}. Got {port} instead.")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ParameterError(
            f"The host {host!r} cannot be resolved ({error.strerror or error}). To serve this "
            "computer only, use 127.0.0.1."
        ) from error
    family, kind, protocol, _, place = found[0]
    taken = socket.socket(family, kind, protocol)
    try:
        if os.name != "nt":  # on Windows the option would let two servers share a port
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
            f"Port {port} on {host} is in use, perhaps by another `citeweave serve`. Stop it, "
            f"choose another port (--port {port + 1 if port < _LARGEST_PORT else 8000}), or let "
            "the system pick a free one (--port 0)."
        )
    if error.errno in {errno.EACCES, errno.EPERM}:
        return (
            f"You do not have permission to use port {port}. Choose a port from 1024 upwards, such "
            "as --port 8765."
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return (
            f"{host} is not an address of this computer. Use 127.0.0.1 for this computer only, or "
            "0.0.0.0 for the local network."
        )
    return f"Cannot listen on port {port} on {host}: {error.strerror or error}."


def address_of(taken: socket.socket, host: str) -> str:
    """Return the URL to open in a browser on this computer."""
    port = taken.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}.get(host, host)  # noqa: S104
    if ":" in name and not name.startswith("["):
        name = f"[{name}]"
    return f"http://{name}:{port}/"


def wants_browser() -> bool:
    """Whether the process is interactive and has a desktop on which a browser could open."""
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
    """Serve until the process is stopped; Ctrl-C shuts it down cleanly.

    Parameters
    ----------
    app
        The application.
    taken
        The socket returned by `listen`; it is closed at the end.
    when_ready
        Called once, from another thread, when the server is ready.
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
        pass  # uvicorn has shut down by then and raises it again
    finally:
        taken.close()


def make_server(
    app: "ASGIApp",
    *,
    log_file: Path | None = None,
    patience: float = PATIENCE,
    lifespan: Literal["on", "off"] = "on",
) -> "uvicorn.Server":
    """Create the server; `patience` is the number of seconds a request may take to arrive."""
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
            f"Cannot write the log '{path}' ({error.strerror or error}). Choose another file with "
            "--log."
        ) from error


def _tell(server: "object", when_ready: Callable[[], object]) -> None:
    pause = threading.Event()
    while not getattr(server, "started", False):
        if getattr(server, "should_exit", False):
            return
        pause.wait(0.02)
    when_ready()


def open_browser(address: str) -> None:
    """Open a page in the user's browser, if possible."""
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
