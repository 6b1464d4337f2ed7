"""What attacks from Python found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpassay.record.attack_record import broken, told_of_claims
from dpassay.record.files import dumps, writable, write_text


@dataclass(frozen=True, slots=True, eq=False)
class AttackResult:
    """The result of attacks on one or several subjects.

    Parameters
    ----------
    record : mapping
        Of schema `dpassay/attack/1`, as `dpassay attack --json` prints it.
    """

    record: Mapping[str, Any]

    @property
    def best(self) -> Mapping[str, Any]:
        """The outcome with the highest AUC, over all subjects, views and attacks.

        An estimate, and by chance the best of many looks better than it is.
        """
        found = [each for subject in self.record["subjects"] for each in subject["outcomes"]]
        return max(found, key=lambda each: float(each["auc"]))

    @property
    def auc(self) -> float:
        """Its AUC, in [0, 1]; an estimate."""
        return float(self.best["auc"])

    def of(self, attack: str, view: str = "") -> Mapping[str, Any]:
        """Return what an attack reached, by its name; in the first view, or in one of this name.

        Raises
        ------
        KeyError
            If there is none.
        """
        for subject in self.record["subjects"]:
            for each in subject.get("outcomes", ()):
                if each["attack"] == attack and view in ("", each["view"]["name"]):
                    return dict(each)
        raise KeyError(attack)

    @property
    def claims(self) -> dict[str, str]:
        """Return what became of each claim: broken, not broken, or could not have seen it."""
        return told_of_claims(self.record)

    @property
    def lower(self) -> float | None:
        """The largest certified lower bound on the loss of a record, in nats.

        None where nothing was certified: then all numbers are estimates.
        """
        found = [each["lower"] for one in self.record["subjects"] for each in one["certified"]]
        return max(map(float, found)) if found else None

    @property
    def broken(self) -> bool:
        """Return whether a certified bound exceeds its claim."""
        return any(any(broken(subject)) for subject in self.record["subjects"])

    def save(self, directory: str | Path) -> Path:
        """Write `attack.json` into a folder; `dpassay report` makes the page of it.

        Returns
        -------
        Path
            Of the file.
        """
        folder = Path(directory)
        writable(folder)
        path = folder / "attack.json"
        write_text(path, dumps(self.record))
        return path

    def __str__(self) -> str:
        best, name = self.best, self.record["subjects"][0]["name"]
        told = (
            f"{name}: {best['attack']} on {best['view']['name']} has AUC {best['auc']:.3f} "
            f"[{best['auc_low']:.3f}, {best['auc_high']:.3f}], an estimate"
        )
        if self.lower is None:
            return f"{told}; nothing is certified"
        claims = ", ".join(f"{each}: {word}" for each, word in self.claims.items())
        return f"{told}; certified: loss of a record >= {self.lower:.3g}" + (
            f"; {claims}" if claims else ""
        )
