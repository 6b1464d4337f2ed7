"""Wrong messages of processes and Dask workers are read as what they say, or end their target."""

from __future__ import annotations

import json
import random
import resource
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.msgpack import Ext

from dpassay.claims import DP, Stability
from dpassay.data import Labelled, Values
from dpassay.engine.dataset_laws import _laws
from dpassay.engine.exact import any_size
from dpassay.errors import ClusterError, DpassayError, InvalidInput, TargetError
from dpassay.laws import FiniteLaw, Law, NoiseLaw, PointLaw
from dpassay.mechanism import Reachable, WorstCase
from dpassay.noise import Noise
from dpassay.pairs import (
    AnyOf,
    Edit,
    FlipLabel,
    Pairs,
    Replace,
    ReplaceValue,
    Several,
    Shift,
    change_key,
)
from dpassay.rows.columns import Column
from dpassay.rows.rows import Form, Rows
from dpassay.search.outputs import fit_encoder
from dpassay.targets.adapter import full
from dpassay.targets.groups import groups_for, searched
from dpassay.trials import wire, written
from dpassay.trials.backends import Delegated, Job, Local, Question, forget
from dpassay.trials.blocks import BlockCounts, rows_of_calls
from dpassay.trials.cluster import Cluster, Remote
from dpassay.trials.encoders import Labels, Pilot
from dpassay.trials.isolation import target as introduce
from dpassay.trials.isolation.host import Hosts
from dpassay.trials.isolation.limits import Limits, Lost
from dpassay.trials.isolation.target import Isolated, MechanismServer
from dpassay.trials.tasks import Piece, ShardResult, Task, TrialRunner
from tests.core.toys import TableMechanism, flip_group, target_of
from tests.fuzz.running import TIMES, limited
from tests.fuzz.test_process import judged, script

SECONDS = 5
"""Of processor time; no message takes longer."""
GIB = 1 << 20
"""What `ru_maxrss` counts one as."""
GROUP = flip_group(records=4, queries=3, changes=tuple(FlipLabel(i) for i in range(4)))
TARGET = target_of(TableMechanism(table=((0.5, 0.5), (0.25, 0.75))))
TASKS = [Task(group=group, pair=None, phase="screen", size=1500) for group in (0, 1)]
SHARD = tuple(Piece(task=task, first=k, stop=k + 1) for task in TASKS for k in (0, 1))
RUNNER = TrialRunner(TARGET, (GROUP, GROUP), (Labels((0, 1)), Pilot()), 0)
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63, -(2**63), 0.5, -0.0, 1e308, 1e-320),
    *(float("inf"), float("-inf"), float("nan"), "", "x", "\x1b[31m", "a\nb", "\u202e"),
    "a" * 200_000,
    *(b"", b"m" * 16, b"m" * 100, b"\xff", b"[" * 5000, b'{"a":NaN}', [], [[]], {}),
    *([0], [None], ["x"], "own"),
    *({"x": 1}, {"kind": "FiniteLaw"}, {"done": 1}, {"raised": "E"}, {1: 2}, {"invalid": "no"}),
    *({"cause": "why"}, {"differs": "Python"}, "replace-one", "replace-99999999", "answers-1"),
    *("DP", "Accuracy", "measured", "edit", "several", "|O8", "M8[s]", "laplace", "gaussian", "7"),
    *(Ext(2, b"\x7f" * 128), Ext(2, b"\x80" + b"\0" * 60), Ext(2, b"1" * 4000), Ext(3, b"")),
    Ext(-1, b"\0" * 4),
    *(Ext(-1, b"\xff" * 12), Ext(1, b""), Ext(1, b"\xc0"), Ext(1, b"\x91" * 3000)),
]  # fmt: skip
SIDES = (0, 1, 2, 3, 7, -1, 2**31, 2**40, 2**53, 10**18, 2**63, 1.5, float("inf"), None, "3")
DTYPES = (
    *("|b1", "|u1", "<u4", "<i8", "<f2", "<f8", ">f8", "|O8", "<M8[s]", "V8", "S3", "(2,)f8"),
    "",
)


def array(rng: random.Random) -> Ext:
    """Return what may stand for an array."""
    shape = [rng.choice(SIDES) for _ in range(rng.choice((0, 1, 1, 2, 3, 40)))]
    told = [rng.choice(DTYPES), rng.choice(DTYPES), shape]
    return Ext(1, msgspec.msgpack.encode(told[: rng.choice((1, 2, 3, 3, 3, 3))]))


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(value, (dict, list)):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            found += paths(each, (*path, key))
    return found


