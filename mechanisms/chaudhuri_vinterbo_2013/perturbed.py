"""Many regularised risks on the same records, each with a linear term, and a certificate.

    w_j = argmin over w of lambda ||w||^2 / 2 + (1/n) sum_i l(<w, v_i>) + <b_j, w>,
    v_i = y_i x_i, ||v_i|| <= 1

The hinge loss, on the line, is solved in closed form. Else:

For b = 0 Newton's method with line search, from 0. The others start on the tangent of b -> w(b)
there and go on with the second derivative at that point as long as that takes a fifth off the
certified distance; what is not near enough then takes Newton steps too. The objective is
lambda-strongly convex, so a gradient of norm rho proves ||w - w_j|| <= rho / lambda; what rounding
can hide of the gradient is added to rho.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import HingeMargin, MarginLoss
from dpassay.mechanisms.shared.linear import gamma
from dpassay.numerics import UNIT_ROUNDOFF

Array = NDArray[np.float64]
MAX_STEPS: Final = 1000
"""Newton steps; a handful is used, and some hundreds where small lambda meets a sharp bend."""
AT_ONCE: Final = 4_000_000
"""Numbers in the largest temporary array: problems x n x d, or problems x n."""


def minimise(
    V: Array, loss: MarginLoss, lambda_: float, b: Array, aim: float
) -> tuple[Array, float]:
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
        Distance from the minimiser that is good enough, as a part of 1 + ||w||; 0 for as near as
        floats come.

    Returns
    -------
    W : array (size, d)
    distance : float
        Certified bound on the largest distance from a minimiser, as a part of 1 + ||w||; above
        `aim` only where floats end.
    """
    if isinstance(loss, HingeMargin):
        return _between_kinks(V[:, 0], lambda_, b)
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


