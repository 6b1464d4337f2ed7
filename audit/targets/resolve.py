"""From an object, or its name and parameters, to something that can be audited."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dpassay.claims import SPELLINGS, Claim
from dpassay.config.values import scalar_of, value_of, written
from dpassay.errors import InvalidInput, near
from dpassay.mechanism import FunctionMechanism, Mechanism, OwnCoins
from dpassay.relations import REPLACE_ONE
from dpassay.search.declared import Output
from dpassay.search.proposals.proposal import Space
from dpassay.targets.adapter import Freed, full, is_mechanism
from dpassay.targets.calls import CALLED, named, taken
from dpassay.targets.catalogue import CATALOGUE, ENTRIES, PARTS, Entry, Refuted
from dpassay.targets.estimators import PREDICT, ObservedEstimator, TrainedEstimator, is_estimator
from dpassay.targets.foreign import Http
from dpassay.targets.guard import AuditTarget
from dpassay.targets.importing import load_object
from dpassay.targets.measurements import Release, is_measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerKind:
    """What a function may answer: labels, real numbers between limits, or anything.

    `free`, `bits` and `output` are those of `FunctionMechanism`. `together` says whether all
    answers of a run are one output; `columns` is the number of coordinates of a query point. An
    estimator does not see the columns `label` and `group` of a DataFrame as features.
    """

    labels: tuple[int, ...] = (0, 1)
    numbers: tuple[float, float] | None = None
    free: bool = False
    together: bool = False
    columns: int = 0
    bits: bool = False
    output: Output | None = None
    label: str | None = None
    group: str | None = None


def free_answers(space: Space, **told: Any) -> AnswerKind:
    """Return the answers of a function that is searched in a space: any, with what is told."""
    form = getattr(getattr(space, "rows", None), "form", None)
    apart: dict[str, Any] = {name: getattr(form, name, None) for name in ("label", "group")}
    return AnswerKind(free=True, columns=space.columns, **apart, **told)


def thing_of(text: str, parameters: Mapping[str, Any] | None = None) -> Any:
    """Return a mechanism of the catalogue, `module:object`, or a service; a class is built."""
    if "://" in text:
        return Http(text)
    found = load_object(_address(text), "target")
    return _build(text, found, _full(text, parameters)) if isinstance(found, type) else found


def answers_of(target: str, parameters: Mapping[str, Any]) -> AnswerKind:
    """Return what a target answers by itself; for a plain function labels 0 and 1."""
    return AnswerKind(numbers=getattr(thing_of(target, parameters), "numbers", None))


def relation_of(target: str, parameters: Mapping[str, Any]) -> str:
    """Return the neighbour relation of a target's own first claim, or `replace-one`."""
    try:
        claims = getattr(thing_of(target, parameters), "claims", ())
        return str(claims[0].relation) if claims else REPLACE_ONE
    except InvalidInput:
        raise
    # what is not ours may do anything; its own claims are not asked for here
    except Exception:  # noqa: BLE001
        return REPLACE_ONE


