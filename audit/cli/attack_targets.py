"""What `dpassay attack` attacks.

The unprotected learner, mechanisms at losses that `--epsilon` sets, and what has its own claims:
functions, mechanisms of dpassay.toml, programs, services by POST; estimators, which have none.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from dpassay.attacks.experiment.hosted import close_hosts, hosted
from dpassay.attacks.experiment.mechanisms import LEARNER, PRIVACY, PROTECTED, at_loss, claim_of
from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.run import Target
from dpassay.attacks.experiment.subjects import Learner, Protected
from dpassay.attacks.user_models.subjects import estimator, estimator_named, mechanism, regressor_of
from dpassay.claims import DP
from dpassay.cli.arguments.mechanisms import WantedMechanisms, targets_of, without
from dpassay.cli.arguments.options import limits_of
from dpassay.cli.arguments.subject import claim_numbers, parameters_of, programs_of
from dpassay.config.load import Config
from dpassay.config.mechanisms import Configured
from dpassay.config.searches import search_of
from dpassay.config.values import written
from dpassay.data import Table
from dpassay.errors import InvalidInput, require
from dpassay.targets.importing import is_own
from dpassay.targets.resolve import About, about
from dpassay.trials.isolation.hosts import Hosts, LostProcess
from dpassay.trials.isolation.introduce import introduced
from dpassay.trials.isolation.server import Server


class AttackTargets:
    """What a command line asks to attack; without TARGET what is configured.

    A user's own code is looked at, and built, in processes that the limits of the command hold for.
    """

    def __init__(self, arguments: argparse.Namespace, config: Config) -> None:
        self._arguments, self._config, self._limits = arguments, config, limits_of(config)
        self._known: dict[str, About] = {}
        self._claim = None if arguments.claim is None else claim_numbers(arguments.claim)
        self._losses = list[str]()  # mechanisms that `--epsilon` sets the loss of
        self._own = list[Configured]()  # those that are attacked as they are, with own claims
        self._estimators = list[str]()  # addresses
        programs = programs_of(arguments)
        if programs and self._claim is None:
            option, each = programs[0]
            word = next(iter(each.parameters.values()))
            raise InvalidInput(f"{option} {word}: requires --claim")
        configured = {each.called: each for each in config.mechanisms}
        named = bool(arguments.targets or programs)
        if not named and arguments.claim is not None and not configured:
            raise InvalidInput(f"--claim {arguments.claim}: requires a TARGET, which it is about")
        self._own += [each for _, each in programs] if named else configured.values()
        for name in dict.fromkeys(arguments.targets):
            if name in configured:
                self._own.append(configured[name])
            elif self._about(name).estimator:
                self._estimators.append(name)
            elif arguments.claim is not None or self._has_own(name):
                self._own.append(Configured(target=name))
            else:
                self._losses.append(name)
        self._named = bool(self._losses or self._own or self._estimators)
        if self._named and not self._losses and config.said("epsilon"):
            raise InvalidInput(
                "--epsilon: has no effect on targets with their own claims; --claim replaces these"
            )
        functions = named and any(self._about(each.target).function for each in self._own)
        if named and arguments.answers is not None and not functions:
            raise InvalidInput(
                f"--answers {arguments.answers}: requires a TARGET that is a function"
            )

    @contextmanager
    def built(self, table: Table, data: ExperimentData) -> Iterator[list[Target]]:
        """Give all that is attacked, and end the processes that have the user's own code."""
        found: list[Target] = []
        try:
            for part in (self._base_learner, self._at_losses, self._with_claims):
                found.extend(part(table, data))
            yield found
        finally:
            for target in found:
                close_hosts(target)

    def _about(self, target: str) -> About:
        """Return what a target is; of one whose process is lost nothing is known."""
        if target not in self._known:
            self._known[target] = about(target) if is_own(target) else self._asked(target)
        return self._known[target]

    def _asked(self, target: str) -> About:
        def there() -> Any:
            return SimpleNamespace(about=lambda: asdict(about(target)))

        remote = Hosts(target, Server(there), self._limits, bare=True)
        found = About()
        with closing(remote), suppress(LostProcess):
            found = remote.ask(About, f"importing {target}", "about")
        return found

    def _accepts(self, target: str, parameter: str) -> bool:
        """Whether a target is a mechanism class with this parameter."""
        return parameter in self._about(target).parameters

    def _has_own(self, target: str) -> bool:
        """Whether a target is attacked with its own claims, as nothing sets its loss."""
        knobs = any(self._accepts(target, each) for each in PRIVACY)
        return not (knobs or self._about(target).function)

    def _base_learner(self, table: Table, data: ExperimentData) -> Iterator[Target]:
        """Yield the unprotected learner, unless only estimators are attacked, which are too."""
        learner, config = self._arguments.learner or LEARNER, self._config
        only = self._estimators and not self._own and not self._losses
        if config.against == "mechanism" or (only and config.against is None):
            return

        def build() -> Target:
            from dpassay.mechanisms.shared.learners import estimator_of

            if table.numbers is not None:
                return estimator(regressor_of(learner), table, data, learner)
            made = Learner(make=estimator_of(learner), name=learner, copies=config.copies)
            return Target(name=f"{learner} (unprotected)", subject=made)

        yield build() if is_own(learner) else hosted(learner, build, self._limits)

    def _at_losses(self, table: Table, data: ExperimentData) -> Iterator[Target]:
        """Yield every mechanism that `--epsilon` sets the loss of, at every loss."""
        config, K = self._config, len(table.source["labels"])
        if config.against == "base" or (self._named and not self._losses):
            return
        names = self._losses or [name for name in PROTECTED if K == 2 or self._accepts(name, "K")]
        if table.numbers is not None:
            if self._losses:
                raise InvalidInput(
                    f"TARGET {names[0]}: answers labels, and the label is a number; say --task "
                    "classes"
                )
            return
        parameters = parameters_of(self._arguments.parameters, None)
        for name in names:
            own = self._parameters(name, names, parameters)
            own |= {"K": str(K)} if K > 2 and self._accepts(name, "K") and "K" not in own else {}
            for epsilon in config.epsilon:
                build = partial(at_loss, name, epsilon, own, records=_size(data))
                lost = without(name, DP(epsilon=epsilon))
                target = (
                    build()
                    if all(map(is_own, (name, *map(written, own.values()))))
                    else introduced(name, build, self._limits, lost=lost)
                )
                budgets = tuple(sorted(config.budgets))
                subject = Protected(target=target, budgets=budgets, copies=config.copies)
                claim = claim_of(target)
                as_asked = abs(claim.epsilon - epsilon) <= 1e-9 * epsilon  # its process says it
                say = f"{epsilon:g}, as --epsilon says"
                require(as_asked, f"{name}: epsilon", claim.epsilon, say)
                called = f"{target.name}, epsilon = {epsilon:g}"
                yield Target(name=called, subject=subject, claim=claim)

    def _parameters(
        self, name: str, names: list[str], parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the parameters of one of the mechanisms.

        Of several each takes what it has, but somebody must have it.
        """
        several, learner = len(names) > 1, self._arguments.learner
        for parameter in parameters:
            if several and not any(self._accepts(each, parameter) for each in names):
                raise InvalidInput(
                    f"-p {parameter}: no such parameter in any of {', '.join(names)}"
                )
        own = {
            each: value
            for each, value in parameters.items()
            if not several or self._accepts(name, each)
        }
        taken = learner is not None and self._accepts(name, "learner")
        return own | ({"learner": learner} if taken else {})

    def _with_claims(self, table: Table, data: ExperimentData) -> Iterator[Target]:
        """Yield the targets that have their own claims, or none."""
        arguments, config = self._arguments, self._config
        if config.against == "base":
            return
        if self._own:
            bare = tuple(self._bare(each, table) for each in self._own)
            taken = any(self._accepts(each.target, "learner") for each in bare)
            said = parameters_of(arguments.parameters, arguments.learner if taken else None)
            wanted = WantedMechanisms(
                mechanisms=bare,
                named=True,
                said=Configured(target="", claim=self._claim, parameters=said),
                attacked=frozenset(each.called for each in self._own if each.search is not None),
            )
            budgets = tuple(sorted(config.budgets))
            for target in targets_of(wanted, _size(data), self._limits):
                yield mechanism(target, table, data, budgets, copies=config.copies)
        for name in self._estimators:

            def build(name: str = name) -> Target:
                return estimator(estimator_named(name), table, data, name)

            yield build() if is_own(name) else hosted(name, build, self._limits)

    def _bare(self, each: Configured, table: Table) -> Configured:
        """Return a mechanism without its search, and with the answers that the data ask for."""
        if each.search is not None:
            search = search_of(each.search, "search")
            if not (search.of_records or search.has_queries):
                raise InvalidInput(
                    f"{each.where + ': ' if each.where else ''}search = '{each.search}': an attack "
                    "needs labelled records, and these data are none"
                )
        function = self._about(each.target).function
        answers = self._arguments.answers or each.answers
        if answers is None and function:
            K = len(table.source["labels"])
            answers = ".." if table.numbers is not None else ",".join(map(str, range(max(2, K))))
        answers = answers if function else each.answers
        return replace(each, answers=answers, search=None, together=None, output=None)


def _size(data: ExperimentData) -> int:
    """Return the records of a training set."""
    return len(data.records) // 2 + (0 if data.background is None else len(data.background))
