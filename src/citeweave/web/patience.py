"""Close connections that do not send a complete request in time.

Uvicorn waits indefinitely for the first byte, the rest of the headers and the rest of a body: a few
thousand silent connections would exhaust the file descriptors of the process.
"""

import asyncio
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["patient_protocol"]


def patient_protocol(seconds: float) -> type[asyncio.Protocol]:
    """Create a protocol class that waits a limited number of seconds for a request."""

    class Patient(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _watch(self) -> None:
            """Run the timer while a request is incomplete; stop it afterwards."""
            if self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}:
                self._stop()
            elif self._timer is None:
                self._timer = self.loop.call_later(seconds, self._give_up)

        def _stop(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _give_up(self) -> None:
            self._timer = None
            if self.transport is not None and not self.transport.is_closing():
                self.transport.close()

    return cast("type[asyncio.Protocol]", Patient)
