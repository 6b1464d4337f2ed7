"""The Python interface of the experiment: what a user has written, on the user's data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.hosted import close_hosts, hosted
from dpassay.attacks.experiment.models import ExperimentData
from dpassay.attacks.experiment.planning import enough
from dpassay.attacks.experiment.record import make_attack_record
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.experiment.scenario import Scenario, lay
from dpassay.attacks.repeated.run import attack_repeatedly, can_be_repeated
from dpassay.attacks.scores import ATTACKS, OWN
from dpassay.attacks.user_models.predictions import PredictionTask, Tabular, tabular, task_of
from dpassay.attacks.user_models.subjects import estimator, mechanism
from dpassay.claims import DP, GDP, Claim, Stability
from dpassay.config.options import COMMAND_LINE
from dpassay.config.profiles import CONFIDENCE, MEMORY, SHARD_TIMEOUT
from dpassay.data import BUILT_IN, Labelled, Table, digest, filled, load
from dpassay.errors import InvalidInput, TargetError, is_count, require
from dpassay.mechanism import FunctionMechanism
from dpassay.record.attack_record import broken, told_of_claims
from dpassay.record.files import dumps, writable, write_text
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


@dataclass(frozen=True, slots=True, eq=False)
class AttackResult:
    """The result of attacks on one or several subjects.

    Parameters
    ----------
    record : mapping
        Of schema `dpassay/attack/1`, as `dpassay attack --json` prints it.
    """

    record: Mapping[str, Any]

    @property
    def best(self) -> Mapping[str, Any]:
        """The outcome with the highest AUC, over all subjects, views and attacks."""
        found = [each for subject in self.record["subjects"] for each in subject["outcomes"]]
        return max(found, key=lambda each: float(each["auc"]))

    @property
    def auc(self) -> float:
        """Its AUC, in [0, 1]; an estimate."""
        return float(self.best["auc"])

    def of(self, attack: str, view: str = "") -> Mapping[str, Any]:
        """Return what an attack reached, by its name; in the first view, or in one of this name.

        Raises
        ------
        KeyError
            If there is none.
        """
        for subject in self.record["subjects"]:
            for each in subject.get("outcomes", ()):
                if each["attack"] == attack and view in ("", each["view"]["name"]):
                    return dict(each)
        raise KeyError(attack)

    @property
    def claims(self) -> dict[str, str]:
        """Return what became of each claim: broken, not broken, or could not have seen it."""
        return told_of_claims(self.record)

    @property
    def lower(self) -> float | None:
        """The largest certified lower bound on the loss of a record, in nats."""
        found = [each["lower"] for one in self.record["subjects"] for each in one["certified"]]
        return max(map(float, found)) if found else None

    @property
    def broken(self) -> bool:
        """Return whether a certified bound exceeds its claim."""
        return any(any(broken(subject)) for subject in self.record["subjects"])

    def save(self, directory: str | Path) -> Path:
        """Write `attack.json` into a folder; `dpassay report` makes the page of it.

        Returns
        -------
        Path
            Of the file.
        """
        folder = Path(directory)
        writable(folder)
        path = folder / "attack.json"
        write_text(path, dumps(self.record))
        return path

    def __str__(self) -> str:
        best, name = self.best, self.record["subjects"][0]["name"]
        told = (
            f"{name}: {best['attack']} on {best['view']['name']} has AUC {best['auc']:.3f} "
            f"[{best['auc_low']:.3f}, {best['auc_high']:.3f}], an estimate"
        )
        if self.lower is None:
            return f"{told}; nothing is certified"
        claims = ", ".join(f"{each}: {word}" for each, word in self.claims.items())
        return f"{told}; certified: loss of a record >= {self.lower:.3g}" + (
            f"; {claims}" if claims else ""
        )


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
        right = "must be an object, not its class; call it with its parameters"
        raise InvalidInput(f"target = {target.__name__}: {right}")
    known = claim is None or isinstance(claim, (DP, GDP, Stability))
    require(known, "claim", claim, "a claim such as DP(epsilon=1.0)")
    for m in budgets:
        require(is_count(m), "budgets", m, "integers >= 1")
    given = None if data is None else tabular(data, label, "data")
    # a target that gets records in the user's form, and may answer anything
    free = not isinstance(target, str) and not is_estimator(target)
    free = free and (bool(getattr(target, "free", False)) or not is_mechanism(target))
    if task is not None or given is None:
        wanted = task or "classes"
        require(wanted in ("classes", "numbers"), "task", wanted, "classes or numbers")
        if given is None and wanted == "numbers":
            raise InvalidInput("task = 'numbers': requires data with a label that is a number")
    else:
        wanted = task_of(target if is_estimator(target) else None, given.y)
    table = _table(given, wanted, by_place=is_estimator(target) or free)
    rows = rows_of(data, label=label) if given is not None and free else None
    ground, laid = lay(table, Scenario(records=records, copies=0, seed=seed))
    limits = Limits(seconds=shard_timeout, memory=memory)
    attacked = _target(target, claim, table, ground, given, tuple(sorted(budgets)), rows, limits)
    try:
        names = OWN if wanted == "numbers" else tuple(ATTACKS)
        for name in attacks or ():
            require(name in names, "attacks", name, f"one of {', '.join(names)}")
        chosen = {name: ATTACKS[name] for name in attacks or names}
        asked = transcripts != 0 and can_be_repeated(attacked)
        share = (1 - confidence) / (1 + asked)
        design = Design(references=references, confidence=1 - share)
        number = models or enough([attacked], chosen, ground, design, share)
        design = replace(design, targets=number, fresh=models is None)
        found = list(experiment([attacked], ground, chosen, design, jobs=jobs))
        if found[0].error:
            raise TargetError(found[0].error)
        tested = []
        if asked:
            tested = [attack_repeatedly(attacked, ground, transcripts=transcripts, alpha=share)]
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


def _table(given: Tabular | None, wanted: str, *, by_place: bool) -> Table:
    """Return the records as the experiment knows them, perhaps by their places alone."""
    if given is None:
        return load(BUILT_IN)
    doing = PredictionTask(kind=wanted, y=given.y)
    X = np.arange(len(given), dtype=float)[:, None] if by_place else coded(given, doing.codes)
    numbers = doing.classes if wanted == "numbers" else None
    source = {
        "kind": "records",
        "name": "data",
        "labels": ["a number"] if numbers is not None else [str(each) for each in doing.classes],
        "records": len(given),
        "columns": int(np.shape(given.X)[1]),
        "sha256": digest(given.coded),
    }
    return Table(data=Labelled(X, doing.codes), source=source, numbers=numbers)


def coded(given: Tabular, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return features as numbers, the code of a record being its own alone."""
    if not hasattr(given.X, "iloc"):
        return np.asarray(rows_of((given.X, codes)).values[:, :-1], dtype=float)
    label = "label of dpassay"  # a column that no user has
    rows = rows_of(filled(given.X).assign(**{label: codes}), label=label)
    return Encoding(rows.form).labelled(rows).X


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
    claims = () if claim is None else (claim,)
    if is_mechanism(target):
        claims, made, parameters = claims or tuple(target.claims), target, parameters_of(target)
    else:
        if not callable(target):
            raise InvalidInput(
                f"target = {type(target).__name__}: must be an estimator, a function or a mechanism"
            )
        takes, parameters = taken(target, f"target = {name}"), {}
        made = FunctionMechanism(
            function=target,
            claims=claims,
            takes=takes,
            named=named(target),
            free=given is not None,
            seeded="rng" in takes,
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
