"""What has become worse from one record of attacks to another, subject by subject.

A rise is certified: guesses by the same rule, fixed before either set of targets was looked at,
at the coin of the same record, are right more often than chance explains; or the same event of
repeated answers is. Losses that are computed from exact laws are compared as they are. What is
merely estimated is news, unless it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
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
from dpassay.record.comparer import Comparer, Difference, Kind, RiseLimit

Raw = Mapping[str, Any]


class AttackComparer(Comparer):
    """Holds the subjects and services of a record of attacks against those of an older one.

    All limits that are made anew from the counts of an entry in one record share `alpha`, so a
    correct entry is called worse with probability at most 2 alpha. If `strict`, an estimate
    that rose is a regression too: an AUC whose interval lies above the old one. Nothing
    certifies that.
    """

    schema = "dpassay/attack-comparison/1"

    def entries(self, record: Raw) -> dict[str, Raw]:
        """Return what a record says of each subject: guesses, repeated answers, and its claim."""
        told = told_of_claims(record)
        found: dict[str, dict[str, Any]] = {}
        for subject in record["subjects"]:
            found[subject["name"]] = {"subject": subject, "repeated": None}
        for each in record["repeated"]:
            found.setdefault(each["name"], {"subject": None})["repeated"] = each
        if "service" in record["run"] and not found:
            found[record["run"]["service"]] = {"subject": None, "repeated": None}
        service = told.get(record["run"].get("service", ""))
        return {
            name: entry | {"id": name, "told": told.get(name, service)}
            for name, entry in found.items()
        }

    def others(self) -> Iterator[Difference]:
        """Each defect of a service; none is excused by having been there before."""
        known = {each.get("name") for each in self.old["defects"]}
        service = self.new["run"].get("service", "service")
        for each in self.new["defects"]:
            seen = "was there before" if each.get("name") in known else "was not found before"
            words = f"has a defect, which {seen}: {each.get('name')}: {each.get('seen', '')}"
            yield _change(f"{service}: {each.get('name')}", "refuted", words)

    def came(self, entry: Raw) -> Iterator[Difference]:
        """Say that a subject is new."""
        yield from _own(entry)
        yield _change(entry["id"], "new", f"was not attacked before; {_said(entry)}")

    def went(self, entry: Raw) -> Difference:
        """Say that a subject is gone."""
        return _change(entry["id"], "vanished", f"is not attacked any more; {_said(entry)}")

    @cached_property
    def again(self) -> dict[str, tuple[list[LossNumber], int, str]]:
        """The numbers of each entry that both records have; see `counted_again`."""
        return {
            name: counted_again(self.before[name], entry, self.tolerance, self.alpha)
            for name, entry in self.after.items()
            if name in self.before
        }

    def both(self, old: Raw, new: Raw) -> Iterator[Difference]:
        """Say what is different of a subject."""
        name = new["id"]
        numbers, _, elsewhere = self.again[name]
        yield from _own(new)
        yield from _standing(name, old, new)
        yield from _risen(name, numbers, self.alpha)
        if elsewhere:
            yield _change(name, "elsewhere", elsewhere)
        yield from _estimated(name, old, new, strict=self.strict)

    def rise_limits(self) -> Iterable[RiseLimit]:
        """Say which rises would have been seen, of what is claimed if anything is."""
        counted = {name: each for name, each in self.again.items() if each[1]}
        claimed = [name for name in counted if self.after[name]["told"] is not None]
        return [_limit(name, *counted[name][:2]) for name in claimed or counted]


def _own(entry: Raw) -> Iterator[Difference]:
    """Return what is to be said whatever was before: a broken claim, a failure."""
    name = entry["id"]
    if entry["told"] == BROKEN:
        subject, repeated = entry["subject"], entry["repeated"]
        bounds = [] if subject is None or subject["error"] is not None else list(broken(subject))
        largest, how = None, ""
        if bounds:
            largest = max(float(each["lower"]) for each in bounds)
            how = f"guesses certify a loss of at least {down(largest)}"
        if renyi := [each["renyi"] for each in bounds if "renyi" in each]:
            worst = max(renyi, key=lambda each: float(each["lower"]) / float(each["allowed"]))
            least, claimed = down(worst["lower"]), worst["allowed"]
            how += f", and {renyi_name(worst)} of {least} where {claimed:g} is claimed"
        if not bounds and repeated is not None and outspent(repeated):
            rung = next(each for each in rungs_of(repeated) if each.get("broken"))
            largest = float(rung["lower"])
            how = f"{answers(rung['m'])}: a certified loss of at least {down(largest)}"
        yield _change(name, "refuted", f"the claim is broken: {how}", largest)
    for part in ("subject", "repeated"):
        if entry[part] is not None and entry[part].get("error"):
            yield _change(name, "failed", f"could not be attacked: {entry[part]['error']}")
            return


def _standing(name: str, old: Raw, new: Raw) -> Iterator[Difference]:
    """Return what became of the claim, and of what could be seen of it."""
    before, after = _claim(old), _claim(new)
    if before != after:
        weaker = after is None or (
            before is not None
            and any(one > other for one, other in zip(after, before, strict=True))
        )
        kind: Kind = "weakened" if weaker else "tightened"
        yield _change(name, kind, f"the claim is {_pair(after)} and was {_pair(before)}")
    if old["told"] in (HELD, BROKEN) and new["told"] not in (HELD, BROKEN):
        words = (
            f"{new['told'] or 'nothing is known of its claim'}, and was {old['told']}: attack more "
            "--models, or more --transcripts"
        )
        yield _change(name, "blinder", words)
    gone = [each for each in limits_of(old) if each not in limits_of(new)]
    failed = any(new[part] and new[part].get("error") for part in ("subject", "repeated"))
    if gone and not failed:
        yield _change(name, "blinder", f"is not attacked any more: {', '.join(gone)}")


def _risen(name: str, numbers: list[LossNumber], alpha: float) -> Iterator[Difference]:
    """Say which certified losses rose or fell beyond chance; the clearest of them in words."""
    sure = percent(1 - 2 * alpha)
    moved: dict[Kind, list[LossNumber]] = {
        "rose": [each for each in numbers if each.rose],
        "fell": [each for each in numbers if each.fell],
    }
    for kind, found in moved.items():
        if found:
            clearest = max(found, key=lambda each: each.apart)
            more = f"; so did {len(found) - 1} more" if len(found) > 1 else ""
            how = "computed from the exact laws" if clearest.exact else f"with {sure} confidence"
            size = clearest.after[0] if kind == "rose" else None
            yield _change(name, kind, f"{clearest.words}{more}; {how}", size)


def _estimated(name: str, old: Raw, new: Raw, *, strict: bool) -> Iterator[Difference]:
    """Say which estimates rose: the area under a curve, whose 95 % interval lies above the old."""
    before, after = _areas(old), _areas(new)
    risen = [key for key in after if key in before and after[key][0] > before[key][1]]
    if risen:
        view, attack = max(risen, key=lambda key: after[key][0] - before[key][1])
        low, high = after[view, attack]
        was = before[view, attack]
        words = (
            f"an estimate rose, which certifies nothing: the AUC of {attack} in the view '{view}' "
            f"is in [{low:.3f}, {high:.3f}], and was in [{was[0]:.3f}, {was[1]:.3f}], at 95 % each"
        )
        more = f"; so did {len(risen) - 1} more" if len(risen) > 1 else ""
        yield _change(name, "rose" if strict else "estimated", words + more)


def _areas(entry: Raw) -> dict[tuple[str, str], tuple[float, float]]:
    subject = entry["subject"]
    if subject is None or subject["error"] is not None:
        return {}
    return {
        (each["view"]["name"], each["attack"]): (float(each["auc_low"]), float(each["auc_high"]))
        for each in subject["outcomes"]
    }


def _limit(name: str, numbers: list[LossNumber], of: int) -> RiseLimit:
    """Say how many numbers could have shown a rise, and the smallest rise that one would show."""
    could = [each for each in numbers if each.least < math.inf]
    best = min(could, key=lambda each: each.least, default=None)
    return RiseLimit(
        id=name,
        quantity="nothing" if best is None else best.name,
        cells=len(could),
        of=of,
        before=(0.0, math.inf) if best is None else best.before,
        least=math.inf if best is None else best.least,
        noun="number",
    )


def _claim(entry: Raw) -> tuple[float, float] | None:
    """Epsilon and delta of one answer."""
    held = entry["subject"]
    claim = None if held is None else held["claim"]
    if claim is None and entry["repeated"] is not None and "epsilon" in entry["repeated"]:
        claim = entry["repeated"]
    return None if claim is None else (float(claim["epsilon"]), float(claim.get("delta", 0.0)))


def _pair(claim: tuple[float, float] | None) -> str:
    return "none" if claim is None else f"({claim[0]:g}, {claim[1]:g})"


def _said(entry: Raw) -> str:
    return "nothing is claimed of it" if entry["told"] is None else f"its claim: {entry['told']}"


def _change(name: str, kind: Kind, words: str, size: float | None = None) -> Difference:
    return Difference(id=name, mechanism=name, kind=kind, words=words, size=size)
