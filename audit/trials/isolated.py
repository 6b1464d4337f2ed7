"""Isolation: a target whose mechanism runs in a process of its own.

What it answers comes back as data and is checked here.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, claim_from_json
from dpassay.errors import InvalidInput, TargetError, told
from dpassay.laws import Law
from dpassay.mechanism import FunctionMechanism, Mechanism, Reachable, WorstCase, offers
from dpassay.pairs import Change
from dpassay.search.declared import output_from_json
from dpassay.search.outputs import Encoder, encoder_from_json
from dpassay.targets.adapter import TRAINING, given, is_trainer
from dpassay.targets.coupled import Coupled, coupled
from dpassay.targets.groups import Group
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import can_be_rebuilt
from dpassay.trials.hosts import Host, Hosts, Kept, Limits, Lost, Overtime, Unsent
from dpassay.trials.ledger import code_of, installed
from dpassay.trials.own_coins import seed_anew
from dpassay.trials.portable import portable
from dpassay.trials.tasks import Brief, Shard, TrialRunner
from dpassay.trials.threads import one_thread
from dpassay.trials.written import (
    INLINE,
    READ_WRONG,
    law_from,
    law_json,
    reachable_from,
    reachable_json,
    shard_result_json,
    worst_case_from,
    worst_case_json,
)

T = TypeVar("T")
METHODS = (
    *("check", "update", "distribution", "pairs", "reachable", "symmetries", "towards"),
    "answer_words",
)
"""What a mechanism may define besides `prepare` and `sample`."""
REMEDY = "a mechanism must return, or raise an exception"
MORE_TIME = "make it faster, or allow more with --shard-timeout (shard_timeout)"
MORE_MEMORY = "make it smaller, or allow more with --memory (memory)"


BENCHES = 4
"""So many are kept open in a process: one per way of counting."""


class StandIn(Mechanism):
    """Stands where a mechanism would that is only in another process.

    It has what that has, and does nothing.
    """

    def __init__(self, has: Mapping[str, Any]) -> None:
        for name, value in has.items():
            setattr(self, name, value)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Isolated(AuditTarget):
    """A target whose mechanism is only called in another process.

    Parameters
    ----------
    name, target, parameters, mechanism, claims
        See `AuditTarget`; the mechanism may be a `StandIn`.
    hosts : Hosts
        Where it is called.
    there : object
        The mechanism that they have; `mechanism` unless that is made of it for a claim about
        scores.
    code : list of str, optional
        Digests of its code, if they cannot be had here.
    lost : list of str
        Why it is not called any more, if it is not.
    """

    hosts: Hosts
    there: object
    code: list[str] | None = None
    lost: list[str] = field(default_factory=list)

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
        return self._state(
            f"prepare on the neighbour with {change}",
            "neighbour",
            data,
            state,
            change,
            known=(data,),
        )

    def scratch(self, data: Any, change: Change) -> Any:
        """Return what stands for the state of the changed dataset, prepared without `update`."""
        return self._state(
            f"prepare on the neighbour with {change}", "scratch", data, change, known=(data,)
        )

    def law(self, state: Any, queries: NDArray[np.float64], where: str) -> Law | None:
        """Return the exact law at the queries; None where this dataset has none."""
        if not self.has_law:
            return None
        told = self._ask(f"distribution on {where}", "law", state, queries, where, known=(queries,))
        law = None if told is None else self._read(law_from, told, "distribution")
        self.check_law(law, len(queries), where)
        return law

    def sample(
        self,
        state: Any,
        queries: NDArray[np.float64],
        size: int,
        rng: np.random.Generator,
        where: str,
    ) -> NDArray[Any]:
        """Return `size` trials, shape (size, q).

        Each of them one of `labels`, or a finite number in the range `numbers`.

        The generator goes on as it did in the other process.
        """
        told = self._ask(
            f"sample on {where}", "sample", state, queries, size, rng, where, known=(queries,)
        )

        def go_on(told: Mapping[str, Any]) -> None:
            rng.bit_generator.state = json.loads(told["state"])

        self._read(go_on, told, "sample")
        return self._checked(np.asarray(told["draws"]), size, len(queries), where)

    def encoder(
        self,
        pilots: Sequence[tuple[Any, NDArray[np.float64], tuple[str | float, ...]]],
        size: int,
        own: str = "",
        *,
        failures: bool = False,
    ) -> Encoder:
        """Fit the encoder of its answers on a pilot, in the other process."""
        told = self._ask("sample on a pilot dataset", "encoder", list(pilots), size, own, failures)
        return self._read(lambda text: encoder_from_json(json.loads(text)), told, "sample")

    def answer_words(self, answer: int, query: NDArray[np.float64]) -> str:
        """Say what an answer at a query stands for.

        Empty where the mechanism does not say, or its process is gone.
        """
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
        return self._read(lambda cases: tuple(map(worst_case_from, cases)), told, "pairs")

    def reachable(self) -> Reachable | None:
        """Return the reachable states, where the mechanism knows them."""
        told = self._ask("reachable", "reachable") if self.has_reachable else None
        return None if told is None else self._read(reachable_from, told, "reachable")

    @property
    def dimension(self) -> int:
        """Number of coordinates of the vector that it releases; 0 where it releases none."""
        if self.numbers is None or not offers(self.mechanism, "towards"):
            return 0
        return self._read(int, self._ask("dimension", "dimension"), "dimension")

    def symmetries(self, sides: tuple[int, ...]) -> tuple[str, ...]:
        """Return how a domain with these sides may be relabelled, as the mechanism declares."""
        offered = offers(self.mechanism, "symmetries")
        return tuple(self._ask("symmetries", "symmetries", sides)) if offered else ()

    def towards(self, directions: NDArray[np.float64], columns: int) -> NDArray[np.float64]:
        """Return the queries that ask for the released vector's coordinates along directions.

        They are read-only.
        """
        return self._checked_directions(
            self._ask("towards", "towards", directions, columns), len(directions), columns
        )

    def check_unchanged(self, groups: tuple[Group, ...]) -> None:
        """Raise `TargetError` if the mechanism has written into a dataset that it was lent."""
        bases = [group.pairs.base for group in groups]
        self._ask(
            "its datasets",
            "check_unchanged",
            bases,
            [group.digest for group in groups],
            known=bases,
        )

    def portable(self) -> bytes:
        """Return the mechanism for other machines; see `dpassay.trials.portable`."""
        told = self._ask("sending it to a cluster", "portable")
        return self._read(lambda found: bytes(found.tobytes()), told, "portable")

    def _state(self, what: str, operation: str, *arguments: Any, known: Iterable[Any]) -> Kept:
        state = self._host(what).keep()
        self._ask(what, operation, state.key, *arguments, known=known)
        return state

    def check_not_lost(self) -> None:
        """Raise `TargetError` if its process was lost: another one may have built another thing."""
        if self.lost:
            raise TargetError(self.lost[0])

    def _host(self, what: str) -> Host:
        self.check_not_lost()
        try:
            return self.hosts.first()
        except Lost as error:
            raise TargetError(f"{what}: {error}") from None

    def _ask(self, what: str, operation: str, *arguments: Any, known: Iterable[Any] = ()) -> Any:
        """Have something done in the other process.

        If that is lost over it, nothing more is asked of it.
        """
        try:
            return asked(self._host(what), what, operation, self.part, *arguments, known=known)
        except LostProcess as error:
            self.lost.append(error.cause)
            raise

    @staticmethod
    def _read(read: Callable[[Any], T], told: Any, method: str) -> T:
        try:
            return read(told)
        except READ_WRONG as error:
            raise TargetError(
                f"{method} returned something that cannot be read ({type(error).__name__})",
                str(error),
            ) from None


class LostProcess(TargetError):
    """The process of a mechanism is gone, through the mechanism's own fault."""


