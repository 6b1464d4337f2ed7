"""Services on 127.0.0.1: the protocol by POST, retries, resets, and what goes wrong."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import server as servers
from typing import Any

import numpy as np
import pytest

from dpassay import DP, Scalars, audit
from dpassay.errors import InvalidInput, TargetError
from dpassay.targets.foreign import Http, http
from dpassay.targets.foreign.service import PAUSE, address_of

ASKED = np.zeros((1, 1))
Reply = tuple[int, bytes]


class Service:
    """A service whose replies a function gives; it counts what it is asked."""

    def __init__(self, reply: Callable[[dict[str, Any]], Any]) -> None:
        self.seen: list[dict[str, Any]] = []
        self.paths: set[str] = set()
        service = self

        class Handler(servers.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.seen.append(asked)
                service.paths.add(self.path)
                found = reply(asked)
                if callable(found):
                    found(self)
                    return
                status, body = found if isinstance(found, tuple) else (200, json.dumps(found))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        class Server(servers.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                """Say nothing of those who have left."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/release?mode=1"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))

    def ops(self) -> list[str]:
        return [asked["op"] for asked in self.seen]


@contextmanager
def serving(reply: Callable[[dict[str, Any]], Any]) -> Iterator[Service]:
    service = Service(reply)
    service.thread.start()
    try:
        yield service
    finally:
        service.server.shutdown()
        service.thread.join()
        service.server.server_close()


@contextmanager
def opened(service: Service, **more: Any) -> Iterator[Http]:
    found = http(service.url, **more)
    try:
        yield found
    finally:
        found.close()


def laplace(asked: dict[str, Any]) -> Any:
    if asked["op"] == "hello":
        return {"seeded": True, "batch": 1000}
    if asked["op"] != "sample":
        return {"ok": True}
    rng = random.Random(asked["seed"])  # noqa: S311
    return {"answers": [rng.expovariate(1) - rng.expovariate(1) for _ in range(asked["size"])]}


def drawn(service: Http, size: int = 3) -> Any:
    return service.sample(service.prepare([0.5]), ASKED, size, np.random.default_rng(0))


def test_a_service_is_asked_by_post() -> None:
    with serving(laplace) as service, opened(service) as release:
        assert release.seeded
        assert release.without_query
        assert drawn(release) == drawn(release)
        assert service.ops() == ["hello", "hello", "prepare", "sample", "sample"]
        assert service.paths == {"/release?mode=1"}


@pytest.mark.parametrize("batch", [1, 1000])
def test_a_service_is_reset_before_each_line(batch: int) -> None:
    def reply(asked: dict[str, Any]) -> Any:
        if asked["op"] == "reset" and refused:
            return {"error": {"type": "no"}}
        return {"batch": batch} if asked["op"] == "hello" else laplace(asked)

    refused: list[bool] = []
    with serving(reply) as service, opened(service, reset=True) as release:
        drawn(release)
        lines = 3 if batch == 1 else 1
        assert service.ops() == ["hello", "prepare", *(lines * ["reset", "sample"])]
        refused.append(True)
        with pytest.raises(TargetError, match="reset: its service answered with an error: no"):
            drawn(release)


@pytest.mark.parametrize("status", [429, 500, 503, None])
def test_what_may_go_better_is_asked_again(status: int | None) -> None:
    """A lost connection (None) too, one that was kept at once; with longer and longer pauses."""
    failures = iter([True] * (3 if status is None else 2))

    def drop(handler: servers.BaseHTTPRequestHandler) -> None:
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True

    def reply(asked: dict[str, Any]) -> Any:
        if asked["op"] == "sample" and next(failures, False):
            return drop if status is None else (status, "later")
        return laplace(asked)

    with serving(reply) as service, opened(service, retries=2) as release:
        began = time.monotonic()
        assert len(drawn(release)) == 3
        assert time.monotonic() - began >= 3 * PAUSE
        assert service.ops().count("sample") == (4 if status is None else 3)
        assert len({asked["seed"] for asked in service.seen if asked["op"] == "sample"}) == 1


def cut_short(handler: servers.BaseHTTPRequestHandler) -> None:
    handler.wfile.write(OK + b'Content-Length: 1000\r\n\r\n{"answers": [1')
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)


def no_http(handler: servers.BaseHTTPRequestHandler) -> None:
    handler.wfile.write(bytes(range(128, 256)))
    handler.close_connection = True


def repeat(
    start: bytes, again: bytes, pause: float = 0.0001
) -> Callable[[servers.BaseHTTPRequestHandler], None]:
    """Write something, and then something else for ever."""

    def written(handler: servers.BaseHTTPRequestHandler) -> None:
        handler.wfile.write(start)
        while True:
            handler.wfile.write(again)
            time.sleep(pause)

    return written


