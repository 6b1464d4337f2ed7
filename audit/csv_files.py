"""A CSV or Parquet file as a table, or what is wrong with it: in which line, and what mends it."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpassay.errors import InvalidInput, first_line

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

# columns that a message names, and characters of a value that it quotes; a column with a text of
# its own for each of so many records holds their names
MOST_SHOWN, MOST_TEXT, LEAST_NAMED = 12, 24, 20
SEPARATORS = {";": "';'", "\t": "tabs", "|": "'|'"}
KINDS = (
    (b"PK\x03\x04", "is a spreadsheet or an archive"),
    (b"{", "is JSON"),
    (b"[", "is JSON"),
    (b"\xff\xfe", "is UTF-16 text"),
    (b"\xfe\xff", "is UTF-16 text"),
)
"""What files begin with that are often taken for CSV."""
PARQUET = b"PAR1"
"""What Parquet files begin with."""
NESTED = {"bytes", "dict", "list", "ndarray", "tuple"}
"""What no cell of a table is."""
COMPUTED = ("=", "+", "-", "@", "\t", "\r", "'")
"""What texts begin with that a spreadsheet computes; after the last it computes nothing."""
PACKED = (".gz", ".zip", ".bz2", ".xz", ".zst")
"""What files end with that pandas unpacks."""
UNPACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
"""What opens those that are read line by line too."""
LOOKED_AT = 2**16
"""Bytes among which there is a line feed, if lines end by it."""
QUOTED = re.compile(rb'"[^"]*"')
FILL = (
    "fill features with a constant such as 0 (a mean or median would mix the records), leave these "
    "lines out, or have a function audited on tables that have them: --search table,file=..."
)


def cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet computes."""
    return f"'{text}" if text.startswith(COMPUTED) else text


