"""The pages that are looked at: of one mechanism each, of a few, of attacks, of the self-test."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from dpassay.cli.main import main
from dpassay.record.files import write_text
from dpassay.reports.attack.pages import to_html as attack_page
from dpassay.reports.selftest.pages import to_html as selftest_page
from tests.cli.rewritten import inside
from tests.reports.test_attack_report import build
from tests.reports.test_selftest_report import BAD, LOST, make


@dataclass(frozen=True)
class Site:
    """A page on the disk, and what to look for."""

    path: Path
    names: tuple[str, ...]  # of the results that it must show
    height: int | None = None  # most pixels at 1200 pixels with every fold open
    sheets: int | None = None  # most printed pages, where there is a limit


SHOP = '''
import numpy as np


def parity(data, queries, size, rng, noise):
    """Answer the parity of the labels, flipped with probability 1 / (1 + e^noise)."""
    label = int(data.y.sum() % 2)
    p = 1 / (1 + np.exp(noise))
    return np.where(rng.random((size, len(queries))) < p, 1 - label, label)


def recommends(data, queries, size, rng):
    return parity(data, queries, size, rng, 2.0)


def recommends_quietly(data, queries, size, rng):
    return parity(data, queries, size, rng, 1.0)


def probability_of_a_second_purchase_within_thirty_days(data, queries, size, rng):
    return (rng.random((size, len(queries))) < 0.01).astype(int)


def rebuilds(data, queries, size, rng):
    raise KeyError("no model for the columns age, visits")
'''
"""Somebody's own mechanisms: refuted, not refuted, inconclusive, an error."""
OWN = {
    "refuted": "recommends",
    "not-refuted": "recommends_quietly",
    "inconclusive": "probability_of_a_second_purchase_within_thirty_days",
    "error": "rebuilds",
}
MECHANISM = "theorem-4-score-at-zero"
"""Entry of the catalogue of which the page is looked at: claims of β."""
FEW = (
    *("soft-majority-overview", "projected-walk", "bagged", "averaged", "control"),
    *("pate-data-dependent", "projected-walk-below", "example61-exponential"),
)
"""Entries of the catalogue with claims of every kind."""


def of_run(folder: Path) -> Site:
    """The page that a run wrote: it must name every mechanism."""
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    names = dict.fromkeys(result["mechanism"] for result in record["results"])
    return Site(folder / "index.html", tuple(names))


def own(folder: Path, verdict: str) -> Site:
    """The page of a run of one mechanism of somebody's own, on a file of theirs."""
    rng = np.random.default_rng(3)
    rows = [f"{rng.integers(18, 80)},{rng.integers(50)},{rng.integers(2)}" for _ in range(60)]
    write_text(folder / "people.csv", "\n".join(("age,visits,bought_again", *rows)) + "\n")
    write_text(folder / "shop.py", SHOP)
    words = f"run shop:{OWN[verdict]} --claim epsilon=1 --data people.csv --label bought_again"
    words += " --neighbours flip --train 40 --queries 3 --executor inline --no-stop-early -q"
    with inside(folder):
        main([*words.split(), "--out", "report"])
    site = of_run(folder / "report")
    (result,) = json.loads((folder / "report/record.json").read_text(encoding="utf-8"))["results"]
    assert result["verdict"] == verdict.replace("-", " "), result["reason"]
    return site


def few(folder: Path) -> Site:
    """The page of a run of a few entries of the catalogue."""
    sizes = ("--profile", "quick", "--train", "40", "--queries", "2", "--train-queries", "1")
    assert main(["run", *FEW, *sizes, "-q", "--out", str(folder)]) == 0
    return of_run(folder)


def catalogue(folder: Path) -> Site:
    """The page that a run of the whole catalogue wrote: twelve screens with every fold open."""
    return replace(of_run(folder), height=12 * 800, sheets=25)


def of_mechanism(folder: Path) -> Site:
    """The page of one mechanism of the catalogue."""
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    names = [result["id"] for result in record["results"] if result["mechanism"] == MECHANISM]
    return Site(folder / f"mechanisms/{MECHANISM}.html", tuple(names))


def attacks(folder: Path) -> Site:
    """The page of attacks with something of everything."""
    record = build()
    write_text(folder / "attack.html", attack_page(record))
    return Site(folder / "attack.html", _named(record["subjects"]))


def selftest(folder: Path) -> Site:
    """The page of a self-test of which two checks failed."""
    document = make(BAD, LOST)
    write_text(folder / "selftest.html", selftest_page(document))
    return Site(folder / "selftest.html", _named(document["checks"]))


def _named(results: Iterable[dict[str, str]]) -> tuple[str, ...]:
    return tuple(result["name"] for result in results)


PAGES: dict[str, Callable[[Path], Site]] = {
    **{verdict: partial(own, verdict=verdict) for verdict in OWN},
    "few": few,
    "attacks": attacks,
    "selftest": selftest,
}
"""Every page but that of the whole catalogue, by a name, with what writes it into a folder."""
