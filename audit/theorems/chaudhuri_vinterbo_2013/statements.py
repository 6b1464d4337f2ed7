"""Chaudhuri and Vinterbo (2013): every statement with a number, in its order."""

from __future__ import annotations

from dpassay.theorems.statement import Statement

STATEMENTS = (
    Statement(
        name="definition-1",
        number="Definition 1",
        place="page 3",
        printed="Pr(A(D) in S) <= e^alpha Pr(A(D') in S) + delta",
        hypotheses="D, D' differ in the value of a single individual",
        kind="definition",
        no_row="the definition that every privacy row measures",
    ),
    Statement(
        name="composition",
        number="after Definition 1",
        place="page 3",
        printed=(
            "k times on the same data: k alpha, as well as (alpha', delta), "
            "alpha' = k alpha (e^alpha - 1) + sqrt(2 k log(1/delta)) alpha"
        ),
        hypotheses="an alpha-DP procedure",
        kind="composition",
    ),
    Statement(
        name="mean",
        number="section 2, the sample mean",
        place="page 3",
        printed="mean + Z/(alpha n), Z standard Laplace, is an alpha-DP approximation",
        hypotheses="x_i in [0, 1]",
        kind="privacy",
    ),
    Statement(
        name="definition-2",
        number="Definition 2",
        place="page 4",
        printed=(
            "Pr(R in Sigma) >= 1 - delta; for R in Sigma the score moves by at most beta1/n "
            "(T, T') and beta2/m (V, V')"
        ),
        hypotheses="all theta, T, V",
        kind="definition",
        no_row="a definition; the rows of Theorems 4 and 6 and section 6.1 measure it",
    ),
    Statement(
        name="section-3-example",
        number="section 3, 'several remarks'",
        place="page 4",
        printed=(
            "A: no training stability for beta1 = o(n) and small enough delta; A': beta1 = 1, "
            "delta = 0"
        ),
        hypotheses="the two algorithms of section 6.1",
        kind="stability",
    ),
    Statement(
        name="theorem-1",
        number="Theorem 1",
        place="page 5",
        printed="Algorithm 1 guarantees (alpha2, delta)-DP",
        hypotheses="q (beta1, beta2, delta/k)-stable w.r.t. T, alpha1 and Theta",
        kind="privacy",
    ),
    Statement(
        name="algorithm-1-exponential",
        number="before Algorithm 2",
        place="page 5",
        printed="an exponential mechanism [21] may also be used instead",
        hypotheses="in Algorithm 1",
        kind="privacy",
    ),
    Statement(
        name="theorem-2",
        number="Theorem 2",
        place="page 5",
        printed="Algorithm 2 is (alpha1 + alpha2, delta)-DP",
        hypotheses="as Theorem 1, T alpha1-DP",
        kind="privacy",
    ),
    Statement(
        name="joint-release",
        number="Lemmas 1 and 2, S = (I, C)",
        place="page 12",
        printed="for any outcomes S = (I, C): Pr(A(D) in S) <= e^alpha2 Pr(A(D') in S) + delta",
        hypotheses="as Theorem 1; C a set of released h",
        kind="privacy",
    ),
    Statement(
        name="theorem-3",
        number="Theorem 3",
        place="page 5",
        printed="q(h_i*, V) >= max q(h_i, V) - 2 beta log(k/delta0)/alpha2 w.p. >= 1 - delta0",
        hypotheses="h_1, ..., h_k of Algorithm 1",
        kind="utility",
    ),
    Statement(
        name="section-1-independence",
        number="section 1, k",
        place="page 2",
        printed="sizes and budget independent of k; accuracy degrades only logarithmically with k",
        hypotheses="the validation procedure",
        kind="remark",
    ),
    Statement(
        name="section-4.1-algorithms",
        number="section 4.1, Algorithms 3 and 4",
        place="page 6",
        printed="Algorithm 4 is alpha-DP; Algorithm 3 is alpha + 2 log(1 + c/(lambda n))-DP",
        hypotheses="certain conditions on l and the data [4]; also the hinge loss",
        kind="privacy",
    ),
    Statement(
        name="section-4.1-lipschitz",
        number="after Definition 3",
        place="page 6",
        printed="logistic, hinge and ramp loss are 1-Lipschitz, the 0/1 loss for no L",
        hypotheses="||x|| <= 1",
        kind="definition",
    ),
    Statement(
        name="theorem-4",
        number="Theorem 4",
        place="page 7",
        printed=(
            "(beta1, beta2, delta/k)-stable, beta1 = 2L/lambda_min, "
            "beta2 = min(g*, (L/lambda_min)(1 + d log(dk/delta)/(alpha n)))"
        ),
        hypotheses="l convex, 1-Lipschitz; g L-Lipschitz, >= 0",
        kind="stability",
    ),
    Statement(
        name="theorem-4-example",
        number="Example after Theorem 4",
        place="page 7",
        printed="hinge: beta1 = 2/lambda_min, beta2 as before; ramp: beta2 = 1",
        hypotheses="ramp: lambda_min <= 1",
        kind="stability",
    ),
    Statement(
        name="theorem-4-norm",
        number="proof of Theorem 4",
        place="page 15",
        printed="||R|| <= d log(dk/delta) w.p. 1 - delta/k; ||F|| <= (1 + ||R||/(alpha n))/lambda",
        hypotheses="density of R proportional to e^-||r||",
        kind="tail",
    ),
    Statement(
        name="section-5-split",
        number="section 5, alpha/k",
        place="page 7",
        printed=(
            "alpha/k > alpha', the solution of alpha = k(e^alpha' - 1)alpha' + "
            "sqrt(2k log(1/delta)) alpha', except for alpha = .3: alpha/k > alpha' - .0003"
        ),
        hypotheses="k = 10, delta = .01, alpha in {.3, .5, 1, 2, 3, 5}",
        kind="composition",
    ),
    Statement(
        name="theorem-5",
        number="Theorem 5",
        place="page 7",
        printed=(
            "alphaSplit and dataSplit are alpha-DP if T and V are disjoint, else 2 alpha; Random "
            "is alpha-DP"
        ),
        hypotheses="oplr alpha-DP; the choice proportional to e^(-alpha e_i/2)",
        kind="privacy",
    ),
    Statement(
        name="section-5-methods",
        number="section 5, 'all methods except Control'",
        place="page 8",
        printed="all methods except Control produce a (alpha, delta)-DP classifier",
        hypotheses="by Theorems 2 and 5",
        kind="privacy",
    ),
    Statement(
        name="section-5-data",
        number="section 5, the data",
        place="page 8",
        printed="Adult: prevalence .22; Magic: 19020 cases, prevalence of primary gammas .35",
        hypotheses="the UCI data",
        kind="remark",
    ),
    Statement(
        name="section-5-count",
        number="section 5, the classifiers",
        place="page 8",
        printed="each experiment involves computing more than 24000 classifiers",
        hypotheses="five methods, k = 10, 100 folds, six alpha",
        kind="remark",
    ),
    Statement(
        name="section-5-results",
        number="section 5, Figures 1 and 2",
        place="page 8",
        printed=(
            "Stability significantly outperformed alphaSplit and dataSplit; Random only for "
            "alpha > 1 in Magic; MSE in all experiments"
        ),
        hypotheses="10 times 10-fold cross-validation",
        kind="utility",
        no_row="an experiment: benchmarks, not a row",
    ),
    Statement(
        name="section-6.1-privacy",
        number="section 6.1, both algorithms",
        place="page 10",
        printed="A and A' are alpha-DP; Laplace of standard deviation 2l/(alpha n)",
        hypotheses="f moves by at most 1/n",
        kind="privacy",
    ),
    Statement(
        name="section-6.1-unstable",
        number="section 6.1, algorithm A",
        place="page 10",
        printed=(
            "no training stability for beta1 = o(n), delta < e^(n alpha/8)(e^(alpha/2) - 1)/"
            "((e^(n alpha/8) + 1)(e^(n alpha/8) + e^(alpha/2))); |t1 - t2| >= 1/3 w.h.p."
        ),
        hypotheses="l = 2, n large enough",
        kind="stability",
    ),
    Statement(
        name="section-6.1-stable",
        number="section 6.1, algorithm A'",
        place="page 11",
        printed="|f(D, i) - f(D, i')| <= 1/n; beta1 = 1, delta = 0",
        hypotheses="same R, i* = i on D and i' on D'",
        kind="stability",
    ),
    Statement(
        name="algorithm-5",
        number="Algorithm 5",
        place="page 12",
        printed="counts + 2R_i/alpha, cut at 0: alpha-DP",
        hypotheses="a histogram of n samples",
        kind="privacy",
    ),
    Statement(
        name="theorem-6",
        number="Theorem 6",
        place="page 12",
        printed=(
            "(beta1, beta2, delta/k)-stable, beta1 = 6/((1 - nu) h_min), beta2 = 2/h_min, "
            "nu = 2 ln(4k/delta)/(n alpha sqrt(h_min))"
        ),
        hypotheses="n >= 1 + 2 ln(4k/delta)/(alpha sqrt(h_min))",
        kind="stability",
    ),
    Statement(
        name="lemma-1-ratio",
        number="proofs of Lemmas 1 and 2",
        place="page 13",
        printed="Pr(Z_i >= gamma)/Pr(Z_i >= gamma + 2 beta) at most e^alpha2",
        hypotheses="2 beta Z_i, Z_i exponential with mean 1/alpha2",
        kind="tail",
    ),
    Statement(
        name="theorem-4-minimisers",
        number="proof of Theorem 4, Equation 14",
        place="page 14",
        printed="||F(T) - F(T')|| <= 2/(lambda n)",
        hypotheses="the same lambda, alpha, R",
        kind="stability",
    ),
    Statement(
        name="lemma-3",
        number="Lemma 3",
        place="page 16",
        printed="Pr(Z >= theta) <= (1 - 1/s)^-s e^(-theta/sqrt(s)) <= 4 e^(-theta/sqrt(s))",
        hypotheses="s >= 2 iid standard Laplace, any theta",
        kind="tail",
    ),
    Statement(
        name="theorem-6-cases",
        number="proof of Theorem 6",
        place="page 17",
        printed="four cases; 4/(h n~) in the first, 6/(h (n~ + 1)) in the second",
        hypotheses="a record moves from bin a to bin b, event E",
        kind="stability",
    ),
    Statement(
        name="lemma-4",
        number="Lemma 4",
        place="page 18",
        printed="B(D, A) = (A_1(D_1), ..., A_k(D_k)) is max alpha_i-DP",
        hypotheses=(
            "D_i disjoint subsets; the proof: the symmetric difference contains one element, but "
            "Definition 1 replaces a value"
        ),
        kind="composition",
    ),
    Statement(
        name="theorem-5-sensitivity",
        number="proof of Theorem 5",
        place="page 18",
        printed="proportional to e^(-eps e_i) yields 2 eps Delta, Delta = 1, eps = alpha/2",
        hypotheses="e_i errors on V",
        kind="privacy",
    ),
)
