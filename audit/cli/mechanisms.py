"""Which mechanisms are asked for, with which claims, and what their worst pair is searched for in.

Those of the command line, of the configuration, or the catalogue.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

from dpassay.claims import DP, SPELLED, SPELLINGS, Claim
from dpassay.claims import spelled as claim_of
from dpassay.config.load import Config
from dpassay.config.mechanisms import Configured
from dpassay.config.searches import SearchConfig, output_said, search_of
from dpassay.config.values import (
    assignment,
    listed,
    named_text,
    spelled,
    table_of,
    value_of,
    written,
)
from dpassay.data import BUILT_IN, Labelled, existing_file, label_of
from dpassay.engine.preflight import CAN_FORK
from dpassay.errors import InvalidInput, TargetError
from dpassay.mechanism import FunctionMechanism
from dpassay.relations import REPLACE_ONE
from dpassay.search.declared import output_of
from dpassay.search.proposals.proposal import Space
from dpassay.targets.adapter import full
from dpassay.targets.catalogue import ENTRIES
from dpassay.targets.guard import AuditTarget
from dpassay.targets.importing import is_own
from dpassay.targets.resolve import (
    About,
    AnswerKind,
    about,
    accepts,
    answers_of,
    free_answers,
    relation_of,
    resolve,
    sized,
)
from dpassay.trials.isolation.host import Hosts
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated, Server, introduced

OF_SEARCH = ("search", "together", "output")
"""What the command line, an entry, or the run may say of a search."""
PROGRAMS = (
    ("process", "dpassay.targets.foreign:Process", "command"),
    ("http", "dpassay.targets.foreign:Http", "url"),
)
NOTHING = Configured(target="")


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedMechanisms:
    """Mechanisms that are asked for, and what is said of all of them.

    What the command line says (`said`) goes before what an entry says; what the file or a
    variable says of all mechanisms (`of_run`) goes after.
    """

    mechanisms: tuple[Configured, ...]
    named: bool  # whether somebody has named them; else they are the catalogue
    said: Configured = NOTHING
    of_run: Configured = NOTHING
    mode: str = "monte-carlo"  # see `dpassay.engine.settings.Settings`
    # if attacked, and so in need of no claim: those that may answer anything
    attacked: frozenset[str] | None = None
    members: tuple[AuditTarget, ...] = ()  # of the zoo, instead of mechanisms

    def of(self, each: Configured, key: str) -> tuple[Any, str]:
        """Return what is said of a mechanism, and by which option or key; "" is the run's."""
        for source, name in ((self.said, f"--{key}"), (each, key), (self.of_run, "")):
            if getattr(source, key) is not None:
                return getattr(source, key), name
        return None, ""

    def claim(self, each: Configured) -> tuple[dict[str, float] | None, str]:
        """Return the numbers of a claim, and the option or the file that holds them."""
        numbers, name = self.of(each, "claim")
        return numbers, name if name.startswith("--") else each.where.partition(",")[0]

    def answers(self, each: Configured) -> AnswerKind | None:
        """Return what the user says that a function answers, if anything."""
        text, option = self.of(each, "answers")
        return None if text is None else answers_said(text, option)

    def search(self, each: Configured) -> SearchConfig | None:
        """Return what one mechanism's pair is searched for among; None where it is not."""
        text, name = self.of(each, "search")
        return None if text is None else search_of(text, name or "search")

    @property
    def searches(self) -> tuple[SearchConfig | None, ...]:
        """What the pairs of each are searched for among; None where pairs are given."""
        return tuple(map(self.search, self.mechanisms))


class Sought(NamedTuple):
    """What one mechanism's worst pair is searched for among, and what it may answer."""

    search: SearchConfig
    space: Space
    answers: AnswerKind


def programs_of(arguments: argparse.Namespace) -> list[tuple[str, Configured]]:
    """Return the programs and services that a command line names, each with its option."""
    return [
        (f"--{key}", Configured(target=target, name=key, parameters={parameter: text}))
        for key, target, parameter in PROGRAMS
        for text in getattr(arguments, key, [])
    ]


