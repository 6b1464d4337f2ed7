"""A prediction service in operation, as its users see it.

Sessions that answer one point after another, and refuse.

A service is a factory: `factory(data, seed, user)` opens a session of a user with the deployment
that was trained on `data` and draws its coins from `seed`. `session.ask(x)` returns a label, or
raises an exception that says by its name or its text that the budget is spent. `session.budget`, if
there is one, says how many answers there are.

`seed` is the secret randomness of one deployment, of its training and of its answers: the same
data, seed and user are the same deployment and the same user again; another seed is a deployment
that is independent of it. A deployment on other data has a seed of its own, since nobody can train
a second model with the noise of the first. Where the users of a service do share coins, so that an
attacker can open tenants on data of her choice with the victim's seed, the factory says so:
`shared_seed = True`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.data import Labelled
from dpassay.errors import MOST_TEXT, InvalidInput, TargetError, is_count, require
from dpassay.seeds import stream
from dpassay.targets.importing import load_object

REFUSES = re.compile(
    r"budget|spent|quota|exhaust|refus|limit.*(reached|exceeded)|too many", re.IGNORECASE
)
"""An exception whose name or text says one of these is a refusal."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A query that was turned down.

    Parameters
    ----------
    text : str
        Class and text of the exception, without the user's name; or what was returned instead of a
        label.
    """

    text: str


class Session:
    """A session behind a guard.

    An answer is a plain value, a refusal an object, all else an `TargetError`.
    """

    __slots__ = ("_session", "_user", "_where")

    def __init__(self, session: Any, user: str, where: str) -> None:
        self._session, self._user, self._where = session, user, where

    @property
    def budget(self) -> int | None:
        """Answers that there are by its own word; None where it says nothing."""
        found = getattr(self._session, "budget", None)
        return int(found) if found is not None and is_count(found, 0) else None

    def ask(self, x: Array) -> Any:
        """Return the answer at a point (d,), or a `Refusal`."""
        try:
            answer = self._session.ask(x.copy())
        except (Exception, SystemExit) as error:
            said = f"{type(error).__name__}: {_text(error)}"
            if REFUSES.search(said):
                return Refusal(said.replace(self._user, "USER"))
            raise TargetError(
                f"ask on {self._where} raised {type(error).__name__}", _text(error)
            ) from error
        if isinstance(answer, np.generic) or (isinstance(answer, np.ndarray) and answer.size == 1):
            answer = answer.item()
        if answer is None or (isinstance(answer, float) and math.isnan(answer)):
            return Refusal(f"returned {answer}")
        if not isinstance(answer, bool | int | float | str):
            raise TargetError(
                f"ask on {self._where} returned {type(answer).__name__}; expected a label"
            )
        return answer

    def transcript(self, points: Iterable[Array]) -> tuple[Any, ...]:
        """Ask at one point after the other until it refuses; the answers, without the refusal."""
        found = []
        for x in points:
            answer = self.ask(x)
            if isinstance(answer, Refusal):
                break
            found.append(answer)
        return tuple(found)


class Service:
    """A factory under its name, which opens sessions of users who have never been there before.

    Parameters
    ----------
    factory : callable
        `factory(data, seed, user)` returns a session.
    name : str
    seed : int
        Root of the deployments' seeds.
    """

    def __init__(self, factory: Any, name: str, *, seed: int = 0) -> None:
        if not callable(factory):
            kind = type(factory).__name__
            raise InvalidInput(
                f"--service = '{name}': must be a callable factory(data, seed, user), not {kind}"
            )
        self.factory, self.name, self.seed = factory, name, seed
        self._users = count()

    @property
    def shares_seed(self) -> bool:
        """Whether it says that deployments on different data draw from one seed.

        Raises
        ------
        InvalidInput
            If what it says is neither True nor False.
        """
        said = getattr(self.factory, "shared_seed", False)
        require(isinstance(said, bool), f"{self.name}.shared_seed", said, "True or False")
        return bool(said)

    def user(self) -> str:
        """Return a name that was not used before."""
        return f"user-{self.seed}-{next(self._users)}"

    def deployment(self, *key: str | int) -> int:
        """Return the seed of a deployment."""
        return int(stream(self.seed, "deployment", *key).integers(2**31))

    def open(self, data: Labelled, seed: int, user: str) -> Session:
        """Open a session.

        Raises
        ------
        TargetError
            If the factory fails, or what it returns cannot be asked.
        """
        where = f"a session of {self.name}"
        try:
            session = self.factory(data, seed, user)
        except (Exception, SystemExit) as error:
            raise TargetError(f"{self.name} raised {type(error).__name__}", _text(error)) from error
        if not callable(getattr(session, "ask", None)):
            raise TargetError(
                f"{self.name} returned {type(session).__name__}; expected a session with ask(x)"
            )
        return Session(session, user, where)


def service_of(address: str, *, seed: int) -> Service:
    """Load `module:factory`; the working directory is looked in too.

    Raises
    ------
    InvalidInput
        If there is none.
    """
    return Service(load_object(address, "--service"), address, seed=seed)


def _text(error: BaseException) -> str:
    """What an exception says, on one line and not too long."""
    try:
        return " ".join(str(error).split())[:MOST_TEXT]
    except Exception:  # noqa: BLE001  (what is not ours may do anything)
        return ""
