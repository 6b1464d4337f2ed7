"""The Python interface of the experiment: what a user has written, on the user's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.hosted import close_hosts, hosted
from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.planning import enough
from dpassay.attacks.experiment.record import make_attack_record
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.experiment.scenario import Scenario, lay
from dpassay.attacks.given.estimates import OWN
from dpassay.attacks.given.own import estimator, mechanism
from dpassay.attacks.given.predictions import PredictionTask, Tabular, tabular, task_of
from dpassay.attacks.given.result import AttackResult
from dpassay.attacks.repeated.run import attack_repeatedly, can_be_repeated
from dpassay.attacks.scores import ATTACKS
from dpassay.claims import DP, GDP, Claim, Stability
from dpassay.config.options import COMMAND_LINE
from dpassay.config.profiles import CONFIDENCE, MEMORY, SHARD_TIMEOUT
from dpassay.data import BUILT_IN, Labelled, Table, digest, filled, load
from dpassay.errors import InvalidInput, TargetError, is_count, require
from dpassay.mechanism import FunctionMechanism
from dpassay.rows.reading import rows_of
from dpassay.rows.rows import Rows
from dpassay.targets.adapter import Encoding, is_mechanism
from dpassay.targets.calls import named, taken
from dpassay.targets.estimators import is_estimator
from dpassay.targets.guard import AuditTarget
from dpassay.targets.importing import is_own
from dpassay.targets.resolve import parameters_of, resolve
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import introduced, is_foreign, isolated

LABEL = "label of dpassay"
"""A column that no user has."""


def attack(
    target: Any,
    *,
    data: Any = None,
    label: str | None = None,
    claim: Claim | None = None,
    task: str | None = None,
    budgets: tuple[int, ...] = COMMAND_LINE["budgets"].default,
    attacks: Sequence[str] | None = None,
    records: int = COMMAND_LINE["records"].default,
    references: int = COMMAND_LINE["references"].default,
    models: int | None = None,
    transcripts: int | None = None,
    seed: int = 0,
    confidence: float = CONFIDENCE,
    jobs: int = 1,
    shard_timeout: float = SHARD_TIMEOUT,
    memory: float = MEMORY,
) -> AttackResult:
    """Attack an estimator, a function or a mechanism on data, as `dpassay attack` does.

    What you give is called in a process that is forked from this one: it can end neither this one
    nor the attack, but whatever it did while you imported or made it, it did here. Models are
    trained on random halves of the records, by fair coins of ours, so that bounds on
    the loss of single records are certified. See docs/attacks.md.

    Parameters
    ----------
    target : estimator, callable, mechanism or text
        An estimator with `fit` and `predict`, which claims nothing; a function `function(data,
        queries, size, rng)` or a shorter one, which needs a claim; a `Mechanism`, a program
        (`dpassay.targets.foreign.process`) or a service (`http`), with their own claims or this
        one; or a name of the catalogue.
    data : DataFrame, or pair (X, y), optional
        Labelled records; scikit-learn's breast cancer data by default. A function gets them in this
        form. A mechanism, and an estimator without a coder of its own, get numbers: every text a
        column of its own, see `dpassay.targets.adapter.Encoding`; a missing number becomes 0, with
        a column that says so.
    label : str, optional
        The column of a DataFrame that is predicted.
    claim : DP, GDP or Stability, optional
        What to hold against the guesses, about a single answer; the target's own by default. Of a
        curve, of GDP and of Stability an (epsilon, delta) that they imply.
    task : {"classes", "numbers"}, optional
        What is predicted; by default numbers, if the estimator is a regressor or the label has
        values that are not whole.
    budgets : tuple of int
        Numbers of answers about each record, of mechanisms and functions; >= 1.
    attacks : sequence of str, optional
        By name; all by default.
    records, references, models : int
        Records whose membership is guessed, reference models and target models; see docs/attacks.md
        for how many a claim takes. By default enough target models are trained to see a leak 2.5
        above the claim, and a mechanism is asked for fresh answers about the records with bounds of
        their own.
    transcripts : int, optional
        A side, of repeated queries of a mechanism that answers labels and has a claim; 0 for none.
        By default what certifies 85 % of a claim that is just kept, 20,000 at least (and 20,000
        where it takes more than 100,000).
    seed, confidence, jobs, shard_timeout, memory
        See `dpassay.audit`.

    Returns
    -------
    AttackResult

    Raises
    ------
    InvalidInput
        If an argument is out of range, or the target does not go with the data.
    TargetError
        If the target fails.
    """
    if isinstance(target, type):
        raise InvalidInput(
            f"target = {target.__name__}: must be an object, not its class; call it with its "
            "parameters"
        )
    known = claim is None or isinstance(claim, (DP, GDP, Stability))
    require(known, "claim", claim, "a claim such as DP(epsilon=1.0)")
    for m in budgets:
        require(is_count(m), "budgets", m, "integers >= 1")
    given = None if data is None else tabular(data, label, "data")
    wanted = _task(target, given, task)
    table = _table(target, given, wanted)
    rows = None
    if given is not None and _is_free(target):
        rows = rows_of(data, label=label)
    scenario = Scenario(records=records, copies=0, seed=seed)
    ground, laid = lay(table, scenario)
    limits = Limits(seconds=shard_timeout, memory=memory)
    attacked = _target(target, claim, table, ground, given, tuple(sorted(budgets)), rows, limits)
    try:
        chosen = _chosen(attacks, numbers=wanted == "numbers")
        asked = transcripts != 0 and can_be_repeated(attacked)
        share = (1 - confidence) / (1 + asked)
        design = Design(references=references, confidence=1 - share)
        number = models or enough([attacked], chosen, ground, design, share)
        design = replace(design, targets=number, fresh=models is None)
        found = list(experiment([attacked], ground, chosen, design, jobs=jobs))
        if found[0].error:
            raise TargetError(found[0].error)
        tested = (
            [attack_repeatedly(attacked, ground, transcripts=transcripts, alpha=share)]
            if asked
            else []
        )
    finally:
        close_hosts(attacked)
    facts = laid | {
        "command": f"dpassay.attack({attacked.name!r}, ...)",
        "commit": None,
        "complete": True,
        "confidence": confidence,
        "data": table.source,
        "learner": attacked.name,
        "references": references,
        "seed": seed,
        "targets": number,
    }
    return AttackResult(make_attack_record(facts, ground.records, found, tested))


def _task(target: Any, given: Tabular | None, task: str | None) -> str:
    if task is not None or given is None:
        wanted = task or "classes"
        require(wanted in ("classes", "numbers"), "task", wanted, "classes or numbers")
        if given is None and wanted == "numbers":
            raise InvalidInput("task = 'numbers': requires data with a label that is a number")
        return wanted
    return task_of(target if is_estimator(target) else None, given.y)


def _chosen(names: Sequence[str] | None, *, numbers: bool) -> dict[str, Any]:
    known = OWN if numbers else tuple(ATTACKS)
    for name in names or ():
        require(name in known, "attacks", name, f"one of {', '.join(known)}")
    return {name: ATTACKS[name] for name in names or known}


def _table(target: Any, given: Tabular | None, wanted: str) -> Table:
    """Return the records as the experiment knows them.

    Where a target gets them in the user's form, it knows them by their place alone.
    """
    if given is None:
        return load(BUILT_IN)
    doing = PredictionTask(kind=wanted, y=given.y)
    by_place = is_estimator(target) or _is_free(target)
    X = np.arange(len(given), dtype=float)[:, None] if by_place else coded(given, doing.codes)
    source = {
        "kind": "records",
        "name": "data",
        "labels": ["a number"] if wanted == "numbers" else [str(each) for each in doing.classes],
        "records": len(given),
        "columns": int(np.shape(given.X)[1]),
        "sha256": digest(given.coded),
    }
    numbers = doing.classes if wanted == "numbers" else None
    return Table(data=Labelled(X, doing.codes), source=source, numbers=numbers)


def coded(given: Tabular, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return features as numbers, the code of a record being its own alone."""
    if not hasattr(given.X, "iloc"):
        return np.asarray(rows_of((given.X, codes)).values[:, :-1], dtype=float)
    rows = rows_of(filled(given.X).assign(**{LABEL: codes}), label=LABEL)
    return Encoding(rows.form).labelled(rows).X


