"""The core does not grow: each figure may fall, and its limit here falls with it."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import grimp
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).parents[2]
FOLDERS = "audit", "attacks", "reports", "mechanisms"
SOURCES = [path for top in FOLDERS for path in (ROOT / top).rglob("*.py")]
CONTENT = ROOT / "audit" / "theorems", ROOT / "mechanisms"
CORE = [path for path in SOURCES if not any(folder in path.parents for folder in CONTENT)]
LINES, LONGEST = 58_114, 660
"""A file may hold all of one idea: a reader follows fewer, and reads from top to bottom."""


def test_lines() -> None:
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in CORE]
    assert sum(lines) <= LINES
    assert max(lines) <= LONGEST


def test_a_class_has_a_name_of_its_own() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES]
    names = Counter(
        node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)
    )
    assert [name for name, number in names.items() if number > 1] == []


def test_circles_of_imports() -> None:
    graph = grimp.build_graph("dpassay", cache_dir=None)
    modules = sorted(graph.modules)
    place = {name: k for k, name in enumerate(modules)}
    arrows = np.array(
        [(place[a], place[b]) for a in modules for b in graph.find_modules_directly_imported_by(a)]
    )
    size = len(modules)
    there = coo_array((np.ones(len(arrows)), arrows.T), shape=(size, size))
    _, circle = connected_components(there, directed=True, connection="strong")
    assert (np.bincount(circle) > 1).sum() == 0
