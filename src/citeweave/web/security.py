"""Checks applied to every request (origin, host, size), and the security headers of responses.

The explorer has no user accounts. It is safe because it listens on this computer only, accepts only
this computer's host names (which prevents DNS rebinding to 127.0.0.1), changes nothing for other
origins, and does not let the browser load anything from elsewhere.
"""

import ipaddress
import re
import secrets
from collections.abc import Collection
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citeweave.web import LOCAL_NAMES

__all__ = [
    "HEADERS",
    "INTENT_HEADER",
    "Guard",
    "allowed_hosts",
    "check_intent",
    "host_name",
    "read_form",
    "same_token",
]

INTENT_HEADER = "x-citeweave"
SAFE_METHODS = frozenset({"GET", "HEAD"})
MOST_FIELDS = 40

HEADERS = {
    "content-security-policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # not `no-referrer`, with which browsers hide the origin of our own forms
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class _AnyAddress(frozenset[str]):
    """Host names accepted on all interfaces: the given names and any IP address.

    Only names can be rebound; a request to a literal IP address cannot have been misled.
    """

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or _is_address(str(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def allowed_hosts(host: str, also: Collection[str] = ()) -> frozenset[str]:
    """Return the host names that a server listening on ``host`` accepts.

    Examples
    --------
    >>> "localhost" in allowed_hosts("127.0.0.1"), "10.0.0.7" in allowed_hosts("127.0.0.1")
    (True, False)
    >>> "10.0.0.7" in allowed_hosts("0.0.0.0"), "evil.example" in allowed_hosts("0.0.0.0")
    (True, False)
    """
    names = LOCAL_NAMES | {host.lower()} | {name.lower() for name in also}
    if host in {"0.0.0.0", "::", ""}:  # noqa: S104 (compared, not listened on)
        return _AnyAddress(names)
    return names


def read_form(request: Request, body: bytes, token: str) -> dict[str, str]:
    """Read a form sent by one of our own pages; reject it if the token is wrong."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "The request is not a form.")
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise HTTPException(400, "The form cannot be decoded.") from error
    form = {name: values[-1] for name, values in fields.items()}
    if not same_token(form.get("token", ""), token):
        raise HTTPException(
            403,
            "This form was opened before the server restarted. Go back, reload the page and try "
            "again.",
        )
    return form


def check_intent(request: Request) -> None:
    """Reject a call that changes or computes something unless it carries the intent header.

    Pages of other sites can make a browser send a form, but not this header.
    """
    if request.headers.get(INTENT_HEADER) != "1":
        raise HTTPException(403, f"A POST must carry the header {INTENT_HEADER}: 1.")


def same_token(given: str, token: str) -> bool:
    """Compare a form token with the server's in constant time."""
    return secrets.compare_digest(given.encode(), token.encode())


class Guard:
    """Reject foreign or oversized requests, and add security headers to responses.

    Parameters
    ----------
    app
        The wrapped application.
    hosts
        Accepted values of the ``Host`` header, without port.
    max_body
        Largest request body in bytes. Larger ones get status 413, unread if their size is declared.
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], max_body: int) -> None:
        self.app = app
        self.hosts = hosts
        self.max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # websockets are not supported: the server closes them
        headers = Headers(scope=scope)
        sender = _with_headers(send)
        refusal = self._refuse(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, sender)
            return
        await self.app(scope, self._limited(receive), sender)

    def _refuse(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        host = headers.get("host", "")
        if host_name(host) not in self.hosts:
            return PlainTextResponse(
                f"This server does not accept the host name {host!r}. Open the address that "
                "`citeweave serve` printed, or allow the name with --allow-host.",
                status_code=421,
            )
        if scope["method"] not in SAFE_METHODS and not _same_origin(scope, headers, host):
            return PlainTextResponse(
                "Rejected: the request comes from another site.", status_code=403
            )
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 12 or int(length) > self.max_body:
            return PlainTextResponse(_too_large(self.max_body), status_code=413)
        return None

    def _limited(self, receive: Receive) -> Receive:
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.max_body:
                raise HTTPException(413, _too_large(self.max_body))
            return message

        return limited


def _too_large(limit: int) -> str:
    return f"The request is larger than the limit of {limit // 1024:,} kB."


_HOST = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\s\[\]:/@?#]+))(?::\d{1,5})?")


def host_name(host: str) -> str:
    """Return the host without port and IPv6 brackets; empty if malformed.

    Examples
    --------
    >>> host_name("[::1]:8765"), host_name("Localhost"), host_name("[::1]evil.com")
    ('::1', 'localhost', '')
    """
    found = _HOST.fullmatch(host)
    return "" if found is None else (found[1] or found[2]).lower()


def _same_origin(scope: Scope, headers: Headers, host: str) -> bool:
    if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        return False
    origin = headers.get("origin")
    return origin is None or origin == f"{scope['scheme']}://{host}"


def _with_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers: Any = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-cache")
        await send(message)

    return sender
