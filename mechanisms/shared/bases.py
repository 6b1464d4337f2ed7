"""What all entries share that wrap another algorithm: how the base is written down and built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Stability
from dpassay.errors import InvalidInput, require
from dpassay.laws import Law
from dpassay.mechanism import Mechanism, Reachable, WorstCase, prepared
from dpassay.pairs import Change
from dpassay.targets.adapter import is_mechanism
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import accepts, declared, is_function, resolve

SINGLE = 1.0
"""Privacy loss that a base claims unless it is said otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Member:
    """State of a wrapper: the dataset, and the state in which it leaves the base."""

    data: Any
    state: Any


class Wrapper(Mechanism):
    """A mechanism around another, its base: everything that it does not redefine is the base's.

    Attributes
    ----------
    built : AuditTarget
        The base. A subclass declares it as a field.
    """

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def built(self) -> AuditTarget: ...  # noqa: D102

    @property
    def base_mechanism(self) -> Mechanism:
        """The base itself."""
        return self.built.mechanism

    @property
    def labels(self) -> tuple[int, ...]:
        """Those of the base; none if it answers numbers."""
        return self.built.labels

    @property
    def numbers(self) -> tuple[float, float] | None:
        """Least and greatest answer of the base; None if it answers labels."""
        return self.built.numbers

    def check(self, data: Any) -> None:
        """Raise `InvalidInput` if the base does."""
        self.base_mechanism.check(data)

    def prepare(self, data: Any) -> Any:
        """Prepare the base."""
        return Member(data=data, state=self.base_mechanism.prepare(data))

    def update(self, state: Any, change: Change) -> Any:
        """Return the neighbour's state, by the base's `update` where it has one."""
        data = change.apply(state.data)
        return Member(data=data, state=prepared(self.base_mechanism, state.state, change, data))

    def sample(self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Answers of `size` independent trials of the base at q queries, shape (size, q)."""
        return self.base_mechanism.sample(state.state, queries, size, rng)

    def distribution(self, state: Any, queries: NDArray[np.float64]) -> Law | None:
        """Exact law of the base; None where it has none."""
        return self.base_mechanism.distribution(state.state, queries)

    def pairs(self) -> tuple[WorstCase, ...]:
        """Those of the base."""
        return self.base_mechanism.pairs()

    def reachable(self) -> Reachable | None:
        """States of the base, where it knows them."""
        return self.base_mechanism.reachable()


def base_of(
    base: Any, epsilon: float, wrapper: str, *, left_out: float = SINGLE, n: int | None = None
) -> tuple[Any, float, AuditTarget]:
    """Build the algorithm that is wrapped.

    Parameters
    ----------
    base : str or Mechanism
        A name of the catalogue or `module:object`, its parameters behind it (`soft-majority,r=5,learner=tree`; all but
        epsilon), or an object.
    epsilon : float
        What it is to claim, in nats; > 0. An object has its own, and `left_out` stands for that.
    wrapper : str
        What the user calls the entry that wraps it.
    left_out : float
        What epsilon is unless it is said otherwise.
    n : int, optional
        How many records it gets, for a base that has that parameter.

    Returns
    -------
    base : str or Mechanism
        The same with all parameters filled in, so that it makes the algorithm again; as it was given where one of them has a
        comma in it.
    epsilon : float
        What it claims first.
    built : AuditTarget

    Raises
    ------
    InvalidInput
        If there is no such base or parameter, it claims another epsilon, or promises no differential privacy.
    """
    written, own = base, True
    if isinstance(base, str):
        name, *settings = (part.strip() for part in base.split(","))
        try:
            own = not accepts(name, "epsilon")
            told = {} if own else {"epsilon": epsilon}
            told |= {} if n is None or not accepts(name, "n") else {"n": n}
            promise = (DP(epsilon=epsilon),) if is_function(name) else None
            built = resolve(name, _given(settings, wrapper, ("epsilon", *told)) | told, promise)
            own = own and promise is None
        except InvalidInput as error:
            raise InvalidInput(f"base = '{base}': {error}") from error
        if not own:
            filled = [f"{key}={value}" for key, value in built.parameters.items() if key not in told and value is not None]
            commas = any("," in each for each in filled)  # those of a base within the base
            written = base if commas else ",".join([name, *filled])
    else:
        built = _object(base)
    claims = dp_claims(built.mechanism)
    require(bool(claims), "base", base, "an algorithm that promises DP(...)")
    if not own:
        return written, epsilon, built
    claimed = claims[0].epsilon
    require(epsilon in (left_out, claimed), "epsilon", epsilon, f"what the base claims, {claimed:g}, or left out")
    return written, claimed, built


def stable_base_of(base: Any, given: dict[str, Any], wrapper: str) -> tuple[Any, AuditTarget]:
    """Build a stable algorithm that is wrapped.

    Parameters
    ----------
    base : str or Mechanism
        A name of the catalogue or `module:object`, its parameters behind it (all but those that are given), or an object.
    given : dict
        Parameters that the wrapper decides, for a base that has them; an object has its own.
    wrapper : str
        What the user calls the entry that wraps it.

    Returns
    -------
    base : str or Mechanism
        The same with all other parameters filled in; as it was where one of them has a comma in it.
    built : AuditTarget

    Raises
    ------
    InvalidInput
        If there is no such base or parameter, or it promises no stability that is not known to be wrong.
    """
    written = base
    if isinstance(base, str):
        name, *settings = (part.strip() for part in base.split(","))
        try:
            told = {key: value for key, value in given.items() if accepts(name, key)}
            built = resolve(name, _given(settings, wrapper, tuple(told)) | told)
        except InvalidInput as error:
            raise InvalidInput(f"base = '{base}': {error}") from error
        filled = [f"{key}={value}" for key, value in built.parameters.items() if key not in told and value is not None]
        commas = any("," in each for each in filled)
        written = base if commas else ",".join([name, *filled])
    else:
        built = _object(base)
    stable = [claim for claim in built.claims if isinstance(claim, Stability) and claim.expected is None]
    require(bool(stable), "base", base, "an algorithm that promises Stability(...)")
    return written, built


def _object(base: Any) -> AuditTarget:
    """Return a mechanism that is given as it is."""
    known = is_mechanism(base) and hasattr(base, "claims")
    require(known, "base", base, "a name of the catalogue, module:object, or a mechanism")
    return AuditTarget(name="base", address=None, parameters={}, mechanism=base, claims=declared("", base))


def _given(settings: list[str], wrapper: str, theirs: tuple[str, ...] = ("epsilon",)) -> dict[str, str]:
    """Read the parameters of a base; those that the wrapper decides are refused."""
    given = {}
    for setting in settings:
        name, separator, value = (part.strip() for part in setting.partition("="))
        if not (name and separator and value):
            raise InvalidInput(f"'{setting}' must have the form name=value")
        if name in theirs:
            raise InvalidInput(f"'{setting}' must be said of the {wrapper}: -p {setting}")
        given[name] = value
    return given


def dp_claims(mechanism: Mechanism) -> list[DP]:
    """Return the claims of differential privacy that a mechanism makes."""
    return [claim for claim in mechanism.claims if isinstance(claim, DP)]
