"""How many answers may move: proposals, relations and words keep to it."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay import DP, Answers
from dpassay.data import Values
from dpassay.errors import InvalidInput
from dpassay.pairs import Pairs, Shift
from dpassay.relations import answers_among, answers_moved, answers_relation, within
from dpassay.reports.run.kinds import words_of
from dpassay.search.proposals.proposal import Proposal


def proposed(space: Answers) -> list[Proposal]:
    rng = np.random.default_rng(0)
    first = space.first(rng, 120)
    more = space.more(first[:8], rng, 60)
    return [*first, *more, *(each for found in first[:6] for each in space.smaller(found))]


@pytest.mark.parametrize("moved", [1, 2, 5])
def test_no_more_answers_move_than_may(moved: int) -> None:
    space = Answers(5, moved=moved)
    found = proposed(space)
    counts = [each.change.moved for each in found if isinstance(each.change, Shift)]
    assert len(counts) == len(found) > 100
    assert max(counts) == moved
    for each in found:
        assert each.pairs.relation == f"answers-1-in-{moved}"


def test_all_may_move_by_default() -> None:
    plain, said = Answers(4), Answers(4, moved=4)
    assert plain.relation == "answers-1"
    moves = [
        [each.change for each in space.first(np.random.default_rng(3), 80)]
        for space in (plain, said)
    ]
    assert moves[0] == moves[1]


@pytest.mark.parametrize("moved", [0, 6, 1.5, True])
def test_how_many_may_move_is_one_of_them(moved: object) -> None:
    with pytest.raises(InvalidInput, match=r"moved = .*: must be an integer from 1 to 5"):
        Answers(5, moved=moved)  # type: ignore[arg-type]


def test_words_name_how_many_move() -> None:
    assert Answers(5, moved=1).words.startswith("5 true answers, one of which a change moves")
    assert "up to 2 of which" in Answers(5, moved=2).words
    told = words_of(DP(epsilon=1.0, relation="answers-1-in-1").as_json())
    assert told.name == "1-differential privacy, one of the answers within 1"
    assert "moving one true answer by at most 1 multiplies the probability" in told.sentence("")
    told = words_of(DP(epsilon=1.0, relation="answers-1-in-3").as_json())
    assert told.name == "1-differential privacy, up to 3 of the answers within 1"
    assert "moving up to 3 true answers by at most 1" in told.sentence("")


def test_the_relation_says_how_many_move() -> None:
    relation = answers_relation(0.5, 3)
    assert relation == "answers-0.5-in-3"
    assert answers_moved(relation) == 0.5
    assert answers_among(relation) == 3
    assert answers_among("answers-0.5") is None
    assert within(relation, "answers-0.5")
    assert within(relation, "answers-0.5-in-4")
    assert not within(relation, "answers-0.5-in-2")
    assert not within("answers-0.5", relation)
    with pytest.raises(InvalidInput, match="relation"):
        DP(epsilon=1.0, relation="answers-1-in-0")


def test_pairs_that_move_more_are_no_neighbours() -> None:
    base, change = Values(np.zeros(3)), Shift((1.0, 0.0, -1.0))
    Pairs(base=base, changes=(change,), how="by hand", relation="answers-1-in-2")
    with pytest.raises(
        InvalidInput, match="'answers-1-in-2' or wider, as a change moves 2 answers"
    ):
        Pairs(base=base, changes=(change,), how="by hand", relation="answers-1-in-1")
