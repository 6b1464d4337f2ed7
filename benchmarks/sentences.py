"""What every report says, combination by combination, as a table that a person reads.

`python -m benchmarks.sentences [FORMAT ...]` prints relation, source of the data, kind of answer,
verdict and mode of each combination, and below it the sentences of the formats: terminal, explain,
page, markdown and junit. tests/reports/sentences/test_combinations.py reads them for what no
sentence may have.
"""

from __future__ import annotations

import html
import io
import itertools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from dpassay import DP, GDP, Stability, audit
from dpassay.data import Labelled
from dpassay.engine.domains.domain import Domain
from dpassay.engine.result import Result
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.pairs import replace_one
from dpassay.record.run_record import make_record
from dpassay.reports.run.markdown import to_markdown
from dpassay.reports.run.page.html import to_html
from dpassay.reports.run.pipeline import to_junit
from dpassay.reports.run.terminal import print_explanation, print_summary
from dpassay.search.spaces import Answers
from dpassay.search.tables import Tables

BLOCKS = "title|p|li|h1|h2|h3|td|th|dd|dt|caption|summary|div|figcaption"
FORMATS = ("terminal", "explain", "page", "markdown", "junit")
X = np.random.default_rng(0).normal(size=(12, 2))
Y = (X[:, 0] > 0).astype(int)
FRAME = pd.DataFrame(
    {"age": np.arange(12) + 20, "city": ["Bern", "Oslo"] * 6, "who": list("abcdef") * 2}
)
STILL, QUIET, LOUD = 1e3, 1.2, 1e-3
"""Scales of noise: nothing gets through, as much as is claimed, and nothing is hidden."""


def _count(data: Any) -> float:
    """Count records whose first number is above the middle."""
    if isinstance(data, pd.DataFrame):
        return float((data["age"] > 25).sum())
    return float(np.sum(np.asarray(data.y if isinstance(data, Labelled) else data, float) > 0))


def answer_of(kind: str, scale: float) -> Any:
    """Return a function that answers a noisy count, in a kind of answer."""

    def number(data: Any, size: int, rng: np.random.Generator) -> Any:
        if kind == "error":
            raise ValueError("nothing comes of it")
        noisy = _count(data) + rng.laplace(scale=scale, size=size)
        if kind == "label":
            return (noisy > 1).astype(int)[:, None]
        if kind == "text":
            return ["many" if each > 1 else "few" for each in noisy]
        if kind == "tuple":
            return [(float(each), "counted") for each in noisy]
        return noisy[:, None] if kind == "given" else noisy

    return number


@dataclass(frozen=True)
class Combination:
    """What is combined, and how it is audited."""

    relation: str
    source: str
    kind: str
    scale: float
    mode: Any = "auto"

    @cache  # noqa: B019  # the few there are
    def result(self) -> Result:
        """Audit it, with few trials."""
        how: dict[str, Any] = {"budget": 400, "seed": 1, "confidence": 0.95, "executor": "inline"}
        how |= {"detect": {"gamma": 0.9}.get(self.kind, 9.0)} if self.scale == QUIET else {}
        claim = DP(epsilon=1.0, relation=self.relation)
        if self.source == "law":
            subject = SoftMajority(epsilon=self.scale, r=3, learner="majority")
            sizes: dict[str, Any] = (
                {"domain": Domain(n=3, points=2)} if self.mode == "exhaustive" else {}
            )
            return audit(subject, claim=claim, mode=self.mode, **sizes)
        if self.source == "law of data":
            return audit(SoftMajority(epsilon=self.scale, r=3), claim=claim, data=(X, Y))
        if self.source == "pairs":
            pairs = replace_one(X[:2], Y[:2], neighbours="flip")
            claims = {"gamma": Stability(gamma=0.2), "mu": GDP(mu=1.0)}
            function = answer_of("label", self.scale)
            named: dict[str, Any] = {"queries": X[:1], "claim": claims.get(self.kind, claim)}
            return audit(_asked(function), pairs=pairs, labels=(0, 1), **named, **how)
        function = answer_of(self.kind, self.scale)
        more: dict[str, Any] = {"group": "who"} if "user" in self.relation else {}
        data: Any = FRAME
        if self.source == "answers":
            data = Answers(2, moved=1 if "in" in self.relation else None)
            claim = DP(epsilon=1.0, relation=data.relation)
        elif self.source == "list":
            data = [0.0, 1.0, 0.5, 0.2]
        elif self.source == "records":
            data = (X, Y)
        elif self.relation == "zero-out":
            data = Tables(FRAME, relation="zero-out", zero=FRAME.iloc[:1])
        if data is FRAME:
            more["relation"] = self.relation
        return audit(function, claim=claim, data=data, **more, **how)

    def record(self) -> dict[str, Any]:
        """Return the record of its audit."""
        facts = {
            "seed": 1, "confidence": 0.95, "budget": 400, "profile": "default", "data": None,
            "commit": None, "command": "dpassay run my_api:release --claim epsilon=1 --out found",
            "catalogue": False, "complete": True,
        }  # fmt: skip
        return make_record(facts, [self.result()])