class Elsewhere(Exception):
    """What was raised in another process; the text is its traceback."""


def asked(host: Host, what: str, operation: str, *arguments: Any, known: Iterable[Any] = ()) -> Any:
    """Have something done in another process; errors that a desk raises there are raised here.

    Raises
    ------
    InvalidInput, TargetError
        What the desk has raised, or `LostProcess`.
    """
    try:
        answer = host.call(operation, *arguments, known=known)
    except Overtime as error:
        raise LostProcess(f"{what} {error}; {MORE_TIME}") from None
    except Lost as error:
        raise LostProcess(f"{what}: {error}; {REMEDY}") from None
    except Unsent as error:
        raise TargetError(
            f"{what}: what it is given cannot be sent to its process ({error}); {INLINE}"
        ) from None
    if "raised" in answer:
        raise TargetError(f"{what}: {answer['raised']} was raised", answer["told"])
    found = answer["answer"]
    if "invalid" in found:
        raise InvalidInput(found["invalid"]) from Elsewhere(found["told"])
    if "cause" in found:
        raise TargetError(found["cause"], found["detail"])
    return found["done"]


class Desk:
    """Answers in the other process what an `Isolated` asks.

    Parameters
    ----------
    build : callable
        Returns the target; called there.
    memory : float
        GiB that it may take, for messages.
    """

    def __init__(self, build: Callable[[], AuditTarget], memory: float) -> None:
        self._build = build
        self._memory = memory
        self._target: AuditTarget | None = None
        self._runners: deque[tuple[Brief, TrialRunner]] = deque(maxlen=BENCHES)

    def __call__(
        self, operation: str, arguments: tuple[Any, ...], objects: dict[int, Any]
    ) -> dict[str, Any]:
        """Do what is asked."""
        try:
            if self._target is None:
                self._target = self._build()
                if not self._target.seeded:
                    seed_anew()
            part, *given = arguments
            subject = self._target if part is None else coupled(self._target, part)
            return {"done": getattr(self, f"_{operation}")(subject, objects, *given)}
        except InvalidInput as error:
            return {"invalid": str(error), "told": told(error)}
        except TargetError as error:
            return {"cause": self._hinted(error.cause), "detail": error.detail}

    def _hinted(self, cause: str) -> str:
        return (
            f"{cause}; it may take {self._memory:g} GiB, {MORE_MEMORY}"
            if "MemoryError" in cause
            else cause
        )

    def _describe(
        self,
        subject: AuditTarget,
        objects: dict[int, Any],  # noqa: ARG002
    ) -> dict[str, Any]:
        mechanism = subject.mechanism
        has = [name for name in METHODS if offers(mechanism, name)]
        return {
            "name": subject.name,
            "target": subject.address,
            "parameters": subject.parameters,
            "claims": [[claim.as_json(), claim.expected] for claim in subject.claims],
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
            "declared_in": subject.declared_in,
            "looked_at": str(mechanism.looked_at),
            "fixed_n": None if mechanism.fixed_n is None else int(mechanism.fixed_n),
            "derived_parameters": subject.derived,
            "alone": subject.alone,
            "code": code_of(subject),
        }

    def _ready(self, subject: AuditTarget, objects: dict[int, Any]) -> None:
        """Do nothing; it has been built now."""

    def _portable(
        self,
        subject: AuditTarget,  # noqa: ARG002
        objects: dict[int, Any],  # noqa: ARG002
    ) -> NDArray[np.uint8]:
        return np.frombuffer(portable(self._target), dtype=np.uint8)

    def _laws(
        self,
        subject: AuditTarget,
        objects: dict[int, Any],  # noqa: ARG002
        datasets: list[tuple[Any, str]],
        queries: Any,
    ) -> list[Any]:
        found = (subject.law(subject.prepare(data), queries, where) for data, where in datasets)
        return [None if law is None else law_json(law) for law in found]

    def _check(
        self,
        subject: AuditTarget,
        objects: dict[int, Any],  # noqa: ARG002
        data: Any,
    ) -> None:
        subject.check(data)

    def _prepare(self, subject: AuditTarget, objects: dict[int, Any], key: int, data: Any) -> None:
        objects[key] = subject.prepare(data)

    def _neighbour(
        self,
        subject: AuditTarget,
        objects: dict[int, Any],
        key: int,
        data: Any,
        state: Any,
        change: Change,
    ) -> None:
        objects[key] = subject.neighbour(data, state, change)

    def _scratch(
        self, subject: AuditTarget, objects: dict[int, Any], key: int, data: Any, change: Change
    ) -> None:
        objects[key] = subject.scratch(data, change)

    def _law(
        self,
        subject: AuditTarget,
        objects: dict[int, Any],  # noqa: ARG002
        state: Any,
        queries: Any,
        where: str,
    ) -> Any:
        law = subject.law(state, queries, where)
        return None if law is None else law_json(law)

    def _sample(
        self,
        subject: AuditTarget,
        objects: dict[int, Any],  # noqa: ARG002
        state: Any,
        queries: Any,
        size: int,
        rng: np.random.Generator,
        where: str,
    ) -> Any:
        draws = subject.sample(state, queries, size, rng, where)
        return {"draws": draws, "state": json.dumps(rng.bit_generator.state)}

    def _encoder(
        self,
        subject: AuditTarget,
        objects: dict[int, Any],  # noqa: ARG002
        pilots: Any,
        size: int,
        own: str,
        failures: bool,
    ) -> str:
        return json.dumps(subject.encoder(pilots, size, own, failures=failures).as_json())

    def _answer_words(
        self,
        subject: AuditTarget,
        objects: dict[int, Any],  # noqa: ARG002
        answer: int,
        query: Any,
    ) -> str:
        return subject.answer_words(answer, query)

    def _worst_cases(self, subject: AuditTarget, objects: dict[int, Any]) -> Any:  # noqa: ARG002
        return [worst_case_json(case) for case in subject.worst_cases()]

    def _symmetries(
        self,
        subject: AuditTarget,
        objects: dict[int, Any],  # noqa: ARG002
        sides: Any,
    ) -> list[str]:
        return list(map(str, subject.symmetries(tuple(sides))))

    def _reachable(self, subject: AuditTarget, objects: dict[int, Any]) -> Any:  # noqa: ARG002
        reachable = subject.reachable()
        return None if reachable is None else reachable_json(reachable)

    def _dimension(self, subject: AuditTarget, objects: dict[int, Any]) -> int:  # noqa: ARG002
        return subject.dimension

    def _towards(
        self,
        subject: AuditTarget,
        objects: dict[int, Any],  # noqa: ARG002
        directions: Any,
        columns: int,
    ) -> Any:
        return subject.towards(directions, columns)

    def _check_unchanged(
        self,
        subject: AuditTarget,  # noqa: ARG002
        objects: dict[int, Any],  # noqa: ARG002
        bases: list[Any],
        digests: list[str],
    ) -> None:
        if [base.digest for base in bases] != digests:
            raise TargetError(
                "it changed the dataset that it was given; a mechanism must leave its inputs as "
                "they are"
            )

    def _run(
        self,
        subject: AuditTarget,
        objects: dict[int, Any],  # noqa: ARG002
        brief: Brief,
        shard: Shard,
    ) -> Any:
        new = all(known is not brief for known, _ in self._runners)
        if new:
            self._runners.append(
                (brief, TrialRunner(subject, brief.groups, brief.codings, brief.seed))
            )
        runner = next(runner for known, runner in self._runners if known is brief)
        done = runner.run(shard, probe=new)
        failure = None if done.failure is None else (self._hinted(done.failure[0]), done.failure[1])
        return shard_result_json(replace(done, failure=failure))


