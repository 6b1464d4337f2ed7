"""docs/section5.md, from the numbers in docs/section5.json."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from scipy.optimize import brentq

from benchmarks.section5.prose import INTRODUCTION, OPEN, OPEN_ROWS, PRINTED, WHY
from benchmarks.section5.sentences import QUOTED
from benchmarks.section5.settings import (
    ALPHAS,
    DELTA,
    FOLDS,
    MEASURES,
    METHODS,
    PAPERS,
    RUNS,
    TABLES,
    Run,
)
from benchmarks.section5.summary import Found, difference, student, values
from dpassay.mechanisms.chaudhuri_vinterbo_2013.objective_perturbation import ObjectivePerturbation

_, CUT_BACK, HUBER = RUNS
TITLES: Final = {
    PAPERS: "Logistic regression, standardised (the paper's figures)",
    CUT_BACK: "Logistic regression, cut back",
    HUBER: "Huberised SVM, standardised (not in the paper)",
}


def page(found: Found) -> str:
    """Write the page."""
    facts = told(found)
    lines = [
        INTRODUCTION.format(**facts),
        "## What the paper says, and what comes out",
        "",
        *sentences(found),
        "",
        WHY.format(**facts),
        OPEN.format(open_rows="\n".join(choices(facts)), **facts),
        PRINTED.format(**facts),
        "## Numbers",
        "",
        "Mean and half the width of Student's interval.",
        "",
        *(line for run in RUNS for line in numbers(found, run)),
    ]
    return "\n".join(lines)


def sentences(found: Found) -> Iterator[str]:
    """Every sentence about the figures beside what comes out in both readings of the scaling."""
    yield "| the paper | looked at | standardised | cut back |"
    yield "|---|---|---|---|"
    for quote, checks in QUOTED:
        for i, check in enumerate(checks):
            came = " | ".join(check.told(found, run) for run in (PAPERS, CUT_BACK))
            yield f"| {f'“{quote}”' if i == 0 else ''} | {check.looked_at} | {came} |"


def choices(facts: dict[str, Any]) -> Iterator[str]:
    """Return what the paper leaves open as a table."""
    yield "| left open | chosen | why |"
    yield "|---|---|---|"
    for row in OPEN_ROWS:
        yield f"| {' | '.join(row).format(**facts)} |"


def numbers(found: Found, run: Run) -> Iterator[str]:
    """A table for each data set and measure of a run."""
    yield from (f"### {TITLES[run]}", "")
    yield f"| data | measure | method | {' | '.join(f'α = {alpha:g}' for alpha in ALPHAS)} |"
    yield "|---|---|---|" + "---|" * len(ALPHAS)
    for table in TABLES:
        for measure in (*MEASURES[run.learner], "index"):
            for method in METHODS:
                each = values(found, run, table, measure, method)
                told = " | ".join(cell(v.mean(axis=1), measure) for v in each)
                yield f"| {table} | {measure} | {method} | {told} |"
    yield ""


def cell(repetitions: Any, measure: str) -> str:
    """Mean ± half the width of the interval."""
    found = student(repetitions)
    digits = 1 if measure == "index" else 3
    wide = found.high - found.mean
    around = f" ± {wide:.{digits}f}" if math.isfinite(wide) else ""
    return f"{found.mean:.{digits}f}{around}"


def told(found: Found) -> dict[str, Any]:
    """Everything that the prose leaves open."""
    size, tables = found["size"], found["tables"]
    return {
        **size,
        "rounds": size["repetitions"] * size["folds"],
        "alphas": ", ".join(f"{alpha:g}" for alpha in ALPHAS),
        "adult_records": tables["Adult"]["records"],
        "adult_share": tables["Adult"]["label 1"],
        "magic_share": tables["Magic"]["label 1"],
        "hadrons": 1 - tables["Magic"]["label 1"],
        "independent": tables["Adult"].get("independent predictors"),
        "stop": tables["Adult"].get("AIC stops at"),
        "plain": "\n".join(without_noise(found)),
        "noise": "\n".join(score_noise(found)),
        "raised": "\n".join(raised(found)),
        "remark": ", ".join(f"{each:+.4f}" for each in remark()),
        **of_the_levels(found),
        **of_the_choice(found),
    }


def of_the_levels(found: Found) -> dict[str, Any]:
    """MSE of predicting the share for everybody, and what Control reaches at the largest alpha."""
    shares = {table: found["tables"][table]["label 1"] for table in TABLES}
    return {
        **{f"constant_{table.lower()}": share * (1 - share) for table, share in shares.items()},
        **{
            f"reached_{table.lower()}": mean_of(found, table, "MSE", "Control", 5.0)
            for table in TABLES
        },
        "svm_error": float(values(found, HUBER, "Adult", "error", "Control")[-1].mean()),
    }


def of_the_choice(found: Found) -> dict[str, Any]:
    """What choosing costs Stability on MAGIC at alpha = 1, and Control on Adult at 0.3."""
    control = difference(found, PAPERS, "Adult", "AUC", ("Control", "Random"))[0]
    fixed = found["runs"][PAPERS.name]["Magic"]["fixed"]["AUC"]
    n, m = sizes(found, "Magic")
    return {
        "control": f"{control.mean:+.3f} ({control.low:+.3f} to {control.high:+.3f})",
        "control_index": mean_of(found, "Adult", "index", "Control", 0.3),
        "magic_stability": mean_of(found, "Magic", "AUC", "Stability", 1.0),
        "magic_alpha_split": mean_of(found, "Magic", "AUC", "alphaSplit", 1.0),
        "magic_best": fixed[ALPHAS.index(0.5)][0],
        "magic_noise": mean_noise(n, m, 1.0),
        "magic_m": m,
        "magic_rarer": math.exp(m / 200),
    }


def mean_of(found: Found, table: str, measure: str, method: str, alpha: float) -> float:
    """Mean over all rounds at one of the alphas, in the paper's run."""
    return float(values(found, PAPERS, table, measure, method)[ALPHAS.index(alpha)].mean())