def resolve(
    target: str,
    parameters: Mapping[str, Any] | None = None,
    claims: tuple[Claim, ...] | None = None,
    answers: AnswerKind | None = None,
    *,
    name: str | None = None,
) -> AuditTarget:
    """Find a mechanism by its catalogue name or as `module:object`, and build it.

    `module:object` is a mechanism or an estimator, a class of these, a measurement of OpenDP, or a
    plain function `function(data, queries, size, rng)`, or one that takes fewer of these; modules
    are looked for in the working directory too. `parameters` of a mechanism are in the paper's
    letters; text is converted to the type of the default. `claims` are audited instead of its own;
    a plain function needs them, and may answer `answers`, labels 0 and 1 by default. `name` is what
    results and streams call it.

    Raise InvalidInput if there is no such target or parameter, a value is out of range, or there is
    nothing claimed.
    """
    given = _full(target, parameters)
    found, answers = load_object(_address(target), "target"), answers or AnswerKind()
    if isinstance(found, type):
        found = _build(target, found, given)
        if not (_samples(found) or is_estimator(found)):
            raise InvalidInput(
                f"target = '{target}': has no method sample; must be a class with sample(state, "
                f"queries, size, rng), or a function {CALLED}"
            )
        plain = _samples(found) or dataclasses.is_dataclass(found)
        texts = {key: each if is_json(each) else written(each) for key, each in given.items()}
        given = parameters_of(found) if plain else texts
    elif given and given != parameters_of(found):
        name = next(iter(given))
        claim = f"; did you mean --claim {name}={given[name]}?" if {name} in SPELLINGS else ""
        raise InvalidInput(
            f"-p {name}: '{target}' is no mechanism class, it takes no parameters{claim}"
        )
    else:
        given = parameters_of(found) if is_mechanism(found) else given
    if not claims and not _samples(found) and callable(found):
        raise InvalidInput(
            f"'{target}' is a plain function and has no claim of its own; add --claim "
            "epsilon=..., mu=... or gamma=... (in dpassay.toml: claim = { epsilon = ... })"
        )
    claims = claims or (declared(target, found) if _samples(found) else ())
    mechanism = subject_of(found, f"target = '{target}'", claims, answers)
    if answers.free:
        claims = of_events(claims, target)
    entry = ENTRIES.get(target)
    fixed = (
        entry is not None and "n" in entry.parameters and given.get("n") == entry.parameters["n"]
    )
    alone = fixed or (entry is not None and entry.alone) or bool(getattr(mechanism, "alone", False))
    return AuditTarget(
        name=name or target,
        address=target,
        parameters=given,
        mechanism=mechanism,
        claims=claims,
        alone=alone,
    )


def subject_of(found: Any, what: str, claims: tuple[Claim, ...], answers: AnswerKind) -> Mechanism:
    """Return what is audited: a mechanism itself, or what calls a function or fits an estimator.

    Functions and estimators need claims. Messages call it `what`.
    """
    if _samples(found):
        mechanism: Mechanism = found
        return Freed(mechanism, answers.output, bits=answers.bits) if answers.free else mechanism
    if is_estimator(found):
        return _trained(found, what, claims, answers)
    if not callable(found):
        kinds = "a mechanism, an estimator or a function"
        raise InvalidInput(f"{what}: must be {kinds}, not {type(found).__name__}")
    if is_measurement(found):
        if not answers.free:
            raise InvalidInput(
                f"{what}: is a measurement of OpenDP; say what its datasets look like: "
                "--search scalars,low=0,high=1 (in Python: data=adapters.opendp.neighbours(...))"
            )
        found = Release(found)
    takes = ("data",) if isinstance(found, OwnCoins) else taken(found, what)
    together = answers.together and "queries" in takes
    return FunctionMechanism(
        function=found,
        claims=claims,
        labels=answers.labels,
        numbers=answers.numbers,
        takes=takes,
        named=named(found),
        free=answers.free,
        together=answers.columns if together else 0,
        bits=answers.bits,
        output=answers.output,
        seeded="rng" in takes,
    )


def _samples(found: Any) -> bool:
    """Return whether it is a mechanism, or an object that knows its law alone."""
    lawful = callable(getattr(found, "distribution", None)) and not is_estimator(found)
    return is_mechanism(found) or lawful


def _trained(found: Any, what: str, claims: tuple[Claim, ...], answers: AnswerKind) -> Mechanism:
    """Return what fits an estimator in every run."""
    if not (answers.free and claims):
        raise InvalidInput(
            f"{what}: is an estimator, fitted on records in every run; say which, and what it "
            "claims: --data people.csv --label income --claim epsilon=1 (in Python: data, label, "
            "claim)"
        )
    seen = found if isinstance(found, ObservedEstimator) else ObservedEstimator(found)
    fits = TrainedEstimator(seen.estimator, answers.label, answers.group, seen.outputs)
    asked, alone = PREDICT in seen.outputs, seen.outputs == (PREDICT,)
    return FunctionMechanism(
        function=fits,
        claims=claims,
        takes=("data", "queries", "rng") if asked else ("data", "rng"),
        free=True,
        together=answers.columns if asked and (answers.together or not alone) else 0,
        bits=answers.bits,
        output=answers.output,
    )


