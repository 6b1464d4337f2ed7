"""Replaying a witness: its trials again, its bound again, and its digests."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpassay.changes import Change, change_from_json, changed_lines
from dpassay.claims import Claim, claim_from_json
from dpassay.config.profiles import CONFIDENCE
from dpassay.data import Dataset, Labelled, Values, load, points, split
from dpassay.engine.apart import CAN_FORK
from dpassay.engine.exact import check_alike, readable
from dpassay.engine.kinds import kind_of
from dpassay.engine.testers.interface import Recorded
from dpassay.engine.verdicts import apart
from dpassay.errors import InvalidInput, require
from dpassay.laws import FiniteLaw, Law
from dpassay.numerics import DOWN, UNIT_ROUNDOFF, loss
from dpassay.pairs import Pairs
from dpassay.record.files import trust_of
from dpassay.record.witness import witness_fault
from dpassay.rows.rows import rows_from_json
from dpassay.search.declared import output_from_json
from dpassay.search.patterns import pattern_from_json
from dpassay.stats.betting import GRID
from dpassay.stats.bounds import Counts, Histograms
from dpassay.stats.divergence import Loss
from dpassay.stats.eprocess import log_e_of
from dpassay.stats.scales import scale_of
from dpassay.targets.coupled import as_audited
from dpassay.targets.groups import DIRECTIONS, Group
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import Answers, resolve
from dpassay.trials.blocks import draw
from dpassay.trials.encoders import Bins, Coding, Labels, Rounded
from dpassay.trials.executors import ExecutorOptions, executor
from dpassay.trials.isolation.introduce import introduced
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.kept import Matches
from dpassay.trials.tasks import Task, TrialRunner
from dpassay.trials.threads import one_thread

TOLERANCE = 1e-9
RawParts = Sequence[Mapping[str, Any]]
"""The same as a witness has it."""
Tally = NDArray[np.int64]
"""How often each symbol was counted."""
Tallied = Callable[[RawParts], tuple[Tally, Tally]]
"""Draws parts of trials on both sides."""
FRESH = "replay"
"""Phase of the trials that certify anew what has coins of its own."""
BEFORE = {"alpha": (1 - CONFIDENCE) / 2, "method": "clopper-pearson"}
"""How a bound is made anew for a witness of before 0.2, which does not say it."""


def _dataset(data: Mapping[str, Any]) -> Dataset:
    if data["kind"] == "rows":
        return rows_from_json(data)
    return Values(data["values"]) if data["kind"] == "values" else Labelled(data["X"], data["y"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a replay found.

    Parameters
    ----------
    loss : float
        The number found now: the exact leak, the plug-in leak of the counts drawn again, or the
        lower bound certified on fresh trials.
    reproduced : bool
        Whether it is the recorded one: the leak within 1e-9, or the same counts. On fresh trials:
        whether the claim is refuted again, or again not.
    refuted : bool
        Whether the exact leak exceeds the claim, or the recorded lower bound did, or an e-process
        refuted it, and the counts are the same. On fresh trials: whether the bound exceeds the
        claim.
    expected : bool
        Whether the claim is declared wrong, so that a refutation is no alarm.
    words : str
        The comparison in one line.
    change : str
        What was changed, told by the lines that the file has now; empty where there is no file.
    fresh : bool
        Whether the coins are not ours, so that the leak was certified again on fresh trials.
    """

    loss: float
    reproduced: bool
    refuted: bool
    expected: bool
    words: str
    change: str = ""
    fresh: bool = False


def replay(
    witness: Mapping[str, Any],
    *,
    file: str | None = None,
    target: AuditTarget | None = None,
    group: Group | None = None,
    trusted: bool = False,
) -> Replay:
    """Run one witness again, alone.

    Parameters
    ----------
    witness : mapping
        From `make_witness`.
    file : str, optional
        Where the witness's CSV file lies now; its contents are compared by their SHA-256.
    target : AuditTarget, optional
        What to run, if the witness cannot name it.
    group : Group, optional
        The pairs and queries, if the witness neither carries nor names them.
    trusted : bool
        Whether the witness may start the program, or ask the service, that it names: a file from
        somebody else could name any.

    Returns
    -------
    Replay

    Raises
    ------
    InvalidInput
        If the witness is damaged, or the data are missing or are not the ones it was made from.
    """
    wrong = witness_fault(witness)
    if wrong:
        raise InvalidInput(f"the witness is damaged: {wrong}")
    with ExitStack() as stack:
        if target is None and not trusted:
            _refuse_commands(witness)
        return _replayed(witness, file, target, group, stack)


