"""Reference implementations.

One file per algorithm, with its claim as printed, its exact law and its worst cases.
"""

import sys

from dpassay.mechanisms.moved import MovedFinder

if not any(isinstance(finder, MovedFinder) for finder in sys.meta_path):
    sys.meta_path.append(MovedFinder())
