"""Audit auditees with `audit()`, an innocent one before and after; a line of JSON for each.

Words: seconds of a limit, then auditees. Ends with 1 if the innocent one is refuted both times.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dpassay import DP, audit, replace_one
from dpassay.errors import DpassayError


def one(name: str, target: str, limit: float) -> Any:
    module, _, attribute = target.partition(":")
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 0, 1])
    found = getattr(import_module(module), attribute)
    try:
        result = audit(
            found() if isinstance(found, type) else found,
            claim=DP(epsilon=1.0),
            pairs=replace_one(X, y, pool=(X + 0.5, 1 - y)),
            queries=[[0.0]],
            budget=300,
            confidence=0.99,
            shard_timeout=limit,
            memory=0.5,
        )
        told = {"verdict": result.verdict, "lower": result.lower, "reason": result.outcome.reason}
    except DpassayError as error:
        told = {"verdict": "refused", "reason": str(error)}
    except Exception as error:  # noqa: BLE001  (a bug, which the next ones must survive)
        told = {"verdict": "a bug", "reason": repr(error)}
    sys.stdout.write(json.dumps({"audited": name, **told}) + "\n")
    sys.stdout.flush()
    return told["verdict"]


def main() -> int:
    limit, *targets = sys.argv[1:]
    sys.path.insert(0, str(Path.cwd()))
    before = one("innocent first", "innocent:near", float(limit))
    for k, target in enumerate(targets):
        one(f"hostile {k}", target, float(limit))
    one("honest", "innocent:fair", float(limit))
    after = one("innocent last", "innocent:near", float(limit))
    return int(before == after == "refuted")


if __name__ == "__main__":
    sys.exit(main())
