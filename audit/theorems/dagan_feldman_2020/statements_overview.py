"""Dagan and Feldman (2020), sections 1 and 2: the overview, and what is used."""

from __future__ import annotations

from dpassay.theorems.statement import Statement

EXTERNAL = "a result of another paper, quoted for comparison; its proof is not in ours"

STATEMENTS = (
    Statement(
        name="section-1-stability",
        number="section 1, the definition",
        place="section 1",
        printed="(0, delta)-DP prediction is equivalent to delta-uniform stability",
        hypotheses="binary labels",
        kind="definition",
    ),
    Statement(
        name="section-1-averaging",
        number="section 1, averaging",
        place="section 1",
        printed=(
            "disjoint subsets, or a random subset, improve stability by a factor k at the "
            "expense of using k times more data; naive averaging does not improve eps"
        ),
        hypotheses="any learner",
        kind="stability",
    ),
    Statement(
        name="section-1-sizes",
        number="section 1, sizes known before",
        place="section 1",
        printed="O(d/(gamma alpha^2)), O(d/(gamma alpha)), O~(d/(alpha eps)), O~(d/(alpha^3 eps))",
        hypotheses="stable, stable realizable, private realizable, private agnostic",
        kind="size",
    ),
    Statement(
        name="theorem-1",
        number="Theorem 1",
        place="section 1.1",
        printed=(
            "gamma-stable (alpha, beta)-agnostic learner with n <= "
            "O(d log(1/alpha)/(gamma alpha) + (d + log(1/beta))/alpha^2)"
        ),
        hypotheses="every H of VC dimension d; alpha, beta, gamma in (0, 1)",
        kind="size",
    ),
    Statement(
        name="section-1.1-lower",
        number="after Theorem 1",
        place="section 1.1",
        printed=(
            "n = Omega((d + log(1/beta))/alpha^2) for any (alpha, beta)-agnostic PAC algorithm; "
            "n = Omega(d/(gamma alpha)) even if realizable"
        ),
        hypotheses="not necessarily stable; gamma-stable",
        kind="lower bound",
    ),
    Statement(
        name="section-1.1-free",
        number="after Theorem 1, 'essentially for free'",
        place="section 1.1",
        printed="alpha-uniform stability with the same number of samples as learning",
        hypotheses="asymptotically; log(1/alpha) not counted",
        kind="remark",
    ),
    Statement(
        name="corollary-1",
        number="Corollary 1",
        place="section 1.1",
        printed="eps-DP prediction, n = O~(d/(eps alpha^2))",
        hypotheses="alpha, beta, eps in (0, 1)",
        kind="size",
    ),
    Statement(
        name="section-1.1-others",
        number="after Corollary 1, sizes of other papers",
        place="section 1.1",
        printed="O~(r/(alpha eps) + d/alpha^2); Theta(d^2 log|B|/(eps alpha) + d/alpha^2)",
        hypotheses="[BNS13a; FX15]",
        kind="size",
        no_row=EXTERNAL,
    ),
    Statement(
        name="theorem-2",
        number="Theorem 2",
        place="section 1.1",
        printed="eps-DP prediction, n <= O~(d^2/(eps alpha) + d/alpha^2)",
        hypotheses="alpha, beta, eps in (0, 1)",
        kind="size",
    ),
    Statement(
        name="section-1.1-best-lower",
        number="after Theorem 2",
        place="section 1.1",
        printed="lower bound Omega(d/(eps alpha) + (d + log(1/beta))/alpha^2)",
        hypotheses="'the best known lower bound for the problem'",
        kind="lower bound",
    ),
    Statement(
        name="section-1.1-cover",
        number="overview of the techniques, the cover",
        place="section 1.1",
        printed="an alpha-cover H_T of H of size at most (1/alpha)^O(d)",
        hypotheses="T of size O~(d/alpha)",
        kind="size",
    ),
    Statement(
        name="section-1.1-flip",
        number="overview of the techniques, the flip",
        place="section 1.1",
        printed="at most (alpha + eps alpha)/alpha = 1 + eps <= e^eps",
        hypotheses="gamma = eps alpha, flipped with probability alpha",
        kind="privacy",
    ),
    Statement(
        name="section-2-stable",
        number="section 2, privacy and stability",
        place="section 2",
        printed="any eps-private algorithm is (e^eps - 1)-stable",
        hypotheses="any eps",
        kind="stability",
    ),
    Statement(
        name="lemma-1",
        number="Lemma 1",
        place="section 2.1",
        printed=(
            "n' = O((d log(1/alpha) + log(1/beta))/alpha) i.i.d. samples are an alpha-net for H "
            "with probability at least 1 - beta"
        ),
        hypotheses="any D; alpha, beta in (0, 1)",
        kind="tail",
    ),
    Statement(
        name="lemma-1-without",
        number="Lemma 1, 'furthermore'",
        place="section 2.1",
        printed="this holds also without replacement (re-sampling until n' distinct elements)",
        hypotheses="any D",
        kind="tail",
    ),
    Statement(
        name="lemma-2",
        number="Lemma 2",
        place="section 2.1",
        printed="tau_n(H) <= sum over i <= d of C(n, i) <= (em/d)^d (m = n)",
        hypotheses="H of VC dimension d, n > d + 1",
        kind="size",
    ),
    Statement(
        name="lemma-3",
        number="Lemma 3",
        place="section 2.1",
        printed="Pr[for all h in H, |L_D(h) - L_S(h)| <= alpha] >= 1 - beta",
        hypotheses="n >= Omega((d + log(1/beta))/alpha^2); alpha, beta in (0, 1)",
        kind="tail",
    ),
    Statement(
        name="lemma-4",
        number="Lemma 4, privacy",
        place="section 2.1",
        printed="the exponential mechanism gives eps-private predictions",
        hypotheses="weights exp(-n L_S(h) eps/2)",
        kind="privacy",
    ),
    Statement(
        name="lemma-4-error",
        number="Lemma 4, error",
        place="section 2.1",
        printed="L_S(A^exp(S)) <= inf L_S + alpha",
        hypotheses="n >= 2 ln|H|/(eps alpha), alpha in (0, 1)",
        kind="utility",
    ),
    Statement(
        name="lemma-5",
        number="Lemma 5",
        place="section 2.1",
        printed="A gives 2 eps eta-private prediction",
        hypotheses="A' eps-private on n' = eta n samples, eps, eta in (0, 1)",
        kind="privacy",
    ),
    Statement(
        name="lemma-6",
        number="Lemma 6",
        place="section 2.1",
        printed="(alpha, beta)-PAC learner with eps-private prediction, n = O~(d/(alpha eps))",
        hypotheses="any eps, alpha, beta and H; realizable",
        kind="size",
    ),
)
