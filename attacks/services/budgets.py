"""Budget bypasses and informative refusals; these checks are deterministic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from dpassay.attacks.services.interface import THREADS, Refusal, Service
from dpassay.attacks.services.probing import Defect, ProbePart, Probing
from dpassay.data import Labelled
from dpassay.errors import TargetError

MOST_ASKED = 300
"""Queries of a session before it is given up to look for the end of its budget."""
EXTRA = 5
"""Queries after a refusal."""
ROUNDS = 5
LOST = "budget lost at restart"
BUDGETS = ProbePart(
    "budgets and refusals", "any", 0, 1,
    lambda room, _: (
        14 + ROUNDS, 14 * (2 * room + 3 * EXTRA + 6) + ROUNDS * (room + THREADS * (EXTRA + 1))
    ),
)  # fmt: skip


def room_of(service: Service, data: Labelled) -> tuple[int, int | None]:
    """Return how many answers a new user gets, at most 300, and how many the service says."""
    session = service.open(data, service.deployment("room"), service.user())
    declared = session.budget
    asked = MOST_ASKED if declared is None else min(MOST_ASKED, declared + EXTRA)
    given = len(session.transcript(data.X[i % len(data)] for i in range(asked)))
    return (given if declared is None else min(given, declared)), declared


def budget_defects(probe: Probing, declared: int | None) -> list[Defect]:
    """Return the defects of budgets and refusals; `declared` comes from `room_of`."""
    service, data, room = probe.service, probe.data, probe.room
    if room >= MOST_ASKED:
        said = "" if declared is None else f", it says {declared}"
        probe.untold.append(f"budgets and refusals: no refusal in {MOST_ASKED} answers{said}")
        return []
    seed, user, x = service.deployment("budget"), service.user(), data.X[0]
    session = service.open(data, seed, user)
    given = len(session.transcript([x] * (room + EXTRA)))
    again = f"open a session of '{user}' with seed {seed}, ask on after the budget of {room}"
    found: list[Defect] = []

    def passed(how: str, seen: str, more: str = again) -> None:
        found.append(Defect(f"budget can be passed: {how}" if how else LOST, seen, more))

    if declared is not None and given >= room + EXTRA:
        seen = f"the budget is {declared}, and {given} queries were answered without a refusal"
        passed("never refused", seen)
        return found
    if declared is not None and given > declared:
        seen = f"{given} queries were answered before the first refusal"
        passed("off by one", f"the budget is {declared}, and {seen}")
    allowed = max(given, room)
    answers = [session.ask(data.X[i % len(data)]) for i in range(EXTRA)]
    refused = [answer for answer in answers if isinstance(answer, Refusal)]
    if declared is None and any(refusal.rate for refusal in refused):
        told = "refusals say that they are for a moment; no budget is declared"
        probe.untold.append(f"budgets: {told}")
        return found
    after = EXTRA - len(refused)
    if after:
        passed("asking on", f"after a refusal {after} of {EXTRA} more queries were answered")
    reopened = len(probe.answers(seed, user, [x] * EXTRA))
    if reopened:
        passed(
            "another session",
            f"another session of a user whose budget is spent answered {reopened} queries or more",
            f"spend the budget of '{user}' with seed {seed}, open another session of the same "
            "user and ask",
        )
    for each in _other_ways(probe, allowed, asking=not after):
        passed(*each)
    return found + _telling(probe)


def _other_ways(probe: Probing, allowed: int, *, asking: bool) -> Iterator[tuple[str, str, str]]:
    """Yield ways in which a budget is passed once the labels are spent: how, evidence, again."""
    service, x, session = probe.service, probe.data.X[0], probe.session("other ways")
    session.transcript([x] * (allowed + EXTRA))
    both = session.has("ask") and session.has("probabilities") and asking
    if both and not isinstance(session.probabilities(x), Refusal):
        yield (
            "probabilities",
            "after the budget was spent probabilities were still told",
            f"ask {allowed + EXTRA} times, then for probabilities",
        )
    if session.has("ask_many"):
        batch = len(probe.session("batch").ask_many(np.tile(x, (allowed + EXTRA, 1))))
        if batch > allowed:
            yield (
                "batches",
                f"one batch got {batch} answers of a budget of {allowed}",
                f"open a session and ask for a batch of {allowed + EXTRA}",
            )
    if service.can("restart"):
        seed, user = service.deployment("restart"), service.user()
        probe.answers(seed, user, [x] * (allowed + EXTRA))
        if not probe.answers(seed, user, [x]):  # else it needs no restart
            service.restart(seed)
            given = len(probe.answers(seed, user, [x] * EXTRA))
            seen = f"a user whose budget was spent got {given} answers or more after a restart"
            if given:
                spent = f"spend the budget of '{user}' with seed {seed}"
                yield "", seen, f"{spent}, restart, open a session and ask"
    sessions = (probe.session("threads", number) for number in range(ROUNDS if asking else 0))
    most = max((each.in_threads([x] * (allowed + EXTRA)) for each in sessions), default=0)
    if most > allowed:
        yield (
            "several threads",
            f"{THREADS} threads got {most} answers of a budget of {allowed}",
            f"ask in one session from {THREADS} threads at once",
        )


def _telling(probe: Probing) -> list[Defect]:
    """Return refusals that depend on the query or the data, by their words or by when they come."""
    service, data, room = probe.service, probe.data, probe.room
    rest = data.X[np.arange(1, 4) % len(data)]
    queries = [data.X[0], data.X[0], *rest, rest[0] + probe.spread]
    seed, repeated = service.deployment("refusals"), service.repeated

    def refusals(S: Labelled) -> tuple[int, list[str]]:
        """Return how many answers a new user gets, and what is then said, answers as they are."""
        session = service.open(S, seed, service.user())
        given = len(session.transcript([S.X[0]] * (room + EXTRA)))
        answers = map(session.ask, queries)
        return given, [each.text if isinstance(each, Refusal) else "an answer" for each in answers]

    runs = [refusals(data)]
    for other in () if service.says("live") else _variants(data):
        with suppress(TargetError):  # other data may be too odd for it, its own are not
            runs.append(refusals(other))
    again = (
        f"spend the budget of a user with seed {seed}, and compare what further queries are told"
    )
    control = refusals(data)
    given, texts = [run[0] for run in runs], [run[1] for run in (*runs, control)]
    if any(text[0] != text[1] for text in texts):  # the same query: it tells the time, or counts
        texts = [[re.sub(r"\d+", "#", text) for text in run] for run in texts]
    *texts, steady = texts
    found: list[Defect] = []

    def told(what: str, seen: str) -> None:
        found.append(Defect(f"refusals depend on the {what}", seen, again))

    if steady == texts[0] and steady[0] == steady[1]:  # two users are told the same
        different = sorted(set(steady))
        if len(different) > 1:
            both = f"'{different[0]:.80}' and '{different[1]:.80}'"
            told("query", f"refusals of different queries differ: {both}")
        pairs = (pair for text in texts for pair in zip(steady, text, strict=True))
        one, two = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
        if one != two:
            told("data", f"refusals on S and on other data differ: '{one:.80}' and '{two:.80}'")
    untouched = service.repeated == repeated  # a query that is sent again may be counted twice
    if untouched and len(set(given)) > 1 and control[0] == given[0]:
        moments = " or ".join(map(str, sorted(set(given))))
        told("data", f"the first refusal comes after {moments} answers, depending on the data")
    return found


def _variants(data: Labelled) -> Iterator[Labelled]:
    """Yield data with the first record's label changed, and with all labels in reverse order."""
    labels, y = np.unique(data.y), data.y.copy()
    if labels.size > 1:
        y[0] = labels[(int(np.searchsorted(labels, y[0])) + 1) % labels.size]
    else:
        y[0] = 1 - min(int(y[0]), 1)
    yield Labelled(data.X, y)
    if labels.size > 1:
        yield Labelled(data.X, labels.max() + labels.min() - data.y)
