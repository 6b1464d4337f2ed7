"""The attacks that score records: an attack is fitted on reference models, and scores targets.

An attack is a function of what reference models showed (through the same interface as the target,
at the same records) and of who was in which of them, shape (models, e). It returns a function that
scores every record against every target, shape (models, e): a higher score means a member. Targets
are scored one by one. An attack that needs more reference models than there are is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import gammaln, log_ndtr, logsumexp

from dpassay.attacks.observed import LEAST, Array, Flags, Observed
from dpassay.errors import InvalidInput, is_real, require

Score = Callable[[Observed], Array]
Attack = Callable[[Observed, Flags], Score]

MOST_PAIRS = 100_000
"""Pairs of model and record that a shadow model is trained on; of more, every k-th is taken."""
LEAVES = 32
"""Of a shadow model."""
PER_RECORD = 32
"""From so many models of a kind on, LiRA estimates the standard deviation for each record; below,
one for all."""
GRID = 2.0**-38
"""LiRA's log-odds are multiples of this: sums over 1,000 models are exact then, and do not depend
on the order of the models."""
BITS = 38
"""LiRA's scores have so many binary digits, eleven decimal ones; what lies behind them is rounding,
and would part records that tie."""
LEAST_SPREAD = 1e-3
"""LiRA's standard deviations are no smaller: equal log-odds in all models would have none."""
TIE = 1e-9
"""RMIA's ratios of counts of answers are often equal; what differs by so small a part of them is
rounding, and counts as equal."""


def gap(target: Observed) -> Array:
    """Return whether the first label with the largest share is the record's (Yeom et al. 2018)."""
    right: Array = (target.seen.argmax(axis=2) == target.y).astype(float)
    return right


def loss_threshold(target: Observed) -> Array:
    """Return the own label's log-odds, a monotone map of minus the loss (Yeom et al. 2018)."""
    return target.phi


def confidence(target: Observed) -> Array:
    """Return the largest share of any label, in [1 / K, 1] (Salem et al. 2019)."""
    largest: Array = target.seen.max(axis=2)
    return largest


def entropy(target: Observed) -> Array:
    """Return minus the entropy of the shares in nats, in [-ln K, 0] (Shokri et al. 2017)."""
    found: Array = -_surprise(target.seen, target.seen).sum(axis=2)
    return found


def modified_entropy(target: Observed) -> Array:
    """Return minus the modified entropy, in [-inf, 0] (Song and Mittal 2021).

    That is -(1 - p_y) ln p_y - sum over other labels of p_i ln(1 - p_i). A confident wrong
    answer has a large one, where plain entropy is small.
    """
    shares = target.seen
    own = np.arange(shares.shape[2]) == target.y[:, None]
    weight, of = np.where(own, 1 - shares, shares), np.where(own, shares, 1 - shares)
    found: Array = -_surprise(weight, of).sum(axis=2)
    return found


def alone(score: Score) -> Attack:
    """Return an attack that needs no reference models."""
    return lambda reference, membership: score  # noqa: ARG005


