"""Serve a factory over HTTP with the standard library, as docs/services.md has it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import numpy as np

from dpassay.data import Labelled
from tests.attacks.services.broken_services import BudgetSpent

PATHS = ("/open", "/ask", "/ask_many", "/probabilities", "/restart", "/delete")


@contextmanager
def served(factory: Any, capabilities: dict[str, Any] | None = None) -> Iterator[str]:
    """Yield the address of a server that opens sessions of a factory."""
    sessions: list[Any] = []

    def reply(path: str, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        S = asked.get("data")
        data = Labelled(np.array(S["X"]), np.array(S["y"])) if S else None
        if path == "/open":
            sessions.append(factory(data, asked["seed"], asked["user"]))
            return 200, {"session": len(sessions) - 1, "budget": sessions[-1].budget}
        if path == "/restart":
            factory.restart()
            return 200, {}
        if path == "/delete":
            factory.delete(data, asked["seed"], asked["i"])
            return 200, {}
        session = sessions[asked["session"]]
        x, found = ("X", "answers") if path == "/ask_many" else ("x", "answer")
        try:
            return 200, {found: getattr(session, path[1:])(np.array(asked[x]))}
        except BudgetSpent as error:
            return 429, {"error": str(error)}

    def guarded(path: str, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return reply(path, asked) if path in PATHS else (404, {})

    with replying(guarded, capabilities) as url:
        yield url


@contextmanager
def replying(
    reply: Callable[[str, Any], tuple[int, Any]], capabilities: dict[str, Any] | None = None
) -> Iterator[str]:
    """Yield the address of a server that gives the status and the body of each reply."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.told(200 if capabilities is not None else 404, capabilities or {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.told(*reply(self.path, body))

        def told(self, status: int, found: dict[str, Any]) -> None:
            said = json.dumps(found).encode()
            head = f"HTTP/1.1 {status} x\r\nContent-Length: {len(said)}\r\n\r\n".encode()
            self.wfile.write(head + said)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