def is_foreign(target: AuditTarget) -> bool:
    """Whether a mechanism runs code that does not come with this package, or may."""
    mechanism = target.given
    mechanism = given(mechanism.trainer) if isinstance(mechanism, Coupled) else mechanism
    if isinstance(mechanism, FunctionMechanism):
        return getattr(mechanism.function, "__module__", None) is None or not _ours(
            mechanism.function.__module__
        )
    if getattr(mechanism, "foreign", False):  # it runs what its parameters say
        return True
    named = any(isinstance(value, str) and ":" in value for value in target.parameters.values())
    return not _ours(type(mechanism).__module__) or named or not can_be_rebuilt(mechanism)


def _ours(module: str) -> bool:
    return module.partition(".")[0] == "dpassay"


def isolated(target: AuditTarget, limits: Limits, groups: Sequence[Group]) -> Isolated:
    """Return a target of this process as one that is only called in another.

    The other process has some groups as they are here.
    """
    return _isolated(
        target, Hosts(target.name, Desk(lambda: target, limits.memory), limits, shared_by(groups))
    )


def shared_by(groups: Sequence[Group]) -> list[Any]:
    """Return the objects that a group is made of."""
    return [
        each
        for group in groups
        for each in (group, group.pairs, group.pairs.base, group.queries, *group.pairs.changes)
    ]


