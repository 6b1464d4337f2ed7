"""What has become worse from one record of attacks to another, subject by subject.

A rise is certified: guesses by the same rule, fixed before either set of targets was looked at,
at the coin of the same record, are right more often than chance explains; or the same event of
repeated answers is. Losses that are computed from exact laws are compared as they are. What is
merely estimated is news, unless it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from dpassay.numerics import percent
from dpassay.record.attack_numbers import LossNumber, answers, counted_again, down, limits_of
from dpassay.record.attack_record import (
    BROKEN,
    HELD,
    broken,
    outspent,
    renyi_name,
    rungs_of,
    told_of_claims,
)
from dpassay.record.comparer import Comparer, Difference, RiseLimit, difference

Raw = Mapping[str, Any]


class AttackComparer(Comparer):
    """Holds the subjects and services of a record of attacks against those of an older one.

    All limits that are made anew from the counts of an entry in one record share `alpha`, so a
    correct entry is called worse with probability at most 2 alpha. If `strict`, an estimate that
    rose is a regression too: an AUC whose interval lies above the old one.
    """

    schema = "dpassay/attack-comparison/1"

    def entries(self, record: Raw) -> dict[str, Raw]:
        """Return what a record says of each subject: guesses, repeated answers, and its claim."""
        service, told = record["run"].get("service", ""), told_of_claims(record)
        found: dict[str, dict[str, Any]] = {}
        for subject in record["subjects"]:
            found[subject["name"]] = {"subject": subject, "repeated": None}
        for each in record["repeated"]:
            found.setdefault(each["name"], {"subject": None})["repeated"] = each
        if "service" in record["run"] and not found:
            found[service] = {"subject": None, "repeated": None}
        return {
            name: entry | {"id": name, "told": told.get(name, told.get(service))}
            for name, entry in found.items()
        }

    def others(self) -> Iterator[Difference]:
        """Yield each defect of a service; none is excused by having been there before."""
        known = {each.get("name") for each in self.old["defects"]}
        service = self.new["run"].get("service", "service")
        for each in self.new["defects"]:
            name = each.get("name")
            seen = "was there before" if name in known else "was not found before"
            words = f"has a defect, which {seen}: {name}: {each.get('seen', '')}"
            yield difference({"id": f"{service}: {name}"}, "refuted", words)

    def own(self, entry: Raw) -> Iterator[Difference]:
        """Yield a broken claim, and a failure."""
        if entry["told"] == BROKEN:
            words, largest = _broken(entry["subject"], entry["repeated"])
            yield difference(entry, "refuted", f"the claim is broken: {words}", largest)
        if error := _error(entry):
            yield difference(entry, "failed", f"could not be attacked: {error}")

    def came(self, entry: Raw) -> str:
        """Say that a subject is new."""
        return f"was not attacked before; {_told(entry)}"

    def went(self, entry: Raw) -> Difference:
        """Say that a subject is gone."""
        return difference(entry, "vanished", f"is not attacked any more; {_told(entry)}")

    @cached_property
    def again(self) -> dict[str, tuple[list[LossNumber], int, str]]:
        """Return the numbers of each entry that both records have; see `counted_again`."""
        return {
            name: counted_again(self.before[name], entry, self.tolerance, self.alpha)
            for name, entry in self.after.items()
            if name in self.before
        }

    def both(self, old: Raw, new: Raw) -> Iterator[Difference]:
        """Yield what is different of a subject: its claim, what could be seen, its numbers."""
        numbers, _, elsewhere = self.again[new["id"]]
        before, after = _claim(old), _claim(new)
        if before != after:
            lax = after is None or (
                before is not None and (after[0] > before[0] or after[1] > before[1])
            )
            words = f"the claim is {_pair(after)} and was {_pair(before)}"
            yield difference(new, "weakened" if lax else "tightened", words)
        if old["told"] in (HELD, BROKEN) and new["told"] not in (HELD, BROKEN):
            words = (
                f"{new['told'] or 'nothing is known of its claim'}, and was {old['told']}: attack "
                "more --models, or more --transcripts"
            )
            yield difference(new, "blinder", words)
        gone = [each for each in limits_of(old) if each not in limits_of(new)]
        if gone and not _error(new):
            yield difference(new, "blinder", f"is not attacked any more: {', '.join(gone)}")
        yield from self._moved(new, "rose", [each for each in numbers if each.rose])
        yield from self._moved(new, "fell", [each for each in numbers if each.fell])
        if elsewhere:
            yield difference(new, "elsewhere", elsewhere)
        if words := _estimated(old, new):
            yield difference(new, "rose" if self.strict else "estimated", words)

    def _moved(self, new: Raw, kind: str, numbers: list[LossNumber]) -> Iterator[Difference]:
        """Say which certified losses moved beyond chance; the clearest of them in words."""
        if numbers:
            clearest = max(numbers, key=lambda each: each.apart)
            how = f"with {percent(1 - 2 * self.alpha)} confidence"
            how = "computed from the exact laws" if clearest.exact else how
            words = f"{clearest.words}{_more(numbers)}; {how}"
            yield difference(new, kind, words, clearest.after[0] if kind == "rose" else None)

    def rise_limits(self) -> Iterator[RiseLimit]:
        """Yield which rises would have been seen, of what is claimed if anything is.

        It says how many numbers could have shown one, and the smallest rise that one would show.
        """
        counted = [name for name, each in self.again.items() if each[1]]
        claimed = [name for name in counted if self.after[name]["told"] is not None]
        for name in claimed or counted:
            numbers, of, _ = self.again[name]
            could = [each for each in numbers if each.least < math.inf]
            best = min(could, key=lambda each: each.least, default=None)
            yield RiseLimit(
                id=name,
                quantity="nothing" if best is None else best.name,
                cells=len(could),
                of=of,
                before=(0.0, math.inf) if best is None else best.before,
                least=math.inf if best is None else best.least,
                noun="number",
            )


def _broken(subject: Raw | None, repeated: Raw | None) -> tuple[str, float | None]:
    """Say by what a claim is broken, and return the largest certified loss."""
    bounds = [] if subject is None or subject["error"] is not None else list(broken(subject))
    if bounds:
        largest = max(float(each["lower"]) for each in bounds)
        words = f"guesses certify a loss of at least {down(largest)}"
        if renyi := [each["renyi"] for each in bounds if "renyi" in each]:
            worst = max(renyi, key=lambda each: float(each["lower"]) / float(each["allowed"]))
            least, claimed = down(worst["lower"]), worst["allowed"]
            words += f", and {renyi_name(worst)} of {least} where {claimed:g} is claimed"
        return words, largest
    if repeated is not None and outspent(repeated):
        rung = next(each for each in rungs_of(repeated) if each.get("broken"))
        lower = float(rung["lower"])
        return f"{answers(rung['m'])}: a certified loss of at least {down(lower)}", lower
    return "", None


def _error(entry: Raw) -> str:
    """Return why something of an entry failed; empty where nothing did."""
    parts = (entry["subject"], entry["repeated"])
    return next((each["error"] for each in parts if each is not None and each.get("error")), "")


def _estimated(old: Raw, new: Raw) -> str:
    """Say which estimates rose: the area under a curve, whose 95 % interval lies above the old."""
    before, after = _areas(old), _areas(new)
    risen = [key for key in after if key in before and after[key][0] > before[key][1]]
    if not risen:
        return ""
    view, attack = max(risen, key=lambda key: after[key][0] - before[key][1])
    (low, high), was = after[view, attack], before[view, attack]
    return (
        f"an estimate rose, which certifies nothing: the AUC of {attack} in the view '{view}' "
        f"is in [{low:.3f}, {high:.3f}], and was in [{was[0]:.3f}, {was[1]:.3f}], at 95 % "
        f"each{_more(risen)}"
    )


def _more(risen: list[Any]) -> str:
    return f"; so did {len(risen) - 1} more" if len(risen) > 1 else ""


def _areas(entry: Raw) -> dict[tuple[str, str], tuple[float, float]]:
    subject = entry["subject"]
    return {
        (each["view"]["name"], each["attack"]): (float(each["auc_low"]), float(each["auc_high"]))
        for each in (() if subject is None or subject["error"] is not None else subject["outcomes"])
    }


def _claim(entry: Raw) -> tuple[float, float] | None:
    """Return epsilon and delta of one answer."""
    subject, repeated = entry["subject"], entry["repeated"]
    claim = None if subject is None else subject["claim"]
    if claim is None and repeated is not None and "epsilon" in repeated:
        claim = repeated
    return None if claim is None else (float(claim["epsilon"]), float(claim.get("delta", 0.0)))


def _pair(claim: tuple[float, float] | None) -> str:
    return "none" if claim is None else f"({claim[0]:g}, {claim[1]:g})"


def _told(entry: Raw) -> str:
    return "nothing is claimed of it" if entry["told"] is None else f"its claim: {entry['told']}"
