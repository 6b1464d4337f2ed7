"""The area under the ROC curve of released weights on a public sample.

One number, a post-processing of the weights.

It is the share of pairs of a public record labelled 1 and one labelled 0 in which the first has the
larger <w, phi(x)>, ties counted half. In one dimension it is A, 1/2 or 1 - A, by the sign of w.
Numbers with a law on a few values have no exact form in `dpassay.laws`, so it is sampled; what the
sign tells is exact with release="prediction".
"""

from __future__ import annotations

from typing import Any, Final, Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.errors import InvalidInput, require

Array = NDArray[np.float64]

MOST = 10_000
"""Numbers of a public sample at most: it is a parameter, and every record of a run holds its
parameters."""


UNIT_VECTORS: Final = "the unit vectors, labelled 1, and the origin, labelled 0"
"""The public sample where none is given, in words."""


class Margins(Protocol):
    """What weights are shown with."""

    def margins(self, trained: Any, X: Array) -> Array:
        """<w, phi(x)> for each of the trained weights and each point, shape (size, q)."""
        ...


def auc(scores: Array, y: NDArray[np.int64]) -> Array:
    """Area under the ROC curve of each row of scores.

    Parameters
    ----------
    scores : array (size, N)
        Of N records, in each of `size` trials.
    y : int array (N,)
        Their labels, 0 and 1; both occur.

    Returns
    -------
    array (size,)
        In [0, 1]: the Mann-Whitney statistic from average ranks, which are whole numbers and
        halves, so that only the division rounds.
    """
    positive = y == 1
    p, q = int(positive.sum()), int((~positive).sum())
    ranks = scipy.stats.rankdata(scores, axis=1)[:, positive].sum(axis=1)
    areas: Array = (ranks - p * (p + 1) / 2) / (p * q)
    return areas


def released_auc(trainer: Margins, trained: Any, public: Labelled) -> Array:
    """AUC of each of the trained weights, shape (size,).

    Equal records get equal scores, so that their ties are ties.
    """
    X, place = np.unique(public.X, axis=0, return_inverse=True)
    return auc(trainer.margins(trained, X)[:, place.reshape(-1)], public.y)


def standard(d: int) -> Labelled:
    """Return the public sample that is taken where none is given.

    The d unit vectors, labelled 1, and the origin, labelled 0.

    The AUC is then the share of weights that are positive, zeros counted half: d + 1 values and
    their middles, each weight counts, no scale of the features matters, and it can be worked out by
    hand.
    """
    return Labelled(np.vstack([np.eye(d), np.zeros((1, d))]), np.array([1] * d + [0]))


def as_text(public: Any) -> str:
    """Write a public sample as a text that a record can hold.

    `1 0:1; 0 0:0` are two records, x and y parted by a colon.

    Raises
    ------
    InvalidInput
        If it is neither a `Labelled`, nor such a text, nor a list of tables `{x=[1, 0], y=0}`, nor
        empty; has one label only, or others than 0 and 1; or is too large.
    """
    found = (
        read(public)
        if isinstance(public, str)
        else _listed(public)
        if isinstance(public, list)
        else public
    )
    if found is None:
        return ""
    allowed = "a Labelled, a text like '1 0:1; 0 0:0', or left out"
    require(isinstance(found, Labelled), "public", public, allowed)
    both = set(found.y.tolist()) == {0, 1}
    allowed = "records with both of the labels 0 and 1, and no other"
    require(both, "public", sorted(set(found.y.tolist())), allowed)
    allowed = f"of at most {MOST}, as every record holds it"
    require(found.X.size <= MOST, "public", f"{found.X.size} numbers", allowed)
    return "; ".join(
        f"{' '.join(map(repr, x))}:{label}"
        for x, label in zip(found.X.tolist(), found.y.tolist(), strict=True)
    )


def read(text: str) -> Labelled | None:
    """Read back what `as_text` wrote; None for an empty text."""
    if not text.strip():
        return None
    try:
        halves = [record.split(":") for record in text.split(";")]
        return Labelled(
            np.array([[float(value) for value in x.split()] for x, _ in halves]),
            np.array([int(y) for _, y in halves]),
        )
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            f"public = {text[:80]!r}: must be records like '1 0:1; 0 0:0', features, a colon, the "
            "label"
        ) from None


def _listed(records: list[Any]) -> Labelled:
    """Read a list of tables, one for each record."""
    try:
        return Labelled(
            np.array([each["x"] for each in records], dtype=float),
            np.array([each["y"] for each in records]),
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            "public: must be a list of tables like [{x=[1, 0], y=0}, {x=[0, 0], y=1}]"
        ) from None


def sample_of(public: str, d: int) -> Labelled:
    """Return the public sample that a text means, at least d columns wide.

    Raises
    ------
    InvalidInput
        If it has fewer.
    """
    found = read(public)
    if found is None:
        return standard(d)
    require(found.X.shape[1] >= d, "public", f"{found.X.shape[1]} columns", f"of at least d = {d}")
    return found
