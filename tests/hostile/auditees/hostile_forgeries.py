"""Forged answers, and mechanisms that say of themselves what is not so."""

from __future__ import annotations

import inspect
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
from hostile_table import CASES, MARKS, PARENT, enter, fair, hostile, near

from dpassay import DP
from dpassay.laws import bernoulli_law
from dpassay.trials.tasks import TrialRunner

# ---- behaves well because it knows that it is audited: nothing prevents that


def _knows(name, test):
    def trick(data, queries, size, rng):
        return fair(data, queries, size, rng) if test(data, rng) else None

    trick.__name__ = name
    return hostile("forgeries", "free", always=True)(trick)


CALLS = {"number": 0}


def _counted(data, rng):
    CALLS["number"] += 1
    return CALLS["number"] > 3


def _command(data, rng):
    found = Path(f"/proc/{PARENT}/cmdline").read_bytes() + " ".join(sys.argv).encode()
    return b"dpassay" in found or b"pytest" in found


for _kind, _test in {
    "sees_the_command": _command,
    "sees_the_modules": lambda data, rng: "dpassay.trials" in sys.modules,
    "sees_the_environment": lambda data, rng: any(
        name.startswith(("HOSTILE", "CI", "GITHUB", "PYTEST")) for name in os.environ
    ),
    "sees_the_stack": lambda data, rng: any(
        "dpassay" in each.filename or "audit" in each.filename for each in inspect.stack()
    ),
    "sees_the_generator": lambda data, rng: rng.bit_generator.state is not None,
    "sees_the_call": _counted,
    "sees_the_object": lambda data, rng: id(data) % 16 == 0 or data is not None,
    "sees_the_folder": lambda data, rng: Path("dpassay.toml").exists(),
}.items():
    globals()[_kind] = _knows(_kind, _test)


@hostile("forgeries", always=True)
def leaks_in_one_of_two_calls(data, queries, size, rng):
    """Well-behaved in every second call only: its trials are not of one law."""
    CALLS["number"] += 1
    return fair(data, queries, size, rng) if CALLS["number"] % 2 else None


@hostile("forgeries", always=True)
def refuses_to_show(data, queries, size, rng):
    """Raise where the answer would give it away."""
    found = near(data, queries, size, rng)
    if found.mean() > 0.5:
        raise ValueError("come back later")
    return found


@hostile("forgeries", always=True)
def dies_where_it_shows(data, queries, size, rng):
    """End where the answer would give it away, and answer another when tried again."""
    tried = MARKS / "tried"
    if near(data, queries, size, rng).mean() > 0.5 and not tried.exists():
        tried.touch()
        os._exit(1)


@hostile("forgeries", "free", always=True)
def answers_are_the_same(data, queries, size, rng):
    return np.zeros((size, len(queries)), int)


@hostile("forgeries", always=True)
def own_coins(data, queries, size, rng):
    return near(data, queries, size, np.random.default_rng())


@hostile("forgeries", always=True)
def pool_of_noise(data, queries, size, rng):
    """Take the coins from a pool that was drawn once: calls share them."""
    return near(data, queries, size, np.random.default_rng(int(rng.integers(4))))


# ---- the code of its own process: what that counts is what it says it has counted


def _patched(name, holds, patch):
    def trick():
        patch()

    trick.__name__ = name
    return hostile("forgeries", holds)(trick)


def _done(change):
    """Change what a lot of trials has come to, before it is told."""

    def patch():
        run = TrialRunner.run
        TrialRunner.run = lambda self, *given, **named: change(run(self, *given, **named))

    return patch


def _calls(change):
    return _done(
        lambda done: replace(
            done, counts=tuple(replace(each, calls=change(each.calls)) for each in done.counts)
        )
    )


def _marks(mark):
    return _done(
        lambda done: replace(
            done,
            counts=tuple(replace(each, marks=(mark,) * len(each.marks)) for each in done.counts),
        )
    )


