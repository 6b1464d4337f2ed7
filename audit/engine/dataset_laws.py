"""Exact laws of many datasets, in their order, computed on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, tee
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.domains.states import Datasets
from dpassay.errors import TargetError
from dpassay.laws import Law
from dpassay.targets.guard import AuditTarget
from dpassay.trials import cluster_worker
from dpassay.trials.cluster import Cluster
from dpassay.trials.isolation.limits import Limits
from dpassay.trials.wire import Garbled, read
from dpassay.trials.written import ANSWERS, law_from

LawsOf = Callable[[AuditTarget, Datasets, NDArray[np.float64]], Iterator[Law | None]]
"""Yields the law of each dataset at some queries, None where it has none."""
TOGETHER = 64
"""Datasets of a portion of work."""


def laws_on(cluster: Cluster, limits: Limits) -> LawsOf:
    """Return what has a cluster compute them; each process may take as much as `limits` say."""

    def laws(
        target: AuditTarget, datasets: Datasets, queries: NDArray[np.float64]
    ) -> Iterator[Law | None]:
        left = iter(datasets)
        portions, names = tee(iter(lambda: list(islice(left, TOGETHER)), []))
        case = cluster.case_of(target, limits)
        asked = ((portion, queries) for portion in portions)
        found = cluster.mapped(cluster_worker.run_laws, case, asked)
        for portion, told in zip(names, found, strict=True):
            for (_, where), law in zip(portion, _laws(told, len(portion)), strict=True):
                target.answers.check_law(law, len(queries), where)
                yield law

    return laws


def _laws(told: Any, size: int) -> list[Law | None]:
    wrong = "distribution returned something that cannot be read"
    try:
        found = [None if each is None else law_from(each) for each in read(ANSWERS["laws"], told)]
    except Garbled as error:
        raise TargetError(f"{wrong} ({error})") from None
    if len(found) != size:
        raise TargetError(f"{wrong} (not one law for each dataset)")
    return found
