"""Private nearest neighbours.

The k records nearest to the query vote, and the noisy plurality is answered.

A relative of PATE without training: the voters are the k nearest records themselves, in a distance
that is public, that is to say fixed before the data are seen. Private-kNN of Zhu et al. (2020)
takes one of public features, Gaussian noise and a random subset of the records, as public code for
it shows; the last two are in `private_knn_gaussian`, and no claim of that paper is made. Here it is
the Euclidean distance of the features as they are: scaling them by what the data say would make
every distance depend on every record. Ties go to the record that comes first. The noise is that of
PATE, Laplace of scale 1 / gamma.

Derived here: records are ordered by (distance, place), and a replacement changes the key of one of
them. So at most one record leaves the k nearest and one enters, whatever was replaced: one vote
leaves a label and goes to another, even where the replaced record was not among them. The counts
differ by at most 1 in each coordinate, which is what Theorem 2 of Papernot et al. (2017) asks for:
(2 gamma, 0)-differential privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.errors import require
from dpassay.mechanisms.relatives.nearest import NearestRecords
from dpassay.mechanisms.relatives.votes import Votes
from dpassay.mechanisms.shared.noisy_max import NoisyMax
from dpassay.mechanisms.shared.ranges import check_positive
from dpassay.mechanisms.shared.teachers import Counts, check_labels, counted
from dpassay.pairs import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateKNN(Votes):
    """Noisy plurality of the k nearest records.

    Parameters
    ----------
    gamma : float
        The noise has scale 1 / gamma, in votes; finite and > 0. The claim is 2 gamma.
    k : int
        Number of neighbours, >= 1 and at most the number of records.
    K : int
        Number of labels 0, ..., K - 1; >= 2.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    ARGUMENT: ClassVar = (
        "A replacement changes the distance of one record, so at most one record leaves the k "
        "nearest and one enters, and at most one vote moves. Every count and every such move "
        "occurs for k records at one point, which are all neighbours."
    )
    SEVERAL: ClassVar = (
        "Replacing j records is j replacements in turn; of k records at one point, any labels can "
        "be changed."
    )
    gamma: float = 0.5
    k: int = 25
    K: int = 2

    def __post_init__(self) -> None:
        check_positive(gamma=self.gamma)
        require(isinstance(self.k, int) and self.k >= 1, "k", self.k, "an integer >= 1")
        require(isinstance(self.K, int) and self.K >= 2, "K", self.K, "an integer >= 2")

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Ours: what Theorem 2 of Papernot et al. (2017) says of any such counts."""
        source = (
            "ours: docs/findings.md, 'Private nearest neighbours', from Papernot et al. 2017, "
            "Theorem 2"
        )
        return (
            DP(
                epsilon=2 * self.gamma,
                coins="noise fresh; no other coins",
                source=source,
                status="own",
            ),
        )

    @property
    def voters(self) -> int:
        """One vote of each neighbour."""
        return self.k

    @property
    def noisy_max(self) -> NoisyMax:
        """The plurality with Laplace noise of scale 1 / gamma."""
        return NoisyMax(kind="laplace", scale=1 / self.gamma)

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless the labels are below K and there are k records."""
        check_labels(data, self.K)
        require(self.k <= len(data), "k", self.k, f"at most the number of records, {len(data)}")

    def prepare(self, data: Labelled) -> NearestRecords:
        """Keep the records."""
        self.check(data)
        return NearestRecords(data)

    def update(self, state: NearestRecords, change: Change) -> NearestRecords:
        """Return the changed records; only the changed one is looked at anew."""
        found = state.changed(change)
        self.check(found.data)
        return found

    def counts(self, state: NearestRecords, queries: NDArray[np.float64]) -> Counts:
        """Votes of the k nearest for each label, shape (q, K).

        Of records equally far the first are taken.
        """
        return counted(state.data.y[state.nearest(queries, self.k)].T, self.K)
