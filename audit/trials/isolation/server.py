"""Servers: what answers in another process for an object of the user's code that is made there."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpassay.errors import TargetError, printable
from dpassay.mechanism import offers
from dpassay.targets.adapter import TRAINING, is_trainer
from dpassay.targets.coupled import coupled
from dpassay.targets.guard import AuditTarget
from dpassay.trials.own_coins import alike, seed_anew
from dpassay.trials.portable import portable
from dpassay.trials.tasks import Shard, ShardBrief, TrialRunner
from dpassay.trials.threads import one_thread
from dpassay.trials.written import Drawn, law_json, reachable_json, worst_case_json

MORE_MEMORY = "make it smaller, or allow more with --memory (memory)"
RUNNERS = 4
"""So many are kept open in a process: one per way of counting."""
METHODS = (
    *("check", "update", "distribution", "pairs", "reachable", "symmetries", "towards"),
    "answer_words",
)
"""What a mechanism may define besides `prepare` and `sample`."""


@dataclass(frozen=True, slots=True)
class KeptObject:
    """Something that a method leaves in its process under the key of a handle, and its facts."""

    key: int
    thing: Any
    facts: Any


class Server:
    """Makes an object when it is asked first, and calls its methods."""

    def __init__(self, build: Callable[[], Any]) -> None:
        self._build = build
        self._made: list[Any] = []

    def __call__(self, operation: str, arguments: tuple[Any, ...], objects: dict[int, Any]) -> Any:
        """Do what is asked; `objects` are those that the process keeps."""
        if not self._made:
            self._made.append(self._build())
            one_thread()  # of what has just been imported too
        made = self._made[0]
        if operation == "ready":
            return None
        if operation == "portable":
            return np.frombuffer(portable(getattr(made, "portable", made)), dtype=np.uint8)
        done = self._answer(made, operation, arguments)
        if isinstance(done, KeptObject):
            objects[done.key], done = done.thing, done.facts
        return done

    def _answer(self, made: Any, operation: str, arguments: tuple[Any, ...]) -> Any:
        return getattr(made, operation)(*arguments)


class MechanismServer(Server):
    """Answers what an `Isolated` asks of the mechanism there; it may take so many GiB."""

    def __init__(self, build: Callable[[], AuditTarget], memory: float) -> None:
        def built() -> AuditTarget:
            target = build()
            if not target.seeded:
                seed_anew()
            return target

        super().__init__(built)
        self._memory = memory
        self._runners: deque[tuple[ShardBrief, TrialRunner]] = deque(maxlen=RUNNERS)
        self._answers = ANSWERS | {"run": self._run}

    def __call__(self, operation: str, arguments: tuple[Any, ...], objects: dict[int, Any]) -> Any:
        """Do what is asked; say what helps where memory was too small."""
        try:
            return super().__call__(operation, arguments, objects)
        except TargetError as error:
            raise TargetError(self._hinted(error.cause), error.detail) from error

    def _answer(self, made: Any, operation: str, arguments: tuple[Any, ...]) -> Any:
        """Call the mechanism, or what stands for it where scores are audited."""
        part, *given = arguments
        subject = made if part is None else coupled(made, part)
        return self._answers[operation](subject, *given)

    def _hinted(self, cause: str) -> str:
        more = f"; it may take {self._memory:g} GiB, {MORE_MEMORY}"
        return printable(f"{cause}{more}" if "MemoryError" in cause else cause)

    def _run(self, subject: AuditTarget, brief: ShardBrief, shard: Shard) -> Any:
        new = all(known is not brief for known, _ in self._runners)
        if new:
            runner = TrialRunner(subject, brief.groups, brief.codings, brief.seed)
            self._runners.append((brief, runner))
        runner = next(runner for known, runner in self._runners if known is brief)
        done = runner.run(shard, probe=new)
        failure = None if done.failure is None else (self._hinted(done.failure[0]), done.failure[1])
        return replace(done, failure=failure)


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


def _keep(method: str) -> Callable[..., KeptObject]:
    """Return what leaves in its process the state that a method returns."""

    def answer(subject: AuditTarget, key: int, *given: Any) -> KeptObject:
        return KeptObject(key, getattr(subject, method)(*given), None)

    return answer


ANSWERS: dict[str, Callable[..., Any]] = {
    **{method: _keep(method) for method in ("neighbour", "prepare", "scratch")},
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
    "sample": lambda subject, state, queries, size, rng, where: Drawn.json(
        subject.sample(state, queries, size, rng, where), rng
    ),
    "see": lambda subject, attacked, *given: attacked.seen(subject, *given),
    "symmetries": lambda subject, sides: list(map(str, subject.symmetries(tuple(sides)))),
    "towards": lambda subject, *given: subject.towards(*given),
    "worst_cases": lambda subject: [worst_case_json(case) for case in subject.worst_cases()],
}
"""By the name of what is asked: called with the target and what it is given."""
