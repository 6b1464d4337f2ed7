"""Replaying a witness: what it names is made again, then its trials or laws, and its bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpassay.claims import Claim, claim_from_json
from dpassay.config.profiles import CONFIDENCE
from dpassay.data import Dataset, Labelled, Values, load, points, split
from dpassay.engine.exact import check_alike, readable
from dpassay.engine.kinds import kind_of
from dpassay.engine.preflight import CAN_FORK
from dpassay.engine.verdicts import apart
from dpassay.errors import InvalidInput, require
from dpassay.laws import FiniteLaw
from dpassay.numerics import DOWN, UNIT_ROUNDOFF, loss
from dpassay.pairs import Change, Pairs, change_from_json, changed_lines
from dpassay.record.rebound import recorded_trials
from dpassay.record.trust import file_of, foreign, shown
from dpassay.record.witness import witness_fault
from dpassay.rows.rows import Form, rows_from_json
from dpassay.search.declared import output_from_json
from dpassay.search.patterns import pattern_from_json
from dpassay.stats.betting import GRID
from dpassay.stats.scales import scale_of
from dpassay.targets.adapter import Freed
from dpassay.targets.coupled import as_audited
from dpassay.targets.groups import DIRECTIONS, PairGroup, as_asked
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import AnswerKind, resolve
from dpassay.trials.blocks import draw
from dpassay.trials.encoders import Bins, Coding, Labels, Matches, Rounded
from dpassay.trials.executors import ExecutorOptions, executor
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.isolation.target import introduced
from dpassay.trials.tasks import Task, TrialRunner
from dpassay.trials.threads import one_thread

Raw = Mapping[str, Any]
RawParts = Sequence[Raw]
"""Parts of trials as a witness has them: `phase` and `draws`."""
Tally = NDArray[np.int64]
"""How often each symbol was counted."""
Tallied = Callable[[RawParts], tuple[Tally, Tally]]
"""Draws parts of trials on both sides."""

TOLERANCE = 1e-9
"""By how much a leak that is computed again may differ, as a part of it if that is above 1."""
FRESH = "replay"
"""Phase of the trials that certify anew what has coins of its own."""
ENOUGH = 20_000
"""Of fewer trials per side, the first that refuted, four times as many are drawn anew, at most
these."""
BEFORE = {"alpha": (1 - CONFIDENCE) / 2, "method": "clopper-pearson"}
"""How a bound is made anew for a witness that does not say it."""
DAMAGES = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)
"""What a damaged witness raises, wherever it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The result of a replay."""

    loss: float  # exact, the plug-in of the counts drawn again, or the bound on fresh trials
    reproduced: bool  # the leak within 1e-9, or the same counts; on fresh trials, the same verdict
    refuted: bool
    expected: bool  # whether a refutation is no alarm
    words: str
    change: str = ""  # by the lines of the file; empty where there is no file
    fresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayCase:
    """A witness, and what it names."""

    witness: Raw
    subject: AuditTarget
    claim: Claim
    place: PairGroup
    change: Change
    coding: Coding
    weights: NDArray[np.int64]  # of the symbols: 1 inside the event

    @property
    def recorded(self) -> float:
        """Return the leak that the witness shows."""
        return float(self.witness["loss"])

    @property
    def flipped(self) -> bool:
        """Return whether the leak is from the neighbour to the dataset."""
        return DIRECTIONS.index(self.witness["direction"]) == 1

    def found(self, value: float, words: str, *, same: bool, refuted: bool) -> Replay:
        """Return what a replay of this case found on trials."""
        return Replay(
            loss=value,
            reproduced=same,
            refuted=refuted,
            expected=self.claim.expected == "refuted",
            words=words,
            change=str(self.change) if changed_lines(self.change) else "",
        )


def replay(
    witness: Raw,
    *,
    file: str | None = None,
    target: AuditTarget | None = None,
    group: PairGroup | None = None,
    trusted: bool = False,
) -> Replay:
    """Run one witness from `make_witness` again, alone.

    `file` is where the witness's CSV file lies now; its contents are compared by their SHA-256.
    `target` and `group` are what to run, and on what, if the witness cannot name or carry it. A
    `trusted` witness may run the code, and read the file, that it names: one from somebody else
    could name any. What does not come with dpassay runs in a process of its own.

    Raise InvalidInput if the witness is damaged, or the data are missing or are not the ones it was
    made from.
    """
    wrong = witness_fault(witness)
    if wrong:
        raise InvalidInput(f"the witness is damaged: {wrong}")
    with ExitStack() as stack:
        if not trusted:
            _refuse(witness, given=target is not None, read=file is None and group is None)
        try:
            case = _case(witness, file, target, group, stack)
        except InvalidInput:
            raise
        except DAMAGES as error:
            why = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise InvalidInput(f"the witness is damaged: {why}") from None
        with one_thread():
            if isinstance(case.coding, Matches):
                with _drawn_there(case) as tally:
                    return _judged(case, tally)
            state = case.subject.prepare(case.place.pairs.base)
            neighbour = case.subject.neighbour(case.place.pairs.base, state, case.change)
            sides: list[tuple[Any, Change | None]] = [(state, None), (neighbour, case.change)]
            if case.flipped:
                sides.reverse()
            if witness["trials"] is None:
                return _computed_again(case, sides)
            return _judged(case, _drawn_here(case, sides))


def _refuse(witness: Raw, *, given: bool, read: bool) -> None:
    """Raise `InvalidInput` if a witness runs, or reads, what only its author has chosen."""
    code, path = foreign(witness), file_of(witness)
    if code and not given:
        raise InvalidInput(
            f"the witness runs {', '.join(code)}, which does not come with dpassay; if you know "
            "it, allow it with --trust (trusted=True)"
        )
    if path and read:
        raise InvalidInput(
            f"the witness reads the file {shown(path)}; say which one it is with --data FILE "
            "(file=...), or allow it with --trust (trusted=True)"
        )


def _case(
    witness: Raw,
    file: str | None,
    target: AuditTarget | None,
    group: PairGroup | None,
    stack: ExitStack,
) -> ReplayCase:
    """Make again what a witness names: target, claim, data, change and how answers are counted."""
    claim = claim_from_json(witness["claim"], witness["expected"])
    found = group if group is not None else _group(witness, file)
    form = getattr(found.pairs.base, "form", None)
    subject = target if target is not None else _subject(witness, claim, form, stack)
    place = as_asked(subject, found)
    base, pool, queries = place.pairs.base, place.pairs.pool, len(place.queries)
    if base.digest != witness["data"]["sha256"]:
        raise InvalidInput(
            "the data are not those the witness was made from: their SHA-256 differs"
        )
    made = group is None
    change = place.pairs.changes[0] if made else change_from_json(witness["change"], pool)
    # it must be a change of these data
    Pairs(base=base, changes=(change,), how="replay", relation=claim.relation)
    change.apply(base)
    coding, weights = _counted(subject, witness["event"], queries)
    require(witness["query"] < queries, "query", witness["query"], f"in 0..{queries - 1}")
    return ReplayCase(
        witness=witness,
        subject=subject,
        claim=claim,
        place=place,
        change=change,
        coding=coding,
        weights=weights,
    )


def _subject(witness: Raw, claim: Claim, form: Form | None, stack: ExitStack) -> AuditTarget:
    """Build what a witness names: a user's own in another process, which ends with the stack."""
    if witness["target"] is None:
        raise InvalidInput(
            f"'{witness['name']}' cannot be made again from what a witness holds: replay it from "
            "Python"
        )
    numbers = witness["numbers"]
    free = witness.get("free")
    answers = AnswerKind(
        labels=tuple(witness["labels"]),
        numbers=None if numbers is None else (float(numbers[0]), float(numbers[1])),
        free=free is not None,
        together=bool(free and free["together"]),
        columns=free["together"] if free else 0,
        label=None if form is None else form.label,
        group=None if form is None else form.group,
        output=None if free is None else output_from_json(free.get("output")),
    )

    def build() -> AuditTarget:
        told = witness["parameters"], (claim,), answers
        found = resolve(witness["target"], *told, name=witness["name"])
        # a law that a search has read: of records in any form
        read = form is not None and free is None and witness["trials"] is None
        return replace(found, mechanism=Freed(found.mechanism, free=False)) if read else found

    if CAN_FORK and foreign(witness):
        known = {"address": witness["target"], "parameters": witness["parameters"]}
        elsewhere = introduced(witness["name"], build, Limits(), **known)
        stack.callback(elsewhere.hosts.close)
        return as_audited(replace(elsewhere, claims=(claim,)), claim)
    return as_audited(build(), claim)


