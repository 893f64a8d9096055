"""Sections on the training of a model and on its kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost.core.trace import Trace
from kboost.plotting import KernelsDisplay, PathDisplay, TraceDisplay, ValidationDisplay
from kboost.plotting._axes import BLUE
from kboost.plotting._fitted import axis_of, kernel_names, kernel_weights, trace_of
from kboost.report.charts import chart
from kboost.report.page import details, figure, gap_words, paragraph, section, table
from kboost.report.report_data import ReportData, Section

STEPS = 60  # rows of a table, at most


def growth(s: ReportData) -> Section | None:
    """Objective, gap, validation error and the path of C; or the boosting rounds."""
    if hasattr(s.inner, "estimator_weights_"):
        return _rounds(s)
    traces = getattr(s.inner, "trace_", None)
    several = isinstance(traces, list) and not isinstance(traces, Trace)
    if not traces or (several and not traces[0]):  # a limit ended the fit before the first step
        return None
    trace = trace_of(s.inner)
    of = f" ({s.labels[0]} against the rest)" if several else ""
    if several and getattr(s.inner, "multi_class", "ovr") == "ovo":
        of = f" (the first of {len(s.inner.trace_)} pairs of classes)"
    along, columns = axis_of(s.inner, trace)
    along = "terms generated" if along == "columns generated" else along
    objective = trace.values("objective")
    gap, error = trace.values("gap"), trace.values("validation_error")
    proven = np.isfinite(gap).any()
    title = f"Objective{' and gap' if proven else ''} by {along}{of}"
    words = (
        f"The objective falls from {objective[0]:.4g} to {objective[-1]:.4g} in {len(trace)} steps"
    )
    words += f" while the proven gap falls to {gap_words(gap[-1])}." if proven else "."
    draw = TraceDisplay(n_columns=columns, objective=objective, gap=gap, along=along).plot
    svg = chart("trace", title, words, draw, size=(6.2, 2.9))
    blocks = [figure(svg, f"{title}. {words}")]
    if np.isfinite(error).any():
        display = ValidationDisplay(n_columns=columns, error=error)
        best = display.best_
        words = f"The lowest error, {error[best]:.4g}, is at {columns[best]:.0f} terms."
        svg = chart("validation", "Validation error by terms", words, display.plot, size=(6.2, 2.6))
        blocks.append(figure(svg, f"Error on rows held out of the fit. {words}"))
    tuning = getattr(s.inner, "tuning_", None)
    if tuning is not None:
        best = tuning.best
        words = f"C = {tuning.C[best]:.3g} was chosen, with a loss of {tuning.error[best]:.4g}."
        display_ = PathDisplay(
            C=tuning.C, n_columns=tuning.n_columns, validation_error=tuning.error, best=tuning.best
        )
        svg = chart("path", "Held-out loss along C", words, display_.plot, size=(6.2, 2.6))
        blocks.append(figure(svg, f"How C was chosen. {words}"))
    shown = np.unique(np.linspace(0, len(trace) - 1, min(STEPS, len(trace))).astype(int))
    rows = [
        [
            trace[i].iteration,
            trace[i].n_columns,
            f"{trace[i].objective:.6g}",
            "" if trace[i].gap is None else f"{trace[i].gap:.1e}",
            "" if trace[i].validation_error is None else f"{trace[i].validation_error:.4g}",
            f"{trace[i].seconds:.2f}",
        ]
        for i in shown
    ]
    head = ["step", "terms", "objective", "gap", "validation error", "seconds"]
    blocks.append(
        details("The steps as a table", table("Steps of the fit", head, rows, numbers=range(6)))
    )
    return section("growth", "How it grew", *blocks)


def _rounds(s: ReportData) -> Section:
    """The error, or the loss, of each round."""
    has_errors = hasattr(s.inner, "errors_")
    what = "error, each under its own distribution" if has_errors else "loss of a pair of rows"
    curves = s.inner.errors_ if has_errors else s.inner.losses_
    curves = curves if isinstance(curves, list) else [curves]
    values, several = curves[0], len(curves) > 1
    of = f" (the first of {len(curves)} pairs of classes)" if several else ""
    title = f"{'Errors' if has_errors else 'Loss'} by rounds{of}"
    words = f"The {what}, goes from {values[0]:.3g} to {values[-1]:.3g} in {len(values)} rounds."

    def draw(ax: Any) -> None:
        ax.plot(np.arange(1, len(values) + 1), values, "o-", ms=3, lw=1.2, color=BLUE)
        ax.set(xlabel="round", ylabel="error" if has_errors else "loss")
        ax.xaxis.get_major_locator().set_params(integer=True)

    svg = chart("rounds", title, words, draw, size=(6.2, 2.6))
    return section("growth", "How it grew", figure(svg, f"{title}. {words}"))


def kernels(s: ReportData) -> Section:
    """Number of terms and share of the output per kernel."""
    names = kernel_names(s.inner)
    if not names:
        words = "The model is a constant: a limit ended the fit before the first term."
        return section("kernels", "Kernels", paragraph(words))
    counts = np.array(list(s.inner.columns_per_kernel_.values()))
    weights = kernel_weights(s.inner, s.sample)
    shares = weights / weights.sum() if weights.any() else weights
    most = names[int(np.argmax(shares))]
    words = f"{most} carries most of the output ({shares.max():.0%})."
    display = KernelsDisplay(names=names, counts=counts, shares=shares)

    def draw(ax: Any) -> None:
        display.plot(ax)
        ax.set_xlabel("terms")

    size = (6.2, 0.7 + 0.32 * len(names))
    svg = chart("kernels-chart", "Terms per kernel", words, draw, size=size)
    order = np.argsort(-shares)
    rows = [[names[k], f"{counts[k]:,}", f"{shares[k]:.1%}"] for k in order]
    inside = table("Kernels of the library", ["kernel", "terms", "share of the output"], rows,
                   numbers=(1, 2))  # fmt: skip
    note = "Shares are standard deviations over rows of the contributions to the output."
    if hasattr(s.inner, "kernel_usage_"):
        note = "Shares are sums of the weights of the rounds that use a kernel."
    return section(
        "kernels",
        "Kernels",
        figure(svg, f"Terms per kernel. {words}"),
        details("The kernels as a table", inside),
        paragraph(note, dim=True),
    )