def _is_free(target: Any) -> bool:
    """Return whether a target gets records in the user's form, and may answer anything."""
    if isinstance(target, str) or is_estimator(target):
        return False
    return bool(getattr(target, "free", False)) or not is_mechanism(target)


def _target(
    target: Any,
    claim: Claim | None,
    table: Table,
    ground: ExperimentData,
    given: Tabular | None,
    budgets: tuple[int, ...],
    rows: Rows | None,
    limits: Limits,
) -> Target:
    """Return what is attacked, with its claim."""
    if is_estimator(target):
        if claim is not None:
            raise InvalidInput("claim: goes with a function or mechanism; an estimator claims none")
        name, own, classes = type(target).__name__, None, None
        if given is not None:
            own = given.X if takes_frames(target, given.X) else coded(given, table.data.y)
            classes = None if table.numbers is not None else given.y
        build = partial(estimator, target, table, ground, name, features=own, classes=classes)
        return hosted(name, build, limits, bare=False)
    if isinstance(target, str):
        make = partial(resolve, target, {}, None if claim is None else (claim,))
        found = make() if is_own(target) else introduced(target, make, limits, address=target)
        found = found if claim is None else replace(found, claims=(claim,))
        return mechanism(found, table, ground, budgets)
    name = getattr(target, "__qualname__", type(target).__qualname__)
    if is_mechanism(target):
        claims = tuple(target.claims) if claim is None else (claim,)
        made, parameters = target, parameters_of(target)
    else:
        if not callable(target):
            raise InvalidInput(
                f"target = {type(target).__name__}: must be an estimator, a function or a mechanism"
            )
        claims, parameters = () if claim is None else (claim,), {}
        takes = taken(target, f"target = {name}")
        free, seeded = given is not None, "rng" in takes
        made = FunctionMechanism(
            function=target,
            claims=claims,
            takes=takes,
            named=named(target),
            free=free,
            seeded=seeded,
        )
    if not claims:
        raise InvalidInput(
            f"claim is missing: {name} has no claim of its own; add claim=DP(epsilon=...)"
        )
    audited = AuditTarget(
        name=name, address=None, parameters=parameters, mechanism=made, claims=claims
    )
    if is_foreign(audited):
        audited = isolated(audited, limits, [])
    if rows is None:
        return mechanism(audited, table, ground, budgets)
    values = table.numbers if given is None or table.numbers is not None else np.unique(given.y)
    return mechanism(audited, table, ground, budgets, rows=rows, values=values)


def takes_frames(estimator: Any, X: Any) -> bool:
    """Return whether an estimator gets features as they are.

    Where all are numbers and none is missing, where it has a `ColumnTransformer` of its own, or
    where it is none of scikit-learn's.
    """
    if not hasattr(X, "iloc"):
        return True
    numeric = all(kind.kind in "iufb" for kind in X.dtypes) and not X.isna().to_numpy().any()
    parameters = getattr(estimator, "get_params", None)
    if numeric or parameters is None:
        return True
    return any(hasattr(each, "transformers") for each in (estimator, *parameters().values()))
