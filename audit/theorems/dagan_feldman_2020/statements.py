"""Dagan and Feldman (2020): every statement with a number, in its order.

The text shows no pages, so places are sections.
"""

from __future__ import annotations

from dpassay.theorems.dagan_feldman_2020 import statements_overview, statements_proofs

STATEMENTS = (*statements_overview.STATEMENTS, *statements_proofs.STATEMENTS)
