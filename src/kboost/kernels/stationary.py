"""Kernels of a distance, 1 on the diagonal.

Gaussian    exp(-gamma |x - z|^2)
Laplacian   exp(-gamma |x - z|_1)
Matern      p(s) exp(-s),  s = sqrt(2 nu gamma) |x - z|;
            p = 1 for nu = 0.5,  1 + s for nu = 1.5,  1 + s + s^2/3 for nu = 2.5
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kboost._typing import FloatArray
from kboost.kernels import checks
from kboost.kernels.base import ViewKernel
from kboost.kernels.sample import Sample
from kboost.kernels.views import View


@dataclass(frozen=True, repr=False)
class Gaussian(ViewKernel):
    """``exp(-gamma |x - z|^2)``.

    Parameters
    ----------
    gamma : float or {"mean", "median", "scale"}, default="mean"
        One over the mean or median squared distance of the rows, or scikit-learn's rule.
    columns : list of str or int, optional
        Features the kernel uses.
    on : {"standard", "ranks"}, optional
        Transform of each feature.

    Examples
    --------
    >>> from kboost.kernels import Gaussian
    >>> Gaussian(gamma="mean")([[0.0], [1.0]]).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    """

    kind: ClassVar[str] = "sqeuclidean"
    gamma: Any = "mean"

    def parameters(self, sample: Sample, view: View) -> dict[str, Any]:
        """Return the width as a number."""
        return {"gamma": checks.gamma(self.gamma, sample, self.kind, view)}

    def profile(self, block: FloatArray) -> FloatArray:
        """Return ``exp(-gamma block)``."""
        return _exp_of_minus(self.gamma, block)


@dataclass(frozen=True, repr=False)
class Laplacian(ViewKernel):
    """``exp(-gamma |x - z|_1)``, the city-block distance.

    Parameters
    ----------
    gamma : float or {"mean", "median", "scale"}, default="mean"
        One over the mean or median city-block distance of the rows, or scikit-learn's rule.
    columns : list of str or int, optional
        Features the kernel uses.
    on : {"standard", "ranks"}, optional
        Transform of each feature.

    Examples
    --------
    >>> from kboost.kernels import Laplacian
    >>> Laplacian(gamma=1.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(3)
    array([[0.135]])
    """

    kind: ClassVar[str] = "cityblock"
    gamma: Any = "mean"

    def parameters(self, sample: Sample, view: View) -> dict[str, Any]:
        """Return the width as a number."""
        return {"gamma": checks.gamma(self.gamma, sample, self.kind, view)}

    def profile(self, block: FloatArray) -> FloatArray:
        """Return ``exp(-gamma block)``."""
        return _exp_of_minus(self.gamma, block)


@dataclass(frozen=True, repr=False)
class Matern(ViewKernel):
    """A kernel between exponential and Gaussian: ``nu - 1/2`` times differentiable.

    Parameters
    ----------
    gamma : float or {"mean", "median", "scale"}, default="mean"
        As for ``Gaussian``: the inverse of a squared length.
    nu : {0.5, 1.5, 2.5}, default=1.5
        Smoothness.
    columns : list of str or int, optional
        Features the kernel uses.
    on : {"standard", "ranks"}, optional
        Transform of each feature.

    Examples
    --------
    >>> from kboost.kernels import Matern
    >>> Matern(gamma=1.0, nu=0.5)([[0.0]], [[1.0]]).round(3)
    array([[0.368]])
    """

    kind: ClassVar[str] = "sqeuclidean"
    gamma: Any = "mean"
    nu: float = 1.5

    def parameters(self, sample: Sample, view: View) -> dict[str, Any]:
        """Return width and smoothness as numbers."""
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5; got nu={self.nu!r}.")
        gamma = checks.gamma(self.gamma, sample, self.kind, view)
        return {"gamma": gamma, "nu": float(self.nu)}

    def profile(self, block: FloatArray) -> FloatArray:
        """Return ``p(s) exp(-s)``, ``s = sqrt(2 nu gamma block)``."""
        s = block * (2 * self.nu * self.gamma)
        np.sqrt(s, out=s)
        out: FloatArray = -s
        np.exp(out, out=out)
        if self.nu == 0.5:
            return out
        if self.nu == 2.5:
            s *= 1 + s / 3
        s += 1
        out *= s
        return out


def _exp_of_minus(gamma: float, block: FloatArray) -> FloatArray:
    out: FloatArray = block * -gamma
    np.exp(out, out=out)
    return out
