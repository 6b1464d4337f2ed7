"""Subjects of the user's code, which are trained and looked at in a process of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpassay.attacks.experiment.run import Target
from dpassay.attacks.experiment.subjects import AskedPoints, ModelView, Subject, asked, shares
from dpassay.attacks.observed import Array
from dpassay.data import Labelled
from dpassay.trials.isolation.host import Hosts, LostProcess
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import Isolated, Server
from dpassay.trials.portable import read
from dpassay.trials.wire import Line, Message, Text
from dpassay.trials.written import Array as Shares


class _Look(Message):
    """Views of a subject, each with its name, m and copies, and its key, with any text."""

    views: tuple[tuple[Line, int | None, int], ...]
    key: list[str | list[str]]


class _SubjectFacts(Message):
    """What is known of a subject here; of `looks` the second is without copies."""

    code: list[Text]
    numeric: bool
    looks: tuple[_Look, _Look]


class _SubjectThere:
    """A subject in its process."""

    def __init__(self, build: Callable[[], Target]) -> None:
        self.portable = build().subject

    def facts(self) -> dict[str, Any]:
        subject = self.portable
        looks = [
            {"views": [[view.name, view.m, view.copies] for view in each.views], "key": each.key}
            for each in (subject, subject.without_copies())
        ]
        return {"code": subject.code, "numeric": subject.numeric, "looks": looks}

    def see(
        self, plain: bool, data: Labelled, points: AskedPoints, rng: np.random.Generator
    ) -> Array:
        subject = self.portable.without_copies() if plain else self.portable
        return subject.see(data, points, rng)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hosted(Subject):
    """A subject that is in another process; `plain` if it is not asked about noisy copies."""

    remote: Hosts
    facts: _SubjectFacts
    plain: bool = False

    @property
    def numeric(self) -> bool:
        """Return whether shares are of 'close' and 'far', not of labels."""
        return self.facts.numeric

    @property
    def views(self) -> tuple[ModelView, ...]:
        """Ways of looking at it."""
        known = self.facts.looks[self.plain].views
        return tuple(ModelView(name=name, m=m, copies=copies) for name, m, copies in known)

    @property
    def key(self) -> Any:
        """Its own."""
        return self.facts.looks[self.plain].key

    @property
    def code(self) -> list[str]:
        """Its own."""
        return self.facts.code

    def without_copies(self) -> Subject:
        """Return the same subject, not asked about noisy copies."""
        return replace(self, plain=True)

    def see(self, data: Labelled, points: AskedPoints, rng: np.random.Generator) -> Array:
        """Train it there, and check what it shows; a failure raises `TargetError`."""
        what = f"training {self.remote.name}"
        seen = self.remote.ask(Shares, what, "see", self.plain, data, points, rng, known=(points,))
        return shares(seen, self, points, self.remote.name)

    def __reduce__(self) -> tuple[Any, ...]:
        """On another machine it is the subject itself: all that runs there is the user's."""
        return _received, (self.remote.portable(), self.plain)


def _received(written: bytes, plain: bool) -> Subject:
    subject: Subject = read(written, "of Dask")
    return subject.without_copies() if plain else subject


def close_hosts(target: Target) -> None:
    """End the processes of the code that is attacked, if it has some."""
    subject: Any = target.subject
    held = subject.remote if isinstance(subject, Hosted) else getattr(subject, "target", None)
    hosts = held.hosts if isinstance(held, Isolated) else held
    if isinstance(hosts, Hosts):
        hosts.close()


def hosted(name: str, build: Callable[[], Target], limits: Limits, *, bare: bool = True) -> Target:
    """Return an unprotected target that `build` makes, and that is seen, in another process."""
    remote = Hosts(name, Server(lambda: _SubjectThere(build)), limits, bare=bare)
    try:
        facts = remote.ask(_SubjectFacts, f"importing {name}", "facts")
    except LostProcess:  # it is told as soon as one is trained
        look = _Look(views=((asked(1).name, 1, 0),), key=["lost", name])
        facts = _SubjectFacts(code=[], numeric=False, looks=(look, look))
    except BaseException:
        remote.close()
        raise
    return Target(name=f"{name} (unprotected)", subject=Hosted(remote=remote, facts=facts))
