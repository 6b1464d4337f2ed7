"""What a report says of sampled results: their bounds, trials, and what would have been seen."""

from __future__ import annotations

from typing import Any

from dpassay.engine.detection.audits import AuditDesign
from dpassay.engine.detection.families import CountedAnswers
from dpassay.reports.run.view import make_view
from dpassay.stats.power import Screening
from dpassay.stats.scales import Ratio
from tests.reports.sentences.told import only, told


def test_certified_cells_that_the_table_does_not_show_are_told_of(make: Any) -> None:
    result = make.sampled("a", "not refuted")
    result["searched"]["certified_cells"] = len(result["per_query"]) + 1
    more = ", of which the table shows the worst at each query."
    assert more in told(only(make.record(result)), "How the bound was made")
    result["searched"]["certified_cells"] = len(result["per_query"])
    assert more not in told(only(make.record(result)), "How the bound was made")


def test_cells_may_have_upper_bounds_where_the_largest_leak_has_none(make: Any) -> None:
    """'No upper bound' stood above a table with one."""
    result = make.sampled("a", "not refuted")
    result["upper"] = "inf"
    result["per_query"][0]["upper"] = 1.5
    shown = only(make.record(result))
    assert "No upper bound" not in told(shown, "How the bound was made")
    assert "The largest leak of the certified cells has no finite upper bound" in told(
        shown, "How the bound was made"
    )
    assert "1.500000" in shown.query_table.rows[0]


def test_trials_serve_more_than_one_bound(make: Any) -> None:
    said = told(only(make.record(make.sampled("a", "not refuted"))), "How the bound was made")
    assert "no draw served both screening and certification" in said
    assert "no draw was used twice" not in said
    assert "The same trials of S may serve several cells" in said


def test_the_frequency_is_capped_and_nothing_may_be_seen(make: Any) -> None:
    view = make_view(make.record(make.sampled("a", "not refuted", upper=1.5)))
    said = told(view.results[0], "What would have been seen")
    assert "is that of the answer that looked worst, rounded down to two digits and capped:" in said
    assert "Through an answer of probability 0.1 it takes a leak of 1.5." in said
    assert said.endswith(
        "What is seen through an answer of probability 0.01 or less is not promised."
    )
    assert any(
        (
            "through a rarer answer only a larger leak, or none, is promised to be refuted with "
            "probability 0.9."
        )
        in note
        for note in view.notes
    )


def test_a_frequency_is_capped_at_the_worst_face() -> None:
    """An answer that came in .93 of the runs is told as less, by the claim's worst face."""
    screening = Screening(draws=200, pairs=1, finalists=1)
    answers = CountedAnswers(labels=2, unions=False)
    design = AuditDesign(
        scale=Ratio(), promised=1.0, answers=answers, n=5000, alpha=1e-4, screening=screening
    )
    capped = design.sight(0.928).frequency
    assert capped is not None
    assert capped == design.sight(0.8).frequency
    assert capped < 0.8
    assert design.sight(0.3).frequency == 0.3


def test_a_mean_has_no_events(make: Any) -> None:
    """And its bounds no band, where no α was spent for one."""
    mean = make.of_means(make.sampled("mean", "not refuted", lower=0.0625, upper=0.5))
    mean["spending"]["profile"] = mean["spending"]["each_profile"] = 0.0
    said = told(only(make.record(mean)), "How the bound was made", "How α was spent")
    assert "selected the pairs and directions that looked worst" in said
    assert "intersection-union over directions and certified cells" in said
    assert "Choosing the direction and test of each cell" in said
    assert "the bounds of a cell come from the same trials" in said
    assert "event" not in said
    loss = only(make.record(make.sampled("loss", "not refuted", lower=0.5, upper=2.0)))
    said = told(loss, "How the bound was made", "How α was spent")
    assert "pairs, directions and events" in said
    assert "the bounds and the band of a cell" in said
    assert "direction, event and test" in said
