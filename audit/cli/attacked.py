"""What `dpassay attack` attacks.

The unprotected learner, mechanisms at losses that `--epsilon` sets, and what has its own claims:
functions, mechanisms of dpassay.toml, programs, services by POST; estimators, which have none.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from dpassay.attacks.experiment.hosted import close_hosts, hosted
from dpassay.attacks.experiment.mechanisms import LEARNER, PRIVACY, PROTECTED, at_loss, claim_of
from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.run import Target
from dpassay.attacks.experiment.subjects import Learner, Protected
from dpassay.attacks.given.named import estimator_named, regressor_of
from dpassay.attacks.given.own import estimator, mechanism
from dpassay.claims import DP
from dpassay.cli.arguments.mechanisms import (
    Wanted,
    claim_numbers,
    parameters_of,
    programs_of,
    targets_of,
    without,
)
from dpassay.cli.arguments.options import limits_of
from dpassay.config.load import Config
from dpassay.config.mechanisms import Configured
from dpassay.config.searches import search_of
from dpassay.config.values import written
from dpassay.data import Table
from dpassay.errors import InvalidInput, require
from dpassay.targets.importing import is_own
from dpassay.targets.resolve import About, about
from dpassay.trials.isolation.desk import LostProcess
from dpassay.trials.isolation.introduce import introduced
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.remote import Remote


@dataclass(slots=True)
class Known:
    """What targets are; of a user's own a process that these limits hold for tells it."""

    limits: Limits
    _told: dict[str, About] = field(default_factory=dict)

    def about(self, target: str) -> About:
        """Return what a target is; of one whose process is lost nothing is known."""
        if target not in self._told:
            self._told[target] = about(target) if is_own(target) else self._asked(target)
        return self._told[target]

    def accepts(self, target: str, parameter: str) -> bool:
        """Whether a target is a mechanism class with this parameter."""
        return parameter in self.about(target).parameters

    def has_own(self, target: str) -> bool:
        """Whether a target is attacked with its own claims, as nothing sets its loss."""
        knobs = any(self.accepts(target, each) for each in PRIVACY)
        return not (knobs or self.about(target).function)

    def _asked(self, target: str) -> About:
        def there() -> Any:
            return SimpleNamespace(about=lambda: asdict(about(target)))

        remote = Remote(target, there, self.limits)
        found = About()
        with closing(remote.hosts), suppress(LostProcess):
            found = remote.ask(About, f"importing {target}", "about")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a command line asks to attack."""

    known: Known
    losses: tuple[str, ...] = ()  # mechanisms that `--epsilon` sets the loss of
    own: tuple[Configured, ...] = ()  # those that are attacked as they are, with their own claims
    estimators: tuple[str, ...] = ()  # addresses

    @property
    def named(self) -> bool:
        """Whether something is named, on the command line or in dpassay.toml."""
        return bool(self.losses or self.own or self.estimators)


def asked_of(arguments: argparse.Namespace, config: Config) -> Asked:
    """Return what a command line asks to attack; without TARGET what is configured."""
    configured = {each.called: each for each in config.mechanisms}
    programs, known = _programs(arguments), Known(limits_of(config))
    if not arguments.targets and not programs:
        if arguments.claim is not None and not configured:
            raise InvalidInput(f"--claim {arguments.claim}: requires a TARGET, which it is about")
        if configured:
            _refuse_epsilon(config)
        return Asked(known=known, own=tuple(configured.values()))
    losses, own, estimators = list[str](), [*programs], list[str]()
    for name in dict.fromkeys(arguments.targets):
        if name in configured:
            own.append(configured[name])
        elif known.about(name).estimator:
            estimators.append(name)
        elif arguments.claim is not None or known.has_own(name):
            own.append(Configured(target=name))
        else:
            losses.append(name)
    functions = [each for each in own if known.about(each.target).function]
    if not losses:
        _refuse_epsilon(config)
    if arguments.answers is not None and not functions:
        raise InvalidInput(f"--answers {arguments.answers}: requires a TARGET that is a function")
    return Asked(known=known, losses=tuple(losses), own=tuple(own), estimators=tuple(estimators))


def _refuse_epsilon(config: Config) -> None:
    if config.said("epsilon"):
        raise InvalidInput(
            "--epsilon: has no effect on targets with their own claims; --claim replaces these"
        )


def _programs(arguments: argparse.Namespace) -> list[Configured]:
    """Return the programs that are named; check the claim, which they need."""
    numbers = {} if arguments.claim is None else claim_numbers(arguments.claim)
    programs = programs_of(arguments)
    if programs and not numbers:
        option, each = programs[0]
        raise InvalidInput(f"{option} {next(iter(each.parameters.values()))}: requires --claim")
    return [each for _, each in programs]


@contextmanager
def attacked(
    asked: Asked, arguments: argparse.Namespace, config: Config, table: Table, data: ExperimentData
) -> Iterator[list[Target]]:
    """Give all that is attacked, and end the processes that have the user's own code."""
    found: list[Target] = []
    try:
        for part in (_base_learner, _at_losses, _own_targets):
            found.extend(part(asked, arguments, config, table, data))
        yield found
    finally:
        for target in found:
            close_hosts(target)


