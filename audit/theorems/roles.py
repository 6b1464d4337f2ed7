"""What a row is a check of: a statement as printed, a reading, an end of a range, or a step.

A statement as printed is refuted where its formula is false inside the range that it is said to
hold for, in every reading. A row that is not listed here checks a statement as printed.
"""

from __future__ import annotations

from typing import Literal

from dpassay.theorems.registry import statements
from dpassay.theorems.row import Row

Role = Literal["printed", "reading", "end", "step"]

READINGS = frozenset(
    {
        "chaudhuri-vinterbo-2013/lemma-4/by-content",
        "chaudhuri-vinterbo-2013/section-1-independence/theorem-4",
        "chaudhuri-vinterbo-2013/section-3-example/constant-delta",
        "chaudhuri-vinterbo-2013/section-4.1-algorithms/hinge",
        "chaudhuri-vinterbo-2013/theorem-1/theorem-4-noise",
        "chaudhuri-vinterbo-2013/theorem-2/algorithm-3",
        "chaudhuri-vinterbo-2013/theorem-5/alpha-split-overlooked",
        "chaudhuri-vinterbo-2013/theorem-5/overlooked",
        "dagan-feldman-2020/lemma-5/kept-order",
        "dagan-feldman-2020/section-3-outline/rounded-up",
        "dwork-feldman-2018/corollary-4.11/privacy-sum",
        "dwork-feldman-2018/corollary-4.13/privacy-fixed",
        "dwork-feldman-2018/lemma-5.2/smaller-points",
        "dwork-feldman-2018/lemma-5.2/ties-by-label",
        "dwork-feldman-2018/lemma-5.2/ties-in-order",
        "dwork-feldman-2018/section-2.2-walk/privacy",
        "dwork-feldman-2018/theorem-2.4/smaller-points",
        "dwork-feldman-2018/theorem-2.4/ties-by-label",
        "dwork-feldman-2018/theorem-4.1/answer-coins",
        "dwork-feldman-2018/theorem-4.12/fixed-after",
        "dwork-feldman-2018/theorem-4.12/fixed-before",
        "dwork-feldman-2018/theorem-4.12/random-after",
        "dwork-feldman-2018/theorem-4.9/sum",
        "dwork-feldman-2018/theorem-5.3/smaller-points",
        "dwork-feldman-2018/theorem-5.3/ties-by-label",
    }
)
"""The text can be read so, and in another way that is not refuted."""
ENDS = frozenset(
    {
        "dagan-feldman-2020/lemma-1/corner",
        "dagan-feldman-2020/lemma-3/single",
        "dagan-feldman-2020/lemma-6/large-epsilon",
        "dagan-feldman-2020/remark-1/corner",
        "dagan-feldman-2020/section-1.1-best-lower/coin",
        "dagan-feldman-2020/section-1.1-cover/corner",
        "dagan-feldman-2020/section-1.1-flip/above",
        "dagan-feldman-2020/section-1.1-lower/coin",
        "dagan-feldman-2020/section-1.1-lower/constants",
        "dagan-feldman-2020/section-1.1-lower/single",
        "dagan-feldman-2020/section-3-conversion/floor-above",
        "dagan-feldman-2020/section-3-conversion/privacy-above",
        "dwork-feldman-2018/corollary-2.1/large-epsilon",
        "dwork-feldman-2018/corollary-2.3/large-epsilon",
        "dwork-feldman-2018/corollary-4.2/large-epsilon",
        "dwork-feldman-2018/section-2.1-agnostic-lower/coin",
        "dwork-feldman-2018/section-2.1-regression/large-epsilon",
        "dwork-feldman-2018/section-2.1-sauer/one-point",
        "dwork-feldman-2018/theorem-4.3/coin",
        "dwork-feldman-2018/theorem-4.3/constants",
        "dwork-feldman-2018/theorem-4.3/nearly-half",
    }
)
"""alpha or beta near or above one half or 1, large epsilon, d <= 1 or a single point: the paper
does not exclude it, and hardly means it."""
STEPS = frozenset(
    {
        "dagan-feldman-2020/equation-13/half",
        "dagan-feldman-2020/remark-2/step",
        "dagan-feldman-2020/section-4.1-parameter/excess",
        "chaudhuri-vinterbo-2013/section-6.1-stable/step",
        "dwork-feldman-2018/theorem-5.3-agnostic-step/bound",
    }
)
"""Steps outside of the statements whose number says that they are of a proof."""


def role_of(row: Row) -> Role:
    """Return what a row is a check of."""
    (number,) = (each.number for each in statements(row.paper) if each.name == row.statement)
    if row.key in STEPS or number.startswith("proof"):
        return "step"
    return "reading" if row.key in READINGS else "end" if row.key in ENDS else "printed"
