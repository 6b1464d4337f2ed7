"""Random streams derived from what they are for, never from order, worker or time."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def stream(*key: str | float) -> np.random.Generator:
    """Return the generator that belongs to a key.

    The key is all that tells this stream from others: root seed, mechanism, parameters, digest of
    the dataset, phase, block. The generator is PCG64, seeded with the SHA-256 of the key, so that
    equal keys give equal bytes and different keys give streams that are independent for every
    practical purpose.
    """
    digest = hashlib.sha256(json.dumps(key).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))
