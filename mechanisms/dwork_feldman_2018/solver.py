"""Least regularised risk over a ball, with a certificate.

What `dpassay.mechanisms.dwork_feldman_2018.erm` computes with.

    w* = argmin over ||w|| <= R of (1/n) sum_i l(<w, phi_i>, y_i) + lambda ||w||^2

Every step minimises the quadratic model of the objective over the ball: one linear solve in the
interior, a root in the multiplier of ||w||^2 on the sphere; then comes a line search. One step
solves the squared loss, the logistic loss takes a few. Kinked losses are rounded over a length h
that shrinks; for each h the records that are found on the rounded stretch are put exactly on the
kink. There are no coins and no starting point but 0, so the answer is a function of the dataset
alone.

Certificate. Let s_i be slopes, v = (1/n) sum_i s_i phi_i, e = (1/n) sum_i e_i with e_i what s_i
lacks to be a subgradient of the loss at <w, phi_i>: l(a) >= l(<w, phi_i>) + s_i (a - <w,
phi_i>) - e_i for all a. Let rho = ||v + 2 (lambda + mu) w|| with mu >= 0, and mu = 0 unless
||w|| = R. For w* there are slopes with v* and <v* + 2 lambda w*, w - w*> >= 0. With d = ||w - w*||,

    <v - v*, w - w*> >= -e,   <w, w - w*> >= 0 where mu > 0,   hence 2 lambda d^2 <= rho d + e,
    d <= (rho + sqrt(rho^2 + 8 lambda e)) / (4 lambda).

Without kinks e = 0, and the bound is rho / (2 lambda). Everything that rounding can hide is added
to rho and e.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpassay.mechanisms.dwork_feldman_2018.losses import Kink, Loss
from dpassay.mechanisms.shared.linear import gamma
from dpassay.numerics import UNIT_ROUNDOFF

Array = NDArray[np.float64]

ROUNDINGS: Final = tuple(10.0**-k for k in range(1, 13))
"""Lengths h over which a kink is rounded, one after the other, until the certificate is good
enough."""

MAX_STEPS: Final = 100
"""Newton steps for one h, and for one root; a handful is used."""

RANK: Final = 1e-10
"""Records at the kink whose features are as near as that to being dependent are taken for
dependent."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """Minimise (1/n) sum_i l(<w, phi_i>, y_i) + lambda ||w||^2 over ||w|| <= R.

    Parameters
    ----------
    phi : array (n, d)
        Features, of norm at most L_f.
    y : array (n,)
        Targets.
    loss, lambda_, R, L_f
        As for `ERM`.
    """

    phi: Array
    y: Array
    loss: Loss
    lambda_: float
    R: float
    L_f: float

    def objective(self, loss: Loss, w: Array) -> float:
        """Mean loss and regulariser."""
        return float(loss.value(self.phi @ w, self.y).mean()) + self.lambda_ * float(w @ w)

    def pull(self, s: Array) -> Array:
        """Mean pull of slopes (n,): v = (1/n) sum_i s_i phi_i, shape (d,)."""
        pull: Array = s @ self.phi / len(self.y)
        return pull


def solve(problem: Problem, tolerance: float) -> tuple[Array, float]:
    """Weights (d,) and a certified bound on their distance from the minimiser.

    It may exceed `tolerance` if nothing helped.
    """
    w = np.zeros(problem.phi.shape[1])
    if not isinstance(problem.loss, Kink):
        w = newton(problem, problem.loss, w)
        return w, certified_distance(problem, w, problem.loss.slope(problem.phi @ w, problem.y))
    best, best_distance = w, math.inf
    for h in ROUNDINGS:
        rounded = Kink(one_sided=problem.loss.one_sided, h=h)
        w = newton(problem, rounded, w)
        candidate, s = onto_the_kink(problem, rounded, w)
        distance = certified_distance(problem, candidate, s)
        if distance < best_distance:
            best, best_distance = candidate, distance
        if distance <= tolerance:
            break
    return best, best_distance


def newton(problem: Problem, loss: Loss, w: Array) -> Array:
    """Minimise with a loss that has no kink, from w on, until the steps are lost in rounding."""
    value, last = problem.objective(loss, w), math.inf
    for _ in range(MAX_STEPS):
        a = problem.phi @ w
        gradient = problem.pull(loss.slope(a, problem.y)) + 2 * problem.lambda_ * w
        curved = problem.phi * loss.curvature(a, problem.y)[:, None]
        hessian = curved.T @ problem.phi / len(problem.y) + 2 * problem.lambda_ * np.eye(len(w))
        step = least_in_ball(hessian, hessian @ w - gradient, problem.R) - w
        size = float(np.linalg.norm(step))
        if size == 0 or (size <= 1e-8 * problem.R and size > last / 2):
            break
        fall, noise, length = float(gradient @ step), 8 * UNIT_ROUNDOFF * abs(value), 1.0
        while (
            reached := problem.objective(loss, w + length * step)
        ) > value + 1e-4 * length * fall + noise and length > 1e-9:
            length /= 2
        w, value, last = w + length * step, reached, length * size
    return w


def least_in_ball(H: Array, b: Array, R: float) -> Array:
    """Minimiser of u^T H u / 2 - b^T u over ||u|| <= R, for H (d, d) positive definite.

    On the sphere u solves (H + m I) u = b, where m is the root of 1/||u|| - 1/R: a concave, rising
    function of m, so that Newton's method from m = 0 never passes it.
    """
    u = np.asarray(np.linalg.solve(H, b), dtype=float)
    if np.linalg.norm(u) <= R:
        return u
    values, vectors = np.linalg.eigh(H)
    turned, m = b @ vectors, 0.0
    for _ in range(MAX_STEPS):
        u = turned / (values + m)
        norm = float(np.linalg.norm(u))
        rise = norm**2 / float(u @ (u / (values + m))) * (norm - R) / R
        m += rise
        if rise <= 4 * UNIT_ROUNDOFF * (values[0] + m):
            break
    on_sphere: Array = vectors @ (turned / (values + m))
    return on_sphere * (R / np.linalg.norm(on_sphere))


def onto_the_kink(problem: Problem, rounded: Kink, w: Array) -> tuple[Array, Array]:
    """Weights that put records of the rounded stretch on the kink, and slopes that balance them.

    The slopes have shape (n,).

    Among weights that do so, lambda ||w||^2 + <v, w> with v from the other records is least where
    the part of w that is free is -v's, divided by 2 lambda, or by 2 (lambda + mu) where the ball
    leaves less room.
    """
    phi, y = problem.phi, problem.y
    s = rounded.slope(phi @ w, y)
    low, high = rounded.slopes(y)
    at_kink = (low < s) & (s < high)
    _, sizes, basis = np.linalg.svd(phi[at_kink], full_matrices=False)
    basis = basis[sizes > RANK * problem.L_f]
    fixed = np.zeros_like(w)
    if at_kink.any():
        fixed += np.linalg.lstsq(phi[at_kink], y[at_kink], rcond=RANK)[0]
    others = problem.pull(np.where(at_kink, 0.0, s))
    free = -(others - (others @ basis.T) @ basis) / (2 * problem.lambda_)
    room, wanted = (
        math.sqrt(max(0.0, problem.R**2 - float(fixed @ fixed))),
        float(np.linalg.norm(free)),
    )
    shrunk = wanted / room if 0 < room < wanted else 1.0
    w = fixed + free / shrunk
    if at_kink.any():
        missing = problem.pull(s) + 2 * problem.lambda_ * shrunk * w
        s[at_kink] -= np.linalg.lstsq(phi[at_kink].T, len(y) * missing, rcond=RANK)[0]
    return w, np.clip(s, low, high)


def certified_distance(problem: Problem, w: Array, s: Array) -> float:
    """Bound on the distance of w (d,) from the minimiser, given slopes (n,).

    See the module's docstring.

    The bound is made at a point next to w that no float need be: exactly on the sphere if w is at
    its brim, and exactly on the kinks that the slopes tell of. What rounding hides is added, and so
    is the way there.
    """
    (n, d), lambda_, R, L_f, loss = (
        problem.phi.shape,
        problem.lambda_,
        problem.R,
        problem.L_f,
        problem.loss,
    )
    # ||w||^2 - R^2
    beyond = abs(float(exact_dots(np.append(w, R)[None], np.append(w, -R)[None])[0]))
    on_sphere = beyond <= 1e-9 * R**2 or float(np.linalg.norm(w)) > R
    gradient = problem.pull(s) + 2 * lambda_ * w
    mu = max(0.0, -float(w @ gradient) / (2 * R**2)) if on_sphere else 0.0
    rho = float(np.linalg.norm(gradient + 2 * mu * w)) * (1 + gamma(d + 2))
    rho += gamma(n + 8) * L_f * loss.lipschitz(R * L_f)
    brim = beyond if on_sphere else None
    if isinstance(loss, Kink):
        low, high = loss.slopes(problem.y)
        standing = (low < s) & (s < high)
        moved = way_onto(problem, w, standing, brim)
        if math.isinf(moved):
            standing[:] = False
            moved = way_onto(problem, w, standing, brim)
        lacking = lacking_slopes(problem, loss, w, np.where(standing, math.nan, s), L_f * moved)
    else:
        lacking, moved = 0.0, beyond / R if on_sphere else 0.0
        rho += L_f * (
            loss.smoothness * L_f * (gamma(d + 8) * R + moved)
            + 8 * UNIT_ROUNDOFF * loss.lipschitz(R * L_f)
        )
    rho += (lambda_ + mu) * (8 * UNIT_ROUNDOFF * R + 2 * moved)
    return (rho + math.sqrt(rho**2 + 8 * lambda_ * lacking)) / (4 * lambda_) * (
        1 + gamma(8)
    ) + moved


def way_onto(problem: Problem, w: Array, standing: NDArray[np.bool_], brim: float | None) -> float:
    """Bound on w's distance from weights with these records exactly on the kink.

    And on the sphere unless `brim` is None.

    There are such weights if the records' features are independent: ||r|| / sigma away, r what they
    lack and sigma their least singular value. From there the sphere is reached along z, the part of
    w that moves no record: ||w||^2 is wrong by `brim` + 2 ||w|| c + c^2 after a way of c, and a
    step of t along z changes it by ||z|| |t| at least. inf if this is no proof.
    """
    way, free = 0.0, w
    if standing.any():
        # <w, phi> = y is <w, y phi> = 1: a mirror image is a copy
        turned = problem.y[standing, None] * problem.phi[standing]
        rows = np.unique(turned, axis=0)
        if len(rows) > len(w):
            return math.inf
        _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
        if sizes[-1] <= 2 * RANK * problem.L_f:
            return math.inf
        lack = from_kink(rows, np.ones(len(rows)), w)
        way = (
            float(np.linalg.norm(lack))
            * (1 + gamma(len(w) + 8))
            / (float(sizes[-1]) - RANK * problem.L_f)
        )
        free = w - (w @ basis.T) @ basis
    if brim is None:
        return way
    length, wrong = (
        float(np.linalg.norm(free)),
        brim + 2 * float(np.linalg.norm(w)) * (1 + 1e-9) * way + way**2,
    )
    return (
        way + wrong / (length - RANK * problem.R)
        if wrong < length**2 and length > 1e-6 * problem.R
        else math.inf
    )


def lacking_slopes(problem: Problem, loss: Kink, w: Array, s: Array, hidden: float) -> float:
    """e: bound on (1/n) sum_i of l(a_i) - min over a of (l(a) - s_i (a - a_i)).

    Each a_i may be wrong by `hidden` at most.

    It is (high - s) (a - y) to the right of the kink and (s - low) (y - a) to the left. Records
    next to the kink have their a - y computed without rounding; those with s = NaN are known to
    stand on it and lack nothing.
    """
    phi, y = problem.phi, problem.y
    low, high = loss.slopes(y)
    beyond = phi @ w - y
    doubt = np.full(len(y), hidden + gamma(phi.shape[1] + 8) * (problem.L_f * problem.R + 1))
    near = np.abs(beyond) <= 1e-6
    beyond[near] = from_kink(phi[near], y[near], w)
    doubt[near] = hidden
    lacking = (high - s) * np.maximum(beyond + doubt, 0) + (s - low) * np.maximum(doubt - beyond, 0)
    return float(np.nansum(lacking)) / len(y) * (1 + gamma(len(y) + 8))


def from_kink(phi: Array, y: Array, w: Array) -> Array:
    """<w, phi_i> - y_i, shape (m,), rounded once."""
    return exact_dots(np.column_stack([phi, y]), np.tile(np.append(w, -1.0), (len(y), 1)))


def exact_dots(A: Array, B: Array) -> Array:
    """Row by row <A_i, B_i>, shape (m,), rounded once.

    Products in two parts (Dekker 1971), summed by `math.fsum`.
    """
    (a_high, a_low), (b_high, b_low) = halves(A), halves(B)
    product = A * B
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return np.array([math.fsum(row) for row in np.concatenate([product, rest], axis=1).tolist()])


def halves(x: Array) -> tuple[Array, Array]:
    """Two numbers of half the digits that add up to x exactly."""
    wide = x * (2.0**27 + 1)
    high = wide - (wide - x)
    return high, x - high
