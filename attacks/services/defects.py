"""Defects of an interface that only an attacker sees.

A correct service answers every query with coins of its own, independent between answers and
sessions, or says that it does not. `frozen` and `rounding` look for answers that are drawn once and
kept, `streams` for coins that come again, `deletion` and `clipping` for records, `budgets` for the
rest. Every probability is exact, or a bound, whatever the laws of the service, but that of
`rounding`, which assumes that no model has cells with decimal edges of its own; all tests share the
error probability in equal parts.

One noisy model that is drawn at training from the deployment's seed and then answers everybody
without coins is no defect: it is one draw, and its claim is about that draw. Coins that all users
share look the same where answers never change within a deployment. What could be either is
remarked, and called neither.

Before all that comes the positive control, see `dpassay.attacks.services.control`. Without it, and
where no coins were seen, nothing is said of them: `blind` names what was not looked at.

What each part costs at most is told before it starts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from dpassay.attacks.observed import Array
from dpassay.attacks.services.batches import batch_cost, batch_defects
from dpassay.attacks.services.budgets import Defect, budget_cost, budget_defects, room_of
from dpassay.attacks.services.clipping import clipping_cost, clipping_defects
from dpassay.attacks.services.control import control, control_cost
from dpassay.attacks.services.deletion import deletion_cost, left_defects, reuse_defects
from dpassay.attacks.services.frozen import frozen_cost, frozen_defects
from dpassay.attacks.services.interface import Service
from dpassay.attacks.services.probe_points import JITTER, POINTS, ProbePoints, points_cost
from dpassay.attacks.services.rounding import rounded_defects, rounding_cost
from dpassay.attacks.services.scores import scores_cost, scores_defects
from dpassay.attacks.services.streams import (
    CLOCK,
    OPENINGS,
    REPLAY,
    clock_cost,
    clock_defects,
    few_bits_cost,
    few_bits_defects,
    replay_cost,
    replay_defects,
    shared_cost,
    shared_defects,
)
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.numerics import number
from dpassay.targets.groups import Progress, silent

ALPHA = 1e-6
"""Error probability of all statistical tests of a probe together."""
TESTS = 3 * POINTS + 11
"""Statistical tests of a probe at most: three at each point; whether users share coins, and whether
an answer is one draw; the clock, roundings, replay, batches, birthdays, two of deletion, and one
each of probabilities and clipping."""
NO_COINS = "near every record that was asked all answers were alike"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a part of the probe takes at most."""

    name: str
    alpha: float  # the chance of a false alarm; 0 where it is deterministic
    openings: int
    queries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What is wrong with a service.

    A correct service gets any defect with a probability of at most alpha. `openings` and
    `queries` are what the probe took.
    """

    defects: tuple[Defect, ...]
    untold: tuple[str, ...]  # what could not be looked at, and why
    blind: tuple[str, ...]  # without which nothing is known: `control`, `coins` and `live`
    remarks: tuple[str, ...]  # what may be right or wrong, depending on what is claimed
    room: int  # answers that a session gives, as far as was asked
    alpha: float
    plan: tuple[Cost, ...]  # what was told before it started
    openings: int
    queries: int

    def has(self, name: str) -> bool:
        """Return whether a defect of this name was found."""
        return any(defect.name == name for defect in self.defects)

    @property
    def facts(self) -> dict[str, Any]:
        """JSON values about the probe itself, for the record."""
        return {
            "alpha": self.alpha,
            "room": self.room,
            "openings": self.openings,
            "queries": self.queries,
            "plan": [asdict(each) for each in self.plan],
        } | {name: list(getattr(self, name)) for name in ("untold", "blind", "remarks")}

    def as_json(self) -> list[dict[str, Any]]:
        """Return JSON values for the record's list `defects`."""
        return [
            {
                "name": each.name,
                "seen": each.seen,
                "probability": number(each.probability),
                "again": each.again,
            }
            for each in self.defects
        ]


def plan_of(
    service: Service, room: int, alpha: float, *, openings: int = OPENINGS, claimed: bool = False
) -> tuple[Cost, ...]:
    """Return what the parts of a probe cost at most, in their order.

    `room` is the number of answers of a session, `alpha` that of all tests together; `openings`
    are those of each birthday test.
    """
    share, live = alpha / TESTS, service.says("live")
    parts: list[tuple[str, float, tuple[int, int]]] = [
        ("budgets and refusals", 0.0, budget_cost(room))
    ]
    if not live:
        parts.insert(0, ("control", 0.0, control_cost(room)))
    if not service.says("one_model"):
        parts.append(("where to ask", 0.0, points_cost(room)))
        parts += [("cached answers, sticky noise", 13 * share, frozen_cost(room))] * (room >= 2)
        parts += [("rounded queries", share, rounding_cost(room))] * (room >= 2)
        parts.append(("clock", share, clock_cost(room)))
        parts += [("reopened sessions", share, replay_cost(room))] * (room >= 2)
        parts += [("batches", share, batch_cost(room))] * (room >= 2)
        parts.append(("seed shared between users", share, shared_cost(room)))
        parts.append(("seeds of few bits", share, few_bits_cost(room, openings)))
    elif not live:
        parts.append(("where to ask", 0.0, points_cost(room)))
    if service.can("delete") and not live:
        parts.append(("deletion", 2 * share, deletion_cost(room)))
    if claimed and not live:
        parts.append(("probabilities", share, scores_cost()))
        parts.append(("missing clipping", share, clipping_cost(room)))
    return tuple(
        Cost(name=name, alpha=part, openings=cost[0], queries=cost[1]) for name, part, cost in parts
    )


