"""Processes with limits: what is asked is answered, and else it is one `Lost` that says why."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.trials.isolation.host import CHUNK, GIB, SHOWN, Host, Hosts, Said, wait
from dpassay.trials.isolation.limits import Limits, Lost, Overtime, Unsent
from dpassay.workers import namespaces as of_linux
from dpassay.workers import supervisor

Act = Callable[..., Any]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there are no namespaces")


def desk(operation: str, arguments: tuple[Any, ...], objects: dict[int, Any]) -> Any:
    """Call what it is given, or what the operation names."""
    if operation == "call":
        return arguments[0](*arguments[1:])
    if operation == "put":
        objects[arguments[0]] = list(arguments[1:])
        return None
    if operation == "same":
        return arguments[0] is arguments[1]
    return len(objects)


@pytest.fixture
def host() -> Iterator[Callable[..., Host]]:
    opened: list[Host] = []

    def start(*acts: Act, **limits: Any) -> Host:
        opened.append(Host(desk, Limits(**limits), shared=acts))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def test_a_host_answers_from_another_process_and_in_a_group_of_its_own(
    host: Callable[..., Host],
) -> None:
    where = lambda: [os.getpid(), os.getpgid(0), os.getsid(0)]  # noqa: E731
    pid, group, session = host(where).call("call", where)["done"]
    assert pid == group == session
    assert session != os.getsid(0)


# a finalizer that fails says it here, and no test sees it else
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_what_is_known_is_the_same_object_and_is_forgotten_when_it_is_gone(
    host: Callable[..., Host],
) -> None:
    """Once, also where it is named twice: two groups may have one base."""
    one = host()
    data = Labelled(np.zeros((2, 1)), np.array([0, 1]))
    held = one.call("count")["done"]
    state = one.keep()
    one.call("put", state.key, data, known=(data, data))
    assert one.call("same", data, data, known=(data, data)) == {"done": True}
    assert one.call("count") == {"done": held + 2}
    del data, state
    gc.collect()
    assert one.call("count") == {"done": held}


def test_states_of_a_host_that_is_gone_are_not_taken_for_others(host: Callable[..., Host]) -> None:
    one, other = host(), host()
    state = one.keep()
    with pytest.raises(Unsent, match="a process that is gone"):
        other.call("count", state)
    assert other.call("count") == {"done": 0}


def test_what_cannot_be_pickled_is_named_unless_it_was_there_before(
    host: Callable[..., Host],
) -> None:
    act = lambda: 5  # noqa: E731
    with pytest.raises(Unsent, match="lambda"):
        host().call("call", act)
    assert host(act).call("call", act) == {"done": 5}


def test_what_is_raised_comes_back_as_a_text_and_the_host_goes_on(
    host: Callable[..., Host],
) -> None:
    def boom() -> None:
        raise KeyboardInterrupt("now")

    one = host(boom)
    found = one.call("call", boom)
    assert found["raised"] == "KeyboardInterrupt"
    assert found["detail"].startswith("now (KeyboardInterrupt")
    assert one.call("call", np.arange, 2)["done"].tolist() == [0, 1], "it goes on"
    for _ in range(3):  # it comes back twice, and answers once
        assert set(one.call("call", os.fork)) == {"done"}
        assert one.call("count") == {"done": 1}


@pytest.fixture(params=["as here", "of a user", "without"])
def namespaces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int | None:
    """Those of this machine, those of somebody who is not root, and none, as on another."""
    found = None if request.param == "without" else of_linux.namespaces()
    if request.param == "of a user":
        if found is None or not of_linux.protects(found | of_linux.USER, ()):
            pytest.skip("this machine gives no namespaces to users")
        found |= of_linux.USER
    monkeypatch.setattr("dpassay.trials.isolation.host.namespaces", lambda: found)
    return found


def closes() -> None:
    os.closerange(0, 64)


def leaves_while_a_child_holds_on() -> None:
    if os.fork() == 0:
        time.sleep(600)
    os._exit(4)


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize(
    "then",
    [lambda: None, lambda: os._exit(0), lambda: time.sleep(600)],
    ids=["stays", "exits", "hangs"],
)
def test_what_a_host_has_started_ends_with_it(then: Act, host: Callable[..., Host]) -> None:
    reader, writer = os.pipe()

    def starts_another() -> None:
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            time.sleep(600)
        then()

    one = host(starts_another, seconds=0.5)
    os.close(writer)
    with suppress(Lost):
        one.call("call", starts_another)
    one.close()
    assert os.read(reader, 1) == b"", "nobody holds the other end any more"
    os.close(reader)


@LINUX
def test_a_bomb_of_processes_is_ended(namespaces: int | None, host: Callable[..., Host]) -> None:
    def explodes() -> None:
        while os.fork() or True:
            time.sleep(0.01)

    with pytest.raises(Lost, match=r"it had \d+ processes at a time, more than its limit"):
        host(explodes, processes=8).call("call", explodes)


@LINUX
def test_a_host_reaches_neither_the_judge_nor_what_is_protected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: Callable[..., Host]
) -> None:
    if of_linux.namespaces() is None:
        pytest.skip("this machine gives no namespaces")  # the report says so too
    judge, kept, here = os.getpid(), tmp_path / "baseline.json", tmp_path / "here"
    kept.write_text("{}")
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr("dpassay.trials.isolation.limits.PROTECTED", [str(kept)])

    def tried(act: Act, *arguments: Any) -> str:
        try:
            return repr(act(*arguments))
        except OSError as error:
            return str(error.strerror)

    def reaches() -> list[str]:
        mount = ctypes.CDLL(None).mount
        return [
            *(tried(os.kill, pid, signal.SIGKILL) for pid in (judge, os.getppid())),
            tried(Path(f"/proc/{judge}/mem").open, "rb"),
            tried(kept.write_text, "[]"),
            tried(kept.unlink),
            tried((tmp_path / "new").rename, kept),
            tried(Path(supervisor.__file__).with_name("new.py").write_text, ""),
            tried(Path("new.py").write_text, "1"),
            tried(os.listdir, "/dev/pts"),
            str(mount(None, os.fsencode(kept), None, 32 | 4096, None)),
            str(ctypes.CDLL(None).umount(os.fsencode(kept))),
        ]

    (tmp_path / "new").touch()
    assert host(reaches).call("call", reaches)["done"] == [
        *("No such process", "None", "No such file or directory"),
        *("Read-only file system", "Device or resource busy", "Device or resource busy"),
        *("Read-only file system", "1", "['ptmx']", "-1", "-1"),
    ]
    assert list(here.iterdir()) == [], "what it writes into the working directory is its own"
    assert (kept.read_text(), os.getppid() > 0) == ("{}", True)


def test_in_a_forked_process_hosts_are_its_own() -> None:
    several = Hosts("mine", desk, Limits())
    before = several.first()
    child = os.fork()
    if child == 0:
        mine = several.first()
        code = mine is not before and mine.call("count") == {"done": 0}
        several.close()
        os._exit(not code)
    assert os.waitpid(child, 0)[1] == 0
    assert before.call("count") == {"done": 0}
    several.close()


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize(
    ("act", "arguments", "how"),
    [
        (os._exit, (0,), "exit code 0"),
        (os.kill, (0, signal.SIGKILL), "signal 9"),
        (closes, (), "it closed its connection, or broke what its process needs"),
        (leaves_while_a_child_holds_on, (), "exit code 4"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_host_that_dies_says_how(
    act: Act, arguments: tuple[Any, ...], how: str, host: Callable[..., Host]
) -> None:
    one, began = host(), time.monotonic()
    with pytest.raises(Lost) as caught:
        one.call("call", act, *arguments)
    assert str(caught.value) == f"the worker died ({how})"
    assert time.monotonic() - began < 30, "no death waits for the time limit"
    assert one.closed
    assert host().call("count") == {"done": 0}


def scribbles() -> None:
    for number in range(3, 64):
        with suppress(OSError):
            os.set_blocking(number, False)
            os.write(number, b"\x7f" * 64)


@pytest.mark.slow
@pytest.mark.alone
def test_a_host_that_writes_over_its_connection_is_lost_and_no_other(
    host: Callable[..., Host],
) -> None:
    one, other = host(), host()
    with pytest.raises(Lost, match="the worker wrote over its connection"):
        other.call("call", scribbles)
    assert one.call("count") == {"done": 0}


def writes() -> None:
    while True:
        os.write(1, b"x\n" * 30_000)


def talks() -> None:
    while True:
        sys.stdout.write("waiting\n")


LATE = r"took longer than 0.5 s"


@pytest.mark.parametrize(
    ("act", "limits", "said"),
    [
        (lambda: time.sleep(600), {"seconds": 0.5}, LATE),
        (lambda: os.kill(os.getpid(), signal.SIGSTOP), {"seconds": 0.5}, LATE),
        (writes, {"seconds": 0.5}, LATE),
        (talks, {"seconds": 0.5}, LATE),
        (lambda: np.ones(1_000_000), {"reply": 0.001}, r"its answer is longer than 0.001 GiB"),
    ],
    ids=["sleeps", "stops", "writes", "prints", "answers at length"],
)
def test_a_host_that_exceeds_a_limit_is_ended(
    act: Act, limits: dict[str, Any], said: str, host: Callable[..., Host]
) -> None:
    with pytest.raises(Overtime if said == LATE else Lost, match=said):
        host(act, **limits).call("call", act)


@LINUX
def test_memory_is_limited(host: Callable[..., Host]) -> None:
    one = host(memory=0.25)
    assert "MemoryError" in one.call("call", np.ones, GIB // 16)["raised"]
    assert set(one.call("call", np.ones, 1000)) == {"done"}


def prints() -> None:
    for k in range(1000):
        sys.stdout.write("again\n")
        os.write(2, f"line {k % 20}\n".encode())


def test_what_it_prints_is_collected_line_by_line(
    host: Callable[..., Host], capfd: pytest.CaptureFixture[str]
) -> None:
    one = host()
    one.call("call", prints)
    one.close()
    told = one.said.lines()
    assert told[:2] == ["again (1,000 times)", "line 0 (50 times)"]
    assert told[-1] == "... and 550 more lines"
    assert len(told) == SHOWN + 1
    assert capfd.readouterr() == ("", "")


def test_an_endless_line_takes_no_memory() -> None:
    said = Said()
    for _ in range(5):
        said.hear(b"x" * CHUNK)
    assert len(said._rest) <= CHUNK


def test_several_are_opened_as_they_are_needed_and_new_ones_for_those_that_are_lost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    several = Hosts("mine", desk, Limits())
    first = several.first()
    assert several.several(2)[0] is first
    second = several.several(2)[1]
    with pytest.raises(Lost):
        first.call("call", os._exit, 1)
    assert several.first() is second
    second.call("call", prints)
    fresh = several.afresh()
    assert fresh.first() not in (first, second)
    fresh.close()
    assert capsys.readouterr().err == ""
    several.close()
    assert capsys.readouterr().err.startswith("dpassay: mine printed: again (1,000 times)\n")


def test_several_at_work_are_waited_for_together(host: Callable[..., Host]) -> None:
    acts = [lambda: time.sleep(0.4), lambda: 5]
    slow, quick = host(*acts), host(*acts)
    slow.ask("call", acts[0])
    quick.ask("call", acts[1])
    while not (found := quick.answer())[0]:
        wait([slow, quick])
    assert found == (True, {"done": 5})
    assert slow.answer() == (False, None)


def test_a_system_that_starts_no_process_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuses)
    said = r"no process could be started \(Resource temporarily unavailable\)"
    with pytest.raises(TargetError, match=said):
        Hosts("mine", desk, Limits()).first()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_of_the_group_never_sends_a_child_up_our_stack(
    number: signal.Signals, host: Callable[..., Host], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may come before the child has a session of its own; there it is ignored."""
    fork = os.fork

    def interrupted() -> int:
        child = fork()
        if child == 0:
            os.kill(os.getpid(), number)
        return child

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    of_linux._namespaces.clear()  # its trial forks too
    monkeypatch.setattr(os, "fork", interrupted)
    try:
        one = host()
    except BaseException:  # noqa: BLE001
        os._exit(99)  # of the child
    finally:
        signal.signal(signal.SIGTERM, before)
    assert set(one.call("count")) == {"done"}
