"""Saved signals: what models that somebody else has trained showed, attacked from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from dpassay.attacks.experiment.metrics import auc, delong
from dpassay.attacks.user_models.estimates import estimate, shift_of
from dpassay.attacks.user_models.signals import KINDS, Signals, given_of, observed
from dpassay.cli.main import main
from dpassay.errors import InvalidInput
from tests.attacks.command import attack, record_of

MODELS, RECORDS = 24, 120


def saved(seed: int = 0, leak: float = 1.5, shift: float = 0.0) -> dict[str, Any]:
    """Log-odds of records that differ in difficulty; a member gains `leak`."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 2, RECORDS)
    member = rng.random((MODELS, RECORDS)) < (0.5 if not shift else 1 / (1 + np.exp(-shift * hard)))
    noise = rng.normal(size=member.shape)
    return {"scores": hard + leak * member + noise, "membership": member}


def reached(found: Any, name: str) -> float:
    return next(float(each.auc) for each in found.outcomes if each.attack == name)


def attacked(**arrays: Any) -> Any:
    return estimate(given_of(Signals(**arrays), "mine"))[0]


def test_the_three_kinds_are_the_same_signals() -> None:
    logit = saved()["scores"]
    probability = 1 / (1 + np.exp(-logit))
    kinds = dict(zip(KINDS, (probability, logit, -np.log(probability)), strict=True))
    for kind, scores in kinds.items():
        np.testing.assert_allclose(observed(scores, kind).phi, logit, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(observed(scores, kind).own, probability)
        assert Signals(scores=scores, membership=saved()["membership"]).kind == kind


def test_large_scores_are_not_cut_off() -> None:
    assert observed(np.array([[900.0, 30.0]]), "logit").phi.tolist() == [[900.0, 30.0]]
    phi = observed(np.array([[1000.0, 50.0, 0.0]]), "loss").phi[0]
    np.testing.assert_allclose(phi[:2], [-1000, -50])
    assert np.isfinite(phi[2])
    assert phi[2] > 20


def test_lira_sees_the_records_that_the_loss_threshold_averages_away() -> None:
    found = attacked(**saved(), targets=8)
    assert reached(found, "lira") > 0.8
    assert reached(found, "lira") > reached(found, "loss-threshold") + 0.05
    assert found.certified == {}
    assert all(each.one_run is None for each in found.outcomes)
    # Gaussian log-odds a distance of leak apart: Phi(leak / sqrt 2)
    best = float(scipy.stats.norm.cdf(1.5 / np.sqrt(2)))
    assert abs(reached(found, "lira") - best) < 0.05


def test_nothing_leaks_where_membership_changes_nothing() -> None:
    found = attacked(**saved(leak=0.0), targets=8)
    for each in found.outcomes:
        low, high = each.auc_interval
        assert low - 0.02 <= 0.5 <= high + 0.02, each.attack


def test_members_who_differ_by_themselves_are_told() -> None:
    """No leak, but easy records are members more often: a loss threshold looks like an attack."""
    found, facts = estimate(given_of(Signals(**saved(leak=0.0, shift=1.0), targets=8), "mine"))
    assert reached(found, "loss-threshold") > 0.7
    assert facts["shift"]["low"] > 0.6
    fair = estimate(given_of(Signals(**saved(), targets=8), "mine"))[1]["shift"]
    assert fair["low"] <= 0.5 <= fair["high"]


def test_only_models_without_a_record_tell_whether_members_are_alike() -> None:
    """What models show of records that they were trained on does not count."""
    inside = np.tile([[True], [False]], (4, RECORDS))
    member = np.arange(RECORDS)[None] % 2 == 0
    noise = np.random.default_rng(5).normal(size=inside.shape)
    for given_away, least, most in ((inside, 0.3, 0.7), (~inside, 0.99, 1.0)):
        found = shift_of(observed(noise + 20 * (given_away & member), "logit"), inside, member)
        assert found is not None
        assert least <= found.auc <= most
    assert shift_of(observed(noise, "logit"), np.ones_like(inside), member) is None


def test_one_model_alone_has_the_attacks_that_need_no_other() -> None:
    one = {name: array[:1] for name, array in saved().items()}
    found, facts = estimate(given_of(Signals(**one), "m"))
    assert [each.attack for each in found.outcomes] == ["loss-threshold"]
    low, high = found.outcomes[0].auc_interval
    assert 0.5 < low < found.outcomes[0].auc < high < 1
    assert facts["shift"] is None
    assert "lira: needs reference models" in facts["left_out"]


def test_delong_is_the_variance_of_placements() -> None:
    rng = np.random.default_rng(3)
    members, others = rng.normal(0.7, 1, 40), rng.normal(0, 1, 55)
    wins = (members[:, None] > others).astype(float)  # continuous: no ties
    error = np.sqrt(wins.mean(axis=1).var(ddof=1) / 40 + wins.mean(axis=0).var(ddof=1) / 55)
    half, area = scipy.stats.norm.ppf(0.975) * error, auc(members, others)
    np.testing.assert_allclose(delong(members, others), (area - half, area + half))
    assert delong([1.0], [0.0, 2.0]) == (0.0, 1.0)


def test_offline_attacks_need_models_without_a_record_only() -> None:
    arrays = saved()
    arrays["membership"][:18, 7] = False
    given = given_of(Signals(**arrays, targets=6), "mine")
    facts = estimate(given)[1]
    assert "lira: needs reference models with every record; record 7 has none" in facts["left_out"]
    assert not any(each.startswith("lira-offline") for each in facts["left_out"])
    with pytest.raises(InvalidInput, match="--attacks = lira: needs reference models with every"):
        estimate(given, ["lira"])


def changed(**new: Any) -> dict[str, Any]:
    return saved() | new


def with_(name: str, place: tuple[int, int], value: float) -> dict[str, Any]:
    arrays = saved()
    arrays[name] = arrays[name].astype(float)
    arrays[name][place] = value
    return arrays


SHAPE = (MODELS, RECORDS)


@pytest.mark.parametrize(("arrays", "said"), [
    (with_("scores", (2, 3), np.nan), "scores[2, 3] = nan: must be a finite number"),
    (with_("membership", (1, 4), 2), "membership[1, 4] = 2: must be true or false"),
    (with_("membership", (1, 4), np.nan), "membership[1, 4] = nan: must be true or false"),
    (changed(membership=np.ones(SHAPE)), "membership[18] = all true: must have members and non"),
    (changed(membership=np.zeros(SHAPE)), "membership[18] = all false: must have"),
    (changed(membership=np.ones((3, 5))), "membership = 'shape (3, 5)': must be of shape (24, 1"),
    (changed(scores=np.zeros(9)), "scores = 'shape (9,)': must be of shape (models, records)"),
    (changed(scores=np.zeros((0, 9))), "scores = 'shape (0, 9)': must be of shape"),
    (changed(scores=[["a", "b"]]), "scores: must be numbers"),
    (changed(kind="score"), "kind = 'score': must be one of probability, logit, loss"),
    (changed(kind="probability"), "scores[0, 0] = "),
    (changed(targets=25), "targets = 25: must be an integer in 1..24"),
    (changed(labels=np.zeros(3)), "labels = 'shape (3,)': must be of shape (120,)"),
    (changed(labels=np.arange(RECORDS) - 1), "labels = 'int64 from -1': must be integers >= 0"),
])  # fmt: skip
def test_hostile_arrays_are_refused(arrays: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as error:
        Signals(**arrays)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def lines(arrays: dict[str, Any], *, skip: int = -1, twice: int = -1) -> str:
    told = ["model,record,member,logit"]
    for i, j in np.ndindex(arrays["scores"].shape):
        member, score = int(arrays["membership"][i, j]), float(arrays["scores"][i, j])
        line = f"m{i},r{j},{member},{score!r}"
        k = i * RECORDS + j
        told += [] if k == skip else [line, line] if k == twice else [line]
    return "\n".join(told) + "\n"


def test_a_table_and_arrays_give_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("s.npz", **saved())
    Path("s.csv").write_text(lines(saved()))
    records = []
    for name in ("s.npz", "s.csv"):
        words = f"signals -q {name} --models 8 --attacks lira,loss-threshold,rmia --out out"
        assert attack(words) == 0
        records.append(record_of(Path("out")))
        told = " ".join(capsys.readouterr().out.split())
        assert "8 models, already trained, were attacked" in told
        assert "nothing is certified" in told
        assert "'ε ≥' is certified" not in told
    assert records[0]["subjects"][0]["outcomes"] == records[1]["subjects"][0]["outcomes"]
    page = Path("out/attack.html").read_text()
    assert "all numbers are estimates" in page
    assert main(["report", "out", "--format", "md", "--out", "again"]) == 0
    assert Path("again/attack.md").read_text() == Path("out/attack.md").read_text()


@pytest.mark.parametrize(("words", "said"), [
    ("none.npz", "FILE = 'none.npz': must be an existing .npz or .csv file"),
    ("note.txt", "FILE = 'note.txt': must be a file .npz (arrays) or .csv"),
    ("torn.npz", "FILE = 'torn.npz': cannot be read as .npz"),
    ("pickled.npz", "cannot be read as .npz (Object arrays cannot be loaded"),
    ("bare.npz", "has no array 'membership', which it must have; it has scores"),
    ("two.npz", "must have one array scores, probability, logit or loss; it has"),
    ("gap.csv", "has 0 lines of model m0 and record r5; must have one line"),
    ("twice.csv", "has 2 lines of model m0 and record r5; must have one line"),
    ("s.npz --models 25", "--models = 25: must be an integer in 1..24"),
    ("s.npz --attacks gap", "--attacks = gap: needs what was seen of all labels"),
    ("s.npz --epsilon 1", "--epsilon: no such option or argument"),
    ("s.npz --signal loss", "must be a number >= 0, as kind is loss"),
    ("--signal loss", "FILE: is missing"),
])  # fmt: skip
def test_hostile_files_are_refused_in_one_line(
    words: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    arrays = saved()
    np.savez("s.npz", **arrays)
    np.savez("bare.npz", scores=arrays["scores"])
    np.savez("two.npz", loss=arrays["scores"], **arrays)
    Path("torn.npz").write_bytes(Path("s.npz").read_bytes()[:300])
    np.savez("pickled.npz", scores=np.array([object()]), membership=[1])
    Path("note.txt").write_text("scores")
    Path("gap.csv").write_text(lines(arrays, skip=5))
    Path("twice.csv").write_text(lines(arrays, twice=5))
    assert attack(f"signals -q --out out {words}") == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.count("\n") == 1
    assert not Path("out").exists()


def test_the_record_says_what_was_left_out(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", **saved(), labels=np.arange(RECORDS) % 3)
    out = tmp_path / "out"
    assert attack(f"signals -q {tmp_path / 's.npz'} --out {out}") == 0
    record = record_of(out)
    assert record["run"]["targets"] == 6
    assert record["run"]["references"] == 18
    assert {each.split(":")[0] for each in record["run"]["signals"]["left_out"]} >= {"gap"}
    slices = [each["slice"] for each in record["subjects"][0]["slices"]]
    assert slices == ["label 0", "label 1", "label 2"]
