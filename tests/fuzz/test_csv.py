"""CSV files with something wrong in them: refused in one line, or read as another reader does."""

from __future__ import annotations

import csv
import io
import math
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpassay.csv_files import read_frame
from dpassay.data import load
from dpassay.errors import InvalidInput
from tests.fuzz.mutations import mangled
from tests.fuzz.running import fuzz

FILE = Path("data.csv")
NUMBERS = ("0", "1", "-2.5", "1e3", "1e-320", "1e308", "007", "+3", ".5", "-0", " 4", "5 ")
TEXTS = ("red", "blue", '"a, b"', '"say ""hi"""', "ä", "1_000", "0x1f", "1,5", "'x'", '" y"')
STRANGE = (
    *("", "NaN", "nan", "NA", "null", "None", "inf", "-inf", "Infinity", "1e400", "-1e999"),
    *('"', '"open', "\0", "\ufeff", "\t", ";", "9" * 400, "x" * 5000, "True", "false", "#N/A"),
)
NAMES = ("a", "b", "c", "label", "a b", '"d, e"', "ü")


def table(rng: random.Random) -> str:
    """Return a file: a header, and records of numbers and texts, a few things wrong in them."""
    names = rng.sample(NAMES, rng.randint(1, 5))
    kinds = [NUMBERS if rng.random() < 0.7 else TEXTS for _ in names]
    rows = [names] + [[rng.choice(kind) for kind in kinds] for _ in range(rng.randint(1, 6))]
    for _ in range(rng.choice((0, 1, 1, 2))):
        row = rng.choice(rows)
        k = rng.randrange(len(row) + 1)
        row[k : k + rng.choice((0, 1))] = rng.choice(([rng.choice(STRANGE)], []))
    separator, end = rng.choice((",",) * 8 + (";", "\t", "|", ", ")), rng.choice("\n\n\n\r")
    text = end.join(separator.join(row) for row in rows) + rng.choice(("", end, end * 3))
    return mangled(text, rng) if rng.random() < 0.2 else text


def case(rng: random.Random) -> str:
    """Say what is read that another reader does not find in a file."""
    data = table(rng).encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:
        place = rng.randrange(len(data) + 1)
        data = data[:place] + rng.choice((b"\xff", b"\x00", b"\xc3", b"\r\n")) + data[place:]
    if rng.random() < 0.05:
        data = rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"PK\x03\x04", b"{")) + data
    FILE.write_bytes(data)
    try:
        if rng.random() < 0.3:
            return _loaded(rng)
        frame = read_frame(FILE)
    except InvalidInput as error:
        return (
            "" if " = '" in str(error) or "--label is missing" in str(error) else f"says {error!r}"
        )
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what is looked for)
        return f"{data[:300]!r}: raises {type(error).__name__}: {error}"
    told = otherwise(frame, data)
    return f"{data[:300]!r}: {told}" if told else ""


def _loaded(rng: random.Random) -> str:
    """Say what of a table for attacks cannot be."""
    found = load("data.csv", "label", missing=rng.random() < 0.5, numbers=rng.choice((None, False)))
    X, y = found.data.arrays
    if not (np.isfinite(X).all() and np.isfinite(y).all() and len(X) == len(y) > 0 < X.shape[1]):
        return f"{FILE.read_bytes()!r:.300}: is read as {X} and {y}"
    return ""


def otherwise(frame: pd.DataFrame, data: bytes) -> str:
    """Say where a frame is not what Python's reader of CSV finds."""
    text = io.StringIO(data.decode("utf-8-sig"), newline="")
    rows = [row for row in csv.reader(text, skipinitialspace=True) if "".join(row).strip()]
    header, records = [name.strip() for name in rows[0]], rows[1:]
    if [str(name).strip() for name in frame.columns] != header:
        return f"the names are {list(frame.columns)}, not {header}"
    if len(records) != len(frame) or any(len(row) != len(header) for row in records):
        return f"it has {len(frame)} records, not {len(records)} of {len(header)} values"
    for k, name in enumerate(frame.columns):
        for mine, row in zip(frame[name], records, strict=True):
            if not alike(mine, row[k]):
                return f"{name} is {mine!r:.60} where {row[k]!r:.60} is written"
    return ""


def alike(value: object, text: str) -> bool:
    """Whether a value is what a text says; a number is one and finite."""
    if isinstance(value, (bool, np.bool_)):
        return text.strip().lower() == str(bool(value)).lower()
    if isinstance(value, int):
        return int(text) == value
    if isinstance(value, (float, np.number)):
        return math.isfinite(value) and math.isclose(float(text), float(value), rel_tol=1e-15)
    return str(value).strip() == text.strip()


@pytest.mark.slow
def test_wrong_files_are_refused_or_read_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fuzz(300, case)
