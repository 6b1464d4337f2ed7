"""All figures of attacks, in the order of the page."""

from __future__ import annotations

from collections.abc import Sequence

from dpassay.reports.attack.answer_figures import advantage_plot, repeated_plot
from dpassay.reports.attack.panels import Drawn
from dpassay.reports.attack.roc import roc_figures
from dpassay.reports.attack.subject_figures import exposure_plot, trade_plot
from dpassay.reports.attack.transcripts import TranscriptTests
from dpassay.reports.attack.view import SubjectView, sound


def figures(subjects: Sequence[SubjectView], found: Sequence[TranscriptTests]) -> list[Drawn]:
    """Return all figures that a record has numbers for, in the order of the page."""
    fine = sound(subjects)
    if not fine:
        return []
    made = [
        *roc_figures(fine, found),
        advantage_plot(fine),
        *(repeated_plot(found, loss=loss) for loss in (True, False)),
    ]
    made += [trade_plot(fine), exposure_plot(fine)]
    return [each for each in made if each is not None]
