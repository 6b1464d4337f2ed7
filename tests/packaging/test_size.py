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
SOURCES = [path for top in ("audit", "attacks", "reports") for path in (ROOT / top).rglob("*.py")]
CORE = [path for path in SOURCES if (ROOT / "audit" / "theorems") not in path.parents]
LINES, LONGEST, CLASSES_TWICE, CIRCLES = 70_057, 400, 55, 3


def test_lines() -> None:
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in CORE]
    assert sum(lines) <= LINES
    assert max(lines) <= LONGEST


def test_a_class_has_a_name_of_its_own() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in CORE]
    names = Counter(
        node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)
    )
    assert sum(number > 1 for number in names.values()) <= CLASSES_TWICE


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
    assert (np.bincount(circle) > 1).sum() <= CIRCLES
