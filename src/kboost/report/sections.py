"""The sections of a report, in order."""

from __future__ import annotations

from collections.abc import Callable

from kboost.report.centres import columns, explained
from kboost.report.comparison import comparison
from kboost.report.competition import competition, importances
from kboost.report.errors import errors
from kboost.report.overview import certificate, made, summary, use
from kboost.report.report_data import ReportData, Section
from kboost.report.training import growth, kernels

MAKERS: tuple[Callable[[ReportData], Section | None], ...] = (
    summary,
    competition,
    importances,
    certificate,
    growth,
    kernels,
    columns,
    errors,
    explained,
    comparison,
    use,
    made,
)


def all_sections(subject: ReportData) -> list[Section]:
    """The sections that apply."""
    return [section for maker in MAKERS if (section := maker(subject)) is not None]