def _between_kinks(v: Array, lambda_: float, b: Array) -> tuple[Array, float]:
    """Minimise with the hinge loss in one dimension, for v (n,).

    The gradient is a line between kinks and jumps at each.

    The jumps and the lines part the real numbers: in which part -b (size, 1) lies says at which
    kink, or on which line, w is.
    """
    kinks = 1 / v[v != 0]
    order = np.argsort(kinks)
    kinks, jumps = kinks[order], np.abs(v[v != 0])[order]
    # mean slope on each line, times label and feature
    pull = (np.cumsum([0.0, *jumps]) - v[v > 0].sum()) / len(v)
    starts, ends = lambda_ * kinks + pull[:-1], lambda_ * kinks + pull[1:]
    part = np.searchsorted(np.column_stack([starts, ends]).ravel(), -b[:, 0])
    line = (-b[:, 0] - pull[part // 2 + part % 2]) / lambda_
    w = np.where(part % 2 == 1, np.append(kinks, 0.0)[part // 2], line)
    hidden = gamma(len(v) + 8) + 16 * UNIT_ROUNDOFF * (1 + lambda_ * np.abs(w) + np.abs(b[:, 0]))
    distance = (hidden / lambda_ + 4 * UNIT_ROUNDOFF * np.abs(w)) / (1 + np.abs(w))
    return w[:, None], float(distance.max())


def _parts(size: int, numbers: int) -> Iterator[slice]:
    """Cut `size` problems into parts with `AT_ONCE` numbers in all, of `numbers` each."""
    rows = max(1, AT_ONCE // numbers)
    return (slice(start, start + rows) for start in range(0, size, rows))


def _chord(
    V: Array, loss: MarginLoss, lambda_: float, b: Array, W: Array, aim: float, tangent: Array
) -> tuple[Array, Array]:
    """Step with one inverse second derivative while that helps; W and distances (size,).

    Each step has to take a fifth off the distance.
    """
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


def _newton(
    V: Array, loss: MarginLoss, lambda_: float, b: Array, W: Array, aim: float
) -> tuple[Array, Array]:
    """Newton steps with line search until they are lost in rounding.

    The best W, which is overwritten, and distances (size,).
    """
    at, last = W.copy(), np.full(len(W), np.inf)
    distance = np.full(len(W), np.inf)
    active = np.arange(len(W))
    for _ in range(MAX_STEPS):
        w, pull = at[active], b[active]
        Z = w @ V.T
        gradient = loss.slope(Z) @ V / len(V) + lambda_ * w + pull
        found = certified(V, loss, lambda_, w, pull, gradient)
        better = found < distance[active]
        W[active[better]], distance[active[better]] = w[better], found[better]
        step = -np.linalg.solve(_hessians(V, loss, lambda_, Z), gradient[:, :, None])[:, :, 0]
        size, steep = np.linalg.norm(step, axis=1), np.linalg.norm(gradient, axis=1)
        drowned = (size <= 1e-6 * (1 + np.linalg.norm(w, axis=1))) & (size > last[active] / 2)
        drowned &= steep <= hidden(V, loss, lambda_, w, pull)
        going = (found > aim) & (size > 0) & ~drowned
        if not going.any():
            break
        length = _line_search(
            V, loss, lambda_, (w[going], pull[going], Z[going], gradient[going], step[going])
        )
        active = active[going]
        at[active], last[active] = w[going] + length[:, None] * step[going], length * size[going]
    return W, distance


def _hessians(V: Array, loss: MarginLoss, lambda_: float, Z: Array) -> Array:
    """Second derivatives (size, d, d) at margins Z (size, n)."""
    curved = (loss.curvature(Z) / len(V))[:, None, :] * V.T
    hessians: Array = curved @ V + lambda_ * np.eye(V.shape[1])
    return hessians


def _line_search(
    V: Array, loss: MarginLoss, lambda_: float, at: tuple[Array, Array, Array, Array, Array]
) -> Array:
    """Halve each step until the objective falls for certain; lengths (size,).

    The objective's values would tell nothing apart where large terms cancel; its slope p along the
    step does. As p rises, a step of t moves the objective by (p(t / 2) + p(t)) t / 2 at most.
    """
    w, b, Z, gradient, step = at
    moves, length = step @ V.T, np.ones(len(w))
    curved, still = (
        lambda_ * np.vecdot(step, step),
        lambda_ * np.vecdot(w, step) + np.vecdot(b, step),
    )

    def slope(t: Array) -> Array:
        found: Array = (
            np.vecdot(loss.slope(Z + t[:, None] * moves), moves) / len(V) + still + t * curved
        )
        return found

    fall = np.vecdot(gradient, step)
    noise = 2 * hidden(V, loss, lambda_, w, b) * np.linalg.norm(step, axis=1)
    for _ in range(60):
        late = slope(length / 2) + slope(length) > 0.1 * fall + noise
        if not late.any():
            break
        length[late] /= 2
    return length


def hidden(V: Array, loss: MarginLoss, lambda_: float, w: Array, b: Array) -> Array:
    """Bound on what rounding can hide of the gradient at w (size, d)."""
    (n, d), norm = V.shape, np.linalg.norm(w, axis=1)
    bound: Array = gamma(n + 8) + loss.c * gamma(d + 8) * norm
    bound += 16 * UNIT_ROUNDOFF * (1 + lambda_ * norm + np.linalg.norm(b, axis=1))
    return bound


def certified(
    V: Array, loss: MarginLoss, lambda_: float, w: Array, b: Array, gradient: Array
) -> Array:
    """Bound on w's distance (size, d) from the minimiser over 1 + ||w||, from float gradients."""
    rho = np.linalg.norm(gradient, axis=1) * (1 + gamma(V.shape[1] + 2)) + hidden(
        V, loss, lambda_, w, b
    )
    bound: Array = rho / lambda_ / (1 + np.linalg.norm(w, axis=1)) * (1 + gamma(8))
    return bound
