"""The Python interface: one mechanism against one claim."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from dpassay.claims import Claim
from dpassay.config.profiles import BUDGET, CONFIDENCE, MEMORY, SHARD_TIMEOUT
from dpassay.data import points
from dpassay.engine.domains.domain import Domain
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import ModeWanted, Settings
from dpassay.errors import InvalidInput, is_real, require
from dpassay.mechanism import FunctionMechanism, Mechanism
from dpassay.pairs import Pairs
from dpassay.progress import bars
from dpassay.relations import REPLACE_ONE, answers_moved
from dpassay.search.declared import output_of
from dpassay.search.proposals.proposal import Space
from dpassay.search.spaces import space_of
from dpassay.targets.adapter import is_mechanism
from dpassay.targets.estimators import is_estimator
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import (
    AnswerKind,
    can_be_rebuilt,
    declared,
    free_answers,
    of_events,
    parameters_of,
    subject_of,
    thing_of,
)
from dpassay.trials.executors import Kind


def audit(
    mechanism: Any,
    *,
    claim: Claim | None = None,
    data: Any = None,
    label: str | None = None,
    relation: str | None = None,
    group: str | None = None,
    together: bool = False,
    bits: bool = False,
    output: Any = None,
    pairs: Pairs | None = None,
    queries: ArrayLike | None = None,
    labels: tuple[int, ...] | None = None,
    numbers: tuple[float, float] | None = None,
    mode: ModeWanted = "auto",
    seed: int = 0,
    confidence: float = CONFIDENCE,
    budget: int = BUDGET,
    detect: float | None = None,
    stop_early: bool | None = None,
    search_seconds: float | None = None,
    domain: Domain | None = None,
    jobs: int = 1,
    executor: Kind | None = None,
    scheduler: str | None = None,
    shard_timeout: float = SHARD_TIMEOUT,
    memory: float = MEMORY,
) -> Result:
    """Audit one mechanism against one claim.

    Parameters
    ----------
    mechanism : Mechanism, estimator, measurement of OpenDP, callable or str
        A `Mechanism`, another object with some of its members, an estimator with `fit` and
        `predict`, which is trained anew in every run (it goes with `data`), what a text names (a
        mechanism of the catalogue, 'module:object', the address of a service), or a function
        `function(data, queries, size, rng)` that returns the answers of `size` independent runs at
        q queries, shape (size, q). One that is asked nothing leaves `queries` out, one that makes a
        single run a call leaves `size` out, one that tosses coins of its own leaves `rng` out.
    claim : DP, GDP, Stability, PredictionStability, ScoreStability or Accuracy, optional
        What to hold it against; its own first claim by default. A function promises nothing by
        itself.
    data : DataFrame, list, array, (X, y), Labelled, Answers, Scalars, Tables or path, optional
        What datasets look like. Pairs, queries and events are then searched for, and the answers
        may be of any kind: labels, texts, numbers, vectors, tuples of any length, None. A function
        gets records in the form in which they are given here. See `dpassay.search.spaces`.
    label : str, optional
        The column of a DataFrame that holds the label; goes with `data`.
    relation : str, optional
        What neighbours are: 'replace-one' (the default), 'replace-k', 'add-remove', 'zero-out',
        'replace-user', 'add-remove-user'; goes with `data`. See `dpassay.search.tables.Tables`.
    group : str, optional
        The column that says whose record it is; goes with `data` and a relation of users.
    together : bool
        Whether the answers at several queries are audited as one output. Goes with `data`.
    bits : bool
        Whether the low bits of floats are looked at too: noise added in floating point gives away
        the answer there (Mironov 2012). Goes with `data`.
    output : str or list of values, optional
        What one run returns, at each query where it is asked at queries: 'label' (any value,
        compared whole, never as a number), 'number', 'vector' (numbers), 'sequence' (a tuple, list
        or array of any length), 'text', or the list of all values that occur, 2 to 256. A pilot
        shows it by default. A run that returns something else ends the audit as `error`. Goes with
        `data`.
    pairs : Pairs, optional
        Neighbouring datasets, from `replace_one` say; the mechanism's own worst cases come on top.
    queries : array (q, d), optional
        Points at which predictions are asked; goes with `pairs`.
    labels : tuple of int, optional
        What a function may answer; 0 and 1 by default.
    numbers : tuple of float, optional
        Least and greatest answer (infinite where there is no limit) of a function that answers real
        numbers.
    mode, seed, confidence, budget, detect, stop_early, search_seconds, domain : object
        See `Settings`; `search_seconds` goes with `data`.
    jobs, executor, scheduler, shard_timeout, memory : object
        See `Settings`.

    Returns
    -------
    Result

    Raises
    ------
    InvalidInput
        If an argument is out of range, or there is nothing to audit.
    """
    if isinstance(mechanism, type):
        raise InvalidInput(
            f"mechanism = {mechanism.__name__}: must be an object, not its class; call it with "
            "its parameters"
        )
    text = mechanism if isinstance(mechanism, str) and "://" not in mechanism else None
    mechanism = thing_of(mechanism) if isinstance(mechanism, str) else mechanism
    declared_output = output_of(output)
    if data is None and (together or bits or output is not None):
        raise InvalidInput("together, bits, output: go with data, where answers may be anything")
    if data is None and search_seconds is not None:
        raise InvalidInput("search_seconds: goes with data, which a search draws from")
    told = {"label": label, "relation": relation, "group": group}
    space = _space(data, told, pairs=pairs, queries=queries, domain=domain)
    meant = f"; did you mean DP(epsilon={claim})?" if is_real(claim) else ""
    known = claim is None or hasattr(claim, "relation")
    require(known, "claim", claim, f"a claim such as DP(epsilon=1.0){meant}")
    note = "" if claim is None or space is None else _relation_note(claim, space)
    if space is not None and claim is not None and claim.relation == REPLACE_ONE:
        claim = replace(claim, relation=space.relation)
    if labels is not None and numbers is not None:
        raise InvalidInput("labels, numbers: a function answers the ones or the others, not both")
    answers = (
        AnswerKind(labels=(0, 1) if labels is None else labels, numbers=numbers)
        if space is None
        else free_answers(space, together=together, bits=bits, output=declared_output)
    )
    limited = labels is not None or numbers is not None
    subject = _subject(mechanism, text, claim, answers, space, limited=limited)
    name, address = _address(mechanism) if text is None else (text, text)
    own = (claim,) if claim is not None else declared(name, mechanism)
    own = of_events(own, name) if claim is None and space is not None else own
    parameters = {} if isinstance(subject, FunctionMechanism) else parameters_of(mechanism)
    target = AuditTarget(
        name=name, address=address, parameters=parameters, mechanism=subject, claims=own[:1]
    )
    searched = _group(pairs, queries, mode) if space is None else space
    settings = Settings(
        mode=mode,
        seed=seed,
        confidence=confidence,
        budget=budget,
        detect=detect,
        stop_early=stop_early,
        search_seconds=search_seconds,
        domain=domain,
        jobs=jobs,
        executor=executor,
        scheduler=scheduler,
        shard_timeout=shard_timeout,
        memory=memory,
    )
    with bars(quiet=False, smaller="fewer with budget=") as progress:
        result = next(assay([target], searched, settings, progress))
    if note and result.evidence is not None:
        notes = {"notes": [note, *result.evidence.searched["notes"]]}
        evidence = replace(result.evidence, searched=result.evidence.searched | notes)
        result = replace(result, evidence=evidence)
    return result


def _relation_note(claim: Claim, space: Space) -> str:
    """Say that datasets were neighbours by another relation than the claim's; of records alone."""
    if claim.relation == space.relation or answers_moved(space.relation) is not None:
        return ""
    return (
        f"The claim is about '{claim.relation}', and '{space.relation}' was audited, by which it "
        f"may leak less. If that is meant, say relation='{space.relation}' in the claim."
    )


