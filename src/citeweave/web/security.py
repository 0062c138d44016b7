"""What stands before every request: whose it is, how large, and what a browser may do with it.

The explorer has no accounts. It is safe because it listens on this computer only, answers only to
this computer's names (a page elsewhere that points its own name at 127.0.0.1 is refused), changes
nothing for other origins, and lets the browser load nothing from anywhere else.
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
    # not `no-referrer`: with it browsers hide the origin of our own forms
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class _AnyAddress(frozenset[str]):
    """Names that are allowed where the server listens on all addresses: these, and any address.

    Only names can be pointed somewhere else: who gives an address was not misled.
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
    """Give the names a request may call this server by, when it listens on ``host``.

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
    """Read a form that one of our own pages sent; refuse it if its token is not the server's."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "A form was expected.")
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise HTTPException(400, "The form cannot be read.") from error
    form = {name: values[-1] for name, values in fields.items()}
    if not same_token(form.get("token", ""), token):
        raise HTTPException(
            403, "This form is from before a restart. Go back, reload the page, and try again."
        )
    return form


def check_intent(request: Request) -> None:
    """Refuse a call that changes or computes something unless it says that it means it.

    A page of another site can make a browser send a form, but not this header.
    """
    if request.headers.get(INTENT_HEADER) != "1":
        raise HTTPException(403, f"A POST must carry the header {INTENT_HEADER}: 1.")


def same_token(given: str, token: str) -> bool:
    """Compare a form's token with the server's, in a time that tells nothing."""
    return secrets.compare_digest(given.encode(), token.encode())


class Guard:
    """Refuse what is foreign or too large; add the headers that tell browsers what is allowed.

    Parameters
    ----------
    app
        What answers.
    hosts
        Names that the ``Host`` header may have, without port.
    max_body
        Largest body in bytes; a larger one is answered by 413, unread where it tells its size.
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], max_body: int) -> None:
        self.app = app
        self.hosts = hosts
        self.max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no websockets: the server closes them
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
                f"This server does not answer to the name {host!r}. Open it by the address that "
                "`citeweave serve` printed, or allow the name with --allow-host.",
                status_code=421,
            )
        if scope["method"] not in SAFE_METHODS and not _same_origin(scope, headers, host):
            return PlainTextResponse(
                "Refused: the request comes from another site.", status_code=403
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
    return f"The request is larger than the {limit // 1024:,} kB that are allowed."


_HOST = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\s\[\]:/@?#]+))(?::\d{1,5})?")


def host_name(host: str) -> str:
    """Take the port off, and the brackets of an IPv6 address; nothing of what is malformed.

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
