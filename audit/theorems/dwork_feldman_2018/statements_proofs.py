"""Dwork and Feldman (2018), sections 4 to 6."""

from __future__ import annotations

from dpassay.theorems.statement import Statement

STATEMENTS = (
    Statement(
        name="theorem-4.1",
        number="Theorem 4.1",
        place="section 4.1",
        printed=(
            "eps-DP M PAC learns C using n = r m(alpha/4, beta/r) examples, "
            "r = ceil(6 ln(4/alpha)/eps)"
        ),
        hypotheses="A PAC learns C with m(alpha, beta) samples; every eps > 0",
        kind="utility",
    ),
    Statement(
        name="theorem-4.1-exponent",
        number="proof of Theorem 4.1",
        place="section 4.1",
        printed="1/(1 + e^(eps r/6)) <= e^(-eps r/6) <= e^(-ln(alpha/4)) = alpha/4",
        hypotheses="r = ceil(6 ln(4/alpha)/eps)",
        kind="utility",
    ),
    Statement(
        name="corollary-4.2",
        number="Corollary 4.2",
        place="section 4.1",
        printed=(
            "n = O((d log^2(1/alpha) + log(1/alpha) log(log(1/alpha)/(eps beta)))/(eps alpha))"
        ),
        hypotheses="all alpha, beta, eps > 0",
        kind="size",
    ),
    Statement(
        name="theorem-4.3",
        number="Theorem 4.3",
        place="section 4.1",
        printed="requires n >= d/(32 eps alpha) examples",
        hypotheses=(
            "C of VC dimension d; all alpha, eps > 0; any (eps, eps/3)-DP prediction algorithm "
            "that PAC learns C with error alpha and confidence 1/12"
        ),
        kind="lower bound",
    ),
    Statement(
        name="theorem-4.3-tail",
        number="proof of Theorem 4.3, the tail step",
        place="section 4.1",
        printed=(
            "n <= d/(8 eps): with probability at least 1/24 (23/24 is used) S includes at most "
            "1/(4 eps) points equal to i"
        ),
        hypotheses="d larger than some fixed constant; n points uniform on d",
        kind="tail",
    ),
    Statement(
        name="definition-4.4",
        number="Definition 4.4",
        place="section 4.2",
        printed="|A(S, x) - A(S', x)| <= gamma",
        hypotheses="S, S' differ in a single element",
        kind="definition",
        no_row="a definition; the rows of Lemma 4.6 and Theorems 4.9, 4.12 measure it",
    ),
    Statement(
        name="lemma-4.5",
        number="Lemma 4.5",
        place="section 4.2",
        printed="there is an eps-DP M; v + zeta, Laplace 'with scale eps/gamma'",
        hypotheses="A prediction stable with rate gamma; every eps > 0",
        kind="privacy",
    ),
    Statement(
        name="lemma-4.5-1",
        number="Lemma 4.5(1)",
        place="section 4.2",
        printed="E[l(M(S))] <= E[l(A(S))] + L_l gamma/eps",
        hypotheses="l convex and L_l-Lipschitz in the first parameter",
        kind="utility",
    ),
    Statement(
        name="lemma-4.5-2",
        number="Lemma 4.5(2)",
        place="section 4.2",
        printed="E[l(M(S))] <= E[l(A(S))] + sigma^2 gamma^2/eps^2 (the proof: sigma gamma^2/eps^2)",
        hypotheses="l convex and sigma-smooth in the first parameter",
        kind="utility",
    ),
    Statement(
        name="lemma-4.6",
        number="Lemma 4.6",
        place="section 4.2",
        printed="rate gamma/r with n r samples; E[loss] <= v stays; Pr[loss >= v] <= r beta",
        hypotheses="l convex; A has rate gamma, E[loss] <= v, or Pr[loss >= v] <= beta",
        kind="stability",
    ),
    Statement(
        name="section-4.3-reduction",
        number="section 4.3, the reduction",
        place="section 4.3",
        printed="the expected disagreement is at most |y - f(x)|; the trivial rate is 1",
        hypotheses="p is f(x) projected to [0, 1]",
        kind="utility",
    ),
    Statement(
        name="corollary-4.7",
        number="Corollary 4.7",
        place="section 4.3",
        printed="n = 2 m(alpha/2, 2 beta alpha eps)/(alpha eps) examples",
        hypotheses="A agnostically learns C with m(alpha, beta); eps in (0, 1]",
        kind="utility",
    ),
    Statement(
        name="corollary-4.8",
        number="Corollary 4.8",
        place="section 4.3",
        printed="n = O((d + log(1/(alpha beta eps)))/(eps alpha^3)) examples",
        hypotheses="alpha, beta, eps in (0, 1]",
        kind="size",
    ),
    Statement(
        name="theorem-4.9",
        number="Theorem 4.9, stability",
        place="section 4.4",
        printed="rate 4 L_f^2 L_l/(lambda n); ||w_S - w_S'|| <= 4L/(lambda n)",
        hypotheses="each l(f(., x), y) lambda-strongly convex; f, l Lipschitz; w_S = argmin",
        kind="stability",
    ),
    Statement(
        name="theorem-4.9-loss",
        number="Theorem 4.9, excess loss",
        place="section 4.4",
        printed="E[loss(w_S)] <= min loss + 4 L_f^2 L_l^2/(lambda n)",
        hypotheses="as before; every P",
        kind="utility",
    ),
    Statement(
        name="corollary-4.10",
        number="Corollary 4.10",
        place="section 4.4",
        printed="excess loss at most 4 L_f^2 L_l^2/(lambda n) (1 + 1/eps), eps-DP",
        hypotheses="as Theorem 4.9; every eps > 0",
        kind="utility",
    ),
    Statement(
        name="section-4.4-regulariser",
        number="before Corollary 4.11",
        place="section 4.4",
        printed=(
            "lambda = 2 L_f L_l/(R sqrt(n eps/(1 + eps))) changes the objective by at most "
            "2 R L_f L_l/sqrt(n eps/(1 + eps))"
        ),
        hypotheses="regularising term lambda ||w||^2, w in the ball of radius R",
        kind="utility",
    ),
    Statement(
        name="corollary-4.11",
        number="Corollary 4.11",
        place="section 4.4",
        printed="excess loss at most 4 R L_f L_l/sqrt(n eps/(1 + eps)), eps-DP",
        hypotheses="l(f(., x), y) convex; every eps > 0",
        kind="utility",
    ),
    Statement(
        name="theorem-4.12",
        number="Theorem 4.12, stability",
        place="section 4.4",
        printed="PSGD, eta = R/(L_f L_l sqrt(n)): rate R L_f/sqrt(n)",
        hypotheses="composed loss convex and sigma-smooth, sigma <= 2/eta",
        kind="stability",
    ),
    Statement(
        name="theorem-4.12-loss",
        number="Theorem 4.12, excess loss",
        place="section 4.4",
        printed="E[loss(w_S)] <= min loss + 2 L_f L_l R/sqrt(n)",
        hypotheses="as before; every P; the average iterate",
        kind="utility",
    ),
    Statement(
        name="corollary-4.13",
        number="Corollary 4.13",
        place="section 4.4",
        printed="excess loss at most 2 R L_f L_l/sqrt(n) + sigma_l R^2 L_f^2/(n eps^2), eps-DP",
        hypotheses="also l sigma_l-smooth; sigma <= 2 L_f L_l sqrt(n)/R",
        kind="utility",
    ),
    Statement(
        name="section-4.4-rate",
        number="after Corollary 4.13",
        place="section 4.4",
        printed="the error by noise is comparable to the statistical one when eps ~ n^(-1/4)",
        hypotheses="sufficiently smooth losses",
        kind="remark",
    ),
    Statement(
        name="section-4.4-other-bounds",
        number="after Corollary 4.13, the other assumption",
        place="section 4.4",
        printed=(
            "l sigma_l-smooth: Cor. 4.11 has the same bound (up to a constant) as Cor. 4.13; "
            "without it Cor. 4.13 would give essentially the same bound as Cor. 4.11"
        ),
        hypotheses="as in Corollaries 4.11 and 4.13; every eps > 0",
        kind="remark",
    ),
    Statement(
        name="section-5-class",
        number="section 5, Thr_N and Thr_(N,k)",
        place="section 5",
        printed="the set of all N + 1 threshold functions over [N]; theta = 1 iff t(x) is odd",
        hypotheses="1 <= a_1 < ... < a_k <= N + 1",
        kind="definition",
    ),
    Statement(
        name="lemma-5.1",
        number="Lemma 5.1",
        place="section 5",
        printed="ExpPW(T, eps) is eps-DP; |V(S, x) - V(S^-i, x)| <= 1",
        hypotheses="any n, T natural, eps > 0",
        kind="privacy",
    ),
    Statement(
        name="lemma-5.2",
        number="Lemma 5.2",
        place="section 5",
        printed="Err_S(M(S)) <= Opt_S(Thr_(N,k)) + (k + 2) T/n + e^(-eps T/2)",
        hypotheses="every S of n examples",
        kind="utility",
    ),
    Statement(
        name="theorem-5.3",
        number="Theorem 5.3",
        place="section 5",
        printed=(
            "T = ceil(2 ln(2/alpha)/eps), n >= 4 (k + 2) ln(2/alpha)/(alpha eps): "
            "E[Err_P(M(S))] <= e^eps (Opt_P + alpha)"
        ),
        hypotheses="any alpha, eps > 0, k, N natural, any P",
        kind="utility",
    ),
    Statement(
        name="theorem-5.3-agnostic",
        number="Theorem 5.3, 'in particular'",
        place="section 5",
        printed="eps = alpha/2, n = O(k ln(1/alpha)/alpha^2): E[Err] <= Opt + alpha",
        hypotheses="as before",
        kind="utility",
    ),
    Statement(
        name="theorem-5.3-agnostic-step",
        number="Theorem 5.3, the step to 'in particular'",
        place="section 5",
        printed="setting eps = alpha/2 we get Opt + alpha from e^eps (Opt + alpha)",
        hypotheses="as before",
        kind="utility",
    ),
    Statement(
        name="theorem-5.3-realizable",
        number="Theorem 5.3, 'further'",
        place="section 5",
        printed="Pr[Err_P(M(S)) >= 3 alpha] <= 2 beta",
        hypotheses="Opt_P = 0, eps <= 1/(16 ln(1/beta)), beta in (0, 1)",
        kind="tail",
    ),
    Statement(
        name="theorem-5.3-chernoff",
        number="proof of Theorem 5.3, Chernoff",
        place="section 5",
        printed="Err_P >= 3 alpha, n >= 6 ln(2)/alpha: Pr[Err_S' >= 2 alpha] >= 1/2",
        hypotheses="Err_S' the mean of n independent variables of bias Err_P",
        kind="tail",
    ),
    Statement(
        name="theorem-5.3-best",
        number="proof of Theorem 5.3, the best error",
        place="section 5",
        printed="E[Opt_S(C)] <= Opt_P(C)",
        hypotheses="any class C and n; S drawn from P^n",
        kind="generalisation",
    ),
    Statement(
        name="definition-6.1",
        number="Definition 6.1",
        place="section 6",
        printed="for every z, M(S, z) is (eps, delta)-DP with respect to S",
        hypotheses="M an evaluation algorithm",
        kind="definition",
    ),
    Statement(
        name="lemma-6.2",
        number="Lemma 6.2",
        place="section 6",
        printed="l(M'(S, x), y) is an (eps, delta)-DP evaluation algorithm",
        hypotheses="M' (eps, delta)-DP prediction",
        kind="privacy",
    ),
    Statement(
        name="lemma-6.3",
        number="Lemma 6.3",
        place="section 6",
        printed="E[U] <= e^eps E[V] + delta B",
        hypotheses="U, V over [0, B], D^delta(U || V) <= eps",
        kind="generalisation",
    ),
    Statement(
        name="lemma-6.4",
        number="Lemma 6.4",
        place="section 6",
        printed="E[(E_S'[M(S)])^k] <= e^(k^2 eps) E[(E_S[M(S)] + k delta B)^k]",
        hypotheses="M into [0, B], (eps, delta)-DP evaluation; any P",
        kind="generalisation",
    ),
    Statement(
        name="lemma-6.4-group",
        number="proof of Lemma 6.4",
        place="section 6",
        printed="D^(k e^(k-1) delta)(M(S_I, z') || M(S, z')) <= eps k, by Lemma 3.1",
        hypotheses="S_I differs from S in k records at most",
        kind="composition",
    ),
    Statement(
        name="lemma-6.5",
        number="Lemma 6.5",
        place="section 6",
        printed="Pr[E_S'[M(S)] >= alpha e^(2 sqrt(eps ln(1/beta)))] <= beta",
        hypotheses="M into R+, eps-DP evaluation; E_S[M(S)] <= alpha for every S; beta in (0, 1)",
        kind="generalisation",
    ),
    Statement(
        name="lemma-6.5-markov",
        number="proof of Lemma 6.5",
        place="section 6",
        printed=(
            "Pr[E_S' >= t alpha e^(k eps)] <= t^-k, k = sqrt(ln(1/beta)/eps), t = beta^(-1/k)"
        ),
        hypotheses="t >= 1; k is a number of indices, but is set to a real number",
        kind="tail",
    ),
)
