"""Certification: the fresh trials of the finalists, lot by lot, and what guards them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.early import Gamble, Lot, Stopped, parts
from dpassay.engine.guards import Fresh, Guards, Place
from dpassay.engine.testers.interface import Looked
from dpassay.seeds import stream
from dpassay.stats.alpha import Spending
from dpassay.stats.eprocess import deal, log_e_of, threshold
from dpassay.targets.groups import Group, Progress
from dpassay.trials.blocks import Counts, joined
from dpassay.trials.executors import Executor
from dpassay.trials.tasks import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalist:
    """A cell that is to be certified.

    Place, direction, event and test, fixed before the certification trials; and what an e-process
    of it is about, if there is one.
    """

    group: int
    pair: int
    query: int
    direction: int
    event: int
    looked: Looked
    gamble: Gamble | None

    @property
    def method(self) -> Any:
        """The test."""
        return self.looked.method

    @property
    def place(self) -> tuple[int, int, int]:
        """Group, pair and query."""
        return self.group, self.pair, self.query


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Screened:
    """Counts of the screening trials of every group, which no claim has been held against yet.

    `sizes` are the trials per dataset, group by group, and `left` how many more there will be
    unless the first ones are enough; `whole` holds the screening with these, once they are drawn.
    `counts` are arrays (2, P, q, K) per group: side (base, neighbour), pair, query, symbol. `lots`
    holds certification trials call by call, by lot and dataset, and is filled as claims ask for
    them, the same for all; `fresh` is what the guards have drawn besides.
    """

    sizes: tuple[int, ...]
    counts: tuple[NDArray[np.int64], ...]
    left: tuple[int, ...] = ()
    lots: dict[Lot, dict[Place, Counts]] = field(default_factory=dict)
    fresh: Fresh = field(default_factory=dict)
    whole: list[Screened] = field(default_factory=list)

    @property
    def draws(self) -> int:
        """Trials per dataset, at least."""
        return min(self.sizes)

    def of(self, place: Place) -> NDArray[np.int64]:
        """Counts (q, K) of the screening trials of a dataset."""
        g, pair = place
        found: NDArray[np.int64] = self.counts[g][0, 0] if pair is None else self.counts[g][1, pair]
        return found

    @property
    def certification_trials(self) -> int:
        """Runs of the mechanism since the screening, those of the guards apart."""
        return sum(size * len(found) for (_, size, _), found in self.lots.items())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Certification:
    """Trials that the bounds of one claim are made of.

    `counts` has an array (q, K) for every dataset. Nothing of the lots in `before`, drawn before an
    e-process refuted the claim, is in it.
    """

    counts: dict[Place, NDArray[np.int64]]
    lots: tuple[Lot, ...]
    before: tuple[Lot, ...] = ()
    stopped: Stopped | None = None

    def of(self, finalist: Finalist) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Counts (K,) of a finalist on the two sides, in its direction."""
        base, neighbour = (
            self.counts[finalist.group, pair][finalist.query] for pair in (None, finalist.pair)
        )
        return (neighbour, base) if finalist.direction else (base, neighbour)

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """Phases and sizes of the lots, if it is not the one that it usually is."""
        return () if len(self.lots) == 1 and self.stopped is None else parts(self.lots)


def certify(
    executor: Executor,
    finalists: list[Finalist],
    screened: Screened,
    sizes: tuple[int, ...],
    spending: Spending,
    progress: Progress,
) -> Certification:
    """Draw trials of every finalist's pair, lot by lot, until one is refuted or all are drawn.

    If one is refuted, draw the fresh trials that its bounds are made of.

    `screened`: keeps what is drawn. `sizes`: of the lots; a look follows each but the last.
    `spending`: says what refutes at a look.
    """
    looks = len(sizes) - 1
    found = stopped_within(executor, finalists, screened, sizes, looks, spending, progress)
    if found is not None:
        return found
    places, every = _places(finalists), _lots(sizes)
    _draw(executor, places, every[-1], screened, progress)
    return _certification(screened, places, every)


def stopped_within(
    executor: Executor,
    finalists: list[Finalist],
    screened: Screened,
    sizes: tuple[int, ...],
    looks: int,
    spending: Spending,
    progress: Progress,
) -> Certification | None:
    """Draw the first lots, up to so many looks; return what came if a look refutes, else None.

    The other arguments are those of `certify`.
    """
    places, every = _places(finalists), _lots(sizes)
    pairs = np.zeros((len(finalists), 4), dtype=np.int64)
    for k, lot in enumerate(every[:looks]):
        _draw(executor, places, lot, screened, progress)
        pairs += _dealt(executor, finalists, screened, lot)
        drawn = every[: k + 1]
        stopped = _refuted(finalists, pairs, drawn, sizes, spending)
        if stopped is not None:
            fresh = ("fresh", sizes[k + 1], k)
            _draw(executor, places, fresh, screened, progress)
            return _certification(screened, places, (fresh,), drawn, stopped)
    return None


