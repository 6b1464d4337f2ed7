"""What all entries share that wrap another algorithm: how the base is written down and built."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Stability
from dpassay.config.values import named_table, named_text, spelled
from dpassay.errors import InvalidInput, require
from dpassay.laws import Law
from dpassay.mechanism import Mechanism, Reachable, WorstCase, prepared
from dpassay.pairs import Change
from dpassay.targets.adapter import is_mechanism
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import about, accepts, declared, resolve

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

    @property
    def exchangeable(self) -> bool:
        """Whether the order of the records does not matter to the base."""
        return bool(self.base_mechanism.exchangeable)

    def symmetries(self, sides: tuple[int, ...]) -> tuple[str, ...]:
        """Those of the base: what is done to its answers treats both alike."""
        return self.base_mechanism.symmetries(sides)

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

    def sample(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
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
    base : str, dict or Mechanism
        A name of the catalogue or `module:object`, with its parameters, all but epsilon, in one of
        the spellings of `read_base`; or an object.
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
        The same with all parameters filled in, so that it makes the algorithm again; without them
        where one of them has a comma in it.
    epsilon : float
        What it claims first.
    built : AuditTarget

    Raises
    ------
    InvalidInput
        If there is no such base or parameter, it claims another epsilon, or promises no
        differential privacy.
    """
    written, own = base, True
    if isinstance(base, (str, dict)):
        name, given = read_base(base)
        written = named_text(base, "base")
        with _placed(written):
            own = not accepts(name, "epsilon")
            told: dict[str, Any] = {} if own else {"epsilon": epsilon}
            told |= {} if n is None or not accepts(name, "n") else {"n": n}
            promise = (DP(epsilon=epsilon),) if about(name).function else None
            refuse_decided(given, wrapper, ("epsilon", *told))
            built = resolve(name, given | told, promise)
            own = own and promise is None
        if not own:
            written = _filled(written, name, built, told)
    else:
        built = _object(base)
    claims = dp_claims(built.mechanism)
    require(bool(claims), "base", base, "an algorithm that promises DP(...)")
    if not own:
        return written, epsilon, built
    claimed = claims[0].epsilon
    allowed = f"what the base claims, {claimed:g}, or left out"
    require(epsilon in (left_out, claimed), "epsilon", epsilon, allowed)
    return written, claimed, built


def stable_base_of(base: Any, given: dict[str, Any], wrapper: str) -> tuple[Any, AuditTarget]:
    """Build a stable algorithm that is wrapped.

    Parameters
    ----------
    base : str, dict or Mechanism
        A name of the catalogue or `module:object`, with its parameters, all but those that are
        given, in one of the spellings of `read_base`; or an object.
    given : dict
        Parameters that the wrapper decides, for a base that has them; an object has its own.
    wrapper : str
        What the user calls the entry that wraps it.

    Returns
    -------
    base : str or Mechanism
        The same with all other parameters filled in; without them where one has a comma in it.
    built : AuditTarget

    Raises
    ------
    InvalidInput
        If there is no such base or parameter, or it promises no stability that is not known to be
        wrong.
    """
    written = base
    if isinstance(base, (str, dict)):
        name, own = read_base(base)
        written = named_text(base, "base")
        with _placed(written):
            told = {key: value for key, value in given.items() if accepts(name, key)}
            refuse_decided(own, wrapper, tuple(told))
            built = resolve(name, own | told)
        written = _filled(written, name, built, told)
    else:
        built = _object(base)
    stable = [
        claim for claim in built.claims if isinstance(claim, Stability) and claim.expected is None
    ]
    require(bool(stable), "base", base, "an algorithm that promises Stability(...)")
    return written, built


def _object(base: Any) -> AuditTarget:
    """Return a mechanism that is given as it is."""
    known = is_mechanism(base) and hasattr(base, "claims")
    require(known, "base", base, "a name of the catalogue, module:object, or a mechanism")
    return AuditTarget(
        name="base", address=None, parameters={}, mechanism=base, claims=declared("", base)
    )


def read_base(base: str | dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Read what a base is and which parameters it has: the one place where that is done.

    Parameters
    ----------
    base : str or dict
        `{name="soft-majority", r=5}` as a text or read already, or `soft-majority,r=5`. A parameter
        may be a base itself.

    Raises
    ------
    InvalidInput
        If it is neither.
    """
    name, parameters = named_table(base, "base")
    return name, {key: spelled(value) for key, value in parameters.items()}


def base_text(base: Any) -> Any:
    """Return how records name a base.

    A table in the spelling of `dpassay.config.values.named_text`, an object as it is.
    """
    return named_text(base, "base") if isinstance(base, (str, dict)) else base


def refuse_decided(given: dict[str, Any], wrapper: str, theirs: tuple[str, ...]) -> None:
    """Raise `InvalidInput` if a base is told what its wrapper decides."""
    for name in theirs:
        if name in given:
            said = f"{name}={given[name]}"
            raise InvalidInput(f"'{said}' must be a parameter of the {wrapper}: -p {said}")


def _filled(written: str, name: str, built: AuditTarget, told: dict[str, Any]) -> str:
    """Return a base with all its parameters, as records name it.

    As it was written where one of them cannot be put so shortly.
    """
    filled = [
        f"{key}={value}"
        for key, value in built.parameters.items()
        if key not in told and value is not None
    ]
    return written if any("," in each for each in filled) else ",".join([name, *filled])


@contextmanager
def _placed(base: str) -> Iterator[None]:
    """Say of what is refused that it belongs to the base."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"base = '{base}': {error}") from error


def dp_claims(mechanism: Mechanism) -> list[DP]:
    """Return the claims of differential privacy that a mechanism makes."""
    return [claim for claim in mechanism.claims if isinstance(claim, DP)]
