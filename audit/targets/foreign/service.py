"""A service that is asked by POST, one JSON object each way."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from dpassay.errors import InvalidInput
from dpassay.targets.foreign.connection import Broken, Late

MIB = 1 << 20
CHUNK = 1 << 16
PAUSE = 0.1
"""Seconds before the first time that something is asked again; twice as long each time."""
AGAIN = (429, *range(500, 600))
"""Statuses after which it is."""
HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a service is.

    Parameters
    ----------
    secure : bool
        Whether it is asked over TLS.
    host, port
        `port` is None for the usual one.
    path : str
        With what follows a question mark.
    """

    secure: bool
    host: str
    port: int | None
    path: str


def address_of(url: str) -> Address:
    """Read an address.

    Raises
    ------
    InvalidInput
        If it is none of http or https, or holds a user, a password or a fragment.
    """
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


class _Again(Exception):
    """Something that may go better next time."""


class Service:
    """A service that is asked over a connection which is kept open as long as it likes.

    Parameters
    ----------
    address : Address
    seconds : float
        Time for a reply, from the connection to its last byte.
    retries : int
        How often it is asked again.
    reply : float
        MiB of a reply at most.
    """

    def __init__(self, address: Address, seconds: float, retries: int, reply: float) -> None:
        self._address, self._seconds, self._retries = address, seconds, retries
        self._most = round(reply * MIB)
        self._said = ""
        kind = http.client.HTTPSConnection if address.secure else http.client.HTTPConnection
        self._connection = kind(address.host, address.port, timeout=seconds)

    def ask(self, line: bytes, seconds: float | None = None) -> bytes:
        """Post a line and return the body of the reply; see `Connection`."""
        self._said = ""
        seconds = self._seconds if seconds is None else seconds
        for attempt in range(self._retries + 1):
            if attempt:
                time.sleep(PAUSE * 2 ** (attempt - 1))
            try:
                return self._posted(line, seconds)
            except _Again as error:
                cause = str(error)
        times = "" if self._retries == 0 else f", also when asked {self._retries + 1} times"
        raise Broken(f"{cause}{times}")

    def _posted(self, line: bytes, seconds: float) -> bytes:
        over = threading.Event()
        try:
            with self._cut_off(over, seconds):
                self._connection.request("POST", self._address.path, line, HEADERS)
                self._acknowledge()
                response = self._connection.getresponse()
                body = self._body(response, over)
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            if over.is_set() or isinstance(error, TimeoutError):
                raise Late(f"it gave no whole reply within {seconds:g} s") from None
            said = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise _Again(f"the connection failed ({' '.join(said.split())[:200]})") from None
        if response.status == 200:
            return body
        self._said = " ".join(body[:300].decode(errors="replace").split())
        cause = f"it answered with status {response.status}"
        raise (_Again if response.status in AGAIN else Broken)(cause)

    def _acknowledge(self) -> None:
        """Acknowledge at once what comes: a service that writes head and body apart waits for it.

        Forty milliseconds each time otherwise, where there are thousands of requests.
        """
        if hasattr(socket, "TCP_QUICKACK"):
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def _body(self, response: http.client.HTTPResponse, over: threading.Event) -> bytes:
        found = bytearray()
        while not over.is_set() and (more := response.read(CHUNK)):
            found += more
            if len(found) > self._most:
                self._connection.close()
                raise Broken(f"its reply is longer than {self._most / MIB:g} MiB")
        if over.is_set():
            raise TimeoutError  # what came is what had come when it was cut off
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        return bytes(found)

    @contextmanager
    def _cut_off(self, over: threading.Event, seconds: float) -> Iterator[None]:
        """Cut the connection after the time for a reply, however much is still coming."""

        def cut() -> None:
            over.set()
            with suppress(OSError, AttributeError):
                self._connection.sock.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(seconds, cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def told(self) -> str:
        """Return the beginning of what came with a wrong status; see `Connection`."""
        return self._said

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def disown(self) -> None:
        """Close this process's end; see `Connection`."""
        self._connection.close()