def _asked(function: Any) -> Any:
    def asked(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:  # noqa: ARG001
        return function(data, size, rng)

    return asked


OF_ROWS = ("replace-2", "add-remove", "replace-user", "add-remove-user", "zero-out")
ONE, BOTH, LAWS = ("replace-one",), (QUIET, LOUD), (0.9, 3.0)
_COMBINED: Any = itertools.chain(
    itertools.product((*ONE, *OF_ROWS), ("frame",), ("number",), BOTH),
    itertools.product(("answers-1", "answers-1-in-1"), ("answers",), ("number",), BOTH),
    itertools.product(ONE, ("list", "records"), ("number",), BOTH),
    itertools.product(("add-remove",), ("frame",), ("text", "tuple", "error"), (LOUD,)),
    itertools.product(("add-remove",), ("frame",), ("number",), (STILL,)),
    itertools.product(ONE, ("pairs",), ("label", "gamma", "mu"), BOTH),
    itertools.product(ONE, ("law",), ("label",), LAWS, ("exact", "exhaustive", "monte-carlo")),
    itertools.product(ONE, ("law of data",), ("label",), LAWS),
)
COMBINATIONS = tuple(Combination(*each) for each in _COMBINED)
"""Those that differ in some sentence."""


def sentences(record: dict[str, Any], kind: str) -> Iterator[str]:
    """Yield what a format says of a record, a paragraph at a time."""
    if kind in {"terminal", "explain"}:
        stream = io.StringIO()
        out = Console(file=stream, width=2000, color_system=None)
        if kind == "terminal":
            print_summary(record, out)
        else:
            print_explanation(record, record["results"][0]["id"], out)
        texts = stream.getvalue().splitlines()
    elif kind == "page":
        bare = re.sub(r"(?s)<(style|svg)\b.*?</\1>", "", to_html(record))
        texts = [_bare(each) for each in re.split(rf"</(?:{BLOCKS})>", bare)]
    elif kind == "markdown":
        texts = re.sub(r"\\(.)", r"\1", html.unescape(to_markdown(record))).splitlines()
    else:
        junit = to_junit(record)
        texts = [html.unescape(each) for each in re.findall(r'message="([^"]*)"', junit)]
        texts += _bare(junit).splitlines()
    for text in texts:
        if plain := " ".join(text.split()):
            yield plain


def _bare(marked: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", marked))


def main(formats: list[str]) -> None:
    """Print the table."""
    for each in COMBINATIONS:
        record = each.record()
        result = record["results"][0]
        known = each.relation, each.source, each.kind, result["verdict"], result["mode"]
        print("\n===", " | ".join(known))
        for name in formats or FORMATS:
            print(f"--- {name}")
            print("\n".join(dict.fromkeys(sentences(record, name))))


if __name__ == "__main__":
    main(sys.argv[1:])
