"""Documents are held against the JSON Schemas of this package.

What is wrong with one is said in one line. The files of the schemas abbreviate JSON Schema:

* a text in place of a schema, or behind `is`, names what it stands for: a type of JSON, a
  definition, `list of` one of them, or several of them with `or` between;
* an object has all fields in `properties` but those that end with `?`, and no others.

`read_schema` writes that out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


def read_schema(name: str) -> dict[str, Any]:
    """Return a JSON Schema (2020-12) of this package, with its abbreviations written out."""
    shared, own = _read("shared"), _read(name)
    names = {**shared["$defs"], **own.pop("$defs", {})}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_whole(own, names)}


def _read(name: str) -> dict[str, Any]:
    file = resources.files("dpassay.record").joinpath(f"{name}.schema.json")
    held: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return held


def _whole(form: str | Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Write out the abbreviations in a schema, at any depth."""
    if isinstance(form, str):
        meant = [_named(name, names) for name in form.split(" or ")]
        return meant[0] if len(meant) == 1 else {"anyOf": meant}
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


def _named(name: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a name stands for: a list, a type of JSON, or a definition."""
    if name.startswith(LIST):
        return {"type": "array", "items": _named(name.removeprefix(LIST), names)}
    return {"type": name} if name in NOUNS else _whole(names[name], names)


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
    return f"{place or 'it'} = {_shown(error.instance)}: must be {_allowed(error.schema)}"


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator, validators

    types = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: _is_integer(value)
    )
    checked = validators.extend(
        Draft202012Validator,
        validators={"additionalProperties": _others, "items": _items},
        type_checker=types.redefine("number", lambda _, value: _is_number(value)),
    )
    return checked(read_schema(name))


def _others(
    validator: Any, others: object, value: Any, schema: Mapping[str, Any]
) -> Iterable[ValidationError]:
    """Check fields without a name in the schema where it says what they are; else allow them."""
    from jsonschema import Draft202012Validator

    if others is False:
        return ()
    found: Iterator[ValidationError] = Draft202012Validator.VALIDATORS["additionalProperties"](
        validator, others, value, schema
    )
    return found


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= FINITE


def _items(
    validator: Any, items: Mapping[str, Any], value: Any, schema: Mapping[str, Any]
) -> Iterable[ValidationError]:
    """Check the items of a list; long lists of numbers in one go, which is 20 times as fast."""
    from jsonschema import Draft202012Validator

    plain = items.keys() <= {"type", "minimum", "maximum"} and items.get("type") in (
        "number",
        "integer",
    )
    if plain and isinstance(value, list) and "prefixItems" not in schema:
        low, high = items.get("minimum", -FINITE), items.get("maximum", FINITE)
        known = _is_integer if items["type"] == "integer" else _is_number
        if all(known(each) and low <= each <= high for each in value):
            return ()
    found: Iterator[ValidationError] = Draft202012Validator.VALIDATORS["items"](
        validator, items, value, schema
    )
    return found


def _innermost(error: ValidationError) -> ValidationError:
    """Return the fault in the schema, of several, that the value was meant for, if that shows."""
    inside = [each for each in error.context or () if each.path or each.validator == "required"]
    return _innermost(max(inside, key=lambda each: len(each.path))) if inside else error


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _allowed(schema: Mapping[str, Any]) -> str:
    """Return what a schema allows, without what it says of the parts of a value."""
    if "anyOf" in schema:
        return " or ".join(map(_allowed, schema["anyOf"]))
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return f"one of {', '.join(map(json.dumps, schema['enum']))}"
    limits = [f"{sign} {schema[name]:g}" for name, sign in LIMITS.items() if name in schema]
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    nouns = " or ".join(NOUNS[kind] for kind in kinds)
    form = f"of the form {schema['pattern']}" if "pattern" in schema else ""
    return " ".join(filter(None, [nouns, *_lengths(schema), " and ".join(limits), form]))


def _lengths(schema: Mapping[str, Any]) -> Sequence[str]:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least == most:
        return () if least is None else (f"of {least}",)
    return [
        f"of {words} {size}"
        for words, size in (("at least", least), ("at most", most))
        if size is not None
    ]
