"""Repeated queries of a service in operation, and tenants who compare theirs.

Every session on S and on S' is of a deployment with a seed of its own: what it loses is what a
correct service promises, noise of training included. Only where the service says that deployments
share their seed, an attacker opens tenants of her own on S and on S' and asks them what she asks
the victim: the same coins give the same answers on the same data, so that one difference tells the
data apart. With seeds of their own her tenants tell nothing of the victim's, and are not asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.observed import Array
from dpassay.attacks.repeated.run import (
    LEAST_TRANSCRIPTS,
    MOST_ANSWERS,
    STICKY,
    Repeated,
    is_sticky,
    ladder,
)
from dpassay.attacks.repeated.transcript_tests import TranscriptTest, run_tests
from dpassay.attacks.repeated.worst_cell import ranked
from dpassay.attacks.services.interface import Service
from dpassay.attacks.services.probing import is_vector, shown
from dpassay.attacks.services.records import next_label
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.errors import TargetError, is_count, require
from dpassay.pairs import Replace
from dpassay.seeds import stream
from dpassay.targets.groups import Progress, silent

SIDES = ("S", "S'")
CELLS = 6
"""Records that are tried."""
MOST_SCREENED = 200
"""Sessions a side that try one."""
MOST_LABELS = 100
SHARED = (
    "coins are shared between users: tenants of the attacker's own, opened on S and on S', give "
    "the victim's answers on the same data, so that comparing transcripts tells S from S' far "
    "beyond the claim"
)


def attack_service(
    service: Service,
    data: Labelled,
    claim: DP,
    *,
    transcripts: int,
    room: int,
    shared: bool,
    alpha: float,
    seed: int,
    progress: Progress = silent,
) -> tuple[Repeated, ...]:
    """Attack a service by repeated queries, and by comparing tenants where users share its coins.

    `transcripts` are sessions a side, at least 20, and as many again at most try out where to
    ask; `room` is the number of answers in each. If `shared`, tenants with the victim's seed
    are compared; only a service that says there are such has them. `alpha` is that of all
    certified numbers together. A service that refuses earlier than before raises `TargetError`.
    """
    enough = f"an integer >= {LEAST_TRANSCRIPTS}"
    require(is_count(transcripts, LEAST_TRANSCRIPTS), "--transcripts", transcripts, enough)
    ms = tuple(m for m in ladder(claim.epsilon, min(room, MOST_ANSWERS)) if m * claim.delta < 1)
    tried = min(MOST_SCREENED, max(LEAST_TRANSCRIPTS, transcripts // 10))
    change = _best(service, data, claim, ms[-1], tried, seed, progress)
    sides, x = (data, change.apply(data)), change.x
    share = alpha / (2 if shared else 1)

    def found(
        name: str, tests: Iterator[TranscriptTest], why: str, *, sticky: bool = False
    ) -> Repeated:
        asked = f"has label {change.y} instead of {int(data.y[change.index])}, asked at it"
        rungs = tuple(tests)
        return Repeated(
            name=name,
            reason=f"record {change.index} {asked}: {shown(x)}",
            epsilon=claim.epsilon,
            delta=claim.delta,
            transcripts=transcripts,
            alpha=share,
            tests=rungs,
            sticky=sticky,
            why=why if sticky or any(test.broken for test in rungs) else "",
        )

    drawn = []
    for done, (name, side) in enumerate(zip(SIDES, sides, strict=True), start=1):
        drawn.append(_ask(service, side, x, ms[-1], transcripts, f"repeated {name}"))
        progress(f"{service.name}: repeated queries", done, 2)
    (one, other), labels = _places(*drawn)
    sticky = is_sticky(one, other)
    tests = (run_tests(one[:, :m], other[:, :m], claim, len(labels), share / len(ms)) for m in ms)
    repeated = found(service.name, tests, STICKY if sticky else "", sticky=sticky)
    if not shared:
        return (repeated,)
    # games, each with a deployment of its own: the victim's data are S or S', the attacker's
    # tenants have both
    games = []
    for done, (name, side) in enumerate(zip(SIDES, sides, strict=True), start=1):
        seeds = (service.deployment(f"compared {name}", t) for t in range(transcripts))
        tenants = (side, *sides)
        games.append(
            [[_transcript(service, each, x, ms[-1], own) for each in tenants] for own in seeds]
        )
        progress(f"{service.name}: tenants compared", done, 2)

    def compared() -> Iterator[TranscriptTest]:
        for m in ms:
            seen = [
                np.array([[2 * (v[:m] == a[:m]) + (v[:m] == b[:m])] for v, a, b in side])
                for side in games
            ]
            yield run_tests(seen[0], seen[1], claim, 4, share / len(ms), m=m)

    return repeated, found(f"{service.name}, tenants compared", compared(), SHARED)


def _best(
    service: Service,
    data: Labelled,
    claim: DP,
    m: int,
    sessions: int,
    seed: int,
    progress: Progress,
) -> Replace:
    """Return the change of a label whose transcripts differ most in a few sessions."""
    labels = len(np.unique(data.y))
    other = "of two labels at least: a record is given another"
    require(labels >= 2, "--data", f"{labels} label", other)
    rows = stream(seed, "tenants", service.name).permutation(len(data))[:CELLS].tolist()
    changes, values = [Replace(i, data.X[i], next_label(data, i)) for i in rows], list[float]()
    delta = min(m * claim.delta, 0.5)
    for done, change in enumerate(changes, start=1):
        drawn = (
            _ask(service, each, change.x, m, sessions, f"try {done} {side}")
            for side, each in zip(SIDES, (data, change.apply(data)), strict=True)
        )
        counts, known = _places(*drawn)
        x, y = ((each == len(known) - 1).sum(axis=1) for each in counts)
        thresholds = np.unique(np.concatenate([x, y]))
        a, b = ((each[:, None] >= thresholds).sum(axis=0) for each in (x, y))
        both = ((a, b), (sessions - b, sessions - a))
        values.append(max(ranked(one, two, sessions, delta) for one, two in both))
        progress(f"{service.name}: worst record", done, len(rows))
    return changes[int(np.argmax(values))]


def _ask(
    service: Service, data: Labelled, x: Array, m: int, sessions: int, phase: str
) -> list[tuple[Any, ...]]:
    """Return transcripts of new users of new deployments."""
    return [_transcript(service, data, x, m, service.deployment(phase, t)) for t in range(sessions)]


def _transcript(service: Service, data: Labelled, x: Array, m: int, seed: int) -> tuple[Any, ...]:
    """Return m answers at a point, of probabilities the tenth in which the last of them is.

    What an attacker makes of an answer loses no more than the answer does.
    """
    found = service.open(data, seed, service.user()).transcript([x] * m)
    if len(found) < m:
        raise TargetError(
            f"{service.name} refused after {len(found)} answers, where it gave {m} before"
        )
    return tuple(
        int(min(9.0, max(0.0, 10 * each[-1]))) if is_vector(each) else each for each in found
    )


def _places(
    one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]
) -> tuple[tuple[NDArray[np.int64], ...], list[Any]]:
    """Return transcripts as places of the labels in sorted order, and the labels."""
    labels = sorted(
        {answer for transcript in (*one, *other) for answer in transcript},
        key=lambda each: (str(type(each)), each),
    )
    few = f"labels, {MOST_LABELS} at most"
    require(len(labels) <= MOST_LABELS, "SERVICE", f"{len(labels)} different answers", few)
    place = {label: k for k, label in enumerate(labels)}
    found = tuple(
        np.array([[place[answer] for answer in transcript] for transcript in side])
        for side in (one, other)
    )
    return found, labels