def _refuse_commands(witness: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` if a witness would start a program, or ask a service."""
    parameters = witness["parameters"]
    if trust_of(witness):
        what = str(parameters.get("command") or parameters.get("url") or witness["target"])
        raise InvalidInput(
            f"the witness names '{what:.80}', which runs outside of dpassay; if you know it, "
            "allow it with --trust (trusted=True)"
        )


def _replayed(
    witness: Mapping[str, Any],
    file: str | None,
    target: AuditTarget | None,
    group: Group | None,
    stack: ExitStack,
) -> Replay:
    try:
        claim = claim_from_json(witness["claim"], witness["expected"])
        subject = target if target is not None else _subject(witness, claim, stack)
        place = group if group is not None else _group(witness, file)
        if place.pairs.base.digest != witness["data"]["sha256"]:
            raise InvalidInput(
                "the data are not those the witness was made from: their SHA-256 differs"
            )
        if group is None:
            change = place.pairs.changes[0]
        else:
            change = change_from_json(witness["change"], place.pairs.pool)
        Pairs(
            base=place.pairs.base, changes=(change,), how="replay", relation=claim.relation
        )  # it must be a change of these data
        change.apply(place.pairs.base)
        coding, weights = _counted(subject, witness["event"], len(place.queries))
        query, flip, trials = (
            witness["query"],
            DIRECTIONS.index(witness["direction"]) == 1,
            witness["trials"],
        )
        recorded = float(witness["loss"])
        require(0 <= query < len(place.queries), "query", query, f"in 0..{len(place.queries) - 1}")
    except (
        AttributeError,
        LookupError,
        OverflowError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"the witness is damaged: {type(error).__name__} {error}") from None

    with one_thread():
        if isinstance(coding, Matches):
            return _matched(witness, subject, claim, place, change, coding, weights)
        base = place.pairs.base
        state = subject.prepare(base)
        neighbour = subject.neighbour(base, state, change)
        if trials is None:
            laws = [
                _law(subject, each, place, where)
                for each, where in ((state, "S"), (neighbour, "S'"))
            ]
            found = _exact(subject, claim, laws[::-1] if flip else laws, weights > 0, query)
            value = float(found.value)
            if claim.computed and "excess" not in witness["claim"]:
                value = max(value, 0.0)  # so errors below 0 were written down before 0.2
            same = value == recorded or abs(value - recorded) <= TOLERANCE * max(1.0, recorded)
            return Replay(
                loss=value,
                reproduced=same,
                refuted=float(found.certain) > claim.promised and claim.status != "measured",
                expected=claim.expected == "refuted",
                words=f"{claim.quantity} {value:.12g}, recorded {recorded:.12g}",
            )
        seed = int(trials["seed"])
        sides = ((state, None), (neighbour, change))
        tally = partial(_again, subject, sides[::-1] if flip else sides, place, coding, query, seed)
        return _judged(witness, subject, claim, coding, weights, change, tally)


def _matched(
    witness: Mapping[str, Any],
    subject: AuditTarget,
    claim: Claim,
    place: Group,
    change: Change,
    coding: Matches,
    weights: Tally,
) -> Replay:
    """Draw the trials of a learned event again, where the mechanism runs."""
    trials = witness["trials"]
    require(trials is not None, "the witness", "no trials", "trials, as its event was learned")
    group = replace(place, pairs=replace(place.pairs, changes=(change,)))
    runner = TrialRunner(subject, (group,), (coding,), int(trials["seed"]))
    query, flip = witness["query"], witness["direction"] == DIRECTIONS[1]

    def tally(parts: RawParts) -> tuple[Tally, Tally]:
        """Count answers outside and inside the event, on both sides, in parts of the trials."""
        tasks = [
            Task(group=0, pair=pair, phase=part["phase"], size=int(part["draws"]))
            for pair in ((0, None) if flip else (None, 0))
            for part in parts
        ]
        found = [counts[query] for counts in opened.counts(tasks)]
        return sum(found[1 : len(parts)], found[0]), sum(found[len(parts) + 1 :], found[len(parts)])

    with executor(runner, ExecutorOptions()) as opened:
        return _judged(witness, subject, claim, coding, weights, change, tally)


def _judged(
    witness: Mapping[str, Any],
    subject: AuditTarget,
    claim: Claim,
    coding: Coding,
    weights: Tally,
    change: Change,
    tally: Tallied,
) -> Replay:
    """Hold trials against a witness: the same ones, or fresh ones where its coins are not ours."""
    own = witness["trials"].get("own_coins")
    if own is None and subject.seeded:
        return _compared(witness, claim, coding, weights, change, tally)
    return _certified(witness, claim, own or BEFORE, coding, weights, change, tally)


def _certified(
    witness: Mapping[str, Any],
    claim: Claim,
    own: Mapping[str, Any],
    coding: Coding,
    weights: Tally,
    change: Change,
    tally: Tallied,
) -> Replay:
    """Bound the leak of the witness's event anew, on fresh trials, by the test of the record."""
    trials, recorded = witness["trials"], float(witness["loss"])
    one, other = tally([{"phase": FRESH, "draws": int(trials["draws"])}])
    if isinstance(coding, Rounded):
        spread = tuple(map(float, own["spreads"]))
        histograms = Histograms(
            one=tuple(one.tolist()),
            other=tuple(other.tolist()),
            spreads=(spread[0], spread[1]),
            limits=(coding.low, coding.high),
        )
        cell, seen = Recorded(method=own["method"], counts=None, histograms=histograms), ""
    else:
        n, x, y = int(one.sum()), int(one @ weights), int(other @ weights)
        counts = Counts(x=x, n1=n, y=y, n0=n)
        cell = Recorded(method=own["method"], counts=counts, histograms=None)
        seen = f" ({x:,} of {n:,} against {y:,} of {n:,})"
    value = kind_of(claim).lower(cell, float(own["alpha"]))
    refuted, before = (
        value > claim.promised,
        recorded > claim.promised or "stopped_early" in witness,
    )
    least, allowed = apart(value, claim.promised, DOWN)
    recalled = "" if refuted == before else f", recorded {loss(recorded, DOWN)}"
    limit = "" if claim.status == "measured" else f", the claim allows {allowed}"
    return Replay(
        loss=value,
        reproduced=refuted == before,
        refuted=refuted and claim.status != "measured",
        expected=claim.expected == "refuted",
        words=f"on fresh trials the {claim.quantity} is at least {least}{seen}{recalled}{limit}",
        change=str(change) if changed_lines(change) else "",
        fresh=True,
    )


def _compared(
    witness: Mapping[str, Any],
    claim: Claim,
    coding: Coding,
    weights: Tally,
    change: Change,
    tally: Tallied,
) -> Replay:
    """Hold counts, or sums of grid points, against those of a witness."""
    trials, recorded = witness["trials"], float(witness["loss"])
    n = int(trials["draws"])

    def counted(parts: RawParts) -> tuple[int, int]:
        one, other = tally(parts)
        return int(one @ weights), int(other @ weights)

    x, y = counted(trials.get("parts") or [{"phase": "certify", "draws": n}])
    same, stopped = (x, y) == (trials["x"], trials["y"]), "stopped_early" in witness
    if stopped:
        same &= _refuted_early(witness["stopped_early"], claim, counted)
    if isinstance(coding, Rounded):
        low, width = coding.low, coding.high - coding.low
        first, second = (low + width * total / (n * GRID) for total in (x, y))
        value, words = (
            max(0.0, first - second),
            f"means {first:.6g} and {second:.6g} of {n} runs each",
        )
    else:
        value = max(0.0, float(scale_of(claim).between(x / n, y / n)))
        words = f"{x} of {n} against {y} of {n}, recorded {trials['x']} against {trials['y']}"
    return Replay(
        loss=value,
        reproduced=same,
        refuted=same and (stopped or recorded > claim.promised),
        expected=claim.expected == "refuted",
        words=words,
        change=str(change) if changed_lines(change) else "",
    )


def _again(
    subject: AuditTarget,
    sides: Iterable[tuple[Any, Change | None]],
    place: Group,
    coding: Coding,
    query: int,
    seed: int,
    parts: RawParts,
) -> tuple[Tally, Tally]:
    """Draw parts of the trials, and count the symbols of the answers on both sides."""
    one, other = (
        np.sum(
            [
                draw(
                    subject,
                    state,
                    place,
                    side,
                    int(part["draws"]),
                    coding,
                    phase=part["phase"],
                    seed=seed,
                )[query]
                for part in parts
            ],
            axis=0,
        )
        for state, side in sides
    )
    return one, other


def _refuted_early(
    early: Mapping[str, Any],
    claim: Claim,
    counted: Callable[[RawParts], tuple[int, int]],
) -> bool:
    """Whether the trials that an e-process saw come out again, and refute the claim.

    How they were dealt into pairs is taken from the witness.
    """
    _, only_other, only_one, both = early["pairs"]
    reached = float(log_e_of(early["pairs"], scale_of(claim).allowed(claim.promised)))
    return (
        counted(early["parts"]) == (only_one + both, only_other + both)
        and reached >= math.log(early["threshold"]) - TOLERANCE
    )


def _counted(subject: AuditTarget, event: Any, queries: int) -> tuple[Coding, NDArray[np.int64]]:
    """Return how answers are counted, and the weights of the symbols in what is compared.

    1 inside the event.
    """
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


def _subject(witness: Mapping[str, Any], claim: Claim, stack: ExitStack) -> AuditTarget:
    """Build what a witness names: a user's own in another process, which ends with the stack."""
    if witness["target"] is None:
        raise InvalidInput(
            f"'{witness['name']}' cannot be made again from what a witness holds: replay it from "
            "Python"
        )
    numbers = witness["numbers"]
    free = witness.get("free")
    answers = Answers(
        labels=tuple(witness["labels"]),
        numbers=None if numbers is None else (float(numbers[0]), float(numbers[1])),
        free=free is not None,
        together=0 if free is None else free["together"],
        output=None if free is None else output_from_json(free.get("output")),
    )
    build = partial(
        resolve, witness["target"], witness["parameters"], (claim,), answers, name=witness["name"]
    )
    named = [witness["target"], *witness["parameters"].values()]
    if CAN_FORK and any(isinstance(text, str) and ":" in text for text in named):
        elsewhere = introduced(witness["name"], build, Limits())
        stack.callback(elsewhere.hosts.close)
        return as_audited(elsewhere, claim)
    subject = build()
    return as_audited(subject, claim)


def _group(witness: Mapping[str, Any], file: str | None) -> Group:
    data = witness["data"]
    pool = lines = None
    base: Dataset
    if data["kind"] in ("inline", "values", "rows"):
        base, queries = _dataset(data), points(data["queries"], "queries")
    elif data["kind"] == "source":
        source, cut = data["source"], data["source"]["split"]
        table = load(file or source["name"], source.get("target"))
        sizes = {
            "train": cut["train"],
            "queries": cut["queries"],
            "train_queries": cut.get("train_queries", 0),
        }
        parts = split(table, **sizes, seed=cut["seed"])
        base, pool, lines = parts.train, parts.pool, parts.lines
        queries = points(data["queries"], "queries") if "queries" in data else parts.queries
    else:
        raise InvalidInput(
            "the data of this witness lived in memory only: replay it from Python with the same "
            "pairs and queries"
        )
    change = change_from_json(witness["change"], pool)
    pairs = Pairs(
        base=base,
        changes=(change,),
        how="replay",
        pool=pool,
        relation=witness["claim"]["relation"],
    )
    return Group(
        pairs=pairs.in_file(lines),
        queries=queries,
        kind="data",
        reason="replay",
    )


def _exact(
    subject: AuditTarget, claim: Claim, laws: list[Law], event: NDArray[np.bool_], query: int
) -> Loss:
    """Compute the leak from the first law to the other.

    Of an event of labels, of all events of numbers, or of the prediction.
    """
    check_alike(laws[0], laws[1], "S'")
    leaks, (one, other) = readable(subject, claim, laws[0]), (law.table[query] for law in laws)
    error = max(law.error for law in laws)
    if isinstance(laws[0], FiniteLaw):
        one, other = (
            np.array([logsumexp(log_p[~event]), logsumexp(log_p[event])]) for log_p in (one, other)
        )
        error += UNIT_ROUNDOFF * len(event)
    return leaks.loss(one, other, error)


def _law(subject: AuditTarget, state: Any, place: Group, where: str) -> Law:
    law: Law | None = subject.law(state, place.queries, where)
    if law is None:
        raise InvalidInput(f"{subject.name} has no exact law any more for the data of this witness")
    return law
