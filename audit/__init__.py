"""dpassay tests a randomised algorithm against the privacy it claims."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpassay.api import audit
    from dpassay.attacks.user_models.api import AttackResult, attack
    from dpassay.attacks.user_models.estimates import attack_model
    from dpassay.claims import (
        DP,
        GDP,
        RDP,
        Accuracy,
        PredictionStability,
        Profile,
        ScoreStability,
        Stability,
        zCDP,
    )
    from dpassay.data import Labelled
    from dpassay.engine.domains.domain import Domain
    from dpassay.errors import DpassayError, InvalidInput, TargetError
    from dpassay.laws import FiniteLaw, NoiseLaw, PointLaw, bernoulli_law
    from dpassay.mechanism import Mechanism
    from dpassay.noise import Noise
    from dpassay.pairs import Pairs, replace_one
    from dpassay.search.spaces import Answers, Scalars
    from dpassay.search.tables import Tables
    from dpassay.targets.calls import with_messages

_WHERE = {
    "api": "audit",
    "attacks.user_models.api": "AttackResult attack",
    "attacks.user_models.estimates": "attack_model",
    "claims": "DP GDP RDP Accuracy PredictionStability Profile ScoreStability Stability zCDP",
    "data": "Labelled",
    "engine.domains.domain": "Domain",
    "errors": "DpassayError InvalidInput TargetError",
    "laws": "FiniteLaw NoiseLaw PointLaw bernoulli_law",
    "mechanism": "Mechanism",
    "noise": "Noise",
    "pairs": "Pairs replace_one",
    "search.spaces": "Answers Scalars",
    "search.tables": "Tables",
    "targets.calls": "with_messages",
}
_MODULES = {name: module for module, names in _WHERE.items() for name in names.split()}

__all__ = ["DP", "GDP", "RDP", "Accuracy", "Answers", "AttackResult", "Domain", "DpassayError"]
__all__ += ["FiniteLaw", "InvalidInput", "Labelled", "Mechanism", "Noise", "NoiseLaw", "Pairs"]
__all__ += ["PointLaw", "PredictionStability", "Profile", "Scalars", "ScoreStability", "Stability"]
__all__ += ["Tables", "TargetError", "attack", "attack_model", "audit", "bernoulli_law"]
__all__ += ["replace_one", "with_messages", "zCDP"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'dpassay' has no attribute '{name}'")
    return getattr(import_module(f"dpassay.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
