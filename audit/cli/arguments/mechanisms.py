"""Which mechanisms are asked for, and with which claims.

Those of the command line, of the configuration, or the catalogue.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from dpassay.claims import DP, SPELLED, SPELLINGS, Claim
from dpassay.claims import spelled as claim_of
from dpassay.cli.arguments.searches import SEARCH, Searches, Sought, searched, searches_of
from dpassay.config.load import Config
from dpassay.config.mechanisms import Configured
from dpassay.config.values import assignment, listed, spelled, table_of, value_of, written
from dpassay.data import Labelled
from dpassay.engine.apart import CAN_FORK
from dpassay.errors import InvalidInput
from dpassay.mechanism import FunctionMechanism
from dpassay.search.spaces import space_of
from dpassay.targets.catalogue import ENTRIES
from dpassay.targets.guard import AuditTarget
from dpassay.targets.importing import is_own
from dpassay.targets.resolve import (
    Answers,
    accepts,
    answers_of,
    is_function,
    relation_of,
    resolve,
    sized,
)
from dpassay.trials.isolation.introduce import introduced
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated, StandIn

DESCRIBING = (
    *("process", "http", "parameters", "learner", "claim", "answers"),
    *("search", "together", "output", "configured"),
)
"""Options that say what is audited; the zoo has its own functions, claims and data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Mechanisms that are asked for, and what the command line says of all of them."""

    mechanisms: tuple[Configured, ...]
    named: bool  # whether somebody has named them; else they are the catalogue
    parameters: dict[str, Any]  # of all that have them; they go before configured ones
    claim: dict[str, float] | None = None  # numbers of the claim that replaces their own
    answers: Answers | None = None  # what plain functions answer
    mode: str = "monte-carlo"  # see `dpassay.engine.settings.Settings`
    searches: Searches = field(default_factory=Searches)
    # if attacked, and so in need of no claim: those that may answer anything
    attacked: frozenset[str] | None = None
    members: tuple[AuditTarget, ...] = ()  # of the zoo, instead of mechanisms

    @property
    def of_pairs(self) -> bool:
        """Whether some of them are looked at on pairs that are given, not searched for."""
        return any(self.searches.search(each) is None for each in self.mechanisms)

    @property
    def of_records(self) -> bool:
        """Whether some of them are looked at on labelled records."""
        found = map(self.searches.search, self.mechanisms)
        return any(each is None or each.of_records for each in found)


def wanted_of(arguments: argparse.Namespace, config: Config, *, mode: str) -> Wanted:
    """Return which mechanisms a command line asks for."""
    said = tuple(Configured(target=target) for target in arguments.targets)
    searches, programs = searches_of(config, mode=mode), programs_of(arguments)
    for option, each in programs:
        if searches.search(each) is None:
            raise InvalidInput(f"{option}: requires {SEARCH}, which says what its data look like")
    named = (*said, *(each for _, each in programs)) or config.mechanisms
    if not named and (searches.said or searches.of_run):
        raise InvalidInput(
            f"{SEARCH} = '{config.search}' ({config.origin('search')}): needs a TARGET, or "
            "mechanisms in dpassay.toml; the catalogue as a whole is not searched"
        )
    return Wanted(
        mechanisms=named or tuple(Configured(target=target) for target in ENTRIES),
        named=bool(named),
        parameters=parameters_of(arguments.parameters, arguments.learner),
        claim=None if arguments.claim is None else claim_numbers(arguments.claim),
        answers=_answers(arguments.answers, "--answers"),
        mode=mode,
        searches=searches,
    )


def zoo_of(arguments: argparse.Namespace, *, mode: str) -> Wanted:
    """Return the broken mechanisms that a command line names, or all, each before its twin."""
    from dpassay.mechanisms.broken.zoo import specimens

    if any(getattr(arguments, key) for key in DESCRIBING):
        raise InvalidInput(f"--catalogue zoo: goes without {', '.join(DESCRIBING)}")
    known = {each.name: each for each in specimens()}
    for name in arguments.targets:
        if name not in known:
            raise InvalidInput(f"TARGET = '{name}': must be one of {', '.join(known)}")
    members = []
    for name in arguments.targets or known:
        each = known[name]
        space = space_of(each.data)
        claim = replace(each.claim, relation=space.relation)
        for called, function, told in (
            (name, each.function, replace(claim, expected="refuted")),
            (f"{name}-twin", each.twin, claim),
        ):
            address = f"{function.__module__}:{function.__name__}"
            answers = Answers(free=True, bits=each.bits)
            target = resolve(address, None, (told,), answers, name=called)
            members.append(replace(target, space=space))
    return Wanted(mechanisms=(), named=True, parameters={}, mode=mode, members=tuple(members))


def programs_of(arguments: argparse.Namespace) -> list[tuple[str, Configured]]:
    """Return the programs and services that a command line names, each with its option."""
    kinds = {"process": ("Process", "command"), "http": ("Http", "url")}
    return [
        (
            f"--{option}",
            Configured(
                target=f"dpassay.targets.foreign:{kind}", name=option, parameters={parameter: text}
            ),
        )
        for option, (kind, parameter) in kinds.items()
        for text in getattr(arguments, option, [])
    ]


def parameters_of(assignments: list[str], learner: str | None) -> dict[str, Any]:
    """Return the parameters that `-p` and `--learner` say.

    Numbers are texts, as every mechanism reads them in its own way.
    """
    pairs = (assignment(text, "-p") for text in assignments)
    found = {name: spelled(value_of(text, f"-p {name}")) for name, text in pairs}
    return found if learner is None else found | {"learner": learner}


@contextmanager
def opened(
    wanted: Wanted, records: int | Labelled, limits: Limits | None
) -> Iterator[list[AuditTarget]]:
    """Give what `targets_of` does, and end the processes that it has opened."""
    built: list[AuditTarget] = []
    try:
        built.extend(targets_of(wanted, records, limits if CAN_FORK else None))
        yield built
    finally:
        for target in built:
            if isinstance(target, Isolated):
                target.hosts.close()


def targets_of(
    wanted: Wanted, records: int | Labelled, limits: Limits | None = None
) -> Iterator[AuditTarget]:
    """Yield the mechanisms that are asked for, each with its claims.

    Built-in ones whose claims depend on the number n of records are told it, unless it was
    said. A user's own are imported and built in processes of their own, which have these
    limits; without limits in this one. A search among records needs these themselves, not only
    how many. Of the catalogue as a whole those are left out that no trials can say anything
    about, where trials are asked for.
    """
    yield from wanted.members
    every, parameters = wanted.mechanisms, wanted.parameters
    taken: set[str] = set()
    size = records if isinstance(records, int) else len(records)
    for each in every:
        with _placed(each):
            sought = wanted.searches.of(each, records if isinstance(records, Labelled) else None)
            said = sought.answers if sought is not None else _said_answers(each, wanted)
        known = replace(
            each,
            parameters=sized(each.target, each.parameters, size, fixed=wanted.mode != "exhaustive"),
        )
        build = partial(_chosen, known, wanted, sought, several=len(every) > 1)
        if limits is None or not _is_foreign(each, parameters):
            target = build()
        else:
            target = introduced(
                each.called,
                build,
                limits,
                _fallback(known, wanted, sought),
                address=each.target,
                parameters=known.parameters | parameters,
                answers=said,
                # a claim that is known to be wrong is held against no attack
                lost=None
                if wanted.attacked is None
                else without(each.called, DP(epsilon=0, expected="refuted")),
            )
        if sought is not None:
            target = replace(target, space=sought.space)
        has = parameters if isinstance(target, Isolated) and target.lost else target.parameters
        taken |= parameters.keys() & has.keys()
        if wanted.mode != "monte-carlo":
            yield target
        elif wanted.named or not target.only_computed:
            yield target.sampled
    for name in parameters:
        if name not in taken and len(every) > 1:
            raise InvalidInput(
                f"-p {name}: no such parameter in any of {', '.join(each.called for each in every)}"
            )


def _chosen(
    each: Configured, wanted: Wanted, sought: Sought | None, *, several: bool
) -> AuditTarget:
    """Build one mechanism; where there are several, with those of the parameters that it has."""
    own = {
        name: value
        for name, value in wanted.parameters.items()
        if not several or accepts(each.target, name)
    }
    with _placed(each):
        found = _built(each, own, wanted.claim, wanted.answers, sought)
    if each.called in (wanted.attacked or ()) and isinstance(found.mechanism, FunctionMechanism):
        return replace(found, mechanism=replace(found.mechanism, free=True))
    return found


def _is_foreign(each: Configured, parameters: Mapping[str, Any]) -> bool:
    """Whether building a mechanism imports a module of the user's."""
    return any(
        ":" in text
        for text in (
            each.target,
            *map(written, each.parameters.values()),
            *map(written, parameters.values()),
        )
    )


