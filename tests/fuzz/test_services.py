"""Services under attack that reply wrongly: one line that says so, or the very answers."""

from __future__ import annotations

import json
import random
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest

from dpassay.attacks.services import interface
from dpassay.attacks.services.http_service import WORDS, HttpFactory
from dpassay.attacks.services.interface import Refusal, Service, Session
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, TargetError
from dpassay.targets.foreign.mechanism import ForeignSession
from dpassay.targets.foreign.service import ForeignService, address_of
from tests.fuzz import replies
from tests.fuzz import test_process as programs
from tests.fuzz.mutations import VALUES, mangled, mutated
from tests.fuzz.running import fuzz

DATA = Labelled(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1]))
CAN: dict[str, Any] = dict.fromkeys((*WORDS, "probabilities", "batches", "restart", "delete"), True)
ANSWERS: tuple[Any, ...] = (
    *(0, 1, "yes", 0.5, [0.25, 0.75], True, None, -3, [], {}, [[1]], ["a", 1], 10**400, "nan"),
)
ODD = (b"", b"null", b"[]", b"{", b"\xff", b'{"answer": NaN}', b'{"answer": 1e999}', b"[" * 100_000)

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


def good(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def reply(rng: random.Random, good: Any) -> bytes:
    """Return a body in place of a good one: most times one with something wrong in it."""
    way = rng.random()
    if way < 0.3:
        return json.dumps(good).encode()
    if way < 0.45:
        return rng.choice(ODD)
    document = mutated(good, rng)
    if way < 0.6:
        document = {**good, rng.choice((*good, "error", "answer")): rng.choice((*VALUES, *ANSWERS))}
    text = json.dumps(document)
    return (mangled(text, rng) if way > 0.85 else text).encode("utf-8", "replace")


def around(rng: random.Random, body: bytes) -> bytes:
    """Return a response with a body, at times with something wrong around it."""
    if rng.random() < 0.5:
        return good(body)
    if rng.random() < 0.4:
        status = rng.choice((403, 404, 429, 500, 503))
        return b"HTTP/1.1 %d No\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)
    return response(rng, body)


def case(rng: random.Random, server: Scripted) -> str:
    """Say what is made of a service that it did not say."""
    can = {name: True for name in CAN if rng.random() < 0.4}
    first, name = reply(rng, can), rng.choice(("ask", "probabilities", "ask_many", "delete"))
    key = "answers" if name == "ask_many" else "answer"
    value = [rng.choice(ANSWERS) for _ in DATA.X] if key == "answers" else rng.choice(ANSWERS)
    bodies = [first, reply(rng, {"session": 5, "budget": 16}), reply(rng, {key: value})]
    odd = rng.randrange(4)
    server.responses = [
        around(rng, body) if k == odd else good(body) for k, body in enumerate(bodies)
    ]
    sent = list(server.responses)
    try:
        told = next(_made(name, server, bodies, sent), "")
    except (InvalidInput, TargetError) as error:
        told = f"says {error}" if "\n" in str(error) or not str(error) else ""
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what is looked for)
        told = f"raises {type(error).__name__}: {error!s:.200}"
    return f"{name}: {[each[:200] for each in sent]}: {told}" if told else ""


def _made(name: str, server: Scripted, bodies: list[bytes], sent: list[bytes]) -> Iterator[str]:
    """Yield what was read that is not in a reply."""
    asked = Service(HttpFactory(server.url), "service")
    held = _strictly(bodies[0]) if re.match(rb"HTTP/1\.\d 200\b", sent[0]) else {}
    for word in WORDS:
        if asked.says(word) != held.get(word, False):
            yield f"says {word}: {asked.says(word)}"
    if name == "delete":
        if asked.can("delete"):
            asked.delete(DATA, 3, 1)
        return
    session = asked.open(DATA, 3, "user")
    said = _strictly(bodies[1])
    if session.budget is not None and session.budget != said.get("budget"):
        yield f"has a budget of {session.budget}"
    if not session.has(name):
        return
    yield from _answered(session, name, bodies[2])


