"""Dwork and Feldman (2018), sections 1 to 3: the overview, and group privacy."""

from __future__ import annotations

from dpassay.theorems.statement import Statement

EXTERNAL = "a result of another paper, quoted for comparison; its proof is not in ours"

STATEMENTS = (
    Statement(
        name="definition-1.1",
        number="Definition 1.1",
        place="section 1",
        printed="for every interactive Q, the output (Q <-> M(S)) is (eps, delta)-DP w.r.t. S",
        hypotheses="M a stateful prediction interface",
        kind="definition",
    ),
    Statement(
        name="composition",
        number="after Definition 1.1",
        place="section 1",
        printed=(
            "such an algorithm can be used to answer multiple queries with privacy parameters "
            "that degrade gracefully with the number of queries [DR14]"
        ),
        hypotheses="(eps, delta)-private single predictions",
        kind="composition",
    ),
    Statement(
        name="section-2.1-soft-majority",
        number="section 2.1, PAC learning",
        place="section 2.1",
        printed="using r = O(ln(1/alpha)/eps) this reduction ensures eps-DP prediction",
        hypotheses="models that err by at most alpha",
        kind="size",
    ),
    Statement(
        name="section-2.1-quarter",
        number="section 2.1 and section 4.1, the fraction of points",
        place="section 2.1",
        printed=(
            "the fraction of points on which more than 1/4 of the predictors output the wrong "
            "label cannot be more than 4 alpha"
        ),
        hypotheses="each predictor has error at most alpha",
        kind="tail",
    ),
    Statement(
        name="section-4.1-soft-majority",
        number="section 4.1, first paragraph",
        place="section 4.1",
        printed="output b with probability proportional to e^(eps |{i: f_i(x) = b}|); eps-DP",
        hypotheses="any r",
        kind="privacy",
    ),
    Statement(
        name="corollary-2.1",
        number="Corollary 2.1",
        place="section 2.1",
        printed="n = O~((d + log(1/beta))/(eps alpha)) examples",
        hypotheses="C of VC dimension d; all alpha, beta, eps > 0",
        kind="size",
    ),
    Statement(
        name="theorem-2.2",
        number="Theorem 2.2",
        place="section 2.1",
        printed="requires n = Omega(d/(eps alpha)) examples",
        hypotheses="as Theorem 4.3, which restates it",
        kind="lower bound",
        no_row="restated, with its constant, as Theorem 4.3",
    ),
    Statement(
        name="section-2.1-sauer",
        number="after Theorem 2.2",
        place="section 2.1",
        printed="by Sauer's lemma log(|C|) = O(d log(|X|))",
        hypotheses="C over X of VC dimension d",
        kind="size",
    ),
    Statement(
        name="section-2.1-others",
        number="after Theorem 2.2, sizes of other papers",
        place="section 2.1",
        printed="O(log(|C|)/(eps alpha)); Theta~(R/(eps alpha)); p^2 log N against p",
        hypotheses="differentially private PAC learning [KLNRS11; BNS13; FX15]",
        kind="size",
        no_row=EXTERNAL,
    ),
    Statement(
        name="section-2.1-agnostic",
        number="section 2.1, agnostic learning",
        place="section 2.1",
        printed=(
            "for r = O(1/(eps alpha)) the prediction is eps-DP and the noise increases the "
            "prediction error by at most an extra alpha"
        ),
        hypotheses="1 with probability v(x) + zeta truncated to [0, 1], zeta Laplace",
        kind="utility",
    ),
    Statement(
        name="corollary-2.3",
        number="Corollary 2.3",
        place="section 2.1",
        printed="n = O~((d + log(1/beta))/(eps alpha^3)) examples",
        hypotheses="C of VC dimension d; all alpha, beta, eps > 0 (Cor. 4.8: in (0, 1])",
        kind="size",
    ),
    Statement(
        name="section-2.1-agnostic-lower",
        number="after Corollary 2.3",
        place="section 2.1",
        printed="the lower bound of Omega(d/alpha^2 + d/(eps alpha)) implied by Thm. 2.2",
        hypotheses="agnostic learning with private prediction",
        kind="lower bound",
    ),
    Statement(
        name="section-2.1-regression",
        number="section 2.1, convex regression",
        place="section 2.1",
        printed=(
            "eps-DP prediction using O(1/(eps alpha^2)) examples; averaging over r blocks "
            "improves stability by a factor of r"
        ),
        hypotheses="K in the unit ball, loss 1-Lipschitz in w",
        kind="size",
    ),
    Statement(
        name="section-2.2-others",
        number="section 2.2, sizes of other papers",
        place="section 2.2",
        printed="Omega(log(N)/(eps alpha)); Omega(log*(N)/(eps alpha))",
        hypotheses="private learning of thresholds [FX15; BNSV15]",
        kind="lower bound",
        no_row=EXTERNAL,
    ),
    Statement(
        name="theorem-2.4",
        number="Theorem 2.4",
        place="section 2.2",
        printed="n >= 12 ln(2/alpha)/(alpha eps): E[Err_P(M(S))] <= e^eps (Opt_P(Thr) + alpha)",
        hypotheses="alpha, eps in (0, 1] (printed '> (0, 1]'), N a natural number, any P",
        kind="utility",
    ),
    Statement(
        name="section-2.2-rates",
        number="after Theorem 2.4",
        place="section 2.2",
        printed=(
            "n = O(ln(1/alpha)/(alpha eps)) if Opt = 0; O(ln(1/alpha)/(alpha eps) + "
            "ln(1/alpha)/alpha^2) agnostic; unions of k intervals at an additional factor k"
        ),
        hypotheses="as Theorem 2.4",
        kind="size",
    ),
    Statement(
        name="section-2.2-walk",
        number="section 2.2, 'at a high level'",
        place="section 2.2",
        printed="the bias changes by a factor of (roughly) e^eps, projected to [alpha, 1 - alpha]",
        hypotheses="eps-DP prediction",
        kind="privacy",
    ),
    Statement(
        name="section-2.3",
        number="section 2.3",
        place="section 2.3",
        printed=(
            "E[(E_S'[l(M(S))])^k] <= e^(k^2 eps) E[(E_S[l(M(S))])^k]; eps-DP gives e^(k eps) "
            "instead [DFHPRR14]"
        ),
        hypotheses="l >= 0, k >= 1, M eps-DP prediction",
        kind="generalisation",
    ),
    Statement(
        name="section-2.4",
        number="section 2.4",
        place="section 2.4",
        printed="eps scaling as sqrt(m alpha) log m, against sqrt(m) by composition",
        hypotheses="[BTT18]",
        kind="composition",
        no_row=EXTERNAL,
    ),
    Statement(
        name="section-3-divergence",
        number="approximate max-divergence",
        place="section 3",
        printed="sup over O in supp(U), Pr[U in O] > delta, of ln((Pr[U in O] - delta)/Pr[V in O])",
        hypotheses="delta > 0 (printed 'beta-approximate'); eps-DP is delta = 0",
        kind="definition",
    ),
    Statement(
        name="lemma-3.1",
        number="Lemma 3.1",
        place="section 3",
        printed="D^(k e^(eps(k-1)) delta)(M(S, x) || M(S', x)) <= k eps",
        hypotheses="M (eps, delta)-DP prediction; S, S' differ in at most k elements",
        kind="composition",
    ),
)