def _unannounced(plan: tuple[Cost, ...]) -> None:
    """Tell nobody."""


def probe(
    service: Service,
    data: Labelled,
    *,
    claim: DP | None = None,
    alpha: float = ALPHA,
    seed: int = 0,
    openings: int = OPENINGS,
    announce: Callable[[tuple[Cost, ...]], None] = _unannounced,
    progress: Progress = silent,
) -> Probe:
    """Look for defects of a service.

    The queries lie near the records of the data. The claim is about one answer; without it
    nothing is said of clipping. `openings` are the sessions of each birthday test. `announce`
    is told the cost before anything but the size of the budget is asked.
    """
    progress(f"{service.name}: probe", 0, 4)
    room, declared = room_of(service, data)
    if room == 0:
        raise TargetError(f"{service.name} refuses the first query")
    plan = plan_of(service, room, alpha, openings=openings, claimed=claim is not None)
    announce(plan)
    service.openings = service.queries = 0
    live, share = service.says("live"), alpha / TESTS
    blind: list[str] = []
    remarks: list[str] = []
    found, untold = budget_defects(service, data, room, declared)
    if live:
        untold.insert(0, "control: its data are fixed, so that they cannot be exchanged")
        blind.append("live")
    else:
        moves = control(service, data, room, alpha=alpha, progress=progress)
        if not moves.changed:
            untold.insert(
                0,
                f"control: no change of the answers was seen when the data changed ({moves.words})",
            )
            blind.append("control")
    progress(f"{service.name}: probe", 1, 4)
    probe, points = ProbePoints(service, data, room, seed), list[Array]()
    if not service.says("one_model") or not live:
        points = probe.points()
    progress(f"{service.name}: probe", 2, 4)
    if service.says("one_model"):
        untold.append("coins: one released model is declared")
    elif not points:
        # sessions of one moment are alike too if the clock is the seed
        clock = clock_defects(probe, probe.beside(data.X[0], JITTER), share)
        kept = [] if clock or room < 2 else rounded_defects(probe, share)
        found += clock + kept
        untold.append(f"coins: {NO_COINS}")
        blind += [] if clock or kept else ["coins"]
    else:
        if room < 2:
            untold.append("cached answers and sticky noise: a session gives one answer only")
            blind.append("coins")
        found += _of_coins(probe, points, share, openings, remarks, untold)
    progress(f"{service.name}: probe", 3, 4)
    found += _of_records(probe, points, claim, share, {each.name for each in found}, untold)
    progress(f"{service.name}: probe", 4, 4)
    return Probe(
        defects=tuple(found),
        untold=tuple(untold),
        blind=tuple(blind),
        remarks=tuple(remarks[:1]),
        room=room,
        alpha=alpha,
        plan=plan,
        openings=service.openings,
        queries=service.queries,
    )


def _of_coins(
    probe: ProbePoints,
    points: list[Array],
    share: float,
    openings: int,
    remarks: list[str],
    untold: list[str],
) -> list[Defect]:
    """Whose coins they are: the first reason that explains what comes after it."""
    found: list[Defect] = []
    found += clock_defects(probe, points[0], share)
    if found:
        untold.append("other coins: those of one moment are the same")
        return found
    if probe.room >= 2:
        found += frozen_defects(probe, points, share, remarks)
        if not found and not probe.service.says("memoised"):
            found += rounded_defects(probe, share)
            remarks[:] = [] if found else remarks
    if found or remarks:
        return found  # a stream that does not change tells no coins apart
    found += shared_defects(probe, points, share, remarks)
    if found:
        return found
    if probe.room >= 2:
        found += replay_defects(probe, points[0], share)
    if not found and not probe.service.says("memoised"):
        found += batch_defects(probe, points, share, untold)
    return found + few_bits_defects(probe, points, share, openings, untold)


def _of_records(
    probe: ProbePoints,
    points: list[Array],
    claim: DP | None,
    share: float,
    names: set[str],
    untold: list[str],
) -> list[Defect]:
    """Return what depends on records: deletion and clipping."""
    found: list[Defect] = []
    service = probe.service
    if service.says("live"):
        untold.append("deletion and clipping: its data are fixed")
        return found
    if service.can("delete"):
        if service.says("memoised"):
            untold.append("coins of deletions: its answers are kept by design")
        elif points and not names & {CLOCK, REPLAY}:
            found += reuse_defects(probe, points, share)
        found += left_defects(probe, share, untold)
    if claim is None:
        untold.append("missing clipping: no claim was given")
    else:
        if points:
            found += scores_defects(probe, points[0], claim, share)
        found += clipping_defects(probe, points, claim, share, untold)
    return found
