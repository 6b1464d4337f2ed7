"""What a pipeline is told of a run: SARIF, JUnit, and the comment on a pull request."""

from __future__ import annotations

import hashlib
import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from dpassay.numerics import percent
from dpassay.reports.run.comparisons import SYMBOLS, headline
from dpassay.reports.run.lead import briefs, lead, leaks
from dpassay.reports.run.markdown import text_md
from dpassay.reports.run.result import ResultView
from dpassay.reports.run.view import CAVEAT, FullView, make_view
from dpassay.reports.run.words import FOLDER, ORIGIN, Part, capital, ended
from dpassay.reports.shared.junit import PASSED, JUnitCase, alarm, junit
from dpassay.reports.shared.numbers import above, clean, plural, shorten
from dpassay.reports.shared.statuses import ERROR, INCONCLUSIVE, MISSED, REFUTED

Raw = Mapping[str, Any]
LEVELS = {REFUTED: "error", ERROR: "error", MISSED: "error", INCONCLUSIVE: "warning"}
"""How loudly a status is told; of every other one a pipeline hears nothing."""
REPORT = "REPORT is the folder of the report"  # where its reader has put it, nobody else knows
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
BASE = "%SRCROOT%"
ROLES = {
    "definition": "where the mechanism is defined",
    "claim": "where the claim is made",
    "package": "where a package defines the mechanism",
}
REMEDIES = {
    "refuted": (
        "Replay the witness, then correct the mechanism or claim less, and run the audit again. "
        "Another seed is no remedy."
    ),
    "error": "Read the cause in the report, correct the mechanism, and run the audit again.",
    "missed": "Raise the budget, or correct the declaration that the claim is wrong.",
    "inconclusive": "Raise the budget, or choose pairs and queries where a record matters.",
}
NOT_PASSED = {
    REFUTED: ("failure", "refuted"),
    INCONCLUSIVE: ("failure", "inconclusive"),
    ERROR: ("error", "error"),
    MISSED: ("error", "blind"),
}
"""The element, and its type, that a status becomes in JUnit; every other status passes."""
IF_PASSED = {"Verdict", "Worst over all datasets"}
IF_NOT_PASSED = IF_PASSED | {"Cause of the error", "Witness", "Counts", "Replay"}
"""Which parts of the story of a result are told in JUnit, besides its claim and bound."""

LIMIT = 60_000  # bytes; GitHub takes 65,536 characters
FIRST = 5  # so many results are told in full; the rest has a line each
GROUPS = (
    ("Refuted or failing now", ("refuted", "failed")),
    ("Worse", ("rose", "weakened", "blinder", "repointed")),
    ("Gone", ("vanished",)),
    ("New", ("new",)),
    ("Better", ("fell", "tightened", "recovered")),
    ("Also different", ("elsewhere", "reworded")),
)
"""Every kind of change, under the words that a reader looks for."""


class Notice(NamedTuple):
    """One thing that a pipeline is told of a result.

    The fingerprint is 32 hexadecimal digits that stand for the mechanism, its parameters and
    the kind of claim: no seed, number, file, line or other result moves them.
    """

    brief: ResultView
    title: str  # one printable line
    text: str  # one printable line
    places: Sequence[Raw]  # `role`, `file` and `line`, see `dpassay.record.places.places_of`
    fingerprint: str


def notices(record: Raw) -> tuple[Notice, ...]:
    """Return what is wrong with a record's results, the worst first, else in the record's order."""
    from dpassay.record.entries import entry_keys

    found = []
    for r, key in zip(briefs(record), entry_keys(record["results"]), strict=True):
        if r.status not in LEVELS:
            continue
        meaning = r.status.meaning if r.status in {ERROR, MISSED} else ""
        told = [f"{capital(r.reason)}.", meaning]
        if r.status is REFUTED:
            again = f"See it again: {replay(r)} ({REPORT})." if r.replay else ""
            told = [f"{r.name} {leaks(r)} ({certainty(r)}).", r.seen, again]
        notice = Notice(
            brief=r,
            title=f"{r.name}, {r.claimed}: {r.status.word}",
            text=" ".join(filter(None, told)),
            places=r.raw.get("places", ()),
            fingerprint=hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32],
        )
        found.append(notice)
    return tuple(sorted(found, key=lambda notice: notice.brief.status.rank))