def parameters_of(assignments: list[str], learner: str | None) -> dict[str, Any]:
    """Return the parameters that `-p` and `--learner` say; each mechanism reads their numbers."""
    pairs = (assignment(text, "-p") for text in assignments)
    found = {name: spelled(value_of(text, f"-p {name}")) for name, text in pairs}
    return found if learner is None else found | {"learner": learner}


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


def answers_said(text: str, option: str) -> AnswerKind:
    """Read a list of labels, or the limits of real numbers with two dots between them."""
    low, separator, high = text.partition("..")
    try:
        if separator:
            limits = (float(low) if low else -math.inf, float(high) if high else math.inf)
            if limits[0] < limits[1]:
                return AnswerKind(labels=(), numbers=limits)
        else:
            labels = tuple(map(int, listed(text)))
            if len(labels) >= 2 and len(set(labels)) == len(labels):
                return AnswerKind(labels=labels)
    except (ValueError, TypeError):
        pass
    allowed = "labels like 0,1,2 or limits of numbers like 0..1 (.. for any)"
    raise InvalidInput(f"{option} = '{text}': must be {allowed}")


def wanted_of(arguments: argparse.Namespace, config: Config, *, mode: str) -> WantedMechanisms:
    """Return which mechanisms a command line asks for."""
    # nothing is searched for where laws are computed: a search samples
    keys = () if mode in ("exact", "exhaustive") else OF_SEARCH
    said = Configured(
        target="",
        claim=None if arguments.claim is None else claim_numbers(arguments.claim),
        answers=arguments.answers,
        parameters=parameters_of(arguments.parameters, arguments.learner),
        **config.some(*filter(config.said, keys)),
    )
    of_run = config.some(*(key for key in keys if not config.said(key)))
    if said.answers is not None:
        answers_said(said.answers, "--answers")
    wanted = WantedMechanisms(
        mechanisms=(), named=True, said=said, of_run=replace(NOTHING, **of_run), mode=mode
    )
    programs = programs_of(arguments)
    for option, each in programs:
        if wanted.search(each) is None:
            raise InvalidInput(f"{option}: requires --search, which says what its data look like")
    found = tuple(Configured(target=target) for target in arguments.targets)
    named = (*found, *(each for _, each in programs)) or config.mechanisms
    if not named and wanted.search(NOTHING) is not None:
        raise InvalidInput(
            f"--search = '{config.search}' ({config.origin('search')}): needs a TARGET, or "
            "mechanisms in dpassay.toml; the catalogue as a whole is not searched"
        )
    every = named or tuple(Configured(target=target) for target in ENTRIES)
    return replace(wanted, mechanisms=every, named=bool(named))


def looked_at(target: str, limits: Limits | None) -> About:
    """Return what a target is, seen by another process if there are limits; nothing if it fails."""
    if limits is None or is_own(target):
        return about(target)

    server = Server(lambda: SimpleNamespace(about=lambda: asdict(about(target))))
    remote, found = Hosts(target, server, limits, bare=True), About()
    with closing(remote), suppress(TargetError):
        found = remote.ask(About, f"importing {target}", "about")
    return found


def on_data(wanted: WantedMechanisms, config: Config, limits: Limits) -> WantedMechanisms:
    """Say that pairs are searched for in the data of the run, of what takes whole tables.

    Those are estimators, and in a file functions that are asked at no points. Everything else that
    is audited without a search takes labelled records whose features are numbers.
    """
    if config.data is None or wanted.mode in ("exact", "exhaustive"):
        return wanted
    look = cache(partial(looked_at, limits=limits if CAN_FORK else None))

    def searched(each: Configured) -> Configured:
        named = ":" in each.target and wanted.search(each) is None and wanted.answers(each) is None
        with _placed(each):
            known = look(each.target) if named else About()
        if config.data == BUILT_IN:
            return replace(each, search="records") if known.estimator else each
        if not (known.estimator or known.tabular):
            return each
        table = {"name": "table", "file": str(existing_file(config.data))}
        if known.estimator or config.label is not None:
            table["label"] = label_of(config.data, config.label)
        return replace(each, search=named_text(table, "search"))

    return replace(wanted, mechanisms=tuple(map(searched, wanted.mechanisms)))


