"""Services over HTTP: a right one has no defect, the defect of a broken one is named."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Thread
from types import ModuleType, SimpleNamespace
from typing import Any

import jsonschema
import numpy as np
import pytest

from dpassay.attacks.services.defects import probe
from dpassay.attacks.services.hosted import service_of
from dpassay.attacks.services.http_service import LostMessage, Refused
from dpassay.attacks.services.interface import Refusal
from dpassay.cli.main import main
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, TargetError
from dpassay.record.schemas import read_schema
from tests.attacks.services import suite
from tests.attacks.services.broken_services import BudgetSpent
from tests.docs.test_ten_lines import LINES, lines_of_code


@pytest.fixture(scope="module")
def data() -> Labelled:
    rng = np.random.default_rng(0)
    return Labelled(rng.normal(size=(20, 2)), rng.integers(0, 2, 20))


class Broken(suite.ReusedCoins):
    """Two defects, each of which shows only through a message of its own."""

    limit = 3

    def restart(self, seed: int = 0) -> None:
        self.ledger.clear()


class Right(suite.Unlearning):
    limit = 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "found"),
    [(Right, []), (Broken, ["budget lost at restart", "deletion reuses the coins"])],
)
def test_defects_are_named(kind: Any, found: list[str], data: Labelled) -> None:
    with served(kind(), {"delete": True, "restart": True}) as url:
        told = probe(service_of(url, seed=0), data, openings=2)
    assert [each.name for each in told.defects] == found


@pytest.mark.slow
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["attack", "service", "--records", "20", "--out", str(tmp_path), "--epsilon", "1"]
    with served(suite.Shared()) as url:
        assert main([*words, "--transcripts", "100", url]) == 1
    told = capsys.readouterr()
    assert "seed shared between users" in told.out
    assert "openings" in told.err.partition("control")[0]
    record = json.loads((tmp_path / "attack.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(read_schema("attack")).validate(record)
    probe = record["run"]["probe"]
    assert probe["queries"] <= sum(part["queries"] for part in probe["plan"])
    assert probe["plan"][0]["name"] == "control"


def test_messages(data: Labelled) -> None:
    said = {"live": True, "memoised": False, "restart": True}
    with served(suite.Live(), said) as url:
        service = service_of(url, seed=0)
        assert service.says("live")
        assert not service.says("memoised")
        assert service.can("restart")
        assert not service.can("delete")
        session = service.open(data, 3, "me")
        assert session.budget == suite.LIMIT
        assert len(session.transcript([data.X[0]] * 60)) == suite.LIMIT
        refusal = session.ask(data.X[0])
        assert isinstance(refusal, Refusal)
        assert "the budget of 48 is spent" in refusal.text
        assert not refusal.passing
    with served(suite.Vectors(), {"batches": True, "probabilities": True}) as url:
        session = service_of(url, seed=0).open(data, 3, "me")
        assert len(session.ask_many(data.X[:4])) == 4
        answer = session.probabilities(data.X[0])
        assert isinstance(answer, tuple)
        assert len(answer) == 2


def test_what_is_wrong_is_told_in_one_line(data: Labelled) -> None:
    with pytest.raises(InvalidInput, match="SERVICE = 'http://127"):
        service_of("http://127.0.0.1:9/x", seed=0)
    with pytest.raises(InvalidInput, match="must be http"):
        service_of("http://me:secret@127.0.0.1/", seed=0)
    with served(suite.Plain()) as url:
        session = service_of(url, seed=0).open(data, 0, "me")
        with pytest.raises(TargetError, match="open: it answered with status 404"):
            service_of(f"{url}/elsewhere", seed=0).open(data, 0, "me")
        assert session.ask(data.X[0]) in (0, 1)


def test_a_failure_that_passes_is_asked_again(data: Labelled) -> None:
    with served(suite.Plain()) as url:
        service = service_of(url, seed=0)
        post, messages = service.factory.post, count(1)

        def flaky(name: str, message: Any) -> Any:
            if (number := next(messages)) % 7 == 0:
                raise (
                    Refused("status 503: upstream is down")
                    if number % 2
                    else LostMessage("no reply")
                )
            return post(name, message)

        service.factory.post = flaky
        for user in ("me", "you", "they", "we", "all", "some", "none"):
            session = service.open(data, 3, user)
            assert len(session.transcript([data.X[0]] * 60)) == suite.LIMIT
        assert service.repeated == (next(messages) - 1) // 7
        service.factory.post = _lost
        with pytest.raises(TargetError, match="no reply"):
            session.ask(data.X[0])
        service.factory.post = _down
        with pytest.raises(TargetError, match="was refused"):
            service.open(data, 3, "me")


def _lost(name: str, message: Any) -> Any:
    raise LostMessage("no reply")


def _down(name: str, message: Any) -> Any:
    raise Refused("status 503: upstream is down")


FILE = Path(__file__).parents[3] / "examples" / "services" / "flask_app.py"


class Flask:
    """As much of Flask as the example needs."""

    def __init__(self, name: str) -> None:
        self.posts: dict[str, Callable[[], Any]] = {}

    def post(self, path: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
        return lambda call: self.posts.setdefault(path, call)


class Session:
    def __init__(self, data: Any, seed: int, user: str) -> None:
        self.y, self.left = data["y"], 3

    def ask(self, x: list[float]) -> int | None:
        self.left -= 1
        return None if self.left < 0 else int(self.y[0])


def test_ten_lines_or_fewer() -> None:
    assert 0 < lines_of_code(FILE.read_text(encoding="utf-8")) <= LINES


def test_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    flask, mine = ModuleType("flask"), ModuleType("my_service")
    request = SimpleNamespace(json=None)
    vars(flask).update(Flask=Flask, request=request)
    vars(mine).update(open_session=Session)
    monkeypatch.setitem(sys.modules, "flask", flask)
    monkeypatch.setitem(sys.modules, "my_service", mine)
    spec = importlib.util.spec_from_file_location("flask_app", FILE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)

    def reply(path: str, asked: Any) -> tuple[int, Any]:
        request.json = asked
        return 200, example.app.posts[path]()

    with replying(reply) as url:
        service = service_of(f"{url}/", seed=0)
        session = service.open(Labelled(np.zeros((2, 1)), np.array([1, 0])), 0, "me")
        assert session.transcript([np.zeros(1)] * 5) == (1, 1, 1)
        assert session.ask(np.zeros(1)) == Refusal("returned None")


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
