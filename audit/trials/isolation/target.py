"""Isolated targets: their mechanism is built and runs in another process, and is checked here."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, spelled
from dpassay.data import points
from dpassay.errors import InvalidInput, TargetError, printable
from dpassay.laws import Law
from dpassay.mechanism import FunctionMechanism, Reachable, WorstCase, offers
from dpassay.pairs import Change
from dpassay.search.declared import output_from_json
from dpassay.search.outputs import Encoder, encoder_from_json
from dpassay.targets.adapter import TRAINING, full, given, is_trainer
from dpassay.targets.coupled import Coupled, coupled
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import Array, AuditTarget, Pilot
from dpassay.targets.importing import is_own
from dpassay.targets.resolve import AnswerKind, can_be_rebuilt, expected
from dpassay.trials.isolation.host import GARBLED, Handle, Hosts, LostProcess
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.own_coins import alike, seed_anew
from dpassay.trials.portable import portable, read
from dpassay.trials.tasks import Shard, ShardBrief, TrialRunner
from dpassay.trials.threads import one_thread
from dpassay.trials.wire import line_of
from dpassay.trials.written import (
    ANSWERS,
    Description,
    Drawn,
    law_from,
    law_json,
    reachable_from,
    reachable_json,
    worst_case_from,
    worst_case_json,
)

T = TypeVar("T")
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
        if operation == "run":
            return self._run(subject, *given)
        if operation in ("neighbour", "pilot", "prepare", "scratch"):  # its state is left there
            key, *rest = given
            return KeptObject(key, getattr(subject, operation)(*rest), None)
        return ANSWERED[operation](subject, *given)

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


def _or_none(write: Callable[[Any], Any], found: Any) -> Any:
    return None if found is None else write(found)


def _check_unchanged(subject: AuditTarget, bases: list[Any], digests: list[str]) -> None:  # noqa: ARG001
    if [base.digest for base in bases] != digests:
        raise TargetError(
            "it changed the dataset that it was given; a mechanism must leave its inputs as "
            "they are"
        )


ANSWERED: dict[str, Callable[..., Any]] = {
    "alike": alike,
    "answer_words": lambda subject, *given: subject.answer_words(*given),
    "check": lambda subject, *given: subject.check(*given),
    "check_unchanged": _check_unchanged,
    "describe": _describe,
    "dimension": lambda subject: subject.dimension,
    "encoder": lambda subject, pilots, own, failures: json.dumps(
        subject.encoder(pilots, own, failures=failures).as_json()
    ).encode(),
    "law": lambda subject, *given: _or_none(law_json, subject.law(*given)),
    "laws": lambda subject, datasets, queries: [
        _or_none(law_json, subject.law(subject.prepare(data), queries, where))
        for data, where in datasets
    ],
    "reachable": lambda subject: _or_none(reachable_json, subject.reachable()),
    "sample": lambda subject, state, queries, size, rng, where: Drawn.json(
        subject.sample(state, queries, size, rng, where), rng
    ),
    "see": lambda subject, attacked, *given: attacked.seen(subject, *given),
    "symmetries": lambda subject, sides: list(map(str, subject.symmetries(tuple(sides)))),
    "towards": lambda subject, *given: subject.towards(*given),
    "worst_cases": lambda subject: [worst_case_json(case) for case in subject.worst_cases()],
}
"""By the name of what is asked: called with the target and what it is given."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Isolated(AuditTarget):
    """A target whose mechanism is only called in another process.

    `mechanism` has the members that it has `there`, but they do nothing.
    """

    hosts: Hosts
    there: object

    @property
    def part(self) -> Claim | None:
        """The claim about scores for which the mechanism there is only a trainer."""
        mechanism: object = self.mechanism
        return (
            mechanism.claim
            if isinstance(mechanism, Coupled) and mechanism is not self.there
            else None
        )

    def check(self, data: Any) -> None:
        """Raise `InvalidInput` if the mechanism says that it can never take these data."""
        if not offers(self.mechanism, "check"):
            return
        try:
            self._ask("check", "check", data, known=(data,))
        except TargetError:
            return  # the next call says it

    def prepare(self, data: Any) -> Any:
        """Return what stands for the state of a dataset."""
        return self._state("prepare on the base dataset", "prepare", data, known=(data,))

    def neighbour(self, data: Any, state: Any, change: Change) -> Any:
        """Return what stands for the state of the changed dataset."""
        what = f"prepare on the neighbour with {change}"
        return self._state(what, "neighbour", data, state, change, known=(data,))

    def scratch(self, data: Any, change: Change) -> Any:
        """Return what stands for the state of the changed dataset, prepared without `update`."""
        what = f"prepare on the neighbour with {change}"
        return self._state(what, "scratch", data, change, known=(data,))

    def law(self, state: Any, queries: Array, where: str) -> Law | None:
        """Return the exact law at the queries; None where this dataset has none."""
        if not self.has_law:
            return None
        told = self._ask(f"distribution on {where}", "law", state, queries, where, known=(queries,))
        law = None if told is None else self._read(law_from, told, "distribution")
        self.answers.check_law(law, len(queries), where)
        return law

    def sample(
        self, state: Any, queries: Array, size: int, rng: np.random.Generator, where: str
    ) -> NDArray[Any]:
        """Return trials, see `AuditTarget.sample`; `rng` goes on as it did in the other process."""
        told: Drawn = self._ask(
            f"sample on {where}", "sample", state, queries, size, rng, where, known=(queries,)
        )

        told.move(rng)
        self.answers.check(told.draws, size, len(queries), where)
        return np.asarray(told.draws)

    def see(self, subject: Any, data: Any, points: Any, rng: np.random.Generator) -> Any:
        """Return what the subject of an attack, sent once without its target, sees there."""
        where = "a target's training set"
        return self._ask(where, "see", subject, data, points, rng, known=(subject, points))

    def pilot(self, asked: Pilot, size: int) -> Any:
        """Return what stands for the answers on a dataset."""
        return self._state("sample on a pilot dataset", "pilot", asked, size, known=())

    def encoder(self, pilots: Sequence[Any], own: str = "", *, failures: bool = False) -> Encoder:
        """Fit the encoder of its answers, in the other process."""
        told = self._ask("sample on a pilot dataset", "encoder", list(pilots), own, failures)
        return self._read(lambda text: encoder_from_json(json.loads(text)), told, "sample")

    def alike(self, datasets: Sequence[Any], queries: Array) -> int:
        """Return how many datasets give the same answers; see `dpassay.trials.own_coins`."""
        return int(self._ask("sample on some datasets", "alike", list(datasets), queries))

    def answer_words(self, answer: int, query: Array) -> str:
        """Describe an answer at a query; empty if the mechanism does not, or is gone."""
        if not offers(self.mechanism, "answer_words"):
            return ""
        try:
            return str(self._ask("answer_words", "answer_words", answer, query, known=(query,)))
        except TargetError:
            return ""

    def worst_cases(self) -> tuple[WorstCase, ...]:
        """Return the pairs that the mechanism itself names."""
        if not self.has_worst_cases:
            return ()
        told = self._ask("pairs", "worst_cases")
        return tuple(self._read(worst_case_from, each, "pairs") for each in told)

    def reachable(self) -> Reachable | None:
        """Return the reachable states, where the mechanism knows them."""
        told = self._ask("reachable", "reachable") if self.has_reachable else None
        return None if told is None else self._read(reachable_from, told, "reachable")

    @property
    def dimension(self) -> int:
        """Number of coordinates of the vector that it releases; 0 where it releases none."""
        if self.numbers is None or not offers(self.mechanism, "towards"):
            return 0
        return int(self._ask("dimension", "dimension"))

    def symmetries(self, sides: tuple[int, ...]) -> tuple[str, ...]:
        """Return how a domain with these sides may be relabelled, as the mechanism declares."""
        offered = offers(self.mechanism, "symmetries")
        return tuple(self._ask("symmetries", "symmetries", sides)) if offered else ()

    def towards(self, directions: Array, columns: int) -> Array:
        """Return read-only queries for the released vector's coordinates along directions."""
        asked = self._ask("towards", "towards", directions, columns)
        found = self._read(lambda told: points(told, "towards"), asked, "towards")
        return self._checked_directions(found, len(directions), columns)

    def check_unchanged(self, groups: tuple[PairGroup, ...]) -> None:
        """Raise `TargetError` if the mechanism has written into a dataset that it was lent."""
        bases = [group.pairs.base for group in groups]
        digests = [group.digest for group in groups]
        self._ask("its datasets", "check_unchanged", bases, digests, known=bases)

    def __reduce__(self) -> tuple[Any, ...]:
        """On another machine it is the target itself: all that runs there is the user's."""
        return read, (self.hosts.portable(), "of Dask")

    def _state(self, what: str, operation: str, *arguments: Any, known: Iterable[Any]) -> Handle:
        state = self.hosts.first(what).keep()
        self._ask(what, operation, state.key, *arguments, known=known)
        return state

    def _ask(self, what: str, operation: str, *arguments: Any, known: Iterable[Any] = ()) -> Any:
        """Have something done in the other process."""
        kind = ANSWERS[operation]
        return self.hosts.ask(kind, what, operation, self.part, *arguments, known=known)

    @staticmethod
    def _read(read: Callable[[Any], T], told: Any, method: str) -> T:
        try:
            return read(told)
        except Exception as error:  # noqa: BLE001  (whatever it does to its reader)
            raise TargetError(
                f"{method} returned something that cannot be read ({line_of(error)})"
            ) from None


