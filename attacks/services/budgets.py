"""Budget bypasses and informative refusals; these checks are deterministic."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.attacks.services.interface import THREADS, Refusal, Service
from dpassay.attacks.services.probing import Defect, Probing
from dpassay.data import Labelled
from dpassay.errors import TargetError

MOST_ASKED = 300
"""Queries of a session before it is given up to look for the end of its budget."""
EXTRA = 5
"""Queries after a refusal."""
ROUNDS = 5
LOST = "budget lost at restart"


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
        name = f"budget can be passed: {how}" if how else LOST
        found.append(Defect(name=name, seen=seen, again=more))

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
        probe.untold.append(
            "budgets: refusals say that they are for a moment; no budget is declared"
        )
        return found
    after = EXTRA - len(refused)
    if after:
        passed("asking on", f"after a refusal {after} of {EXTRA} more queries were answered")
    reopened = len(service.open(data, seed, user).transcript([x] * EXTRA))
    if reopened:
        passed(
            "another session",
            f"another session of a user whose budget is spent answered {reopened} queries or more",
            f"spend the budget of '{user}' with seed {seed}, open another session of the same "
            "user and ask",
        )
    for each in _other_ways(probe, allowed, asking=not after):
        passed(*each)
    return found + _telling(service, data, room)


def _other_ways(probe: Probing, allowed: int, *, asking: bool) -> Iterator[tuple[str, str, str]]:
    """Yield ways in which a budget is passed once the labels are spent: how, evidence, again."""
    x, session = probe.data.X[0], probe.session("other ways")
    session.transcript([x] * (allowed + EXTRA))
    both = session.has("ask") and session.has("probabilities") and asking
    if both and not isinstance(session.probabilities(x), Refusal):
        yield (
            "probabilities",
            "after the budget was spent probabilities were still told",
            f"ask {allowed + EXTRA} times, then for probabilities",
        )
    if session.has("ask_many"):
        points = np.tile(x, (allowed + EXTRA, 1))
        batch = len(probe.session("batch").ask_many(points))
        if batch > allowed:
            yield (
                "batches",
                f"one batch got {batch} answers of a budget of {allowed}",
                f"open a session and ask for a batch of {allowed + EXTRA}",
            )
    if probe.service.can("restart"):
        yield from _restarted(probe.service, probe.data, allowed)
    most = 0
    for number in range(ROUNDS if asking else 0):
        session = probe.session("threads", number)
        most = max(most, session.in_threads([x] * (allowed + EXTRA)))
    if most > allowed:
        yield (
            "several threads",
            f"{THREADS} threads got {most} answers of a budget of {allowed}",
            f"ask in one session from {THREADS} threads at once",
        )


def _restarted(service: Service, data: Labelled, allowed: int) -> Iterator[tuple[str, str, str]]:
    """Yield a ledger that is kept in memory only."""
    seed, user, x = service.deployment("restart"), service.user(), data.X[0]
    service.open(data, seed, user).transcript([x] * (allowed + EXTRA))
    if service.open(data, seed, user).transcript([x]):
        return  # it needs no restart: another session is enough
    service.restart(seed)
    given = len(service.open(data, seed, user).transcript([x] * EXTRA))
    seen = f"a user whose budget was spent got {given} answers or more after a restart"
    again = f"spend the budget of '{user}' with seed {seed}, restart, open a session and ask"
    if given:
        yield "", seen, again


def budget_cost(room: int) -> tuple[int, int]:
    """Return how many openings and queries it takes at most."""
    each = 2 * room + 3 * EXTRA + 6
    return 14 + ROUNDS, 14 * each + ROUNDS * (room + THREADS * (EXTRA + 1))


def _telling(service: Service, data: Labelled, room: int) -> list[Defect]:
    """Refusals that depend on the query or on the data, in what they say or in when they come."""
    rest = data.X[np.arange(1, 4) % len(data)]
    other = rest[0] + np.where(data.X.std(axis=0) > 0, data.X.std(axis=0), 1.0)
    queries = [data.X[0], data.X[0], *rest, other]
    seed, repeated = service.deployment("refusals"), service.repeated
    found: list[Defect] = []
    runs = []
    others = () if service.says("live") else _variants(data)
    for each in (data, *others):
        try:
            runs.append(_refusals(service, each, seed, queries, room))
        except TargetError:
            if not runs:
                raise  # other data may be too odd for it, its own are not
    again = (
        f"spend the budget of a user with seed {seed}, and compare what further queries are told"
    )
    control = _refusals(service, data, seed, queries, room)
    given, texts = [run[0] for run in runs], [run[1] for run in (*runs, control)]
    if any(text[0] != text[1] for text in texts):  # the same query: it tells the time, or counts
        texts = [[re.sub(r"\d+", "#", text) for text in run] for run in texts]
    *texts, steady = texts

    def told(what: str, seen: str) -> None:
        found.append(Defect(name=f"refusals depend on the {what}", seen=seen, again=again))

    if steady == texts[0] and steady[0] == steady[1]:  # two users are told the same
        different = sorted(set(steady))
        if len(different) > 1:
            both = f"'{different[0]:.80}' and '{different[1]:.80}'"
            told("query", f"refusals of different queries differ: {both}")
        one, two = next(
            ((a, b) for text in texts for a, b in zip(steady, text, strict=True) if a != b),
            ("", ""),
        )
        if one != two:
            told("data", f"refusals on S and on other data differ: '{one:.80}' and '{two:.80}'")
    untouched = service.repeated == repeated  # a query that is sent again may be counted twice
    if untouched and len(set(given)) > 1 and control[0] == given[0]:
        moments = " or ".join(map(str, sorted(set(given))))
        told("data", f"the first refusal comes after {moments} answers, depending on the data")
    return found


def _refusals(
    service: Service, data: Labelled, seed: int, queries: list[Array], room: int
) -> tuple[int, list[str]]:
    """Return how many answers a new user gets, and what is then said, answers as they are."""
    session = service.open(data, seed, service.user())
    given = len(session.transcript([data.X[0]] * (room + EXTRA)))
    answers = map(session.ask, queries)
    return given, [each.text if isinstance(each, Refusal) else "an answer" for each in answers]


def _variants(data: Labelled) -> Iterator[Labelled]:
    """Other data: the first record's label changed, all labels in reverse order of their names."""
    labels = np.unique(data.y)
    y = data.y.copy()
    y[0] = (
        labels[(int(np.searchsorted(labels, y[0])) + 1) % labels.size]
        if labels.size > 1
        else 1 - min(int(y[0]), 1)
    )
    yield Labelled(data.X, y)
    if labels.size > 1:
        yield Labelled(data.X, labels.max() + labels.min() - data.y)
