"""Defects of an interface that only an attacker sees.

A correct service answers every query with coins of its own, independent between answers and
sessions, or says that it does not. `frozen` looks for answers that are drawn once and kept,
`streams` for coins that come again, `records` for deletion and clipping, `budgets` for the rest.
Every probability is exact, or a bound, whatever the laws of the service are, but that of rounded
queries, which assumes that no model has cells with decimal edges of its own; all tests share the
error probability in equal parts.

One noisy model that is drawn at training from the deployment's seed and then answers everybody
without coins is no defect: it is one draw, and its claim is about that draw. Coins that all users
share look the same where answers never change within a deployment. What could be either is
remarked, and called neither.

A service that ignores its data has no defect that could be found and breaks no claim. So, as a
positive control, it is first asked whether its answers move at all between datasets that have next
to nothing in common. Each deployment has a seed of its own; the majority of its answers at a point
is one observation, so that answers within it may depend on each other. Without a change, and where
no coins were seen, nothing is said of them: `blind` names what was not looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dpassay.attacks.services.budgets import BUDGETS, budget_defects, room_of
from dpassay.attacks.services.frozen import FROZEN, ROUNDING, frozen_defects, rounded_defects
from dpassay.attacks.services.interface import Service
from dpassay.attacks.services.probing import (
    JITTER,
    MOST_LABELS,
    POINTS,
    SEARCH,
    Defect,
    ProbePart,
    Probing,
    fisher,
    halves,
    middle,
)
from dpassay.attacks.services.records import (
    CLIPPING,
    DELETION,
    SCORES,
    clipping_defects,
    left_defects,
    reuse_defects,
    scores_defects,
)
from dpassay.attacks.services.streams import (
    BATCHING,
    CLOCK,
    FEW_BITS,
    MOMENTS,
    OPENINGS,
    REPLAY,
    REPLAYS,
    USERS,
    batch_defects,
    clock_defects,
    few_bits_defects,
    replay_defects,
    shared_defects,
)
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.numerics import number
from dpassay.targets.groups import Progress, silent

CONTROL_STAGES = (24, 96, 384)
"""Deployments a side, one stage after the other until a change is seen; the last for the first two
datasets alone."""
CONTROL_POINTS, MOST_ANSWERS = 2, 16
"""Points that are asked at, and answers of a session at each."""
COMPARED = 2 * (3 * sum(CONTROL_STAGES[:-1]) + CONTROL_STAGES[-1])
"""Deployments of the control at most."""
ALPHA = 1e-6
"""Error probability of all statistical tests of a probe together."""
TESTS = 3 * POINTS + 11
"""Statistical tests of a probe at most: three at each point; whether users share coins, and whether
an answer is one draw; the clock, roundings, replay, batches, birthdays, two of deletion, and one
each of probabilities and clipping."""
NO_COINS = "near every record that was asked all answers were alike"
PARTS = (
    ProbePart(
        "control", "data", 0, 1,
        lambda room, _: (
            COMPARED + 3 * len(CONTROL_STAGES), COMPARED * min(room, CONTROL_POINTS * MOST_ANSWERS)
        ),
    ),
    *(BUDGETS, SEARCH, FROZEN, ROUNDING, MOMENTS, REPLAYS, BATCHING, USERS, FEW_BITS),
    *(DELETION, SCORES, CLIPPING),
)  # fmt: skip


def control(
    service: Service, data: Labelled, room: int, *, alpha: float, progress: Progress = silent
) -> tuple[bool, str]:
    """Return whether answers change when the data do, beyond chance, and what was compared.

    A service that ignores its data passes with a probability of at most alpha. `room` is the
    number of answers of a session. A failure on the data raises `TargetError`; other data where
    it fails are left out.
    """
    points = [data.X[i] for i in range(min(CONTROL_POINTS, room, len(data)))]
    each = min(MOST_ANSWERS, room // len(points))
    known = list(_contrasts(data))
    share = alpha / (len(CONTROL_STAGES) * len(known))
    asked, done = list[str](), 0

    def majorities(S: Labelled, phase: str) -> list[Any]:
        """Return the commonest answer of one new deployment at each point."""
        session = service.open(S, service.deployment(phase), service.user())
        answers = session.transcript(x for x in points for _ in range(each))
        if len(answers) < each * len(points):
            raise TargetError(f"{service.name} refused after {len(answers)} answers")
        return [middle(answers[k * each : (k + 1) * each]) for k in range(len(points))]

    for stage, deployments in enumerate(CONTROL_STAGES):
        for what, one, other in known[: 1 if stage == len(CONTROL_STAGES) - 1 else None]:
            try:
                sides = [
                    [
                        majorities(S, f"control {what} {stage} {side} {t}")
                        for t in range(deployments)
                    ]
                    for side, S in enumerate((one, other))
                ]
            except TargetError:
                # its own data must do
                service.open(data, service.deployment("control"), service.user())
                continue
            asked.append(f"{what}, {deployments} deployments a side")
            done += 1
            progress(f"{service.name}: control", done, 2 * len(known) + 1)
            # the smallest p-value of points and answers, times their number
            chances = []
            for k in range(len(points)):
                counts = map(Counter, halves(*([row[k] for row in side] for side in sides)))
                mine, theirs = counts
                for label, _ in (mine + theirs).most_common(MOST_LABELS):
                    a, b = mine[label], theirs[label]
                    chances.append(fisher((a, deployments - a), (b, deployments - b)))
            if min(1.0, min(chances) * len(points) * MOST_LABELS) <= share:
                return True, asked[-1]
    return False, "; ".join(asked) or "no other data that it takes"


def _contrasts(data: Labelled) -> Iterator[tuple[str, Labelled, Labelled]]:
    """Yield two datasets each that have next to nothing in common, and what they are."""
    labels = np.unique(data.y)
    pair = labels[[0, -1]] if labels.size > 1 else np.array([labels[0], labels[0] + 1])
    one, other = (Labelled(data.X, np.full(len(data), label)) for label in pair)
    yield f"all labels {pair[0]} against all labels {pair[1]}", one, other
    if labels.size > 1:
        moved = labels[(np.searchsorted(labels, data.y) + 1) % labels.size]
        yield "each label against the next one", data, Labelled(data.X, moved)
    mirrored = Labelled(2 * data.X.mean(axis=0) - data.X, data.y)
    yield "the records against their mirror images", data, mirrored


@dataclass(frozen=True, slots=True)
class ProbeCost:
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
    plan: tuple[ProbeCost, ...]  # what was told before it started
    openings: int
    queries: int

    def has(self, name: str) -> bool:
        """Return whether a defect of this name was found."""
        return any(defect.name == name for defect in self.defects)

    @property
    def facts(self) -> dict[str, Any]:
        """JSON values about the probe itself, for the record."""
        found = asdict(self)
        del found["defects"]
        lists = ("plan", "untold", "blind", "remarks")
        return found | {name: list(found[name]) for name in lists}

    def as_json(self) -> list[dict[str, Any]]:
        """Return JSON values for the record's list `defects`."""
        return [each._asdict() | {"probability": number(each.probability)} for each in self.defects]


