"""The report as SARIF 2.1.0, for code scanning: a result per claim that did not pass."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from dpassay.reports.run.pipeline.notices import LEVELS, Notice, alarms, notices
from dpassay.reports.shared.numbers import clean
from dpassay.reports.shared.statuses import ERROR

Raw = Mapping[str, Any]

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


def to_sarif(record: Raw) -> str:
    """Write a record as SARIF.

    A refuted claim, an error and a claim that is known to be wrong and was not refuted are errors,
    what is inconclusive is a warning, and everything else is no result. A result lies where the
    mechanism is defined, or configured; its fingerprint depends neither on that nor on any number,
    so that a code scanner knows it again when lines move. An interrupted or empty run is an
    execution that was not successful.
    """
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(record)]}
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _run(record: Raw) -> dict[str, Any]:
    found, broken = notices(record), alarms(record)
    invocation: dict[str, Any] = {
        "executionSuccessful": not broken and all(each.brief.status is not ERROR for each in found),
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
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": "dpassay/"},
        "invocations": [invocation],
        "originalUriBaseIds": {BASE: {"description": {"text": "The root of the project."}}},
        "results": [_result(each) for each in found],
    }


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
    first, *others = map(_location, notice.places) if notice.places else (None,)
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
    result["locations"] = [(first or {}) | {"logicalLocations": [named]}]
    if others:
        related = zip(range(1, 1 + len(others)), others, notice.places[1:], strict=True)
        result["relatedLocations"] = [
            {"id": number} | where | {"message": {"text": ROLES[place["role"]]}}
            for number, where, place in related
        ]
    return result


def _location(place: Raw) -> dict[str, Any]:
    artifact = {"uri": quote(clean(place["file"]))}
    if place["role"] != "package":
        artifact["uriBaseId"] = BASE
    region = {"startLine": int(place["line"])}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}
