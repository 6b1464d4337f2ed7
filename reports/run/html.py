"""The HTML report: one file, no JavaScript, readable in light, dark and on paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpassay.engine.wording import query_words
from dpassay.reports.run.published import published_table
from dpassay.reports.run.view import make_view
from dpassay.reports.shared.templating import template


def to_html(record: Mapping[str, Any]) -> str:
    """Write a record as one self-contained HTML page.

    Parameters
    ----------
    record : mapping
        Valid under `dpassay.record.run_record.record_schema`.

    Returns
    -------
    str
        The page; equal records give equal pages, byte by byte.
    """
    from dpassay.reports.run.plots import interval_plot, query_plot
    from dpassay.reports.run.profile_plots import profile_plot

    view = make_view(record)
    return template("index.html.j2").render(
        view=view,
        published=published_table(record["results"]),
        summary_plot=interval_plot(view) if view.results else "",
        query_plots={
            result.anchor: query_plot(result) for result in view.results if result.queries
        },
        profile_plots={
            result.anchor: profile_plot(
                result.profile.profile,
                result.profile.trade_off,
                epsilon=result.profile.epsilon,
                delta=result.profile.delta,
                claimed=result.profile.claimed,
                slug=result.status.slug,
                name=f"profile-{result.anchor}",
                title=f"{result.id}, {query_words(result.profile.label)}",
            )
            for result in view.results
            if result.profile is not None
        },
    )
