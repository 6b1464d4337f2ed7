"""A service that is asked over HTTP: one deadline for each reply, and a limit on its bytes.

http.client reads and writes; its socket has, before every read and write, the time that is left.
"""

from __future__ import annotations

import http.client
import io
import select
import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import SplitResult, urlsplit

from dpassay.errors import InvalidInput
from dpassay.targets.foreign.protocol import Broken, Dropped, Late

MIB = 1 << 20
PIECE = 1 << 14
"""Bytes that are sent at once: one TLS record, so that no slow reader holds a write up."""
CHUNK = HEAD = 1 << 16
"""Bytes that are read at once; of status and headers, with every `100 Continue`, at most."""
PAUSE = 0.1
"""Seconds before the first time that something is asked again; twice as long each time."""
AGAIN = (429, *range(500, 600))
"""Statuses after which it is."""
HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a service is; a port of None is the usual one, the path holds the query as well."""

    secure: bool
    host: str
    port: int | None
    path: str


def address_of(url: str) -> Address:
    """Read an address of http or https, without user, password or fragment."""
    wrong = InvalidInput(
        f"url = {url!r:.80}: must be http://HOST[:PORT]/PATH or https://..., without user, "
        "password and #"
    )
    if not isinstance(url, str) or any(ord(sign) <= 32 or ord(sign) > 126 for sign in url):
        raise wrong
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or parts.fragment:
        raise wrong
    return Address(secure=parts.scheme == "https", host=host, port=port, path=_path(parts))


def _path(parts: SplitResult) -> str:
    path = parts.path or "/"
    return f"{path}?{parts.query}" if parts.query else path


class _Incoming(io.RawIOBase):
    """What a service sends, until a time; so much of it, after which `end_head` grants the body."""

    def __init__(self, raw: Any, connection: socket.socket, until: float) -> None:
        self._raw, self._connection, self._until = raw, connection, until
        self._left, self._said = HEAD, f"its headers are longer than {HEAD >> 10} KiB"

    def end_head(self, most: int) -> None:
        # twice as many bytes as the body may have: chunks have headers of their own
        self._left, self._said = HEAD + 2 * most, f"its reply is longer than {most / MIB:g} MiB"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._connection.settimeout(_left(self._until))
        count: int | None = self._raw.readinto(buffer)
        self._left -= count or 0
        if self._left < 0:
            raise Broken(self._said)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *, until: float, **more: Any) -> None:
        super().__init__(sock, **more)
        self.incoming = _Incoming(self.fp.detach(), sock, until)
        self.fp = io.BufferedReader(self.incoming, CHUNK)


class ForeignService:
    """A service that is asked over a connection which is kept open as long as it likes.

    A reply may take so many `seconds`, from the connection to its last byte, all that is asked
    again (`retries` times) and the pauses between included, and so many MiB (`reply`).
    """

    def __init__(self, address: Address, seconds: float, retries: int, reply: float) -> None:
        self._address, self._seconds, self._retries = address, seconds, retries
        self._most = round(reply * MIB)
        self._said = ""
        self._context = ssl.create_default_context() if address.secure else None
        self._connection: Any = (
            http.client.HTTPConnection(address.host, address.port)
            if self._context is None
            else http.client.HTTPSConnection(address.host, address.port, context=self._context)
        )

    def ask(self, line: bytes, seconds: float | None = None) -> bytes:
        """Post a line and return the body of the reply; see `Child.ask`."""
        self._said = ""
        seconds = self._seconds if seconds is None else seconds
        until = time.monotonic() + seconds
        for attempt in range(self._retries + 1):
            try:
                status, body = self._request("POST", self._address.path, line, seconds, until)
            except Dropped as error:
                cause = str(error)
            else:
                if status == 200:
                    return body
                self._said = " ".join(body[:300].decode(errors="replace").split())
                cause = f"it answered with status {status}"
                if status not in AGAIN:
                    raise Broken(cause)
            pause = PAUSE * 2**attempt
            if attempt < self._retries and time.monotonic() + pause > until:
                raise Late(f"{_late(seconds)} ({cause})")
            time.sleep(pause if attempt < self._retries else 0)
        times = "" if self._retries == 0 else f", also when asked {self._retries + 1} times"
        raise Broken(f"{cause}{times}")

    def request(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Return status and body of the reply to one request.

        `Late`, `Dropped` and `Broken` say that it does not come in time, the connection
        fails, or it is too long.
        """
        return self._request(method, path, body, self._seconds, time.monotonic() + self._seconds)

    def _request(
        self, method: str, path: str, body: bytes, seconds: float, until: float
    ) -> tuple[int, bytes]:
        while True:
            kept = self._is_kept()
            try:
                if not kept:
                    self._connect(until)
                return self._exchanged(method, path, body, until)
            except Broken:
                self.close()
                raise
            except (OSError, ValueError, http.client.HTTPException) as error:
                self.close()
                if kept and isinstance(error, ConnectionError):
                    continue  # it had closed what was kept
                if isinstance(error, TimeoutError):
                    raise Late(_late(seconds)) from None
                said = getattr(error, "strerror", None) or str(error) or type(error).__name__
                raise Dropped(f"the connection failed ({' '.join(said.split())[:200]})") from None

    def _is_kept(self) -> bool:
        """Return whether there is a connection with nothing unasked on it, not even its end.

        A reply that is longer than it said would else be taken for that to the next request.
        """
        if self._connection.sock is None:
            return False
        waiting = select.poll()
        waiting.register(self._connection.sock, select.POLLIN)
        if waiting.poll(0):
            self.close()
        return self._connection.sock is not None

    def _connect(self, until: float) -> None:
        host, port = self._connection.host, self._connection.port
        failure = OSError("the host has no address")
        for *kind, _, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            connection = socket.socket(*kind)
            try:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.settimeout(_left(until))
                connection.connect(where)
                if self._context is not None:
                    connection.settimeout(_left(until))
                    connection = self._context.wrap_socket(connection, server_hostname=host)
            except OSError as error:
                connection.close()
                failure = error
            else:
                self._connection.sock = connection
                return
        raise failure

    def _exchanged(self, method: str, path: str, body: bytes, until: float) -> tuple[int, bytes]:
        connection = self._connection

        def pieces() -> Iterator[bytes]:
            for start in range(0, len(body), PIECE):
                connection.sock.settimeout(_left(until))
                yield body[start : start + PIECE]

        connection.response_class = partial(_Response, until=until)
        connection.sock.settimeout(_left(until))
        headers = HEADERS | {"Content-Length": str(len(body))}
        connection.request(method, path, pieces(), headers)
        if hasattr(socket, "TCP_QUICKACK"):
            # a service that writes head and body apart waits for the acknowledgement, 40 ms a time
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        with connection.getresponse() as response:
            response.incoming.end_head(self._most)
            if response.headers.get("Content-Encoding", "identity") != "identity":
                raise Broken("its reply is compressed; must be as it is")
            return response.status, self._body(response)

    def _body(self, response: _Response) -> bytes:
        with io.BytesIO() as found:  # its memory is freed also if an exception holds this frame
            while response.length is None or response.length <= self._most:
                more = response.read(CHUNK)
                found.write(more)
                if found.tell() > self._most:
                    break
                if not more:
                    if response.length:
                        raise http.client.IncompleteRead(b"", response.length)
                    return found.getvalue()
        raise Broken(f"its reply is longer than {self._most / MIB:g} MiB")

    def told(self) -> str:
        """Return the beginning of what came with a wrong status."""
        return self._said

    def close(self) -> None:
        """Close the connection; it is opened again when something is asked."""
        self._connection.close()

    leave = __del__ = close  # other ends of it are not touched


def _left(until: float) -> float:
    """Return the seconds until then; raise `TimeoutError` if there are none."""
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def _late(seconds: float) -> str:
    return f"it gave no whole reply within {seconds:g} s"
