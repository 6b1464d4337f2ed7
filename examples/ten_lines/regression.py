"""Real targets: a line through the origin, fitted on two noisy sums."""

import numpy as np

from dpassay import DP

X, Y = np.array([[0.0], [0.2], [0.5], [0.9], [1.0]]), np.array([0.1, 0.3, 0.4, 0.8, 1.0])


# One record moves each of the two sums by at most 1, so noise of scale 2 keeps both 1-DP.
def predict(data, queries, size, rng):
    x, y = data.X[:, 0].clip(0, 1), data.y.clip(0, 1)
    sums = np.array([x @ y, x @ x]) + rng.laplace(scale=2, size=(size, 2))
    return sums[:, :1] / sums[:, 1:] * queries[:, 0]


def test_the_line_keeps_its_epsilon(assay):
    assay(predict, claim=DP(epsilon=1), data=(X, Y)).assert_not_refuted(detectable=2)
