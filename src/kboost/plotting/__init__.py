"""Plots of a fit with matplotlib (extra ``kboost[plots]``).

Each plot is a display in the style of scikit-learn, created by ``from_estimator`` and drawn by
``plot``; the functions are shortcuts.
"""

from kboost.plotting.decision import DecisionDisplay, plot_decision
from kboost.plotting.kernels import KernelsDisplay, plot_kernels
from kboost.plotting.path import PathDisplay, plot_path
from kboost.plotting.trace import TraceDisplay, plot_trace
from kboost.plotting.tube import TubeDisplay, plot_tube
from kboost.plotting.validation import ValidationDisplay, plot_validation

__all__ = [
    "DecisionDisplay",
    "KernelsDisplay",
    "PathDisplay",
    "TraceDisplay",
    "TubeDisplay",
    "ValidationDisplay",
    "plot_decision",
    "plot_kernels",
    "plot_path",
    "plot_trace",
    "plot_tube",
    "plot_validation",
]
