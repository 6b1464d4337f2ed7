"""Reading: what came back from a mechanism as a view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.mechanism.plain import is_plain, plain
from dpassay.search.objects import Arrays, ObjectView
from dpassay.search.views import TAGS, View


def view_of(draws: Any, *, parts: bool) -> View:
    """Return outputs as what features ask for; for `parts` see `ObjectView`.

    The first axis of `draws` is trials. An array of objects holds plain ones: see
    `dpassay.targets.answer_set`.
    """
    if isinstance(draws, np.ndarray):
        array: NDArray[Any] = draws.reshape(1) if draws.ndim == 0 else draws
        if array.dtype.str in TAGS:
            if array.ndim > 2:
                array = array.reshape(len(array), int(np.prod(array.shape[1:])))
            if array.ndim == 2 and array.shape[1] == 1 and not parts:
                array = array[:, 0]
            if array.ndim == 1 or parts:
                return Arrays(array)
            draws = list(array)
        elif array.dtype.kind == "O":
            return ObjectView(array.tolist(), parts=parts)
        else:
            draws = array.tolist()
    draws = list(draws)
    return ObjectView(draws if is_plain(draws) else list(map(plain, draws)), parts=parts)


def pooled(views: Sequence[View]) -> View:
    """Return the outputs of several datasets as those of one."""
    arrays = [view.array for view in views if isinstance(view, Arrays)]
    if len(arrays) == len(views) and len({(each.shape[1:], each.dtype) for each in arrays}) == 1:
        return Arrays(np.concatenate(arrays))
    outputs: list[Any] = []
    parts = False
    for view in views:
        if isinstance(view, ObjectView):
            outputs += view.outputs
            parts |= view.parts
        elif isinstance(view, Arrays):
            usual = view.array.ndim == 1 and TAGS[view.array.dtype.str] in {"", "int", "bool"}
            outputs += view.array.tolist() if usual else list(view.array)
            parts |= view.array.ndim > 1
    return ObjectView(outputs, parts=parts)