def _fallback(each: Configured, wanted: Wanted, sought: Sought | None) -> AuditTarget | None:
    """Return what is known of a mechanism without the user's code, if its claim is."""
    numbers = each.claim if wanted.claim is None else wanted.claim
    if numbers is None:
        # no claim of the catalogue depends on the learner
        names = (each.parameters | wanted.parameters).items()
        plain = {name: value for name, value in names if name != "learner"}
        if not is_own(each.target) or any(":" in written(value) for value in plain.values()):
            return None
        taken = {name: value for name, value in plain.items() if accepts(each.target, name)}
        twin = resolve(each.target, taken, name=each.called)
        return replace(twin, claims=tuple(twin.mechanism.claims))
    with _placed(each):
        answers = _said_answers(each, wanted) or Answers()
        claim = claim_of(numbers, _source(each, wanted.claim), labels=answers.numbers is None)
    if sought is not None:
        claim = replace(claim, relation=sought.space.relation)
    has = {"labels": answers.labels} if answers.numbers is None else {"numbers": answers.numbers}
    return AuditTarget(
        name=each.called,
        address=each.target,
        parameters={},
        mechanism=StandIn(has),
        claims=(claim,),
        space=None if sought is None else sought.space,
    )


def without(name: str, *claims: Claim) -> AuditTarget:
    """Return what stands for a mechanism that could not be built, with what it claims."""
    known = StandIn({"labels": (0, 1)})
    return AuditTarget(name=name, address=name, parameters={}, mechanism=known, claims=claims)


