"""Dwork and Feldman (2018), the full version: every statement with a number, in its order.

The text shows no pages, so places are sections.
"""

from __future__ import annotations

from dpassay.theorems.dwork_feldman_2018 import statements_overview, statements_proofs

STATEMENTS = (*statements_overview.STATEMENTS, *statements_proofs.STATEMENTS)
