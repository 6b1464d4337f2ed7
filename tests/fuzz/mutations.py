"""Valid documents and texts with something wrong in them."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

NUMBERS = (
    *(0, -1, 1, 2, 3, 0.5, -0.5, 1e-300, 1e300, 1e308, 10**12, 10**40, 10**400),
    *(float("inf"), float("-inf"), float("nan")),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, *NUMBERS, "", "x", "inf", "nan", "-1", "\x00\ud800", "a" * 5000),
    *([], [[]], {}, {"x": 1}, [0]),
)

Path_ = tuple[Any, ...]
Doc = Any


def paths(document: Doc, here: Path_ = ()) -> Iterator[Path_]:
    """Yield the place of every value inside a document."""
    inside = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    for key, value in inside:
        yield (*here, key)
        yield from paths(value, (*here, key))


def place(
    rng: random.Random, document: Doc, wanted: type | tuple[type, ...] = object
) -> Path_ | None:
    """Return the place of a value inside a document, found by walking down.

    What is near the root is found more often.
    """
    if rng.random() < 0.4:
        found = [path for path in paths(document) if isinstance(at(document, path), wanted)]
        return rng.choice(found) if found else None
    for _ in range(30):
        path: Path_ = ()
        here = document
        while isinstance(here, (dict, list)) and here and (not path or rng.random() < 0.8):
            key = rng.choice(list(here)) if isinstance(here, dict) else rng.randrange(len(here))
            here = here[key]
            path = (*path, key)
        if path and isinstance(here, wanted):
            return path
    return None


def at(document: Doc, path: Path_) -> Doc:
    for key in path:
        document = document[key]
    return document


def put(document: Doc, path: Path_, value: Doc) -> None:
    at(document, path[:-1])[path[-1]] = value


def mutated(document: Doc, rng: random.Random) -> Doc:
    """Return a copy of a document with one to three things wrong in it."""
    changed = copy.deepcopy(document)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice(WAYS)(rng, changed)
    return changed


def delete(rng: random.Random, document: Doc) -> None:
    path = place(rng, document)
    if path is not None:
        del at(document, path[:-1])[path[-1]]


def retype(rng: random.Random, document: Doc) -> None:
    path = place(rng, document)
    if path is not None:
        put(document, path, copy.deepcopy(rng.choice(VALUES)))


def scale(rng: random.Random, document: Doc) -> None:
    path = place(rng, document, (int, float))
    if path is not None:
        number = at(document, path)
        half = number / 2 if abs(number) < 1e300 else 7
        ways = (0, -number, 2 * number, 1000 * number, half, number + 1, rng.randrange(50))
        put(document, path, rng.choice((*ways, *NUMBERS)))


def lengthen(rng: random.Random, document: Doc) -> None:
    path = place(rng, document, list)
    found = [] if path is None else at(document, path)
    if found and rng.random() < 0.5:
        found += copy.deepcopy(found[: rng.randint(1, len(found))])
    elif found:
        del found[rng.randrange(len(found)) :]


def swap(rng: random.Random, document: Doc) -> None:
    one, other = place(rng, document), place(rng, document)
    if one is not None and other is not None:
        put(document, one, copy.deepcopy(at(document, other)))


def same_type(rng: random.Random, document: Doc) -> None:
    one = place(rng, document)
    other = None if one is None else place(rng, document, type(at(document, one)))
    if one is not None and other is not None:
        put(document, one, copy.deepcopy(at(document, other)))


def nest(rng: random.Random, document: Doc) -> None:
    path = place(rng, document)
    if path is not None:
        found = at(document, path)
        put(document, path, rng.choice(([found], {"x": found}, [[found]])))


WAYS: tuple[Callable[[random.Random, Doc], None], ...] = (
    *(delete, retype, retype, scale, scale, lengthen, swap, same_type, same_type, nest),
)


def doubled(text: str, rng: random.Random) -> str:
    """Return a JSON text in which an object has one of its names twice, with another value."""
    names = list(re.finditer(r'"([^"\\\\]+)": ', text))
    if not names:
        return text
    name = rng.choice(names)
    value = json.dumps(rng.choice(VALUES))
    return f"{text[: name.start()]}{name[0]}{value}, {text[name.start() :]}"


def damaged(path: Path, rng: random.Random) -> str:
    """Return the text of a JSON file with something wrong in it."""
    text, way = path.read_text(encoding="utf-8"), rng.random()
    if way < 0.08:
        return mangled(text, rng)
    if way < 0.12:
        return doubled(text, rng)
    return json.dumps(mutated(json.loads(text), rng))


def mangled(text: str, rng: random.Random) -> str:
    """Return a text with pieces cut out, doubled, swapped or replaced."""
    for _ in range(rng.choice((1, 1, 2))):
        one, other = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        piece = text[one : min(other, one + 40)]
        odd = ("[", "{", '"', "=", "\x00", "inf", "nan", "9" * 400, "-", "[" * 3000)
        put = rng.choice(("", piece + piece, piece[::-1], rng.choice(odd)))
        text = text[:one] + put + text[one + len(piece) :]
    return text


def written(path: Path, document: Doc) -> None:
    path.write_text(json.dumps(document, ensure_ascii=True), encoding="utf-8")
