"""Targets of `dpassay attack` that are the user's own.

Functions, mechanisms with their own claims, those of dpassay.toml, programs, services by POST,
estimators.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from dpassay.attacks.experiment.mechanisms import PRIVACY
from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.run import Target
from dpassay.attacks.given.own import estimator, mechanism
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
from dpassay.targets.catalogue import ENTRIES
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
    if config.said("epsilon") and not losses:
        raise InvalidInput(
            "--epsilon: has no effect on targets with their own claims; --claim replaces these"
        )
    return Asked(losses=tuple(losses), own=tuple(own), estimators=estimators)


def _programs(arguments: argparse.Namespace) -> list[Configured]:
    """Return the programs that are named; check the claim, which they need."""
    numbers = {} if arguments.claim is None else claim_numbers(arguments.claim)
    if numbers.keys() - {"epsilon", "delta"}:
        raise InvalidInput(f"--claim {arguments.claim}: must be epsilon=E or epsilon=E,delta=D")
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
    return (
        name not in ENTRIES
        and not is_function(name)
        and not any(accepts(name, each) for each in PRIVACY)
    )


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
    if asked.own:
        size = len(data.records) // 2 + (0 if data.background is None else len(data.background))
        searched = [each for each in asked.own if each.search is not None]
        bare = tuple(_bare(each, table, arguments) for each in asked.own)
        wanted = Wanted(
            mechanisms=bare,
            named=True,
            parameters=parameters_of(arguments.parameters, arguments.learner),
            claim=None if arguments.claim is None else claim_numbers(arguments.claim),
        )
        free = {each.called for each in searched}
        for built in targets_of(wanted, size):
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
