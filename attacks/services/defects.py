"""Defects of an interface that only an attacker sees.

Cached answers, sticky noise, coins shared between users.

A correct service answers every query with coins of its own, independent between answers and
sessions. Under that hypothesis the answers of one deployment at one point are exchangeable:
whatever the law, given how often each answer came, every order of them is equally likely. The
chance that they fall into constant blocks (of a session, of the same place in two transcripts) is
known exactly, and a defect is named where it is at most the error probability, shared by all tests.
The test for answers that are drawn once for all needs that the law of a correct service does not
jump within a hair (1e-6 standard deviations) of two points drawn at random.

One noisy model that is drawn at training from the deployment's seed and then answers everybody
without coins is no defect: it is one draw, and its claim is about that draw. Coins that all users
share look the same where answers never change within a deployment. What could be either is
remarked, and called neither.

Before all that comes the positive control, see `dpassay.attacks.services.control`. Without it, and
where no coins were seen, nothing is said of them: `blind` names what was not looked at.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.attacks.observed import Array
from dpassay.attacks.services.budgets import Defect, budget_defects, room_of
from dpassay.attacks.services.control import control
from dpassay.attacks.services.interface import Service
from dpassay.attacks.services.probe_points import HAIR, ProbePoints, shown
from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.numerics import number
from dpassay.targets.groups import Progress, silent

ALPHA = 1e-6
"""Error probability of all statistical tests of a probe together."""
ANSWERS = 96
"""Answers at each point, in sessions of four where their budget allows."""
USERS = 4
"""Of a deployment."""
CAVEAT = "; exact if training draws no coins from the seed, else it may be training alone that does"
ONE_DRAW = (
    "one draw: the answers of a deployment never change, whoever asks, and differ from deployment "
    "to deployment; so do those of a model that is trained with noise from the seed and answers "
    "without coins, whose claim is about the model. If every answer is claimed to have coins of "
    "its own, this is a defect"
)
ONE_ANSWER = (
    "two users of a deployment always got the same answer: a model that is trained with noise "
    "from the seed does that, and so do coins that users share; a session gives too few answers "
    "to tell them apart"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What is wrong with a service.

    Parameters
    ----------
    defects : tuple of Defect
    untold : tuple of str
        What could not be looked at, and why.
    blind : tuple of str
        The parts of it without which nothing is known: `control` and `coins`.
    remarks : tuple of str
        What may be right or wrong, depending on what is claimed.
    room : int
        Answers that a session gives, as far as was asked.
    alpha : float
        A correct service gets any defect with a probability of at most this.
    """

    defects: tuple[Defect, ...]
    untold: tuple[str, ...]
    blind: tuple[str, ...]
    remarks: tuple[str, ...]
    room: int
    alpha: float

    def has(self, name: str) -> bool:
        """Whether a defect of this name was found."""
        return any(defect.name == name for defect in self.defects)

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


def probe(
    service: Service,
    data: Labelled,
    *,
    alpha: float = ALPHA,
    seed: int = 0,
    progress: Progress = silent,
) -> Probe:
    """Look for defects of a service.

    Parameters
    ----------
    service : Service
    data : Labelled
        What it is trained on; queries lie near its records.
    alpha : float
        Error probability, in (0, 1).
    seed : int

    Raises
    ------
    TargetError
        If the service fails.
    """
    progress(f"{service.name}: probe", 0, 4)
    room, declared = room_of(service, data)
    if room == 0:
        raise TargetError(f"{service.name} refuses the first query")
    moves = control(service, data, room, alpha=alpha, progress=progress)
    found, untold = budget_defects(service, data, room, declared)
    blind: list[str] = []
    if not moves.changed:
        untold.insert(
            0, f"control: no change of the answers was seen when the data changed ({moves.words})"
        )
        blind.append("control")
    progress(f"{service.name}: probe", 1, 4)
    probe = ProbePoints(service, data, room, seed)
    points = probe.points()
    progress(f"{service.name}: probe", 2, 4)
    remarks: list[str] = []
    if len(points) == 0:
        untold.append("coins: near every record that was asked all answers were alike")
        blind.append("coins")
    else:
        if room >= 2:
            found += _frozen(probe, points, alpha / (3 * len(points) + 2), remarks)
        else:
            untold.append("cached answers and sticky noise: a session gives one answer only")
            blind.append("coins")
        progress(f"{service.name}: probe", 3, 4)
        found += _shared(probe, points, alpha / (3 * len(points) + 2), remarks)
    progress(f"{service.name}: probe", 4, 4)
    return Probe(
        defects=tuple(found),
        untold=tuple(untold),
        blind=tuple(blind),
        remarks=tuple(remarks[:1]),
        room=room,
        alpha=alpha,
    )


def block_probability(blocks: Iterable[Hashable], size: int) -> float:
    """Return the chance that exchangeable values fall into constant blocks.

    Parameters
    ----------
    blocks : iterable
        The value of each of T blocks.
    size : int
        Values in each block.

    Returns
    -------
    float
        T! / prod b_k! over (T size)! / prod (size b_k)! for b_k blocks of the k-th value: the share
        of the orders of all values in which every block is constant.
    """
    counts = Counter(blocks).values()
    log = math.lgamma(sum(counts) + 1) - math.lgamma(size * sum(counts) + 1)
    return math.exp(
        min(0.0, log + sum(math.lgamma(size * b + 1) - math.lgamma(b + 1) for b in counts))
    )