def is_file(path: Path) -> bool:
    """Return whether there is a file at a path; a path that cannot be looked at holds none."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long, or with a null byte
        return False


def read_frame(path: Path, *, missing: bool | str = False) -> pd.DataFrame:
    """Read a CSV file, UTF-8 and separated by commas, with a header line, or a Parquet file.

    It has a record at least. No value is infinite. Values may be missing anywhere, or in the one
    column that `missing` names. Raise InvalidInput if it is no such file; the message says in which
    line, and what would mend it.
    """
    frame = _read_parquet(path) if _check_start(path) == PARQUET else _read_csv(path)
    if len(frame) == 0:
        raise _wrong(path, "has no records; must have at least one")
    full = frame.drop(columns=[missing], errors="ignore") if isinstance(missing, str) else frame
    if missing is not True and full.isna().to_numpy().any():
        raise _wrong(path, _missing(path, frame))
    _check_finite(path, frame)
    return frame


def _read_csv(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            line: dict[str, Any] = {"header": None, "nrows": 1, "keep_default_na": False}
            names = pd.read_csv(path, skipinitialspace=True, dtype=str, **line)
            _check_header(path, [str(name).strip() for name in names.iloc[0]])
            frame = pd.read_csv(path, skipinitialspace=True, index_col=False, on_bad_lines="error")
    except UnicodeDecodeError:
        raise _wrong(path, _encoding(path)) from None
    except InvalidInput:
        raise
    except (ValueError, pd.errors.ParserWarning) as error:
        fault = _uneven(path) or f"cannot be read as CSV ({str(error).splitlines()[0]})"
        raise _wrong(path, fault) from None
    if fault := _uneven(path):  # pandas drops a value too many where it is missing
        raise _wrong(path, fault)
    return frame


def _read_parquet(path: Path) -> pd.DataFrame:
    """Read it by pyarrow or fastparquet; an index is a column if it has a name."""
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
        frame = frame.reset_index(drop=frame.index.names == [None])
    except ImportError:
        needs = "is a Parquet file, which needs pyarrow or fastparquet: pip install pyarrow"
        raise _wrong(path, needs) from None
    except Exception as error:  # noqa: BLE001  (it is whatever the library meets)
        what = first_line(str(error)) or type(error).__name__
        raise _wrong(path, f"cannot be read as Parquet ({what})") from None
    _check_header(path, list(map(str, frame.columns)) or [""])
    for name in frame.select_dtypes(include=["object"]).columns:
        kinds = {type(each).__name__ for each in frame[name]} & NESTED
        if kinds:
            raise _wrong(path, f"column '{name}' holds {min(kinds)}; must hold single values")
    return frame


def _check_start(path: Path) -> bytes:
    """Return its first bytes; raise `InvalidInput` for a file that is empty or no table."""
    if not is_file(path):
        raise InvalidInput(f"file = '{path}': no such file")
    with path.open("rb") as file:
        start = file.read(4096)
    for begins, kind in KINDS:
        if start.startswith(begins) and path.suffix not in PACKED:
            raise _wrong(path, f"{kind}; must be CSV: save it as 'CSV UTF-8'")
    if not start.strip(b" \t\r\n\xef\xbb\xbf"):
        raise _wrong(path, "is empty; must be CSV with a header line")
    return start[: len(PARQUET)]


def check_features(path: Path, features: pd.DataFrame) -> None:
    """Raise `InvalidInput` for a text among numbers, or one of its own for every record."""
    for name in features.columns:
        texts = features[name].dtype.kind not in "iufb"
        if texts and (wrong := _wrong_texts(path, features[name].astype(str))):
            raise _wrong(path, f"column '{name}' {wrong}")


def _wrong_texts(path: Path, texts: pd.Series[Any]) -> str:
    """Say what is wrong with a column of texts; empty where nothing is."""
    import pandas as pd

    numbers = pd.to_numeric(texts, errors="coerce").notna().to_numpy()
    commas = texts.str.fullmatch(r"\s*-?\d+,\d+\s*").to_numpy(dtype=bool)
    comma = bool(commas.any() and (numbers | commas).all())
    if comma or len(numbers) / 2 < numbers.sum() < len(numbers):
        k = int(numbers.argmin())
        first = f"'{_short(texts.iloc[k])}'{_at(path, k)}"
        if comma:
            return f"has a comma in its numbers, first {first}; write 1.5"
        some = f"{numbers.sum():,} of {len(numbers):,} records"
        return f"is a number in {some}, but {first}; must be all numbers, or all texts"
    if len(texts) >= LEAST_NAMED and texts.nunique() == len(texts):
        every = f"each of the {len(texts):,} records"
        return f"has a different text in {every}; leave names of records out"
    return ""


def shown(names: list[str]) -> str:
    """Name columns, at most some of them."""
    more = f" and {len(names) - MOST_SHOWN:,} more" if len(names) > MOST_SHOWN else ""
    return f"{', '.join(names[:MOST_SHOWN])}{more}"


def nameless(names: list[str]) -> bool:
    """Return whether a header looks like a record: one of its names is a number."""
    return any(re.fullmatch(r"-?\d+(\.\d+)?", name.strip()) for name in names)


def _wrong(path: Path, what: str) -> InvalidInput:
    return InvalidInput(f"--data = '{path}': {what}")


def _check_header(path: Path, names: list[str]) -> None:
    """Raise `InvalidInput` if names are separated by something else, missing, or the same."""
    separator = max(SEPARATORS, key=names[0].count)
    if len(names) <= names[0].count(separator):
        pandas = {"\t": "\\t"}.get(separator, separator)
        raise _wrong(
            path,
            f"is separated by {SEPARATORS[separator]}; must be separated by commas: "
            f"pandas.read_csv(..., sep='{pandas}').to_csv(..., index=False)",
        )
    if "" in names:
        what = f"column {names.index('') + 1} has no name in the header; an index is left out by "
        raise _wrong(path, f"{what}to_csv(..., index=False)")
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise _wrong(path, f"two columns have the name '{twice}'; names must differ")


def _check_finite(path: Path, frame: pd.DataFrame) -> None:
    """Raise `InvalidInput` if a number is infinite."""
    import numpy as np

    for name in frame.select_dtypes(include=["number"]).columns:
        bad = np.isinf(frame[name].to_numpy(dtype=float))
        if bad.any():
            k = int(np.argmax(bad))
            what = f"column '{name}' is {frame[name].iloc[k]}{_at(path, k)}"
            raise _wrong(path, f"{what}; must be a finite number")


def record_lines(path: Path, records: int) -> NDArray[np.int64] | None:
    """Return the line in which each record begins, from 1; None where it cannot be told."""
    import numpy as np

    try:
        begins = [line for line, _ in _lines(path)][1:]
    except (OSError, ValueError, csv.Error, EOFError, lzma.LZMAError):
        return None
    return np.array(begins, dtype=np.int64) if len(begins) == records else None


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line that it begins in, as editors count; skip blank lines."""
    with UNPACKED.get(path.suffix, Path.open)(path, "rb") as file:
        start = file.read(LOOKED_AT)
        if start.startswith(PARQUET):
            raise ValueError("no lines")
        end = "\n" if b"\n" in QUOTED.sub(b"", start) else ""
        file.seek(0)
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline=end)
        rows = csv.reader(text, skipinitialspace=True)
        begins = 1
        for row in rows:
            if len(row) > 1 or "".join(row).strip(" \t"):  # a line of blanks is no record
                yield begins, row
            begins = rows.line_num + 1


