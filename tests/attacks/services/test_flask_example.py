"""The ten lines for Flask, run with the standard library in its place."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpassay.attacks.services.hosted import service_of
from dpassay.attacks.services.interface import Refusal
from dpassay.data import Labelled
from tests.attacks.services.http_services import replying
from tests.docs.test_ten_lines import LINES, lines_of_code

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