def _space(data: Any, told: dict[str, str | None], **others: Any) -> Space | None:
    """Return what a search draws from; None where pairs are given, or the mechanism's own."""
    if data is None:
        for name, given in told.items():
            require(given is None, name, given, "left out without data, which it is about")
        return None
    for name, given in others.items():
        if given is not None:
            raise InvalidInput(f"data, {name}: go apart; with data, the pairs are searched for")
    return space_of(data, **told)


def _subject(
    mechanism: Any,
    text: str | None,
    claim: Claim | None,
    answers: AnswerKind,
    space: Space | None,
    *,
    limited: bool,
) -> Mechanism:
    """Return what is audited, perhaps named by a text; `limited` if labels or numbers are said."""
    if is_mechanism(mechanism):
        if limited:
            raise InvalidInput("labels, numbers: go with a function; a mechanism names its own")
        if answers.together:
            raise InvalidInput("together: goes with a function; a mechanism answers each query")
    elif claim is None:
        raise InvalidInput(
            "claim is missing: a function has no claim of its own; add claim=DP(epsilon=...)"
        )
    elif limited and space is not None:
        raise InvalidInput("labels, numbers: not with data; its answers may be anything")
    elif space is None and is_estimator(mechanism):
        raise InvalidInput("data is missing: an estimator is fitted on records; add data=...")
    name = text or getattr(mechanism, "__name__", type(mechanism).__name__)
    claims = () if claim is None else (claim,)
    return subject_of(mechanism, f"mechanism = {name}", claims, answers)


def _group(pairs: Pairs | None, queries: ArrayLike | None, mode: str) -> PairGroup | None:
    """Return the pairs that were given, with their queries."""
    known = pairs is None or isinstance(pairs, Pairs)
    require(known, "pairs", pairs, "Pairs, from replace_one say")
    if pairs is not None and mode == "exhaustive":
        raise InvalidInput("pairs: go with the other modes; 'exhaustive' enumerates its own")
    if pairs is None and queries is None:
        return None
    if pairs is None or queries is None:
        raise InvalidInput("pairs and queries go together: one of them is missing")
    return PairGroup(pairs=pairs, queries=points(queries, "queries"), kind="data", reason=pairs.how)


def _address(mechanism: Any) -> tuple[str, str | None]:
    """Name of a mechanism or function, and the same as a target if that can make it again."""
    function = not is_mechanism(mechanism)
    thing = mechanism if function and hasattr(mechanism, "__qualname__") else type(mechanism)
    name = f"{thing.__module__}:{thing.__qualname__}"
    importable = thing.__module__ != "__main__" and thing.__qualname__.isidentifier()
    rebuilt = thing is mechanism or (not function and can_be_rebuilt(mechanism))
    return name, name if importable and rebuilt else None
