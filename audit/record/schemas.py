"""Documents are held against the JSON Schemas of this package.

What is wrong with one is said in one line. The files of the schemas abbreviate JSON Schema:

* a text in place of a schema, or behind `is`, names what it stands for: a type of JSON, a
  definition, `list of` one of them, or several of them with `or` between; behind a colon stands
  its description;
* an object has all fields in `properties` but those that end with `?`, and no others.

`read_schema` writes that out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import ValidationError

FINITE, LARGEST = sys.float_info.max, 2**63 - 1
NOUNS = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number of at most 64 bits",
    "number": "a finite number",
    "boolean": "true or false",
    "null": "null",
}
LIMITS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
LIST = "list of "
SHOWN = 80
"""Characters of a value that a message shows."""

Raw = Mapping[str, Any]
Faults = Iterable["ValidationError"]
KNOWN: dict[str, Callable[[Any], bool]] = {
    "integer": lambda value: type(value) is int and abs(value) <= LARGEST,
    "number": lambda value: type(value) in (int, float) and abs(value) <= FINITE,
}
"""What counts as a number of a kind: a truth value does not."""


def read_schema(name: str) -> dict[str, Any]:
    """Return a JSON Schema (2020-12) of this package, with its abbreviations written out."""
    folder = resources.files("dpassay.record")
    shared, own = (
        json.loads(folder.joinpath(f"{each}.schema.json").read_text(encoding="utf-8"))
        for each in ("shared", name)
    )
    names = {**shared["$defs"], **own.pop("$defs", {})}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_whole(own, names)}


def _whole(form: str | Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Write out the abbreviations in a schema, at any depth."""
    if isinstance(form, str):
        meant, _, description = form.partition(": ")
        if description:
            return _whole({"is": meant, "description": description}, names)
        if " or " in meant:
            return {"anyOf": [_whole(each, names) for each in meant.split(" or ")]}
        if meant.startswith(LIST):
            return {"type": "array", "items": _whole(meant.removeprefix(LIST), names)}
        return {"type": meant} if meant in NOUNS else _whole(names[meant], names)
    given = dict(form)
    whole = _whole(given.pop("is"), names) if "is" in given else {}
    if "properties" in given and "required" not in given:
        fields: dict[str, Any] = given.pop("properties")
        every = {each.removesuffix("?"): _whole(fields[each], names) for each in fields}
        must = (each for each in fields if not each.endswith("?"))
        whole |= {
            "type": "object",
            "properties": whole.get("properties", {}) | every,
            "required": [*dict.fromkeys((*whole.get("required", ()), *must))],
            "additionalProperties": False,
        }
    if "items" in given:
        whole["type"] = "array"
    for keyword, held in given.items():
        if keyword in ("anyOf", "prefixItems"):
            whole[keyword] = [_whole(each, names) for each in held]
        elif keyword in ("items", "additionalProperties") and held is not True:
            whole[keyword] = _whole(held, names)
        else:
            whole[keyword] = held
    return whole


def fault(document: object, name: str) -> str:
    """Say where a document breaks a schema: the place, the value and what is allowed.

    Numbers must be finite and integers must have 64 bits. Fields that the schema does not know are
    allowed: a later version may have added them.
    """
    error = next(_validator(name).iter_errors(document), None)
    if error is None:
        return ""
    error = _innermost(error)
    path = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    place = "".join(path).removeprefix(".")
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return f"{place or 'it'} has no field '{missing}', which it must have"
    value = error.instance
    if isinstance(value, dict | list):
        shown = "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    else:
        shown = json.dumps(value)
    shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
    return f"{place or 'it'} = {shown}: must be {_allowed(error.schema)}"


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator, validators

    known = Draft202012Validator.VALIDATORS

    def others(validator: Any, allowed: object, value: Any, schema: Raw) -> Faults:
        """Check fields that the schema does not name, where it says what they are."""
        if allowed is False:
            return ()
        found: Faults = known["additionalProperties"](validator, allowed, value, schema)
        return found

    def items(validator: Any, each: Raw, value: Any, schema: Raw) -> Faults:
        """Check the items of a list; long lists of numbers in one go, which is 20 times as fast."""
        test = KNOWN.get(each.get("type", ""))
        plain = each.keys() <= {"type", "minimum", "maximum"} and "prefixItems" not in schema
        if test is not None and plain and isinstance(value, list):
            low, high = each.get("minimum", -FINITE), each.get("maximum", FINITE)
            if all(test(number) and low <= number <= high for number in value):
                return ()
        found: Faults = known["items"](validator, each, value, schema)
        return found

    types = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {kind: lambda _, value, test=test: test(value) for kind, test in KNOWN.items()}
    )
    checked = validators.extend(
        Draft202012Validator, {"additionalProperties": others, "items": items}, type_checker=types
    )
    return checked(read_schema(name))


def _innermost(error: ValidationError) -> ValidationError:
    """Return the fault in the schema, of several, that the value was meant for, if that shows."""
    inside = [each for each in error.context or () if each.path or each.validator == "required"]
    return _innermost(max(inside, key=lambda each: len(each.path))) if inside else error


def _allowed(schema: Raw) -> str:
    """Return what a schema allows, without what it says of the parts of a value."""
    if "anyOf" in schema:
        return " or ".join(map(_allowed, schema["anyOf"]))
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return f"one of {', '.join(map(json.dumps, schema['enum']))}"
    sizes = {"at least ": schema.get("minItems"), "at most ": schema.get("maxItems")}
    if len({*sizes.values()}) == 1:
        sizes = {"": schema.get("minItems")}
    limits = [f"{sign} {schema[name]:g}" for name, sign in LIMITS.items() if name in schema]
    parts = (
        NOUNS[schema["type"]],
        *(f"of {words}{size}" for words, size in sizes.items() if size is not None),
        " and ".join(limits),
        f"of the form {schema['pattern']}" if "pattern" in schema else "",
    )
    return " ".join(filter(None, parts))
