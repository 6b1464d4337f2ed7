"""What an algorithm offers to be audited."""

from dpassay.mechanism.base import Mechanism, offers, prepared
from dpassay.mechanism.function import ORDER, FunctionMechanism, OwnCoins
from dpassay.mechanism.trainer import Trainer
from dpassay.mechanism.worst_cases import Reachable, WorstCase

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