@contextmanager
def opened(
    wanted: WantedMechanisms, records: int | Labelled, limits: Limits | None
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
    wanted: WantedMechanisms, records: int | Labelled, limits: Limits | None = None
) -> Iterator[AuditTarget]:
    """Yield the mechanisms that are asked for, each with its claims.

    Built-in ones whose claims depend on the number n of records are told it, unless it was
    said. A user's own are imported and built in processes of their own, which have these
    limits; without limits in this one. A search among records needs these themselves, not only
    how many. Of the catalogue as a whole those are left out that no trials can say anything
    about, where trials are asked for.
    """
    yield from wanted.members
    every, parameters = wanted.mechanisms, wanted.said.parameters
    taken: set[str] = set()
    size = records if isinstance(records, int) else len(records)
    for entry in every:
        with _placed(entry):
            sought = _sought(entry, wanted, records if isinstance(records, Labelled) else None)
            answers = wanted.answers(entry) if sought is None else sought.answers
        fixed = wanted.mode != "exhaustive"
        each = replace(entry, parameters=sized(entry.target, entry.parameters, size, fixed=fixed))
        build = partial(_built, each, wanted, sought)
        names = (entry.target, *map(written, (*entry.parameters.values(), *parameters.values())))
        if limits is None or not any(":" in name for name in names):
            target = build()
        else:  # it imports a module of the user's
            target = introduced(
                each.called,
                build,
                limits,
                _fallback(each, wanted, sought),
                address=each.target,
                parameters=each.parameters | parameters,
                answers=answers,
                # a claim that is known to be wrong is held against no attack
                lost=None
                if wanted.attacked is None
                else without(each.called, DP(epsilon=0, expected="refuted")),
            )
        if sought is not None:
            target = replace(target, space=sought.space)
        lost = isinstance(target, Isolated) and target.hosts.lost
        taken |= parameters.keys() & (parameters if lost else target.parameters).keys()
        if wanted.mode != "monte-carlo":
            yield target
        elif wanted.named or not target.only_computed:
            yield target.sampled
    for name in parameters:
        if name not in taken and len(every) > 1:
            raise InvalidInput(
                f"-p {name}: no such parameter in any of {', '.join(each.called for each in every)}"
            )


def _sought(each: Configured, wanted: WantedMechanisms, records: Labelled | None) -> Sought | None:
    """Return what one mechanism's worst pair is searched for among.

    An output may only be declared if something is searched for, and answers taken together only
    if it is asked at points. What is said of the whole run may change nothing.
    """
    search = wanted.search(each)
    asked = search is not None and search.has_queries
    together, option = wanted.of(each, "together")
    if together and option and not asked:
        raise InvalidInput(
            f"{option}: requires --search records or table, whose queries have several answers"
        )
    output, option = wanted.of(each, "output")
    if search is None:
        if option:
            raise InvalidInput(
                f"{option} = '{output}': requires --search; without one, --answers says what a "
                "function answers"
            )
        return None
    space = search.space(records)
    answers = free_answers(
        space,
        together=bool(together and asked),
        bits=search.parameters.get("bits", False),
        output=None if output is None else output_of(output_said(output)),
    )
    return Sought(search, space, answers)


def _built(each: Configured, wanted: WantedMechanisms, sought: Sought | None) -> AuditTarget:
    """Build one mechanism; where there are several, with those of the parameters that it has."""
    several = len(wanted.mechanisms) > 1
    parameters = each.parameters | {
        name: value
        for name, value in wanted.said.parameters.items()
        if not several or accepts(each.target, name)
    }
    with _placed(each):
        if sought is not None:
            return _searched(each, parameters, wanted, sought)
        answers, (numbers, source) = wanted.answers(each), wanted.claim(each)
        if answers is not None and not about(each.target).function:
            raise InvalidInput(
                f"{wanted.of(each, 'answers')[1]}: only for a plain function; '{each.target}' "
                "names its own answers"
            )
        claims = None
        if numbers is not None:
            known = answers or answers_of(each.target, parameters)
            claim = claim_of(numbers, source, labels=known.numbers is None)
            claims = (replace(claim, relation=relation_of(each.target, parameters)),)
        found = resolve(each.target, parameters, claims, answers, name=each.called)
    if each.called in (wanted.attacked or ()) and isinstance(found.mechanism, FunctionMechanism):
        return replace(found, mechanism=replace(found.mechanism, free=True))
    return found


