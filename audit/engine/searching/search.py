"""The search for the pair, query and event that break a claim.

Successive halving. Every round spends about the same number of trials on fewer pairs; what is
learned of a pair adds up over the rounds. None of these trials certifies anything: the patterns
that are left are fixed, and fresh trials bound them. The search may therefore be as greedy as it
likes, and its own error probability is nothing.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from dpassay.engine.budget import Budget
from dpassay.engine.detection.searches import Round
from dpassay.engine.searching.drawing import Bases, Drawing
from dpassay.engine.searching.pair_candidates import (
    Candidate,
    Certainties,
    Features,
    Told,
    is_sure,
    keeps,
    rank_of,
    round_of,
)
from dpassay.engine.searching.walking import most, walked
from dpassay.errors import TargetError
from dpassay.search.events import choose_pattern, settled
from dpassay.search.outlook import Outlook, outlook
from dpassay.search.outputs import Encoder
from dpassay.search.proposals.paths import paths_of
from dpassay.search.proposals.proposal import Proposal, Space
from dpassay.search.worth import Goal
from dpassay.seeds import stream

FIRST = 256
"""Pairs of the first round."""
SURVIVORS = (64, 16, 4)
"""Pairs that go on after each round but the last."""
OFFSPRING = (32, 8, 0)
"""New pairs that are made of the best ones after each of these rounds."""
SEARCH, MOST_SEARCH, PART, GROWTH = 16, 320_000, 16, (0.4, 0.15)
"""Trials per side of the whole search: so many times the certification trials, but no more than
`MOST_SEARCH`, or one in `PART` of the certification trials if that is more. The first round grows
on with these powers of the budget, the second above `ENOUGH`: so more of it lowers what the whole
audit would see."""
ENOUGH = 400_000
"""More certification trials than that are many: who pays for them wants the bound."""
SHARES = (4, 2, 1, 1)
"""How the trials of the search are divided among its rounds: most pairs are lost in the first."""
LEAST = 200
"""Trials per side and pair of a round, at least."""
SMALLER, STEPS = 8, 12
"""Smaller pairs that are tried at a time, and how often, unless there are more than `ENOUGH`."""
MOST_SMALLER, MOST_SHRUNK = 5_000, 20_000
"""Trials per side of each of these, at most, and of the one that is taken."""
UNSURE = 2
"""Of fewer certification trials one in so many chooses the event of the pair that was found once
more, where that is not sure to be refuted."""
LAST, MOST_LAST = 16, 40_000
"""Of n > ENOUGH certification trials, each of the last pairs has n / LAST, at most MOST_LAST."""
CLOSER = 400
"""Each pair of the round before has at least n / CLOSER."""
DECIDING = 64
"""The chosen events of the last few pairs have n / DECIDING, if that is more than MOST_LAST."""
SETTLED, ENOUGH_SETTLED, MOST_SETTLED, RARE = (8, 16), 100_000, 1_000_000, 10_000
"""An event that was then seen fewer than RARE times has n / 8 trials to set its threshold, at most
ENOUGH_SETTLED; n / 16 if that is more, at most MOST_SETTLED."""
SHORTER = 4
"""A search that goes on beyond what is certain has so many times fewer trials."""
PORTIONS, FEWEST, LITTLE, PILOTING = 16, 32, 4, 8
"""Where time is limited, the clock is looked at so many times in a round, and a pair has as many
trials per side as there is time for, but so many at least. Paths are walked if that takes one in so
many of the runs that are left, and the pilot has one in so many of the seconds."""
clock = time.monotonic
"""Tells seconds; a test puts another one here."""


@dataclass(slots=True, kw_only=True)
class Deadline:
    """Ends a search when its time is used up."""

    seconds: float | None
    ended: bool = False
    round: tuple[int, int] | None = None  # the one of so many that it cut short
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = clock()

    def stops(self, part: float = 1.0) -> bool:
        """Return whether a part of the time is used up; who asks leaves out what comes next."""
        self.ended |= (over := self.over(part))
        return over

    def over(self, part: float) -> bool:
        """Return whether a part of the time is used up; the search goes on in any case."""
        return self.seconds is not None and clock() - self._started >= part * self.seconds

    def left(self) -> Deadline:
        """Return one that begins now and ends when this one does."""
        return Deadline(seconds=None if self.seconds is None else self.until(1.0))

    @property
    def gone(self) -> float:
        """The part of the time that is used up."""
        return 0.0 if self.seconds is None else 1 - self.until(1.0) / self.seconds

    def until(self, part: float) -> float:
        """Return the seconds until a part of the time is used up."""
        passed = clock() - self._started
        return math.inf if self.seconds is None else max(0.0, part * self.seconds - passed)

    @property
    def note(self) -> str:
        """The sentence that says where the time ended the search; empty where it did not."""
        if not self.ended:
            return ""
        where = "in round {} of {}".format(*self.round) if self.round else "after its last round"
        return (
            f"search_seconds = {self.seconds:g} ended the search {where}: another run with this "
            "seed may find another pair."
        )

    def as_json(self) -> dict[str, Any]:
        """Return what a record says of it; nothing where there is no limit."""
        limit = {"seconds": self.seconds, "ended": self.ended}
        limit |= {"round": self.round[0]} if self.round else {}
        return {} if self.seconds is None else {"limit": limit}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Search:
    """One search for the pair, query and event that break a claim."""

    drawing: Drawing
    space: Space
    goals: tuple[Goal, ...]
    budget: Budget
    deadline: Deadline
    passed: Certainties = field(default_factory=Certainties)
    log: list[dict[str, Any]] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)

    def best(self, known: Encoder | None = None) -> tuple[Candidate, Encoder]:
        """Search, and return the pair that is to be certified, and what was looked at in answers.

        `known` says what to look at, where that is known from a search before.

        One only: the best of those that the last round has looked at gets all of alpha.
        """
        try:
            return self._searched(failures=False, known=known)
        except TargetError as error:
            if not error.unforeseen:
                raise
        self.log.clear()
        self.rounds.clear()
        self.drawing.failed.clear()
        return self._searched(failures=True)

    def _searched(
        self, *, failures: bool, known: Encoder | None = None
    ) -> tuple[Candidate, Encoder]:
        """Search; `failures` says that a run may raise an exception."""
        rng = stream(self.drawing.seed, self.drawing.target.name, "search")
        proposals = self.space.first(rng, FIRST)
        part = self.deadline.gone + (1 - self.deadline.gone) / PILOTING
        left = partial(self.runs, part)
        encoder = known or self.drawing.encoder(proposals, failures=failures, left=left)
        paths = paths_of(self.space)
        if most(paths) * LITTLE > self.runs():
            paths = []
        alive = self._candidates(walked(self.drawing, encoder, paths) + proposals)
        draws, gone = self.budget.draws, self.deadline.gone
        parts = 1 if known is None else SHORTER
        for number, share in enumerate(shares(draws)):
            last = number == len(SURVIVORS)
            size = trials(share // parts, len(alive), draws, number)
            part = gone + (1 - gone) * sum(SHARES[: number + 1]) / sum(SHARES)
            size = max(min(FEWEST, size), self._affordable(size, len(alive), self.runs(part)))
            survivors = sum(each.rounds > 0 for each in alive)
            looked = self._round(encoder, alive, size, number, part)
            if self.deadline.ended and not self.deadline.round:
                self.deadline.round = number + 1, len(SHARES)
            self._left_out(len(looked), survivors)
            if not looked:
                return self._early(encoder, alive), encoder
            alive = looked
            alive.sort(key=lambda each: each.rank, reverse=True)
            self.note(number, alive, size)
            self.rounds.append(round_of(alive, size, 1 if last else SURVIVORS[number]))
            if not last:
                alive = self._next(alive, SURVIVORS[number], OFFSPRING[number], rng)
        found = max(alive, key=lambda each: each.cautious_rank)
        if draws > ENOUGH:
            found = self._decided(alive[: SURVIVORS[-1]])
        elif is_sure(found):
            found = self._shrunk(encoder, found)
        else:
            self._sharpened(encoder, found)
        return found, encoder

    def _round(
        self, encoder: Encoder, alive: list[Candidate], size: int, number: int, part: float
    ) -> list[Candidate]:
        """Draw candidates and choose their events; in `PORTIONS` where time is limited.

        A round then ends with this part of the time.
        """
        told = self.drawing.told(f"round {number + 1} of {len(SHARES)}", len(alive))
        step = max(1, len(alive) // (1 if self.deadline.seconds is None else PORTIONS))
        step = int(np.clip(self.runs(part) / (2 * size * PORTIONS), 1, step))
        looked: list[Candidate] = []
        bases: Bases | None = None if self.deadline.seconds is None else {}
        failure: TargetError | None = None
        for first in range(0, len(alive), step):
            if (number or first) and self.deadline.stops(part if looked else 1.0):
                break
            some = alive[first : first + step]
            try:
                drawn = self._drawn(encoder, some, size, f"search {number}", told, bases)
            except TargetError as error:
                if error.fatal or bases is None or any(map(self.drawing.is_own, some)):
                    raise
                failure = error
                self.drawing.failed.append(len(some))
                continue
            if number < len(SURVIVORS):
                self._rank(encoder, drawn)
            else:
                self.choose(encoder, drawn, first=len(looked))
            looked += drawn
        if failure is not None and not looked and not (number and self.deadline.ended):
            raise failure
        return looked

    def runs(self, part: float = 1.0) -> float:
        """Return for how many runs the time is enough until a part of it is used up."""
        return self.deadline.until(part) / (self.drawing.pace or 1e-9)

    @staticmethod
    def _affordable(size: int, pairs: int, runs: float) -> int:
        """Return how many of `size` trials per side of pairs so many runs are, 4 at least."""
        return int(np.clip(runs / (2 * pairs), min(4, size), size))

    def _early(self, encoder: Encoder, alive: list[Candidate]) -> Candidate:
        """Return the best of those that have been looked at, with an event chosen for good."""
        seen = (each for each in alive if each.outlook)
        best = sorted(seen, key=lambda each: each.rank, reverse=True)[: SURVIVORS[-1]]
        if not best:
            raise TargetError("a search needs at least one pair to look at")
        self.choose(encoder, best)
        return max(best, key=lambda each: each.cautious_rank)

    def _left_out(self, looked: int, survivors: int) -> None:
        """Note that a round did not look at all survivors of the round before it.

        The better half of them comes first, by rank: as many of these as were seen were safe.
        """
        if self.deadline.ended and self.rounds and looked < survivors:
            half, before = SURVIVORS[len(self.rounds) - 1] // 2, self.rounds[-1]
            safe = max(1, min(looked, half, before.safe))
            self.rounds[-1] = replace(before, safe=safe)

    def _next(
        self, ranked: list[Candidate], kept: int, more: int, rng: np.random.Generator
    ) -> list[Candidate]:
        """Return who goes on, and offspring of the best.

        The better half, the best of every family, and what promises most.
        """
        first: dict[str, Candidate] = {}
        for each in ranked:
            first.setdefault(each.proposal.family, each)
        ahead, rest = ranked[: kept // 2], ranked[kept // 2 :]
        promising = sorted(rest, key=lambda each: each.promise, reverse=True)
        order = [*ahead, *promising[: kept // 4], *first.values(), *promising]
        survivors = list(dict.fromkeys(order))[:kept]
        parents = [each.proposal for each in ranked[:8]]
        new = self.space.more(parents, rng, more) if more else []
        return [*survivors, *self._candidates(new)]

    def _candidates(self, proposals: Iterable[Proposal]) -> list[Candidate]:
        """Return what may be looked at of some proposals."""
        return [Candidate(proposal=each) for each in proposals if not self.passed.passes_over(each)]

    def _drawn(self, encoder: Encoder, some: list[Candidate], *how: Any) -> list[Candidate]:
        """Draw candidates, and pass over those that what is known tells apart."""
        drawn = self.drawing.draw(encoder, some, *how)
        return [each for each in drawn if not self.passed.explains(each, encoder)]

    def _sharpened(self, encoder: Encoder, found: Candidate) -> None:
        """Choose the event of a pair by more trials."""
        if self.deadline.stops():
            return
        told = self.drawing.told("looking closer", 1)
        size = self._affordable(max(LEAST, self.budget.draws // UNSURE), 1, self.runs())
        self.choose(encoder, self.drawing.draw(encoder, [found], size, "sharpen", told))

    def _decided(self, finalists: list[Candidate]) -> Candidate:
        """Return the best of the last few pairs, as many more trials of their events show."""
        size = self.budget.draws // DECIDING
        told = self.drawing.told("looking closer", len(finalists))
        for each in finalists if size > MOST_LAST else []:
            if self.deadline.stops():
                break
            self._settle(each, size, "decide", told)
        found = max(finalists, key=lambda each: each.rank)
        rare = found.choice is not None and found.choice.moves(RARE / size)
        if rare and not self.deadline.stops():
            more = settling(self.budget.draws)
            self._settle(found, more, "settle", self.drawing.told("looking closer", 1))
        return found

    def _settle(self, found: Candidate, size: int, phase: str, told: Told) -> None:
        """Set the threshold of an event by more trials, and say anew what is to be expected."""
        choice = found.choice
        if choice is None:
            return
        fresh, goal = Candidate(proposal=found.proposal), found.goal or self.goals[0]
        self.drawing.draw(choice.pattern.encoder, [fresh], size, phase, told)
        one, other = fresh.one[0][found.query], fresh.other[0][found.query]
        found.outlook = settled(choice, one, other, goal)

    def _shrunk(self, encoder: Encoder, found: Candidate) -> Candidate:
        """Return a smaller pair that shows the same, if there is one.

        Only where the claim will be refuted, as good as surely, before and after: then somebody
        will look at the pair. Else a smaller pair that leaks what is allowed may look as bad. The
        pair itself is drawn again beside the smaller ones: from fewer trials less is to be
        expected, and more of what came first of many. What is taken is looked at more closely.
        """
        fresh: Candidate | None = None
        for step in range(STEPS):
            if self.deadline.stops() or self.runs() < SMALLER * LEAST:
                break
            same, draws = Candidate(proposal=found.proposal), self.budget.draws
            some = self._candidates(islice(self.space.smaller(found.proposal), SMALLER))
            if not some:
                break
            try:
                size = max(LEAST, min(draws // 4, MOST_SMALLER))
                size = self._affordable(size, SMALLER, self.runs() / 4)
                self.look(encoder, [*some, same], size, f"shrink {step}")
                smaller = next((each for each in some if keeps(each, same)), None)
                if smaller is None:
                    break
                both = [smaller] if fresh else [smaller, same]
                size = self._affordable(min(draws, MOST_SHRUNK), 2, self.runs() / 4)
                self.look(encoder, both, size, f"shrunk {step}", self.choose)
            except TargetError as error:
                if error.fatal:
                    raise
                break
            if not (is_sure(smaller) and keeps(smaller, fresh or same)):
                break
            found = fresh = smaller
        return found

    def look(
        self,
        encoder: Encoder,
        some: list[Candidate],
        size: int,
        phase: str,
        judge: Callable[[Encoder, list[Candidate]], None] | None = None,
        what: str = "looking for a smaller pair",
    ) -> None:
        """Draw candidates, and rank them or choose their events; `what` tells what for."""
        told = self.drawing.told(what, len(some))
        (judge or self._rank)(encoder, self._drawn(encoder, some, size, phase, told))

    def _rank(self, encoder: Encoder, some: Iterable[Candidate]) -> None:
        """Rank each candidate by its best query; no event is named."""
        for each in some:
            one, other = (np.concatenate(side, axis=1) for side in (each.one, each.other))
            worst = [self._worst(encoder, *both) for both in zip(one, other, strict=True)]
            self._take(each, [(query, *look) for query, look in enumerate(worst)])

    def _worst(self, encoder: Encoder, one: Features, other: Features) -> tuple[Goal, Outlook]:
        """Return the point of the curve that answers speak against most clearly."""
        found = [(goal, outlook(encoder.looks, one, other, goal)) for goal in self.goals]
        return max(found, key=lambda each: rank_of(*each))

    def choose(self, encoder: Encoder, some: Iterable[Candidate], *, first: int = 0) -> None:
        """Choose the best event of each candidate, over its queries; `first` numbers the first."""
        for place, each in enumerate(some, first):
            one, other = (np.concatenate(side, axis=1) for side in (each.one, each.other))
            goal = each.goal or self.goals[0]  # once it was ranked, where it looks worst
            choices = [
                choose_pattern(encoder, *sides, goal, stream(self.drawing.seed, "choose", place, k))
                for k, sides in enumerate(zip(one, other, strict=True))
            ]
            self._take(each, [(query, goal, choice) for query, choice in enumerate(choices)])

    def _take(self, each: Candidate, looks: Sequence[tuple[int, Goal, Outlook]]) -> None:
        """Take the query of a candidate where it looks worst."""
        each.rounds = len(each.one)
        each.query, each.goal, each.outlook = max(looks, key=lambda look: rank_of(*look[1:]))

    def note(self, number: int, ranked: list[Candidate], size: int) -> None:
        """Note for the record what a round has looked at."""
        sizes = [len(each.proposal.base) for each in ranked]
        self.log.append(
            {
                "round": number,
                "pairs": len(ranked),
                "draws": size,
                "sizes": [min(sizes), max(sizes)],
                "families": dict(Counter(each.proposal.family for each in ranked)),
                "best": ranked[0].proposal.family,
                "failed": sum(self.drawing.failed),
            }
        )
        self.drawing.failed.clear()


def shares(draws: int) -> tuple[int, ...]:
    """Return how many trials per side each round has, by those of the certification."""
    whole = min(SEARCH * draws, max(MOST_SEARCH, draws // PART))
    few, many = SEARCH * min(draws, ENOUGH) / MOST_SEARCH, max(1.0, draws / ENOUGH)
    grown = min(SEARCH * draws, round(MOST_SEARCH * few ** GROWTH[0] * many ** GROWTH[1]))
    share, larger = (each // sum(SHARES) for each in (whole, max(whole, grown)))
    return (SHARES[0] * larger, *(part * share for part in SHARES[1:]))


def plan(draws: int) -> list[tuple[int, int, int]]:
    """Return the trials of each round, how many pairs go on after it, and how many are new."""
    return list(zip(shares(draws), (*SURVIVORS, 0), (*OFFSPRING, 0), strict=True))


def trials(share: int, pairs: int, draws: int, number: int) -> int:
    """Return how many trials per side and pair a round has, of which `number` came before."""
    least = LEAST
    if draws > ENOUGH and number == len(SURVIVORS):
        least = min(draws // LAST, MOST_LAST)
    elif draws > ENOUGH and number == len(SURVIVORS) - 1:
        least = draws // CLOSER
    return int(np.clip(share // max(1, pairs), least, draws))


def closer(draws: int, pairs: int) -> int:
    """Return how many trials per side look closer at the last few pairs, at most."""
    if draws <= ENOUGH:
        return max(LEAST, draws // UNSURE)
    each = draws // DECIDING
    return pairs * each * (each > MOST_LAST) + settling(draws)


def settling(draws: int) -> int:
    """Return how many trials per side set the threshold of a rare event."""
    few, many = (draws // part for part in SETTLED)
    return min(max(many, min(few, ENOUGH_SETTLED)), MOST_SETTLED)
