"""Messages are read back as they were, counts in as few bytes as hold them."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.targets.catalogue import ENTRIES
from dpassay.targets.resolve import expected, resolve
from dpassay.trials.isolation.target import MechanismServer
from dpassay.trials.wire import HEAD, MARK, Garbled, Line, Text, length, pack, read, unpack
from dpassay.trials.written import ANSWERS, reachable_from, worst_case_from


@pytest.mark.parametrize(("most", "width"), [(255, 1), (256, 2), (2**16, 4), (2**32, 8)])
def test_counts_take_as_few_bytes_as_hold_them(most: int, width: int) -> None:
    counts = np.arange(1000, dtype=np.int64).reshape(10, 100) % 7
    counts[3, 4] = most
    message = pack(5, {"calls": counts})
    number, told = unpack(message)
    assert number == 5
    assert told["calls"].dtype == np.int64
    assert np.array_equal(told["calls"], counts)
    assert not told["calls"].flags.writeable
    assert width * 1000 < len(message) < width * 1000 + 300


@pytest.mark.parametrize(
    "value",
    [
        np.full(100, -1),
        np.full(100, 0.5),
        np.arange(6).reshape(2, 3),
        np.arange(100, dtype=np.int32),
        np.zeros((0, 3), dtype=np.int64),
        np.array([True, False]),
    ],
    ids=str,
)
def test_other_values_are_sent_as_they_are(value: NDArray[Any]) -> None:
    others: list[Any] = [
        1,
        2.5,
        float("inf"),
        None,
        True,
        "text",
        b"\x00\xff",
        {"shape": [], "hex": {}},
    ]
    message = pack(7, {"array": value, "others": others})
    assert length(message[: HEAD.size]) == len(message) - HEAD.size
    number, found = unpack(message)
    assert (number, found["others"]) == (7, others)
    np.testing.assert_array_equal(found["array"], value, strict=True)


@pytest.mark.parametrize("value", [np.array([None]), np.array(["text"]), object()])
def test_what_is_no_data_is_not_sent(value: Any) -> None:
    with pytest.raises(TypeError):
        pack(1, value)


def test_what_is_no_message_is_told_apart() -> None:
    message = pack(1, {"x": np.arange(3)})
    for head in (b"\x7f" * HEAD.size, HEAD.pack(MARK, 1, 1, 1 << 60)):
        with pytest.raises(Garbled):
            length(head)
    wrong = [(b"<i8", b"|O8"), (b"\x91\x03", b"\x91\x04"), (b"\x91\x03", b"\x91\x02")]
    for found in (
        message[:-1],
        *(message.replace(*each) for each in [*wrong, (b"\xa1x", b"\xa2x")]),
    ):
        with pytest.raises(Garbled):
            unpack(found)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_what_a_mechanism_of_the_catalogue_says_is_read_as_it_was(name: str) -> None:
    """Its description, its own worst cases and its states; laws and counts as in a whole audit."""
    target = resolve(name)
    server = MechanismServer(lambda: target, 4.0)

    def said(operation: str) -> Any:
        return read(ANSWERS[operation], unpack(pack(0, server(operation, (None,), {})))[1])

    facts = said("describe")
    assert tuple(each.claim() for each in facts.claims) == tuple(
        replace(claim, expected=None) for claim in target.claims
    )
    for field in ("labels", "numbers", "seeded", "exchangeable", "parameters", "declared_in"):
        assert getattr(facts, field) == getattr(target, field)
    assert said("dimension") == target.dimension
    assert expected(name, tuple(each.claim() for each in facts.claims), facts.parameters) == (
        target.claims
    )
    for told, case in zip(said("worst_cases"), target.worst_cases(), strict=True):
        found = worst_case_from(told)
        assert found.pairs.base.digest == case.pairs.base.digest
        assert (found.pairs.key, found.reason) == (case.pairs.key, case.reason)
        assert np.array_equal(found.queries, case.queries)
        assert [each.as_json(by_value=True) for each in found.pairs.changes] == [
            each.as_json(by_value=True) for each in case.pairs.changes
        ]
    states = target.reachable() if target.has_reachable else None
    if states is not None:
        again = reachable_from(said("reachable"))
        assert again.states == states.states
        assert np.array_equal(again.law.table, states.law.table)
        assert np.array_equal(again.moves, states.moves)


@pytest.mark.parametrize(
    "content",
    [
        ["<f8", "<f8", [1 << 40]],
        ["<f8", "<f8", [1 << 60, 1 << 60]],
        ["<f8", "<f8", [0, 1 << 21]],
        ["|u1", "<i8", [8, -1]],
        ["<f8", "<i8", [1]],
        ["|b1", "|b1", [8]],
        ["|O8", "|O8", [1]],
        ["<f8", "<f8", [1] * 9],
        ["<f8", "<f8", [0.5]],
        ["<f8", "<f8", []],
    ],
    ids=str,
)
def test_no_memory_is_taken_for_an_array_that_has_not_come(content: list[Any]) -> None:
    text = msgspec.msgpack.encode(msgspec.msgpack.Ext(1, msgspec.msgpack.encode(content)))
    tracemalloc.start()
    try:
        with pytest.raises(Garbled):
            unpack(HEAD.pack(MARK, 1, len(text), 16) + text + b"\x07" * 16)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_large_integers_and_texts_that_are_none() -> None:
    """A text loses what no text may have, as it is sent; who sends it all the same is refused."""
    assert unpack(pack(0, [2**70, -(2**100)]))[1] == [2**70, -(2**100)]
    assert unpack(pack(0, "a\x1b\ud800\n"))[1] == "a\ufffd\ufffd\n"
    for kind, text in ((Text, "a\x1b"), (Text, "\u202e"), (Line, "a\n"), (Line, "a" * 10_001)):
        with pytest.raises(Garbled):
            read(kind, text)


SCHEMAS = """
import dpassay.attacks.experiment.hosted, dpassay.attacks.services.hosted
import dpassay.trials.cluster, dpassay.trials.backends, dpassay.trials.written
from dpassay.trials.wire import Garbled, Message, read
kinds = Message.__subclasses__()
for kind in (*kinds, *dpassay.trials.written.ANSWERS.values()):
    try:
        read(kind, {"": 1})
    except Garbled:
        pass
print(len(kinds))
"""


def test_no_schema_corrupts_memory_when_the_process_ends() -> None:
    """The library frees a union of a list and a text with a pattern twice."""
    run = subprocess.run(
        [sys.executable, "-P", "-c", SCHEMAS],
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        env={"PYTHONMALLOC": "debug"},
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 10
