"""`dpassay attack service`.

Repeated queries of a service on a real pair, and tenants who compare transcripts.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from dpassay.attacks.repeated.run import Repeated
from dpassay.attacks.services import defects
from dpassay.attacks.services.collusion import attack_service
from dpassay.attacks.services.defects import probe
from dpassay.attacks.services.interface import Service
from dpassay.claims import DP, Claim
from dpassay.cli.main import main
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, TargetError
from dpassay.record.attack_record import attack_schema
from tests.attacks.services import broken_services as broken

MODULE = "tests.attacks.services.broken_services"
WORDS = ["attack", "service", "--records", "20", "-q"]
SMALL = ["--records", "40", "--references", "4", "--models", "2", "--copies", "1"]
SMALL += ["--attacks", "gap", "--against", "mechanism", "--json", "-q", "--budgets", "1"]
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
    """Few openings of each birthday test, and a control that gives up early: see test_suite.py."""
    assert probe.__kwdefaults__ is not None
    monkeypatch.setitem(probe.__kwdefaults__, "openings", 20)
    monkeypatch.setattr(defects, "CONTROL_STAGES", (24, 25))


@pytest.fixture(scope="module")
def data() -> Labelled:
    rng = np.random.default_rng(0)
    return Labelled(rng.normal(size=(20, 2)), rng.integers(0, 2, 20))


def attack(
    factory: object, data: Labelled, *, shared: bool = False, epsilon: float = 1.0, n: int = 300
) -> tuple[Repeated, ...]:
    claim = DP(epsilon=epsilon)
    return attack_service(
        Service(factory, "s"),
        data,
        claim,
        transcripts=n,
        room=16,
        shared=shared,
        alpha=1e-3,
        seed=0,
    )


def test_fresh_noise_grows_and_keeps_its_claim(data: Labelled) -> None:
    """Also where tenants compare what they are told."""
    found, compared = attack(broken.Honest(), data, shared=True)
    assert not any(test.broken for test in compared.tests)
    assert compared.why == ""
    lower = [test.lower.value for test in found.tests]
    assert [test.m for test in found.tests] == [1, 2, 4, 8]
    assert lower[-1] > 2 * lower[0] > 0
    assert not any(test.broken for test in found.tests)
    assert not found.sticky


def test_sticky_noise_is_called_sticky_and_does_not_grow(data: Labelled) -> None:
    (found,) = attack(broken.Sticky(), data)
    lower = [test.lower.value for test in found.tests]
    assert found.sticky
    assert found.why.startswith("sticky")
    assert max(lower) < 1  # one answer is all there is
    assert max(lower) - min(lower) < 0.05


def test_shared_seeds_break_the_claim_and_the_tool_says_why(data: Labelled) -> None:
    alone, compared = attack(broken.Shared(), data, shared=True)
    assert not any(test.broken for test in alone.tests)
    assert compared.tests[0].broken  # m = 1, claimed 1
    assert "coins are shared between users" in compared.why


@pytest.mark.parametrize("kind", [broken.Model, broken.OneModel])
def test_the_seed_of_a_correct_model_is_not_the_attackers(
    kind: type[broken.Honest], data: Labelled
) -> None:
    """Its noise is of training.

    With the victim's seed for S and S', which nobody has, the claim of 1 was certified broken.
    """
    service = kind()
    service.limit = 1
    claim = DP(epsilon=1.0)
    known: dict[str, Any] = {"transcripts": 300, "room": 1, "alpha": 1e-3, "seed": 0}
    alone, compared = attack_service(Service(service, "s"), data, claim, shared=True, **known)
    assert compared.tests[0].broken
    assert not alone.tests[0].broken
    assert (
        len(attack_service(Service(service, "t", seed=1), data, claim, shared=False, **known)) == 1
    )


def test_a_correct_model_is_not_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*WORDS, "--epsilon", "1", "--transcripts", "200"]
    assert main([*words, f"{MODULE}:model", "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "no defects" in told
    assert "remark: one draw" in told
    assert "claim broken" not in told
    assert "Remark: one draw" in (tmp_path / "attack.md").read_text(encoding="utf-8")
    (found,) = json.loads((tmp_path / "attack.json").read_text(encoding="utf-8"))["repeated"]
    assert all(test["lower"] <= 1 for test in found["rungs"])


def test_the_command_of_a_record_says_what_variables_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variables decide on seed and confidence.

    A command without them was none that makes the record again.
    """
    words = [*WORDS, f"{MODULE}:tells_query", "--out", str(tmp_path)]
    said = {"SEED": "3", "CONFIDENCE": "0.95", "JOBS": "2", "BUDGET": "200", "TOLERANCE": "0.5"}
    for name, value in said.items():
        monkeypatch.setenv(f"DPASSAY_{name}", value)
    assert main(words) == 1
    record = json.loads((tmp_path / "attack.json").read_text(encoding="utf-8"))
    for name in said:
        monkeypatch.delenv(f"DPASSAY_{name}")
    again = shlex.split(record["run"]["command"])
    assert again[:5] == ["dpassay", "attack", "service", "--confidence=0.95", "--seed=3"]
    broken.tells_query.__init__()  # type: ignore[misc]  # nobody has been there
    assert main([*again[1:], "-q", "--out", str(tmp_path / "again")]) == 1
    replayed = json.loads((tmp_path / "again" / "attack.json").read_text(encoding="utf-8"))
    assert replayed == record


