"""JUnit XML, the same for every kind of record: test cases, for whatever reads those."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no document of XML 1.0 may hold, not even escaped (section 2.2 there)."""
PASSED = "system-out"


class JUnitCase(NamedTuple):
    """A test case.

    Its outcome is told in an element with the given tag, 'failure' or 'error' where it did not
    pass; a case that passed without a story has no such element.
    """

    group: str
    name: str
    story: str = ""
    tag: str = PASSED
    kind: str = ""
    message: str = ""


def alarm(group: str, name: str, kind: str, words: str) -> JUnitCase:
    """Make a test case for what makes a whole record say less than it seems to."""
    return JUnitCase(group, name, words, "error", kind, words)


def junit(name: str, cases: Sequence[JUnitCase], words: str) -> str:
    """Write a document of one suite: its test cases, and what is said of them all.

    A record knows no times, so `time` is 0 and the same record gives the same bytes. Test cases
    have no properties, which the strictest readers refuse: the numbers are in the texts.
    """
    tags = Counter(case.tag for case in cases)
    counts = {
        "tests": str(len(cases)),
        "failures": str(tags["failure"]),
        "errors": str(tags["error"]),
    }
    suites = ET.Element("testsuites", {"name": name, **counts, "time": "0"})
    suite = ET.SubElement(
        suites, "testsuite", {"name": name, **counts, "skipped": "0", "time": "0"}
    )
    for case in cases:
        given = {"classname": _xml(case.group), "name": _xml(case.name), "time": "0"}
        made = ET.SubElement(suite, "testcase", given)
        if case.story or case.tag != PASSED:
            outcome = {"type": _xml(case.kind), "message": _xml(case.message)}
            told = ET.SubElement(made, case.tag, outcome if case.tag != PASSED else {})
            told.text = _xml(case.story)
    ET.SubElement(suite, PASSED).text = _xml(words)
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _xml(text: str) -> str:
    """Replace the characters that XML forbids."""
    return NO_XML.sub("\ufffd", text)