def alarms(record: Raw) -> Iterator[tuple[str, str, str]]:
    """Yield what makes the whole run say less than it seems to: what is not so, a kind, words."""
    if why := ended(record["run"]):
        yield "the run is complete", "interrupted", why
    if not record["results"]:
        yield "something was audited", "empty", "Nothing was audited: the run has no results."


def replay(r: ResultView) -> str:
    """Return the command that shows a result again, for somebody in the folder of the project."""
    if FOLDER in r.replay:
        return r.replay
    return r.replay.replace("dpassay replay ", f"dpassay replay {FOLDER}", 1)


def certainty(r: ResultView) -> str:
    """Return how sure a refutation is."""
    if not r.sampled:
        return "computed from the exact law"
    return f"certified at {percent(r.raw['confidence'])} confidence"


def to_sarif(record: Raw) -> str:
    """Write a record as SARIF 2.1.0, for code scanning.

    A refuted claim, an error and a claim that is known to be wrong and was not refuted are errors,
    what is inconclusive is a warning, and everything else is no result. A result lies where the
    mechanism is defined, or configured; its fingerprint depends neither on that nor on any number,
    so that a code scanner knows it again when lines move. An interrupted or empty run is an
    execution that was not successful.
    """
    found, broken = notices(record), [words for *_, words in alarms(record)]
    failed = any(each.brief.status is ERROR for each in found)
    invocation: dict[str, Any] = {
        "executionSuccessful": not broken and not failed,
        "commandLine": clean(record["run"]["command"]),
    }
    if broken:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": words}} for words in broken
        ]
    driver = {
        "name": "dpassay",
        "version": clean(record["run"]["version"]),
        "rules": [_rule(slug) for slug in REMEDIES],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "dpassay/"},
        "invocations": [invocation],
        "originalUriBaseIds": {BASE: {"description": {"text": "The root of the project."}}},
        "results": [_result(each) for each in found],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _rule(slug: str) -> dict[str, Any]:
    (status,) = (each for each in LEVELS if each.slug == slug)
    return {
        "id": f"dpassay/{slug}",
        "name": "".join(word.capitalize() for word in ("claim", slug)),
        "shortDescription": {"text": f"Privacy claim: {status.word}"},
        "fullDescription": {"text": status.meaning},
        "help": {"text": REMEDIES[slug]},
        "defaultConfiguration": {"level": LEVELS[status]},
        "properties": {"tags": ["security", "privacy"]},
    }


def _result(notice: Notice) -> dict[str, Any]:
    status = notice.brief.status
    first, *others = map(_location, notice.places) if notice.places else ({},)
    result: dict[str, Any] = {
        "ruleId": f"dpassay/{status.slug}",
        "ruleIndex": list(REMEDIES).index(status.slug),
        "level": LEVELS[status],
        "message": {"text": f"{notice.title}. {notice.text}"},
        "partialFingerprints": {
            "dpassayClaim/v1": notice.fingerprint,
            "primaryLocationLineHash": f"{notice.fingerprint[:16]}:1",
        },
    }
    named = {"name": notice.brief.name, "kind": "function"}
    result["locations"] = [first | {"logicalLocations": [named]}]
    if others:
        related = zip(others, notice.places[1:], strict=True)
        result["relatedLocations"] = [
            {"id": number} | where | {"message": {"text": ROLES[place["role"]]}}
            for number, (where, place) in enumerate(related, 1)
        ]
    return result


