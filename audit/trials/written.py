"""What a process of a user's code answers: one schema for each message, and what is made of it.

Results that are dataclasses (laws, counts) are schemas themselves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dpassay.claims import Claim, claim_from_json
from dpassay.data import Dataset, Labelled, Values, points
from dpassay.errors import DpassayError, InvalidInput, TargetError, printable, require, told
from dpassay.laws import FiniteLaw, Law, NoiseLaw, PointLaw
from dpassay.mechanism import Reachable, WorstCase
from dpassay.pairs import (
    AnyOf,
    Change,
    Edit,
    FlipLabel,
    Pairs,
    Replace,
    ReplaceValue,
    Several,
    Shift,
    change_from_json,
)
from dpassay.promise import Status
from dpassay.rows.columns import value_from_json
from dpassay.rows.rows import Form, Rows
from dpassay.trials.blocks import rows_of_calls
from dpassay.trials.encoders import Pilot
from dpassay.trials.tasks import Shard, ShardBrief, ShardResult
from dpassay.trials.wire import Count, Garbled, Line, Message, Text, read

INLINE = "use executor 'inline'"
LAWS = {kind.__name__: kind for kind in (FiniteLaw, PointLaw, NoiseLaw)}
Named = Annotated[dict[Line, bool | int | float | Text | None], Meta(max_length=1000)]
Words = Annotated[tuple[Line, ...], Meta(max_length=1000)]
Relation = Annotated[str, Meta(max_length=100)]
Label = Annotated[int, Meta(ge=-(1 << 53), le=1 << 53)]
Array = np.ndarray[Any, Any]


class Elsewhere(Exception):
    """What was raised in another process; the text is its traceback."""


class Outcome(Message):
    """What came of something that was asked: `done`, or why it was not done."""

    done: Any = None
    invalid: Line = ""
    cause: Line = ""
    raised: Line = ""  # the type of any other exception
    detail: Text = ""
    differs: Line = ""  # how a worker's installation is another one

    def result(self, what: str = "") -> Any:
        """Return what was done; raise `InvalidInput` or `TargetError` if it was not."""
        if self.invalid:
            raise InvalidInput(self.invalid) from Elsewhere(self.detail)
        if self.cause or self.raised:
            raise TargetError(self.cause or f"{what}{self.raised} was raised", self.detail)
        return self.done


def outcome_of(work: Callable[[], Any]) -> dict[str, Any]:
    """Do something, and return what came of it as an `Outcome` says it."""
    try:
        return {"done": work()}
    except InvalidInput as error:
        return {"invalid": printable(str(error)), "detail": told(error)}
    except TargetError as error:
        return {"cause": printable(error.cause), "detail": error.detail}
    except DpassayError as error:
        return {"cause": printable(str(error)), "detail": told(error)}


class ClaimMessage(Message):
    """A claim, without what was expected of it: that is nothing a mechanism says."""

    kind: Line
    relation: Relation
    unit: Line
    coins: Line
    source: Text
    status: Status
    epsilon: float | None = None
    delta: float | None = None
    mu: float | None = None
    gamma: float | None = None
    beta1: float | None = None
    beta2: float | None = None
    bound: float | None = None
    excess: bool | None = None
    curve: dict[str, Any] | None = None

    def claim(self) -> Claim:
        """Return the claim."""
        facts = {name: getattr(self, name) for name in self.__struct_fields__}
        return claim_from_json({name: value for name, value in facts.items() if value is not None})


class Description(Message):
    """What a mechanism is, as its process says; see `dpassay.mechanism.Mechanism`."""

    name: Line
    target: Line | None
    parameters: Named
    claims: Annotated[tuple[ClaimMessage, ...], Meta(min_length=1, max_length=1000)]
    labels: Annotated[tuple[Label, ...], Meta(max_length=1 << 20)]
    numbers: tuple[float, float] | None
    has: Words
    without_query: bool
    free: bool
    seeded: bool
    together: Count
    output: Any
    one_query: bool
    exchangeable: bool
    declared_in: Line
    looked_at: Text
    fixed_n: Count | None
    derived_parameters: Named
    alone: bool


class Drawn(Message):
    """Trials, and where their generator, a PCG64, stands after them."""

    draws: Array
    state: int
    has_uint32: Annotated[int, Meta(ge=0, le=1)]
    uinteger: Annotated[int, Meta(ge=0, lt=1 << 32)]

    @staticmethod
    def json(draws: NDArray[Any], rng: np.random.Generator) -> dict[str, Any]:
        """Write both down."""
        told: Any = rng.bit_generator.state
        place = {"has_uint32": told["has_uint32"], "uinteger": told["uinteger"]}
        return {"draws": draws, "state": told["state"]["state"]} | place

    def move(self, rng: np.random.Generator) -> None:
        """Move a generator to where that of the trials stands, along its own stream."""
        told: Any = rng.bit_generator.state
        told["state"]["state"] = self.state % (1 << 128)
        told |= {"has_uint32": self.has_uint32, "uinteger": self.uinteger}
        rng.bit_generator.state = told


class LawMessage(Message):
    """A law: its kind, and the fields of that."""

    kind: Literal["FiniteLaw", "PointLaw", "NoiseLaw"]
    facts: dict[str, Any]


class CaseMessage(Message):
    """A worst case."""

    base: dict[str, Any]
    pool: dict[str, Any] | None
    changes: list[dict[str, Any]]
    how: Text
    key: Text
    relation: Relation
    queries: Array
    reason: Text


class ReachableMessage(Message):
    """Reachable states."""

    states: tuple[Text, ...]
    law: LawMessage
    moves: Array
    argument: Text
    several: Text
    of: Text


ANSWERS: dict[str, Any] = {
    **dict.fromkeys(
        ("check", "check_unchanged", "neighbour", "pilot", "prepare", "ready", "scratch")
    ),
    "alike": Annotated[int, Meta(ge=0, le=1 << 20)],
    "answer_words": Text,
    "describe": Description,
    "dimension": Annotated[int, Meta(ge=0, le=1 << 20)],
    "encoder": bytes,
    "law": LawMessage | None,
    "laws": list[LawMessage | None],
    "portable": Array,
    "reachable": ReachableMessage | None,
    "run": ShardResult,
    "sample": Drawn,
    "see": Array,
    "symmetries": Words,
    "towards": Array,
    "worst_cases": list[CaseMessage],
}
"""What is answered, by the name of what is asked."""


def law_json(law: Law) -> dict[str, Any]:
    """Write a law down."""
    return {"kind": type(law).__name__, "facts": law}


def law_from(told: LawMessage) -> Law:
    """Read a law; raise `Garbled` if it is none, as what follows does."""
    law: Law = read(LAWS[told.kind], told.facts)
    return law


def worst_case_json(case: WorstCase) -> dict[str, Any]:
    """Write a worst case down."""
    pairs = case.pairs
    for change in _single(pairs.changes):
        if not isinstance(change, (Replace, FlipLabel, ReplaceValue, Shift, Edit)):
            raise TargetError(
                f"pairs returned a change of type {type(change).__name__}; expected Replace, "
                f"FlipLabel, ReplaceValue, Shift or Edit, or {INLINE}"
            )
    return {
        "base": _data_json(pairs.base),
        "pool": None if pairs.pool is None else _data_json(pairs.pool),
        "changes": [change.as_json(by_value=pairs.pool is None) for change in pairs.changes],
        "how": pairs.how,
        "key": pairs.key,
        "relation": pairs.relation,
        "queries": case.queries,
        "reason": case.reason,
    }


def worst_case_from(told: CaseMessage) -> WorstCase:
    """Read a worst case; whatever is raised says that it is none."""
    base, pool = _data_from(told.base), None if told.pool is None else _data_from(told.pool)
    require(pool is None or isinstance(pool, Labelled), "pool", told.pool, "a Labelled, or None")
    changes = tuple(change_from_json(each, pool) for each in told.changes)
    pairs = Pairs(
        base=base, changes=changes, how=told.how, key=told.key, pool=pool, relation=told.relation
    )
    for change in _single(changes):
        if isinstance(change, Replace):
            Labelled([change.x], [change.y])  # type: ignore[arg-type]  # a record that there may be
            require(change.x.shape == base.X.shape[1:], "change", change, "as wide as the base")
    queries = points(told.queries, "queries")
    return WorstCase(pairs=pairs, queries=queries, reason=told.reason)


def _single(changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the changes that several are made of."""
    for change in changes:
        if isinstance(change, (Several, AnyOf)):
            yield from _single(change.changes)
        else:
            yield change