def test_a_service_says_whether_its_seed_is_shared() -> None:
    assert Service(broken.Declared(), "s").shares_seed
    assert not Service(broken.Shared(), "s").shares_seed
    odd = broken.Honest()
    odd.shared_seed = "yes"  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match=r"s\.shared_seed = 'yes': must be True or False"):
        Service(odd, "s").shares_seed  # noqa: B018


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("deaf", "no change of its answers"),
        ("majority", "the randomness of its answers could not be"),
    ],
)
def test_what_was_not_looked_at_is_no_clean_bill(
    name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*WORDS, f"{MODULE}:{name}", "--out", str(tmp_path)]
    assert main([*words, "--allow-inconclusive"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"{MODULE}:{name}: inconclusive, ")
    assert said in told
    assert "no defects" not in told
    page = (tmp_path / "attack.md").read_text(encoding="utf-8")
    assert "not everything could be examined" in page
    # another seed makes other users
    assert main([*words, "--seed", "1", "--epsilon", "1", "--transcripts", "200"]) == 4
    shown, page = capsys.readouterr().out, (tmp_path / "attack.md").read_text(encoding="utf-8")
    assert "not broken" not in shown
    assert "  not examined\n" in shown
    assert (
        "1 claim, 0 broken, 0 not broken (could have seen it), 0 could not have been seen, 1 "
        "not examined"
    ) in page
    assert "The claim was not examined: " in page
    assert said in page
    assert "did not break" not in page


def test_a_wrong_claim_is_broken(data: Labelled) -> None:
    service = broken.Honest()
    service.epsilon = 4.0
    (found,) = attack(service, data, n=150)
    assert any(test.broken for test in found.tests)


def test_refused(data: Labelled) -> None:
    with pytest.raises(InvalidInput, match="--transcripts"):
        attack(broken.Honest(), data, n=3)
    with pytest.raises(InvalidInput, match="two labels"):
        attack(broken.Honest(), Labelled(data.X, np.zeros(20)))  # type: ignore[arg-type]
    short = broken.Honest()
    short.limit = 3
    with pytest.raises(TargetError, match="refused after 3 answers"):
        attack(short, data)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = [*WORDS, "--transcripts", "200", "--epsilon", "1"]
    assert main([*said, f"{MODULE}:honest"]) == 0
    told = capsys.readouterr().out
    assert "no defects" in told
    assert "claimed" in told
    assert main([*said, f"{MODULE}:shared", "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    (alone,) = record["repeated"]  # it does not say that others have its seed
    assert not any(test["broken"] for test in alone["rungs"])
    assert main([*said, f"{MODULE}:declared", "--out", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "seed shared between users" in told
    assert "claim broken" in told
    record = json.loads((tmp_path / "attack.json").read_text(encoding="utf-8"))
    assert record["schema"] == "dpassay/attack/1"
    assert [each["name"] for each in record["defects"]] == ["seed shared between users"]
    assert len(record["repeated"]) == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere:x"], 2, "cannot import 'nowhere'"),
        (["nowhere"], 2, "module:object"),
        ([f"{MODULE}:nothing"], 2, "has no 'nothing'"),
        ([f"{MODULE}:np"], 2, "must be a callable"),
        ([f"{MODULE}:honest", "--epsilon", "1,2"], 2, "--epsilon = '1,2'"),
        ([f"{MODULE}:honest", "--epsilon", "-1"], 2, "--epsilon = '-1'"),
        ([f"{MODULE}:honest", "--epsilon", "1", "--transcripts", "5"], 2, "--transcripts = 5"),
        ([f"{MODULE}:honest", "soft-majority"], 2, "soft-majority: no such option or argument"),
        ([f"{MODULE}:honest", "-p", "r=5"], 2, "-p: no such option or argument"),
        ([f"{MODULE}:failing_factory"], 3, "raised OSError"),
        ([f"{MODULE}:askless"], 3, "expected a session"),
        ([f"{MODULE}:failing"], 3, "ZeroDivisionError"),
        ([f"{MODULE}:honest", "--transcripts", "9"], 2, "--transcripts = 9"),
    ],
)
def test_errors_in_one_line(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["attack", "service", "-q", *words]) == code
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_mechanisms_are_asked_repeatedly_too(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["attack", "soft-majority", "--epsilon", "1,8", "-p", "r=5", *SMALL]
    assert main([*small, "--transcripts", "1000"]) == 4  # two guesses could have shown nothing
    record = json.loads(capsys.readouterr().out)
    assert [[test["m"] for test in each["rungs"]] for each in record["repeated"]] == [
        [1, 2, 4, 8],
        [1],
    ]
    assert record["repeated"][0]["name"] == "soft-majority, epsilon = 1"
    assert main([*small, "--transcripts", "0"]) == 4
    assert json.loads(capsys.readouterr().out)["repeated"] == []


def test_a_mechanism_without_pairs_is_asked_at_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["attack", f"{__name__}:Own", "--epsilon", "2", *SMALL, "--transcripts", "1000"]
    assert main(words) == 4
    (found,) = json.loads(capsys.readouterr().out)["repeated"]
    assert [test["m"] for test in found["rungs"]] == [1, 2, 4]
    assert all(test["limits"] is None and test["lower"] < test["basic"] for test in found["rungs"])
    assert found["rungs"][-1]["lower"] > 1
    assert "label of record" in found["reason"]


def test_the_record_of_a_service_is_valid_and_makes_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["attack", "service", "--records", "30", f"{MODULE}:cached", "--out", str(tmp_path)]
    assert main(words) == 1
    assert "attack.html" in capsys.readouterr().err
    record = json.loads((tmp_path / "attack.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(attack_schema()).validate(record)
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
