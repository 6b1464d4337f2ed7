"""Which code needs a process of its own, and how a target is made that has one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType, SimpleNamespace
from typing import Any

from dpassay.claims import spelled
from dpassay.errors import InvalidInput, TargetError
from dpassay.mechanism import FunctionMechanism
from dpassay.search.declared import output_from_json
from dpassay.targets.adapter import TRAINING, full, given
from dpassay.targets.coupled import Coupled
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.targets.importing import is_own
from dpassay.targets.resolve import AnswerKind, can_be_rebuilt, expected
from dpassay.trials.isolation.hosts import GARBLED, Hosts, LostProcess
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.server import METHODS, MechanismServer
from dpassay.trials.isolation.target import Isolated
from dpassay.trials.wire import line_of
from dpassay.trials.written import Description


def is_foreign(target: AuditTarget) -> bool:
    """Return whether a mechanism runs code that does not come with this package, or may."""
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


def isolated(target: AuditTarget, limits: Limits, groups: Sequence[PairGroup]) -> Isolated:
    """Return a target of this process as one called only in another, which has the same groups."""
    server = MechanismServer(lambda: target, limits.memory)
    return _in_hosts(target, Hosts(target.name, server, limits, _shared_by(groups)))


def _shared_by(groups: Sequence[PairGroup]) -> list[Any]:
    """Return the objects that a group is made of."""
    return [
        each
        for group in groups
        for each in (group, group.pairs, group.pairs.base, group.queries, *group.pairs.changes)
    ]


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
        has["together"] = answers.together if facts.together else 0
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
