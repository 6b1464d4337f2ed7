"""What `dpassay baseline` and `dpassay compare` do with records of attacks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dpassay.attacks.experiment.certified import Rule
from dpassay.cli.compare import deliver
from dpassay.cli.exit_codes import Exit
from dpassay.cli.records import attack_record
from dpassay.config.load import Config
from dpassay.config.options import OPTIONS
from dpassay.errors import InvalidInput
from dpassay.record.attack_baseline import (
    ATTACK_BASELINE,
    acceptable_attack,
    comparable_attacks,
    read_attack_baseline,
    unseen,
    whole_attack,
)
from dpassay.record.attack_compare import compare_attacks
from dpassay.record.attack_record import BROKEN, is_attack_record, told_of_claims
from dpassay.record.baseline import Judged, judge
from dpassay.record.files import exists
from dpassay.record.kept import replace_baseline

Raw = Mapping[str, Any]
Rules = Mapping[str, Mapping[str, tuple[Rule, ...]]]


def baseline_of(config: Config) -> Path:
    """Return where the baseline of attacks is: as the command line says, else by its own name."""
    return Path(config.baseline if config.said("baseline") else ATTACK_BASELINE)


def accepted_rules(config: Config, facts: Raw) -> Rules:
    """Return the rules of the accepted attack, by subject and view, to be counted again.

    None without a sound baseline of the same experiment; why is told on stderr.

    Parameters
    ----------
    config : Config
    facts : mapping
        Of the experiment that is about to start, as in its record.
    """
    path = baseline_of(config)
    if not exists(path) and not config.said("baseline"):
        return {}
    try:
        record = read_attack_baseline(path)
        known = {name: record["run"][name] for name in facts if name in record["run"]}
        comparable_attacks({"run": known, "subjects": []}, {"run": facts, "subjects": []}, path)
    except InvalidInput as error:
        sys.stderr.write(f"dpassay: {error}; none of its numbers is counted again\n")
        return {}
    found: dict[str, dict[str, tuple[Rule, ...]]] = {}
    for subject in record["subjects"]:
        views = found.setdefault(subject["name"], {})
        for each in subject["certified"]:
            rule = Rule(**{**each["rule"], "threshold": float(each["rule"]["threshold"])})
            if rule.record < facts["records"]:
                views[each["view"]] = (*views.get(each["view"], ()), rule)
    return found


def accept(arguments: argparse.Namespace, config: Config) -> int:
    """Make a record of attacks the baseline, and say of what it can tell nothing."""
    place, record = attack_record(arguments.record)
    baseline = baseline_of(config)
    whole_attack(record, place)
    kept = acceptable_attack(record, place)
    replace_baseline(baseline, kept, is_attack_record, "a record of attacks")
    told = told_of_claims(record)
    for name in (name for name, word in told.items() if word == BROKEN):
        sys.stderr.write(f"dpassay: the claim of {name} is broken: no baseline excuses that\n")
    for each in record["defects"]:
        sys.stderr.write(f"dpassay: {each.get('name')}: no baseline excuses that defect\n")
    for name in unseen(record):
        sys.stderr.write(
            f"dpassay: the claim of {name} {told[name]}: no leak can fail the gate by breaking it\n"
        )
    subjects = max(1, len(record["subjects"]))
    number = "1 subject" if subjects == 1 else f"{subjects} subjects"
    sys.stdout.write(f"{baseline}: {number} of {place}; keep it with your code\n")
    return Exit.NOTHING


def check(arguments: argparse.Namespace, config: Config) -> int:
    """Hold a record of attacks against the baseline."""
    place, record = attack_record(arguments.record)
    whole_attack(record, place)
    path = baseline_of(config)
    old = read_attack_baseline(path)
    comparable_attacks(old, record, path, "baseline")
    comparison = compare_attacks(
        old, record, tolerance=config.tolerance, strict=arguments.estimates
    )
    today = datetime.now(tz=UTC).date()
    judged = judge(comparison, config.suppressions, today)
    folder = arguments.pages or (None if config.out is None else str(place.parent))
    return deliver(judged, place, folder, as_json=arguments.json)


def compare_records(arguments: argparse.Namespace) -> int:
    """Hold one record of attacks against another."""
    old_path, before = attack_record(arguments.old, "OLD")
    new_path, after = attack_record(arguments.new, "NEW")
    whole_attack(before, old_path, "OLD")
    whole_attack(after, new_path, "NEW")
    comparable_attacks(before, after, old_path)
    tolerance = OPTIONS["tolerance"].default if arguments.tolerance is None else arguments.tolerance
    comparison = compare_attacks(before, after, tolerance=tolerance, strict=arguments.estimates)
    judged = Judged(comparison=comparison, open=comparison.regressions)
    return deliver(judged, new_path, arguments.pages, as_json=arguments.json)
