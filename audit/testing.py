"""An audit as an assertion: what the fixture `assay` returns."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpassay.api import audit
from dpassay.config.profiles import CONFIDENCE
from dpassay.engine.result import Result
from dpassay.engine.verdicts import apart
from dpassay.engine.wording import through_words
from dpassay.errors import first_line
from dpassay.numerics import DOWN, lower_number, percent, upper_number
from dpassay.record.files import dumps, write_text
from dpassay.record.trust import trust_of
from dpassay.record.witness import make_witness
from dpassay.record.witness_words import in_words
from dpassay.targets.source import commit


@dataclass(frozen=True, slots=True, kw_only=True)
class Assayed:
    """A result of `dpassay.audit` with an assertion.

    `confidence` is that of its bounds, `path` where the witness of a refuted claim is written,
    `rerun` the command that runs the test again, seed apart. `asked` is what of the verdict was
    asked for: a refutation that nobody asked for must not pass in silence.
    """

    result: Result
    confidence: float
    path: Path
    rerun: str
    asked: list[str] = field(default_factory=list, repr=False, compare=False)

    @property
    def verdict(self) -> str:
        """One of `refuted`, `not refuted`, `verified`, `inconclusive`, `error`."""
        self.asked.append("verdict")
        return self.result.verdict

    def __getattr__(self, name: str) -> Any:
        """Return what the result has: `lower`, `upper`, `detectable` and so on."""
        return getattr(self.result, name)

    def assert_not_refuted(self, *, detectable: float | None = None) -> None:
        """Fail unless the audit ran, could see enough, and did not refute the claim.

        `detectable` is a leak, in the units of the claim, that the audit must have been able to
        see, through an answer of the probability that it states (`Result.seen`); by default what it
        was asked for with `detect`, or what `Settings` asks for. An audit that saw nothing move
        fails whatever it could have seen. The AssertionError has claim, bound, confidence, witness,
        and the command that replays it.
        """
        __tracebackhide__ = True
        if detectable is not None:
            self.result.target.check_detect(self.result.claim, detectable, "detectable")
        word, reason = self.verdict, self.result.outcome.reason
        if word in ("error", "refuted"):
            raise AssertionError(self._message())
        weak = word == "inconclusive" if detectable is None else self.result.detectable > detectable
        if weak or self.result.still:
            asked = "" if detectable is None else f" (asked: {detectable:g})"
            given = not self.facts()["searched"]
            moved = not (self.result.still and given)
            cure = self._cure() if moved else "look at pairs that matter"
            raise AssertionError(
                f"{self.result.claim} of {self.result.target.name} is not refuted, but the audit "
                f"could only see {self.result.seen}{asked}: {cure}\n  {reason}"
            )

    def _cure(self) -> str:
        """Say how an audit that saw too little can pass."""
        seen = self.result.detectable
        if self.result.still or not math.isfinite(seen):
            return "raise the budget"
        enough = math.ceil(100 * seen) / 100
        return f"raise the budget, or call assert_not_refuted(detectable={enough:g})"

    def facts(self) -> dict[str, Any]:
        """Return what a summary or a JUnit file shows."""
        evidence = self.result.evidence
        return {
            "mechanism": self.result.target.name,
            "claim": str(self.result.claim),
            "verdict": self.result.verdict,
            "reason": self.result.outcome.reason,
            "lower": lower_number(self.lower, self.result.claim.promised),
            "upper": upper_number(self.upper),
            "detectable": upper_number(self.detectable),
            "searched": evidence is not None and "search" in evidence.searched,
            "through": through_words(self.result.sight.frequency),
            "confidence": self.confidence,
            "seed": self.result.seed,
        }

    def unasked(self) -> str:
        """Return the warning for a refutation or an error that no assertion asked about."""
        if self.asked or self.result.verdict not in ("error", "refuted"):
            return ""
        asks = "and the test never asked: call assert_not_refuted(), or read .verdict"
        return f"{self._message()}\n{asks}"

    def _message(self) -> str:
        result = self.result
        if result.verdict == "error":
            said = f": {first_line(result.outcome.detail)}" if result.outcome.detail else ""
            return (
                f"{result.claim} of {result.target.name} could not be audited\n  cause       "
                f"{result.outcome.reason}{said}"
            )
        certainty = "computed from the exact law"
        if result.exact is None:
            certainty = f"certified at {percent(self.confidence)} confidence"
            if result.evidence is not None and result.evidence.searched.get("first_proof"):
                certainty += "; stop_early=False bounds the whole leak"
        least, allowed = apart(result.lower, result.claim.promised, DOWN)
        lines = [
            f"{result.claim} of {result.target.name} is refuted",
            f"  claim       {result.claim.quantity} of at most {allowed} ({result.claim.source})",
            f"  bound       at least {least}, {certainty}",
            f"  why         {result.outcome.reason}",
            f"  witness     {in_words(result)}",
            f"  replay      {self._replay()}",
        ]
        return "\n".join(lines)

    def _replay(self) -> str:
        witness = make_witness(self.result)
        if witness is None or witness["target"] is None or witness["data"]["kind"] == "memory":
            # what is audited has no name outside the test
            return f"{self.rerun} --dpassay-seed={self.result.seed}"
        write_text(self.path, dumps(witness))
        inside = self.path.is_relative_to(Path.cwd())
        here = self.path.relative_to(Path.cwd()) if inside else self.path
        return f"dpassay replay {shlex.quote(str(here))}{trust_of(witness)}"


def assayed(
    mechanism: Any, *, path: Path, rerun: str, confidence: float = CONFIDENCE, **arguments: Any
) -> Assayed:
    """Audit, and wrap the result; arguments are those of `dpassay.audit`."""
    result = audit(mechanism, confidence=confidence, **arguments)
    return Assayed(result=result, confidence=float(confidence), path=path, rerun=rerun)


def commit_seed(folder: Path) -> int:
    """Return a seed of the commit of a folder, so that a pipeline does not flake; else 0."""
    found = commit(folder)
    return 0 if found is None else int(found[:8], 16)
