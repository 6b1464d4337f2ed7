"""Programs that behave: seeds, batches, kinds of answers, data sets that are kept, forks."""

from __future__ import annotations

import math
import os
import pickle
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpassay import DP, Labelled, Scalars, audit
from dpassay.errors import Failed, InvalidInput, TargetError
from dpassay.record.run_record import result_json
from dpassay.targets.answer_set import as_draws
from dpassay.targets.foreign import Process, process
from dpassay.targets.foreign.mechanism import KEPT
from tests.targets.foreign.servers import LAPLACE, alive, server

ASKED = np.zeros((1, 1))


@contextmanager
def running(folder: Path, body: str, **more: Any) -> Iterator[Process]:
    program = server(folder, body, **more)
    try:
        yield program
    finally:
        program.close()


def drawn(program: Process, data: Any, size: int, seed: int = 0, asked: Any = ASKED) -> Any:
    return program.sample(program.prepare(data), asked, size, np.random.default_rng(seed))


@pytest.mark.parametrize(("batch", "lines"), [(1, [1] * 7), (3, [3, 3, 1]), (1000, [7])])
def test_lines_ask_for_no_more_trials_than_the_server_takes(
    batch: int, lines: list[int], tmp_path: Path
) -> None:
    body = "def answer(data, asked): return [[asked['size'], asked['seed']]] * asked['size']\n"
    with running(tmp_path, f"{body}serve(answer, batch={batch})") as program:
        found = drawn(program, [0.0], 7)
        assert found[:, 0].tolist() == [size for size in lines for _ in range(size)]
        assert len(set(found[:, 1].tolist())) == len(lines)
        assert (found[:, 1] >= 0).all()
        assert (found[:, 1] < 2**53).all()
        assert drawn(program, [0.0], 7).tolist() == found.tolist()
        assert drawn(program, [0.0], 7, seed=1).tolist() != found.tolist()
        assert drawn(program, [0.0], 1).tolist() == [[1, found[0, 1]]]


def test_a_server_that_answers_nothing_but_trials_is_asked_one_at_a_time(tmp_path: Path) -> None:
    body = """
for asked in lines():
    if asked["op"] == "prepare": say({"ok": True})
    elif asked["op"] == "sample": say({"answers": [asked["size"]]})
    else: say({"error": {"type": "unknown op"}})
"""
    with running(tmp_path, body) as program:
        assert drawn(program, [0.0], 3) == [1, 1, 1]
        assert not program.seeded
        assert program.without_query
        for k in range(KEPT + 2):
            drawn(program, [float(k)], 1)  # it refuses to forget, which does no harm


KINDS = [
    ("[0.5, 1]", [0.5, 1]),
    ("[float('nan'), 1.0]", [math.nan, 1.0]),
    ("['nan', '-inf']", [math.nan, -math.inf]),
    ("['a', None]", ["a", None]),
    ("[[1, 2.5], [3, 4]]", [[1.0, 2.5], [3.0, 4.0]]),
    ("[[1, 'nan'], [3, 4]]", [[1.0, math.nan], [3.0, 4.0]]),
    ("[[1], [3, 4]]", [(1,), (3, 4)]),
    ("[[], []]", [(), ()]),
    ("[['a', [1]], ['b', [2]]]", [("a", (1,)), ("b", (2,))]),
    ("[True, False]", [True, False]),
    ("[{'error': {'type': 'E'}}, 0.5]", [Failed("E"), 0.5]),
    ("[{'a': [1]}, {'b': 2}]", [{"a": (1,)}, {"b": 2}]),
    ("[10**40, 1]", [10**40, 1]),
    ("[[10**40, 1], [2, 3]]", [(10**40, 1), (2, 3)]),
]


def test_answers_may_be_of_any_kind(tmp_path: Path) -> None:
    kinds = ", ".join(answers for answers, _ in KINDS)
    with running(tmp_path, f"serve(lambda data, asked: [{kinds}][data[0]])") as program:
        for k, (answers, wanted) in enumerate(KINDS):
            found = as_draws(drawn(program, [k], 2), 2, 0, "S")
            assert repr(found.tolist()) == repr(wanted), answers


