"""The view: everything that any report shows of a run, worked out once."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from dpassay.errors import InvalidInput
from dpassay.numerics import percent
from dpassay.reports.run import kinds
from dpassay.reports.run.findings import (
    Finding,
    finding_of,
    findings_table,
    findings_words,
    notions_table,
)
from dpassay.reports.run.lead import named
from dpassay.reports.run.result import ResultView
from dpassay.reports.run.scope import without_data
from dpassay.reports.run.story import parts_of
from dpassay.reports.run.tables import (
    ProfileView,
    QueryView,
    profile_view,
    query_table,
    query_views,
)
from dpassay.reports.run.words import Part, claim_short, ended, unit_words
from dpassay.reports.shared.numbers import (
    MISSING,
    above,
    below,
    clean,
    count,
    exact,
    plain,
    plural,
    shorten,
    value,
)
from dpassay.reports.shared.statuses import (
    ALL,
    ERROR,
    EXPECTED,
    INCONCLUSIVE,
    MISSED,
    REFUTED,
    WRONG,
)
from dpassay.reports.shared.tables import TextTable

Raw = Mapping[str, Any]
CAVEAT = "Not refuted does not mean private."
CAVEAT_DETAIL = (
    "'Not refuted' means that the audit found no violation at the pairs, queries and events that "
    "it examined. 'Would have seen', in tables 'detectable', is the smallest leak that the audit, "
    "its screening included, would "
    "have refuted with probability 0.9, if one of these pairs leaked that much through an answer "
    "of the probability that the result states. A leak through a rarer answer may go unseen. If "
    "the law is known, every cell is certified; if it was sampled, only the cells that the "
    "screening ranked first are, and an upper bound covers only those."
)
PART_ONLY = (
    " If only a part of the release was examined (≥), the whole release leaks at least that much, "
    "and 'detectable' is a leak of that part."
)
SUMMARY = (
    "status | result | claim: | lower bound: | exact, or upper bound of the certified cells: | "
    "detectable: | trials: | unit | source"
)


class FullView(ResultView):
    """One result with its story, its tables, and its place in a report."""

    def __init__(self, raw: Raw, name: str, place: int, run: Raw, taken: set[str]) -> None:
        super().__init__(raw, name, place)
        self.anchor = _anchor(self.id, taken)  # the id made safe for a link, unique in the report
        self.queries: tuple[QueryView, ...] = query_views(self)
        self.profile: ProfileView | None = profile_view(self, self.queries)
        self.finding: Finding | None = finding_of(self)
        told = () if self.profile is None else self.profile.words
        self.parts: tuple[Part, ...] = tuple(parts_of(self, run, told))
        self.claim = claim_short(self.raw["claim"], self.low if self.refuted else None)
        # a leak that is recorded as 0 may be an upper bound
        bound = self.leak == 0 and self.witness is not None
        bound = bound and self.words.at_most(value(self.witness["p1"]), self.high)
        self.lower = below(self.low, self.promised)
        self.lower = MISSING if bound and self.words.computed else self.lower
        # the exact value, or the upper bound; of a part of the release what is certain
        self.top = MISSING if self.high is None or self.looked_at else f"≤ {above(self.high)}"
        if self.leak is not None and not self.blurred and not bound:
            known = f"= {exact(self.leak, self.promised, exceeds=self.refuted)}"
            self.top = f"≥ {below(self.low, self.promised)}" if self.looked_at else known

    @property
    def query_table(self) -> TextTable:
        """Return all query points in order."""
        return query_table(self, self.queries)[0]

    @property
    def query_shortlist(self) -> tuple[TextTable, int]:
        """Return the worst query points, and how many are left out."""
        return query_table(self, self.queries, short=True)


class RunView:
    """A record, ready to be shown; its results are the worst first."""

    def __init__(self, record: Raw) -> None:
        run, taken = record["run"], set[str]()
        full = [FullView(*each, run, taken) for each in named(record)]
        self.results: tuple[FullView, ...] = tuple(sorted(full, key=_worst_first))
        numbers = Counter(each.status for each in self.results)
        self.headline = _headline(numbers, self.results, run)
        self.notes = tuple(_notes(numbers, self.results, run))  # what limits the headline
        self.counts = tuple((numbers[each], each) for each in ALL if numbers[each])
        units = {each.unit for each in self.results}
        self.units, part = units_words(units), any(each.looked_at for each in self.results)
        self.summary = TextTable.of(
            f"Every claim, worst first. {self.units}{PART_ONLY * part}",
            SUMMARY,
            (
                (
                    f"{each.status.symbol} {each.status.word}",
                    *(each.id, each.claim, each.lower, each.top, above(each.detectable)),
                    *(count(each.raw["trials"]), unit_words(each.raw), each.source),
                )
                for each in self.results
            ),
        )
        findings = [each.finding for each in self.results if each.finding is not None]
        self.findings = findings_table(findings)
        audited = sum(each.bar is not None for each in self.results)
        self.findings_words = findings_words(findings, audited)
        self.notions = notions_table(record["results"])
        self.facts, self.command = tuple(_facts(record)), clean(run["command"])
        held = self.results and any(each.status not in WRONG for each in self.results)
        self.caveat, self.caveat_detail = (CAVEAT, CAVEAT_DETAIL) if held else ("", "")
        self.glossary = ALL


make_view = RunView


def _headline(numbers: Counter[Any], results: Sequence[FullView], run: Raw) -> str:
    """Return in one line what came of a run, and how sure that is."""
    if not results:
        return f"Nothing was audited{'' if run['complete'] else ': the run was interrupted'}"
    expected, refuted = numbers[EXPECTED], numbers[REFUTED] + numbers[EXPECTED]
    sure = ""
    if any(each.sampled for each in results):  # what was computed is certain, and is told apart
        sure = f" at {percent(run['confidence'])} confidence"
        drawn = sum(each.sampled and each.status in (REFUTED, EXPECTED) for each in results)
        if drawn != refuted:
            sure = f" ({drawn} from trials,{sure}; {refuted - drawn} computed)"
    text = f"{refuted} of {plural(len(results), 'claim')} refuted{sure}"
    if expected:
        text += ", as expected" if expected == refuted else f", {expected} of them as expected"
    others = (
        (numbers[ERROR], "ended in an error"),
        (numbers[MISSED], "known to be wrong was not refuted"),
        (numbers[INCONCLUSIVE], "inconclusive"),
    )
    text += "".join(f"; {number} {words}" for number, words in others if number)
    return text if run["complete"] else f"{text}; the run is incomplete"


def _notes(numbers: Counter[Any], results: Sequence[FullView], run: Raw) -> Iterator[str]:
    """Yield what limits the results, a sentence for each reason."""
    if said := ended(run):
        yield said
    if run["catalogue"]:
        yield "This run audited the built-in catalogue, not a mechanism of yours."
    if numbers[MISSED]:
        yield (
            "A claim known to be wrong was not refuted: this audit was too weak for it, or blind "
            "to it."
        )
    known = [each for each in results if each.bar is not None]
    drawn = [each for each in known if each.sampled]
    if known and not drawn:
        yield "Every number was computed from an exact law; none was sampled."
    if not drawn:
        return
    rest = f", {len(known) - len(drawn)} computed" * (len(drawn) < len(known))
    yield (
        f"{plural(len(drawn), 'result')} {'is' if len(drawn) == 1 else 'are'} sampled{rest}; all "
        f"sampled bounds hold simultaneously with a probability of at least "
        f"{percent(run['confidence'])}."
    )
    if any(each.high not in (None, math.inf) for each in drawn):
        yield (
            "A sampled upper bound (≤) covers the certified cells, not those that were only "
            "screened."
        )
    if through := {each.through for each in known if each.through}:
        which = "through an answer of the probability that the result states"
        which = through.pop() if len(through) == 1 else which
        of = "For sampled results, 'detectable'" if len(drawn) < len(known) else "'Detectable'"
        sought = {each.sought for each in drawn}
        at = "one of the examined pairs" + ", or of those that the search began with" * (
            True in sought
        )
        at = "one of the pairs that the search began with" if sought == {True} else at
        yield (
            f"{of} is a leak at {at}, {which}; through a rarer answer only a larger leak, or none, "
            "is promised to be refuted with probability 0.9."
        )


def _facts(record: Raw) -> Iterator[tuple[str, str]]:
    """Yield what is needed to repeat a run, by name."""
    run = record["run"]
    data, known = run["data"], sorted(run["packages"].items())
    if data is None:
        told = f"no file; {without_data(record['results'])}"
    else:
        rest = sorted((key, each) for key, each in data.items() if key not in {"name", "kind"})
        words = ", ".join(f"{clean(key)} {_fact(entry)}" for key, entry in rest)
        told = clean(data.get("name", "unnamed")) + (f" ({words})" if words else "")
    yield "version", f"dpassay {clean(run['version'])}"
    yield "commit", MISSING if run["commit"] is None else clean(run["commit"])
    yield "seed", str(run["seed"])
    yield "confidence", percent(run["confidence"])
    yield "profile", clean(run["profile"])
    yield "budget", f"{count(run['budget'])} certification trials per side and finalist"
    yield "data", told
    yield "packages", ", ".join(f"{clean(n)} {clean(v)}" for n, v in known) or MISSING
    if "protections" in run:
        yield "protections", clean(run["protections"])


def _fact(entry: object) -> str:
    if isinstance(entry, Mapping):
        return " ".join(f"{clean(key)} {_fact(inner)}" for key, inner in sorted(entry.items()))
    if isinstance(entry, list):
        return "/".join(_fact(inner) for inner in entry)
    if isinstance(entry, float) and math.isfinite(entry):
        return plain(entry)
    return shorten(clean(entry if isinstance(entry, str) else json.dumps(entry)))


def units_words(units: set[str]) -> str:
    """Return what the numbers of a table are measured in, given the units of its rows."""
    words = ["Losses in nats"] if kinds.LossWords.unit in units else []
    if moved := sorted(units & {kinds.StabilityWords.unit, kinds.PredictionWords.unit}):
        both = "γ is a change of a probability or of a prediction"
        words.append(both if kinds.LossWords.unit in units else f"γ is a {' or a '.join(moved)}")
    if kinds.GaussianWords.unit in units:
        words.append("μ is a Gaussian distance, in standard deviations")
    if any(unit.endswith(kinds.ERROR) for unit in units):
        words.append("the unit of the claim says which error is meant")
    if kinds.ScoreWords.unit in units:
        words.append("a δ beside β₁ and β₂ is a share of the random strings")
    told = "; ".join(words)
    # a Greek letter names a number and stays small
    return f"{told[:1].upper()}{told[1:]}." if told[:1].isascii() else f"{told}."


def find_result(view: RunView, result_id: str) -> FullView:
    """Return one result of a view, or name the nearest ones, or all if none is near."""
    wanted = clean(result_id)
    for result in view.results:
        if result.id == wanted:
            return result
    known = [result.id for result in view.results]
    hint = f"the record has {', '.join(known)}" if known else "the record has no results"
    if near := get_close_matches(wanted, known, n=3):
        hint = f"did you mean {' or '.join(near)}?"
    raise InvalidInput(f"ID = '{wanted}': no such result; {hint}")


def _worst_first(r: FullView) -> tuple[int, float]:
    leak = r.bar or 0.0
    factor = leak / r.promised if r.promised else math.inf * leak if leak else 0.0
    return r.status.rank, -factor


def _anchor(name: str, taken: set[str]) -> str:
    """Make an id of letters, digits, dots and dashes that no other result has."""
    stem = "result-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name)
    unique = stem
    while unique in taken:
        unique = f"{stem}-{len(taken) + 1}"
        stem += "-"
    taken.add(unique)
    return unique