def introduced(
    name: str, build: Callable[[], AuditTarget], limits: Limits, fallback: AuditTarget | None = None
) -> Isolated:
    """Return a target that is built in another process only: nothing of its code is imported here.

    Parameters
    ----------
    name : str
        What the user calls it.
    build : callable
        Builds it, there.
    limits : Limits
    fallback : AuditTarget, optional
        What is known of it without building it; stands for it where its process is lost over that,
        so that every audit of it ends as `error`.

    Raises
    ------
    InvalidInput
        As `build` does there.
    TargetError
        If its process is lost over it, and there is no fallback.
    """

    def imported() -> AuditTarget:
        found = build()
        # of what has just been imported too; other hosts have their parent's
        one_thread()
        return found

    installed()  # once here, and not in every process
    hosts = Hosts(name, Desk(imported, limits.memory), limits, bare=True)
    try:
        return _described(asked(hosts.first(), f"importing {name}", "describe", None), hosts)
    except LostProcess as error:
        hosts.close()
        if fallback is None:
            raise
        return _isolated(fallback, hosts, lost=[error.cause])
    except BaseException:
        hosts.close()
        raise


def _described(facts: dict[str, Any], hosts: Hosts) -> Isolated:
    """Return the target that a desk has described."""
    has: dict[str, Any] = dict.fromkeys(facts["has"], _elsewhere)
    has |= {
        name: facts[name]
        for name in (
            *("without_query", "free", "seeded", "together", "one_query", "looked_at", "fixed_n"),
            *("derived_parameters", "exchangeable", "declared_in"),
        )
    }
    has |= (
        {"labels": tuple(facts["labels"])}
        if facts["numbers"] is None
        else {"numbers": tuple(facts["numbers"])}
    )
    has["output"] = output_from_json(facts["output"])
    mechanism = StandIn(has)
    return Isolated(
        name=facts["name"],
        address=facts["target"],
        parameters=facts["parameters"],
        mechanism=mechanism,
        claims=tuple(claim_from_json(claim, expected) for claim, expected in facts["claims"]),
        alone=facts["alone"],
        hosts=hosts,
        there=mechanism,
        code=facts["code"],
    )


def _elsewhere(*_: Any) -> Any:
    """Stand where a method is that is only called in another process."""
    raise NotImplementedError


def _isolated(target: AuditTarget, hosts: Hosts, **more: Any) -> Isolated:
    known = {
        name: getattr(target, name)
        for name in ("name", "address", "parameters", "mechanism", "claims", "alone")
    }
    return Isolated(**known, hosts=hosts, there=target.mechanism, **more)
