"""What a command line says of one mechanism: its parameters, claim and answers; programs."""

from __future__ import annotations

import argparse
import math
from typing import Any

from dpassay.claims import SPELLED, SPELLINGS
from dpassay.config.mechanisms import Configured
from dpassay.config.values import assignment, listed, spelled, table_of, value_of
from dpassay.errors import InvalidInput
from dpassay.targets.resolve import AnswerKind


def programs_of(arguments: argparse.Namespace) -> list[tuple[str, Configured]]:
    """Return the programs and services that a command line names, each with its option."""
    kinds = {"process": ("Process", "command"), "http": ("Http", "url")}
    return [
        (
            f"--{option}",
            Configured(
                target=f"dpassay.targets.foreign:{kind}", name=option, parameters={parameter: text}
            ),
        )
        for option, (kind, parameter) in kinds.items()
        for text in getattr(arguments, option, [])
    ]


def parameters_of(assignments: list[str], learner: str | None) -> dict[str, Any]:
    """Return the parameters that `-p` and `--learner` say; each mechanism reads their numbers."""
    pairs = (assignment(text, "-p") for text in assignments)
    found = {name: spelled(value_of(text, f"-p {name}")) for name, text in pairs}
    return found if learner is None else found | {"learner": learner}


def claim_numbers(text: str) -> dict[str, float]:
    """Read a claim as it stands after `--claim`."""
    wrong = InvalidInput(f"--claim = '{text}': must be {SPELLED}")
    try:
        given = table_of(text, "--claim", SPELLED)
        numbers = {name: float(value) for name, value in given.items()}
    except (ValueError, TypeError):
        raise wrong from None
    if set(numbers) not in SPELLINGS or text.count("=") > len(numbers):
        raise wrong
    return numbers


def answers_said(text: str, option: str) -> AnswerKind:
    """Read a list of labels, or the limits of real numbers with two dots between them."""
    low, separator, high = text.partition("..")
    try:
        if separator:
            limits = (float(low) if low else -math.inf, float(high) if high else math.inf)
            if limits[0] < limits[1]:
                return AnswerKind(labels=(), numbers=limits)
        else:
            labels = tuple(map(int, listed(text)))
            if len(labels) >= 2 and len(set(labels)) == len(labels):
                return AnswerKind(labels=labels)
    except (ValueError, TypeError):
        pass
    allowed = "labels like 0,1,2 or limits of numbers like 0..1 (.. for any)"
    raise InvalidInput(f"{option} = '{text}': must be {allowed}")
