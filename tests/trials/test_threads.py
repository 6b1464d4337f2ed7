"""While processes share the machine, no library computes with several threads."""

import numpy as np
import pytest
from threadpoolctl import OpenBLASController, threadpool_limits

from dpassay.trials.threads import _libraries, one_thread


def test_libraries_have_one_and_get_back_what_they_had(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    tell = OpenBLASController.set_num_threads

    def noted(self: OpenBLASController, number: int) -> None:
        told.append(number)
        tell(self, number)

    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(limits=2):
        before = [each.num_threads for each in _libraries(-1).lib_controllers]
        monkeypatch.setattr(OpenBLASController, "set_num_threads", noted)
        with one_thread():
            assert {each.num_threads for each in _libraries(-1).lib_controllers} == {1}
            first = len(told)
            with one_thread():  # each is told once: after a fork, that starts its threads anew
                assert len(told) == first
        monkeypatch.undo()
        assert [each.num_threads for each in _libraries(-1).lib_controllers] == before
        assert first
        assert max(before) == 2
