"""Searched evidence: what a search finds is certified on fresh trials, or computed from laws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any, TypeVar

import numpy as np

from dpassay.claims import Claim
from dpassay.data import Dataset
from dpassay.engine.budget import Budget, Race
from dpassay.engine.certification import screen
from dpassay.engine.directions import OpenExecutor
from dpassay.engine.evidence import Evidence
from dpassay.engine.exact import (
    Laws,
    both_directions,
    exact_evidence,
    goodness_of_fit,
    group_laws,
    readable,
)
from dpassay.engine.monte_carlo import monte_carlo_evidence, raced_evidence
from dpassay.engine.searching.drawing import Drawing, mine
from dpassay.engine.searching.outlay import CHECKED, MOST_CHECKED, outlay
from dpassay.engine.searching.pair_candidates import Candidate, is_sure, with_plain_event
from dpassay.engine.searching.race import RACE, race
from dpassay.engine.searching.search import (
    FIRST,
    LEAST,
    MOST_SMALLER,
    SURVIVORS,
    Deadline,
    Search,
)
from dpassay.engine.searching.walking import outside
from dpassay.engine.testers.events import PatternEvents
from dpassay.errors import TargetError
from dpassay.pairs import Pairs
from dpassay.search.outputs import MOST_VALUES, Encoder
from dpassay.search.proposals.proposal import Space
from dpassay.search.rules import listed
from dpassay.search.worth import Goal
from dpassay.seeds import stream
from dpassay.stats.alpha import Spending
from dpassay.stats.scales import scale_of
from dpassay.targets.groups import (
    PairGroup,
    Progress,
    as_asked,
    foretell,
    groups_for,
    silent,
)
from dpassay.targets.guard import AuditTarget
from dpassay.trials.encoders import Matches
from dpassay.trials.isolation.target import Isolated
from dpassay.trials.own_coins import alike

Bounded = TypeVar("Bounded", Evidence, Evidence | None)
FINDINGS = 3
"""So many pairs are certified at most: another one only where those before are told apart for
certain, and never one of their kind."""
HALVED, MOST_TRIED, LESS = 3, 4, 0.9
"""The pair that was found, half and a quarter of it say whether its leak grows with its size: each
leaks less than such a part of the one before. So many smaller ones are looked at for a half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchBudget(Budget):
    """A budget whose pairs are found already: a few trials choose the tests of their events."""

    findings: int = 1

    def screening(self, groups: tuple[PairGroup, ...]) -> int:  # noqa: ARG002
        """One in `CHECKED` of the certification trials; no more than `MOST_CHECKED`."""
        return min(max(LEAST, self.draws // CHECKED), MOST_CHECKED)

    def finalists(self, groups: tuple[PairGroup, ...]) -> int:  # noqa: ARG002
        """Every group has one pair and one query."""
        return 1

    def spending(self, groups: tuple[PairGroup, ...], *, profiled: bool) -> Spending:
        """Where alpha goes: the pairs are as many cells, wherever they are certified."""
        return replace(Budget.spending(self, groups, profiled=profiled), cells=self.findings)


def searched_evidence(
    target: AuditTarget,
    space: Space,
    claim: Claim,
    budget: Budget,
    open_executor: OpenExecutor,
    progress: Progress,
    seed: int,
    seconds: float | None = None,
    raced: bool = True,
) -> Evidence:
    """Search, certify what was found, and say what was looked at; a race comes first if `raced`.

    Raise TargetError if the mechanism fails, or the claim is not about events.
    """
    if claim.computed or claim.means or claim.coupled:
        raise TargetError(f"{claim}: a search goes with claims of kind DP, GDP and Stability")

    def told(pace: float) -> None:
        """Tell how long all that may follow takes, if a run takes so many seconds."""
        most = outlay(space, FIRST, budget.draws)
        search = pace * most.search if seconds is None else min(seconds, pace * most.search)
        takes = search + pace * most.certification
        foretell(progress, most.search + most.certification, pace, takes)

    drawing = Drawing(
        target=target,
        space=space,
        open_executor=open_executor,
        progress=progress,
        seed=seed,
        foretell=told,
    )
    points = {
        Goal(scale_of(point), point.promised, budget.draws, budget.alpha): point
        for point in claim.points
    }
    search = Search(
        drawing=drawing,
        space=space,
        goals=tuple(points),
        budget=budget,
        deadline=Deadline(seconds=seconds),
    )
    if raced:
        if early := _raced(search, points, budget.race.alone):
            return early
        budget = budget.after_race
    # all pairs are known, and alpha is divided among them, before a trial that certifies is drawn
    looked: list[tuple[Search, Candidate, Encoder]] = [(search, *search.best())]
    while len(looked) < FINDINGS and (more := _beyond(*looked[-1])):
        looked.append(more)
    certified = SearchBudget(
        draws=budget.draws,
        alpha=budget.alpha,
        alarm=budget.alarm / len(looked),
        findings=len(looked),
    )
    found = []
    for each in looked:
        goal, evidence = _certified(*each, points, certified, monte_carlo_evidence)
        point = points[goal] if len(points) > 1 else None
        found.append((goal, replace(evidence, point=point)))
    found.sort(key=lambda each: not _refutes(each[1], each[0]))
    first = found[0][1]
    ended = search.deadline.ended
    beyond = "" if ended else outside(drawing, looked[0][2], space.outside)
    still = _ignores_data(search) if first.still else ""
    wrong = _labels_are_numbers(target, looked[0][2])
    refuting = [each for goal, each in found if _refutes(each, goal)]
    counted = _number_of_records(space, [each.groups[0].pairs for each in refuting])
    notes = [
        _growth(*looked[-1]),
        counted,
        space.guessed,
        search.deadline.note,
        wrong,
        still,
        beyond,
    ]
    return replace(
        first,
        trials=sum(each.trials for _, each in found) + sum(drawing.spent),
        searched=first.searched
        | {"search": search.log, "certified_cells": len(found)}
        | {"notes": [note for note in notes if note]}
        | search.deadline.as_json(),
        others=tuple(each for each in refuting if each is not first),
    )


def _beyond(
    search: Search, found: Candidate, encoder: Encoder
) -> tuple[Search, Candidate, Encoder] | None:
    """Search on without pairs that are told apart for certain as the one that was found is.

    None where that one is not, nothing else is left, or nothing else will surely be refuted.
    """
    passed = search.passed.after(found, encoder)
    looks = None if passed is None else passed.left(encoder)
    if passed is None or not looks or search.deadline.stops():
        return None
    more = replace(search, passed=passed, log=[], rounds=[], deadline=search.deadline.left())
    try:
        other, known = more.best(encoder.only(looks))
    except TargetError as error:
        if error.fatal:
            raise
        return None
    search.deadline.ended |= more.deadline.ended
    return (more, other, known) if is_sure(other) else None


def _growth(search: Search, found: Candidate, encoder: Encoder) -> str:
    """Say that a pair leaks less with half of its records, and less again with a quarter."""
    some = [found.proposal] if is_sure(found) and not found.told_apart else []
    while some and len(some) < HALVED and not search.deadline.stops():
        last = some[-1]
        fewer = islice(search.space.smaller(last), MOST_TRIED)
        halves = (each for each in fewer if 3 / 8 < len(each.base) / len(last.base) < 5 / 8)
        if (half := next(halves, None)) is None:
            return ""
        some.append(half)
    if len(some) < HALVED:
        return ""
    drawn = [Candidate(proposal=each) for each in some]
    try:
        search.look(encoder, drawn, min(search.budget.draws // 4, MOST_SMALLER), "growth")
    except TargetError:
        return ""
    leaks = [0.0 if each.outlook is None else each.outlook.expected for each in drawn]
    if not leaks[-1] or any(b >= LESS * a for a, b in pairwise(leaks)):
        return ""
    told = [f"{leak:.2g} with {len(each.base):,}" for leak, each in zip(leaks, some, strict=True)]
    return f"The loss grows with the number of records: about {listed(told)} of them (estimated)."


def _number_of_records(space: Space, refuting: Sequence[Pairs]) -> str:
    """Say that a claim is audited for one number of records, or how to say that it is meant so."""
    if (only := space.only) is not None:
        return f"The claim was audited for {only:,} record{'s' * (only > 1)} only."
    usual = 0 if space.own is None else len(space.own)
    sides = [{len(each.base), len(each.changes[0].apply(each.base))} for each in refuting]
    if not usual or not sides or any(len(each) > 1 or usual in each for each in sides):
        return ""
    return (
        f"Your data have {usual:,} record{'s' * (usual > 1)}, the pair has {min(sides[0]):,}: if "
        f"the claim is about {usual:,} only, say so by {type(space).__name__}(..., fixed=True)."
    )


def _labels_are_numbers(target: AuditTarget, encoder: Encoder) -> str:
    """Say that answers were declared to be labels and are decimal numbers, of which none recurs."""
    labels = encoder.looks[0].table
    decimal = sum(isinstance(key, float) and key % 1 > 0 for key in labels)
    output = target.output
    if output is None or output.kind != "label" or decimal < MOST_VALUES:
        return ""
    return (
        f"Answers were compared whole, as labels, and {decimal} or more of them are different "
        "numbers: leave output = 'label' out where near ones are alike."
    )


def _ignores_data(search: Search) -> str:
    """Say that no dataset, or no change of a record, moves an answer, all coins being the same."""
    drawing, target = search.drawing, search.drawing.target
    proposals = search.space.first(stream(drawing.seed, target.name, "search"), FIRST)
    some = drawing.spread_out(proposals)
    sides = [{side.digest: side for side in (each.base, each.neighbour)} for each in some]
    every = {digest: side for each in sides for digest, side in each.items()}

    def same(data: dict[str, Dataset]) -> int:
        asked = list(data.values()), drawing.asked(some[0].queries)
        return target.alike(*asked) if isinstance(target, Isolated) else alike(target, *asked)

    try:
        if found := same(every):
            return (
                f"The function may ignore its data: with the same coins, {found} different "
                "datasets gave the same answers."
            )
        if all(same(each) == len(each) for each in sides):
            return (
                f"No change of a record moves an answer: with the same coins, the two datasets of "
                f"each of {len(sides)} pairs gave the same ones. A fit kept from another call may "
                "be why."
            )
    except TargetError:  # its process is gone; the numbers stand
        pass
    return ""


def _refutes(evidence: Evidence, goal: Goal) -> bool:
    return evidence.lower.value > goal.promised


def _certified(
    search: Search,
    found: Candidate,
    encoder: Encoder,
    points: dict[Goal, Claim],
    budget: Budget,
    evidence_of: Callable[..., Bounded],
) -> tuple[Goal, Bounded]:
    """Certify one pair on fresh trials, against the goal that it looks worst against."""
    found, goal, drawing = with_plain_event(found, encoder), found.goal, search.drawing
    if found.choice is None or goal is None:
        raise TargetError(f"{drawing.target.name}: a search needs at least one pair to look at")
    goal = replace(goal, n=search.budget.draws)
    groups, pattern = (drawing.alone(found),), found.choice.pattern
    matches = Matches(pattern=pattern, by_query=drawing.target.by_query)
    executor = drawing.open_executor(groups, (matches,))
    tester = PatternEvents(
        claim=points[goal],
        pattern=pattern,
        direction=found.choice.direction,
        rounds=tuple(search.rounds),
        noisy=any(not each.coded for each in encoder.looks),
    )
    screened = screen(executor, groups, budget, drawing.progress)
    evidence = evidence_of(tester, groups, screened, budget, executor, drawing.progress)
    if evidence is None:
        drawing.spent.append(screened.trials)
    return goal, evidence


def _raced(search: Search, points: dict[Goal, Claim], budget: Race) -> Evidence | None:
    """Return what a race refutes, None where it refutes nothing."""
    spent, target = search.drawing.spent, search.drawing.target
    for share, racing, found, encoder in race(search):
        draws = int(min(budget.draws, search.runs(RACE) / 2))
        part = replace(budget, draws=draws, alpha=share * budget.alpha)
        try:
            goal, evidence = _certified(racing, found, encoder, points, part, raced_evidence)
        except TargetError as error:  # the search meets it again, and says why
            if error.fatal and not error.unforeseen:
                raise
            continue
        if evidence is None:
            continue
        notes = [
            *evidence.searched["notes"],
            _number_of_records(search.space, [evidence.groups[0].pairs]),
            search.space.guessed,
            _labels_are_numbers(target, encoder),
        ]
        return replace(
            evidence,
            point=points[goal] if len(points) > 1 else None,
            trials=evidence.trials + sum(spent),
            searched=evidence.searched
            | {"search": racing.log, "notes": [note for note in notes if note]}
            | search.deadline.as_json(),
        )
    return None


def computed_evidence(
    target: AuditTarget,
    space: Space,
    progress: Progress,
    seed: int,
    seconds: float | None,
    among: dict[str, Any],
) -> Callable[[Claim], Evidence] | None:
    """Return what holds the worst pairs of a search, and the mechanism's own, against a claim.

    None where one of the datasets has no exact law. A dataset that the mechanism refuses is passed
    over, unless it is the user's own. `among` says in a record what was searched among.
    """
    deadline = Deadline(seconds=seconds)
    proposals = space.first(stream(seed, target.name, "search"), FIRST)
    found: list[tuple[PairGroup, Laws]] = []
    failed = 0
    for number, each in enumerate(proposals):
        if number and deadline.stops():
            break
        made = PairGroup(
            pairs=replace(each.pairs, how=f"family '{each.family}'"),
            queries=each.queries,
            kind="searched",
            reason=each.family,
            mine=mine(space, each),
        )
        group = as_asked(target, made)
        try:
            laws = group_laws(target, group, silent)
        except TargetError as error:
            own = space.own is not None and each.base.digest == space.own.digest
            if error.fatal or own:
                raise
            failed += 1
            continue
        if laws is None:
            return None
        found.append((group, laws))
        progress("pairs", number + 1, len(proposals))
    cases = [(group, group_laws(target, group, silent)) for group in groups_for(target, None)]
    own_laws = [(group, laws) for group, laws in cases if laws is not None]
    if not found or len(own_laws) < len(cases):
        return None
    fit = goodness_of_fit(target, found[0][0], seed)

    def worst(claim: Claim, laws: Laws) -> float:
        return float(np.max(both_directions(laws, readable(target, claim, laws.law)).certain))

    def hold(claim: Claim) -> Evidence:
        ranked = sorted(found, key=lambda each: -worst(claim, each[1]))
        groups, laws = zip(*ranked[: SURVIVORS[-1]], *own_laws, strict=True)
        evidence = exact_evidence(target, claim, groups, laws, fit)
        looked = {
            "round": 0,
            "pairs": len(found),
            "draws": 0,
            "families": dict(Counter(group.reason for group, _ in found)),
            "best": ranked[0][0].reason,
            "failed": failed,
        }
        said = {"search": [looked]} | deadline.as_json() | among
        return replace(evidence, searched=evidence.searched | said)

    return hold