OK = b"HTTP/1.1 200 OK\r\n"
LONG = b"X: " + b"a" * 60_000 + b"\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
DRIP = repeat(OK + b"Content-Length: 1000\r\n\r\n", b" ", 0.05)
WRONG: dict[str, tuple[Any, str]] = {
    "out of order": ((503, "later"), "status 503, also when asked 2 times: later"),
    "not found": ((404, "no such page"), "status 404: no such page"),
    "moved": ((302, ""), "status 302"),
    "empty": ((200, ""), "no JSON"),
    "endless": (repeat(OK + b"\r\n", b"x" * 65536), "longer than 1 MiB"),
    "declared huge": (repeat(OK + b"Content-Length: 1099511627776\r\n\r\n", b"["), "than 1 MiB"),
    "chunked": (repeat(CHUNKED, b"10000\r\n" + b" " * 65536 + b"\r\n"), "longer than 1 MiB"),
    "long headers": (repeat(OK, LONG), "headers are longer than 64 KiB"),
    "continue": (repeat(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "longer than 64 KiB|within 0.5 s"),
    "packed": (repeat(OK + b"Content-Encoding: gzip\r\n\r\n", b"\x1f"), "compressed"),
    "drip": (DRIP, "no whole reply within 0.5 s"),
    "drip in the head": (repeat(b"", b"H", 0.05), "no whole reply within 0.5 s"),
    "silence": (lambda _: time.sleep(2), "no whole reply within 0.5 s"),
    "cut short": (cut_short, "the connection failed"),
    "no http": (no_http, "the connection failed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_service_that_does_wrong_is_an_error(name: str) -> None:
    reply, said = WRONG[name]
    with (
        serving(lambda _: reply) as service,
        opened(service, timeout=0.5, retries=int(reply == (503, "later")), reply=1.0) as release,
    ):
        began = time.monotonic()
        with pytest.raises(TargetError, match=said):
            drawn(release)
        assert time.monotonic() - began < 5
    if name == "out of order":
        assert service.ops() == ["hello", "hello"]


@pytest.mark.parametrize("reply", [DRIP, (503, "later")])
def test_the_limit_holds_for_all_that_is_asked_again(reply: Any) -> None:
    """Also in a search, which passes over other failures of a data set."""
    with serving(lambda asked: reply if asked["op"] == "sample" else laplace(asked)) as service:
        release = http(service.url, timeout=0.5, retries=9)
        result = audit(release, claim=DP(epsilon=1), data=Scalars(0, 1), budget=300)
    assert result.verdict == "error"
    assert "it gave no whole reply within 0.5 s" in str(result.outcome.reason)
    assert service.ops().count("sample") == (1 if reply is DRIP else 3)


def test_bytes_after_a_reply_are_not_the_next_reply() -> None:
    """A reply that is longer than it says, by one that looks whole."""
    more = b'Content-Length: 16\r\n\r\n{"answers": [9]}' + b" " * 100_000

    def reply(asked: dict[str, Any]) -> Any:
        if asked["op"] != "sample":
            return laplace(asked)
        text = json.dumps(laplace(asked)).encode()
        return lambda handler: handler.wfile.write(
            OK + b"Content-Length: %d\r\n\r\n" % len(text) + text + b" " * (1 << 17) + OK + more
        )

    with serving(reply) as service, opened(service, retries=0) as release:
        assert drawn(release) == drawn(release) != [9]


def test_nobody_there_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(TargetError, match=r"the connection failed .*refused"):
        drawn(http(f"http://127.0.0.1:{port}", retries=1))


@pytest.mark.parametrize(
    "url",
    [
        *("", "file:///etc/passwd", "http://", "host/path", "http://user:password@host/"),
        *("http://host:port/", "http://host:99999/", "http://host/a b", "http://host/#there"),
        *("http://host/\r\nX-Header: 1", "http://[::1/"),
    ],
)
def test_an_address_that_is_none_is_said_at_once(url: str) -> None:
    with pytest.raises(InvalidInput, match="url = "):
        http(url)


def test_addresses_are_read() -> None:
    assert address_of("https://[::1]:8000").secure
    assert address_of("https://[::1]:8000").host == "::1"
    assert address_of("http://host").path == "/"
    assert address_of("http://host").port is None


def test_a_service_is_audited() -> None:
    def shifted(asked: dict[str, Any]) -> Any:
        if asked["op"] == "prepare":
            sums[asked["id"]] = sum(asked["data"])
        found = laplace(asked)
        if "answers" in found:
            found["answers"] = [each + sums[asked["id"]] for each in found["answers"]]
        return found

    sums: dict[str, float] = {}
    with serving(shifted) as service:
        result = audit(http(service.url), claim=DP(epsilon=0.25), data=Scalars(0, 1), budget=1000)
    assert result.verdict == "refuted", result.outcome.reason
