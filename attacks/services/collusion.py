"""Repeated queries of a service in operation, on a real pair of neighbours.

And tenants who compare transcripts.

Every session on S and on S' is of a deployment with a seed of its own: what it loses is what a
correct service promises, noise of training included. Only where the service says that deployments
share their seed, an attacker opens tenants of her own on S and on S' and asks them what she asks
the victim: the same coins give the same answers on the same data, so that one difference tells the
data apart. With seeds of their own her tenants tell nothing of the victim's, and are not asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
from dpassay.attacks.repeated.transcript_tests import run_tests
from dpassay.attacks.services.interface import Service
from dpassay.attacks.services.probe_points import shown
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.errors import TargetError, is_count, require
from dpassay.pairs import Replace
from dpassay.seeds import stream
from dpassay.stats.binomial import ranking_bound
from dpassay.stats.scales import Ratio
from dpassay.targets.groups import Progress, silent

CELLS = 6
"""Records that are tried."""
MOST_SCREENED = 200
"""Sessions a side that try one."""
MOST_LABELS = 100
ALPHA = 0.05
"""Of the bounds that records are ranked by; it decides nothing else."""
SHARED = (
    "coins are shared between users: tenants of the attacker's own, opened on S and on S', give "
    "the victim's answers on the same data, so that comparing transcripts tells S from S' far "
    "beyond the claim"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Neighbours:
    """A real pair S and S': a record changes its label, and is asked about."""

    base: Labelled
    neighbour: Labelled
    x: Array  # (d,), the query
    reason: str


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
    require(
        is_count(transcripts, LEAST_TRANSCRIPTS),
        "--transcripts",
        transcripts,
        f"an integer >= {LEAST_TRANSCRIPTS}",
    )
    ms = tuple(m for m in ladder(claim.epsilon, min(room, MOST_ANSWERS)) if m * claim.delta < 1)
    pair = _best(
        service,
        data,
        claim,
        ms[-1],
        min(MOST_SCREENED, max(LEAST_TRANSCRIPTS, transcripts // 10)),
        seed,
        progress,
    )
    share = alpha / (2 if shared else 1)
    found = [_repeated(service, pair, claim, ms, transcripts, share, progress)]
    if shared:
        found.append(_compared(service, pair, claim, ms, transcripts, share, progress))
    return tuple(found)


def _best(
    service: Service,
    data: Labelled,
    claim: DP,
    m: int,
    sessions: int,
    seed: int,
    progress: Progress,
) -> Neighbours:
    """Return the pair whose transcripts differ most in a few sessions."""
    rows = stream(seed, "tenants", service.name).permutation(len(data))[:CELLS].tolist()
    best: tuple[float, Neighbours] | None = None
    for done, pair in enumerate(_pairs(data, rows), start=1):
        one, other = (
            _ask(service, each, pair.x, m, sessions, f"try {done} {side}")
            for side, each in _sides(pair)
        )
        counts, labels = _places(one, other)
        x, y = ((each == len(labels) - 1).sum(axis=1) for each in counts)
        thresholds = np.unique(np.concatenate([x, y]))
        above = [(each[:, None] >= thresholds).sum(axis=0) for each in (x, y)]
        known = {"scale": Ratio(min(m * claim.delta, 0.5)), "alpha": ALPHA}
        up = ranking_bound(
            above[0],
            sessions,
            above[1],
            sessions,
            **known,  # type: ignore[arg-type]
        )
        down = ranking_bound(
            sessions - above[1],
            sessions,
            sessions - above[0],
            sessions,
            **known,  # type: ignore[arg-type]
        )
        value = float(max(up.max(), down.max()))
        if best is None or value > best[0]:
            best = value, pair
        progress(f"{service.name}: worst record", done, len(rows))
    assert best is not None
    return best[1]


def _pairs(data: Labelled, rows: list[int]) -> Iterator[Neighbours]:
    labels = np.unique(data.y).tolist()
    require(
        len(labels) >= 2,
        "--data",
        f"{len(labels)} label",
        "of two labels at least: a record is given another",
    )
    for i in rows:
        y = labels[(labels.index(int(data.y[i])) + 1) % len(labels)]
        change = Replace(i, data.X[i], y)
        reason = (
            f"record {i} has label {y} instead of {int(data.y[i])}, asked at it: {shown(data.X[i])}"
        )
        yield Neighbours(base=data, neighbour=change.apply(data), x=data.X[i], reason=reason)


def _sides(pair: Neighbours) -> tuple[tuple[str, Labelled], tuple[str, Labelled]]:
    return ("S", pair.base), ("S'", pair.neighbour)


def _ask(
    service: Service, data: Labelled, x: Array, m: int, sessions: int, phase: str
) -> list[tuple[Any, ...]]:
    """Transcripts of new users of new deployments."""
    return [
        _transcript(service, data, x, m, service.deployment(phase, t), service.user())
        for t in range(sessions)
    ]


def _transcript(
    service: Service, data: Labelled, x: Array, m: int, seed: int, user: str
) -> tuple[Any, ...]:
    found = tuple(map(counted, service.open(data, seed, user).transcript([x] * m)))
    if len(found) < m:
        raise TargetError(
            f"{service.name} refused after {len(found)} answers, where it gave {m} before"
        )
    return found


def counted(answer: Any) -> Any:
    """Return a label as it is; of probabilities the tenth in which the last of them is, 0 to 9.

    What an attacker makes of an answer loses no more than the answer does.
    """
    if isinstance(answer, tuple) and all(isinstance(each, int | float) for each in answer):
        return int(min(9.0, max(0.0, 10 * answer[-1])))
    return answer


def _places(
    one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]
) -> tuple[tuple[NDArray[np.int64], ...], list[Any]]:
    """Transcripts as places of the labels in sorted order."""
    labels = sorted(
        {answer for transcript in (*one, *other) for answer in transcript},
        key=lambda each: (str(type(each)), each),
    )
    require(
        len(labels) <= MOST_LABELS,
        "--service",
        f"{len(labels)} different answers",
        f"labels, {MOST_LABELS} at most",
    )
    place = {label: k for k, label in enumerate(labels)}
    found = tuple(
        np.array([[place[answer] for answer in transcript] for transcript in side])
        for side in (one, other)
    )
    return found, labels


def _repeated(
    service: Service,
    pair: Neighbours,
    claim: DP,
    ms: tuple[int, ...],
    transcripts: int,
    alpha: float,
    progress: Progress,
) -> Repeated:
    drawn = []
    for done, (side, data) in enumerate(_sides(pair), start=1):
        drawn.append(_ask(service, data, pair.x, ms[-1], transcripts, f"repeated {side}"))
        progress(f"{service.name}: repeated queries", done, 2)
    (one, other), labels = _places(drawn[0], drawn[1])
    sticky = is_sticky(one, other)
    return Repeated(
        name=service.name,
        reason=pair.reason,
        epsilon=claim.epsilon,
        delta=claim.delta,
        transcripts=transcripts,
        alpha=alpha,
        tests=tuple(
            run_tests(one[:, :m], other[:, :m], claim, len(labels), alpha / len(ms)) for m in ms
        ),
        sticky=sticky,
        why=STICKY if sticky else "",
    )


def _compared(
    service: Service,
    pair: Neighbours,
    claim: DP,
    ms: tuple[int, ...],
    transcripts: int,
    alpha: float,
    progress: Progress,
) -> Repeated:
    """Compare games, each with a deployment of its own.

    The victim's data are S or S', the attacker's tenants have both.
    """
    drawn = []
    for done, (side, data) in enumerate(_sides(pair), start=1):
        games = []
        for t in range(transcripts):
            seed = service.deployment(f"compared {side}", t)
            tenants = (data, pair.base, pair.neighbour)
            games.append(
                [
                    _transcript(service, each, pair.x, ms[-1], seed, service.user())
                    for each in tenants
                ]
            )
        drawn.append(games)
        progress(f"{service.name}: tenants compared", done, 2)
    tests = []
    for m in ms:
        seen = [
            np.array([[2 * (v[:m] == a[:m]) + (v[:m] == b[:m])] for v, a, b in games])
            for games in drawn
        ]
        tests.append(run_tests(seen[0], seen[1], claim, 4, alpha / len(ms), m=m))
    broken = any(test.broken for test in tests)
    return Repeated(
        name=f"{service.name}, tenants compared",
        reason=pair.reason,
        epsilon=claim.epsilon,
        delta=claim.delta,
        transcripts=transcripts,
        alpha=alpha,
        tests=tuple(tests),
        sticky=False,
        why=SHARED if broken else "",
    )
