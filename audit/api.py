"""The Python interface: one mechanism against one claim."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from dpassay.claims import Claim
from dpassay.config.options import BUDGET, CONFIDENCE, MEMORY, SHARD_TIMEOUT
from dpassay.data import points
from dpassay.engine.exhaustive import Domain
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import ModeWanted, Settings
from dpassay.errors import InvalidInput, require
from dpassay.mechanism import FunctionMechanism, Mechanism
from dpassay.pairs import Pairs
from dpassay.targets.adapter import is_mechanism
from dpassay.targets.groups import Group
from dpassay.targets.guard import AuditTarget
from dpassay.targets.moved import known_as
from dpassay.targets.resolve import can_be_rebuilt, check_call, declared, parameters_of
from dpassay.trials.executors import Kind


def audit(
    mechanism: Any,
    *,
    claim: Claim | None = None,
    pairs: Pairs | None = None,
    queries: ArrayLike | None = None,
    labels: tuple[int, ...] | None = None,
    numbers: tuple[float, float] | None = None,
    mode: ModeWanted = "auto",
    seed: int = 0,
    confidence: float = CONFIDENCE,
    budget: int = BUDGET,
    detect: float | None = None,
    stop_early: bool = False,
    domain: Domain | None = None,
    jobs: int = 1,
    executor: Kind | None = None,
    shard_timeout: float = SHARD_TIMEOUT,
    memory: float = MEMORY,
) -> Result:
    """Audit one mechanism against one claim.

    Parameters
    ----------
    mechanism : Mechanism or callable
        A `Mechanism`, another object with some of its members, or a function `function(data,
        queries, size, rng)` that returns the answers of `size` independent runs at q queries, shape
        (size, q).
    claim : DP, GDP, Stability, PredictionStability, ScoreStability or Accuracy, optional
        What to hold it against; its own first claim by default. A function promises nothing by
        itself.
    pairs : Pairs, optional
        Neighbouring datasets, from `replace_one` say; the mechanism's own worst cases come on top.
    queries : array (q, d), optional
        Points at which predictions are asked; goes with `pairs`.
    labels : tuple of int, optional
        What a function may answer; 0 and 1 by default.
    numbers : tuple of float, optional
        Least and greatest answer (infinite where there is no limit) of a function that answers real
        numbers.
    mode, seed, confidence, budget, detect, stop_early : object
        See `Settings`.
    domain, jobs, executor, shard_timeout, memory : object
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
    if is_mechanism(mechanism):
        if labels is not None or numbers is not None:
            raise InvalidInput("labels, numbers: go with a function; a mechanism names its own")
        subject: Mechanism = mechanism
    elif claim is None:
        raise InvalidInput(
            "claim is missing: a function has no claim of its own; add claim=DP(epsilon=...)"
        )
    elif labels is not None and numbers is not None:
        raise InvalidInput("labels, numbers: a function answers the ones or the others, not both")
    else:
        check_call(mechanism, f"mechanism = {getattr(mechanism, '__name__', 'function')}")
        subject = FunctionMechanism(
            function=mechanism,
            claims=(claim,),
            labels=(0, 1) if labels is None else labels,
            numbers=numbers,
        )
    name, address = _address(mechanism)
    parameters = {} if isinstance(subject, FunctionMechanism) else parameters_of(subject)
    target = AuditTarget(
        name=name,
        address=address,
        parameters=parameters,
        mechanism=subject,
        claims=declared(name, subject)[:1] if claim is None else (claim,),
    )
    require(
        pairs is None or isinstance(pairs, Pairs), "pairs", pairs, "Pairs, from replace_one say"
    )
    if pairs is not None and mode == "exhaustive":
        raise InvalidInput("pairs: go with the other modes; 'exhaustive' enumerates its own")
    if (pairs is None) != (queries is None):
        raise InvalidInput("pairs and queries go together: one of them is missing")
    group = None
    if pairs is not None and queries is not None:
        group = Group(
            pairs=pairs, queries=points(queries, "queries"), kind="data", reason=pairs.how
        )
    settings = Settings(
        mode=mode,
        seed=seed,
        confidence=confidence,
        budget=budget,
        detect=detect,
        stop_early=stop_early,
        domain=domain,
        jobs=jobs,
        executor=executor,
        shard_timeout=shard_timeout,
        memory=memory,
    )
    return next(assay([target], group, settings))


def _address(mechanism: Any) -> tuple[str, str | None]:
    """Name of a mechanism or function, and the same as a target if that can make it again."""
    function = not is_mechanism(mechanism)
    thing = mechanism if function and hasattr(mechanism, "__qualname__") else type(mechanism)
    name = f"{known_as(thing.__module__)}:{thing.__qualname__}"
    importable = thing.__module__ != "__main__" and thing.__qualname__.isidentifier()
    rebuilt = thing is mechanism or (not function and can_be_rebuilt(mechanism))
    return name, name if importable and rebuilt else None