def _places(finalists: list[Finalist]) -> list[tuple[int, int]]:
    return sorted({(finalist.group, finalist.pair) for finalist in finalists})


def _lots(sizes: tuple[int, ...]) -> tuple[Lot, ...]:
    return tuple(("certify", size, k) for k, size in enumerate(sizes))


def _draw(
    executor: Executor,
    places: list[tuple[int, int]],
    lot: Lot,
    screened: Screened,
    progress: Progress,
) -> None:
    """Draw a lot of every pair that has none of it yet, from states that are made anew."""
    phase, size, number = lot
    found = screened.lots.setdefault(lot, {})
    wanted = [place for place in places if place not in found]
    by_group = [
        (g, [pair for _, pair in places])
        for g, places in itertools.groupby(wanted, key=lambda place: place[0])
    ]
    sides = [(g, pair) for g, pairs in by_group for pair in (None, *pairs)]
    drawn = executor.drawn(
        [Task(group=g, pair=pair, phase=phase, size=size, lot=number) for g, pair in sides]
    )
    done = 0
    for g, pairs in by_group:
        found[g, None] = next(drawn)
        for pair in pairs:
            found[g, pair] = next(drawn)
            done += 1
            progress("certifying", done, len(wanted))


def _certification(
    screened: Screened,
    places: list[tuple[int, int]],
    lots: tuple[Lot, ...],
    before: tuple[Lot, ...] = (),
    stopped: Stopped | None = None,
) -> Certification:
    """Add up the lots that the bounds are made of."""
    datasets: set[Place] = {(g, pair) for g, other in places for pair in (None, other)}
    counts = {
        place: sum(
            (screened.lots[lot][place].calls.sum(axis=0) for lot in lots[1:]),
            screened.lots[lots[0]][place].calls.sum(axis=0),
        )
        for place in datasets
    }
    return Certification(counts=counts, lots=lots, before=before, stopped=stopped)


def _dealt(
    executor: Executor,
    finalists: list[Finalist],
    screened: Screened,
    lot: Lot,
) -> NDArray[np.int64]:
    """Deal the trials of a lot into pairs of both sides, call by call, shape (finalists, 4)."""
    phase, size, number = lot
    found = np.zeros((len(finalists), 4), dtype=np.int64)
    for place, finalist in enumerate(finalists):
        if finalist.gamble is None:
            raise TypeError("there is no e-process of this claim")
        base, neighbour = (
            screened.lots[lot][finalist.group, pair].calls[:, finalist.query]
            for pair in (None, finalist.pair)
        )
        one, other = (neighbour, base) if finalist.direction else (base, neighbour)
        task = Task(group=finalist.group, pair=finalist.pair, phase=phase, size=size, lot=number)
        rng = stream(*executor.stream(task), "dealt", finalist.query)
        x, y, n = one @ finalist.gamble.event, other @ finalist.gamble.event, one.sum(axis=1)
        found[place] = deal(x, y, n, rng).sum(axis=0)
    return found


def _refuted(
    finalists: list[Finalist],
    pairs: NDArray[np.int64],
    drawn: tuple[Lot, ...],
    sizes: tuple[int, ...],
    spending: Spending,
) -> Stopped | None:
    """Look at the e-process of every finalist."""
    values = [
        float(log_e_of(counts, finalist.gamble.allowed))
        for counts, finalist in zip(pairs, finalists, strict=True)
        if finalist.gamble is not None
    ]
    needed = threshold(spending.each_sequential)
    place = int(np.argmax(values))
    if values[place] < needed:
        return None
    worst = finalists[place]
    no_event, only_other, only_one, both = pairs[place].tolist()
    return Stopped(
        trials=sum(size for _, size, _ in drawn),
        of=sum(sizes),
        log_e=values[place],
        log_threshold=needed,
        pairs=(no_event, only_other, only_one, both),
        group=worst.group,
        pair=worst.pair,
        query=worst.query,
        parts=parts(drawn),
    )


def guards_over(
    executor: Executor,
    finalists: list[Finalist],
    groups: tuple[Group, ...],
    screened: Screened,
    alarm: float,
    trials: Certification,
) -> Guards:
    """Return the guards over all that has been drawn to certify these finalists.

    The largest lots come first: calls are compared where they have many rows.
    """
    places: set[Place] = {(f.group, pair) for f in finalists for pair in (None, f.pair)}
    lots = sorted((*trials.before, *trials.lots), key=lambda lot: -lot[1])
    ordered = [place for place in screened.lots[lots[0]] if place in places]
    return Guards(
        groups=groups,
        executor=executor,
        lots=tuple(lots),
        alarm=alarm,
        screened={place: screened.of(place) for place in ordered},
        certified={place: joined(screened.lots[lot][place] for lot in lots) for place in ordered},
        fresh=screened.fresh,
    )
