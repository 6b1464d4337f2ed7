"""The line of a file in which each record begins, and changes that are told by it."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dpassay.data import Labelled, Lines, Split, load, split
from dpassay.pairs import (
    AnyOf,
    FlipLabel,
    Replace,
    Several,
    change_key,
    changed_lines,
    in_file,
    replace_one,
    replace_several,
)

TEXT = """
 \t
number,"a note
of two lines",ill
1000,plain,yes

1001,"two

lines",no
1002,"a ""quoted"" word",yes
   \t

1003,"x,
y,
z",no
1004,plain,yes

"""
BY_HAND = {1000: 5, 1001: 7, 1002: 10, 1003: 13, 1004: 16}
"""Record and line, read off the text above, whose first line is empty."""


def lines_of(path: Path) -> dict[int, int] | None:
    table = load(str(path), "ill")
    if table.lines is None:
        return None
    return dict(zip(table.data.X[:, 0].astype(int).tolist(), table.lines.tolist(), strict=True))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_lines_as_counted_by_hand(tmp_path: Path, end: str, start: str) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes((start + TEXT.replace("\n", end)).encode())
    assert lines_of(path) == BY_HAND


def test_a_carriage_return_within_a_line_ends_none(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(TEXT.replace("x,\ny,", "x,\ry,").encode())
    assert lines_of(path) == BY_HAND | {1004: 15}


@pytest.mark.parametrize(("end", "pack"), [("gz", gzip), ("bz2", bz2), ("xz", lzma)])
def test_a_packed_file_has_the_lines_of_what_it_packs(
    tmp_path: Path, end: str, pack: Callable[..., bytes]
) -> None:
    path = tmp_path / f"people.csv.{end}"
    path.write_bytes(pack.compress(TEXT.encode()))  # type: ignore[attr-defined]
    assert lines_of(path) == BY_HAND


def test_no_lines_where_they_cannot_be_told(tmp_path: Path) -> None:
    packed, mixed = tmp_path / "people.csv.zip", tmp_path / "mixed.csv"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("people.csv", TEXT)
    mixed.write_bytes(b"number,ill\r1,yes\n2,no\r3,no\n")
    assert lines_of(packed) is None
    assert lines_of(mixed) is None
    assert split(load(str(packed), "ill"), train=3, queries=1, seed=0).lines is None
    assert load("breast-cancer").lines is None


def irregular(path: Path, seed: int, records: int = 60) -> list[str]:
    """Write a file whose record k has the number 1000 + k; its lines, as an editor shows them."""
    rng, notes = np.random.default_rng(seed), ("a", '"two\nlines"', '"\n\n"', '"a ""b"", 1\n"')
    text = "\n" * int(rng.integers(3)) + "number,note,ill\n"
    for k in range(records):
        text += f"{1000 + k},{rng.choice(notes)},{rng.choice(('yes', 'no'))}\n"
        text += rng.choice(("", "", "\n", " \n\n", "\t\n"))
    path.write_text(text, encoding="utf-8")
    return text.split("\n")


def by_record(path: Path, seed: int) -> tuple[Split, list[str]]:
    text = irregular(path, seed)
    return split(load(str(path), "ill"), train=25, queries=4, seed=seed), text


@pytest.mark.parametrize("seed", range(8))
def test_lines_stay_with_records_that_are_drawn_and_shuffled(tmp_path: Path, seed: int) -> None:
    parts, text = by_record(tmp_path / "people.csv", seed)
    assert parts.lines is not None
    for data, lines in ((parts.train, parts.lines.train), (parts.pool, parts.lines.pool)):
        assert len(lines) == len(data) == 25
        for number, line in zip(data.X[:, 0], lines.tolist(), strict=True):
            assert text[line - 1].startswith(f"{number:.0f},")
    apart = parts.lines.train - parts.train.X[:, 0]
    assert len(set(apart.tolist())) > 5  # irregular: no constant leads from record to line


@pytest.mark.parametrize("k", [1, 2, 3])
def test_pairs_name_the_lines_of_the_records_that_they_change(tmp_path: Path, k: int) -> None:
    parts, text = by_record(tmp_path / "people.csv", 5)
    plain = replace_one(parts.train.X, parts.train.y, pool=parts.pool, neighbours="one+flip")
    pairs = replace_several(plain.in_file(parts.lines), k)
    for change in pairs.changes:
        single = change.changes if isinstance(change, Several) else (change,)
        assert len(single) == k
        for each, line in zip(single, changed_lines(change), strict=True):
            number = parts.train.X[each.index, 0]
            assert text[line - 1].startswith(f"{number:.0f},")
            if isinstance(each, Replace):
                assert each.new_line is not None
                assert text[each.new_line - 1].startswith(f"{each.x[0]:.0f},")
                told = f"record of line {line} replaced by that of line {each.new_line}"
            else:
                told = f"label of line {line} flipped"
            assert str(each) == told
            assert told in str(change)


LINES = Lines(train=np.array([4, 9, 49]), pool=np.array([77, 78]))
FLIP, SWAP = FlipLabel(2), Replace(1, np.array([0.5]), 1, pool=0)


@pytest.mark.parametrize(
    ("change", "words", "lines"),
    [
        (FLIP, "label of line 49 flipped", (49,)),
        (SWAP, "record of line 9 replaced by that of line 77", (9,)),
        (Replace(0, np.array([0.5]), 1), "record of line 4 replaced by (x = 0.5, label 1)", (4,)),
        (
            Several((SWAP, FLIP)),
            "record of line 9 replaced by that of line 77, label of line 49 flipped",
            (9, 49),
        ),
        (AnyOf((FLIP,)), "label of line 49 flipped", (49,)),
    ],
)
def test_a_line_is_words_only(
    change: FlipLabel | Replace | Several | AnyOf, words: str, lines: tuple[int, ...]
) -> None:
    told, pool = in_file(change, LINES), Labelled([[0.5], [1.0]], [1, 0])  # type: ignore[arg-type]
    assert (str(told), changed_lines(told)) == (words, lines)
    assert changed_lines(change) == ()
    assert "record" in str(change)
    assert "line" not in str(change)
    assert str(in_file(told, None)) == str(change)
    assert change_key(told, pool) == change_key(change, pool)
    for by_value in (False, True):  # what random streams and witnesses know a change by
        assert told.as_json(by_value=by_value) == change.as_json(by_value=by_value)
    assert changed_lines(told.at(0)) == lines  # a block holds the record at another place


class Own:
    """A change as a user's class may be: all that is asked of it, and no more."""

    index = 0

    def at(self, index: int) -> Own:
        assert index == 0
        return self

    def apply(self, data: Labelled) -> Labelled:
        return data

    def as_json(self, *, by_value: bool = False) -> dict[str, object]:
        return {"kind": "own", "by_value": by_value}


def test_a_change_of_the_users_own_class_stays_as_it_is() -> None:
    own = Own()
    assert in_file(own, LINES) is own
    assert changed_lines(own) == ()
