"""A server of files on this computer, and folders of the tests' own."""

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


class FileServer:
    """Serves bytes by path; what it says of their length may be a lie."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.claimed: dict[str, int] = {}
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                if self.path not in outer.files:
                    self.send_error(404)
                    return
                content = outer.files[self.path]
                self.send_response(200)
                length = outer.claimed.get(self.path, len(content))
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Keep silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}{path}"

    def close(self) -> None:
        if not self._thread.is_alive():
            return
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    files = FileServer()
    yield files
    files.close()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no folder of the user's own."""
    monkeypatch.delenv("CITEWEAVE_DATA", raising=False)
    folder = tmp_path / "cache"
    monkeypatch.setenv("CITEWEAVE_CACHE", str(folder))
    return folder


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = os.environ.get("CITEWEAVE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("CITEWEAVE_DATA names no folder with the real data sets")
    monkeypatch.setenv("CITEWEAVE_CACHE", str(tmp_path / "cache"))
    return Path(folder)