def is_foreign(target: AuditTarget) -> bool:
    """Return whether a mechanism runs code that does not come with this package, or may."""
    mechanism = target.given
    mechanism = given(mechanism.trainer) if isinstance(mechanism, Coupled) else mechanism
    if isinstance(mechanism, FunctionMechanism):
        return getattr(mechanism.function, "__module__", None) is None or not _ours(
            mechanism.function.__module__
        )
    # it runs what its parameters say, or is called in another process already
    if getattr(mechanism, "foreign", False) or isinstance(target, Isolated):
        return True
    named = any(isinstance(value, str) and ":" in value for value in target.parameters.values())
    return not _ours(type(mechanism).__module__) or named or not can_be_rebuilt(mechanism)


def _ours(module: str) -> bool:
    return module.partition(".")[0] == "dpassay"


def isolated(target: AuditTarget, limits: Limits, groups: Sequence[PairGroup]) -> Isolated:
    """Return a target of this process as one called only in another, which has the same groups."""
    server = MechanismServer(lambda: target, limits.memory)
    shared = [
        each
        for group in groups
        for each in (group, group.pairs, group.pairs.base, group.queries, *group.pairs.changes)
    ]
    return _in_hosts(target, Hosts(target.name, server, limits, shared))


def introduced(
    name: str,
    build: Callable[[], AuditTarget],
    limits: Limits,
    fallback: AuditTarget | None = None,
    *,
    address: str | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    answers: AnswerKind | None = None,
    lost: AuditTarget | None = None,
) -> Isolated:
    """Return a target that is built in another process only: nothing of its code is imported here.

    What the user said of it is not taken from that process: its name, address and parameters, what
    it answers and, in the fallback, which claim it makes. Where its process fails, or says what is
    no description, the fallback stands for it, so that every audit of it ends as `error`; `lost`
    does where no claim was named.
    """
    hosts = Hosts(name, MechanismServer(build, limits.memory), limits, bare=True)
    try:
        facts: Description = hosts.ask(Description, f"importing {name}", "describe", None)
        try:
            return _described(name, address, parameters, answers, fallback, facts, hosts)
        except (InvalidInput, TargetError):
            raise
        except Exception as error:  # noqa: BLE001  (whatever it does to its reader)
            raise LostProcess(f"importing {name}: {GARBLED} ({line_of(error)})") from None
    except TargetError as error:
        hosts.close()
        instead = fallback or lost
        if instead is None:
            raise
        hosts.lost = error.cause
        return _in_hosts(instead, hosts)
    except BaseException:
        hosts.close()
        raise


