"""The door: whatever the user gave becomes a full `Mechanism`, with defaults for the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.mechanism import Mechanism, Trainer
from dpassay.pairs import Change
from dpassay.search.declared import Output

TRAINING = tuple(name for name in vars(Trainer) if not name.startswith("_"))
"""What a trainer has besides the members of a mechanism."""
MEMBERS = frozenset((*TRAINING, *(name for name in vars(Mechanism) if not name.startswith("_"))))
"""Every member of either."""


class Adapted(Mechanism):
    """An object of a class of its own, with the defaults of `Mechanism` for what it does not have.

    Parameters
    ----------
    given : object
        It has some of the members of `Mechanism` or `Trainer`.
    """

    def __init__(self, given: Any) -> None:
        self.given = given

    def __getattribute__(self, name: str) -> Any:
        """Look at the object first, at that moment; at the default where it has None or nothing."""
        own = None
        if name in MEMBERS:
            own = getattr(object.__getattribute__(self, "given"), name, None)
        return object.__getattribute__(self, name) if own is None else own

    def __getattr__(self, name: str) -> Any:
        if name == "given":  # not yet made: somebody copies it
            raise AttributeError(name)
        return getattr(self.given, name)


class Freed(Mechanism):
    """A mechanism whose answers are taken as they come, whatever it says they are.

    Its own pairs, and what it knows of its laws, are left aside: pairs and events are searched for.

    Parameters
    ----------
    given : object
        It has some of the members of `Mechanism`.
    output : Output, optional
        What it answers, where that was declared.
    bits : bool
        See `FunctionMechanism`.
    """

    free = True

    def __init__(self, given: Any, output: Output | None = None, *, bits: bool = False) -> None:
        self.given, self.output, self.bits = given, output, bits
        self._full = full(given)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """As the mechanism says."""
        return self._full.claims

    @property
    def without_query(self) -> bool:
        """As the mechanism says."""
        return self._full.without_query

    @property
    def seeded(self) -> bool:
        """As the mechanism says."""
        return self._full.seeded

    def check(self, data: Any) -> None:
        """As the mechanism does."""
        self._full.check(data)

    def prepare(self, data: Any) -> Any:
        """As the mechanism does."""
        return self._full.prepare(data)

    def update(self, state: Any, change: Change) -> Any:
        """As the mechanism does."""
        return self._full.update(state, change)

    def sample(
        self, state: Any, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> Any:
        """As the mechanism does."""
        return self._full.sample(state, queries, size, rng)


def full(given: Any) -> Mechanism:
    """Return a mechanism with every member.

    A `Mechanism` itself, another object with the defaults for what it lacks.
    """
    return given if isinstance(given, Mechanism) else Adapted(given)


def given(mechanism: Any) -> Any:
    """Return the object as the user gave it."""
    return given(mechanism.given) if isinstance(mechanism, (Adapted, Freed)) else mechanism


def is_mechanism(thing: Any) -> bool:
    """Whether it is an object to audit, not a plain function: it has `sample`, or is a trainer."""
    return isinstance(thing, Mechanism) or hasattr(thing, "sample") or is_trainer(thing)


def is_trainer(thing: Any) -> bool:
    """Whether it has what a `Trainer` needs."""
    return all(hasattr(thing, name) for name in ("thetas", "sizes", "noise", "apply", "score"))