def reachable_json(reachable: Reachable) -> dict[str, Any]:
    """Write reachable states down."""
    told = {each.name: getattr(reachable, each.name) for each in fields(reachable)}
    return told | {"law": law_json(reachable.law)}


def reachable_from(told: ReachableMessage) -> Reachable:
    """Read reachable states."""
    law, size, moves = law_from(told.law), len(told.states), told.moves
    known = moves.dtype.kind in "iu" and moves.ndim == 2 and moves.shape[1] == 2 and len(moves) > 0
    if not known or len(law.table) != size or moves.min() < 0 or moves.max() >= size:
        raise Garbled("its moves are not between states that have laws")
    given = {name: getattr(told, name) for name in told.__struct_fields__}
    return Reachable(**given | {"law": law, "moves": moves.astype(np.int64)})


def shard_result_from(told: Any, brief: ShardBrief, shard: Shard) -> ShardResult:
    """Read what came of a shard."""
    done: ShardResult = read(ShardResult, told)
    if len(done.counts) > len(shard) or (done.failure is None and len(done.counts) < len(shard)):
        raise Garbled("it has not as many counts as there are pieces")
    for piece, counts in zip(shard, done.counts, strict=False):
        task, coding, calls = piece.task, brief.codings[piece.task.group], counts.calls
        blocks = piece.stop - piece.first
        asked = np.array(rows_of_calls(task.size, range(piece.first, piece.stop), task.rows))
        number = len(asked) if coding.additive else blocks
        shape = (number, len(brief.groups[task.group].queries), coding.size)
        kind = np.int64 if coding.additive else np.float64
        fits = calls.shape == shape and calls.dtype == kind and len(counts.marks) == blocks
        if fits and coding.additive:
            # none is larger, so that none of the sums can be beyond 63 bits
            fits = bool(calls.min(initial=0) >= 0 and calls.max(initial=0) <= asked.max())
            # the product adds up short rows faster
            fits = fits and bool((calls @ np.ones(shape[2], np.int64) == asked[:, None]).all())
        elif fits and isinstance(coding, Pilot):
            fits = bool(np.isfinite(calls).all() and (np.diff(calls) >= 0).all())
        if not fits:
            raise Garbled("its counts are none of so many trials")
    return done


def _data_json(data: Dataset) -> dict[str, Any]:
    if isinstance(data, Rows):
        return {"rows": data.values, "form": json.dumps(data.form.as_json()).encode()}
    return {"values": data.values} if isinstance(data, Values) else {"X": data.X, "y": data.y}


def _data_from(told: dict[str, Any]) -> Any:
    if "rows" not in told:
        return read(Values if "values" in told else Labelled, told)
    form = json.loads(told["form"])
    for column in form["columns"]:
        column["values"] = tuple(map(value_from_json, column.get("values", ())))
    return Rows(read(Array, told["rows"]), read(Form, form))