def _group(witness: Raw, file: str | None) -> PairGroup:
    """Make the data of a witness again, with the changed records and the queries."""
    data, pool, lines = witness["data"], None, None
    base: Dataset
    if data["kind"] == "rows":
        base = rows_from_json(data)
    elif data["kind"] == "values":
        base = Values(data["values"])
    elif data["kind"] == "inline":
        base = Labelled(data["X"], data["y"])
    elif data["kind"] == "source":
        source, cut = data["source"], data["source"]["split"]
        parts = split(
            load(file or source["name"], source.get("target")),
            train=cut["train"],
            queries=cut["queries"],
            train_queries=cut.get("train_queries", 0),
            seed=cut["seed"],
        )
        base, pool, lines = parts.train, parts.pool, parts.lines
    else:
        raise InvalidInput(
            "the data of this witness lived in memory only: replay it from Python with the same "
            "pairs and queries"
        )
    asked = data["kind"] != "source" or "queries" in data
    queries = points(data["queries"], "queries") if asked else parts.queries
    pairs = Pairs(
        base=base,
        changes=(change_from_json(witness["change"], pool),),
        how="replay",
        pool=pool,
        relation=witness["claim"]["relation"],
    )
    return PairGroup(pairs=pairs.in_file(lines), queries=queries, kind="data", reason="replay")