def _searched(
    each: Configured, parameters: dict[str, Any], wanted: WantedMechanisms, sought: Sought
) -> AuditTarget:
    """Build a mechanism whose pairs are searched for.

    By default its claims are its own that a search can be held against.
    """
    name, search, (text, option) = each.target, sought.search, wanted.of(each, "answers")
    said = f"{search.argument} = '{search.said}'"
    if text is not None:
        raise InvalidInput(f"{option}: has no effect with --search; its answers may be anything")
    if name in ENTRIES and not search.has_queries:
        raise InvalidInput(
            f"{said}: must be records or table,file=F,label=L; '{name}' takes labelled records"
        )
    known = about(name)
    joint = known.function or known.estimator
    if wanted.of(each, "together")[0] and search.has_queries and not joint:
        raise InvalidInput(
            f"--together: only for a plain function; '{name}' answers each query by itself"
        )
    if sought.answers.bits and name in ENTRIES:
        raise InvalidInput(f"bits: only for functions and programs; '{name}' is none")
    among = partial(replace, relation=sought.space.relation)
    numbers, source = wanted.claim(each)
    claims = None if numbers is None else (among(claim_of(numbers, source, labels=True)),)
    target = resolve(name, parameters, claims, sought.answers, name=each.called)
    n = getattr(target.given, "fixed_n", None), target.parameters.get("n")
    if n != (None, None) and not search.parameters.get("fixed", False):
        raise InvalidInput(
            f"{said}: must be records,fixed=true; '{name}' speaks of datasets of one size"
        )
    # claims that name no neighbours of their own speak of the space's
    made = (among(each) if each.relation == REPLACE_ONE else each for each in target.claims)
    return replace(target, claims=tuple(made))


def _fallback(
    each: Configured, wanted: WantedMechanisms, sought: Sought | None
) -> AuditTarget | None:
    """Return what is known of a mechanism without the user's code, if its claim is."""
    numbers, source = wanted.claim(each)
    if numbers is None:
        # no claim of the catalogue depends on the learner
        names = (each.parameters | wanted.said.parameters).items()
        plain = {name: value for name, value in names if name != "learner"}
        if not is_own(each.target) or any(":" in written(value) for value in plain.values()):
            return None
        taken = {name: value for name, value in plain.items() if accepts(each.target, name)}
        twin = resolve(each.target, taken, name=each.called)
        return replace(twin, claims=tuple(twin.mechanism.claims))
    with _placed(each):
        answers = wanted.answers(each) or AnswerKind()
        claim = claim_of(numbers, source, labels=answers.numbers is None)
    if sought is not None:
        claim = replace(claim, relation=sought.space.relation)
    has = {"labels": answers.labels} if answers.numbers is None else {"numbers": answers.numbers}
    found = replace(without(each.called, claim, **has), address=each.target)
    return found if sought is None else replace(found, space=sought.space)


def without(name: str, *claims: Claim, **has: Any) -> AuditTarget:
    """Return what stands for a mechanism that could not be built, with what it claims."""
    known = full(SimpleNamespace(**(has or {"labels": (0, 1)})))
    return AuditTarget(name=name, address=name, parameters={}, mechanism=known, claims=claims)


@contextmanager
def _placed(each: Configured) -> Iterator[None]:
    """Say of what is refused where it was configured."""
    try:
        yield
    except InvalidInput as error:
        if each.where:
            raise InvalidInput(f"{each.where}: {error}") from error
        raise