def shadow(reference: Observed, membership: Flags) -> Score:
    """Train one attack model per label on the shares of all labels (Shokri et al. 2017).

    They are small decision trees of scikit-learn. A label whose reference records are all
    members, or none, gets that share as score, one without reference records 1/2.
    """
    from sklearn.tree import DecisionTreeClassifier

    classifiers: dict[int, DecisionTreeClassifier | float] = {}
    for label in np.unique(reference.y).tolist():
        here = reference.y == label
        features = reference.seen[:, here].reshape(-1, reference.seen.shape[2])
        inside = membership[:, here].ravel()
        step = -(-len(inside) // MOST_PAIRS)
        features, inside = features[::step], inside[::step]
        if inside.all() or not inside.any():
            classifiers[label] = float(inside.mean())
            continue
        small = {"max_leaf_nodes": LEAVES, "min_samples_leaf": 1 / (4 * LEAVES)}
        classifiers[label] = DecisionTreeClassifier(**small, random_state=0).fit(features, inside)

    def score(target: Observed) -> Array:
        scores = np.full(target.seen.shape[:2], 0.5)
        for label, classifier in classifiers.items():
            here = target.y == label
            if isinstance(classifier, float):
                scores[:, here] = classifier
            elif here.any():
                shares = target.seen[:, here]
                found = classifier.predict_proba(shares.reshape(-1, shares.shape[2]))[:, 1]
                scores[:, here] = found.reshape(shares.shape[:2])
        return scores

    return score


def single_record(reference: Observed, membership: Flags) -> Score:
    """Score by 1 minus the p-value of 'not a member', in [0, 1) (Long et al. 2018).

    No shape is assumed: the p-value is (1 + number of reference models without the record that
    show the own label as strongly) / (1 + number of such models).
    """
    if membership.all(axis=0).any():
        raise InvalidInput("reference = models: must be one at least without each record")
    own = np.where(membership, -np.inf, reference.own)
    outside = (~membership).sum(axis=0)

    def score(target: Observed) -> Array:
        as_strong = np.stack([(own >= row).sum(axis=0) for row in target.own])
        found: Array = 1 - (1 + as_strong) / (1 + outside)
        return found

    return score


def lira(reference: Observed, membership: Flags, *, online: bool = True) -> Score:
    """Fit the likelihood ratio of Carlini, Chien, Nasr, Song, Terzis and Tramer (2022).

    The log-odds phi of a record's own label are taken as Gaussian over models that were trained
    with the record, and over models that were not. Online: ln N(phi; mu_in, sigma_in) -
    ln N(phi; mu_out, sigma_out). Offline, from models without the record alone: ln Phi((phi -
    mu_out) / sigma_out), the chance that such a model shows less.
    """
    mean, spread = _gaussians(reference.phi, ~membership)
    inside = _gaussians(reference.phi, membership) if online else None

    def score(target: Observed) -> Array:
        phi = np.round(target.phi / GRID) * GRID
        if inside is None:
            found: Array = log_ndtr((phi - mean) / spread)
            return _tied(found, np.abs(found))
        one, other = _log_density(phi, *inside), _log_density(phi, mean, spread)
        return _tied(one - other, np.abs(one) + np.abs(other))

    return score


def rmia(
    reference: Observed,
    membership: Flags,
    *,
    online: bool = True,
    gamma: float = 1.0,
    a: float = 0.3,
) -> Score:
    """Fit the robust attack of Zarifzadeh, Liu and Shokri (2024).

    The likelihood ratio of a record x against another record z is

        LR(x, z) = [Pr(x | model) / Pr(x)] / [Pr(z | model) / Pr(z)],

    with Pr(x | model) the share of the record's own label and Pr(x) its mean over reference
    models, half of them with x. Offline, from models without x alone, Pr(x) is (1 + a) Pr_out
    / 2 + (1 - a) / 2. The score of x is the share of the z with LR(x, z) >= gamma; theirs is 1
    for many, 2 for few models. Here the z are the other records of the experiment; of each
    model half of them are members, which the attacker cannot tell.
    """
    require(is_real(gamma) and gamma >= 1, "gamma", gamma, "a number >= 1")
    require(is_real(a) and 0 <= a <= 1, "a", a, "a number in [0, 1]")
    own = _shares(reference)
    outside = _mean_share(own, ~membership)
    prior = ((1 + a) * outside + 1 - a) / 2
    if online:
        prior = (outside + _mean_share(own, membership)) / 2

    def score(target: Observed) -> Array:
        ratios = _shares(target) / prior
        scores = np.empty_like(ratios)
        for row, into in zip(ratios, scores, strict=True):
            reach = (1 + TIE) / gamma
            beaten = np.searchsorted(np.sort(row), row * reach, side="right")
            # no record is compared with itself
            into[:] = (beaten - (reach >= 1)) / max(1, len(row) - 1)
        return scores

    return score


def likelihood_ratio(reference: Observed, membership: Flags) -> Score:
    """Fit the log-likelihood ratio of m labels with fresh coins.

    Given a model, m answers are binomial. Over models the chance of the own label varies; the
    attacker knows it for the reference models, up to the m answers that were seen of each. The
    likelihood of c right answers of m is the mean of Bin(m, p_i)(c) over the reference models
    of a kind, p_i = (c_i + 1/2) / (m + 1). Each score counts as one answer with that chance.
    """
    known = reference.m
    chances = np.clip(reference.own, LEAST, 1 - LEAST)
    if known is not None:
        chances = (reference.own * known + 0.5) / (known + 1)
    log_p, log_q = np.log(chances), np.log1p(-chances)

    def score(target: Observed) -> Array:
        m = 1 if target.m is None else target.m
        right = target.own * m
        found = np.empty_like(right)
        for row, into in zip(right, found, strict=True):
            ways = gammaln(m + 1) - gammaln(row + 1) - gammaln(m - row + 1)
            each = row * log_p + (m - row) * log_q + ways
            into[:] = _mean_likelihood(each, membership) - _mean_likelihood(each, ~membership)
        return found

    return score


ATTACKS: dict[str, Attack] = {
    "gap": alone(gap),
    "loss-threshold": alone(loss_threshold),
    "confidence": alone(confidence),
    "entropy": alone(entropy),
    "modified-entropy": alone(modified_entropy),
    "shadow": shadow,
    "single-record": single_record,
    "lira": lira,
    "lira-offline": partial(lira, online=False),
    "rmia": rmia,
    "rmia-offline": partial(rmia, online=False),
    "likelihood-ratio": likelihood_ratio,
}
"""Names that `--attacks` takes."""
OWN = ("loss-threshold", "single-record", "lira", "lira-offline", "rmia", "rmia-offline")
"""Attacks that read nothing but what is seen of a record's own label."""
ALONE = ("gap", "loss-threshold", "confidence", "entropy", "modified-entropy")
"""Attacks that need no reference models."""
BOTH = ("lira", "rmia")
"""Those that need reference models with every record, and without it; the others without it."""


def _surprise(weight: Array, of: Array) -> Array:
    """Return -weight ln(of), 0 where the weight is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(weight > 0, -weight * np.log(of), 0.0)


def _gaussians(phi: Array, chosen: Flags) -> tuple[Array, Array]:
    """Return mean and standard deviation over the chosen models of each record."""
    counts = chosen.sum(axis=0)
    fewest, allowed = int(counts.min()), "one at least with each record, and one without"
    require(fewest >= 1, "reference", f"{fewest} models of a kind for some record", allowed)
    phi = np.round(phi / GRID) * GRID
    means = np.where(chosen, phi, 0.0).sum(axis=0) / counts
    # in one order, whichever models they come from
    squares = np.sort(np.where(chosen, (phi - means) ** 2, 0.0), axis=0)
    spread = squares.sum(axis=0) / counts
    if fewest < PER_RECORD:
        spread = np.full(phi.shape[1], squares.sum() / counts.sum())
    return means, np.maximum(np.sqrt(spread), LEAST_SPREAD)


def _tied(scores: Array, size: Array) -> Array:
    """Cut off what rounding may have done to differences, so that equal scores are equal."""
    quantum = 2.0 ** (np.ceil(np.log2(np.maximum(size, 1.0))) - BITS)
    found: Array = np.round(scores / quantum) * quantum
    return found


def _log_density(phi: Array, mean: Array, spread: Array) -> Array:
    density: Array = (
        -((phi - mean) ** 2) / (2 * spread**2) - np.log(spread) - math.log(2 * math.pi) / 2
    )
    return density


def _shares(observed: Observed) -> Array:
    """Return the own label's share among m answers, half an answer added to avoid 0 / 0."""
    if observed.m is None:
        return np.maximum(observed.own, np.finfo(float).tiny)
    shares: Array = (observed.own * observed.m + 0.5) / (observed.m + 1)
    return shares


def _mean_share(own: Array, chosen: Flags) -> Array:
    counts, allowed = chosen.sum(axis=0), "one at least with each record, and one without"
    if not counts.all():
        raise InvalidInput(f"reference = models: must be {allowed}")
    means: Array = np.where(chosen, own, 0.0).sum(axis=0) / counts
    return means


def _mean_likelihood(each: Array, chosen: Flags) -> Array:
    """Return the logarithm of each record's mean over the chosen models, or all if none is."""
    chosen = chosen | ~chosen.any(axis=0)
    found: Array = logsumexp(np.where(chosen, each, -np.inf), axis=0) - np.log(chosen.sum(axis=0))
    return found