def _counted(subject: AuditTarget, event: Any, queries: int) -> tuple[Coding, NDArray[np.int64]]:
    """Return how answers are counted, and the symbols' weights, 1 inside the event."""
    if isinstance(event, dict) and "pattern" in event:
        pattern = pattern_from_json(event["pattern"])
        return Matches(pattern=pattern, by_query=subject.by_query), np.array([0, 1])
    if isinstance(event, dict):
        ((kind, threshold),) = event.items()
        require(kind in ("at_least", "below"), "event", event, "at_least or below a threshold")
        above = kind == "at_least"
        return Bins(np.full((queries, 1), float(threshold))), np.array(
            [not above, above], dtype=np.int64
        )
    if subject.numbers is not None:
        require(event == [], "event", event, "a half-line, or empty where the claim is about means")
        return Rounded(*subject.numbers), np.arange(GRID + 1)
    inside = np.isin(subject.labels, event)
    require(inside.sum() == len(event) > 0, "event", event, f"labels out of {subject.labels}")
    return Labels(subject.labels), inside.astype(np.int64)


def _computed_again(case: ReplayCase, sides: Sequence[tuple[Any, Change | None]]) -> Replay:
    """Compute the leak of a witness again: of an event, of all events, or of a prediction."""
    claim, recorded, query = case.claim, case.recorded, case.witness["query"]
    laws = []
    for state, change in sides:
        law = case.subject.law(state, case.place.queries, "S" if change is None else "S'")
        if law is None:
            raise InvalidInput(
                f"{case.subject.name} has no exact law any more for the data of this witness"
            )
        laws.append(law)
    check_alike(laws[0], laws[1], "S'")
    leaks = readable(case.subject, claim, laws[0])
    one, other = (law.table[query] for law in laws)
    error = max(law.error for law in laws)
    if isinstance(laws[0], FiniteLaw):
        event = case.weights > 0
        one, other = (
            np.array([logsumexp(log_p[~event]), logsumexp(log_p[event])]) for log_p in (one, other)
        )
        error += UNIT_ROUNDOFF * len(event)
    found = leaks.loss(one, other, error)
    value = float(found.value)
    return Replay(
        loss=value,
        reproduced=value == recorded or abs(value - recorded) <= TOLERANCE * max(1.0, recorded),
        refuted=float(found.certain) > claim.promised and claim.status != "measured",
        expected=claim.expected == "refuted",
        words=f"{claim.quantity} {value:.12g}, recorded {recorded:.12g}",
    )


