"""What `dpassay attack` attacks.

The unprotected learner, mechanisms at losses that `--epsilon` sets, and what has its own claims:
functions, mechanisms of dpassay.toml, programs, services by POST; estimators, which have none.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpassay.attacks.experiment.mechanisms import LEARNER, PRIVACY, PROTECTED, at_loss, claim_of
from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.run import Target
from dpassay.attacks.experiment.subjects import Learner, Protected
from dpassay.attacks.given.own import estimator, mechanism
from dpassay.attacks.given.regressors import regressor_of
from dpassay.cli.arguments.mechanisms import (
    Wanted,
    claim_numbers,
    parameters_of,
    programs_of,
    targets_of,
)
from dpassay.config.load import Config
from dpassay.config.mechanisms import Configured
from dpassay.config.searches import search_of
from dpassay.data import Table
from dpassay.errors import InvalidInput
from dpassay.mechanism import FunctionMechanism
from dpassay.targets.estimators import is_estimator
from dpassay.targets.importing import load_object
from dpassay.targets.resolve import accepts, is_function


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a command line asks to attack.

    Parameters
    ----------
    losses : tuple of str
        Mechanisms that `--epsilon` sets the loss of.
    own : tuple of Configured
        Those that are attacked as they are, with their own claims.
    estimators : dict
        Estimators, by their addresses.
    """

    losses: tuple[str, ...] = ()
    own: tuple[Configured, ...] = ()
    estimators: dict[str, Any] = field(default_factory=dict)

    @property
    def named(self) -> bool:
        """Whether something is named, on the command line or in dpassay.toml."""
        return bool(self.losses or self.own or self.estimators)


def asked_of(arguments: argparse.Namespace, config: Config) -> Asked:
    """Return what a command line asks to attack; without TARGET what is configured.

    Raises
    ------
    InvalidInput
        If there is no such target, or a claim goes with none.
    """
    known = {each.called: each for each in config.mechanisms}
    programs = _programs(arguments)
    if not arguments.targets and not programs:
        if arguments.claim is not None and not known:
            raise InvalidInput(f"--claim {arguments.claim}: requires a TARGET, which it is about")
        if known:
            _refuse_epsilon(config)
        return Asked(own=tuple(known.values()))
    losses, own, estimators = list[str](), [*programs], dict[str, Any]()
    for name in dict.fromkeys(arguments.targets):
        found = load_object(name, "target") if ":" in name and name not in known else None
        made = _estimator_of(found)
        if name in known:
            own.append(known[name])
        elif made is not None:
            estimators[name] = made
        elif arguments.claim is not None or _has_own(name):
            own.append(Configured(target=name))
        else:
            losses.append(name)
    if not losses:
        _refuse_epsilon(config)
    if arguments.answers is not None and not any(is_function(each.target) for each in own):
        raise InvalidInput(f"--answers {arguments.answers}: requires a TARGET that is a function")
    return Asked(losses=tuple(losses), own=tuple(own), estimators=estimators)


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


def _estimator_of(found: Any) -> Any:
    """Return an estimator, made of its class where that is what was named; None of others."""
    if not is_estimator(found):
        return None
    if not isinstance(found, type):
        return found
    try:
        return found()
    except Exception as error:  # what is not ours may do anything
        raise InvalidInput(
            f"target = {found.__name__}: cannot be made without arguments ({error}); name an object"
        ) from error


def _has_own(name: str) -> bool:
    """Whether a target is attacked with its own claims, as nothing sets its loss."""
    return not is_function(name) and not any(accepts(name, each) for each in PRIVACY)


def base_learner(
    asked: Asked, arguments: argparse.Namespace, config: Config, table: Table, data: ExperimentData
) -> Iterator[Target]:
    """Yield the unprotected learner, unless only estimators are attacked, which are that too.

    Raises
    ------
    InvalidInput
        If there is no such learner.
    """
    from dpassay.mechanisms.shared.learners import estimator_of

    alone, learner = config.command_line, arguments.learner or LEARNER
    only = asked.estimators and not asked.own and not asked.losses
    if alone["against"] == "mechanism" or (only and alone["against"] is None):
        return
    if table.numbers is not None:
        yield estimator(regressor_of(learner), table, data, learner)
        return
    made = Learner(make=estimator_of(learner), name=learner, copies=alone["copies"])
    yield Target(name=f"{learner} (unprotected)", subject=made)


