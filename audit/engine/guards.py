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
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.early import Lot
from dpassay.errors import TargetError
from dpassay.pairs import Change
from dpassay.stats.health import Array, Calls, log_average, log_copied, log_uneven, log_varied
from dpassay.targets.groups import Group
from dpassay.trials.blocks import Counts, blocks, where
from dpassay.trials.executors import Executor
from dpassay.trials.tasks import Piece, Task, unrepeatable

STATISTICS = 4
"""Guards that can fail by chance; the false-alarm rate of a result is divided among them."""
ROUNDING = 1e-3
"""More than the numerical error of a statistic, as a logarithm."""
LOTS = {"single": 8, "confirm": 4}
"""New processes that single rows, and the replay of a refutation, are spread over."""
CONFIRMED, CONFIRMED_PART = 200_000, 20
"""Of more trials than that, the replay of a refutation draws so many again, or one in so many."""
SINGLES = 25
"""Calls of one row per process and dataset, at most; not more in all than half the certification
trials."""
SPREAD = 100
"""So many queries of a dataset are looked at, besides those that are bounded there: whoever shares
coins between rows or calls does it at all queries, or at some that are next to one another."""
TOGETHER = 8
"""So many datasets are looked at by one call: it costs more than a dataset's numbers do."""

Place = tuple[int, int | None]
"""A dataset: its group, and the pair whose neighbour it is; None for the base."""
Fresh = dict[tuple[str, Place, int], dict[Place, Calls]]

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guards:
    """What has been drawn of each dataset, and the guards over it.

    Parameters
    ----------
    groups : tuple of Group
    executor : Executor
    lots : tuple of Lot
        What was drawn of every dataset after the screening, in the order of `certified`.
    alarm : float
        Probability that a guard fails by chance in the trials of one claim, at most.
    screened : dict
        Counts (q, K) of the screening trials of each dataset that is certified.
    certified : dict
        Counts of its trials since, lot by lot.
    fresh : dict
        Lots of fresh trials of the sides of a pair, by phase and size; filled as they are asked
        for, the same for all claims.
    """

    groups: tuple[Group, ...]
    executor: Executor
    lots: tuple[Lot, ...]
    alarm: float
    screened: dict[Place, Calls]
    certified: dict[Place, Counts]
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
        for places in _portions(self.certified):
            at = [_looked_at(len(self.screened[place]), bounded.get(place, ())) for place in places]
            ends = np.cumsum([len(queries) for queries in at])[:-1]
            calls, before = (
                np.concatenate(
                    [counts[..., queries, :] for counts, queries in zip(found, at, strict=True)],
                    axis=-2,
                )
                for found in (
                    [self.certified[place].calls for place in places],
                    [self.screened[place] for place in places],
                )
            )
            phases = np.stack([before, calls.sum(axis=0)])
            uneven = _mean(log_varied(calls), log_uneven(phases))
            varied |= dict(zip(places, np.split(uneven, ends), strict=True))
            copied |= dict(zip(places, np.split(log_copied(calls), ends), strict=True))
        self._judge(varied, VARIED)
        self._judge(copied, COPIED)

    def asked_again(self, group: int, pair: int) -> None:
        """Raise `TargetError` unless the trials of a pair come out again.

        Single rows in new processes must be like them too.
        """
        sides, last = ((group, None), (group, pair)), self.lots[-1]
        places = sum(len(blocks(size)) for _, size, _ in self.lots)
        ends = {0: (self.lots[0], 0), places - 1: (last, blocks(last[1])[-1])}
        again = {
            Piece(task=self._task(phase, side, size, lot), first=k, stop=k + 1): place
            for place, ((phase, size, lot), k) in ends.items()
            for side in sides
        }
        rows = min(SINGLES, max(1, self.draws // (2 * LOTS["single"])))
        self._like_before(
            "single",
            (group, pair),
            rows,
            again,
            SINGLE,
        )

    def confirmed(self, group: int, pair: int) -> None:
        """Raise `TargetError` unless fresh trials are like those that refuted the claim.

        As many trials of the same pair as before, and no more than are needed to see it.
        """
        draws = min(self.draws, max(CONFIRMED, self.draws // CONFIRMED_PART))
        self._like_before("confirm", (group, pair), -(-draws // LOTS["confirm"]), {}, CONFIRM)

    def _like_before(
        self, phase: str, place: Place, size: int, again: dict[Piece, int], cause: str
    ) -> None:
        key = phase, place, size
        if key not in self.fresh:
            self.fresh[key] = self._lots(phase, ((place[0], None), place), size, again)
        lots = self.fresh[key]
        self._judge(
            {
                side: _unlike(self.certified[side].calls.sum(axis=0), found)
                for side, found in lots.items()
            },
            cause,
        )

    def _lots(
        self, phase: str, sides: tuple[Place, Place], size: int, again: dict[Piece, int]
    ) -> dict[Place, Calls]:
        """Draw `LOTS` of both sides, counts (lots, q, K).

        S and S' in turn, each lot in a process of its own.

        The first of these begins with pieces that were drawn before, and must come out as they did
        where coins are seeded;
        `again` says at which place of what was drawn each of them is.
        """
        lots: list[list[Piece]] = []
        for lot in range(LOTS[phase]):
            tasks = [
                self._task(phase, side, size, lot) for side in (sides[::-1] if lot % 2 else sides)
            ]
            lots.append([Piece(task=task, first=0, stop=blocks(size).stop) for task in tasks])
        lots[0] = [*again, *lots[0]]
        found: dict[Place, list[Calls]] = {side: [] for side in sides}
        for shard, counts in zip(
            lots, self.executor.afresh([tuple(lot) for lot in lots]), strict=True
        ):
            for piece, one in zip(shard, counts, strict=True):
                place = piece.task.group, piece.task.pair
                if piece.task.phase == phase:
                    found[place].append(one.calls.sum(axis=0))
                elif (
                    self.executor.seeded
                    and one.marks[0] != self.certified[place].marks[again[piece]]
                ):
                    raise TargetError(unrepeatable(self._change(place)))
        return {side: np.stack(drawn) for side, drawn in found.items()}

    def _task(self, phase: str, place: Place, size: int, lot: int = 0) -> Task:
        return Task(group=place[0], pair=place[1], phase=phase, size=size, lot=lot)

    def _judge(self, found: dict[Place, Array], cause: str) -> None:
        """Raise if the average over all datasets that could have been looked at is too large.

        Name the worst one.
        """
        datasets = sum(1 + len(group.pairs) for group in self.groups)
        if log_average(found.values(), datasets) >= math.log(STATISTICS / self.alarm) + ROUNDING:
            worst = max(found, key=lambda place: float(found[place].max()))
            raise TargetError(f"sample on {where(self._change(worst))}: {cause}")

    def _change(self, place: Place) -> Change | None:
        return None if place[1] is None else self.groups[place[0]].pairs.changes[place[1]]


def _looked_at(queries: int, bounded: Collection[int]) -> NDArray[np.intp]:
    """Return which of so many queries are looked at: all, unless there are more than `SPREAD`."""
    spread = np.linspace(0, queries - 1, min(queries, SPREAD)).astype(np.intp)
    return np.union1d(spread, np.fromiter(bounded, dtype=np.intp))


def _portions(places: Iterable[Place]) -> Iterator[list[Place]]:
    """Cut places into portions of a group that are looked at together."""
    for _, found in itertools.groupby(places, key=lambda place: place[0]):
        while portion := list(itertools.islice(found, TOGETHER)):
            yield portion


def _unlike(before: Calls, lots: Calls) -> Array:
    """Return ln E against lots unlike what was drawn before, each alone or all together."""
    together = np.stack([before, lots.sum(axis=0)])
    return _mean(log_uneven(np.concatenate([before[None], lots])), log_uneven(together))


def _mean(one: Array, other: Array) -> Array:
    """Return ln of the mean of two E that are given as logarithms."""
    mean: Array = np.logaddexp(one, other) - math.log(2)
    return mean
