"""Options of `dpassay attack` that would change nothing: they are refused, not ignored."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from dpassay.attacks.experiment.poisoning import ADVERSARIES
from dpassay.data import BUILT_IN
from dpassay.errors import InvalidInput, is_count, require

OF_MODELS = (
    *("--budgets", "--references", "--models", "--copies", "--noise", "--cache", "--jobs", "--canaries", "--planted"),
    *("--adversary", "--poisoned", "--poison", "--attribute"),
)
"""They say what models are trained and seen; a service has its own."""
OF_CLAIMS = ("--epsilon", "--budgets", "--transcripts")
"""They go with mechanisms, which claim something and draw coins."""


def check_options(arguments: argparse.Namespace, words: list[str]) -> None:
    """Refuse what holds whatever is attacked, and options that would change nothing.

    Parameters
    ----------
    arguments : Namespace
        Configured.
    words : list of str
        Of the command line: only what was said there is refused, not what is configured for every command.

    Raises
    ------
    InvalidInput
        At the first of them.
    """
    require(is_count(arguments.seed, 0), "--seed", arguments.seed, "an integer >= 0")
    require(0.5 <= arguments.confidence < 1, "--confidence", arguments.confidence, "a number in [0.5, 1)")
    require(is_count(arguments.jobs, 1), "--jobs", arguments.jobs, "an integer >= 1")
    said = {word.partition("=")[0] for word in words}
    for option, why in _idle(arguments):
        if option in said:
            raise InvalidInput(f"{option}: changes nothing {why}")
    if {"--label", "--target"} & set(said) and arguments.data in (None, BUILT_IN):
        raise InvalidInput(f"--label = '{arguments.label}': goes with --data FILE")


def _idle(arguments: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield the options that would change nothing, and with or without what."""
    if arguments.service is not None:
        yield from ((option, "with --service, which trains no models") for option in OF_MODELS)
        if arguments.epsilon is None:
            yield "--transcripts", "with --service but without --epsilon, the claim to hold them against"
        return
    if arguments.against == "base":
        yield from ((option, "with --against base, which claims nothing") for option in OF_CLAIMS)
        for given, named in ((arguments.targets, "TARGET"), (arguments.parameters, "-p")):
            if given:
                raise InvalidInput(f"{named} {given[0]}: changes nothing with --against base, which attacks the learner alone")
    if arguments.copies == 0:
        yield "--noise", "without --copies"
    if arguments.canaries == 0:
        yield "--planted", "without --canaries"
    if not ADVERSARIES[arguments.adversary].poisons:
        yield from ((option, "without --adversary pois-minq or pois-miaq") for option in ("--poisoned", "--poison"))
