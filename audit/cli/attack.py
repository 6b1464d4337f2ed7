"""What `dpassay attack` does: set up the experiment, run it, print the table, write the record and the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.attacks.experiment.cache import ModelCache
from dpassay.attacks.experiment.models import ExperimentData, dismiss
from dpassay.attacks.experiment.reach import targets_to_see
from dpassay.attacks.experiment.record import make_attack_record
from dpassay.attacks.experiment.run import Design, Target, experiment, shares
from dpassay.attacks.experiment.scenario import Scenario, lay
from dpassay.attacks.experiment.slices import parts
from dpassay.attacks.experiment.subjects import Learner, Protected
from dpassay.attacks.repeated.run import failed, repeated
from dpassay.attacks.scores.interface import Attack
from dpassay.attacks.scores.registry import ATTACKS
from dpassay.claims import DP
from dpassay.cli.attack_checks import check_options
from dpassay.cli.options import configure, targets_of
from dpassay.cli.run import attack_exit_code
from dpassay.cli.service import service_command
from dpassay.cli.shared import bars, command_of, commit, console, deliver_attacks
from dpassay.data import BUILT_IN, Labelled, load
from dpassay.errors import InvalidInput, TargetError, is_count, is_real, require
from dpassay.pairs import replace_one
from dpassay.record.files import writable
from dpassay.targets.groups import Group, Progress, groups_for
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import accepts, is_function

PROTECTED = ("soft-majority", "projected-walk", "noisy-average", "pate", "private-knn", "distance-to-instability")
"""Attacked unless something else is named."""
LOSSES = "0.1,0.5,1,2,8"
"""Claimed of a single answer, unless something else is said."""
TRANSCRIPTS = 20_000
"""Of repeated queries, a side, unless something else is said."""
FEWEST, MOST, ABOVE = 32, 256, 2.5
"""Target models unless something else is said: at least, at most, and how far above its claim a leak is to be seen, in nats."""
TRIED = 20
"""Pairs and queries made of the data, where a mechanism brings none of its own to be asked at repeatedly."""
PRIVACY = ("epsilon", "alpha", "gamma")
"""Parameters that the loss of a single answer is proportional to; the first that a mechanism has is set."""


def attack_command(arguments: argparse.Namespace, words: list[str]) -> int:
    """Attack, print the table or the record, write the page."""
    from dpassay.reports.attack.pages import print_attacks

    configure(arguments)
    check_options(arguments, words)
    if arguments.service is not None:
        return service_command(arguments, words)
    require(arguments.models is None or is_count(arguments.models, 2), "--models", arguments.models, "an integer >= 2")
    transcripts = TRANSCRIPTS if arguments.transcripts is None else arguments.transcripts
    require(is_count(transcripts, 0) and not 0 < transcripts < 20, "--transcripts", transcripts, "0, or an integer >= 20")
    design = Design(references=arguments.references, confidence=arguments.confidence)
    attacks = _attacks(arguments.attacks)
    epsilons, budgets = numbers(arguments.epsilon or LOSSES, "--epsilon", float), numbers(arguments.budgets, "--budgets", int)
    table = load(BUILT_IN if arguments.data is None else arguments.data, arguments.label)
    floor, laid = lay(table, Scenario(**{option.name: getattr(arguments, option.name) for option in fields(Scenario)}))
    targets = list(_targets(arguments, epsilons, tuple(sorted(budgets)), len(floor.records) // 2 + laid["background"]))
    repeated_targets = [target for target in targets if transcripts and isinstance(target.subject, Protected)]
    share = (1 - arguments.confidence) / (
        len(targets) + len(repeated_targets)
    )  # of alpha: of a subject, of a ladder of repeated queries
    models = arguments.models or enough(targets, attacks, floor, design, share)
    design = replace(design, confidence=1 - share * len(targets), targets=models)
    directory = None if arguments.out is None else Path(arguments.out)
    if directory is not None:
        writable(directory)
    cache = Path(arguments.cache) if arguments.cache else None if directory is None else directory / "models"
    found, tested, complete = [], list[dict[str, Any]](), True
    try:
        with bars(quiet=arguments.quiet) as progress, redirect_stdout(sys.stderr):
            for attacked in experiment(
                targets, floor, attacks, design, cache=ModelCache(cache), jobs=arguments.jobs, progress=progress
            ):
                found.append(attacked)
                if attacked.error and not arguments.quiet:
                    sys.stderr.write(f"dpassay: {attacked.name}: error: {attacked.error}\n")
            for target in repeated_targets:
                tested.append(_repeated(target, floor.records, floor.test, transcripts, share, arguments.seed, progress))
    except KeyboardInterrupt:
        complete = False
    finally:
        dismiss()
    facts = laid | {
        "command": command_of(words, arguments.environment),
        "commit": commit(),
        "complete": complete,
        "confidence": arguments.confidence,
        "data": table.source,
        "learner": arguments.learner or "tree",
        "references": design.references,
        "seed": arguments.seed,
        "targets": design.targets,
    }
    record = make_attack_record(facts, floor.records, found, tested)
    shown = partial(print_attacks, record, console())
    deliver_attacks(record, directory, shown, as_json=arguments.json, quiet=arguments.quiet)
    return attack_exit_code(record, allow_inconclusive=arguments.allow_inconclusive)


def enough(targets: Sequence[Target], attacks: Mapping[str, Attack], floor: ExperimentData, design: Design, alpha: float) -> int:
    """Return the number of target models that sees a leak 2.5 nats above each claim, of those that 256 models see.

    Parameters
    ----------
    targets : sequence of Target
        What is attacked; the claim of a single answer decides.
    attacks, floor, design
        They say how many numbers share the error probability.
    alpha : float
        Of a subject.
    """
    known = (len(attacks), len(parts(floor.slices)))
    needed = [FEWEST]
    for target in targets:
        if target.claim is not None:
            single, _ = shares(alpha, len(target.subject.views), *known)
            epsilon, delta = target.claim.epsilon, target.claim.delta
            leak = epsilon + ABOVE
            needed.append(targets_to_see(leak, epsilon, delta=delta, alpha=single / design.certified, most=MOST))
    return max(needed)


def _repeated(
    target: Target, records: Labelled, test: Labelled, transcripts: int, alpha: float, seed: int, progress: Progress
) -> dict[str, Any]:
    """Ask at the worst of a mechanism's own pairs again and again; of the data's where it has none."""
    assert isinstance(target.subject, Protected)
    assert target.claim is not None
    attacked = target.subject.target
    known = {"transcripts": transcripts, "alpha": alpha, "seed": seed, "name": target.name, "progress": progress}
    try:
        groups = groups_for(attacked, None) or (_some(records, test, seed),)
        return repeated(attacked, target.claim, groups, **known).as_json()  # type: ignore[arg-type]
    except TargetError as error:
        return failed(target.name, target.claim, str(error))


def _some(records: Labelled, test: Labelled, seed: int) -> Group:
    """A few records of one half replaced by test records, or their labels flipped; asked at these and at test records."""
    S = records.take(slice(0, len(records) // 2))
    pairs = replace_one(S.X, S.y, pool=test, neighbours="one+flip" if set(S.y.tolist()) <= {0, 1} else "one", seed=seed)
    pairs = replace(pairs, changes=tuple(change for change in pairs.changes if change.index < TRIED))
    queries = np.concatenate([S.X[:TRIED], test.X[:TRIED]])
    queries.flags.writeable = False
    return Group(pairs=pairs, queries=queries, kind="data", reason=pairs.how)


def _attacks(text: str | None) -> dict[str, Attack]:
    names = list(ATTACKS) if text is None else [name.strip() for name in text.split(",")]
    for name in names:
        require(name in ATTACKS, "--attacks", name, f"one of {', '.join(ATTACKS)}")
    return {name: ATTACKS[name]() for name in names}


def numbers(text: str, option: str, kind: type) -> list[Any]:
    """Read numbers parted by commas: counts >= 1, or losses in (0, 700].

    Raises
    ------
    InvalidInput
        If it is no such list.
    """
    try:
        values = [kind(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput(f"{option} = '{text}': must be numbers parted by commas") from None
    known = all(is_count(value) if kind is int else is_real(value) and 0 < value <= 700 for value in values)
    require(known, option, text, "integers >= 1 parted by commas" if kind is int else "numbers in (0, 700] parted by commas")
    return list(dict.fromkeys(values))


def _targets(arguments: argparse.Namespace, epsilons: list[float], budgets: tuple[int, ...], n: int) -> Iterator[Target]:
    """The unprotected learner, and every mechanism at every loss."""
    from dpassay.mechanisms.shared.learners import estimator_of

    learner = arguments.learner or "tree"
    if arguments.against in (None, "base"):
        made = Learner(make=estimator_of(learner), name=learner, copies=arguments.copies)
        yield Target(name=f"{learner} (unprotected)", subject=made)
    if arguments.against in (None, "mechanism"):
        for name in dict.fromkeys(arguments.targets or PROTECTED):
            for epsilon in epsilons:
                target = _with_loss(arguments, name, epsilon, n)
                subject = Protected(target=target, budgets=budgets, copies=arguments.copies)
                yield Target(name=f"{target.name}, epsilon = {epsilon:g}", subject=subject, claim=_claim(target))


def _with_loss(arguments: argparse.Namespace, name: str, epsilon: float, n: int) -> AuditTarget:
    """Build a mechanism whose single answer loses epsilon."""
    given = argparse.Namespace(**vars(arguments) | {"targets": [name], "mode": "auto", "claim": None, "answers": None})
    if arguments.learner is None and accepts(name, "learner"):
        given.parameters = [*arguments.parameters, "learner=tree"]
    if not accepts(name, "learner"):
        given.learner = None
    knob = next((each for each in PRIVACY if accepts(name, each)), None)
    if is_function(name):
        raise InvalidInput(
            f"target = '{name}': must be a class that takes epsilon; a plain function claims nothing that --epsilon could set"
        )
    if knob is None:
        raise InvalidInput(f"target = '{name}': has no parameter {', '.join(PRIVACY)} that --epsilon could set")
    own = list(given.parameters)
    for text in own:
        if text.partition("=")[0].strip() == knob:
            raise InvalidInput(f"-p {text}: changes nothing, --epsilon sets {knob} of '{name}'")
    (one,) = targets_of(argparse.Namespace(**vars(given) | {"parameters": [*own, f"{knob}=1"]}), n)
    value = epsilon / _claim(one).epsilon
    (found,) = targets_of(argparse.Namespace(**vars(given) | {"parameters": [*own, f"{knob}={value!r}"]}), n)
    reached = _claim(found).epsilon
    if not abs(reached - epsilon) <= 1e-9 * epsilon:
        raise InvalidInput(f"--epsilon = {epsilon:g}: '{name}' with {knob} = {value:g} claims {reached:g}")
    if not found.labels:
        raise InvalidInput(f"target = '{name}': answers numbers; an attack needs labels")
    return found


def _claim(target: AuditTarget) -> DP:
    """Return the claim about a single answer that is held against the attacks: the first that is not known to be wrong."""
    found = [claim for claim in target.claims if isinstance(claim, DP) and claim.expected != "refuted"]
    if not found:
        raise InvalidInput(f"target = '{target.name}': promises no differential privacy that is not known to be wrong")
    return found[0]
