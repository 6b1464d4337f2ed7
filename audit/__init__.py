"""dpassay tests a randomised algorithm against the privacy it claims."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpassay.api import audit as audit
    from dpassay.attacks.user_models.api import AttackResult as AttackResult
    from dpassay.attacks.user_models.api import attack as attack
    from dpassay.attacks.user_models.estimates import attack_model as attack_model
    from dpassay.claims import DP as DP
    from dpassay.claims import GDP as GDP
    from dpassay.claims import RDP as RDP
    from dpassay.claims import Accuracy as Accuracy
    from dpassay.claims import PredictionStability as PredictionStability
    from dpassay.claims import Profile as Profile
    from dpassay.claims import ScoreStability as ScoreStability
    from dpassay.claims import Stability as Stability
    from dpassay.claims import zCDP as zCDP
    from dpassay.data import Labelled as Labelled
    from dpassay.engine.domains.domain import Domain as Domain
    from dpassay.errors import DpassayError as DpassayError
    from dpassay.errors import InvalidInput as InvalidInput
    from dpassay.errors import TargetError as TargetError
    from dpassay.laws import FiniteLaw as FiniteLaw
    from dpassay.laws import NoiseLaw as NoiseLaw
    from dpassay.laws import PointLaw as PointLaw
    from dpassay.laws import bernoulli_law as bernoulli_law
    from dpassay.mechanism import Mechanism as Mechanism
    from dpassay.noise import Noise as Noise
    from dpassay.pairs import Pairs as Pairs
    from dpassay.pairs import replace_one as replace_one
    from dpassay.search.spaces import Answers as Answers
    from dpassay.search.spaces import Scalars as Scalars
    from dpassay.search.tables import Tables as Tables
    from dpassay.targets.messages import with_messages as with_messages

_WHERE = {
    "DP": "claims",
    "GDP": "claims",
    "TargetError": "errors",
    "Domain": "engine.domains.domain",
    "DpassayError": "errors",
    "FiniteLaw": "laws",
    "InvalidInput": "errors",
    "Labelled": "data",
    "Mechanism": "mechanism",
    "Noise": "noise",
    "NoiseLaw": "laws",
    "Pairs": "pairs",
    "PointLaw": "laws",
    "Accuracy": "claims",
    "PredictionStability": "claims",
    "ScoreStability": "claims",
    "Stability": "claims",
    "Profile": "claims",
    "RDP": "claims",
    "zCDP": "claims",
    "Answers": "search.spaces",
    "Scalars": "search.spaces",
    "Tables": "search.tables",
    "AttackResult": "attacks.user_models.api",
    "attack": "attacks.user_models.api",
    "attack_model": "attacks.user_models.estimates",
    "audit": "api",
    "bernoulli_law": "laws",
    "replace_one": "pairs",
    "with_messages": "targets.messages",
}

__all__ = sorted(_WHERE)  # noqa: PLE0605  (it is a list of names)
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'dpassay' has no attribute '{name}'")
    return getattr(import_module(f"dpassay.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