def _location(place: Raw) -> dict[str, Any]:
    artifact = {"uri": quote(clean(place["file"]))}
    if place["role"] != "package":
        artifact["uriBaseId"] = BASE
    region = {"startLine": int(place["line"])}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def to_junit(record: Raw) -> str:
    """Write a record as JUnit XML: one test case per result, in the record's order.

    A claim refuted against expectation is a failure, and so is an inconclusive result: a CI
    server must not read 'could have been missed' as a pass, whatever `--allow-inconclusive`
    made of the exit code. Errors are errors, and so is a claim known to be wrong that was not
    refuted, for the audit was blind to it. What was refuted as expected, not refuted or
    verified passes. An interrupted run and a run without results have one more test case that
    is an error.
    """
    view = make_view(record)
    cases = [_case(each) for each in sorted(view.results, key=lambda each: each.place)]
    cases += [alarm("dpassay", *each) for each in alarms(record)]
    said = "\n".join((view.headline, *view.notes, f"{view.caveat} {view.caveat_detail}".strip()))
    return junit("dpassay", cases, said)


def _case(r: FullView) -> JUnitCase:
    """Tell a result in lines of text; commands stand indented in lines of their own."""
    bound, claim = _bound(r), r.words.name
    tag, kind = NOT_PASSED.get(r.status, (PASSED, ""))
    titles = IF_NOT_PASSED if kind else IF_PASSED
    promised, *others = r.parts
    explain = f"dpassay explain {shlex.quote(r.id)} --record record.json"
    parts = (
        promised,
        Part("Bound", (f"{capital(bound)}.",)),
        *(part for part in others if part.title in titles),
        Part("Explain", ("Everything known about this result:",), explain),
    )
    lines = (
        f"{part.title}. {' '.join(part.texts)}"
        + ("" if part.command is None else f"\n    {part.command}")
        for part in parts
    )
    known = bound if r.status != ERROR else shorten(r.reason) or "no cause was recorded"
    return JUnitCase(
        f"dpassay.{r.mechanism}",
        f"{claim} ({ORIGIN[r.raw['claim']['status']]}): {r.id}",
        "\n".join(lines),
        tag,
        kind,
        f"{r.status.word}: {claim}; {known}",
    )


def _bound(r: FullView) -> str:
    if r.low is None or r.raw["confidence"] is None:
        return "no bound was computed"
    sign, _, number = r.top.partition(" ")
    said = {"=": "", "≤": "at most ", "≥": "at least "}
    most = f"{said[sign]}{number}" if sign in said else r.top
    if not r.sampled:
        return f"the {r.unit} is {most}, by the law"
    known = f"the {r.unit} is at least {r.lower}"
    if r.high != math.inf:
        where = "cell that was" if r.cells == 1 else f"{r.cells} cells that were"
        known += f", and {most} at the {where} certified"
    seen = " ".join(filter(None, (above(r.detectable), r.through)))
    more = "" if r.detectable == math.inf else f"; detectable: {seen}"
    return f"{known} ({percent(r.raw['confidence'])} confidence){more}"


def to_comment(record: Raw, comparison: Raw | None = None) -> str:
    """Write a record as Markdown for a pull request, of at most `LIMIT` bytes."""
    kept: list[str] = []
    size = left = 0
    for part in _parts(record, comparison):
        more = len(part.encode()) + 1
        if size + more > LIMIT - 100:
            left += 1
        else:
            kept.append(part)
            size += more
    if left:
        kept.append(f"{plural(left, 'more entry')}: see the report.\n")
    return "\n".join(kept)


def _parts(record: Raw, comparison: Raw | None) -> Iterator[str]:
    """Yield paragraphs, the most important first: one that does not fit is left out."""
    found, every = notices(record), briefs(record)
    yield f"### {text_md(lead(record))}\n"
    yield f"{_checked(record, every)}\n"
    yield from (f"**{text_md(words)}**\n" for *_, words in alarms(record))
    yield from map(_told, found[:FIRST])
    yield from _to_do(found)
    if comparison is not None:
        yield f"**Against the accepted baseline:** {text_md(headline(comparison))}.\n"
        yield from _changes(comparison)
    rest = [
        f"* {each.brief.status.symbol} {text_md(each.title)}: {text_md(shorten(each.brief.reason))}"
        for each in found[FIRST:]
    ]
    passed = [_line(each) for each in every if each.status not in LEVELS]
    yield from _folded("More that did not pass", rest)
    yield from _folded("Not refuted, or refuted as declared", passed)
    if passed:
        yield f"{CAVEAT}\n"


