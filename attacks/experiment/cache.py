"""Where answers of trained models are kept, so that an interrupted experiment goes on and attacks share what was trained."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.errors import InvalidInput

VERSION = 2
"""Of how answers are made: raised when equal keys may stand for other answers."""


SUM = hashlib.sha256().digest_size
"""Bytes of the checksum that stands in front of an array."""


class ModelCache:
    """Arrays by key: one file each in a folder, written whole or not at all; without a folder nothing is kept.

    Parameters
    ----------
    directory : Path or None
        Made if it does not exist.

    Raises
    ------
    InvalidInput
        If it cannot be made.
    """

    __slots__ = ("_directory",)

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        if directory is not None:
            try:
                directory.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InvalidInput(f"--cache = '{directory}': cannot be made ({error.strerror})") from None

    def get(self, key: Any) -> Array | None:
        """Return what was kept under a key, or None; a damaged file counts as none."""
        path = self._path(key)
        if path is None:
            return None
        try:
            kept = path.read_bytes()
            sum_, body = kept[:SUM], kept[SUM:]
            if hashlib.sha256(body).digest() != sum_:
                return None
            found: Array = np.load(io.BytesIO(body), allow_pickle=False)
        except (OSError, ValueError):
            return None
        return found

    def put(self, key: Any, values: Array) -> None:
        """Keep an array; a full disk costs the copy, not the experiment."""
        path = self._path(key)
        if path is None:
            return
        with suppress(OSError):
            handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
            try:
                body = io.BytesIO()
                np.save(body, values, allow_pickle=False)
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(body.getvalue()).digest() + body.getvalue())
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise

    def _path(self, key: Any) -> Path | None:
        if self._directory is None:
            return None
        digest = hashlib.sha256(json.dumps([VERSION, key], sort_keys=True).encode()).hexdigest()
        return self._directory / f"{digest}.seen"
