"""Services that keep something between answers: no audit of one may print an invalid refutation.

    python benchmarks/stateful.py [AUDITS] [NAME ...]

Twenty services answer randomised response that loses 1 per answer, or a number with Laplace noise
of scale 1, against a claim of 1: answer by answer the claim is true. Each keeps something: a pool
drawn ahead, a batch, a cache, a repeated answer. Luck that is kept looks like a leak; 'refuted' is
then invalid. Their honest twins draw every answer anew; one at its claim is refuted by chance in at
most 0.1 % of all audits, and the replay then makes `error` of it. AUDITS of
each service, and as many of each twin (50 by default, 1,000 audits of services in all), at a budget
of 1,000 and 99.9 %, about a second of processor time each.
"""

# ruff: noqa: S311  (nothing here is a secret)

from __future__ import annotations

import math
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

from dpassay import DP, Scalars, audit

FLIP = 1 / (1 + math.e)
Answer = Callable[[Any], Any]


def bit(data: Any) -> int:
    """Return the record's side, told wrongly once in 1 + e times."""
    truth = int(data[0] > 0.5)
    return 1 - truth if random.random() < FLIP else truth


def noisy(data: Any) -> float:
    """Return the record, within [0, 1], with Laplace noise of scale 1."""
    return min(max(float(data[0]), 0.0), 1.0) + random.expovariate(1) - random.expovariate(1)


def pool(draw: Answer, size: int, *, shuffled: bool = False) -> Answer:
    """Draw a pool of answers per dataset ahead; hand them out in turn, or each one at random."""
    kept: dict[float, list[Any]] = {}
    turns: Counter[float] = Counter()

    def served(data: Any) -> Any:
        key = float(data[0])
        answers = kept.setdefault(key, [])
        if not answers:
            answers += [draw(data) for _ in range(size)]
        turns[key] += 1
        return random.choice(answers) if shuffled else answers[turns[key] % size]

    return served


def repeated(draw: Answer, times: int) -> Answer:
    """Give every answer so many times before the next one is drawn."""
    kept: dict[float, tuple[int, Any]] = {}

    def served(data: Any) -> Any:
        key = float(data[0])
        left, answer = kept.get(key, (0, None))
        if not left:
            left, answer = times, draw(data)
        kept[key] = left - 1, answer
        return answer

    return served


def refilled(draw: Answer, size: int, batches: int) -> Answer:
    """Go through a batch so many times, then draw the next one."""
    kept: dict[float, tuple[int, list[Any]]] = {}

    def served(data: Any) -> Any:
        key = float(data[0])
        turn, answers = kept.get(key, (0, []))
        if turn % (size * batches) == 0:
            answers = [draw(data) for _ in range(size)]
        kept[key] = turn + 1, answers
        return answers[turn % size]

    return served


def shared(size: int) -> Answer:
    """Add noise from a pool that all datasets share."""
    noise: list[float] = []
    turn = 0

    def served(data: Any) -> float:
        nonlocal turn
        if not noise:
            noise.extend(random.expovariate(1) - random.expovariate(1) for _ in range(size))
        turn += 1
        return min(max(float(data[0]), 0.0), 1.0) + noise[turn % size]

    return served


def warm(draw: Answer, first: int) -> Answer:
    """Repeat the first answers to a dataset now and then, as a cache that is hit once in three."""
    kept: dict[float, list[Any]] = {}

    def served(data: Any) -> Any:
        answers = kept.setdefault(float(data[0]), [])
        if len(answers) < first:
            answers.append(draw(data))
            return answers[-1]
        return random.choice(answers) if random.random() < 1 / 3 else draw(data)

    return served


def epoch(spread: float) -> Answer:
    """Tilt all answers of a process one way, by a coin of its own: right on average only."""
    tilt: dict[float, float] = {}

    def served(data: Any) -> int:
        truth, key = int(data[0] > 0.5), float(data[0])
        flip = FLIP + tilt.setdefault(key, random.choice((-spread, spread)))
        return 1 - truth if random.random() < flip else truth

    return served


SERVICES: dict[str, tuple[Callable[[], Answer], Answer]] = {
    "pool of 200 bits": (lambda: pool(bit, 200), bit),
    "pool of 50 bits": (lambda: pool(bit, 50), bit),
    "pool of 500 bits": (lambda: pool(bit, 500), bit),
    "pool of 1,000 bits": (lambda: pool(bit, 1_000), bit),
    "pool of 5,000 bits": (lambda: pool(bit, 5_000), bit),
    "one of 100 bits": (lambda: pool(bit, 100, shuffled=True), bit),
    "one of 400 bits": (lambda: pool(bit, 400, shuffled=True), bit),
    "every bit twice": (lambda: repeated(bit, 2), bit),
    "every bit three times": (lambda: repeated(bit, 3), bit),
    "every bit five times": (lambda: repeated(bit, 5), bit),
    "every bit forty times": (lambda: repeated(bit, 40), bit),
    "batches of 20, three times": (lambda: refilled(bit, 20, 3), bit),
    "batches of 100, twice": (lambda: refilled(bit, 100, 2), bit),
    "a cache hit once in three": (lambda: warm(bit, 30), bit),
    "a tilt per process": (lambda: epoch(0.05), bit),
    "pool of 200 numbers": (lambda: pool(noisy, 200), noisy),
    "pool of 1,000 numbers": (lambda: pool(noisy, 1_000), noisy),
    "one of 300 numbers": (lambda: pool(noisy, 300, shuffled=True), noisy),
    "every number three times": (lambda: repeated(noisy, 3), noisy),
    "noise of a pool of 400": (lambda: shared(400), noisy),
}


def main() -> None:
    """Audit the named services, or all, and print what came of each and of its twin."""
    warnings.simplefilter("ignore")
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    total: dict[str, Counter[str]] = {"services": Counter(), "twins": Counter()}
    for name in sys.argv[2:] or SERVICES:
        make, twin = SERVICES[name]
        for kind, function in (("services", make), ("twins", lambda twin=twin: twin)):
            found, began = Counter[str](), time.process_time()
            for seed in range(number):
                random.seed(seed)
                space = Scalars(0, 1, size=1, fixed=True)
                result = audit(
                    function(), claim=DP(epsilon=1.0), data=space, seed=seed, budget=1_000
                )
                found[result.verdict] += 1
                if kind == "twins" and result.verdict == "error":
                    print(seed, result.outcome.reason)
            total[kind] += found
            print(name, kind, dict(found), f"{time.process_time() - began:.0f} s", flush=True)
    print(*(f"{kind}: {dict(found)}" for kind, found in total.items()), sep="; ")


if __name__ == "__main__":
    main()