def _described(
    name: str,
    address: str | None,
    parameters: Mapping[str, Any],
    answers: AnswerKind | None,
    fallback: AuditTarget | None,
    facts: Description,
    hosts: Hosts,
) -> Isolated:
    """Return the target that a process has described, with what the user said of it."""
    if strange := {*facts.has} - {*METHODS, *TRAINING}:
        raise ValueError(f"it has {strange}")
    names = (
        *("without_query", "free", "seeded", "together", "one_query", "looked_at", "fixed_n"),
        *("derived_parameters", "exchangeable", "declared_in"),
    )
    has: dict[str, Any] = dict.fromkeys(facts.has, _elsewhere)
    has |= {each: getattr(facts, each) for each in names}
    has |= {"labels": facts.labels} if facts.numbers is None else {"numbers": facts.numbers}
    has["output"] = output_from_json(facts.output)
    if answers is not None:
        has |= {each: getattr(answers, each) for each in ("labels", "numbers", "free", "output")}
        has["together"] = answers.columns if facts.together else 0
    given = {
        key: _as_said(parameters[key], value) if key in parameters else value
        for key, value in facts.parameters.items()
    }
    claims = tuple(each.claim() for each in facts.claims)
    if fallback is None or (address is not None and is_own(address)):
        known = claims if fallback is None else fallback.claims
        claims = expected(address, known, given)
    else:
        (claim,) = fallback.claims
        gamma = claim.as_json()["gamma"]
        if gamma is not None and has.get("numbers") is not None:  # of a prediction, not of labels
            claim = spelled({"gamma": gamma}, claim.source, labels=False)
        # which neighbours it is about is the mechanism's to say, unless they are searched for
        searched = fallback.space is not None
        claims = (claim if searched else replace(claim, relation=claims[0].relation),)
    there = full(SimpleNamespace(**has))
    return Isolated(
        name=name,
        address=address or facts.target,
        parameters=given,
        mechanism=there,
        claims=claims,
        alone=facts.alone,
        hosts=hosts,
        there=there,
    )


def _as_said(said: Any, value: Any) -> Any:
    """Return a parameter as its process says it where that is what the user said, else that."""
    try:
        same = (
            str(said).lower() == str(value).lower()
            if isinstance(value, bool)
            else float(said) == value
        )
    except (TypeError, ValueError, OverflowError):
        return said
    return value if same else said


def _elsewhere(*_: Any) -> Any:
    """Stand where a method is that is only called in another process."""
    raise NotImplementedError


def _in_hosts(target: AuditTarget, hosts: Hosts) -> Isolated:
    known = {
        name: getattr(target, name)
        for name in ("name", "address", "parameters", "mechanism", "claims", "alone")
    }
    return Isolated(**known, hosts=hosts, there=target.mechanism)
