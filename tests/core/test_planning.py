"""How many trials a wanted loss takes: enough, and hardly more than enough."""

from __future__ import annotations

import json

import pytest

from dpassay.claims import DP
from dpassay.cli import main
from dpassay.errors import InvalidInput
from dpassay.lower_bounds import Method
from dpassay.planning import draws_needed
from dpassay.power import detectable


@pytest.mark.parametrize("method", ["stouffer", "clopper-pearson", "accuracy"])
@pytest.mark.parametrize(("epsilon", "delta", "detect"), [(1.0, 0.0, 1.1), (0.1, 0.0, 0.2), (1.0, 0.01, 1.3)])
def test_enough_and_hardly_more(epsilon: float, delta: float, detect: float, method: Method) -> None:
    n = draws_needed(DP(epsilon=epsilon, delta=delta), detect, 0.05, method)
    assert detectable(epsilon=epsilon, delta=delta, n=n, alpha=0.05, method=method) <= detect
    assert detectable(epsilon=epsilon, delta=delta, n=int(0.97 * n), alpha=0.05, method=method) > detect


@pytest.mark.parametrize(
    ("detect", "said"), [(1.0, "above the claim, 1"), (0.5, "above the claim, 1"), (1 + 1e-6, "trials show it")]
)
def test_losses_that_cannot_be_planned(detect: float, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        draws_needed(DP(epsilon=1.0), detect, 0.05)


def test_plan_on_the_command_line_is_what_a_run_then_detects(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["soft-majority", "-p", "r=5", "--train", "20", "--queries", "2"]
    assert main(["plan", *sizes, "--detect", "1.3", "--json"]) == 0
    (need,) = json.loads(capsys.readouterr().out)
    run = ["run", *sizes, "--mode", "monte-carlo", "--budget", str(need["draws"]), "--json", "-q"]
    assert main(run) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert result["detectable"] <= 1.3 + 1e-9
    assert 0.5 < result["trials"] / need["trials"] < 2
    assert main(["plan", *sizes]) == 0
    assert capsys.readouterr().out.count(" s\n") == 5
