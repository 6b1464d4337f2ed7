"""Budget bypasses and informative refusals; these checks are deterministic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.attacks.services.interface import THREADS, Refusal, Service, Session
from dpassay.data import Labelled
from dpassay.errors import TargetError

MOST_ASKED = 300
"""Queries of a session before it is given up to look for the end of its budget."""
EXTRA = 5
"""Queries after a refusal."""
ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """What is wrong with a service."""

    name: str
    seen: str  # the evidence
    probability: float  # chance to be seen of a correct service, at most; 0: deterministic
    again: str  # how to see it again


def room_of(service: Service, data: Labelled) -> tuple[int, int | None]:
    """Return how many answers a new user gets, at most 300, and how many the service says."""
    session = service.open(data, service.deployment("room"), service.user())
    declared = session.budget
    asked = MOST_ASKED if declared is None else min(MOST_ASKED, declared + EXTRA)
    given = len(session.transcript(data.X[i % len(data)] for i in range(asked)))
    return (given if declared is None else min(given, declared)), declared


def budget_defects(
    service: Service, data: Labelled, room: int, declared: int | None
) -> tuple[list[Defect], list[str]]:
    """Return the defects of budgets and refusals, and what could not be looked at.

    `room` and `declared` come from `room_of`.
    """
    if room >= MOST_ASKED:
        said = "" if declared is None else f", it says {declared}"
        return [], [f"budgets and refusals: no refusal in {MOST_ASKED} answers{said}"]
    seed, user = service.deployment("budget"), service.user()
    session = service.open(data, seed, user)
    given = len(session.transcript([data.X[0]] * (room + EXTRA)))
    again = f"open a session of '{user}' with seed {seed}, ask on after the budget of {room}"
    found: list[Defect] = []

    def passed(how: str, seen: str, more: str = again) -> None:
        found.append(
            Defect(name=f"budget can be passed: {how}", seen=seen, probability=0.0, again=more)
        )

    if declared is not None and given >= room + EXTRA:
        passed(
            "never refused",
            f"the budget is {declared}, and {given} queries were answered without a refusal",
        )
        return found, []
    if declared is not None and given > declared:
        passed(
            "off by one",
            f"the budget is {declared}, and {given} queries were answered before the first refusal",
        )
    allowed = max(given, room)
    answers = [session.ask(data.X[i % len(data)]) for i in range(EXTRA)]
    refused = [answer for answer in answers if isinstance(answer, Refusal)]
    if declared is None and any(refusal.rate for refusal in refused):
        return found, ["budgets: refusals say that they are for a moment; no budget is declared"]
    after = EXTRA - len(refused)
    if after:
        passed("asking on", f"after a refusal {after} of {EXTRA} more queries were answered")
    reopened = len(service.open(data, seed, user).transcript([data.X[0]] * EXTRA))
    if reopened:
        more = (
            f"spend the budget of '{user}' with seed {seed}, open another session of the same "
            "user and ask"
        )
        passed(
            "another session",
            f"another session of a user whose budget is spent answered {reopened} queries or more",
            more,
        )
    found += _otherwise(service, data, allowed, asking=not after)
    if service.can("restart"):
        found += _restarted(service, data, allowed)
    most = 0 if after else max(_threads(service, data, allowed, number) for number in range(ROUNDS))
    if most > allowed:
        more = f"ask in one session from {THREADS} threads at once"
        passed(
            "several threads",
            f"{THREADS} threads got {most} answers of a budget of {allowed}",
            more,
        )
    return found + _telling(service, data, room), []


def _otherwise(service: Service, data: Labelled, allowed: int, *, asking: bool) -> Iterator[Defect]:
    """Budgets that are passed by batches, or by probabilities once the labels are spent."""

    def passed(how: str, seen: str, again: str) -> Defect:
        return Defect(name=f"budget can be passed: {how}", seen=seen, probability=0.0, again=again)

    session = service.open(data, service.deployment("other ways"), service.user())
    session.transcript([data.X[0]] * (allowed + EXTRA))
    both = session.has("ask") and session.has("probabilities") and asking
    if both and not isinstance(session.probabilities(data.X[0]), Refusal):
        yield passed(
            "probabilities",
            "after the budget was spent probabilities were still told",
            f"ask {allowed + EXTRA} times, then for probabilities",
        )
    if session.has("ask_many"):
        fresh = service.open(data, service.deployment("batch"), service.user())
        batch = len(fresh.ask_many(np.repeat(data.X[:1], allowed + EXTRA, axis=0)))
        if batch > allowed:
            yield passed(
                "batches",
                f"one batch got {batch} answers of a budget of {allowed}",
                f"open a session and ask for a batch of {allowed + EXTRA}",
            )


def _restarted(service: Service, data: Labelled, allowed: int) -> list[Defect]:
    """A ledger that is kept in memory only."""
    seed, user = service.deployment("restart"), service.user()
    service.open(data, seed, user).transcript([data.X[0]] * (allowed + EXTRA))
    if service.open(data, seed, user).transcript([data.X[0]]):
        return []  # it needs no restart: another session is enough
    service.restart(seed)
    given = len(service.open(data, seed, user).transcript([data.X[0]] * EXTRA))
    if not given:
        return []
    return [
        Defect(
            name="budget lost at restart",
            seen=f"a user whose budget was spent got {given} answers or more after a restart",
            probability=0.0,
            again=f"spend the budget of '{user}' with seed {seed}, restart, open a session and ask",
        )
    ]


def budget_cost(room: int) -> tuple[int, int]:
    """Return how many openings and queries it takes at most."""
    each = 2 * room + 3 * EXTRA + 6
    return 14 + ROUNDS, 14 * each + ROUNDS * (room + THREADS * (EXTRA + 1))


def _threads(service: Service, data: Labelled, allowed: int, number: int) -> int:
    """Answers that threads get together out of one session."""
    session = service.open(data, service.deployment("threads", number), service.user())
    return session.in_threads([data.X[0]] * (allowed + EXTRA))


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
        found.append(
            Defect(name=f"refusals depend on the {what}", seen=seen, probability=0.0, again=again)
        )

    if steady == texts[0] and steady[0] == steady[1]:  # two users are told the same
        different = sorted(set(steady))
        if len(different) > 1:
            told(
                "query",
                (
                    f"refusals of different queries differ: '{different[0]:.80}' and "
                    f"'{different[1]:.80}'"
                ),
            )
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
    return given, [_said(session, x) for x in queries]


def _said(session: Session, x: Array) -> str:
    answer = session.ask(x)
    return answer.text if isinstance(answer, Refusal) else "an answer"


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
