"""Claims: what an algorithm promises, about which neighbours, outputs and coins."""

from dpassay.claims.answers import DP, GDP, LARGEST, Stability
from dpassay.claims.curves import RDP, Profile, zCDP
from dpassay.claims.kinds import KINDS, SPELLED, SPELLINGS, Claim, claim_from_json, spelled
from dpassay.claims.numbers import Accuracy, PredictionStability
from dpassay.claims.promise import SINGLE, Status
from dpassay.claims.scores import ScoreStability

__all__ = [
    "DP",
    "GDP",
    "KINDS",
    "LARGEST",
    "RDP",
    "SINGLE",
    "SPELLED",
    "SPELLINGS",
    "Accuracy",
    "Claim",
    "PredictionStability",
    "Profile",
    "ScoreStability",
    "Stability",
    "Status",
    "claim_from_json",
    "spelled",
    "zCDP",
]
