"""Many regularised risks on the same records at once, each with a linear term of its own, and a certificate.

    w_j = argmin over w of lambda ||w||^2 / 2 + (1/n) sum_i l(<w, v_i>) + <b_j, w>,      v_i = y_i x_i, ||v_i|| <= 1

For b = 0 Newton's method with line search, from 0. The others start on the tangent of b -> w(b) there and go on with the second
derivative at that point as long as that takes a fifth off the certified distance; what is not near enough then takes Newton steps
too. The objective is lambda-strongly convex, so a gradient of norm rho proves ||w - w_j|| <= rho / lambda; what rounding can hide
of the gradient is added to rho.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpassay.mechanisms.linear import gamma
from dpassay.mechanisms.margin_losses import MarginLoss
from dpassay.rounding import UNIT_ROUNDOFF

Array = NDArray[np.float64]
MAX_STEPS: Final = 100
"""Newton steps; a handful is used."""
AT_ONCE: Final = 4_000_000
"""Numbers in the largest temporary array: problems x n x d, or problems x n."""


def minimise(V: Array, loss: MarginLoss, lambda_: float, b: Array, aim: float) -> tuple[Array, float]:
    """Minimise for every linear term.

    Parameters
    ----------
    V : array (n, d)
        Labels times features.
    loss : MarginLoss
    lambda_ : float
        > 0.
    b : array (size, d)
        Linear terms.
    aim : float
        Distance from the minimiser that is good enough, as a part of 1 + ||w||; 0 for as near as floats come.

    Returns
    -------
    W : array (size, d)
    distance : float
        Certified bound on the largest distance from a minimiser, as a part of 1 + ||w||; above `aim` only where floats end.
    """
    nothing = np.zeros((1, V.shape[1]))
    centre, (distance,) = _newton(V, loss, lambda_, nothing, nothing.copy(), aim)
    if not b.any():
        return np.repeat(centre, len(b), axis=0), float(distance)
    (tangent,) = np.linalg.inv(_hessians(V, loss, lambda_, centre @ V.T))
    W, distances = centre - b @ tangent, np.full(len(b), np.inf)
    for part in _parts(len(b), V.shape[0]):
        W[part], distances[part] = _chord(V, loss, lambda_, b[part], W[part], aim, tangent)
    far = np.flatnonzero(distances > aim)
    for part in _parts(len(far), V.size):
        rows = far[part]
        W[rows], distances[rows] = _newton(V, loss, lambda_, b[rows], W[rows], aim)
    return W, float(distances.max())


def _parts(size: int, numbers: int) -> Iterator[slice]:
    """Cut `size` problems into parts with `AT_ONCE` numbers in all, of `numbers` each."""
    rows = max(1, AT_ONCE // numbers)
    return (slice(start, start + rows) for start in range(0, size, rows))


def _chord(V: Array, loss: MarginLoss, lambda_: float, b: Array, W: Array, aim: float, tangent: Array) -> tuple[Array, Array]:
    """Step with one inverse of the second derivative as long as each takes a fifth off the distance; W and distances (size,)."""
    best, distances = W.copy(), np.full(len(W), np.inf)
    rows, w = np.arange(len(W)), W
    for _ in range(MAX_STEPS):
        gradient = loss.slope(w @ V.T) @ V / len(V) + lambda_ * w + b[rows]
        found = certified(V, loss, lambda_, w, b[rows], gradient)
        better = found < distances[rows]
        going = (found <= 0.8 * distances[rows]) & (found > aim)
        best[rows[better]], distances[rows[better]] = w[better], found[better]
        rows, w = rows[going], w[going] - gradient[going] @ tangent
        if not len(rows):
            break
    return best, distances


def _newton(V: Array, loss: MarginLoss, lambda_: float, b: Array, W: Array, aim: float) -> tuple[Array, Array]:
    """Newton steps with line search until they are lost in rounding; W, which is overwritten, and distances (size,)."""
    last = np.full(len(W), np.inf)
    active = np.ones(len(W), dtype=bool)
    distance = np.empty(len(W))
    for _ in range(MAX_STEPS):
        w, pull = W[active], b[active]
        Z = w @ V.T
        gradient = loss.slope(Z) @ V / len(V) + lambda_ * w + pull
        distance[active] = found = certified(V, loss, lambda_, w, pull, gradient)
        step = -np.linalg.solve(_hessians(V, loss, lambda_, Z), gradient[:, :, None])[:, :, 0]
        size = np.linalg.norm(step, axis=1)
        going = (found > aim) & (size > 0) & ~((size <= 1e-6 * (1 + np.linalg.norm(w, axis=1))) & (size > last[active] / 2))
        if not going.any():
            break
        length = _line_search(V, loss, lambda_, (w[going], pull[going], Z[going], gradient[going], step[going]))
        moved = np.flatnonzero(active)[going]
        W[moved], last[moved] = w[going] + length[:, None] * step[going], length * size[going]
        active[:] = False
        active[moved] = True
    else:
        distance[active] = np.inf
    return W, distance


def _hessians(V: Array, loss: MarginLoss, lambda_: float, Z: Array) -> Array:
    """Second derivatives (size, d, d) at margins Z (size, n)."""
    curved = (loss.curvature(Z) / len(V))[:, None, :] * V.T
    hessians: Array = curved @ V + lambda_ * np.eye(V.shape[1])
    return hessians


def _line_search(V: Array, loss: MarginLoss, lambda_: float, at: tuple[Array, Array, Array, Array, Array]) -> Array:
    """Halve each step until the objective falls as it should, up to rounding; lengths (size,)."""
    w, b, Z, gradient, step = at
    moves, length = step @ V.T, np.ones(len(w))

    def objective(t: Array) -> Array:
        u = w + t[:, None] * step
        risk = loss.value(Z + t[:, None] * moves).mean(axis=1)
        found: Array = risk + lambda_ * np.vecdot(u, u) / 2 + np.vecdot(b, u)
        return found

    now, fall = objective(np.zeros(len(w))), np.vecdot(gradient, step)
    noise = 16 * UNIT_ROUNDOFF * (1 + np.abs(now))
    for _ in range(40):
        late = objective(length) > now + 1e-4 * length * fall + noise
        if not late.any():
            break
        length[late] /= 2
    return length


def certified(V: Array, loss: MarginLoss, lambda_: float, w: Array, b: Array, gradient: Array) -> Array:
    """Bound on the distance of w (size, d) from the minimiser over 1 + ||w||, from the gradient as floats compute it."""
    (n, d), norm = V.shape, np.linalg.norm(w, axis=1)
    rho = np.linalg.norm(gradient, axis=1) * (1 + gamma(d + 2)) + gamma(n + 8) + loss.c * gamma(d + 8) * norm
    rho += 16 * UNIT_ROUNDOFF * (1 + lambda_ * norm + np.linalg.norm(b, axis=1))
    bound: Array = rho / lambda_ / (1 + norm) * (1 + gamma(8))
    return bound
