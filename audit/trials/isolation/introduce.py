"""Which code needs a process of its own, and how a target is made that has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpassay.claims import claim_from_json
from dpassay.mechanism import FunctionMechanism
from dpassay.search.declared import output_from_json
from dpassay.targets.adapter import given
from dpassay.targets.coupled import Coupled
from dpassay.targets.groups import Group
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import can_be_rebuilt
from dpassay.trials.isolation.desk import Desk, LostProcess, asked
from dpassay.trials.isolation.hosts import Hosts
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated, StandIn
from dpassay.trials.ledger import installed
from dpassay.trials.threads import one_thread


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
    return _in_hosts(
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
        return _in_hosts(fallback, hosts, lost=[error.cause])
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
    )


def _elsewhere(*_: Any) -> Any:
    """Stand where a method is that is only called in another process."""
    raise NotImplementedError


def _in_hosts(target: AuditTarget, hosts: Hosts, **more: Any) -> Isolated:
    known = {
        name: getattr(target, name)
        for name in ("name", "address", "parameters", "mechanism", "claims", "alone")
    }
    return Isolated(**known, hosts=hosts, there=target.mechanism, **more)