def _checked(record: Raw, every: Sequence[ResultView]) -> str:
    """Return what was checked, and where it looked."""
    run, data = record["run"], record["run"]["data"]
    of = "" if data is None else f" on {text_md(data.get('name', 'the data'))}"
    searched = [each.searched for each in every if each.searched]
    pairs, queries = (
        max((each[name] for each in searched), default=0) for name in ("pairs", "queries")
    )
    where = f", at most {plural(pairs, 'pair')} and {plural(queries, 'query point')} each"
    claims = plural(len(every), "claim")
    mechanisms = plural(len({each.mechanism for each in every}), "mechanism")
    where = where if searched else ""
    return f"Checked: {claims} of {mechanisms}{of}{where}; seed {run['seed']}."


def _told(notice: Notice) -> str:
    """Return one result that did not pass."""
    r = notice.brief
    where = "".join(f" ({each['file']}:{each['line']})" for each in notice.places[:1])
    head = f"{r.status.symbol} **{text_md(r.name)}**{text_md(where)}"
    if r.status is REFUTED:
        found = f"claimed {text_md(r.claimed)}, found {text_md(r.found)}, {text_md(certainty(r))}"
        return f"{head} {text_md(leaks(r))}: {found}. {text_md(r.seen)}\n"
    told = f"claims {text_md(r.claimed)}: {r.status.word}"
    return f"{head} {told}; {text_md(shorten(r.reason, 400))}.\n"


def _to_do(found: Sequence[Notice]) -> Iterator[str]:
    """Yield what to do about what was found."""
    statuses = {each.brief.status for each in found}
    refuted = [each.brief for each in found if each.brief.status is REFUTED]
    again = next((replay(each) for each in refuted if each.replay), "")
    told = (
        (again, f"see it again, in your project: ``{again}`` ({REPORT})"),
        (refuted, "correct the mechanism, or claim less"),
        (
            statuses - {REFUTED, INCONCLUSIVE},
            "find the cause of what failed in the report, and correct it",
        ),
        (
            INCONCLUSIVE in statuses,
            "where it is inconclusive: raise the budget, or ask where a record matters",
        ),
        (found, "run again, with the same seed"),
    )
    steps = [step for needed, step in told if needed]
    if steps:
        listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
        yield f"Do now:\n{listed}\n"


def _changes(comparison: Raw) -> Iterator[str]:
    """Yield the difference to the baseline by groups; what is let pass says so."""
    excused = {(each["id"], each["kind"]) for each in comparison["suppressed"]}
    every = [*comparison["regressions"], *comparison["news"]]
    for title, kinds in GROUPS:
        lines = [
            f"* {SYMBOLS[each['kind']]} "
            + text_md(f"{each['id']}: {shorten(each['words'], 400)}")
            + " (suppressed)" * ((each["id"], each["kind"]) in excused)
            for each in every
            if each["kind"] in kinds
        ]
        if lines:
            *most, last = f"{title}:\n{lines[0]}", *lines[1:]
            yield from (*most, f"{last}\n")


def _folded(title: str, lines: Sequence[str]) -> Iterator[str]:
    """Fold a list up; as many of its lines as are sure to fit."""
    if not lines:
        return
    shown, size = [], 0
    for line in lines:
        size += len(line.encode()) + 1
        if size < LIMIT // 4:
            shown.append(line)
    if len(shown) < len(lines):
        shown.append(f"* {plural(len(lines) - len(shown), 'more entry')}: see the report")
    listed = "\n".join(shown)
    yield f"<details><summary>{title}: {len(lines)}</summary>\n\n{listed}\n\n</details>\n"


def _line(r: ResultView) -> str:
    where = " where it was certified" if " to " in r.found else ""
    found = f", found {text_md(r.found)}{where}" if r.found else ""
    sight = f", would have seen {text_md(r.sight)} where it looked" if r.sight else ""
    return (
        f"* {r.status.symbol} {text_md(r.name)} claims {text_md(r.claimed)}: "
        f"{r.status.word}{found}{sight}"
    )
