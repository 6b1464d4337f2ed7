"""Services that answer wrongly: an error that says what is wrong, or the very answers."""

from __future__ import annotations

import json
import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from dpassay.errors import TargetError
from dpassay.targets.foreign.mechanism import ForeignSession
from dpassay.targets.foreign.service import ForeignService, address_of
from tests.fuzz import replies
from tests.fuzz.running import fuzz
from tests.fuzz.test_process import DATA, SIZE, otherwise, script

SECONDS = 20.0
LINES = (
    *(b"HTTP/1.1 200 OK", b"HTTP/1.0 200 OK", b"HTTP/1.1 500 No", b"HTTP/1.1 429 Later", b"200"),
    *(b"HTTP/1.1 302 Found", b"HTTP/1.1 204 None", b"HTTP/1.1 404 No", b"HTTP/9.9 200 OK", b""),
    *(b"HTTP/1.1 -1 No", b"HTTP/1.1 200", b"HTTP/1.1 99999 No", b"HTTP/1.1 100 Go on", b"\xff"),
)
HEADERS = (
    *(b"Content-Length: 5", b"Content-Length: 99999", b"Content-Length: -1", b"Content-Length: x"),
    *(b"Transfer-Encoding: chunked", b"Location: http://127.0.0.1:1/", b"Content-Encoding: gzip"),
    *(b"Connection: close", b"X" * 70_000, b": no name", b"no colon", b"X: \xff", b"a: b" * 200),
)


def response(rng: random.Random, body: bytes) -> bytes:
    """Return a response with a body, most times with something wrong around it."""
    start = b"HTTP/1.1 200 OK" if rng.random() < 0.7 else rng.choice(LINES)
    headers = [f"Content-Length: {len(body)}".encode()] if rng.random() < 0.8 else []
    headers += [rng.choice(HEADERS) for _ in range(rng.choice((0, 0, 1, 2)))]
    if b"Transfer-Encoding: chunked" in headers:
        size = rng.choice((f"{len(body):x}", "ffffffffffff", "-1", "zz", "0")).encode()
        body = size + b"\r\n" + body + b"\r\n0\r\n\r\n"
    whole = b"\r\n".join([start, *headers, b"", body])
    return whole[: rng.randrange(len(whole) + 1)] if rng.random() < 0.1 else whole


class Scripted:
    """A service on this machine that gives the next response to whoever connects."""

    def __init__(self) -> None:
        self.responses: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.settimeout(SECONDS)
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        """Read a whole request, say what is scripted, and hang up."""
        asked = b""
        while b"\r\n\r\n" not in asked:
            asked += connection.recv(1 << 16)
        head, _, body = asked.partition(b"\r\n\r\n")
        length = int((head.lower().partition(b"content-length:")[2].split() or [b"0"])[0])
        while len(body) < length:
            body += connection.recv(1 << 16)
        connection.sendall(self.responses.pop(0) if self.responses else b"")

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


@contextmanager
def service() -> Iterator[Scripted]:
    """Have a service as long as the context lasts."""
    found = Scripted()
    try:
        yield found
    finally:
        found.close()


def asked(server: Scripted, lines: list[bytes], responses: list[bytes]) -> str:
    """Say what is made of responses that they do not say."""
    server.responses = list(responses)
    connection = ForeignService(address_of(server.url), SECONDS, 0, 1.0)
    session = ForeignSession(lambda: connection, "its service")
    try:
        found = session.sample(DATA, [0.0], SIZE, 7)
    except TargetError as error:
        return f"says {error}" if "\n" in str(error) else ""
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what is looked for)
        return f"raises {type(error).__name__}: {error!s:.200}"
    finally:
        session.close()
    # a word after the status may be missing
    if any(each.split(b"\r\n")[0].split()[1:2] != [b"200"] for each in responses):
        return "took what was no 200"
    bodies = [line[: _length(each, line)] for line, each in zip(lines, responses, strict=True)]
    return otherwise(bodies, found)


def _length(whole: bytes, body: bytes) -> int:
    """Return what the first length in a response says, or all of it."""
    head = whole.partition(b"\r\n\r\n")[0]
    found = [each for each in head.split(b"\r\n") if each.startswith(b"Content-Length: ")]
    with suppress(ValueError, IndexError):
        length = int(found[0].partition(b": ")[2])
        return length if length >= 0 else len(body)
    return len(body)


@pytest.mark.slow
def test_wrong_responses_are_refused_or_read_as_they_are() -> None:
    with service() as server:
        fuzz(200, lambda rng: case(rng, server))


def case(rng: random.Random, server: Scripted) -> str:
    """Say what is made of a service that goes wrong, in its replies or around them."""
    lines = script(rng) if rng.random() < 0.5 else [*map(_line, (replies.HELLO, replies.OK))]
    lines += [] if len(lines) == 3 else [_line(replies.answers(rng, SIZE))]
    odd = rng.randrange(3)
    responses = [response(rng, line) if k == odd else good(line) for k, line in enumerate(lines)]
    told = asked(server, lines, responses)
    return f"{[each[:200] for each in responses]}: {told}" if told else ""


def _line(value: object) -> bytes:
    return json.dumps(value).encode()


def good(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
