"""Rules of an accepted attack, which every later attack of the same records counts again."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from dpassay.attacks.experiment.certified import Rule
from dpassay.cli.gate.actions import baseline_in
from dpassay.config.load import Config
from dpassay.errors import InvalidInput
from dpassay.record.baseline import require_same
from dpassay.record.files import exists
from dpassay.record.kinds import ATTACKS

Raw = Mapping[str, Any]
Rules = Mapping[str, Mapping[str, tuple[Rule, ...]]]


def accepted_rules(config: Config, facts: Raw) -> Rules:
    """Return the rules of the accepted attack, by subject and view, to be counted again.

    None without a sound baseline of the same experiment; why is told on stderr.
    """
    path = baseline_in(ATTACKS, config)
    if not exists(path) and not config.said("baseline"):
        return {}
    try:
        record = ATTACKS.accepted(path)
        known = {name: record["run"][name] for name in facts if name in record["run"]}
        one, other = (record | {"run": run} for run in (known, facts))
        require_same(one, other, path)
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
