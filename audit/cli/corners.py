"""`dpassay attack --adversary all`: the four adversaries, and one table of what each shows."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from copy import copy
from pathlib import Path
from typing import Any

from dpassay.attacks.experiment.poisoning import ADVERSARIES
from dpassay.cli.exit_codes import PRECEDENCE, Exit
from dpassay.cli.output.terminal import console
from dpassay.errors import require
from dpassay.record.attack_record import read_attack_record
from dpassay.record.files import dumps, writable, write_text

ALL = "all"
OF_POISON = ("poisoned", "poison_labels", "poison")


def corners_action(
    arguments: argparse.Namespace, attack: Callable[[argparse.Namespace], int]
) -> int:
    """Attack as each adversary, into a folder of its own; print and write one table.

    Repeated queries do not depend on the adversary, they are asked once.

    Parameters
    ----------
    arguments : Namespace
        Of `dpassay attack`.
    attack : callable
        Attacks as one adversary, and returns an exit code.
    """
    from rich.text import Text

    from dpassay.reports.attack.corners import corners_of
    from dpassay.reports.run.markdown import captioned, text_md

    require(arguments.out is not None, "--out", None, "a folder with --adversary all")
    folder = Path(arguments.out)
    writable(folder)
    codes, records = list[int](), dict[str, Mapping[str, Any]]()
    for name, adversary in ADVERSARIES.items():
        one = copy(arguments)
        one.adversary, one.out, one.json, one.quiet = name, str(folder / name), False, True
        if records:
            one.transcripts = 0
        for key in OF_POISON if not adversary.poisons else ():
            setattr(one, key, None)
        if not arguments.quiet:
            sys.stderr.write(f"{name}: {folder / name / 'attack.html'}\n")
        with redirect_stdout(io.StringIO()):  # its table is on its page
            codes.append(attack(one))
        records[name] = read_attack_record(folder / name / "attack.json")
        if codes[-1] == Exit.INTERRUPTED:
            break
    found = corners_of(records)
    write_text(folder / "corners.json", dumps({"corners": [each.as_json() for each in found]}))
    texts = [f"{captioned(each.table)}\n{text_md(each.sentence)}\n" for each in found]
    write_text(folder / "corners.md", "\n".join(texts))
    if arguments.json:
        sys.stdout.write(json.dumps({"corners": [each.as_json() for each in found]}) + "\n")
    else:
        screen = console()
        for each in found:
            screen.print(Text(f"\n{each.name}, {each.m} answers", style="bold"))
            for row in (each.table.columns, *each.table.rows):
                screen.print(Text(f"{row[0]:<38}" + "".join(f"{text:>10}" for text in row[1:])))
            screen.print(Text(f"\n{each.sentence}"))
    return next(code for code in PRECEDENCE if code in codes)