def at_losses(
    asked: Asked, arguments: argparse.Namespace, config: Config, table: Table, data: ExperimentData
) -> Iterator[Target]:
    """Yield every mechanism that `--epsilon` sets the loss of, at every loss.

    Raises
    ------
    InvalidInput
        If one cannot be built so, or does not answer what the label is.
    """
    alone, K = config.command_line, len(table.source["labels"])
    if alone["against"] == "base" or (asked.named and not asked.losses):
        return
    names = asked.losses or tuple(name for name in PROTECTED if K == 2 or accepts(name, "K"))
    if table.numbers is not None:
        if asked.losses:
            raise InvalidInput(
                f"TARGET {names[0]}: answers labels, and the label is a number; say --task classes"
            )
        return
    budgets = tuple(sorted(alone["budgets"]))
    parameters = parameters_of(arguments.parameters, None)
    for name in names:
        own = _own(name, names, parameters, arguments.learner)
        own |= {"K": str(K)} if K > 2 and accepts(name, "K") and "K" not in own else {}
        for epsilon in alone["epsilon"]:
            target = at_loss(name, epsilon, own, records=_size(data))
            subject = Protected(target=target, budgets=budgets, copies=alone["copies"])
            yield Target(
                name=f"{target.name}, epsilon = {epsilon:g}",
                subject=subject,
                claim=claim_of(target),
            )


def _own(
    name: str, names: Sequence[str], parameters: Mapping[str, Any], learner: str | None
) -> dict[str, Any]:
    """Return the parameters of one of the mechanisms.

    Of several each takes what it has, but somebody must have it.
    """
    for parameter in parameters:
        if len(names) > 1 and not any(accepts(each, parameter) for each in names):
            raise InvalidInput(f"-p {parameter}: no such parameter in any of {', '.join(names)}")
    own = {
        each: value for each, value in parameters.items() if len(names) == 1 or accepts(name, each)
    }
    return own | ({"learner": learner} if learner is not None and accepts(name, "learner") else {})


def _size(data: ExperimentData) -> int:
    """Return the records of a training set."""
    return len(data.records) // 2 + (0 if data.background is None else len(data.background))


def own_targets(
    asked: Asked,
    arguments: argparse.Namespace,
    config: Config,
    table: Table,
    data: ExperimentData,
) -> Iterator[Target]:
    """Yield the targets that have their own claims, or none.

    Raises
    ------
    InvalidInput
        If a mechanism cannot be built, or its data are no labelled records.
    """
    alone = config.command_line
    budgets = tuple(sorted(alone["budgets"]))
    if alone["against"] == "base":
        return
    if asked.own:
        searched = [each for each in asked.own if each.search is not None]
        bare = tuple(_bare(each, table, arguments) for each in asked.own)
        taken = any(accepts(each.target, "learner") for each in bare)
        wanted = Wanted(
            mechanisms=bare,
            named=True,
            parameters=parameters_of(arguments.parameters, arguments.learner if taken else None),
            claim=None if arguments.claim is None else claim_numbers(arguments.claim),
        )
        free = {each.called for each in searched}
        for built in targets_of(wanted, _size(data)):
            known, anything = built.mechanism, built.name in free
            if anything and isinstance(known, FunctionMechanism):
                known = replace(known, free=True)
            target = replace(built, mechanism=known)
            yield mechanism(target, table, data, budgets, copies=alone["copies"])
    for name, found in asked.estimators.items():
        yield estimator(found, table, data, name)


def _bare(each: Configured, table: Table, arguments: argparse.Namespace) -> Configured:
    """Return a mechanism without its search, and with the answers that the data ask for."""
    if each.search is not None:
        search = search_of(each.search, "search")
        if not (search.of_records or search.has_queries):
            raise InvalidInput(
                f"{each.where + ': ' if each.where else ''}search = '{each.search}': an attack "
                "needs labelled records, and these data are none"
            )
    answers = arguments.answers or each.answers
    if answers is None and is_function(each.target):
        K = len(table.source["labels"])
        answers = ".." if table.numbers is not None else ",".join(map(str, range(max(2, K))))
    return replace(
        each,
        answers=answers if is_function(each.target) else each.answers,
        search=None,
        together=None,
        output=None,
    )
