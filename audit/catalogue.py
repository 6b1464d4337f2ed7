"""The built-in mechanisms: one explicit table, held against the folder by a test."""

from __future__ import annotations

CATALOGUE = {
    "soft-majority": "dpassay.mechanisms.soft_majority:SoftMajority",
    "soft-majority-overview": "dpassay.mechanisms.soft_majority_overview:SoftMajorityOverview",
    "projected-walk": "dpassay.mechanisms.projected_walk:ProjectedWalk",
    "interface": "dpassay.mechanisms.interface:Interface",
}
"""Command-line name -> module:object."""
