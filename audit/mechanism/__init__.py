"""What an algorithm offers to be audited."""

from dpassay.mechanism.base import Mechanism, Reachable, Trainer, WorstCase, offers, prepared
from dpassay.mechanism.function import ORDER, FunctionMechanism, OwnCoins

__all__ = [
    "ORDER",
    "FunctionMechanism",
    "Mechanism",
    "OwnCoins",
    "Reachable",
    "Trainer",
    "WorstCase",
    "offers",
    "prepared",
]
