"""The sections of a report, in order."""

from __future__ import annotations

from collections.abc import Callable

from kboost.report.centres import terms
from kboost.report.comparison import comparison
from kboost.report.competition import competition
from kboost.report.data_notes import data_notes
from kboost.report.drivers import drivers
from kboost.report.errors import errors
from kboost.report.explanations import explained
from kboost.report.overview import certificate, made, summary, use
from kboost.report.report_data import ReportData, Section
from kboost.report.training import growth, kernels

MAKERS: tuple[Callable[[ReportData], Section | None], ...] = (
    summary,
    errors,
    drivers,
    explained,
    data_notes,
    competition,
    kernels,
    terms,
    growth,
    comparison,
    use,
    made,
    certificate,
)


def all_sections(subject: ReportData) -> list[Section]:
    """The sections that apply."""
    return [section for maker in MAKERS if (section := maker(subject)) is not None]