def mutated(value: Any, rng: random.Random) -> Any:  # noqa: C901
    """Return a value in which something is replaced, taken away or added, here and there."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        path, new = rng.choice(paths(value)), deepcopy(rng.choice(VALUES))
        if rng.random() < 0.15:
            new = array(rng)
        if not path:
            value = new if rng.random() < 0.2 else value
            continue
        place = value
        for key in path[:-1]:
            place = place[key]
        way = rng.random()
        if way < 0.2:
            del place[path[-1]]
        elif way < 0.35 and isinstance(place, dict):
            place[rng.choice(("zz", "kind", "form", "rows", "X", "values", "curve", "told"))] = new
        elif way < 0.4 and isinstance(place, list):
            place *= rng.choice((2, 3, 100))
            return value  # once: a hundred times a hundred times a hundred fits no message
        elif way < 0.45:
            for _ in range(rng.choice((2, 50, 900, 5000))):
                new = [new]
            place[path[-1]] = new
            return value
        elif way < 0.6 and isinstance(place[path[-1]], Ext):
            held = place[path[-1]]
            place[path[-1]] = Ext(held.code, mangled(held.data, rng))
        else:
            place[path[-1]] = new
    return value


def mangled(message: bytes, rng: random.Random) -> bytes:
    """Return bytes of which some are others, gone, or there twice."""
    found = bytearray(message)
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(found) or 1)
        way = rng.random()
        if way < 0.7 and found:
            found[place] = rng.randrange(256)
        elif way < 0.85:
            del found[place : place + rng.choice((1, 8, 1000))]
        else:
            found[place:place] = found[:place][-rng.choice((1, 8, 100)) :]
    return bytes(found)


def wrong(good: bytes, rng: random.Random) -> bytes:
    """Return a message with something wrong in it, most times."""
    size = wire.HEAD.size
    _, number, plain, _ = wire.HEAD.unpack_from(good)
    tree = msgspec.msgpack.decode(good[size : size + plain])
    arrays = good[size + plain :]
    if rng.random() < 0.9:
        tree = mutated(tree, rng)
    try:
        text = msgspec.msgpack.encode(tree)
    except RecursionError:  # too deep for the one that writes it
        text = b"\x91" * 100_000 + b"\xc0"
    if rng.random() < 0.1:
        text = mangled(text, rng)
    if rng.random() < 0.2:
        arrays = mangled(arrays, rng)
    message = wire.HEAD.pack(wire.MARK, number, len(text), len(arrays)) + text + arrays
    return mangled(message, rng) if rng.random() < 0.03 else message


class Host:
    """A host that has its answer already; see `dpassay.trials.isolation.host.Host`."""

    def __init__(self, message: bytes) -> None:
        self._message = message

    def call(self, *_: Any, **__: Any) -> Any:
        try:
            return wire.unpack(self._message)[1]
        except wire.Garbled:
            raise Lost("the worker wrote over its connection") from None

    def keep(self) -> Any:
        return SimpleNamespace(key=1)


class Processes(Hosts):
    """Hosts that have their answers already."""

    def __init__(self, message: bytes) -> None:
        super().__init__("m", lambda *_: None, Limits())
        self._host = Host(message)

    def first(self, what: str = "") -> Any:
        return self._host

    def close(self) -> None:
        pass


OFFERED = (
    *("check", "distribution", "pairs", "reachable", "symmetries", "towards", "answer_words"),
    "update",
)


def isolated(message: bytes, **has: Any) -> Isolated:
    there = full(SimpleNamespace(**dict.fromkeys(OFFERED, lambda *_: None) | has))
    return Isolated(
        name="m",
        address=None,
        parameters={},
        mechanism=there,
        claims=(DP(epsilon=1.0), DP(epsilon=1.0, relation="replace-2")),
        hosts=Processes(message),
        there=there,
    )


def written_out(*texts: Any) -> None:
    """Texts go into a record, a terminal and a page."""
    for text in texts:
        assert str(text).encode() is not None
        assert "\x1b" not in str(text)


def describe(message: bytes, rng: random.Random) -> None:
    claim = rng.choice((None, DP(epsilon=1.0), Stability(gamma=0.5)))
    mechanism = full(SimpleNamespace(labels=(0, 1)))
    known: dict[str, Any] = {"name": "m", "address": "m:f", "mechanism": mechanism}
    said = None if claim is None else replace(TARGET, **known, claims=(claim,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(introduce, "Hosts", lambda *_, **__: Processes(message))
        found = introduce.introduced(
            "m", lambda: TARGET, Limits(), said, address="m:f", parameters={"p": "1"}
        )
    assert (found.name, found.address) == ("m", "m:f")
    assert "p" not in found.parameters or found.parameters["p"] in (1, "1")
    assert all(each.expected is None for each in found.claims)
    if claim is not None:
        assert {type(each).__name__ for each in found.claims} <= {
            type(claim).__name__,
            "PredictionStability",
        }
        assert [each.promised for each in found.claims] == [claim.promised]
    for each in found.claims:
        written_out(each, each.source, each.unit, each.coins, each.relation, each.quantity)
        written_out(found.looked_at(each), found.most(each))
    written_out(found.declared_in, found.answers, *found.derived.values())
    written_out(json.dumps(found.parameters), *found.sampled.claims, found.mechanism.fixed_n)


def law(message: bytes, rng: random.Random) -> None:
    numbers = {} if rng.random() < 0.5 else {"numbers": (0.0, 1.0)}
    found = isolated(message, **numbers).law(None, np.zeros((2, 1)), "here")
    if found is not None:
        assert found.table.shape[0] == 2


def worst(message: bytes, rng: random.Random) -> None:
    subject = isolated(message)
    for group in groups_for(subject, None):
        written_out(group.key, group.reason, group.pairs.how, group.pairs.relation)
        for change in group.pairs.changes:
            written_out(change, change_key(change, group.pairs.pool))
        searched((group,))


def reachable(message: bytes, rng: random.Random) -> None:
    subject = isolated(message)
    found = any_size(subject, subject.claims[0])
    if found is not None:
        written_out(*found.states, found.argument, found.of)


def sample(message: bytes, rng: random.Random) -> None:
    coins = np.random.default_rng(0)
    draws = isolated(message).sample(None, np.zeros((1, 1)), 4, coins, "here")
    assert set(draws.ravel().tolist()) <= {0, 1}
    coins.random()


def encoder(message: bytes, rng: random.Random) -> None:
    found = isolated(message).encoder([])
    found.features([(1, "x"), 2.5, None])
    written_out(*found.names)


def words(message: bytes, rng: random.Random) -> None:
    written_out(isolated(message).answer_words(1, np.zeros(1)))


def plain(message: bytes, rng: random.Random) -> None:
    subject = isolated(message)
    assert subject.prepare(GROUP.pairs.base) is not None
    subject.check_unchanged((GROUP,))


def towards(message: bytes, rng: random.Random) -> None:
    assert isolated(message).towards(np.zeros((2, 3)), 4).shape == (2, 4)


def portable(message: bytes, rng: random.Random) -> None:
    assert isinstance(isolated(message).hosts.portable(), bytes)


def dimension(message: bytes, rng: random.Random) -> None:
    assert 0 <= isolated(message, numbers=(0.0, 1.0)).dimension <= 1 << 20


def symmetries(message: bytes, rng: random.Random) -> None:
    written_out(*isolated(message).symmetries((3,)))


def run(message: bytes, rng: random.Random) -> None:
    """A shard, read where it comes from a process of this machine."""
    backend = Local(RUNNER.brief, forget, Processes(b""), None)
    job = backend._job(SHARD, forget, False)
    job.arrived = partial(backend._take, job)
    with suppress(wire.Garbled, Lost):
        job.take(wire.read(written.Outcome, Host(message).call()))
    assert job.done is None or not job.cause
    if job.done is not None:
        counted(job.done)


def counted(done: ShardResult) -> None:
    for piece, each in zip(SHARD, done.counts, strict=done.failure is None):
        if piece.task.group == 0:
            assert each.calls.sum() == 3 * (1000 if piece.first == 0 else 500)
    written_out(*(done.failure or ()))


def cluster_asked(asked: Question) -> Cluster:
    cluster = Cluster.__new__(Cluster)
    cluster._scheduler, cluster._client = "tcp://here", SimpleNamespace(status="running")
    asked.held = SimpleNamespace(key="k", status="finished")
    cluster._under_way = {"k": asked}
    return cluster


def dask(message: bytes, rng: random.Random) -> None:
    """The same where it comes from a worker: an answer to a shard, or to anything."""
    job, remote = Job(operation=None, shard=SHARD, keep=forget), Remote.__new__(Remote)
    cluster = cluster_asked(job)
    Delegated.__init__(remote, cluster, RUNNER.brief, forget)
    job.arrived = partial(remote._take, job)
    answer: Any = rng.choice((message, message, message, message, None, 7, b"", message[:30]))
    cluster._end(job, answer)
    assert job.ended
    assert remote._wait(job)
    assert job.done is not None
    if job.done.failure is None:
        counted(job.done)


def laws(message: bytes, rng: random.Random) -> None:
    asked = Question(operation=None)
    cluster_asked(asked)._end(asked, message)
    assert len(_laws(asked.result(), 2)) == 2


Use = Callable[[bytes, random.Random], None]
X = np.arange(6.0).reshape(3, 2)
BASE = Labelled(X, np.array([0, 1, 0]))
FORM = Form(
    shape="frame",
    columns=(
        Column(name="a", kind="number", low=0.0, high=9.0),
        Column(name="b", kind="value", values=("x", (1, 2.5), None)),
    ),
    label="b",
)
SEVERAL = Several((FlipLabel(0), Replace(1, X[0], 0, 0)))
PAIRS = [
    Pairs(
        base=BASE,
        changes=(FlipLabel(1), Replace(0, X[2], 0, 2), SEVERAL),
        how="h",
        pool=BASE,
        relation="replace-2",
    ),
    Pairs(base=BASE, changes=(AnyOf((FlipLabel(0), Replace(1, X[0], 0))),), how="h"),
    Pairs(base=Values(X[0]), changes=(ReplaceValue(1, 7.5),), how="h"),
    Pairs(base=Values(X[0]), changes=(Shift((0.5, -0.5)),), how="h", relation="answers-0.5"),
    Pairs(
        base=Rows(np.array([[1.0, 0.0], [2.5, 2.0]]), FORM),
        changes=(Edit(replaced=((0, (3.0, 1.0)),)), Edit(removed=(1,), relation="own")),
        how="h",
        relation="own",
    ),
]
CASES = [WorstCase(pairs=each, queries=np.zeros((1, 2)), reason="r") for each in PAIRS]
POINTS, NOISE = np.array([0.1, 1 / 3]), Noise(kind="laplace", scale=0.7)
LAWS: list[Any] = [
    FiniteLaw(log_p=np.log(np.array([[0.25, 0.75], [1.0, 1e-300]])), error=1e-15),
    PointLaw(values=POINTS, error=0.0),
    NoiseLaw(values=POINTS, noise=NOISE, error=1e-17, low=0.0, high=1.0),
    NoiseLaw(values=POINTS, noise=replace(NOISE, kind="gaussian"), error=1e-17),
]


def shard() -> ShardResult:
    counts = []
    for piece in SHARD:
        rows = np.array(rows_of_calls(1500, range(piece.first, piece.stop), piece.task.rows))
        calls: Any = np.stack([rows, 0 * rows], axis=1)[:, None].repeat(3, axis=1)
        if piece.task.group == 1:
            calls = np.zeros((1, 3, Pilot().size))
        counts.append(BlockCounts(calls=calls, marks=(b"m" * 16,)))
    return ShardResult(counts=tuple(counts))


def messages() -> list[tuple[Use, bytes]]:
    """Return a good message of every kind, and what reads it."""
    described = MechanismServer(lambda: TARGET, 4.0)("describe", (None,), {})
    described["claims"].append(described["claims"][0] | {"curve": {"kind": "zCDP", "rho": 0.5}})
    described |= {"parameters": {"p": 2, "q": 2**70, "r": "m:f"}, "output": ["a", 1.5]}
    made = Reachable(
        states=("a", "b"), law=LAWS[0], moves=np.array([[0, 1]]), argument="all", several="k"
    )
    pilot = fit_encoder([[("a", 1.5, 2), ("b", 2.5, 3), ("a", 7.25, 1)] * 20], failures=True)
    coins = np.random.default_rng(0)
    good: list[tuple[Use, Any]] = [
        (describe, described),
        *((law, written.law_json(each)) for each in LAWS),
        (law, None),
        *((worst, [written.worst_case_json(each)]) for each in CASES),
        (reachable, written.reachable_json(made)),
        (sample, written.Drawn.json(np.array([[0], [1], [1], [0]]), coins)),
        (encoder, json.dumps(pilot.as_json()).encode()),
        (words, "a word"),
        (plain, None),
        (towards, np.zeros((2, 4))),
        (portable, np.zeros(100, dtype=np.uint8)),
        (dimension, 3),
        (symmetries, ["points", "labels"]),
        (run, shard()),
        (run, ShardResult(counts=shard().counts[:1], failure=("cause", "detail\nmore"))),
    ]
    found = [(use, wire.pack(1, {"done": value})) for use, value in good]
    failed = {"cause": "why", "detail": "in\nlines"}
    refused = {"invalid": "no", "detail": "there"}
    found += [
        (use, wire.pack(1, value))
        for use in (describe, law, run)
        for value in (failed, refused, {"raised": "E", "detail": "there"})
    ]
    outcomes = [{"done": shard()}, {"cause": "why", "detail": "x"}, {"differs": "Python 3, not 4"}]
    found += [(dask, wire.pack(0, each)) for each in outcomes]
    found.append((laws, wire.pack(0, {"done": [written.law_json(LAWS[0]), None]})))
    return found


def fuzz(number: int, seed: int) -> Counter[str]:
    """Return what went wrong in so many messages, and how often."""
    rng, good, found = random.Random(seed), messages(), Counter[str]()  # noqa: S311
    for _ in range(number):
        use, message = rng.choice(good)
        message = wrong(message, rng)
        began = time.process_time()
        told = ""
        try:
            with limited(12 * SECONDS):
                use(message, rng)
        except InvalidInput as error:
            told = "" if use is describe else f"{use.__name__}: InvalidInput {error}"
        except (TargetError, ClusterError) as error:
            written_out(error)
            told = "\n" if "\n" in str(error) else ""
        except BaseException as error:  # noqa: BLE001  (whatever it is, it is what is looked for)
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
            told = f"{use.__name__}: {type(error).__name__} at {place}: {error!s:.100}"
        if time.process_time() - began > SECONDS:
            told = f"{use.__name__}: slow"
        if told:
            found[told] += 1
    return found


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_laws_are_read_back_to_the_last_bit(law: Law) -> None:
    message = wire.unpack(wire.pack(1, written.law_json(law)))[1]
    found: Any = written.law_from(wire.read(written.LawMessage, message))
    assert type(found) is type(law)
    for name in ("table", "error", "noise", "low", "high"):
        assert np.array_equal(getattr(found, name, 0), getattr(law, name, 0))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.pairs.changes[0]))
def test_worst_cases_are_read_back(case: WorstCase) -> None:
    message = wire.unpack(wire.pack(1, written.worst_case_json(case)))[1]
    found = written.worst_case_from(wire.read(written.CaseMessage, message))
    assert found.pairs.base.digest == case.pairs.base.digest
    assert np.array_equal(found.queries, case.queries)
    for name in ("key", "how", "relation"):
        assert getattr(found.pairs, name) == getattr(case.pairs, name)
    assert found.reason == case.reason
    for one, other in zip(found.pairs.changes, case.pairs.changes, strict=True):
        assert str(one) == str(other)
        for value in (True, False):
            assert one.as_json(by_value=value) == other.as_json(by_value=value)


def test_good_messages_are_read() -> None:
    """As otherwise nothing were shown by wrong ones."""
    for use, message in messages():
        failed = {*wire.unpack(message)[1]} & {"cause", "invalid", "raised", "differs"}
        read = 0
        for seed in range(8):  # it is read as what it is, and as something else
            with suppress(DpassayError):
                use(message, random.Random(seed))  # noqa: S311
                read += 1
        assert read or failed, use.__name__


@pytest.mark.slow
def test_wrong_messages_end_their_own_target() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert fuzz(30_000 * TIMES, 1) == {}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < GIB


@pytest.mark.slow
def test_wrong_lines_of_programs_end_their_own_target() -> None:
    rng = random.Random(1)  # noqa: S311
    for _ in range(20_000 * TIMES):
        with limited(12 * SECONDS):
            assert not judged(script(rng))