def of_events(claims: tuple[Claim, ...], target: str) -> tuple[Claim, ...]:
    """Return the claims that a search can be held against; there must be one."""
    found = tuple(claim for claim in claims if claim.of_events)
    if not found:
        raise InvalidInput(
            f"search: '{target}' claims {', '.join(map(str, claims)) or 'nothing'}; a search goes "
            "with claims of kind DP, GDP and Stability"
        )
    return found


@dataclass(frozen=True, slots=True)
class About:
    """What a target is, as far as it is known without building it, and its parameters.

    A `tabular` function is asked at no points: it takes a dataset and coins.
    """

    function: bool = False
    tabular: bool = False
    estimator: bool = False
    parameters: tuple[str, ...] = ()


def about(target: str) -> About:
    """Return what a target is: a plain function does not say what it answers."""
    found = load_object(_address(target), "target")
    kind = isinstance(found, type)
    function = callable(found) and not kind and not is_mechanism(found)
    return About(
        function=function,
        tabular=function and _tabular(found),
        estimator=not is_mechanism(found) and is_estimator(found),
        parameters=tuple(_fields(found)) if kind else (),
    )


def _tabular(function: Any) -> bool:
    with suppress(InvalidInput):  # building it says what is wrong with its arguments
        return "queries" not in taken(function, "")
    return False


def accepts(target: str, parameter: str) -> bool:
    """Return whether the target is a class with this parameter."""
    return parameter in about(target).parameters


def sized(
    target: str, parameters: Mapping[str, Any], records: int, *, fixed: bool = True
) -> dict[str, Any]:
    """Tell a mechanism of the catalogue the number n of records, if its claims depend on it.

    An entry that has an n of its own keeps it, unless it is not `fixed`: where all datasets of one
    size are asked for.
    """
    chosen = fixed and target in ENTRIES and "n" in ENTRIES[target].parameters
    if target not in ENTRIES or chosen or not accepts(target, "n"):
        return dict(parameters)
    return {"n": str(records), **parameters}


def is_json(parameter: object) -> bool:
    """Return whether a parameter can be written down as it is."""
    return parameter is None or isinstance(parameter, (bool, int, float, str))


def parameters_of(mechanism: object) -> dict[str, Any]:
    """Return the parameters of a mechanism as JSON values; objects by their repr."""
    values = _values(mechanism)
    return {name: value if is_json(value) else repr(value) for name, value in values.items()}


def can_be_rebuilt(mechanism: object) -> bool:
    """Return whether its class and parameters, as written down, make the mechanism again."""
    return dataclasses.is_dataclass(mechanism) and all(map(is_json, _values(mechanism).values()))


def _values(mechanism: object) -> dict[str, Any]:
    if not dataclasses.is_dataclass(mechanism):
        return {}
    return {
        field.name: getattr(mechanism, field.name)
        for field in dataclasses.fields(mechanism)
        if field.init
    }


def _address(target: str) -> str:
    if "://" in target:
        raise InvalidInput(f"target = '{target}': is a service; say --http {target}")
    if ":" in target:
        return target
    if target not in ENTRIES:
        close = near(target, ENTRIES)
        hint = f"did you mean '{close}'?" if close else "see `dpassay list`"
        raise InvalidInput(
            f"target = '{target}': no such mechanism; {hint} (your own: module:object)"
        )
    return ENTRIES[target].address


