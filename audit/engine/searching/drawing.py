"""Drawing: trials of a search, both sides of many pairs at a time, kept as features."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from statistics import median

import numpy as np

from dpassay.data import digest
from dpassay.engine.directions import OpenExecutor
from dpassay.engine.searching.pair_candidates import Candidate, Features, Told
from dpassay.errors import TargetError
from dpassay.pairs import NOTHING_ASKED
from dpassay.rows.rows import Rows
from dpassay.search.outputs import Encoder
from dpassay.search.proposals.proposal import Proposal, Space
from dpassay.targets.groups import PairGroup, Progress
from dpassay.targets.guard import AuditTarget
from dpassay.trials.blocks import block_of
from dpassay.trials.encoders import FeatureCoding
from dpassay.trials.tasks import Task

PILOTS, PILOT = 12, 200
"""Pairs whose answers the encoder is fitted on, and trials on each side of them."""
SLOW = 0.05
"""Seconds of a run that is slow."""
Bases = dict[tuple[str, str], Features]
"""What was drawn of base datasets in a round."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawing:
    """Draws what a search looks at.

    The own dataset of `space` is not passed over where the mechanism fails. `spent` are trials so
    far, `failed` pairs on which it failed since somebody has last asked. `paces` are seconds a run
    of the pilots, which `foretell` is told the middle one of, once.
    """

    target: AuditTarget
    space: Space
    open_executor: OpenExecutor
    progress: Progress
    seed: int
    foretell: Callable[[float], None]
    paces: list[float] = field(default_factory=list)
    spent: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)

    def encoder(
        self,
        proposals: Sequence[Proposal],
        *,
        failures: bool = False,
        pilots: int = PILOTS,
        runs: int = PILOT,
        phase: str = "pilot",
        left: Callable[[], float] = lambda: math.inf,
    ) -> Encoder:
        """Fit the encoder on both sides of pairs that lie far apart in the list.

        `failures` says that a run may raise an exception, also if these do not; `left` for how many
        runs there is time, of which each side has its part, 4 at least.
        """
        sides = {}
        for each in self.spread_out(proposals, pilots):
            pairs, queries = each.pairs, each.queries
            base = pairs.base
            for data in (base, pairs.changes[0].apply(base)):
                key = (self.seed, self.target.name, data.digest, digest(queries), phase)
                sides[key] = data, self.asked(queries), key
        # each dataset once: numbers that come twice are taken for values of their own
        own = "" if self.space.own is None else self.space.own.digest
        drawn, told = [], max(self.paces[1:], default=0.0) > SLOW
        for number, asked in enumerate(sides.values(), 1):
            size = int(np.clip(left() / (len(sides) - number + 1), min(4, runs), runs))
            self.spent.append(size)
            started = time.perf_counter()
            drawn.append(self.target.pilot(asked, size))
            self.paces.append((time.perf_counter() - started) / size)
            # the first request may load things; slow runs are told of without waiting for all, and
            # the few runs of a race do not show the pace of fast ones
            whole = number == len(sides) and runs == PILOT
            if not told and (whole or (number > 1 and self.paces[-1] > SLOW)):
                told = True
                self.foretell(self.pace)
        return self.target.encoder(drawn, own, failures=failures)

    @property
    def pace(self) -> float:
        """Return the seconds of a run, as the last pilots show; 0 before them."""
        return median(self.paces[-PILOTS:] or [0.0])

    @staticmethod
    def spread_out(proposals: Sequence[Proposal], few: int = PILOTS) -> list[Proposal]:
        """Return a few proposals that lie far apart in the list."""
        places = np.unique(np.linspace(0, len(proposals) - 1, few).astype(int))
        return [proposals[place] for place in places]

    def draw(
        self,
        encoder: Encoder,
        some: list[Candidate],
        size: int,
        phase: str,
        told: Told,
        bases: Bases | None = None,
    ) -> list[Candidate]:
        """Draw both sides of every candidate; those with one base share its trials.

        Also with those whose base is among `bases`, where what is drawn of a base is kept. Those on
        which the mechanism raises an exception are left out; on the user's own data, or on all of
        them, that is a TargetError, and so is an answer that was not declared.
        """
        shared: dict[tuple[str, str], list[Candidate]] = {}
        for each in some:
            shared.setdefault(_base(each), []).append(each)
        try:
            self._draw_all(encoder, list(shared.values()), size, phase, told, bases)
        except TargetError as error:
            if error.fatal:
                raise
            return self._draw_each(encoder, list(shared.values()), size, phase, error, bases)
        return some

    def _draw_each(
        self,
        encoder: Encoder,
        members: list[list[Candidate]],
        size: int,
        phase: str,
        error: TargetError,
        bases: Bases | None,
    ) -> list[Candidate]:
        """Draw candidate by candidate, and pass over those that fail."""
        drawn = []
        told = self.told("one by one", sum(map(len, members)))
        for candidates in members:
            for each in candidates:
                del each.one[each.rounds :], each.other[each.rounds :]
                try:
                    self._draw_all(encoder, [[each]], size, phase, told, bases)
                except TargetError as failed:
                    if failed.fatal:
                        raise
                    if self.is_own(each):
                        raise
                    error = failed
                else:
                    drawn.append(each)
        if not drawn:
            raise error
        self.failed.append(sum(map(len, members)) - len(drawn))
        return drawn

    def _draw_all(
        self,
        encoder: Encoder,
        members: list[list[Candidate]],
        size: int,
        phase: str,
        told: Told,
        bases: Bases | None,
    ) -> None:
        """Draw groups of candidates that share a base."""
        groups = tuple(map(self._group, members))
        rows, width = block_of(size), len(encoder.names)
        kept = FeatureCoding(encoder=encoder, by_query=self.target.by_query, rows=rows)
        held = {} if bases is None else bases
        known = [held.get(_base(candidates[0])) for candidates in members]
        sides = [
            (g, pair)
            for g, group in enumerate(groups)
            for pair in (*([None] if known[g] is None else []), *range(len(group.pairs)))
        ]
        self.spent.append(size * len(sides))
        executor = self.open_executor(groups, (kept,) * len(groups))
        drawn = executor.drawn(
            [Task(group=g, pair=pair, phase=phase, size=size) for g, pair in sides]
        )
        for candidates, base in zip(members, known, strict=True):
            if base is None:
                base = _features(next(drawn).calls, size, width)  # noqa: PLW2901
                held[_base(candidates[0])] = base
            for each in candidates:
                each.one.append(base)
                each.other.append(_features(next(drawn).calls, size, width))
                told()

    def told(self, what: str, total: int) -> Told:
        """Return what tells how far something is."""
        done = count(1)
        return lambda: self.progress(f"searching, {what}", next(done), total)

    def is_own(self, each: Candidate) -> bool:
        """Whether the dataset is the user's own."""
        own = self.space.own
        return own is not None and each.proposal.base.digest == own.digest

    def asked(self, queries: Features) -> Features:
        """Return the query points as the target is asked: one row if their answers are one."""
        if self.target.mechanism.without_query:
            return NOTHING_ASKED
        if not self.target.joint:
            return queries
        row = queries.reshape(1, -1)
        row.flags.writeable = False
        return row

    def _group(self, members: list[Candidate]) -> PairGroup:
        """Make one group of candidates that share base and queries."""
        first = members[0].proposal
        changes = tuple(each.proposal.pairs.changes[0] for each in members)
        pairs = replace(first.pairs, changes=changes, key="")
        asked = self.asked(first.queries)
        return PairGroup(pairs=pairs, queries=asked, kind="searched", reason=first.family)

    def alone(self, found: Candidate) -> PairGroup:
        """Return the group of one pair and one query."""
        group = self._group([found])
        if self.target.by_query:
            query = np.ascontiguousarray(group.queries[found.query : found.query + 1])
            query.flags.writeable = False
            group = replace(group, queries=query)
        how = f"family '{found.proposal.family}'"
        pairs = replace(group.pairs, how=how)
        asked = not self.target.mechanism.without_query
        return replace(group, pairs=pairs, asked=asked, mine=mine(self.space, found.proposal))


def mine(space: Space, found: Proposal) -> dict[bytes, int] | None:
    """Return where the rows of a pair stand among the user's; None where that cannot be told."""
    own = space.own
    if not isinstance(own, Rows):
        return None if own is not None else {}
    sides = [each for each in (found.base, found.neighbour) if isinstance(each, Rows)]
    pair = {row.tobytes() for each in sides for row in each.values}
    places = {row.tobytes(): place for place, row in enumerate(own.values)}
    return {row: places[row] for row in pair if row in places}


def _base(each: Candidate) -> tuple[str, str]:
    """Return what candidates have in common that share a base and its queries."""
    return each.proposal.pairs.base.digest, digest(each.proposal.queries)


def _features(calls: Features, size: int, width: int) -> Features:
    """Return the features (q, size, F) out of padded blocks of them (blocks, q, rows F)."""
    blocks, queries, _ = calls.shape
    rows = calls.reshape(blocks, queries, -1, width).swapaxes(0, 1)
    return rows.reshape(queries, -1, width)[:, :size]