def _answered(session: Session, name: str, body: bytes) -> Iterator[str]:
    if name == "ask_many":
        found = session.ask_many(DATA.X)
        wanted = _strictly(body).get("answers") if found else None
        if found and not (isinstance(wanted, list) and len(found) <= len(wanted)):
            yield f"answers {found}"
        return
    answer = getattr(session, name)(DATA.X[0])
    if isinstance(answer, Refusal):
        if "\n" in answer.text:
            yield f"is refused by {answer.text}"
    elif replies.told(answer) != replies.told(_strictly(body).get("answer")):
        yield f"answers {answer!r:.100}"


def _strictly(body: bytes) -> Any:
    found = json.loads(body)
    return found if isinstance(found, dict) else {}


@pytest.mark.slow
def test_wrong_replies_of_services_are_refused_or_read_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interface, "PAUSES", (0.0,))
    with service() as server:
        fuzz(500, lambda rng: case(rng, server))


def sampled(rng: random.Random, server: Scripted) -> str:
    """Say what is made of an audited service that goes wrong, in its replies or around them."""
    lines = programs.script(rng) if rng.random() < 0.5 else []
    lines = lines or [json.dumps(each).encode() for each in (replies.HELLO, replies.OK)]
    lines += [json.dumps(replies.answers(rng, programs.SIZE)).encode()] * (3 - len(lines))
    odd = rng.randrange(3)
    sent = [response(rng, line) if k == odd else good(line) for k, line in enumerate(lines)]
    told = _sampled(server, lines, sent)
    return f"{[each[:200] for each in sent]}: {told}" if told else ""


def _sampled(server: Scripted, lines: list[bytes], sent: list[bytes]) -> str:
    server.responses = list(sent)
    connection = ForeignService(address_of(server.url), SECONDS, 0, 1.0)
    session = ForeignSession(lambda: connection, "its service")
    try:
        found = session.sample(programs.DATA, [0.0], programs.SIZE, 7)
    except TargetError as error:
        return f"says {error}" if "\n" in str(error) else ""
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what is looked for)
        return f"raises {type(error).__name__}: {error!s:.200}"
    finally:
        session.close()
    # a word after the status may be missing
    if any(each.split(b"\r\n")[0].split()[1:2] != [b"200"] for each in sent):
        return "took what was no 200"
    bodies = [line[: _length(each, line)] for line, each in zip(lines, sent, strict=True)]
    return programs.otherwise(bodies, found)


def _length(whole: bytes, body: bytes) -> int:
    """Return what the first length in a response says, or all of it."""
    found = re.search(rb"^Content-Length: (\d+)\r?$", whole.partition(b"\r\n\r\n")[0], re.MULTILINE)
    return int(found[1]) if found else len(body)


@pytest.mark.slow
def test_wrong_responses_are_refused_or_read_as_they_are() -> None:
    with service() as server:
        fuzz(200, lambda rng: sampled(rng, server))


BATCHES, OPEN = b'{"batches": true}', b'{"session": 5}'
WRONG: dict[str, tuple[list[bytes], str]] = {
    "a word for a capability": ([b'{"live": "yes"}'], "capabilities: live = 'yes': must be true"),
    "a number for an ability": ([b'{"restart": 1}'], "capabilities: restart = 1: must be true"),
    "a budget below nothing": ([b"{}", b'{"session": 5, "budget": -1}'], "open: budget = -1: must"),
    "nested without end": ([b"{}", OPEN, b"[" * 100_000], "ask: the reply is nested too deeply"),
    "a number for a batch": ([BATCHES, OPEN, b'{"answers": 3}'], "returned int; expected a list"),
    "a word for a batch": ([BATCHES, OPEN, b'{"answers": "no"}'], "returned str; expected a list"),
    "too many answers": ([BATCHES, OPEN, b'{"answers": [0, 1, 1]}'], "returned 3 answers; "),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_reply_that_makes_no_sense_is_refused_in_one_line(name: str) -> None:
    """A word for a batch was read letter by letter; a number for one ended with a traceback."""
    bodies, message = WRONG[name]
    with service() as server:
        server.responses = [good(body) for body in bodies]
        with pytest.raises((InvalidInput, TargetError), match=message):  # noqa: PT012
            session = Service(HttpFactory(server.url), "service").open(DATA, 3, "user")
            session.ask_many(DATA.X) if bodies[0] == BATCHES else session.ask(DATA.X[0])
