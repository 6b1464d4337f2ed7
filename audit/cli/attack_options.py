"""What `dpassay attack` can be asked."""

from __future__ import annotations

from typing import Any

from dpassay.cli.parser import add_options, one_of

ATTACK_EXAMPLES = """examples:
  dpassay attack --out attack
      six mechanisms at five losses and the unprotected tree, on scikit-learn's breast cancer data; open attack/attack.html
  dpassay attack soft-majority --epsilon 0.5,8 --budgets 1,16 -p r=11 --learner logistic
      one mechanism, at two losses of a single answer, asked once or sixteen times about each record
  dpassay attack --against base --data people.csv --label income --records 10000 --jobs 2
      the unprotected learner alone, on your own data
  dpassay attack --service my_module:factory --data people.csv --label income --epsilon 0.5
      a service of your own: its defects, and repeated queries held against its claim of a single answer;
      factory(data, seed, user) opens a session whose ask(x) answers a label, or raises when the budget is spent
  dpassay attack soft-majority --canaries 20 --adversary pois-miaq
      twenty mislabelled records, and an adversary who poisons the training set and chooses its queries
  dpassay attack --against base --data people.csv --label income --attribute sex
      which of two values of a column the training record has

exit codes: 0 no claim broken, and each could have been seen to be, 1 what was certified exceeds a claim or a service has a
  defect, 2 wrong usage, 3 a mechanism failed, 4 some claim could not have been seen to be broken, or a service not be looked at,
  130 interrupted
"""


def attack_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    attack = commands.add_parser(
        "attack",
        help="membership inference on real data: what an adversary gets out of an interface",
        description="Train many models on random halves of the records and guess from their answers who was in: every attack "
        "against the unprotected learner and against mechanisms, held against their claims.",
        epilog=ATTACK_EXAMPLES,
    )
    attack.add_argument(
        "targets", nargs="*", metavar="TARGET", help="mechanisms that answer labels (default: six of the catalogue)"
    )
    attack.add_argument(
        "--against", type=one_of("base", "mechanism"), metavar="WHOM", help="base or mechanism alone (default: both)"
    )
    attack.add_argument(
        "--epsilon",
        metavar="LIST",
        help="losses of a single answer (default: 0.1,0.5,1,2,8); with --service the one that is claimed, if any",
    )
    attack.add_argument(
        "--service", metavar="M:F", help="module:factory of a service of your own, to be probed instead of mechanisms"
    )
    attack.add_argument(
        "--transcripts",
        type=int,
        metavar="N",
        help="repeated queries of the worst pair: transcripts a side, 0 for none (default: 20000; of a service 1000)",
    )
    attack.add_argument(
        "--budgets", default="1,8", metavar="LIST", help="answers that the attacker gets about each record (default: %(default)s)"
    )
    attack.add_argument("--attacks", metavar="LIST", help="by name (default: all)")
    attack.add_argument("--records", type=int, default=400, metavar="N", help="records asked about (default: %(default)s)")
    attack.add_argument(
        "--references", type=int, default=64, metavar="N", help="models the attacker trains (default: %(default)s)"
    )
    attack.add_argument(
        "--models",
        type=int,
        metavar="N",
        help="models that are attacked (default: what it takes to see a leak 2.5 above each claim, of those that 256 models can "
        "see; 32 where nothing is claimed; see dpassay plan --attack)",
    )
    attack.add_argument("--copies", type=int, default=8, metavar="N", help="noisy copies of each record (default: %(default)s)")
    attack.add_argument(
        "--noise", type=float, default=0.1, metavar="PART", help="of a copy, in standard deviations (default: %(default)s)"
    )
    _adversary(attack)
    attack.add_argument(
        "-p", dest="parameters", action="append", default=[], metavar="NAME=VALUE", help="a parameter, in the paper's letter"
    )
    attack.add_argument("--learner", metavar="NAME", help="base learner, and that of mechanisms that take one (default: tree)")
    attack.add_argument("--data", metavar="FILE", help="CSV file, or breast-cancer (default)")
    add_options(attack, "label")
    attack.add_argument("--seed", type=int, help="root of all random streams (default: 0)")
    attack.add_argument("--confidence", type=float, help="of all certified numbers together (default: 0.999)")
    attack.add_argument("--jobs", type=int, metavar="N", help="processes (default: 1)")
    attack.add_argument(
        "--cache",
        metavar="DIR",
        help="where answers of trained models are kept, by name and parameters: empty it when your own code changes "
        "(default: DIR/models of --out DIR)",
    )
    attack.add_argument("--out", metavar="DIR", help="write attack.json, attack.html and attack.md there")
    attack.add_argument("--json", action="store_true", help="print the record on stdout instead of the table")
    attack.add_argument("--allow-inconclusive", action="store_true", help="exit 0 instead of 4")
    attack.add_argument("-q", "--quiet", action="store_true", help="no progress, no remarks on stderr")


def _adversary(attack: Any) -> None:
    """Options about what is planted and poisoned, and about what is guessed."""
    attack.add_argument(
        "--canaries",
        type=int,
        default=0,
        metavar="N",
        help="records replaced by canaries, told apart in the results (default: 0)",
    )
    attack.add_argument(
        "--planted",
        type=one_of("labels", "features"),
        default="labels",
        metavar="WHAT",
        help="what is random in a canary: labels (another than its own) or features (default: labels)",
    )
    attack.add_argument(
        "--adversary",
        type=one_of("nat-minq", "nat-miaq", "pois-minq", "pois-miaq"),
        default="nat-minq",
        metavar="WHO",
        help="nat or pois: natural data, or poison in every training set; minq or miaq: asks about the records themselves, or at "
        "points chosen on reference models (default: nat-minq)",
    )
    attack.add_argument(
        "--poisoned", type=int, metavar="N", help="records surrounded by poison, with pois-... (default: 20, at most half)"
    )
    attack.add_argument(
        "--poison", type=int, default=2, metavar="K", help="near copies with another label around each of them (default: 2)"
    )
    attack.add_argument(
        "--attribute",
        metavar="COLUMN",
        help="guess which of two values of a column a record has, instead of membership: a column, its number, or label",
    )
