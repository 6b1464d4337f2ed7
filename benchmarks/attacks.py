"""What the attacks reach: every attack on trees and logistic regression, unprotected and behind six mechanisms at five losses.

    python benchmarks/attacks.py NAME=attack.json ...

writes docs/attack_results.csv and docs/attack_results.md from records of `dpassay attack`, one per data set and learner.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
COLUMNS = (
    *("experiment", "subject", "claim", "accuracy", "view", "attack", "auc", "auc_low", "auc_high"),
    *("tpr_at_0.01", "tpr_at_0.001", "advantage", "one_run_epsilon", "certified_epsilon", "allowed_epsilon"),
)
HEAD = """# What the attacks reach

Every score attack of `dpassay attack` against the unprotected learner and six mechanisms at five losses of a single answer, as it
came out; nothing was tuned. Made by `python benchmarks/attacks.py` from these runs, which make the same records again:

{commands}

AUC, rates and advantages are estimates over all targets and records of a run; `attack_results.csv` has those of every attack in
every view, the true positive rate at 1 % and at 0.1 % where there are enough non-members (ties broken by a coin), and what is
certified: `one_run_epsilon` of all that a target answered together, `certified_epsilon` of the answers about one record, all of
a run at 99.9 % confidence. Tables show the attack with the highest AUC in any view; the best of many looks better than it is.
"""
TABLE = """
## {name}

{records} records, {references} reference models and {targets} targets; unprotected accuracy {accuracy}. LiRA minus the loss
threshold at an FPR of 1 %, on the scores of the unprotected learner: {paired}.

| subject | accuracy | best attack | AUC | 95 % interval | TPR at 1 % | at 0.1 % | advantage | certified ε ≥ | claim |
|---|---|---|---|---|---|---|---|---|---|
"""


def rows(name: str, record: dict[str, Any]) -> list[dict[str, str]]:
    """One row per subject, view and attack."""
    found = []
    for subject in record["subjects"]:
        claim = "" if subject["claim"] is None else f"{subject['claim']['epsilon']:g}"
        for each in subject["outcomes"]:
            view = each["view"]["name"]
            certified = max(bound["lower"] for bound in subject["certified"] if bound["view"] == view)
            low, high = (each["auc_low"], each["auc_high"])
            values = (each["auc"], low, high, *_rates(each), each["advantage"], each["one_run"]["epsilon"], certified)
            allowed = "" if each["allowed"] is None else f"{each['allowed']['epsilon']:g}"
            facts = (name, subject["name"], claim, f"{subject['accuracy']['mean']:.4f}", view, each["attack"])
            cells = (*facts, *("" if value is None else f"{value:.4f}" for value in values), allowed)
            found.append(dict(zip(COLUMNS, cells, strict=True)))
    return found


def _rates(outcome: dict[str, Any]) -> list[float | None]:
    """Mean over the targets of the true positive rate with a coin on ties."""
    return [None if None in rates else sum(rates) / len(rates) for rates in outcome["tpr_per_target"]]


def facts_of(record: dict[str, Any]) -> dict[str, Any]:
    """What the page says of a run, besides its rows."""
    from dpassay.reports.paired import paired

    base = next(subject for subject in record["subjects"] if subject["claim"] is None)
    lira, simple = (
        next(each for each in base["outcomes"] if each["attack"] == attack and each["view"]["name"] == "scores")
        for attack in ("lira", "loss-threshold")
    )
    gap = paired(lira, simple)
    told = (
        "too few non-members" if gap is None else f"{gap.difference:+.4f}, paired 95 % interval {gap.low:+.4f} to {gap.high:+.4f}"
    )
    run = record["run"]
    sizes = {name: run[name] for name in ("records", "references", "targets")}
    command = re.sub(r"--data \S*/", "--data ", run["command"])  # where the file lay belongs to nobody else
    return sizes | {"command": command, "paired": told, "accuracy": f"{base['accuracy']['mean']:.3f}"}


def page(table: list[dict[str, str]], facts: dict[str, dict[str, Any]]) -> str:
    """The page from the rows of the CSV file and the facts of the runs."""
    commands = "\n".join(f"    {each['command']}" for each in facts.values())
    text = HEAD.format(commands=commands)
    for name, each in facts.items():
        text += TABLE.format(name=name, **each)
        mine = [row for row in table if row["experiment"] == name]
        for subject in dict.fromkeys(row["subject"] for row in mine):
            its = [row for row in mine if row["subject"] == subject]
            best = max(its, key=lambda row: float(row["auc"]))
            certified = max(its, key=lambda row: float(row["certified_epsilon"]))
            rates = (best[rate] or "–" for rate in ("tpr_at_0.01", "tpr_at_0.001"))
            cells = (
                *(subject, best["accuracy"], f"{best['attack']}, {best['view']}", best["auc"]),
                *(f"{best['auc_low']} to {best['auc_high']}", *rates, best["advantage"]),
                *(certified["certified_epsilon"], certified["allowed_epsilon"] or "–"),
            )
            text += f"| {' | '.join(cells)} |\n"
    return text


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="NAME=attack.json")
    table, facts = [], {}
    for run in parser.parse_args().runs:
        name, _, path = run.partition("=")
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        table += rows(name, record)
        facts[name] = facts_of(record)
    written = io.StringIO()
    writer = csv.DictWriter(written, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    (DOCS / "attack_results.csv").write_text(written.getvalue(), encoding="utf-8")
    (DOCS / "attack_results.json").write_text(json.dumps(facts, indent=1, sort_keys=False) + "\n", encoding="utf-8")
    (DOCS / "attack_results.md").write_text(page(table, facts), encoding="utf-8")


if __name__ == "__main__":
    main()
