"""Guards: what is asked of a mechanism besides its trials, to see whether they are independent.

If not, the result is `error`.

A certified bound is proven for trials that are independent and of one law. A mechanism that shares
coins between the rows of a call, keeps something between calls or answers one row otherwise than
many gives counts of another kind, and a bound on them would be worth nothing. Each guard is a
statistic of `dpassay.stats.health` with its share of the false-alarm rate, or cannot fail by
chance.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.evidence import Lot
from dpassay.errors import TargetError
from dpassay.pairs import Change
from dpassay.stats.health import Array, Calls, log_average, log_copied, log_uneven, log_varied
from dpassay.targets.groups import PairGroup
from dpassay.trials.blocks import ONE_BY_ONE, BlockCounts, blocks, where
from dpassay.trials.executors import Executor
from dpassay.trials.tasks import Piece, Task, unrepeatable

STATISTICS = 4
"""Guards that can fail by chance; the false-alarm rate of a result is divided among them."""
ROUNDING = 1e-3
"""More than the numerical error of a statistic, as a logarithm."""
LOTS = 8
"""New processes that single rows are spread over."""
LOOKS, FEWEST = ((4, 256), (12, 64), (24, 32), (48, 16)), 8
"""New processes before each look at the replay of a refutation, and what part of the certification
trials each draws, `FEWEST` at least: a 64th of all, then a fifth, as many, and four times as many,
about."""
FEW, FIRST = 4096, (16, 16)
"""Of fewer certification trials the first look follows more processes: what four of them hold fast
may agree by chance, and so few trials show no other guard that they are copies. They draw as many
as certified, of which a part might refute nothing."""
SINGLES = 25
"""Calls of one row per process and dataset, at most. In all, they are at most half as many as the
certification trials; an eighth where a refutation is replayed."""
PROCESSES = 16
"""New processes that draw the trials of a race before its first look, and a quarter as many before
each later one. What a process keeps then differs from process to process."""
SPREAD = 100
"""So many queries of a dataset are looked at, besides those that are bounded there: whoever shares
coins between rows or calls does it at all queries, or at some that are next to one another."""
TOGETHER, COUNTS = 8, 10**7
"""So many datasets are looked at by one call, which costs more than a dataset's numbers do; fewer
where they have more counts than that."""

Place = tuple[int, int | None]
"""A dataset: its group, and the pair whose neighbour it is; None for the base."""
Wanted = tuple[str, int, range]
"""Trials in new processes: their phase, how many a process draws of a side, the processes."""
Drawn = dict[Place, tuple[BlockCounts, ...]]
"""Trials of both sides, lot by lot."""
Fresh = dict[tuple[Place, str, int, range], Drawn]
Refutes = Callable[[Mapping[Place, Calls]], bool]
"""Whether counts (q, K) of the two sides of a pair refute the claim by themselves."""

VARIED = (
    "its calls differ by more than independent trials do: rows of a call share coins (one draw "
    "for all `size` rows, a model trained once per call), or the answers drift; draw every row's "
    "coins from rng, and keep nothing between calls"
)
COPIED = (
    "its calls are sticky, they repeat one another's counts: it does not draw from rng, from too "
    "little of it, or so that the rows of a call balance one another; draw every row's coins from "
    "rng itself, and seed no generator of your own"
)
SINGLE = (
    "rows that are asked for one by one, in new processes, come out otherwise than rows of larger "
    "calls: its answers depend on `size`, or on what it keeps (a cache, a counter, a model); draw "
    "every row's coins from rng, whatever the size"
)
CONFIRM = (
    "the refutation did not come out again: fresh trials in new processes, S and S' in turn, have "
    "other counts; it keeps something between calls (a cache, a counter, a model), or depends on "
    "the time; draw every row's coins from rng"
)
TAKEN_BACK = "the refutation did not come out again"
KEPT = (
    TAKEN_BACK + ": {:,} fresh trials a side, in {} new processes, do not "
    "show that the claim is exceeded; it keeps something between runs (noise or answers drawn "
    "ahead, a cache, a model), so that luck looks like a leak; draw the coins of every run anew, "
    "from rng; or, if it keeps nothing, the leak is hardly above the claim: raise the budget"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guards:
    """What has been drawn of each dataset, and the guards over it.

    `lots` were drawn of every dataset after the screening, in the order of `certified`, the counts
    of these trials lot by lot. `screened` are the counts (q, K) of the screening trials of each
    dataset that is certified. `fresh` holds trials of the sides of a pair, by phase and size, and
    is filled as they are asked for, the same for all claims. `alarm` bounds the probability that a
    guard fails by chance in the trials of one claim.
    """

    groups: tuple[PairGroup, ...]
    executor: Executor
    lots: tuple[Lot, ...]
    alarm: float
    screened: dict[Place, Calls]
    certified: dict[Place, BlockCounts]
    fresh: Fresh

    @property
    def draws(self) -> int:
        """Trials per dataset since the screening."""
        return sum(size for _, size, _ in self.lots)

    def varied(self, bounded: Mapping[Place, Collection[int]]) -> None:
        """Raise `TargetError` if the calls of the certification are suspect.

        They vary too much, are unlike the screening, or are copies. Of many queries not all are
        looked at: those in `bounded`, whose counts enter a bound, and `SPREAD` others.
        """
        varied: dict[Place, Array] = {}
        copied: dict[Place, Array] = {}
        most = max(each.calls.size for each in self.certified.values())
        for places in _portions(self.certified, most):
            at = [_looked_at(len(self.screened[place]), bounded.get(place, ())) for place in places]
            ends = np.cumsum([len(queries) for queries in at])[:-1]
            both = list(zip(places, at, strict=True))
            calls = np.concatenate([self.certified[p].calls[..., q, :] for p, q in both], axis=-2)
            before = np.concatenate([self.screened[p][..., q, :] for p, q in both], axis=-2)
            uneven = log_uneven(np.stack([before, calls.sum(axis=0)]))
            uneven = _mean(log_varied(calls), uneven)
            varied |= dict(zip(places, np.split(uneven, ends), strict=True))
            copied |= dict(zip(places, np.split(log_copied(calls), ends), strict=True))
        self._judge(varied, VARIED)
        self._judge(copied, COPIED)

    def asked_again(self, group: int, pair: int, *, confirmed: bool) -> None:
        """Raise `TargetError` unless a pair's trials come out again and single rows are alike.

        The same processes draw what is looked at first where that is to be `confirmed`.
        """
        sides, last = ((group, None), (group, pair)), self.lots[-1]
        count = sum(len(blocks(size)) for _, size, _ in self.lots)
        ends = {0: (self.lots[0], 0)} if len(self.lots) == 1 else {}
        ends |= {count - 1: (last, blocks(last[1])[-1])}
        seen: tuple[Place, str, int, range] = (sides[1], "again", last[1], range(len(self.lots)))
        again = {
            Piece(task=task(side, (phase, size, lot)), first=k, stop=k + 1): place
            for place, ((phase, size, lot), k) in ends.items()
            for side in sides
            if seen not in self.fresh
        }
        self.fresh[seen] = {}
        # a race makes calls of one row only
        wanted = [singles(self.draws, few=confirmed), *self._looks[: int(confirmed)]]
        wanted = [] if self.lots[0][0] in ONE_BY_ONE else wanted
        drawn, repeated = drawn_afresh(self.executor, sides, wanted, self.fresh, [*again])
        for piece, one in zip(again, repeated, strict=True):
            side = piece.task.group, piece.task.pair
            if self.executor.seeded and one.marks[0] != self.certified[side].marks[again[piece]]:
                raise TargetError(unrepeatable(self._change(side)))
        unlike = {}
        for side, lots in drawn[0].items() if drawn else ():
            some = np.stack([each.calls.sum(axis=0) for each in lots])
            unlike[side] = _unlike(self.certified[side].calls.sum(axis=0), some)
        self._judge(unlike, SINGLE)

    def confirmed(self, group: int, pair: int, query: int, refutes: Refutes) -> None:
        """Raise `TargetError` unless trials in new processes refute the claim too.

        That keeps luck from being a finding which a process holds fast: what the search has seen
        there comes again as long as it lives. The replay draws until it refutes, and gives up at
        nearly five times the trials: a mechanism that keeps nothing is refuted again. It can only
        take refutations back, so that it costs nothing of alpha.
        """
        sides, trials = ((group, None), (group, pair)), 0
        drawn: dict[Place, list[Calls]] = {side: [] for side in sides}
        for look in self._looks:
            _, size, lots = look
            trials += len(lots) * size
            (new,), _ = drawn_afresh(self.executor, sides, [look], self.fresh)
            for side, found in new.items():
                drawn[side].extend(each.calls for each in found)
            alike: dict[Place, Array] = {}
            for side, every in drawn.items():
                before = self.certified[side].calls[:, [query]].sum(axis=0)
                alike[side] = np.full(len(self.screened[side]), -np.inf)
                at = _alike(before, [lot[:, [query]] for lot in every])
                alike[side][query] = at[0] - math.log(len(LOOKS))
            self._judge(alike, CONFIRM)
            if refutes(worth_of(drawn, query)):
                return
        raise TargetError(KEPT.format(trials, lots.stop))

    @property
    def _looks(self) -> list[Wanted]:
        """Return what a replay draws before each of its looks."""
        looks = LOOKS if self.draws >= FEW else (FIRST, *LOOKS[2:])
        ends = [0, *itertools.accumulate(number for number, _ in looks)]
        return [
            ("confirm", max(FEWEST, self.draws // part), range(*lots))
            for (_, part), lots in zip(looks, itertools.pairwise(ends), strict=True)
        ]

    def _judge(self, found: dict[Place, Array], cause: str) -> None:
        """Raise `TargetError` for the worst dataset if the average over all is too large."""
        datasets = sum(1 + len(group.pairs) for group in self.groups)
        if log_average(found.values(), datasets) >= math.log(STATISTICS / self.alarm) + ROUNDING:
            worst = max(found, key=lambda place: float(found[place].max()))
            raise TargetError(f"sample on {where(self._change(worst))}: {cause}")

    def _change(self, place: Place) -> Change | None:
        return None if place[1] is None else self.groups[place[0]].pairs.changes[place[1]]


def drawn_afresh(
    executor: Executor,
    sides: tuple[Place, Place],
    wanted: Sequence[Wanted],
    fresh: Fresh,
    again: Sequence[Piece] = (),
) -> tuple[list[Drawn], tuple[BlockCounts, ...]]:
    """Return lots of both sides, which are drawn once and kept in `fresh`, and counts of `again`.

    S and S' in turn, and lots of one number in a process of their own. The first of these begins
    with the pieces that are drawn `again`.
    """
    missing = [each for each in wanted if (sides[1], *each) not in fresh]
    shards = [
        [
            Piece(task=task(side, (phase, size, lot)), first=0, stop=blocks(size).stop)
            for phase, size, lots in missing
            if lot in lots
            for side in (sides[::-1] if lot % 2 else sides)
        ]
        for lot in sorted({lot for *_, lots in missing for lot in lots})
    ] or [[]]
    shards[0][:0] = again
    asked = [tuple(shard) for shard in shards if shard]
    counts = [*zip(itertools.chain(*asked), itertools.chain(*executor.afresh(asked)), strict=True)]
    found: dict[tuple[str, Place], list[BlockCounts]] = {}
    for piece, one in counts[len(again) :]:
        found.setdefault((piece.task.phase, (piece.task.group, piece.task.pair)), []).append(one)
    for each in missing:
        fresh[sides[1], *each] = {side: tuple(found.get((each[0], side), ())) for side in sides}
    return [fresh[sides[1], *each] for each in wanted], tuple(
        one for _, one in counts[: len(again)]
    )


def task(side: Place, lot: Lot) -> Task:
    """Return a lot of trials of a dataset."""
    (group, pair), (phase, size, number) = side, lot
    return Task(group=group, pair=pair, phase=phase, size=size, lot=number)


def singles(draws: int, *, few: bool) -> Wanted:
    """Return the calls of one row that are asked for beside so many certification trials."""
    return "single", min(SINGLES, max(1, draws // ((8 if few else 2) * LOTS))), range(LOTS)


def worth_of(drawn: Mapping[Place, Sequence[Calls]], query: int) -> dict[Place, Calls]:
    """Return the counts (q, K) of all lots, divided by how many times too much the lots vary.

    Trials that depend on each other make luck likelier, even where no guard detects it.
    """
    spread = dispersion(drawn, query)
    counts = {side: np.concatenate(list(each)).sum(axis=0) for side, each in drawn.items()}
    return {side: np.rint(each / spread).astype(np.int64) for side, each in counts.items()}


def _looked_at(queries: int, bounded: Collection[int]) -> NDArray[np.intp]:
    """Return which of so many queries are looked at: all, unless there are more than `SPREAD`."""
    spread = np.linspace(0, queries - 1, min(queries, SPREAD)).astype(np.intp)
    return np.union1d(spread, np.fromiter(bounded, dtype=np.intp))


def _portions(places: Iterable[Place], counts: int = 1) -> Iterator[list[Place]]:
    """Cut places, of so many counts each, into portions of a group that are looked at together."""
    together = min(TOGETHER, max(1, COUNTS // counts))
    for _, found in itertools.groupby(places, key=lambda place: place[0]):
        while portion := list(itertools.islice(found, together)):
            yield portion


def _unlike(before: Calls, lots: Calls) -> Array:
    """Return ln E against lots unlike what was drawn before, each alone or all together."""
    together = np.stack([before, lots.sum(axis=0)])
    return _mean(log_uneven(np.concatenate([before[None], lots])), log_uneven(together))


def _alike(before: Calls, lots: list[Calls]) -> Array:
    """Return ln E against lots, call by call, of processes whose trials depend on one another.

    They are unlike what was drawn before, vary from call to call, or are copies of one another.
    """
    calls, whole = np.concatenate(lots), np.stack([lot.sum(axis=0) for lot in lots])
    return _mean(_unlike(before, whole), _mean(log_varied(calls), log_copied(whole)))


def dispersion(drawn: Mapping[Place, Sequence[Calls]], query: int) -> float:
    """Return about how many times too much the counts of lots vary, at least 1.

    Pearson's statistic over its degrees of freedom: 1 is expected where nothing is kept, and with a
    pool of k answers a process, of which each lot draws m, 1 + m / k.
    """
    statistic, freedom = 0.0, 0
    for side in drawn.values():
        lots = np.stack([lot[:, query].sum(axis=0) for lot in side])
        lots = lots[:, lots.any(axis=0)]
        expected = np.outer(lots.sum(axis=1), lots.sum(axis=0)) / lots.sum()
        statistic += float(((lots - expected) ** 2 / expected).sum())
        freedom += (len(lots) - 1) * (lots.shape[1] - 1)
    return max(1.0, statistic / max(1, freedom))


def _mean(one: Array, other: Array) -> Array:
    """Return ln of the mean of two E that are given as logarithms."""
    mean: Array = np.logaddexp(one, other) - math.log(2)
    return mean