def probe(
    service: Service,
    data: Labelled,
    *,
    claim: DP | None = None,
    alpha: float = ALPHA,
    seed: int = 0,
    openings: int = OPENINGS,
    announce: Callable[[tuple[ProbeCost, ...]], None] | None = None,
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
    live, coins = service.says("live"), not service.says("one_model")
    there = {
        "any": True,
        "data": not live,
        "coins": coins,
        "points": coins or not live,
        "deletion": service.can("delete") and not live,
        "claim": claim is not None and not live,
    }
    plan = tuple(
        ProbeCost(part.name, part.tests * (alpha / TESTS), *part.cost(room, openings))
        for part in PARTS
        if there[part.needs] and room >= part.room
    )
    if announce is not None:
        announce(plan)
    service.openings = service.queries = 0
    blind = list[str]()
    probe = Probing(service, data, room, seed, share=alpha / TESTS, claim=claim, openings=openings)
    untold = probe.untold
    found = budget_defects(probe, declared)
    if live:
        untold.insert(0, "control: its data are fixed, so that they cannot be exchanged")
        blind.append("live")
    else:
        changed, words = control(service, data, room, alpha=alpha, progress=progress)
        if not changed:
            told = f"no change of the answers was seen when the data changed ({words})"
            untold.insert(0, f"control: {told}")
            blind.append("control")
    progress(f"{service.name}: probe", 1, 4)
    if there["points"]:
        probe.find_points()
    progress(f"{service.name}: probe", 2, 4)
    if not coins:
        untold.append("coins: one released model is declared")
    elif not probe.points:
        # sessions of one moment are alike too if the clock is the seed
        clock = clock_defects(probe, probe.beside(data.X[0], JITTER))
        kept = [] if clock or room < 2 else rounded_defects(probe)
        found += clock + kept
        untold.append(f"coins: {NO_COINS}")
        blind += [] if clock or kept else ["coins"]
    else:
        if room < 2:
            untold.append("cached answers and sticky noise: a session gives one answer only")
            blind.append("coins")
        found += _of_coins(probe)
    progress(f"{service.name}: probe", 3, 4)
    found += _of_records(probe, {each.name for each in found})
    progress(f"{service.name}: probe", 4, 4)
    return Probe(
        defects=tuple(found),
        untold=tuple(untold),
        blind=tuple(blind),
        remarks=tuple(probe.remarks[:1]),
        room=room,
        alpha=alpha,
        plan=plan,
        openings=service.openings,
        queries=service.queries,
    )


def _of_coins(probe: Probing) -> list[Defect]:
    """Return whose coins they are: the first reason that explains what comes after it."""
    several, memoised = probe.room >= 2, probe.service.says("memoised")
    found = clock_defects(probe, probe.points[0])
    if found:
        probe.untold.append("other coins: those of one moment are the same")
        return found
    if several:
        found = frozen_defects(probe)
        if not found and not memoised:
            found = rounded_defects(probe)
            if found:
                probe.remarks.clear()
    if found or probe.remarks:
        return found  # a stream that does not change tells no coins apart
    found = shared_defects(probe)
    if found:
        return found
    if several:
        found = replay_defects(probe)
    if not found and not memoised:
        found = batch_defects(probe)
    return found + few_bits_defects(probe)


def _of_records(probe: Probing, names: set[str]) -> list[Defect]:
    """Return what depends on records, deletion and clipping; `names` are of the defects found."""
    found: list[Defect] = []
    service, untold = probe.service, probe.untold
    if service.says("live"):
        untold.append("deletion and clipping: its data are fixed")
        return found
    if service.can("delete"):
        if service.says("memoised"):
            untold.append("coins of deletions: its answers are kept by design")
        elif probe.points and not names & {CLOCK, REPLAY}:
            found += reuse_defects(probe)
        found += left_defects(probe)
    if probe.claim is None:
        untold.append("missing clipping: no claim was given")
        return found
    if probe.points:
        found += scores_defects(probe)
    return found + clipping_defects(probe)
