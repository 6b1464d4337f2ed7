"""Services over HTTP: a right one has no defect, the defect of a broken one is named."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
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
from tests.attacks.services.http_services import served


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
