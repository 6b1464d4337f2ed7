"""Answers by the protocol of docs/process.md for one file of this folder.

`python server.py NAME FUNCTION` imports NAME and answers with FUNCTION of it: `release`, `control`.
Standard library only, Python 3.8 or later: it runs in the environment of the bug.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
from typing import Any, Callable, Dict, TextIO  # noqa: UP035  (Python 3.8)

BATCH = 100
"""Trials that a line may ask for: none of the releases takes longer than a second."""
SINGLE_THREADED = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")

Release = Callable[[Any], Any]


def told(answer: Any) -> Any:
    """Return an answer as a JSON value: numbers that JSON does not have are texts."""
    if hasattr(answer, "tolist"):  # of NumPy
        answer = answer.tolist()
    if isinstance(answer, float) and not math.isfinite(answer):
        return "nan" if math.isnan(answer) else "inf" if answer > 0 else "-inf"
    if isinstance(answer, (list, tuple)):
        return [told(each) for each in answer]
    if isinstance(answer, dict):
        return {str(key): told(each) for key, each in answer.items()}
    return answer


def trial(release: Release, data: Any) -> Any:
    """Run a release once; a failure is an answer too, known by its type."""
    try:
        return told(release(data))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  (a panic of Rust is no Exception)
        return {"error": {"type": type(error).__name__}}


def reply(asked: Dict[str, Any], release: Release, prepared: Dict[str, Any]) -> Dict[str, Any]:  # noqa: UP006
    """Answer one line."""
    if asked["op"] == "hello":
        return {"seeded": False, "batch": BATCH, "queries": False}
    if asked["op"] == "sample":
        data = prepared[asked["id"]]
        return {"answers": [trial(release, data) for _ in range(asked["size"])]}
    if asked["op"] == "prepare":
        prepared[asked["id"]] = asked["data"]
    elif asked["op"] == "forget":
        prepared.pop(asked["id"], None)
    return {"ok": True}


def serve(release: Release, lines: TextIO, out: TextIO) -> None:
    """Answer line by line until there are none left."""
    prepared: Dict[str, Any] = {}  # noqa: UP006
    for line in lines:
        out.write(json.dumps(reply(json.loads(line), release, prepared), allow_nan=False) + "\n")
        out.flush()


def main(name: str, function: str) -> None:
    """Import a file and serve a function of it; what else it prints goes to stderr."""
    for variable in SINGLE_THREADED:
        os.environ.setdefault(variable, "1")
    sys.dont_write_bytecode = False  # whoever starts this server: a library is compiled once
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(getattr(importlib.import_module(name), function), sys.stdin, out)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