def test_answers_at_queries_come_query_by_query(tmp_path: Path) -> None:
    body = """
def answer(data, asked):
    trial = [sum(query) + sum(data["y"]) for query in asked["queries"]]
    return [trial, {"error": {"type": "E"}}, trial][:asked["size"]]
serve(answer, queries=True)
"""
    with running(tmp_path, body) as program:
        assert not program.without_query
        data = Labelled(np.array([[0.0, 1.0]]), np.array([1]))
        asked = np.array([[0.0, 1.0], [2.0, 3.0]])
        found = as_draws(drawn(program, data, 3, asked=asked), 3, 2, "S")
        assert found.tolist() == [[2.0, 6.0], [Failed("E"), Failed("E")], [2.0, 6.0]]
        assert as_draws(drawn(program, data, 1, asked=asked), 1, 2, "S").dtype.kind == "f"


def test_a_server_keeps_the_last_data_sets_and_forgets_the_others(tmp_path: Path) -> None:
    body = """
log, prepared = [], {}
for asked in lines():
    log.append(asked["op"])
    if asked["op"] == "prepare": prepared[asked["id"]] = 1
    if asked["op"] == "forget": del prepared[asked["id"]]
    if asked["op"] == "sample":
        say({"answers": [[log.count("prepare"), log.count("forget"), len(prepared), os.getpid()]]})
    else: say({"ok": True})
"""
    with running(tmp_path, body) as program:
        first = drawn(program, [0.0], 1).tolist()[0]
        assert first[:3] == [1, 0, 1]
        assert drawn(program, [0.0], 1).tolist() == [first]
        for k in range(1, KEPT + 3):
            last = drawn(program, [float(k)], 1).tolist()[0]
        assert last == [KEPT + 3, 3, KEPT, first[3]]
        assert drawn(program, [float(KEPT)], 1).tolist()[0] == last
        assert drawn(program, [0.0], 1).tolist()[0] == [KEPT + 4, 4, KEPT, first[3]]


def test_after_an_error_the_next_question_starts_it_again(tmp_path: Path) -> None:
    body = "serve(lambda data, asked: os.abort() if data == [1] else [os.getpid()])"
    with running(tmp_path, body) as program:
        state = program.prepare([0])
        before = program.sample(state, ASKED, 1, np.random.default_rng(0))
        with pytest.raises(Exception, match="signal 6"):
            drawn(program, [1], 1)
        assert program.sample(state, ASKED, 1, np.random.default_rng(0)) != before


