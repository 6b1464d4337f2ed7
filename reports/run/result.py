"""One result, ready to be shown: what its record says, and that in a few words.

Short numbers have three digits, or as many as tell them from the claim; bounds are rounded
outwards. The record and the rest of a report have them in full.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from dpassay.engine.wording import query_words, through_words
from dpassay.numerics import DOWN, NEAREST, UP, plain, told_apart, written
from dpassay.promise import SINGLE
from dpassay.record.curves import WITNESSED
from dpassay.record.files import clearest_id
from dpassay.reports.run.kinds import words_of
from dpassay.reports.run.words import (
    blurred,
    capital,
    change_words,
    datasets_words,
    event_words,
    exceeds,
    is_pattern,
    labels,
    looked_at,
    nothing_found,
    replay_of,
    shares,
    unit_words,
)
from dpassay.reports.shared.numbers import (
    DIGITS,
    INFINITY,
    clean,
    count,
    plural,
    promise,
    short_beside,
    short_number,
    value,
)
from dpassay.reports.shared.statuses import status_of

Raw = Mapping[str, Any]
LEAKS, HAS = "leaks", "has"


class ResultView:
    """The facts that the record of a result holds, and short words for them."""

    def __init__(self, raw: Raw, name: str, place: int) -> None:
        claim, self.raw, self.name, self.place = raw["claim"], raw, name, place
        self.id, self.mechanism, self.reason, self.source = (
            clean(text) for text in (raw["id"], raw["mechanism"], raw["reason"], claim["source"])
        )
        self.words, self.status, self.witness = words_of(claim), status_of(raw), raw["witness"]
        self.low, self.high, self.leak = (value(raw[name]) for name in ("lower", "upper", "exact"))
        self.promised, self.quantity = self.words.promised, self.words.quantity
        self.unit = self.words.unit
        self.verb = HAS if self.words.computed or self.words.strings else LEAKS
        self.sampled, self.exhaustive = (raw["mode"] == m for m in ("monte-carlo", "exhaustive"))
        self.refuted, self.printed = raw["verdict"] == "refuted", claim["status"] == "printed"
        self.searched: Raw = raw["searched"] or {}
        self.asked = self.searched.get("asked", True)  # whether what was looked at has queries
        self.sought = "search" in self.searched  # whether the pairs were searched for
        self.first_proof = self.searched.get("first_proof", False)  # whether that ended the search
        self.cells = self.searched.get("certified_cells", len(raw["per_query"]))
        self.looked_at, self.blurred = looked_at(raw), blurred(raw)
        self.exceeds, self.nothing = exceeds(raw), nothing_found(raw)
        self.known = self.leak is not None and not self.blurred and not self.looked_at
        self.bar = self.low if self.leak is None else self.leak  # None for an error
        self.detectable = value(raw["detectable"])
        self.through = through_words((raw.get("sight") or {}).get("frequency"))
        # how the worst pair is told apart for certain; empty where the leak is a factor
        self.certain = clean(raw.get("findings", [{"certain": ""}])[0]["certain"])
        self.cell = None if self.nothing else self.witness  # whose leak is the headline
        self.about = "" if (about := unit_words(raw)) == SINGLE else about
        beyond = self.low if self.refuted else None
        shown = _promise(self.promised, beyond)
        short, self._beside = self.words.short(shown), float(shown)
        self.claimed = f"{self.words.symbol} = {short}" if short.startswith(shown) else short

    @cached_property
    def found(self) -> str:
        """Return what is known of the leak, '≥ 1.89', '= 2' or '0.92 to 1.11'; '' for an error."""
        if self.low is None:
            return ""
        if self.known and self.leak is not None:
            return f"= {short_beside(self.leak, self._beside, NEAREST, beyond=self.refuted)}"
        least = short_beside(self.low, self._beside, DOWN, beyond=self.refuted)
        if self.looked_at or self.high is None or math.isinf(self.high) or self.refuted:
            return f"≥ {least}"
        most = short_beside(self.high, self._beside, UP, beyond=self.high > self._beside)
        return f"{least} to {most}"

    @property
    def ratio(self) -> float | None:
        """Return leak over claim: what is known, else what is certain."""
        found = self.leak if self.known else self.low
        if found is None or self.promised:
            return None if found is None else found / self.promised
        return math.inf if found else 0.0

    @property
    def times(self) -> str:
        """Return how many times the claim is leaked for certain; '' where no factor is known."""
        ratio, way = self.ratio, NEAREST if self.known else DOWN
        if not self.refuted or self.certain or not ratio:
            return ""
        if math.isinf(ratio):
            return INFINITY
        text = short_number(ratio, way)
        return text if float(text) > 1 else told_apart(ratio, 1.0, way)

    @property
    def part(self) -> str:
        """Return a part of the release in a word or two: 'the sign of <w, x> alone' is 'sign'."""
        short = self.looked_at.removeprefix("the ").removesuffix(" alone").split(" of ")[0]
        return short if self.looked_at.startswith("the ") or not self.looked_at else "a part"

    @property
    def pair(self) -> str:
        """Return the two datasets of a witness that a search found; empty of another."""
        words = "" if self.cell is None else self.cell["words"]
        told = re.match(r"(S: .*? S': .*?\.) .* A search found the pair, ", words, re.DOTALL)
        return clean(told[1]) if told else ""

    @cached_property
    def seen(self) -> str:
        """Return what changed where, and how often the answer came."""
        told: list[str] = []
        if self.cell is not None:
            if clearest := self.raw.get("clearest"):
                leak = written(value(clearest["loss"]) or 0.0, DIGITS, DOWN)
                easier = f"There the {self.words.amount} is {leak}, and easier to see."
                told = [self.told(clearest), easier, *told]
            told = [self.told(self.cell), self._ratio_words(self.cell), *told]
        return " ".join(filter(None, told))

    def told(self, cell: Raw) -> str:
        """Return what changed in a cell: which record, where, and how often the answer came."""
        change, query, answer = self._place(cell)
        change = capital(f"another pair, {change}" if cell is self.raw.get("clearest") else change)
        if self.words.computed:
            return (
                f"The {self.quantity} is {plain(value(cell['p1']) or 0.0)} on an audited dataset."
            )
        sides = self.sides_of(cell)
        if self.words.strings or not sides:
            known = self.leak is not None and not self.blurred
            told = written(self.leak, DIGITS) if self.leak is not None and known else ""
            told = told or f"at least {short_number(self.low or 0.0, DOWN)}"
            return f"{change}: a random string is bad with probability {told}."
        (_, one), (_, other) = sides
        if not answer:
            before, after = (written(each, DIGITS + 1, NEAREST) for each in (one, other))
            return f"{change}: {query}the mean prediction went from {before} to {after}."
        of = f" of {count(cell['trials']['draws'])} runs" if cell["trials"] else ""
        before, after = shares(one, other, self._breaks)
        if is_pattern(cell["event"]):  # its words are a clause: 'the answer is below 3'
            of = of or " of the runs"
            return (
                f"{change}: {query}{answer} in {before}{of} before the change, in {after} after it."
            )
        return f"{change}: {query}the answer {answer} went from {before} to {after}{of}."

    def _ratio_words(self, cell: Raw) -> str:
        """Return how many times as often an answer came on one side as on the other.

        Only a refuted claim of pure privacy has such words, and an answer that came on both sides.
        """
        claim = self.raw["claim"]
        least, most = sorted(p for _, p in self.sides_of(cell)) or (0.0, 0.0)
        if not self.refuted or claim["epsilon"] is None or claim["delta"] or not least:
            return ""
        allowed, about = math.exp(min(float(claim["epsilon"]), 700.0)), "about " * self.sampled
        ratio = f"{about}{written(most / least, DIGITS, NEAREST)} times as often"
        if most <= allowed * least:
            return ""
        return f"That is {ratio}; {written(allowed, DIGITS, UP)} times is allowed."

    def _place(self, cell: Raw) -> tuple[str, str, str]:
        """Return the change, the query with a blank behind it, and the answer of a witness."""
        cells = self.raw["per_query"]
        for label, each in zip(labels(cells), cells, strict=True):
            if all(each.get(name) == cell.get(name) for name in WITNESSED):
                told = f'"{clean(each["answer"])}"' if "answer" in each else ""
                # the mechanism's own worst cases have numbers
                own = label.removeprefix("own ")
                where = f"in its own worst case {own} "
                where = f"at {query_words(label)} " if own == label else where
                return change_words(each), where * self.asked, told or event_words(cell["event"])
        found = re.search(r"S': (.+?)\. ", cell["words"])
        change = clean(found[1]) if found else "one record changed"
        return change, "", event_words(cell["event"])

    def sides_of(self, cell: Raw) -> tuple[tuple[str, float], ...]:
        """Return the probability of a witness's answer, or its value, on S and then on S'."""
        p1, p0 = value(cell.get("p1")), value(cell.get("p0"))
        if self.words.strings or p1 is None or p0 is None:
            return ()
        here, there = (p1, p0) if cell["direction"] == "S to S'" else (p0, p1)
        return (("S", here), ("S'", there))

    @property
    def sides(self) -> tuple[tuple[str, float], ...]:
        """Return the sides of the cell that is shown."""
        return () if self.cell is None else self.sides_of(self.cell)

    @property
    def shown(self) -> tuple[str, ...]:
        """Return the two sides as they are written."""
        if self.cell is None or not self.sides:
            return ()
        (_, one), (_, other) = self.sides
        if self.cell["event"] == []:
            return written(one, DIGITS + 1, NEAREST), written(other, DIGITS + 1, NEAREST)
        return shares(one, other, self._breaks)

    def _breaks(self, p: float, q: float) -> bool:
        """Return whether two probabilities break a refuted claim of (ε, δ); else if they differ."""
        claim = self.raw["claim"]
        if not self.refuted or claim["epsilon"] is None:
            return p != q
        most, delta = math.exp(min(float(claim["epsilon"]), 700.0)), float(claim["delta"])
        return p > most * q + delta or q > most * p + delta

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Return what else refutes a claim, and what a reader must know of a search."""
        also = [
            f"Also: {clean(each['certain'])}."
            if each["certain"]
            else f"Also, with a {self.quantity} of at least "
            f"{written(float(each['lower']), DIGITS, DOWN)}: {self.told(each['witness'])}"
            for each in self.raw.get("findings", ())[1:]
        ]
        return *also, *map(clean, self.searched.get("notes", ()))

    @property
    def sight(self) -> str:
        """Return the smallest leak that would have been seen, '≥ 1.25', 'any excess' or ''."""
        if self.detectable is None or math.isinf(self.detectable):
            return ""
        if not self.sampled and not self.blurred:
            return "any excess"
        return f"≥ {written(self.detectable, DIGITS, UP)}"

    @cached_property
    def at_most(self) -> str:
        """Return a finite upper bound with the cells that it covers."""
        if self.known or self.looked_at or self.high is None or math.isinf(self.high):
            return ""
        where = "certified" if self.sampled else "audited"
        number = f"{self.cells} " * (self.sampled and self.cells > 1)
        the = f"the {number}{where} cell{'s' * (self.cells != 1)}"
        most = short_beside(self.high, self._beside, UP, beyond=self.high > self._beside)
        return f"≤ {most} at {the}"

    @property
    def looked(self) -> str:
        """Return how many pairs and queries were looked at."""
        searched, parts = self.searched, self.searched.get("parts", ())
        if not searched:
            return ""
        if self.sought:
            first = searched["search"][0]
            families = plural(len(first["families"]), "family")
            found = f"{plural(first['pairs'], 'pair')} in {families}"
            if self.sampled:
                return f"{found}; {plural(self.cells, 'pair')} certified on fresh runs"
            own = sum(part["kind"] == "own" for part in parts)
            return f"{found}, {plural(own, 'worst case')} of its own" if own else found
        if not parts or "datasets" in searched:
            told = [datasets_words(searched)] if "datasets" in searched else []
            told.append(plural(searched["pairs"], "pair") + " of neighbours" * self.asked)
            return ", ".join(told + [plural(searched["queries"], "query")] * self.asked)
        own, learned = (
            sum(part["pairs"] for part in parts if part["kind"] == kind)
            for kind in ("own", "learned")
        )
        told = [
            plural(part["pairs"], "pair") + f" × {plural(part['queries'], 'query')}" * self.asked
            for part in parts
            if part["kind"] == "data"
        ]
        told += [f"{plural(own, 'worst case')} of its own"] if own else []
        told += [f"{plural(learned, 'pair')} again in a learned direction"] if learned else []
        return ", ".join(told)

    @property
    def replay(self) -> str:
        """Return the command that runs the clearest witness again; '' where only Python can."""
        if clear := self.raw.get("clearest"):
            return replay_of(clear, clearest_id(self.raw["id"]))
        return "" if self.cell is None else replay_of(self.cell, self.raw["id"])


def _promise(claimed: float, found: float | None) -> str:
    """Write a claimed number with four digits, more where what was found needs them."""
    text = written(claimed, DIGITS + 1, UP)
    same = float(text) == claimed or math.isclose(float(text), claimed, rel_tol=1e-12)
    return (
        promise(claimed, found) if not same and found is not None and found <= float(text) else text
    )
