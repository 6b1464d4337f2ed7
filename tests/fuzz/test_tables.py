"""Saved signals with something wrong in them: refused in one line, or read as what they say."""

from __future__ import annotations

import io
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.attacks.user_models.signals import read_signals
from dpassay.errors import InvalidInput
from tests.fuzz.running import fuzz


def torn(data: bytes, rng: random.Random) -> bytes:
    """Return bytes, at times with some of them cut off, changed, or others in front."""
    way, place = rng.random(), rng.randrange(len(data) + 1)
    if way < 0.1:
        return data[:place]
    if way < 0.2:
        return data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
    if way < 0.25:
        return data[:place] + bytes(rng.choice((1, 16, 512))) + data[place:]
    return rng.choice((b"", b"\x1f\x8b", b"PAR1", b"PK\x03\x04")) + data if way < 0.3 else data


def signals(rng: random.Random) -> str:
    """Say what of saved signals is read that makes no sense."""
    shape = (4, 6)
    arrays: dict[str, Any] = {
        "scores": np.linspace(0, 1, 24).reshape(shape),
        "membership": np.arange(24).reshape(shape) % 2,
        "labels": np.arange(6) % 2,
        "kind": "probability",
    }
    for _ in range(rng.choice((0, 1, 1, 2))):
        name = rng.choice(tuple(arrays))
        arrays[name] = rng.choice(tuple(_odd(np.asarray(arrays[name]), rng)))
    out = io.BytesIO()
    if rng.random() < 0.1:
        del arrays[rng.choice(tuple(arrays))]
    np.savez(out, **arrays)
    path = Path("signals.npz")
    path.write_bytes(torn(out.getvalue(), rng))
    found, _ = read_signals(path)
    fine = np.isfinite(found.scores).all() and set(np.unique(found.membership)) <= {0, 1}
    return "" if fine else f"reads {found}"


def _odd(array: Any, rng: random.Random) -> Iterator[Any]:
    text = array if array.dtype.kind == "S" else array.astype(str)
    yield from (text, array[..., None], array[:0] if array.ndim else array)
    yield from (np.array([]), np.array(3), np.array("x"), np.zeros((0, 6)), np.array([["a"]]))
    yield from (np.array(b"\xff"), np.zeros(3, dtype="M8[D]"), np.zeros(3, dtype="c16"))
    yield np.zeros((4, 6), dtype=[("a", "f8")])
    if array.ndim and array.dtype.kind in "if":
        changed = array.astype(float)
        odd = rng.choice((math.nan, math.inf, -1, 2, 1e308, 0.5))
        changed.flat[rng.randrange(max(1, changed.size)) :][:1] = odd
        yield changed
        with np.errstate(over="ignore"):
            yield array * 1e300


def case(rng: random.Random) -> str:
    """Say what is made of damaged signals that they do not say."""
    try:
        return signals(rng)
    except InvalidInput as error:
        return "" if " = '" in str(error) and "\n" not in str(error) else f"says {error!r}"
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what is looked for)
        return f"raises {type(error).__name__}: {error!s:.200}"


@pytest.mark.slow
def test_damaged_signals_are_refused_or_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fuzz(100, case)


def test_labels_of_signals_that_are_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "signals.npz"
    members = np.eye(2, dtype=int)
    np.savez(path, scores=members * 0.5, membership=members, labels=np.array(["a", "b"]))
    with pytest.raises(InvalidInput, match="labels = 'of <U1': must be integers >= 0"):
        read_signals(path)


@pytest.mark.parametrize("name", ["scores", "membership"])
def test_complex_signals_are_refused(name: str, tmp_path: Path) -> None:
    """Their imaginary part was dropped."""
    path, members = tmp_path / "signals.npz", np.eye(2)
    arrays: dict[str, Any] = {"scores": members * 0.5, "membership": members, name: members + 1j}
    np.savez(path, **arrays)
    with pytest.raises(InvalidInput, match=f"{name}: must be"):
        read_signals(path)
