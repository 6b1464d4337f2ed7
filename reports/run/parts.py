"""What a report says about one result, in parts. The formats only arrange them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dpassay.reports.run.bound_parts import alpha, bound, counts, sight
from dpassay.reports.run.kinds import words_of
from dpassay.reports.run.scope_parts import any_size, fit, other_notion, searched_words
from dpassay.reports.run.search_words import one_output
from dpassay.reports.run.seen_cell import replay_of
from dpassay.reports.run.words import (
    ORIGIN,
    Part,
    _json,
    capital,
    folder,
    looked_at,
    nothing_found,
    taken,
)
from dpassay.reports.shared.numbers import allowance, clean, plain, shorten, value
from dpassay.reports.shared.statuses import ERROR, EXPECTED, MISSED, Status

Raw = Mapping[str, Any]


def parts_of(
    result: Raw, status: Status, run: Raw, profile: tuple[str, ...] = ()
) -> tuple[Part, ...]:
    """Tell everything about a result but its per-query table; what is not known is left out."""
    words = parameter_words(result["parameters"], result.get("derived"))
    told = (
        ("Claim", _claim(result)),
        ("Cause of the error" if status is ERROR else "Verdict", _verdict(result, status)),
        ("Witness", _witness(result)),
        ("Counts", counts(result)),
        ("Privacy profile", profile),
        ("What would have been seen", sight(result)),
        ("How the bound was made", bound(result)),
        ("How α was spent", alpha(result, run)),
        ("Worst over all datasets", any_size(result)),
        other_notion(result),
        ("Goodness of fit", fit(result)),
        ("What was searched", searched_words(result)),
        ("Mechanism", f"{clean(result['mechanism'])}; {words}."),
    )
    parts = (
        Part(title=title, texts=(texts,) if isinstance(texts, str) else texts)
        for title, texts in told
        if texts
    )
    return *parts, *_replay(result)


ONE_BY_ONE = (
    "Every query was looked at by itself; what several answers reveal together was not looked at."
)
"""What is not known of answers to several queries, where the claim is about one."""


def _claim(result: Raw) -> tuple[str, ...]:
    """Say what was promised, to whom it applies, and who says so."""
    claim, part = result["claim"], looked_at(result)
    unit = clean(claim["unit"])
    scope = f"Unit: {unit}. Coins: {clean(claim['coins'])}."
    if one_output(result):
        scope = f"Coins: {clean(claim['coins'])}. All that one run returns is one output."
    elif "single prediction" in unit and result["searched"] is not None:
        scope += f" {ONE_BY_ONE}{_several(claim, result['witness'], result['parameters'])}"
    origin, by_user = ORIGIN[claim["status"]], claim["source"] == "declared by the user"
    said = (
        words_of(claim).sentence(taken(result["fixed_n"])),
        scope,
        f"Source: {clean(claim['source'])}{'' if by_user else f' ({origin})'}.",
    )
    if not part:
        return said
    return (
        *said,
        (
            f"Only a part of the release was looked at: {part}. The whole release leaks at least "
            "as much."
        ),
    )


def _several(claim: Raw, witness: Raw | None, parameters: Raw) -> str:
    """Say what looks at several answers to one batch.

    It takes catalogue entries that answer 0 or 1 and claim a loss.

    The interface hands its own epsilon to the algorithm that it asks, and takes no other from it.
    """
    several = witness is not None and words_of(claim).batches and witness["labels"] == [0, 1]
    target = witness["target"] if witness is not None and several else None
    if target is None or ":" in target or not clean(claim["unit"]).startswith("single prediction"):
        return ""
    name = clean(target) + (f",n={parameters['n']}" if "n" in parameters else "")
    epsilon = f" -p epsilon={_json(parameters['epsilon'])}" if "epsilon" in parameters else ""
    command = f"dpassay run interface -p base={name}{epsilon} -p adversary=batch"
    return (
        f" To audit several answers together: {command} (set other parameters by "
        f"base={name},NAME=VALUE)."
    )


def _verdict(result: Raw, status: Status) -> tuple[str, ...]:
    reason = clean(result["reason"])
    if status is ERROR:
        cause = reason.removesuffix(".") or "No cause was recorded"
        return f"{cause}.", status.meaning
    said = f"{capital(status.word)}: {reason}."
    explained = status in (EXPECTED, MISSED) or result["verdict"] == "verified"
    return (said, status.meaning) if explained else (said,)


def _witness(result: Raw) -> str:
    witness = result["witness"]
    if witness is None:
        return ""
    return _nothing(result["claim"]) if nothing_found(result) else clean(witness["words"])


def _nothing(claim: Raw) -> str:
    """Say that no audited cell is a witness of anything, as far as the claim's loss tells."""
    if words_of(claim).strings:
        found = "at no audited pair was a proportion of bad random strings above 0 computed"
    elif delta := value(claim["delta"]):
        found = f"at δ = {allowance(delta)}, the claim's, no audited cell has a loss above 0"
    else:
        found = "no leak was found at the audited cells"
    return f"There is none: {found}."


def parameter_words(parameters: Raw, derived: Raw | None = None) -> str:
    """Write parameters as 'name = value', long values cut.

    `derived` is in force for those that were left out.
    """
    known = derived or {}
    pairs = (
        f"{clean(name)} = {_derived(known[name]) if name in known else _parameter(parameter)}"
        for name, parameter in sorted(parameters.items())
    )
    return ", ".join(pairs) or "no parameters"


def _parameter(parameter: object) -> str:
    return "not given" if parameter is None or parameter == "" else shorten(clean(_json(parameter)))


def _derived(found: object) -> str:
    """Write a value that the mechanism worked out itself."""
    return f"{plain(found) if isinstance(found, float) else shorten(clean(found))} (derived)"


def _replay(result: Raw) -> Iterator[Part]:
    witness = result["witness"]
    if witness is None or nothing_found(result):
        return
    command = replay_of(witness, result["id"])
    if not command:
        why = (
            "The mechanism or its data existed in memory only: replay the witness from Python, "
            "with the same pairs and queries."
        )
        yield Part(title="Replay", texts=(why,))
        return
    file = ", with the data file as FILE" if command.endswith(" FILE") else ""
    where = f"To replay this witness alone, run {folder(command)}{file}:"
    yield Part(title="Replay", texts=(where,), command=command)
