"""Options of `attack`, which the command line alone may set: one row each."""

from __future__ import annotations

from dpassay.config.option import (
    count,
    number,
    one_of,
    several,
    text,
)

_EPSILON = number("epsilon", lambda value: 0 < value <= 700, "a number in (0, 700]", help="")
OF_ATTACKS = (
    one_of(
        "against",
        ("base", "mechanism"),
        shown="both",
        metavar="WHICH",
        help="attack only the unprotected base learner, or only mechanisms",
    ),
    several(
        "epsilon",
        _EPSILON,
        "numbers in (0, 700]",
        default=(0.1, 0.5, 1.0, 2.0, 8.0),
        shown="0.1,0.5,1,2,8",
        help="claimed losses of a single answer; with --service the one claim, if any",
    ),
    text(
        "service",
        shown="none",
        metavar="M:F",
        help="module:factory of a service of your own, to attack instead of mechanisms",
    ),
    one_of(
        "task",
        ("classes", "numbers"),
        shown="numbers if the label has values that are not whole",
        metavar="WHAT",
        help="what is predicted: one of some classes, or a number",
    ),
    text(
        "signals",
        shown="none",
        metavar="FILE",
        help="what models that are already trained showed at records, to attack instead: arrays "
        "scores and membership (.npz), or a line per model and record (.csv)",
    ),
    one_of(
        "signal",
        ("probability", "logit", "loss"),
        shown="what the file says, or the range of the scores tells",
        metavar="KIND",
        help="what the scores of --signals are: probability, logit or loss of the own label",
    ),
    count(
        "transcripts",
        0,
        10**9,
        shown="20000, or what the claim takes; of a service 1000",
        help="transcripts per side for repeated queries of the worst pair; 0 for none",
    ),
    several(
        "budgets",
        count("answers", 1, 10**6, help=""),
        "integers from 1 to 1,000,000",
        default=(1, 8),
        shown="1,8",
        help="numbers of answers that the attacker gets about each record",
    ),
    several(
        "attacks", text("attack", help=""), "names", shown="all", help="attacks to run, by name"
    ),
    count("records", 2, default=400, help="records whose membership is guessed"),
    count("references", 4, 10**9, default=64, help="models that the attacker trains"),
    count(
        "models",
        2,
        10**9,
        shown="from 32 to 256: enough to see a leak 2.5 above each claim and to certify 85 % of "
        "each in one run, of those that 256 are enough for; and fresh answers about the chosen "
        "records, to certify 85 % of the claim of one answer",
        help="target models, and no fresh answers; see dpassay plan --attack",
    ),
    count("copies", 0, 10**6, default=8, help="noisy copies of each record"),
    number(
        "noise",
        lambda value: 0 <= value < float("inf"),
        "a finite number >= 0",
        default=0.1,
        metavar="PART",
        help="noise of a copy, in standard deviations of its column",
    ),
    count("canaries", 0, default=0, help="records replaced by canaries, reported separately"),
    one_of(
        "planted",
        ("labels", "features"),
        default="labels",
        metavar="WHAT",
        help="what is random in a canary: its label or its features",
    ),
    one_of(
        "adversary",
        ("nat-minq", "nat-miaq", "pois-minq", "pois-miaq"),
        default="nat-minq",
        metavar="WHO",
        help="nat (natural data) or pois (poison in every training set); minq (asks about the "
        "records themselves) or miaq (at points chosen on reference models)",
    ),
    count(
        "poisoned", 0, shown="20, at most half", help="records surrounded by poison, with pois-..."
    ),
    one_of(
        "poison_labels",
        ("other", "balanced"),
        default="other",
        metavar="WHICH",
        help="labels of the poison: another one than the record's, or both in balance, so that the "
        "record decides a vote of its K nearest",
    ),
    count(
        "poison",
        0,
        shown="2, or 25 where balanced",
        metavar="K",
        help="poisoned copies around each of these records",
    ),
    text(
        "attribute",
        shown="none",
        metavar="COLUMN",
        help=(
            "guess which of two values this column has, instead of membership: a column name, its "
            "number, or label"
        ),
    ),
    text(
        "slice_by",
        shown="none",
        metavar="COLUMN",
        help="tell records apart by this column: its categories, or quarters of its numbers",
    ),
    text(
        "cache",
        shown="the folder of --out",
        metavar="DIR",
        help="folder that keeps the answers of trained models; empty it when your own code changes",
    ),
)
ATTACK_KEYS = tuple(option.key for option in OF_ATTACKS)
"""Those of `attack`."""