def _judged(case: ReplayCase, tally: Tallied) -> Replay:
    """Hold trials against a witness: the same ones, or fresh ones where its coins are not ours.

    On fresh trials the leak of its event is bounded anew, by the test of the record.
    """
    trials, claim, recorded = case.witness["trials"], case.claim, case.recorded
    own = trials.get("own_coins")
    if own is None and case.subject.seeded:
        return _compared(case, trials, tally)
    own = dict(own or BEFORE)
    before = int(trials["draws"])
    one, other = tally([{"phase": FRESH, "draws": max(before, min(4 * before, ENOUGH))}])
    held: Raw
    if isinstance(case.coding, Rounded):
        answers, limits = {"one": one.tolist(), "other": other.tolist()}, case.coding
        more = {"spreads": own["spreads"], "limits": (limits.low, limits.high)}
        held, seen = {"histograms": answers | more}, ""
    else:
        n, x, y = int(one.sum()), int(one @ case.weights), int(other @ case.weights)
        seen = f" ({x:,} of {n:,} against {y:,} of {n:,})"
        held = {"counts": {"x": x, "n1": n, "y": y, "n0": n}}
    cell = recorded_trials({"method": own["method"], **held})
    value = kind_of(claim).lower_again(cell, float(own["alpha"]))
    refuted = value > claim.promised
    same = refuted == (recorded > claim.promised)
    measured = claim.status == "measured"
    least, allowed = apart(value, claim.promised, DOWN)
    recalled = "" if same else f", recorded {loss(recorded, DOWN)}"
    limit = "" if measured else f", the claim allows {allowed}"
    words = f"on fresh trials the {claim.quantity} is at least {least}{seen}{recalled}{limit}"
    found = case.found(value, words, same=same, refuted=refuted and not measured)
    return replace(found, fresh=True)


def _compared(case: ReplayCase, trials: Raw, tally: Tallied) -> Replay:
    """Hold counts, or sums of grid points, against those of a witness."""
    claim, coding, n = case.claim, case.coding, int(trials["draws"])

    def counted(parts: RawParts) -> tuple[int, int]:
        one, other = tally(parts)
        return int(one @ case.weights), int(other @ case.weights)

    x, y = counted(trials.get("parts") or [{"phase": "certify", "draws": n}])
    same = (x, y) == (trials["x"], trials["y"])
    if isinstance(coding, Rounded):
        low, width = coding.low, coding.high - coding.low
        first, second = (low + width * total / (n * GRID) for total in (x, y))
        value = max(0.0, first - second)
        words = f"means {first:.6g} and {second:.6g} of {n} runs each"
    else:
        value = max(0.0, float(scale_of(claim).between(x / n, y / n)))
        words = f"{x} of {n} against {y} of {n}, recorded {trials['x']} against {trials['y']}"
    refuted = same and case.recorded > claim.promised
    return case.found(value, words, same=same, refuted=refuted)


def _drawn_here(case: ReplayCase, sides: Sequence[tuple[Any, Change | None]]) -> Tallied:
    """Return what draws parts of the trials, and counts the symbols answered on both sides."""
    seed, query = int(case.witness["trials"]["seed"]), case.witness["query"]

    def counted(state: Any, side: Change | None, part: Raw) -> Tally:
        size, phase = int(part["draws"]), part["phase"]
        every: Tally = draw(
            case.subject, state, case.place, side, size, case.coding, phase=phase, seed=seed
        )[query]
        return every

    def tally(parts: RawParts) -> tuple[Tally, Tally]:
        one, other = (
            np.sum([counted(state, side, part) for part in parts], axis=0) for state, side in sides
        )
        return one, other

    return tally


@contextmanager
def _drawn_there(case: ReplayCase) -> Iterator[Tallied]:
    """Draw the trials of a learned event where the mechanism runs."""
    trials, query = case.witness["trials"], case.witness["query"]
    require(trials is not None, "the witness", "no trials", "trials, as its event was learned")
    group = replace(case.place, pairs=replace(case.place.pairs, changes=(case.change,)))
    runner = TrialRunner(case.subject, (group,), (case.coding,), int(trials["seed"]))
    with executor(runner, ExecutorOptions()) as opened:

        def tally(parts: RawParts) -> tuple[Tally, Tally]:
            """Count answers outside and inside the event, on both sides, in parts of the trials."""
            tasks = [
                Task(group=0, pair=pair, phase=part["phase"], size=int(part["draws"]))
                for pair in ((0, None) if case.flipped else (None, 0))
                for part in parts
            ]
            found = [counts[query] for counts in opened.counts(tasks)]
            half = len(parts)
            return sum(found[1:half], found[0]), sum(found[half + 1 :], found[half])

        yield tally