def _full(target: str, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    """Parameters that are given, and those of an entry besides."""
    return (dict(ENTRIES[target].parameters) if target in ENTRIES else {}) | dict(parameters or {})


def declared(target: str, mechanism: Any) -> tuple[Claim, ...]:
    """Return a mechanism's claims, with what its catalogue entry knows of them.

    This holds at the parameters of the entry. A text that names no entry stands for the entry
    of the mechanism's class, if it has one.
    """
    entry = ENTRIES.get(target) or _entry_of(type(mechanism))
    if entry is None:  # only the catalogue knows a claim to be wrong
        return tuple(dataclasses.replace(claim, expected=None) for claim in full(mechanism).claims)
    made = _build(target, type(mechanism), dict(entry.parameters)) if entry.expected else None
    given = parameters_of(mechanism)
    return tuple(_known(entry, claim, given, made) for claim in mechanism.claims)


def expected(
    target: str | None, claims: tuple[Claim, ...], parameters: Mapping[str, Any]
) -> tuple[Claim, ...]:
    """Return what a mechanism in another process claims, with what its catalogue entry expects."""
    entry = ENTRIES.get(target or "")
    if entry is None or entry.expected is None:
        return claims
    made = thing_of(entry.address, entry.parameters)
    wrong = [_known(entry, claim, parameters, made).expected for claim in claims]
    return tuple(
        dataclasses.replace(claim, expected=each) for claim, each in zip(claims, wrong, strict=True)
    )


def _entry_of(kind: type) -> Entry | None:
    """Return the entry of an algorithm by its class."""
    address = f"{kind.__module__}:{kind.__qualname__}"
    return next(
        (entry for entry in (*CATALOGUE.values(), *PARTS) if entry.address == address), None
    )


def _known(entry: Entry, claim: Claim, given: Mapping[str, Any], made: Any) -> Claim:
    """Declare a claim wrong if the entry knows that at these parameters; say how it is read."""
    expected = entry.expected
    if (
        expected is None
        or not expected.covers(claim.status, claim.kind)
        or not _has_parameters(expected, given, made, entry)
    ):
        return claim
    read = entry.parameters and claim.status == "printed"
    source = (
        f"{claim.source}, read as in docs/findings.md, '{entry.finding}'" if read else claim.source
    )
    return dataclasses.replace(claim, expected="refuted", source=source)


def _has_parameters(expected: Refuted, given: Mapping[str, Any], made: Any, entry: Entry) -> bool:
    """Return whether a mechanism has its entry's parameters, but for those that do not matter."""
    if given.get("n") is not None and given["n"] < expected.least_n:
        return False
    if expected.free is None:
        return True
    free = {*expected.free, "n"} - entry.parameters.keys()
    wanted = parameters_of(made)
    return all(value == wanted.get(name) for name, value in given.items() if name not in free)


def _build(target: str, mechanism_class: type, given: dict[str, Any]) -> Mechanism:
    fields = _fields(mechanism_class)
    for name in given:
        if name not in fields:
            close = near(name, fields)
            hint = f"did you mean '{close}'?" if close else f"it has {', '.join(fields) or 'none'}"
            raise InvalidInput(f"-p {name}: '{target}' has no such parameter; {hint}")
    try:
        mechanism: Mechanism = mechanism_class(
            **{name: _convert(name, value, fields[name]) for name, value in given.items()}
        )
    except InvalidInput:
        raise
    except (Exception, SystemExit) as error:  # what is not ours may do anything
        raise InvalidInput(
            f"target = '{target}': cannot be built ({type(error).__name__}: {error})"
        ) from error
    return mechanism


def _fields(kind: type) -> dict[str, Any]:
    """Return the parameters of a class: dataclass fields, or what an estimator is made of."""
    if dataclasses.is_dataclass(kind):
        return {field.name: field for field in dataclasses.fields(kind) if field.init}
    if not is_estimator(kind):
        return {}
    try:
        made = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {each.name: each for each in made if "VAR" not in each.kind.name}


def _convert(name: str, value: Any, field: Any) -> Any:
    """Turn a text into the type of the field's default, or of its annotation without one.

    A parameter of an estimator becomes what TOML reads.
    """
    if not isinstance(value, str):
        return value
    if isinstance(field, inspect.Parameter):
        found = value_of(value, f"-p {name}")
        return scalar_of(value) if found == value.strip() else found
    missing = field.default is dataclasses.MISSING or field.default is None
    annotated = str(getattr(field.type, "__name__", field.type)).partition(" | ")[0]
    wanted = annotated if missing else type(field.default).__name__
    kinds = {"bool": "true or false", "int": "an integer", "float": "a number"}
    try:
        if wanted == "bool":
            return {"true": True, "false": False}[value.lower()]
        return {"int": int, "float": float}.get(wanted, str)(value)
    except (KeyError, ValueError):
        raise InvalidInput(f"-p {name}={value}: must be {kinds[wanted]}") from None