def _said_answers(each: Configured, wanted: Wanted) -> Answers | None:
    """Return what the user says that a function answers, if anything."""
    return _answers(each.answers, "answers") if wanted.answers is None else wanted.answers


@contextmanager
def _placed(each: Configured) -> Iterator[None]:
    """Say of what is refused where it was configured."""
    try:
        yield
    except InvalidInput as error:
        if each.where:
            raise InvalidInput(f"{each.where}: {error}") from error
        raise


def _built(
    each: Configured,
    given: dict[str, Any],
    said: dict[str, float] | None,
    answers: Answers | None,
    sought: Sought | None,
) -> AuditTarget:
    """Build one mechanism; what the command line says goes before what is configured for it."""
    option = "answers" if answers is None and each.where else "--answers"
    answers = _answers(each.answers, "answers") if answers is None else answers
    parameters = each.parameters | given
    numbers = each.claim if said is None else said
    if sought is not None:
        asked = None if numbers is None else claim_of(numbers, _source(each, said), labels=True)
        declared = "" if answers is None else option
        return searched(each, parameters, asked, sought, option=declared)
    if answers is not None and not is_function(each.target):
        raise InvalidInput(
            f"{option}: only for a plain function; '{each.target}' names its own answers"
        )
    if numbers is None:
        return resolve(each.target, parameters, None, answers, name=each.called)
    known = answers or answers_of(each.target, parameters)
    claim = claim_of(numbers, _source(each, said), labels=known.numbers is None)
    claim = replace(claim, relation=relation_of(each.target, parameters))
    return resolve(each.target, parameters, (claim,), answers, name=each.called)


def _source(each: Configured, said: dict[str, float] | None) -> str:
    """Where a claim was made: on the command line, or in which file."""
    return "--claim" if said is not None else each.where.partition(",")[0]


def claim_numbers(text: str) -> dict[str, float]:
    """Read a claim as it stands after `--claim`."""
    wrong = InvalidInput(f"--claim = '{text}': must be {SPELLED}")
    try:
        given = table_of(text, "--claim", SPELLED)
        numbers = {name: float(value) for name, value in given.items()}
    except (ValueError, TypeError):
        raise wrong from None
    if set(numbers) not in SPELLINGS or text.count("=") > len(numbers):
        raise wrong
    return numbers


def _answers(text: str | None, option: str) -> Answers | None:
    """Read what is answered.

    A list of labels, or the limits of real numbers with two dots between them.
    """
    if text is None:
        return None
    low, separator, high = text.partition("..")
    try:
        if separator:
            limits = (float(low) if low else -math.inf, float(high) if high else math.inf)
            if limits[0] < limits[1]:
                return Answers(labels=(), numbers=limits)
        else:
            labels = tuple(map(int, listed(text)))
            if len(labels) >= 2 and len(set(labels)) == len(labels):
                return Answers(labels=labels)
    except (ValueError, TypeError):
        pass
    allowed = "labels like 0,1,2 or limits of numbers like 0..1 (.. for any)"
    raise InvalidInput(f"{option} = '{text}': must be {allowed}")
