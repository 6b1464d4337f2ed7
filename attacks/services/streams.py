"""Whose coins: streams of answers that come again, though each session should toss its own.

Sessions opened at one moment (the clock), sessions of one user opened again (replay), sessions of
two users of a deployment (a shared seed), and many sessions of all kinds (seeds of few bits, and
part of the users that share one). All answers of a stream are at one point where answers differ.

Given the training every session of a correct service tosses its own coins. So, within one
deployment, sessions are independent of each other, whatever was trained; between deployments they
are independent too. Streams without any change are not looked at here: `frozen` does.

Sessions also ask for two batches of two points, one a hair beside the other. Where every answer has
coins of its own, the answers in a column (first or second place, of all sessions) are independent
of those in any other, so that each order of a column is equally likely beside the other. Numbers
are compared by the side of their column's median, for noise that is drawn once for a batch is added
to numbers that differ a little; noise that sums to nothing puts them on opposite sides.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.attacks.services.interface import Refusal
from dpassay.attacks.services.probing import (
    HAIR,
    POINTS,
    Defect,
    ProbePart,
    Probing,
    block_probability,
    halves,
    pairing_probability,
    repeat_probability,
    shown,
)

ANSWERS = 96
AT_ONCE = 48
"""Sessions that are opened at one moment."""
TICK = 2.1
"""Seconds after which the clock shows something else, when streams are the clock's."""
TICKS, AT_A_TICK = 5, 6
"""Half ticks that are waited for other answers, where all are alike, and answers of a session."""
RETURNS = 48
"""Users of one deployment who come back."""
OPENINGS = 2000
"""Sessions of each birthday test: coins of 16 bits give 30 pairs of equal streams."""
STAGES = (250, 1000, 2000)
"""After how many it is looked whether streams came again."""
BITS = 30
"""Of a stream, as far as the budget of a session allows."""
MEASURED = 8
"""Sessions that tell how many bits an answer at a point has."""
LONGEST = 64
SOUGHT = 16
"""Bits of a seed that should be seen. Where streams are so short that they come again by themselves
it may not be, and what would be is told."""
FEW_SEEDS = 6
"""Bits up to which users with one stream are called a part of the users."""
BATCHES, SIZE = 96, 2
"""Sessions that ask for batches, and points of a batch."""
ONE_ANSWER = (
    "two users of a deployment always got the same answer: a model that is trained with noise "
    "from the seed does that, and so do coins that users share; a session gives too few answers "
    "to tell them apart"
)
CLOCK = "noise seeded by the clock"
REPLAY = "answers replayed when a session is reopened"
SHARED = "seed shared between users"
PART = "seed shared between part of the users"
TOGETHER = "seed shared between deployments"
FEW = "seeds of few bits"
REUSED = "noise reused within a batch"
CANCELS = "noise cancels within a batch"
REPLAYED = "batches replay the same coins"
WORDS = {
    REPLAYED: "sessions got two batches that were alike, answer for answer: each batch begins with "
    "the same coins",
    REUSED: "batches had both answers on one side of what is usual: answers of a batch share "
    "coins, and their differences have none",
    CANCELS: "batches had their answers on opposite sides of what is usual: the noise of a batch "
    "sums to nothing, and so the sum of its answers has none",
}
MOMENTS = ProbePart(
    "clock", "coins", 1, 1,
    lambda room, _: (
        AT_ONCE * (1 + TICKS),
        AT_ONCE * min(room, LONGEST) + TICKS * AT_ONCE * max(1, min(room, AT_A_TICK)),
    ),
)  # fmt: skip
REPLAYS = ProbePart(
    "reopened sessions", "coins", 1, 2,
    lambda room, _: (2 * RETURNS, 2 * RETURNS * min(room // 2, 16)),
)  # fmt: skip
BATCHING = ProbePart(
    "batches", "coins", 1, 2,
    lambda room, _: (BATCHES, BATCHES * 2 * SIZE) if room >= 2 * SIZE else (0, 0),
)  # fmt: skip
USERS = ProbePart(
    "seed shared between users", "coins", 1, 1,
    lambda room, _: (2 * _pairs(room) + 1, (2 * _pairs(room) + 1) * min(room, 16)),
)  # fmt: skip
FEW_BITS = ProbePart(
    "seeds of few bits", "coins", 1, 1,
    lambda room, openings: (
        2 * openings + MEASURED * POINTS,
        (2 * openings + MEASURED * POINTS) * min(room, LONGEST),
    ),
)  # fmt: skip


def clock_defects(probe: Probing, x: Array) -> list[Defect]:
    """Return coins that are those of the moment: sessions of all users and deployments agree.

    All are opened first, and asked in turns, so that a tick of the clock has many of them. Streams
    that come again when the clock has moved on are not the clock's. Where the clock is read for
    each answer, all answers of a tick are alike, and some tick has another one.
    """
    length, service = min(probe.room, LONGEST), probe.service
    whose = [(service.deployment("clock", t), service.user()) for t in range(AT_ONCE)]
    sessions = [service.open(probe.data, seed, user) for seed, user in whose]
    asked: list[list[Any]] = [[] for _ in sessions]
    for turn in range(length):
        for session, answers in zip(sessions, asked, strict=True):
            if len(answers) == turn and not isinstance(answer := session.ask(x), Refusal):
                answers.append(answer)
    streams = list(map(tuple, asked))
    repeats, chance = repeat_probability(streams)
    if all(len(set(stream)) <= 1 for stream in streams) or chance > probe.share / 2:
        # two streams where the clock ticked while they were asked
        return _ticks(probe, x) if len(set(streams)) <= 2 else []
    time.sleep(TICK)
    for t in range(4):
        if probe.session("clock", "later", t).transcript([x] * length) in streams:
            return []
    seen = (
        f"of {AT_ONCE} sessions of different users and deployments that were opened at one moment, "
        f"{repeats} gave the {length} answers of another one, answer for answer, and none did "
        f"{TICK:g} s later"
    )
    again = f"open {AT_ONCE} sessions of different users and seeds at once, and ask at {shown(x)}"
    return [Defect(CLOCK, seen, again, chance)]


def _ticks(probe: Probing, x: Array) -> list[Defect]:
    """Return answers that are alike at every moment, of all deployments, but not at all moments."""
    asked = [x, *probe.data.X[: min(probe.room, AT_A_TICK) - 1]]
    moments = list[tuple[Any, ...]]()
    for tick in range(TICKS):
        answers = {probe.session("tick", tick, t).transcript(asked) for t in range(AT_ONCE)}
        if len(answers) > 1:
            continue  # the clock moved on while they were asked, or they differ
        moments += answers
        chance = 2**TICKS * block_probability(moments, AT_ONCE)  # whichever moments were left out
        if chance <= probe.share / 2:
            break
        time.sleep(TICK / 2)
    else:
        return []
    seen = (
        f"at each of {len(moments)} moments {AT_ONCE} deployments gave the same answers, and not at"
        " all moments the same ones: every answer is drawn by the clock"
    )
    again = f"open {AT_ONCE} sessions of different seeds, ask at {shown(x)}, and again a second on"
    return [Defect(CLOCK, seen, again, chance)]


def replay_defects(probe: Probing) -> list[Defect]:
    """Return coins that begin anew whenever the same user opens a session, in one deployment."""
    x, length = probe.points[0], min(probe.room // 2, 16)
    seed, user = probe.service.deployment("replay"), ""
    first, second = list[tuple[Any, ...]](), list[tuple[Any, ...]]()
    for _ in range(RETURNS):
        user = probe.service.user()
        for found in (first, second):
            found.append(probe.answers(seed, user, [x] * length))
    chance = pairing_probability(first, second)
    if chance > probe.share or (length > 1 and all(len(set(each)) <= 1 for each in first)):
        return []
    if any(len(stream) < length for stream in (*first, *second)):
        return []  # users of a deployment have one budget together, and equal refusals are no coins
    equal = sum(a == b for a, b in zip(first, second, strict=True))
    seen = (
        f"{equal} of {RETURNS} users of a deployment got the same {length} answers, answer for "
        "answer, when they opened a session again, and other users got others: who comes back "
        "sees the same coins"
    )
    again = f"open a session of '{user}' with seed {seed} twice, and ask both at {shown(x)}"
    return [Defect(REPLAY, seen, again, chance)]


def _pairs(room: int) -> int:
    """Return how many deployments are asked whether two users have the same coins."""
    return ANSWERS // (2 if room < 4 else 3)


def shared_defects(probe: Probing) -> list[Defect]:
    """Return coins that do not depend on the user."""
    points, service = probe.points, probe.service
    length, pairs = min(probe.room, 16), _pairs(probe.room)
    step = len(points) if length >= 16 else 1
    asked = [points[i % step] for i in range(length)]
    blocks, inside, last = [], 1.0, ("", "", 0)
    for t in range(pairs):
        last = service.user(), service.user(), service.deployment("shared", t)
        first, second = (probe.answers(last[2], user, asked) for user in last[:2])
        if first != second:
            return []
        blocks.append(first)
        columns = (first[k::step] for k in range(min(step, len(first))))
        inside *= math.prod(block_probability(column, 2) for column in columns)
    if inside > probe.share:
        if block_probability(blocks, 2) <= probe.share:
            probe.remarks.append(ONE_ANSWER)
        return []
    time.sleep(TICK)
    by_clock = probe.answers(last[2], service.user(), asked) != blocks[-1]
    seen = (
        f"in {pairs} deployments two users got the same {length} answers, answer for answer, "
        + (f"and not {TICK:g} s later: the coins are those of deployment and moment" if by_clock
           else "though these vary: the coins do not depend on the user, who can compare her own "
           "answers with those of others")
    )  # fmt: skip
    again = (
        f"open sessions of '{last[0]}' and '{last[1]}' with seed {last[2]}, and ask both at "
        f"{shown(points[0])} and so on"
    )
    return [Defect(CLOCK if by_clock else SHARED, seen, again, inside)]


def few_bits_defects(probe: Probing) -> list[Defect]:
    """Return streams that come again among many: of users of one deployment, then of deployments.

    Each half has alpha / 2, spent in equal parts on the stages.
    """
    service, openings = probe.service, probe.openings
    # the bits by which an answer tells streams apart, by equal answers; the best point is asked
    told, seed = [], service.deployment("birthday")
    for point in probe.points:
        counts = Counter[Any]()
        for _ in range(MEASURED):
            asked = [point] * min(probe.room, LONGEST)
            counts.update(probe.answers(seed, service.user(), asked))
        told.append(max(0.1, _bits(counts)))
    bits, x = max(told), probe.points[int(np.argmax(told))]
    length = min(probe.room, LONGEST, math.ceil(BITS / bits))
    user = service.user()
    ways: list[tuple[str, Callable[[int], tuple[int, str]]]] = [
        ("users of a deployment", lambda _: (seed, service.user())),
        ("deployments", lambda t: (service.deployment("birthday", t), user)),
    ]
    for who, whose in ways[: 1 if service.says("live") else None]:
        found = _birthday(probe, x, length, who, whose)
        if found:
            return found
    # pairs must stand out from those that come by chance by six standard deviations, and eight
    pairs = openings * (openings - 1) / 2
    visible = math.log2(max(1.0, pairs / (8 + 6 * math.sqrt(pairs / 2 ** (length * bits)))))
    if visible < SOUGHT:
        probe.untold.append(
            f"seeds of few bits: {length} answers of a session would show seeds of about "
            f"{max(0.0, visible):.0f} bits at most"
        )
    return []


def _birthday(
    probe: Probing, x: Array, length: int, who: str, whose: Callable[[int], tuple[int, str]]
) -> list[Defect]:
    streams: list[tuple[Any, ...]] = []
    stages = [stage for stage in STAGES if stage < probe.openings] + [probe.openings]
    for stage in stages:
        while len(streams) < stage:
            session = probe.service.open(probe.data, *whose(len(streams)))
            several = session.has("ask_many")
            asked = session.ask_many(np.tile(x, (length, 1))) if several else None
            streams.append(tuple(session.transcript([x] * length) if asked is None else asked))
            if len(streams[-1]) < length:
                probe.untold.append(
                    f"seeds of few bits: {who} were refused after {len(streams) - 1} sessions"
                )
                return []
        repeats, chance = repeat_probability(streams)
        if chance <= probe.share / 2 / len(stages):
            break
    else:
        return []
    counts = Counter(streams)
    most = counts.most_common(1)[0][1]
    many = sum(count for count in counts.values() if count > 1)
    bits = _bits(counts)
    name, told = FEW, f"as coins of about {bits:.0f} bits do"
    if (most >= 3 and 2 * most >= many) or bits <= FEW_SEEDS:
        name = TOGETHER if who == "deployments" else PART
        told = f"{most} of them the same stream, so that part of the {who} have one seed"
    seen = (
        f"of {len(streams)} {who}, {repeats} gave the {length} answers of an earlier one, answer "
        f"for answer, {told}"
    )
    again = f"open sessions of {len(streams)} {who}, and ask {length} times at {shown(x)}"
    return [Defect(name, seen, again, chance)]


def _bits(counts: Counter[Any]) -> float:
    """Return an estimate of the bits of what came so often, by the pairs of equal ones."""
    number = sum(counts.values())
    pairs = sum(count * (count - 1) for count in counts.values()) / 2
    return math.log2(max(1.0, number * (number - 1) / 2 / max(pairs, 0.5)))


def batch_defects(probe: Probing) -> list[Defect]:
    """Return the defects of batches, by three tests that share the error probability.

    The answers of a batch are on the same side or on opposite ones, or batches come again.
    """
    x, service = probe.points[0], probe.service
    batch = np.array([x, probe.beside(x, HAIR)])
    if probe.room < 2 * SIZE:
        probe.untold.append("noise of batches: the budget is below two batches of two")
        return []
    seed, rows = service.deployment("batches"), list[tuple[Any, ...]]()
    for _ in range(BATCHES):
        session = service.open(probe.data, seed, service.user())
        if not session.has("ask_many"):
            return []
        answers = [each for _ in range(2) for each in session.ask_many(batch)]
        if len(answers) < 2 * SIZE:
            probe.untold.append("noise of batches: fewer answers than points of a batch")
            return []
        rows.append(tuple(answers))
    again = (
        f"open {BATCHES} sessions of different users with seed {seed}, and ask each for two "
        f"batches of {shown(x)} and a point a hair beside it"
    )

    def sides(column: list[Any]) -> list[bool]:
        """Return whether each answer is above the column's median, or the first of its labels."""
        values = [each[-1] if isinstance(each, tuple) else each for each in column]
        sided, _ = halves(values, values)
        top = max(sided, key=str)
        return [each == top for each in sided]

    one, other = (sides([row[k] for row in rows]) for k in range(SIZE))
    tests = (
        (REPLAYED, [row[:SIZE] for row in rows], [row[SIZE:] for row in rows]),
        (REUSED, one, other),
        (CANCELS, one, [not side for side in other]),
    )
    for name, first, second in tests:
        chance = pairing_probability(first, second)
        if chance <= probe.share / len(tests):
            equal = sum(a == b for a, b in zip(first, second, strict=True))
            return [Defect(name, f"{equal} of {BATCHES} {WORDS[name]}", again, chance)]
    return []
