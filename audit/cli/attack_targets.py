"""What `dpassay attack` attacks.

The unprotected learner, mechanisms at losses that `--epsilon` sets, and what has its own claims:
functions, mechanisms of dpassay.toml, programs, services by POST; estimators, which have none.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial

from dpassay.attacks.experiment.hosted import close_hosts, hosted
from dpassay.attacks.experiment.mechanisms import LEARNER, PRIVACY, PROTECTED, at_loss, claim_of
from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.run import Target
from dpassay.attacks.experiment.subjects import Learner, Protected
from dpassay.attacks.user_models.subjects import estimator, mechanism, regressor_of
from dpassay.claims import DP
from dpassay.cli.mechanisms import (
    WantedMechanisms,
    claim_numbers,
    looked_at,
    parameters_of,
    programs_of,
    targets_of,
    without,
)
from dpassay.cli.settings import limits_of
from dpassay.config.load import Config
from dpassay.config.mechanisms import Configured
from dpassay.config.searches import search_of
from dpassay.config.values import written
from dpassay.data import Table
from dpassay.errors import InvalidInput, require
from dpassay.targets.importing import is_own
from dpassay.targets.resolve import About, thing_of
from dpassay.trials.isolation.target import introduced


class AttackTargets:
    """What a command line asks to attack; without TARGET what is configured.

    A user's own code is looked at, and built, in processes that the limits of the command hold for.
    """

    def __init__(self, arguments: argparse.Namespace, config: Config) -> None:
        self._arguments, self._config, self._limits = arguments, config, limits_of(config)
        self._about: Callable[[str], About] = cache(partial(looked_at, limits=self._limits))
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
                continue
            known = self._about(name)
            has_knob = any(each in known.parameters for each in PRIVACY)
            if known.estimator:
                self._estimators.append(name)
            elif arguments.claim is not None or not (has_knob or known.function):
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
        against, only = self._config.against, not self._own and not self._losses
        try:
            # unless only estimators are attacked, which are unprotected too
            if against == "base" or (against is None and not (self._estimators and only)):
                found.append(self._base_learner(table, data))
            if against != "base":
                if self._losses or not self._named:
                    found.extend(self._at_losses(table, data))
                found.extend(self._with_claims(table, data))
                for name in self._estimators:
                    build = partial(_estimator, name, table, data)
                    found.append(build() if is_own(name) else hosted(name, build, self._limits))
            yield found
        finally:
            for target in found:
                close_hosts(target)

    def _base_learner(self, table: Table, data: ExperimentData) -> Target:
        """Return the unprotected learner."""
        learner, copies = self._arguments.learner or LEARNER, self._config.copies

        def build() -> Target:
            from dpassay.mechanisms.shared.learners import estimator_of

            if table.numbers is not None:
                return estimator(regressor_of(learner), table, data, learner)
            made = Learner(make=estimator_of(learner), name=learner, copies=copies)
            return Target(name=f"{learner} (unprotected)", subject=made)

        return build() if is_own(learner) else hosted(learner, build, self._limits)

    def _at_losses(self, table: Table, data: ExperimentData) -> Iterator[Target]:
        """Yield every mechanism that `--epsilon` sets the loss of, at every loss."""
        config, K, learner = self._config, len(table.source["labels"]), self._arguments.learner
        has = {name: self._about(name).parameters for name in self._losses or PROTECTED}
        if not self._losses and K != 2:
            has = {name: own for name, own in has.items() if "K" in own}
        if table.numbers is not None:
            if self._losses:
                raise InvalidInput(
                    f"TARGET {self._losses[0]}: answers labels, and the label is a number; say "
                    "--task classes"
                )
            return
        parameters = parameters_of(self._arguments.parameters, None)
        for name, takes in has.items():
            # of several each takes what it has, but somebody must have it
            for parameter in parameters if len(has) > 1 else ():
                if not any(parameter in each for each in has.values()):
                    raise InvalidInput(
                        f"-p {parameter}: no such parameter in any of {', '.join(has)}"
                    )
            own = {key: value for key, value in parameters.items() if len(has) == 1 or key in takes}
            own |= {"learner": learner} if learner is not None and "learner" in takes else {}
            own |= {"K": str(K)} if K > 2 and "K" in takes and "K" not in own else {}
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

    def _with_claims(self, table: Table, data: ExperimentData) -> Iterator[Target]:
        """Yield the targets that have their own claims."""
        arguments, config = self._arguments, self._config
        if not self._own:
            return
        bare = tuple(self._bare(each, table) for each in self._own)
        taken = any("learner" in self._about(each.target).parameters for each in bare)
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

    def _bare(self, each: Configured, table: Table) -> Configured:
        """Return a mechanism without its search, and with the answers that the data ask for."""
        if each.search is not None and not search_of(each.search, "search").has_queries:
            raise InvalidInput(
                f"{each.where + ': ' if each.where else ''}search = '{each.search}': an attack "
                "needs labelled records, and these data are none"
            )
        answers = each.answers
        if self._about(each.target).function:
            labels = ",".join(map(str, range(max(2, len(table.source["labels"])))))
            by_data = labels if table.numbers is None else ".."
            answers = self._arguments.answers or answers or by_data
        return replace(each, answers=answers, search=None, together=None, output=None)


def _estimator(name: str, table: Table, data: ExperimentData) -> Target:
    return estimator(thing_of(name), table, data, name)


def _size(data: ExperimentData) -> int:
    """Return the records of a training set."""
    return len(data.records) // 2 + (0 if data.background is None else len(data.background))
