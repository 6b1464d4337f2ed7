"""What the attacks reach.

Every attack on trees and logistic regression, unprotected and behind six mechanisms at five losses.

    python benchmarks/attacks.py NAME=attack.json ...

writes docs/attack_results.csv and docs/attack_results.md from records of `dpassay attack`, one per
data set and learner.
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
    *(
        "tpr_at_0.01",
        "tpr_at_0.001",
        "advantage",
        "one_run_epsilon",
        "one_run_cap",
        "one_run_detectable",
    ),
    *("certified_epsilon", "certified_cap", "certified_detectable", "allowed_epsilon"),
)
SHOWN = (
    *("subject", "accuracy", "best attack", "AUC", "95 % interval", "TPR, 1 %", "0.1 %", "adv."),
    *("ε ≥", "cap", "detectable", "allowed", "claim"),
)
"""Columns of the page's tables."""
HEAD = """# What the attacks reach

This page shows every score attack of `dpassay attack` on the unprotected learner and on six
mechanisms at five claimed losses of a single answer. The results stand as they came out. Nothing
was tuned. `python benchmarks/attacks.py` writes the page from these runs:

{commands}

{made}

The AUC, the rates and the advantage are estimates over all targets and records of a run.
`attack_results.csv` has them for every attack in every view. It also has the true positive rates at
a false positive rate of 1 % and of 0.1 %, where there are enough non-members (a coin breaks ties),
and the certified numbers: `one_run_epsilon` bounds the loss of everything that a target answered,
`certified_epsilon` that of the answers about one record. All certified numbers of a run hold
together with 99.9 % confidence. Beside each stand its cap and its detectable leak. The cap is the
most that so many guesses could have certified. The detectable leak is the smallest one that would
have been certified above the claim with probability 0.9.

The tables show the attack with the highest AUC in any view. The best of many attacks looks better
than it is. The certified number is from the view that could have broken the claim, if there is one.
"""
MADE = "{name}: made with this version. Its command makes the same record again."
TABLE = f"""
## {{name}}

{{records}} records, {{references}} reference models and {{targets}} targets. Accuracy of the \
unprotected
learner: {{accuracy}}. True positive rate of LiRA minus that of the loss threshold, at an FPR of 1 %
on the scores of the unprotected learner: {{paired}}.

| {" | ".join(SHOWN)} |
{"|---" * len(SHOWN)}|
"""


def rows(name: str, record: dict[str, Any]) -> list[dict[str, str]]:
    """One row per subject, view and attack."""
    found = []
    for subject in record["subjects"]:
        claim = "" if subject["claim"] is None else f"{subject['claim']['epsilon']:g}"
        for each in subject["outcomes"]:
            view = each["view"]["name"]
            certified = max(
                (bound for bound in subject["certified"] if bound["view"] == view),
                key=lambda bound: bound["lower"],
            )
            run = (each["one_run"][name] for name in ("epsilon", "cap", "detectable"))
            single = (certified[name] for name in ("lower", "cap", "detectable"))
            values = (
                each["auc"],
                each["auc_low"],
                each["auc_high"],
                *_rates(each),
                each["advantage"],
                *run,
                *single,
            )
            allowed = "" if each["allowed"] is None else f"{each['allowed']['epsilon']:g}"
            facts = (
                name,
                subject["name"],
                claim,
                f"{subject['accuracy']['mean']:.4f}",
                view,
                each["attack"],
            )
            cells = (
                *facts,
                *("" if value is None else f"{float(value):.4f}" for value in values),
                allowed,
            )
            found.append(dict(zip(COLUMNS, cells, strict=True)))
    return found


def _rates(outcome: dict[str, Any]) -> list[float | None]:
    """Mean over the targets of the true positive rate with a coin on ties."""
    return [
        None if None in rates else sum(rates) / len(rates) for rates in outcome["tpr_per_target"]
    ]


def facts_of(name: str, record: dict[str, Any]) -> dict[str, Any]:
    """What the page says of a run, besides its rows."""
    from dpassay.reports.attack.paired import paired

    base = next(subject for subject in record["subjects"] if subject["claim"] is None)
    lira, simple = (
        next(
            each
            for each in base["outcomes"]
            if each["attack"] == attack and each["view"]["name"] == "scores"
        )
        for attack in ("lira", "loss-threshold")
    )
    gap = paired(lira, simple)
    told = (
        "too few non-members"
        if gap is None
        else f"{gap.difference:+.4f}, paired 95 % interval {gap.low:+.4f} to {gap.high:+.4f}"
    )
    run = record["run"]
    sizes = {name: run[name] for name in ("records", "references", "targets")}
    # where the file lay belongs to nobody else
    command = re.sub(r"--data \S*/", "--data ", run["command"])
    return sizes | {
        "command": command,
        "paired": told,
        "accuracy": f"{base['accuracy']['mean']:.3f}",
        "made": MADE.format(name=name),
    }


def page(table: list[dict[str, str]], facts: dict[str, dict[str, Any]]) -> str:
    """The page from the rows of the CSV file and the facts of the runs."""
    commands = "\n".join(f"    {each['command']}" for each in facts.values())
    made = dict.fromkeys(each["made"] for each in facts.values())
    text = HEAD.format(commands=commands, made="\n\n".join(made))
    for name, each in facts.items():
        text += TABLE.format(name=name, **each)
        mine = [row for row in table if row["experiment"] == name]
        for subject in dict.fromkeys(row["subject"] for row in mine):
            its = [row for row in mine if row["subject"] == subject]
            best = max(its, key=lambda row: float(row["auc"]))
            certified = max(its, key=lambda row: (could_see(row), float(row["certified_epsilon"])))
            rates = (best[rate] or "–" for rate in ("tpr_at_0.01", "tpr_at_0.001"))
            cells = (
                *(subject, best["accuracy"], f"{best['attack']}, {best['view']}", best["auc"]),
                *(
                    f"{best['auc_low']} to {best['auc_high']}" if best["auc_low"] else "–",
                    *rates,
                    best["advantage"],
                ),
                *(certified["certified_epsilon"], certified["certified_cap"]),
                *(
                    certified["certified_detectable"].replace("inf", "no leak"),
                    certified["allowed_epsilon"] or "–",
                ),
                "–"
                if not best["claim"]
                else "not broken"
                if could_see(certified)
                else "could not have seen it",
            )
            text += f"| {' | '.join(cells)} |\n"
    return text


def could_see(row: dict[str, str]) -> bool:
    """Whether the certified number of a row could have exceeded what the claim allows."""
    return bool(row["claim"]) and float(row["certified_cap"]) > float(row["allowed_epsilon"])


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "runs", nargs="+", metavar="NAME=attack.json", help="rows of other names stay as they are"
    )
    with (DOCS / "attack_results.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    facts = json.loads((DOCS / "attack_results.json").read_text(encoding="utf-8"))
    for run in parser.parse_args().runs:
        name, _, path = run.partition("=")
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        table = [row for row in table if row["experiment"] != name] + rows(name, record)
        facts[name] = facts_of(name, record)
    table.sort(key=lambda row: list(facts).index(row["experiment"]))
    written = io.StringIO()
    writer = csv.DictWriter(written, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    (DOCS / "attack_results.csv").write_text(written.getvalue(), encoding="utf-8")
    (DOCS / "attack_results.json").write_text(
        json.dumps(facts, indent=1, sort_keys=False) + "\n", encoding="utf-8"
    )
    (DOCS / "attack_results.md").write_text(page(table, facts), encoding="utf-8")


if __name__ == "__main__":
    main()
