"""`dpassay attack service`: repeated queries on a real pair, and tenants who compare notes."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.attacks.repeated.run import Repeated
from dpassay.attacks.services import defects
from dpassay.attacks.services.collusion import attack_service
from dpassay.attacks.services.defects import probe
from dpassay.attacks.services.interface import Service
from dpassay.claims import DP, Claim
from dpassay.cli import attack_service as attack_service_command
from dpassay.cli.main import main
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, TargetError
from tests.attacks.command import attack, record_of
from tests.attacks.services import broken_services as broken

MODULE = "tests.attacks.services.broken_services"
WORDS = f"service --records 20 -q {MODULE}"
SMALL = (
    "--records 40 --references 4 --models 2 --copies 1 --attacks gap --against mechanism --json -q "
    "--budgets 1 --transcripts 1000"
)
"""Attacks that could hardly succeed, and take no time."""


@dataclass(frozen=True)
class Own:
    """Randomised response on the label of the nearest record; brings neither a law nor pairs."""

    epsilon: float = 1.0

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (DP(epsilon=self.epsilon),)

    def prepare(self, data: Labelled) -> Labelled:
        return data

    def sample(self, state: Labelled, queries: Any, size: int, rng: np.random.Generator) -> Any:
        odds = np.array([broken.odds(state, x, self.epsilon) for x in queries])
        return (rng.random((size, len(queries))) < 1 / (1 + np.exp(-odds))).astype(np.int64)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few openings of each birthday test, and a control that gives up early."""
    assert probe.__kwdefaults__ is not None
    monkeypatch.setitem(probe.__kwdefaults__, "openings", 20)
    monkeypatch.setattr(defects, "CONTROL_STAGES", (24, 384))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services in this process: that they answer the same in theirs is in ../test_hosted.py."""

    def service_of(address: str, *, seed: int, **_: object) -> Service:
        return Service(getattr(broken, address.removeprefix(f"{MODULE}:")), address, seed=seed)

    monkeypatch.setattr(attack_service_command, "service_of", service_of)


@pytest.fixture(scope="module")
def data() -> Labelled:
    rng = np.random.default_rng(0)
    return Labelled(rng.normal(size=(20, 2)), rng.integers(0, 2, 20))


def repeated(
    service: broken.Honest, data: Labelled, *, shared: bool = False, n: int = 300, room: int = 16
) -> tuple[Repeated, ...]:
    known: dict[str, Any] = {"transcripts": n, "room": room, "alpha": 1e-3, "seed": 0}
    return attack_service(Service(service, "s"), data, DP(epsilon=1.0), shared=shared, **known)


def test_fresh_noise_grows_and_keeps_its_claim(data: Labelled) -> None:
    """Also where tenants compare what they are told."""
    found, compared = repeated(broken.Honest(), data, shared=True)
    assert not any(test.broken for test in (*found.tests, *compared.tests))
    assert compared.why == ""
    lower = [test.lower.value for test in found.tests]
    assert [test.m for test in found.tests] == [1, 2, 4, 8]
    assert lower[-1] > 2 * lower[0] > 0
    assert not found.sticky


def test_sticky_noise_is_called_sticky_and_does_not_grow(data: Labelled) -> None:
    (found,) = repeated(broken.Sticky(), data)
    lower = [test.lower.value for test in found.tests]
    assert found.sticky
    assert found.why.startswith("sticky")
    assert max(lower) < 1  # one answer is all there is
    assert max(lower) - min(lower) < 0.05


def test_shared_seeds_break_the_claim_and_the_tool_says_why(data: Labelled) -> None:
    alone, compared = repeated(broken.Shared(), data, shared=True)
    assert not any(test.broken for test in alone.tests)
    assert compared.tests[0].broken  # m = 1, claimed 1
    assert "coins are shared between users" in compared.why


@pytest.mark.parametrize("kind", [broken.Model, broken.OneModel])
def test_the_seed_of_a_correct_model_is_not_the_attackers(
    kind: type[broken.Honest], data: Labelled
) -> None:
    """With the victim's seed for S and S', which nobody has, it would be certified broken."""
    service = kind()
    service.limit = 1
    alone, compared = repeated(service, data, shared=True, room=1)
    assert compared.tests[0].broken
    assert not alone.tests[0].broken


def test_a_wrong_claim_is_broken(data: Labelled) -> None:
    service = broken.Honest()
    service.epsilon = 4.0
    (found,) = repeated(service, data, n=150)
    assert any(test.broken for test in found.tests)


def test_refused(data: Labelled) -> None:
    service = broken.Honest()
    with pytest.raises(InvalidInput, match="--transcripts"):
        repeated(service, data, n=3)
    with pytest.raises(InvalidInput, match="two labels"):
        repeated(service, Labelled(data.X, np.zeros(20)))  # type: ignore[arg-type]
    service.limit = 3
    with pytest.raises(TargetError, match="refused after 3 answers"):
        repeated(service, data)


def test_a_service_says_whether_its_seed_is_shared() -> None:
    assert Service(broken.Declared(), "s").shares_seed
    assert not Service(broken.Shared(), "s").shares_seed
    odd = broken.Honest()
    odd.shared_seed = "yes"  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match=r"s\.shared_seed = 'yes': must be True or False"):
        Service(odd, "s").shares_seed  # noqa: B018


@pytest.mark.usefixtures("here")
def test_a_correct_model_is_not_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert attack(f"{WORDS}:model --epsilon 1 --transcripts 200 --out {tmp_path}") == 0
    told = capsys.readouterr().out
    assert "no defects" in told
    assert "remark: one draw" in told
    assert "claim broken" not in told
    assert "Remark: one draw" in (tmp_path / "attack.md").read_text(encoding="utf-8")
    (found,) = record_of(tmp_path)["repeated"]
    assert all(test["lower"] <= 1 for test in found["rungs"])


@pytest.mark.usefixtures("here")
def test_tenants_compare_notes_where_the_seed_is_said_to_be_shared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claimed = "--epsilon 1 --transcripts 200"
    assert attack(f"{WORDS}:shared {claimed} --json") == 1
    (alone,) = json.loads(capsys.readouterr().out)["repeated"]  # others are not said to have a seed
    assert not any(test["broken"] for test in alone["rungs"])
    assert attack(f"{WORDS}:declared {claimed} --out {tmp_path}") == 1
    told = capsys.readouterr().out
    assert "seed shared between users" in told
    assert "claim broken" in told
    record = record_of(tmp_path)
    assert [each["name"] for each in record["defects"]] == ["seed shared between users"]
    assert len(record["repeated"]) == 2


@pytest.mark.usefixtures("here")
def test_the_command_of_a_record_says_what_variables_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without what variables said of seed and confidence it would make another record."""
    said = {"SEED": "3", "CONFIDENCE": "0.95", "JOBS": "2", "BUDGET": "200", "TOLERANCE": "0.5"}
    with monkeypatch.context() as patched:
        for name, value in said.items():
            patched.setenv(f"DPASSAY_{name}", value)
        assert attack(f"{WORDS}:tells_query --out {tmp_path}") == 1
    record = record_of(tmp_path)
    again = shlex.split(record["run"]["command"])
    assert again[:5] == ["dpassay", "attack", "service", "--confidence=0.95", "--seed=3"]
    broken.tells_query.__init__()  # type: ignore[misc]  # nobody has been there
    assert main([*again[1:], "-q", "--out", str(tmp_path / "again")]) == 1
    assert record_of(tmp_path / "again") == record


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("name", "said"), [
    ("deaf", "no change of its answers"),
    ("majority", "the randomness of its answers could not be"),
])  # fmt: skip
def test_what_was_not_looked_at_is_no_clean_bill(
    name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"{WORDS}:{name} --out {tmp_path}"
    assert attack(f"{words} --allow-inconclusive") == 0
    told = capsys.readouterr().out
    assert told.startswith(f"{MODULE}:{name}: inconclusive, ")
    assert said in told
    assert "no defects" not in told
    page = (tmp_path / "attack.md").read_text(encoding="utf-8")
    assert "not everything could be examined" in page
    # another seed makes other users
    assert attack(f"{words} --seed 1 --epsilon 1 --transcripts 200") == 4
    told, page = capsys.readouterr().out, (tmp_path / "attack.md").read_text(encoding="utf-8")
    assert "not broken" not in told
    assert "  not examined\n" in told
    assert (
        "1 claim, 0 broken, 0 not broken (could have seen it), 0 could not have been seen, 1 "
        "not examined"
    ) in page
    assert "The claim was not examined: " in page
    assert said in page
    assert "did not break" not in page


@pytest.mark.parametrize(("words", "code", "said"), [
    ("nowhere:x", 2, "cannot import 'nowhere'"),
    ("nowhere", 2, "module:object"),
    (f"{MODULE}:nothing", 2, "has no 'nothing'"),
    (f"{MODULE}:np", 2, "must be a callable"),
    (f"{MODULE}:honest --epsilon 1,2", 2, "--epsilon = '1,2'"),
    (f"{MODULE}:honest --epsilon 1 --transcripts 5", 2, "--transcripts = 5"),
    (f"{MODULE}:honest soft-majority", 2, "soft-majority: no such option or argument"),
    (f"{MODULE}:failing_factory", 3, "raised OSError"),
    (f"{MODULE}:failing", 3, "ZeroDivisionError"),
])  # fmt: skip
def test_errors_in_one_line(
    words: str, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert attack(f"service -q {words}") == code
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_mechanisms_are_asked_repeatedly_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert attack(f"soft-majority --epsilon 1,8 -p r=5 {SMALL}") == 4  # two guesses show nothing
    found = json.loads(capsys.readouterr().out)["repeated"]
    assert [[test["m"] for test in each["rungs"]] for each in found] == [[1, 2, 4, 8], [1]]
    assert found[0]["name"] == "soft-majority, epsilon = 1"


def test_a_mechanism_without_pairs_is_asked_at_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert attack(f"{__name__}:Own --epsilon 2 {SMALL}") == 4
    (found,) = json.loads(capsys.readouterr().out)["repeated"]
    assert [test["m"] for test in found["rungs"]] == [1, 2, 4]
    assert all(test["limits"] is None and test["lower"] < test["basic"] for test in found["rungs"])
    assert found["rungs"][-1]["lower"] > 1
    assert "label of record" in found["reason"]


def test_the_record_of_a_service_is_valid_and_makes_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert attack(f"service --records 20 {MODULE}:cached --out {tmp_path}") == 1
    assert "attack.html" in capsys.readouterr().err
    record = record_of(tmp_path)
    assert record["repeated"] == []
    for page in ("attack.html", "attack.md"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert "1 defect found" in text
        assert "cached answers" in text
        assert "Nothing was attacked" not in text
    words = ["report", str(tmp_path / "attack.json"), "--exit-code", "-o", str(tmp_path / "again")]
    assert main(words) == 1
    assert (tmp_path / "again/attack.html").read_bytes() == (tmp_path / "attack.html").read_bytes()
    del record["run"]["service"]
    (tmp_path / "attack.json").write_text(json.dumps(record), encoding="utf-8")
    assert main(["report", str(tmp_path / "attack.json")]) == 2
    assert "attack.json': is damaged" in capsys.readouterr().err