def _uneven(path: Path) -> str:
    """Say which line has not as many values as the header has names; empty where all have."""
    last, wrong, names = 0, "", 0
    try:
        for k, (last, row) in enumerate(_lines(path)):
            names, first = names or len(row), k == 1
            if not wrong and len(row) != names:
                wrong = f"line {last} has {len(row)} value{'' if len(row) == 1 else 's'}; must "
                wrong += f"have {names}, one for each name in the header"
                hint = "is a name missing there?" if first else "a text with a comma needs quotes"
                wrong += f"; {hint}" if len(row) > names else ""
                if any("\n" in value for value in row):
                    return f'a quote " that opens in line {last} is not closed'
    except (OSError, ValueError, csv.Error):
        return ""
    return wrong


def _missing(path: Path, frame: pd.DataFrame) -> str:
    """Say in which columns values are missing, how many, and what would mend it."""
    import numpy as np

    told: list[str] = []
    gaps = frame.isna()
    columns = [name for name in frame.columns if gaps[name].any()]
    for name in columns[:3]:
        bad = gaps[name].to_numpy()
        k = int(np.argmax(bad))
        of = f"{bad.sum():,} of {len(bad):,} records" if not told else f"{bad.sum():,}"
        told.append(f"column '{name}' in {of} (first{_at(path, k, frame.columns.get_loc(name))})")
    more = len(columns) - len(told)
    told += [f"{more} more column{'' if more == 1 else 's'}"] if more else []
    return f"has missing values: {', '.join(told)}; {FILL}"


def _at(path: Path, record: int, column: object = None) -> str:
    """Say in which line a record is, and how a value that counts as missing is written there."""
    try:
        line, row = next(each for k, each in enumerate(_lines(path)) if k == record + 1)
    except (OSError, ValueError, csv.Error, StopIteration):
        return f" in record {record + 1}"
    mark = row[column].strip() if isinstance(column, int) and column < len(row) else ""
    return f" in line {line}" + (f", written '{_short(mark)}'" if mark else "")


def _encoding(path: Path) -> str:
    """Say which line is not UTF-8."""
    data = b"" if path.suffix in PACKED else path.read_bytes()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return (
            f"is not UTF-8: line {line} has the byte 0x{data[error.start]:02x}; must be UTF-8 "
            "(from Windows perhaps: iconv -f cp1252 -t utf-8)"
        )
    return "is not UTF-8; must be UTF-8"


def _short(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 3]}..."
