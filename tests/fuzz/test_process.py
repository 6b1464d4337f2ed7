"""Programs that answer wrongly: an error that says what is wrong, or the very answers."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

from dpassay.data import Values
from dpassay.errors import TargetError
from dpassay.search.values import key_of
from dpassay.targets.foreign.mechanism import Dataset, ForeignSession, _shaped
from dpassay.targets.foreign.program import Child
from tests.fuzz import replies
from tests.fuzz.running import fuzz

DATA = Dataset.of(Values(np.array([0.25, 0.5])))
SIZE = 4


class Scripted(Child):
    """A connection that has its lines already."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = list(lines)

    def ask(self, line: bytes, seconds: float | None = None) -> bytes:
        assert json.loads(line)["op"] in {"hello", "prepare", "sample"}
        return self._lines.pop(0)

    def told(self) -> str:
        return ""

    def leave(self) -> None:
        self._lines.clear()


def script(rng: random.Random) -> list[bytes]:
    """Return the lines of a program: one of three replies is wrong, seldom all."""
    good: list[dict[str, Any]] = [replies.HELLO, replies.OK, replies.answers(rng, SIZE)]
    wrong = rng.choice((0, 1, 2, 2, 2, 3))
    return [
        replies.reply(rng, each) if wrong in (k, 3) else json.dumps(each).encode()
        for k, each in enumerate(good)
    ]


def case(rng: random.Random) -> str:
    """Say what is made of replies that they do not say."""
    lines = script(rng)
    told = judged(lines)
    return f"{[line[:200] for line in lines]}: {told}" if told else ""


def judged(lines: list[bytes], refused: list[str] | None = None) -> str:
    session = ForeignSession(lambda: Scripted(lines), "its process")
    try:
        found = session.sample(DATA, [0.0], SIZE, 7)
        for each in found:
            key_of(each)
        _shaped(found, 1)
    except TargetError as error:
        if refused is not None:
            refused.append("error")
        return f"says {error}" if "\n" in str(error) else ""
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what is looked for)
        return f"raises {type(error).__name__}: {error!s:.200}"
    return otherwise(lines, found)


def otherwise(lines: list[bytes], found: list[Any]) -> str:
    """Say why replies must not have been taken, or what else they say."""
    try:
        hello, prepared, answered = map(replies.strictly, lines)
    except ValueError:
        return "took what is no JSON"
    if not all(isinstance(each, dict) for each in (hello, prepared, answered)):
        return "took what is no object"
    batch = hello.get("batch", 1)
    if "error" not in hello and (type(batch) is not int or batch < 1):
        return f"took batch = {batch!r}"
    if prepared.get("ok") is not True or {"error"} & {*prepared, *answered}:
        return "took an error for an answer"
    wanted = answered.get("answers")
    if not isinstance(wanted, list) or len(wanted) != SIZE:
        return f"took {wanted!r:.80} for {SIZE} answers"
    if [replies.told(each) for each in wanted] != [replies.told(each) for each in found]:
        return f"read {found!r:.200}"
    return ""


@pytest.mark.slow
def test_wrong_replies_are_refused_or_read_as_they_are() -> None:
    fuzz(1000, case)
