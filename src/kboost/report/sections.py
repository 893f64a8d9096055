"""The parts of a report, in their order."""

from __future__ import annotations

from collections.abc import Callable

from kboost.report.centres import columns, explained
from kboost.report.comparison import beside
from kboost.report.errors import errors
from kboost.report.growing import growth, kernels
from kboost.report.overview import certificate, made, summary, use
from kboost.report.subject import Section, Subject

MAKERS: tuple[Callable[[Subject], Section | None], ...] = (
    summary,
    certificate,
    growth,
    kernels,
    columns,
    errors,
    explained,
    beside,
    use,
    made,
)


def all_sections(subject: Subject) -> list[Section]:
    """Those that there are."""
    return [found for maker in MAKERS if (found := maker(subject)) is not None]
