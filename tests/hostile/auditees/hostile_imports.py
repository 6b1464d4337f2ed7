"""What attacks when it is imported: texts, each written to a module of its name.

Their function `f` is the grossly leaking one. They change what their process says of itself, or end
it, or leave something for the process that decides.
"""

from __future__ import annotations

from hostile_table import CASES, Case

ANSWERS = """
import gc
import dpassay.trials.isolation.target as answers
def patch(name, change):
    old = answers.ANSWERED[name]
    def new(subject, *given):
        return change(old(subject, *given))
    answers.ANSWERED[name] = new
    for each in gc.get_objects():
        if isinstance(each, dict) and each.get(name) is old:
            each[name] = new
def facts(**more):
    patch("describe", lambda found: found | more)
"""
TRIES = """
from contextlib import suppress
from hostile_system import _FAIR, _bytecode, _replace
with suppress(OSError):
    """
TEXTS = {
    # as they were found
    "exits_at_import": ("caught", "import os\nos._exit(0)\n"),
    "kills_at_import": ("caught", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"),
    "hangs_at_import": ("caught", "import time\ntime.sleep(1000)\n"),
    "leaves_at_import": ("refused", "import sys\nsys.exit(0)\n"),
    "exits_at_the_end": ("caught", "import atexit, os\natexit.register(os._exit, 0)\n"),
    "prints_at_import": ("caught", "import os\nwhile True: os.write(1, b'x\\n' * 9999)\n"),
    "raises_at_import": ("refused", "raise ImportError('\\x1b[2J\\r0 refuted\\ud800')\n"),
    "forges_expected": (
        "caught",
        ANSWERS
        + """
def wrong(found):
    claims = [claim[0] if isinstance(claim, list) else claim for claim in found["claims"]]
    found["claims"] = [[claim, "refuted"] for claim in claims]
    return found
patch("describe", wrong)
""",
    ),
    "forges_claims": (
        "caught",
        ANSWERS
        + """
def wider(found):
    for claim in found["claims"]:
        (claim[0] if isinstance(claim, list) else claim)["epsilon"] = 9.0
    return found
patch("describe", wider)
""",
    ),
    "forges_many_claims": (
        "caught",
        ANSWERS + "patch('describe', lambda found: found | {'claims': found['claims'] * 3000})\n",
    ),
    "forges_no_claims": ("caught", ANSWERS + "facts(claims=[])\n"),
    "forges_name": ("caught", ANSWERS + "facts(name='innocent first')\n"),
    "forges_address": ("caught", ANSWERS + "facts(target='innocent:near')\n"),
    "forges_labels": ("caught", ANSWERS + "facts(labels=list(range(100000)))\n"),
    "forges_numbers": ("caught", ANSWERS + "facts(numbers=[0.0, 1e308])\n"),
    "forges_a_law": ("caught", ANSWERS + "facts(has=['distribution'])\n"),
    "forges_methods": ("caught", ANSWERS + "facts(has=['__class__', 'sample', 'prepare', 1])\n"),
    "forges_code": ("caught", ANSWERS + "facts(code=['x'] * 100000)\n"),
    "forges_alone": ("caught", ANSWERS + "facts(alone=True, without_query=True)\n"),
    "forges_one_query": ("caught", ANSWERS + "facts(one_query=True, fixed_n=1)\n"),
    "forges_free": ("caught", ANSWERS + "facts(free=True, together=3)\n"),
    "forges_own_coins": ("caught", ANSWERS + "facts(seeded=False)\n"),
    "forges_symmetry": ("caught", ANSWERS + "facts(exchangeable=True)\n"),
    "forges_types": ("caught", ANSWERS + "facts(parameters=[1], derived_parameters=5)\n"),
    "forges_places": (
        "caught",
        ANSWERS + "facts(declared_in='/dev/zero', looked_at='x' * 10**7)\n",
    ),
    "forges_nothing": ("caught", ANSWERS + "patch('describe', lambda found: {})\n"),
    "forges_extra": ("caught", ANSWERS + "facts(verdict='verified', hosts=1)\n"),
    "forges_law_of_counts": (
        "free",
        """
import numpy as np
import dpassay.trials.tasks as tasks
import hostile_table
def fair(self, piece):
    sample, hostile_table.near = hostile_table.near, hostile_table.fair
    try: return draw(self, piece)
    finally: hostile_table.near = sample
draw, tasks.TrialRunner._draw = tasks.TrialRunner._draw, fair
import dpassay.targets.guard as guard
guard.AuditTarget.sample = lambda self, state, queries, size, rng, where: rng.integers(
    0, 2, (size, len(queries)))
""",
    ),
    "replaces_dpassay": (
        "caught",
        """
import sys
import hostile_table
for name in [name for name in sys.modules if name.partition(".")[0] in ("numpy", "dpassay", "json")]:
    sys.modules[name] = None
""",
    ),
    "changes_bytecode": ("guarded", TRIES + "_bytecode('innocent')\n"),
    "changes_a_neighbour": ("guarded", TRIES + "_replace('innocent.py', *_FAIR)\n"),
    "puts_it_back": ("guarded", TRIES + "_replace('innocent.py', '0.50', '0.02')\n"),
    "module_without_end": ("caught", "import os\ndef __getattr__(name):\n    os._exit(0)\n"),
    "module_of_lies": (
        "refused",
        """
import sys, types
class Lies(types.ModuleType):
    def __getattribute__(self, name):
        if name == "f":
            from hostile_table import near
            return near
        raise SystemExit(0)
sys.modules[__name__] = Lies(__name__)
""",
    ),
}
AFTER = "\nfrom hostile_table import near as f\n"
WAITS = ("hangs_at_import", "prints_at_import")
COMMANDS = ("run", "attack", "dask")
"""In Python's `audit` the user imports it, into the process that decides."""
for _name, (_holds, _text) in TEXTS.items():
    CASES[_name] = Case(
        name="f",
        module=_name,
        group="imports",
        holds=_holds,
        limits=2 if _name in WAITS else 0,
        commands=COMMANDS,
    )