def test_a_fork_has_a_program_of_its_own_and_leaves_the_first_alone(tmp_path: Path) -> None:
    with running(tmp_path, "serve(lambda *_: [os.getpid()])") as program:
        state, rng = program.prepare([0]), np.random.default_rng(0)
        (first,) = program.sample(state, ASKED, 1, rng)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                (second,) = program.sample(state, ASKED, 1, rng)
                program.close()
                os.write(write, str(second).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert int(os.read(read, 100)) != first
        assert program.sample(state, ASKED, 1, rng) == [first]
        os.close(read)
        os.close(write)


def test_a_copy_has_a_program_of_its_own_and_each_goes_when_nobody_refers_to_it(
    tmp_path: Path,
) -> None:
    program = server(tmp_path, "serve(lambda *_: [os.getpid()])")
    first = drawn(program, [0], 1)
    copy = pickle.loads(pickle.dumps(program))  # noqa: S301
    assert copy.command == program.command
    assert drawn(copy, [0], 1) != first
    copy.close()
    assert drawn(program, [0], 1) == first
    assert alive(str(tmp_path))
    del program, copy
    assert alive(str(tmp_path)) == []


@pytest.mark.slow
def test_a_seeded_program_has_the_same_result_whoever_runs_it(tmp_path: Path) -> None:
    found, ways = [], ({"executor": "inline"}, {"executor": "local", "jobs": 2})
    for more in ways:
        with running(tmp_path, LAPLACE) as program:
            how: dict[str, Any] = {"data": Scalars(0, 1), "budget": 1000, **more}
            found.append(audit(program, claim=DP(epsilon=0.25), **how))
    assert found[0].verdict == "refuted", found[0].outcome.reason
    assert result_json(found[0], 0.999) == result_json(found[1], 0.999)


UNSEEDED = """
def answer(data, asked):
    noise = lambda: random.expovariate(1) - random.expovariate(1)
    return [sum(data) + noise() for _ in range(asked["size"])]
serve(answer, seeded={})
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seeded", "said"),
    [(False, "refuted"), (True, "error: .*answers the same rng differently")],
)
def test_a_program_with_coins_of_its_own_is_held_against_fresh_trials(
    seeded: bool, said: str, tmp_path: Path
) -> None:
    program = server(tmp_path, UNSEEDED.format(seeded))
    found = audit(program, claim=DP(epsilon=0.25), data=Scalars(0, 1), budget=1000)
    assert re.match(said, f"{found.verdict}: {found.outcome.reason}")


NAIVE = """
import math
def noise(rng):
    return rng.choice((-1, 1)) * math.log(1 - rng.random())
def answer(data, asked):
    rng = random.Random(asked["seed"])
    return [data[0] + noise(rng) for _ in range(asked["size"])]
serve(answer)
"""


@pytest.mark.slow
def test_low_bits_of_a_program_are_looked_at_where_it_is_asked_for(tmp_path: Path) -> None:
    data = Scalars(0, 1, size=1)
    found = [
        audit(server(tmp_path, NAIVE), claim=DP(epsilon=1.0), data=data, bits=bits, budget=1500)
        for bits in (True, False)
    ]
    assert [each.verdict == "refuted" for each in found] == [True, False]
    assert "lowest bit" in str(found[0])


@pytest.mark.slow
def test_a_failure_on_one_side_alone_refutes(tmp_path: Path) -> None:
    body = """
def answer(data, asked):
    rng = random.Random(asked["seed"])
    fails = lambda: sum(data) > 0.5 and rng.random() < 0.2
    one = lambda: {"error": {"type": "E"}} if fails() else rng.random()
    return [one() for _ in range(asked["size"])]
serve(answer)
"""
    result = audit(server(tmp_path, body), claim=DP(epsilon=1.0), data=Scalars(0, 1), budget=1000)
    assert result.verdict == "refuted", result.outcome.reason


SLOW = """
import time
def answer(data, asked):
    if asked["seed"] % 3 == 0:
        time.sleep(30)
    return [1.0] * asked["size"]
serve(answer)
"""


@pytest.mark.slow
def test_a_run_that_takes_too_long_is_an_answer_where_a_limit_is_stated(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    late = [int(rng.integers(2**53)) % 3 == 0 for _ in range(5)]
    assert 0 < sum(late) < 5
    slow = server(tmp_path, SLOW)
    program = process(slow.command, run_seconds=1.0)
    try:
        found = drawn(program, [0.0], 5)
    finally:
        program.close()
    assert found == [Failed("Timeout") if each else 1.0 for each in late]


def test_without_a_limit_for_runs_a_late_reply_is_an_error(tmp_path: Path) -> None:
    always = SLOW.replace('asked["seed"] % 3 == 0', "True")
    program = process(server(tmp_path, always).command, timeout=0.5)
    with pytest.raises(TargetError, match=r"it gave no whole reply within 0.5 s"):
        drawn(program, [0.0], 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("timeout", 0), ("timeout", "1"), ("processes", 0), ("memory", -1.0), ("reply", math.inf)],
)
def test_a_limit_out_of_its_range_is_said_at_once(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"{name} = "):
        Process("sleep 1", **{name: value})


@pytest.mark.parametrize("seconds", [0.0, float("nan")])
def test_a_limit_for_runs_is_a_number_above_0(seconds: float) -> None:
    with pytest.raises(InvalidInput, match=r"run_seconds = .*: must be a number > 0, or left out"):
        process("python3 x.py", run_seconds=seconds)


def test_records_are_sent_as_objects_and_queries_too(tmp_path: Path) -> None:
    people = pd.DataFrame(
        {"age": [20, 35, 50], "city": ["a", None, "b"], "day": pd.to_datetime(["2020-01-01"] * 3)}
    )
    body = """
def answer(data, asked):
    assert all(set(each) == {"age", "city", "day"} for each in data), data
    assert all(each["day"] == "2020-01-01T00:00:00" for each in data)
    assert all(set(each) == {"age", "day"} for each in asked["queries"]), asked
    return [["few" if len(data) < 3 else "many"] * len(asked["queries"])] * asked["size"]
serve(answer, queries=True)
"""
    with running(tmp_path, body) as program:
        how: dict[str, Any] = {"label": "city", "relation": "add-remove", "budget": 100}
        result = audit(program, claim=DP(epsilon=1.0), data=people, **how)
        assert result.verdict == "refuted"
