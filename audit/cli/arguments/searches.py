"""Which mechanisms have their worst pair searched for, and what that takes of the run's data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dpassay.claims import Claim
from dpassay.config.load import Config
from dpassay.config.mechanisms import Configured
from dpassay.config.options import OPTIONS
from dpassay.config.outputs import output_said
from dpassay.config.searches import Search, search_of
from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.relations import REPLACE_ONE
from dpassay.search.declared import Output, output_of
from dpassay.search.proposals.proposal import Space
from dpassay.targets.catalogue import ENTRIES
from dpassay.targets.guard import AuditTarget
from dpassay.targets.resolve import Answers, is_function, resolve

SEARCH, TOGETHER = OPTIONS["search"].flag, OPTIONS["together"].flag
OUTPUT, ANSWERS = OPTIONS["output"].flag, "--answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What one mechanism's worst pair is searched for among."""

    search: Search
    space: Space
    together: bool  # all answers of a run are one output
    output: Output | None = None  # what one run returns, where that was declared

    @property
    def answers(self) -> Answers:
        """What a function may answer: anything."""
        joint = self.space.columns if self.together else 0
        return Answers(free=True, together=joint, bits=self.search.bits, output=self.output)


@dataclass(frozen=True, slots=True, kw_only=True)
class Searches:
    """What is searched for, as the command line, a mechanism's entry and the run say it.

    What the command line says (`said`) goes before what an entry says; what the file or a
    variable says of all mechanisms (`of_run`) goes after. The same is true of `--together` and
    `--output`.
    """

    said: str | None = None
    of_run: str | None = None
    together_said: bool | None = None
    together_of_run: bool = False
    output_said: str | None = None
    output_of_run: str | None = None

    def search(self, each: Configured) -> Search | None:
        """Return what one mechanism's pair is searched for among; None where it is not."""
        if self.said is not None:
            return search_of(self.said, SEARCH)
        if each.search is not None:
            return search_of(each.search, "search")
        return None if self.of_run is None else search_of(self.of_run, "search")

    def of(self, each: Configured, records: Labelled | None) -> Sought | None:
        """Return the same with the records that it takes.

        An output may only be declared if something is searched for, and answers taken
        together only if it is asked at points.
        """
        search = self.search(each)
        asked = each.together if self.together_said is None else self.together_said
        option = TOGETHER if self.together_said is not None else "together"
        if asked and (search is None or not search.has_queries):
            raise InvalidInput(
                f"{option}: requires {SEARCH} records or table, whose queries have several answers"
            )
        output = each.output if self.output_said is None else self.output_said
        if search is None and output is not None:
            option = OUTPUT if self.output_said is not None else "output"
            raise InvalidInput(
                f"{option} = '{output}': requires {SEARCH}; without one, {ANSWERS} says what a "
                "function answers"
            )
        if search is None:
            return None
        output = self.output_of_run if output is None else output
        together = self.together_of_run if asked is None else asked
        space = search.space(records)
        return Sought(
            search=search,
            space=space,
            together=together and search.has_queries,
            output=None if output is None else output_of(output_said(output)),
        )


def searches_of(config: Config, *, mode: str) -> Searches:
    """Return what is searched for under what is in force.

    Nothing where laws are computed: a search samples.
    """
    if mode in ("exact", "exhaustive"):
        return Searches()
    search, together = config.said("search"), config.said("together")
    output = config.said("output")
    return Searches(
        said=config.search if search else None,
        of_run=None if search else config.search,
        together_said=config.together if together else None,
        together_of_run=False if together else config.together,
        output_said=config.output if output else None,
        output_of_run=None if output else config.output,
    )


def searched(
    each: Configured,
    parameters: dict[str, Any],
    claim: Claim | None,
    sought: Sought,
    *,
    option: str,
) -> AuditTarget:
    """Build a mechanism whose pairs are searched for.

    By default its claims are its own that a search can be held against. `option` says how its
    answers were declared, empty where they were not: a search takes any.
    """
    name, search = each.target, sought.search
    if option:
        raise InvalidInput(f"{option}: has no effect with {SEARCH}; its answers may be anything")
    if name in ENTRIES and not search.has_queries:
        raise InvalidInput(
            f"{search.argument} = '{search.said}': must be records or table,file=F,label=L; "
            f"'{name}' takes labelled records"
        )
    if sought.together and not is_function(name):
        raise InvalidInput(
            f"{TOGETHER}: only for a plain function; '{name}' answers each query by itself"
        )
    if search.bits and name in ENTRIES:
        raise InvalidInput(f"bits: only for functions and programs; '{name}' is none")
    claims = None if claim is None else (replace(claim, relation=sought.space.relation),)
    target = resolve(name, parameters, claims, sought.answers, name=each.called)
    given: Any = target.given
    n = getattr(given, "fixed_n", None), target.parameters.get("n")
    if n != (None, None) and not search.fixed:
        raise InvalidInput(
            f"{search.argument} = '{search.said}': must be records,fixed=true; '{name}' speaks of "
            "datasets of one size"
        )
    # claims that name no neighbours of their own speak of the space's
    among = partial(replace, relation=sought.space.relation)
    made = (among(each) if each.relation == REPLACE_ONE else each for each in target.claims)
    return replace(target, claims=tuple(made))
