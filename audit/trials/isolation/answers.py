"""What is asked of a mechanism in another process, as data that can be sent back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from dpassay.errors import TargetError, printable
from dpassay.mechanism import offers
from dpassay.targets.adapter import TRAINING, is_trainer
from dpassay.targets.guard import AuditTarget
from dpassay.trials.own_coins import alike
from dpassay.trials.written import Drawn, law_json, reachable_json, worst_case_json

METHODS = (
    *("check", "update", "distribution", "pairs", "reachable", "symmetries", "towards"),
    "answer_words",
)
"""What a mechanism may define besides `prepare` and `sample`."""


def _describe(subject: AuditTarget) -> dict[str, Any]:
    mechanism = subject.mechanism
    # a promise of GDP has a mu, one of DP has none
    claims = [
        {n: v for n, v in claim.as_json().items() if v is not None} for claim in subject.claims
    ]
    has = [name for name in METHODS if offers(mechanism, name)]
    return {
        "name": subject.name,
        "target": subject.address,
        "parameters": subject.parameters,
        "claims": claims,
        "labels": subject.labels,
        "numbers": subject.numbers,
        "has": [*has, *(TRAINING if is_trainer(mechanism) else ())],
        "without_query": bool(mechanism.without_query),
        "free": bool(mechanism.free),
        "seeded": subject.seeded,
        "together": int(getattr(mechanism, "together", 0)),
        "output": None if subject.output is None else subject.output.as_json(),
        "one_query": bool(mechanism.one_query),
        "exchangeable": subject.exchangeable,
        "declared_in": printable(subject.declared_in),
        "looked_at": str(mechanism.looked_at),
        "fixed_n": None if mechanism.fixed_n is None else int(mechanism.fixed_n),
        "derived_parameters": subject.derived,
        "alone": subject.alone,
    }


def _law(subject: AuditTarget, state: Any, queries: Any, where: str) -> Any:
    law = subject.law(state, queries, where)
    return None if law is None else law_json(law)


def _laws(subject: AuditTarget, datasets: list[tuple[Any, str]], queries: Any) -> list[Any]:
    return [_law(subject, subject.prepare(data), queries, where) for data, where in datasets]


def _encoder(subject: AuditTarget, pilots: Any, size: int, own: str, failures: bool) -> bytes:
    return json.dumps(subject.encoder(pilots, size, own, failures=failures).as_json()).encode()


def _reachable(subject: AuditTarget) -> Any:
    reachable = subject.reachable()
    return None if reachable is None else reachable_json(reachable)


def _check_unchanged(subject: AuditTarget, bases: list[Any], digests: list[str]) -> None:  # noqa: ARG001
    if [base.digest for base in bases] != digests:
        raise TargetError(
            "it changed the dataset that it was given; a mechanism must leave its inputs as "
            "they are"
        )


ANSWERS: dict[str, Callable[..., Any]] = {
    "alike": alike,
    "answer_words": lambda subject, *given: subject.answer_words(*given),
    "check": lambda subject, *given: subject.check(*given),
    "check_unchanged": _check_unchanged,
    "describe": _describe,
    "dimension": lambda subject: subject.dimension,
    "encoder": _encoder,
    "law": _law,
    "laws": _laws,
    "reachable": _reachable,
    "ready": lambda _: None,  # it has been built now
    "sample": lambda subject, state, queries, size, rng, where: Drawn.json(
        subject.sample(state, queries, size, rng, where), rng
    ),
    "see": lambda subject, attacked, *given: attacked.seen(subject, *given),
    "symmetries": lambda subject, sides: list(map(str, subject.symmetries(tuple(sides)))),
    "towards": lambda subject, *given: subject.towards(*given),
    "worst_cases": lambda subject: [worst_case_json(case) for case in subject.worst_cases()],
}
"""By the name of what is asked: called with the target and what it is given."""