def _base_learner(
    asked: Asked, arguments: argparse.Namespace, config: Config, table: Table, data: ExperimentData
) -> Iterator[Target]:
    """Yield the unprotected learner, unless only estimators are attacked, which are that too."""
    alone, learner = config.command_line, arguments.learner or LEARNER
    only = asked.estimators and not asked.own and not asked.losses
    if alone["against"] == "mechanism" or (only and alone["against"] is None):
        return

    def build() -> Target:
        from dpassay.mechanisms.shared.learners import estimator_of

        if table.numbers is not None:
            return estimator(regressor_of(learner), table, data, learner)
        made = Learner(make=estimator_of(learner), name=learner, copies=alone["copies"])
        return Target(name=f"{learner} (unprotected)", subject=made)

    yield build() if is_own(learner) else hosted(learner, build, asked.known.limits)


def _at_losses(
    asked: Asked, arguments: argparse.Namespace, config: Config, table: Table, data: ExperimentData
) -> Iterator[Target]:
    """Yield every mechanism that `--epsilon` sets the loss of, at every loss."""
    alone, K, known = config.command_line, len(table.source["labels"]), asked.known
    if alone["against"] == "base" or (asked.named and not asked.losses):
        return
    names = asked.losses or tuple(name for name in PROTECTED if K == 2 or known.accepts(name, "K"))
    if table.numbers is not None:
        if asked.losses:
            raise InvalidInput(
                f"TARGET {names[0]}: answers labels, and the label is a number; say --task classes"
            )
        return
    budgets = tuple(sorted(alone["budgets"]))
    parameters = parameters_of(arguments.parameters, None)
    for name in names:
        own = _own(known, name, names, parameters, arguments.learner)
        own |= {"K": str(K)} if K > 2 and known.accepts(name, "K") and "K" not in own else {}
        for epsilon in alone["epsilon"]:
            build = partial(at_loss, name, epsilon, own, records=_size(data))
            target = (
                build()
                if all(map(is_own, (name, *map(written, own.values()))))
                else introduced(name, build, known.limits, lost=without(name, DP(epsilon=epsilon)))
            )
            subject = Protected(target=target, budgets=budgets, copies=alone["copies"])
            claim = claim_of(target)
            as_asked = abs(claim.epsilon - epsilon) <= 1e-9 * epsilon  # its process says the claim
            require(as_asked, f"{name}: epsilon", claim.epsilon, f"{epsilon:g}, as --epsilon says")
            called = f"{target.name}, epsilon = {epsilon:g}"
            yield Target(name=called, subject=subject, claim=claim)


def _own(
    known: Known,
    name: str,
    names: Sequence[str],
    parameters: Mapping[str, Any],
    learner: str | None,
) -> dict[str, Any]:
    """Return the parameters of one of the mechanisms.

    Of several each takes what it has, but somebody must have it.
    """
    for parameter in parameters:
        if len(names) > 1 and not any(known.accepts(each, parameter) for each in names):
            raise InvalidInput(f"-p {parameter}: no such parameter in any of {', '.join(names)}")
    own = {
        each: value
        for each, value in parameters.items()
        if len(names) == 1 or known.accepts(name, each)
    }
    taken = learner is not None and known.accepts(name, "learner")
    return own | ({"learner": learner} if taken else {})


def _size(data: ExperimentData) -> int:
    """Return the records of a training set."""
    return len(data.records) // 2 + (0 if data.background is None else len(data.background))


def _own_targets(
    asked: Asked,
    arguments: argparse.Namespace,
    config: Config,
    table: Table,
    data: ExperimentData,
) -> Iterator[Target]:
    """Yield the targets that have their own claims, or none."""
    alone, known = config.command_line, asked.known
    budgets = tuple(sorted(alone["budgets"]))
    if alone["against"] == "base":
        return
    if asked.own:
        bare = tuple(_bare(each, table, arguments, known) for each in asked.own)
        taken = any(known.accepts(each.target, "learner") for each in bare)
        wanted = Wanted(
            mechanisms=bare,
            named=True,
            parameters=parameters_of(arguments.parameters, arguments.learner if taken else None),
            claim=None if arguments.claim is None else claim_numbers(arguments.claim),
            attacked=frozenset(each.called for each in asked.own if each.search is not None),
        )
        for target in targets_of(wanted, _size(data), known.limits):
            yield mechanism(target, table, data, budgets, copies=alone["copies"])
    for name in asked.estimators:

        def build(name: str = name) -> Target:
            return estimator(estimator_named(name), table, data, name)

        yield build() if is_own(name) else hosted(name, build, known.limits)


def _bare(
    each: Configured, table: Table, arguments: argparse.Namespace, known: Known
) -> Configured:
    """Return a mechanism without its search, and with the answers that the data ask for."""
    if each.search is not None:
        search = search_of(each.search, "search")
        if not (search.of_records or search.has_queries):
            raise InvalidInput(
                f"{each.where + ': ' if each.where else ''}search = '{each.search}': an attack "
                "needs labelled records, and these data are none"
            )
    function, answers = known.about(each.target).function, arguments.answers or each.answers
    if answers is None and function:
        K = len(table.source["labels"])
        answers = ".." if table.numbers is not None else ",".join(map(str, range(max(2, K))))
    return replace(
        each,
        answers=answers if function else each.answers,
        search=None,
        together=None,
        output=None,
    )