def apart_probability(still: int, moved: int, different: int) -> float:
    """Return the chance that all values that differ from the commonest are among the moved.

    Of still + moved exchangeable values.
    """
    if different == 0:
        return 1.0
    return math.comb(moved, different) / math.comb(still + moved, different)


def _frozen(
    probe: ProbePoints, points: Sequence[Array], alpha: float, remarks: list[str]
) -> list[Defect]:
    """Cached answers, or sticky noise: not both, the second is more.

    One draw of a deployment is remarked.
    """
    r = min(4, max(2, probe.room // 2))
    moved, sessions = min(4, probe.room - r), ANSWERS // r
    found: dict[str, list[tuple[float, Array, str]]] = {
        "cached": [],
        "sticky": [],
        "eternal": [],
        "drawn": [],
    }
    for p, x in enumerate(points):
        still, near = [], []
        for t in range(sessions):
            session = probe.service.open(
                probe.data, probe.service.deployment("frozen", p, t // USERS), probe.service.user()
            )
            answers = session.transcript([x] * r + [probe.beside(x, HAIR) for _ in range(moved)])
            if len(answers) < r + moved:
                return []  # it refuses earlier than it did before: that is told elsewhere
            still.append(answers[:r])
            near.append(answers[r:])
        if any(len(set(block)) > 1 for block in still):
            continue
        firsts = [block[0] for block in still]
        deployed = [firsts[t : t + USERS] for t in range(0, sessions, USERS)]
        follows = all(
            answer == first for first, beside in zip(firsts, near, strict=True) for answer in beside
        )
        name, chance = (
            "sticky" if follows else "cached",
            math.prod(block_probability(each, r) for each in deployed),
        )
        if chance <= alpha:
            found[name].append((chance, x, "session to session"))
        elif all(len(set(each)) == 1 for each in deployed) and len(set(firsts)) > 1:
            chance = block_probability((each[0] for each in deployed), r * USERS)
            if chance <= alpha:
                found["drawn" if follows else "cached"].append(
                    (chance, x, f"deployment to deployment only{CAVEAT}")
                )
        elif len(set(firsts)) == 1:
            odd = sum(answer != firsts[0] for block in near for answer in block)
            chance = apart_probability(r * sessions, moved * sessions, odd)
            if chance <= alpha:
                found["eternal"].append((chance, x, ""))
    remarks += [ONE_DRAW] if found.pop("drawn") else []
    return _named(r, moved, **found)


def _named(
    r: int, moved: int, cached: list[Any], sticky: list[Any], eternal: list[Any]
) -> list[Defect]:
    sessions, near = ANSWERS // r, f", then {moved} times a hair beside it" if moved else ""
    if cached:
        (chance, x, how), name = min(cached, key=lambda each: each[0]), "cached answers"
        seen = (
            f"the same point gave the same answer {r} times in each of {sessions} sessions, and "
            "points moved by a hair got coins of their own: repeated points are answered from a "
            f"cache; the answer differed from {how}"
        )
    elif sticky:
        (chance, x, how), name = (
            min(sticky, key=lambda each: each[0]),
            "sticky noise" if moved else "cached answers or sticky noise",
        )
        beside = (
            f", at the point or a hair beside it ({r} + {moved} answers"
            if moved
            else f" at a point ({r} answers"
        )
        seen = (
            f"the answers of a session never changed{beside} in each of {sessions} sessions): the"
            f" noise is drawn once and sticks; they differed from {how}"
        )
    elif len(eternal) >= 2:
        (chance, x, _), name = max(eternal, key=lambda each: each[0]), "cached answers"
        seen = (
            f"two points gave one answer for ever ({r} times in each of {sessions} sessions of "
            "different users and seeds), though points moved by a hair got other answers: the "
            "answer of a point is drawn once for all"
        )
    else:
        return []
    again = (
        f"open {sessions} sessions of different users and seeds, ask {r} times at {shown(x)}{near}"
    )
    return [Defect(name=name, seen=seen, probability=chance, again=again)]


def _shared(
    probe: ProbePoints, points: Sequence[Array], alpha: float, remarks: list[str]
) -> list[Defect]:
    """Coins that do not depend on the user.

    Where answers do not change within a session, they may be those of training.
    """
    length = min(probe.room, 16)
    pairs = ANSWERS // (2 if length < 4 else 3)
    asked = [points[i % len(points) if length >= 16 else 0] for i in range(length)]
    blocks, inside, last = [], 1.0, ("", "", 0)
    for t in range(pairs):
        last = probe.service.user(), probe.service.user(), probe.service.deployment("shared", t)
        first, second = (
            probe.service.open(probe.data, last[2], user).transcript(asked) for user in last[:2]
        )
        if first != second:
            return []
        blocks.append(first)
        step = len(points) if length >= 16 else 1
        inside *= math.prod(
            block_probability(first[k::step], 2) for k in range(min(step, len(first)))
        )
    if inside > alpha:
        if block_probability(blocks, 2) <= alpha:
            remarks.append(ONE_ANSWER)
        return []
    seen = (
        f"in {pairs} deployments two users got the same {length} answers, answer for answer, "
        "though these vary: the coins do not depend on the user, who can compare her own answers "
        "with those of others"
    )
    again = (
        f"open sessions of '{last[0]}' and '{last[1]}' with seed {last[2]}, and ask both at "
        f"{shown(points[0])} and so on"
    )
    return [Defect(name="seed shared between users", seen=seen, probability=inside, again=again)]