def mean_noise(n: int, m: int, alpha: float) -> float:
    """Mean of the noise on Stability's scores, 2 beta / alpha_2, with alpha_2 = alpha / 2."""
    beta = max(2 / (min(ObjectivePerturbation().thetas) * n), 1 / m)
    return 4 * beta / alpha


def remark() -> list[float]:
    """Return alpha / k less the solution of alpha = k (e^x - 1) x + sqrt(2 k ln(1 / delta)) x."""
    k = 10

    def left(x: float, alpha: float) -> float:
        return k * math.expm1(x) * x + math.sqrt(2 * k * math.log(1 / DELTA)) * x - alpha

    return [alpha / k - float(brentq(left, 0.0, alpha, args=(alpha,))) for alpha in ALPHAS]


def without_noise(found: Found) -> Iterator[str]:
    """Means without noise at the least, the second and the largest lambda."""
    yield "| scaling | data | AUC at λ = 0.001, 0.112, 1 | MSE at λ = 0.001, 0.112, 1 |"
    yield "|---|---|---|---|"
    for run in (PAPERS, CUT_BACK):
        for table in TABLES:
            plain = found["runs"][run.name][table]["noiseless"]
            cells = (three(plain[measure]) for measure in ("AUC", "MSE"))
            yield f"| {run.scaling} | {table} | {' | '.join(cells)} |"


def three(each: Sequence[float]) -> str:
    """First, second and last."""
    return ", ".join(f"{each[i]:.3f}" for i in (0, 1, -1))


def score_noise(found: Found) -> Iterator[str]:
    """Mean of the noise on Stability's scores at each alpha."""
    yield f"| data | {' | '.join(f'α = {alpha:g}' for alpha in ALPHAS)} |"
    yield "|---|" + "---|" * len(ALPHAS)
    for table in TABLES:
        each = (mean_noise(*sizes(found, table), alpha) for alpha in ALPHAS)
        yield f"| {table} | {' | '.join(f'{noise:.3f}' for noise in each)} |"


def sizes(found: Found, table: str) -> tuple[int, int]:
    """Records of T and of V, but for what does not divide by ten."""
    records = found["tables"][table]["records"]
    return (FOLDS - 2) * records // FOLDS, records // FOLDS


def raised(found: Found) -> Iterator[str]:
    """Trainings that `oplr` runs with a larger lambda, as the extra term is all of their alpha."""
    yield "| run | data | raised |"
    yield "|---|---|---|"
    for run in RUNS:
        for table in TABLES:
            n = sizes(found, table)[0]
            budgets = {
                "Stability": (n, 2),
                "alphaSplit": (n, 10),
                "dataSplit": (n // 10, 1),
                "Random, Control": (n, 1),
            }
            cases = [
                f"{method} at α = {alpha:g}: λ = {theta:g} to {larger:.4f}"
                for method, (records, parts) in budgets.items()
                for alpha in ALPHAS
                for theta, larger in forced(run.learner, alpha / parts, records)
            ]
            yield f"| {TITLES[run].split(' (')[0]} | {table} | {'; '.join(cases) or 'none'} |"


def forced(learner: str, alpha: float, n: int) -> Iterator[tuple[float, float]]:
    """Each lambda that is raised, and to what."""
    trainer = ObjectivePerturbation(oplr=True, loss=learner, alpha=alpha)
    for theta in trainer.thetas:
        larger = trainer.in_force(theta, n)[1]
        if larger != theta:
            yield theta, larger