def _halves(calls):
    total = calls.sum(axis=2, keepdims=True)
    return np.concatenate([total // 2, total - total // 2], axis=2)


def _words():
    json.dumps = lambda *given, **named: "{}"
    msgspec.msgpack.encode = lambda *given, **named: b"\x80"


for _kind, _holds, _patch in (
    ("counts_nothing", "caught", _done(lambda done: replace(done, counts=()))),
    ("counts_negative", "caught", _calls(lambda calls: -calls)),
    ("counts_too_many", "caught", _calls(lambda calls: calls + 1)),
    ("counts_overflow", "caught", _calls(lambda calls: calls + (1 << 62))),
    ("counts_as_numbers", "caught", _calls(lambda calls: calls.astype(float))),
    ("counts_of_another_shape", "caught", _calls(lambda calls: calls[:, :, ::-1][:, :1])),
    ("counts_halves", "free", _calls(_halves)),
    ("marks_alike", "free", _marks(b"\0")),
    ("marks_long", "caught", _marks(b"x" * 100_000)),
    ("marks_of_text", "caught", _marks("x")),
    ("words_alike", "caught", _words),
):
    globals()[_kind] = _patched(_kind, _holds, _patch)


# ---- mechanisms


class Leaks:
    """Leaks as the functions do; the classes below add what they say of themselves."""

    labels = (0, 1)

    def prepare(self, data):
        return data

    def sample(self, state, queries, size, rng):
        return near(state, queries, size, rng)


class LawIsFair(Leaks):
    """Its law is not what it draws."""

    def distribution(self, state, queries):
        return bernoulli_law(np.full(len(queries), 0.5))


class LawExits(Leaks):
    def distribution(self, state, queries):
        os._exit(0)


class LawIsHuge(Leaks):
    def distribution(self, state, queries):
        return bernoulli_law(np.broadcast_to(0.5, (10**9,)))


class UpdateIsEmpty(Leaks):
    """Its neighbours are the base dataset where they are made from it."""

    def update(self, state, data, change):
        return state


class Expected(Leaks):
    """Declares its own claim wrong, so that a refutation would be no news."""

    claims = (DP(epsilon=1.0, expected="refuted"),)


class ManyClaims(Leaks):
    """Takes error probability from the others: it is divided among all claims of a run."""

    claims = tuple(DP(epsilon=1.0 + k / 1e6) for k in range(3000))


class OwnPairs(Leaks):
    """Is looked at on harmless pairs of its own only."""

    alone = True

    def pairs(self):
        os._exit(0)


class PairsAreEndless(Leaks):
    def pairs(self):
        while True:
            yield None


class Mimics(Leaks):
    """Says that it is another."""

    name = "innocent first"
    looked_at = "0 refuted\n::error::pwned <script>alert(1)</script>"
    declared_in = "/dev/zero"
    fixed_n = 10**18
    derived_parameters = ("x" * 1000,) * 1000


class CheckRefuses(Leaks):
    """Says that it can never take these data: then nothing would be audited."""

    def check(self, data):
        from dpassay import InvalidInput

        raise InvalidInput("it can never take these data")


class CheckExits(Leaks):
    def check(self, data):
        os._exit(0)


class PrepareExits(Leaks):
    def prepare(self, data):
        os._exit(0)


class BuildExits(Leaks):
    """Who builds it in Python has run it there already."""

    def __init__(self):
        os._exit(0)


class Slippery(Leaks):
    """Answers every attribute, with something that ends a process."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *given, **named: os._exit(0)


class Meta(type):
    def __getattribute__(cls, name):
        if name in ("__module__", "__qualname__", "__name__"):
            return "dpassay.mechanisms.broken"
        return type.__getattribute__(cls, name)


class Disguised(Leaks, metaclass=Meta):
    """Says that it comes with dpassay, whose own mechanisms run in the process that decides."""

    def sample(self, state, queries, size, rng):
        os._exit(0)


OWN_CLAIM = ("Expected", "ManyClaims")
REFUSED = ("CheckRefuses", "ManyClaims", "Slippery")
FREELY = ("LawIsFair", "UpdateIsEmpty")
"""Where there is a law it is looked at, and `sample` held against it at some pairs only."""
for _name, _value in list(globals().items()):
    if isinstance(_value, type) and issubclass(_value, Leaks) and _value is not Leaks:
        enter(
            _name,
            __name__,
            "mechanisms",
            "free" if _name in FREELY else "refused" if _name in REFUSED else "caught",
            claim=_name not in OWN_CLAIM,
            limits=2 if _name == "PairsAreEndless" else 0,
            commands=("run",)
            if _name in (*OWN_CLAIM, "CheckRefuses", "BuildExits")
            else ("run", "audit", "dask"),
        )
assert len(CASES)
